//! The diagnostics of tenants, roles, users and `for`.

use std::fmt;

use miette::Diagnostic;
use thiserror::Error;

use crate::model::audience::AUDIENCES_MAX;
use crate::source::Span;

/// The most roles of a project.
pub(crate) const ROLES_MAX: usize = 256;
/// The most characters of a user's id and of a group.
pub(crate) const ID_CHARS_MAX: usize = 256;
/// The most names that a help line lists.
pub(super) const NAMED_MAX: usize = 10;

/// The kind of the named thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhatIsNamed {
    Tenant,
    Role,
    Parent,
}

impl WhatIsNamed {
    /// Returns the block that declares it.
    pub(super) fn block(self) -> &'static str {
        match self {
            Self::Tenant => "tenants",
            Self::Role | Self::Parent => "roles",
        }
    }

    /// Returns the node that declares it.
    pub(super) fn node(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Role | Self::Parent => "role",
        }
    }
}

impl fmt::Display for WhatIsNamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tenant => "tenant",
            Self::Role => "role",
            Self::Parent => "parent role",
        })
    }
}

/// A mistyped tenant or role would admit other callers than the intended ones, or no one.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown {what} `{name}`")]
#[diagnostic(code(access::unknown))]
pub(super) struct Unknown {
    pub(super) what: WhatIsNamed,
    pub(super) name: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "not declared")]
    pub(super) at: Span,
}

/// Roles that contain each other are unordered, so their tiers and tools are undefined.
#[derive(Debug, Error, Diagnostic)]
#[error("the role `{name}` contains itself")]
#[diagnostic(code(role::parent_cycle), help("remove one of these `parent`s"))]
pub(super) struct ParentCycle {
    pub(super) name: String,
    #[label(primary, "by way of this parent")]
    pub(super) at: Span,
    #[label(collection, "and this one")]
    pub(super) others: Vec<Span>,
}

/// A role decides what a caller may do, so it is always explicit.
#[derive(Debug, Error, Diagnostic)]
#[error("it has no role")]
#[diagnostic(code(user::no_role), help("write `role=NAME`, with a role of `roles`"))]
pub(super) struct NoRole {
    #[label(primary, "the role is missing")]
    pub(super) at: Span,
}

/// One of the two roles would be ignored.
#[derive(Debug, Error, Diagnostic)]
#[error("this {what} is declared twice for the same tenant")]
#[diagnostic(code(user::duplicate), help("a caller has one role in a tenant; remove one of them"))]
pub(super) struct DuplicateUser {
    pub(super) what: &'static str,
    #[label("first here")]
    pub(super) first_at: Span,
    #[label(primary, "again here")]
    pub(super) at: Span,
}

/// Ids appear in records and answers, and are compared as they are.
#[derive(Debug, Error, Diagnostic)]
#[error("this id cannot be used: {reason}")]
#[diagnostic(
    code(user::id),
    help("an id has 1 to {ID_CHARS_MAX} characters, and no control characters")
)]
pub(super) struct BadId {
    pub(super) reason: String,
    #[label(primary, "this id")]
    pub(super) at: Span,
}

/// Such a `for` could mean everyone or no one.
#[derive(Debug, Error, Diagnostic)]
#[error("this `for` names neither a tenant nor a role")]
#[diagnostic(
    code(readers::empty),
    help("write `for tenant=…` or `for role=…`; without any `for`, everyone sees it")
)]
pub(super) struct EmptyFor {
    #[label(primary, "admits whom?")]
    pub(super) at: Span,
}

/// Each role can see a different part of the project, so it multiplies the work of a build.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has {count} roles")]
#[diagnostic(code(role::too_many), help("at most {ROLES_MAX} roles are allowed"))]
pub(super) struct TooManyRoles {
    pub(super) count: usize,
    #[label(primary, "over the limit")]
    pub(super) at: Span,
}

/// Lists, instructions and indexes are prebuilt for each audience, so their number has a limit.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has {count} audiences: tenants and roles that see different things")]
#[diagnostic(
    code(access::too_many_audiences),
    help(
        "at most {AUDIENCES_MAX} are allowed; name roles instead of single tenants in `for`, or give each tenant a project of its own"
    )
)]
pub(super) struct TooManyAudiences {
    pub(super) count: usize,
    #[label(primary, "distinguishes callers")]
    pub(super) at: Span,
    #[label(collection, "so does this")]
    pub(super) others: Vec<Span>,
}
