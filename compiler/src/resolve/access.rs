//! Tenants, roles and users: names looked up, inherited values filled in.

mod report;

use hashbrown::HashMap;

pub(crate) use report::{ID_CHARS_MAX, ROLES_MAX};

use self::report::{
    BadId, DuplicateUser, EmptyFor, NoRole, ParentCycle, TooManyAudiences, TooManyRoles, Unknown,
    WhatIsNamed,
};
use super::{name, pattern};
use crate::ast::{self, ForSettings, RoleSettings, UserSettings, Who};
use crate::diagnostic::Diagnostics;
use crate::language::roles::TIER;
use crate::model::audience::{Audiences, Lists, TooMany};
use crate::model::{Access, Readers, Role, Setting, User};
use crate::source::{Span, Spanned};
use relay_engine::nearest::nearest;

/// Resolves tenants, roles and users. Faulty nodes are reported and left out.
pub(super) fn access(
    tenants: Vec<ast::Tenant>,
    roles: Vec<ast::Role>,
    users: Vec<ast::User>,
    out: &mut Diagnostics,
) -> Access {
    let tenants = tenants.into_iter().filter_map(|tenant| tenant.name);
    let tenants = tenants.filter(|name| name::check(name, "tenant", out)).collect();
    let tenants = name::unique(tenants, "tenant", |name| name, out);
    let mut access = Access { tenants, roles: Vec::new(), users: Vec::new() };
    access.roles = self::roles(roles, out);
    for user in users {
        let user = access.user(user, out);
        access.users.extend(user);
    }
    report_duplicates(&mut access.users, out);
    access
}

/// Computes the audiences; if there are too many, everyone is one audience.
pub(super) fn audiences(
    access: &Access,
    lists: &Lists<'_>,
    at: Span,
    out: &mut Diagnostics,
) -> Audiences {
    Audiences::of(access, lists).unwrap_or_else(|TooMany { count }| {
        let readers = lists.prompts.iter().chain(&lists.resources).chain(&lists.templates);
        // A `for` of a folder is in all its nodes and counts once.
        let mut named: Vec<Span> =
            readers.flat_map(|readers| &readers.0).map(|each| each.at).collect();
        named.sort_unstable();
        named.dedup();
        let mut named = named.into_iter();
        let at = named.next().unwrap_or(at);
        let others = named.take(report::NAMED_MAX).collect();
        out.report(at, TooManyAudiences { count, at, others });
        Audiences::default()
    })
}

impl Access {
    /// Resolves the `for`s of a node.
    pub(super) fn readers(&self, written: Vec<ast::For>, out: &mut Diagnostics) -> Readers {
        let mut readers = Readers::default();
        for ast::For { at, says, settings: ForSettings { tenant, role } } in written {
            if !says {
                out.report(at, EmptyFor { at });
            }
            let tenant = tenant.map(|tenant| (self.tenant(&tenant, out), tenant.at));
            let role = role.map(|role| (self.role(&role, out), role.at));
            // An unknown name was reported, so no bundle is built.
            readers.0.push(crate::model::For {
                tenant: tenant.and_then(|(tenant, _)| tenant),
                role: role.and_then(|(role, _)| role),
                at,
            });
        }
        readers
    }

    /// Looks up a tenant; reports an undeclared one.
    pub(super) fn tenant(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<usize> {
        let names = self.tenants.iter().map(|tenant| tenant.value.as_str());
        look_up(WhatIsNamed::Tenant, name, names, out)
    }

    /// Looks up a role; reports an undeclared one.
    pub(super) fn role(&self, name: &Spanned<String>, out: &mut Diagnostics) -> Option<usize> {
        let names = self.roles.iter().map(|role| role.name.value.as_str());
        look_up(WhatIsNamed::Role, name, names, out)
    }

    fn user(&self, user: ast::User, out: &mut Diagnostics) -> Option<User> {
        let ast::User { at, who, id, new: _, settings, broken } = user;
        let UserSettings { tenant, role } = settings;
        if who != Who::Anyone && id.is_none() {
            return None;
        }
        if let Some(reason) = id.as_ref().and_then(|id| bad_id(&id.value)) {
            out.report(at, BadId { reason, at });
            return None;
        }
        let tenant = match tenant {
            Some(tenant) => Some(Spanned { value: self.tenant(&tenant, out)?, at: tenant.at }),
            None => None,
        };
        let Some(role) = role else {
            if !broken {
                out.report(at, NoRole { at });
            }
            return None;
        };
        let role = Spanned { value: self.role(&role, out)?, at: role.at };
        let id = id.map(|id| id.value).unwrap_or_default();
        Some(User { at, who, id, tenant, role })
    }
}

/// Resolves the roles, sorted by name, with inherited values.
fn roles(written: Vec<ast::Role>, out: &mut Diagnostics) -> Vec<Role> {
    let named = written.into_iter().filter_map(|role| Some((role.name.clone()?, role)));
    let named = named.filter(|(name, _)| name::check(name, "role", out)).collect();
    let named = name::unique(named, "role", |(name, _)| name, out);
    if let Some((over, _)) = named.get(ROLES_MAX) {
        out.report(over.at, TooManyRoles { count: named.len(), at: over.at });
    }
    let names: Vec<String> = named.iter().map(|(name, _)| name.value.clone()).collect();
    let mut roles = Vec::new();
    for (name, ast::Role { name: _, new: _, settings }) in named {
        let RoleSettings { tier, approve, decides, parent, tools } = settings;
        let parent = parent.and_then(|parent| {
            let names = names.iter().map(String::as_str);
            let value = look_up(WhatIsNamed::Parent, &parent, names, out)?;
            Some(Spanned { value, at: parent.at })
        });
        let has_own_tools = tools.is_some();
        for pattern in tools.iter().flatten() {
            pattern::check(pattern, out);
        }
        let tier = Setting::or(tier, TIER);
        roles.push(Role { name, tier, approve, decides, parent, tools, has_own_tools });
    }
    report_cycles(&mut roles, out);
    inherit(&mut roles);
    roles
}

/// Reports each circle of roles once, and removes the parents of its roles.
fn report_cycles(roles: &mut [Role], out: &mut Diagnostics) {
    for first in 0..roles.len() {
        let mut circle = vec![first];
        let mut at = first;
        while let Some(parent) = roles.get(at).and_then(|role| role.parent.as_ref()) {
            at = parent.value;
            if at == first || circle.contains(&at) {
                break;
            }
            circle.push(at);
        }
        if at != first || roles.get(first).is_none_or(|role| role.parent.is_none()) {
            continue;
        }
        let links = circle.iter().filter_map(|index| roles.get(*index));
        let mut links = links.filter_map(|role| Some((&role.name, role.parent.as_ref()?.at)));
        if let Some((name, at)) = links.next() {
            let name = name.value.clone();
            let others = links.take(report::NAMED_MAX).map(|(_, at)| at).collect();
            out.report(at, ParentCycle { name, at, others });
        }
        for index in circle {
            if let Some(role) = roles.get_mut(index) {
                role.parent = None;
            }
        }
    }
}

/// Gives each role the tier and the tools of its parent where its own are absent.
fn inherit(roles: &mut [Role]) {
    // INVARIANT: circles are excluded, so the search for the nearest ancestor with a value ends.
    for index in 0..roles.len() {
        let (mut tier, mut tools) = (None, None);
        let mut next = Some(index);
        while let Some(role) = next.and_then(|index| roles.get(index)) {
            tier = tier.or(role.tier.at.map(|_| role.tier.value));
            tools = tools.or(role.tools.clone().filter(|_| role.has_own_tools));
            next = role.parent.as_ref().map(|parent| parent.value);
        }
        if let Some(role) = roles.get_mut(index) {
            role.tier.value = tier.unwrap_or(TIER);
            role.tools = tools;
        }
    }
}

/// Reports a user that is declared twice for one tenant, and leaves the later one out.
fn report_duplicates(users: &mut Vec<User>, out: &mut Diagnostics) {
    let mut seen: HashMap<(Who, String, Option<usize>), Span> = HashMap::new();
    users.retain(|user| {
        let tenant = user.tenant.as_ref().map(|tenant| tenant.value);
        let key = (user.who, user.id.clone(), tenant);
        if let Some(first_at) = seen.get(&key) {
            let (first_at, at) = (*first_at, user.at);
            out.report(at, DuplicateUser { what: user.who.word(), first_at, at });
            return false;
        }
        seen.insert(key, user.at);
        true
    });
    users.sort_by_key(User::key);
}

fn bad_id(id: &str) -> Option<String> {
    let count = id.chars().count();
    if count > ID_CHARS_MAX {
        return Some(format!("it has {count} characters, and {ID_CHARS_MAX} are allowed"));
    }
    let bad = id.chars().find(|letter| letter.is_control())?;
    Some(format!("it has the character `{}`", bad.escape_default()))
}

/// Returns the index of a name; reports an unknown one.
fn look_up<'n>(
    what: WhatIsNamed,
    name: &Spanned<String>,
    names: impl Iterator<Item = &'n str> + Clone,
    out: &mut Diagnostics,
) -> Option<usize> {
    let found = names.clone().position(|known| known == name.value);
    if found.is_none() {
        let help = match (nearest(&name.value, names.clone()), names.clone().next()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, None) => {
                format!("declare it: `{} {{ {} {} }}`", what.block(), what.node(), name.value)
            }
            (None, Some(_)) => {
                let known: Vec<_> = names.take(report::NAMED_MAX).collect();
                format!("known names: {}", known.join(", "))
            }
        };
        out.report(name.at, Unknown { what, name: name.value.clone(), help, at: name.at });
    }
    found
}
