//! Tenants, roles and users, and the `for`s that name them.

use relay_bundle::{Tier, Who};

use crate::setting::Setting;
use crate::source::{Span, Spanned};

/// The tenants, the roles, and the role of each caller.
#[derive(Debug, Default)]
pub(crate) struct Access {
    /// Sorted by name.
    pub(crate) tenants: Vec<Spanned<String>>,
    /// Sorted by name. If empty, everyone sees everything.
    pub(crate) roles: Vec<Role>,
    /// Sorted by [`User::key`].
    pub(crate) users: Vec<User>,
}

/// A role, with its inherited values.
#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) name: Spanned<String>,
    /// An inherited one has no place.
    pub(crate) tier: Setting<Tier>,
    /// Whether a person is asked before tier 3.
    pub(crate) approve: Option<Spanned<bool>>,
    /// Whether its callers may ask for decisions on the calls of others.
    pub(crate) decides: Option<Spanned<bool>>,
    /// The index of the role that contains this one.
    pub(crate) parent: Option<Spanned<usize>>,
    /// The names and patterns of the tools that it sees; absent if it sees all.
    pub(crate) tools: Option<Vec<Spanned<String>>>,
    /// Whether the tools are its own instead of inherited.
    pub(crate) has_own_tools: bool,
}

/// A `user`, `group` or `anyone`.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) at: Span,
    pub(crate) who: Who,
    /// The id or the group; empty for `anyone`.
    pub(crate) id: String,
    /// The index of the tenant for which it counts; absent if for every one.
    pub(crate) tenant: Option<Spanned<usize>>,
    /// The index of its role.
    pub(crate) role: Spanned<usize>,
}

impl User {
    /// Returns the sort key of users; those of any tenant come last.
    pub(crate) fn key(&self) -> (Who, String, usize) {
        let tenant = self.tenant.as_ref().map_or(usize::MAX, |tenant| tenant.value);
        (self.who, self.id.clone(), tenant)
    }
}

impl Access {
    /// Returns a role and those that contain it, the role first.
    pub(crate) fn ancestors(&self, role: usize) -> impl Iterator<Item = usize> {
        let parent = |role: &usize| {
            let role = self.roles.get(*role)?;
            role.parent.as_ref().map(|parent| parent.value)
        };
        std::iter::successors(Some(role), parent)
    }
}

/// The readers of a prompt or a resource: one `for` is enough, and an absent `for` means everyone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Readers(pub(crate) Vec<For>);

/// A `for`: callers of this tenant and in this role, or in one that it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct For {
    pub(crate) tenant: Option<usize>,
    pub(crate) role: Option<usize>,
    pub(crate) at: Span,
}
