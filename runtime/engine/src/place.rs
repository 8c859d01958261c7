//! The place of a caller in the project: its tenant, its role, and its line of `users`.
//!
//! Authentication identifies a caller; only a bundle gives it a place. The rows of the caller's id
//! count, else those of its groups, else those of anyone. Rows of another tenant are ignored.
//! Ambiguous callers are refused.

use std::collections::BTreeSet;
use std::fmt;

use relay_bundle::{Bundle, CallerRole, Corrupt, UserRow, Who};
use thiserror::Error;

/// The identity of a caller, as given by authentication.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity<'a> {
    /// The id.
    pub id: &'a str,
    /// The tenant, if given.
    pub tenant: Option<&'a str>,
    /// The groups.
    pub groups: &'a [String],
    /// The requested role, chosen among those that the bundle gives.
    pub role: Option<&'a str>,
}

/// The place of a caller in the project, by numbers of the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The tenant, if the caller gives one and the project has tenants.
    pub tenant: Option<usize>,
    /// The role, if the project has roles.
    pub role: Option<usize>,
    /// The row of `users` that gives the role.
    pub row: Option<usize>,
}

/// The reason for refusing a caller a place in the project.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPlace {
    /// The tenant is unknown to the bundle.
    #[error("the tenant `{0}` is unknown here")]
    UnknownTenant(String),
    /// The caller matches no row of `users`.
    #[error("no line of `users` admits this caller")]
    NotAdmitted,
    /// The requested role is not among those of the caller.
    #[error("this caller does not have the role `{0}` here")]
    NotItsRole(String),
    /// The caller has rows of several tenants, and must name one of them.
    #[error(
        "this caller has roles in several tenants; its credentials must say which one is meant"
    )]
    SeveralTenants,
    /// Its groups give it several roles, of which none contains the others.
    #[error(
        "the groups of this caller give it the roles {0}, and none of them contains the others"
    )]
    RolesApart(RoleNames),
}

/// The names of roles, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleNames(Vec<String>);

impl fmt::Display for RoleNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        f.write_str(&names.join(", "))
    }
}

/// Places a caller in the project.
///
/// A row for the caller's tenant precedes one for every tenant.
///
/// # Errors
///
/// The bundle is corrupt. The inner error refuses the caller a place.
pub fn place(
    bundle: &Bundle,
    identity: &Identity<'_>,
) -> Result<Result<Placement, NoPlace>, Corrupt> {
    let tenant = match tenant_of(bundle, identity)? {
        Ok(tenant) => tenant,
        Err(reason) => return Ok(Err(reason)),
    };
    if bundle.roles().is_empty() {
        // In a project of tenants alone, a claim that happens to be called role selects nothing.
        return Ok(Ok(Placement { tenant, role: None, row: None }));
    }
    let by_id = rows(bundle, Who::User, identity.id, tenant)?;
    if !by_id.is_empty() {
        return Ok(choose(bundle, identity, tenant, by_id));
    }
    let mut by_group = Vec::new();
    for group in identity.groups {
        by_group.extend(rows(bundle, Who::Group, group, tenant)?);
    }
    if !by_group.is_empty() {
        return Ok(choose(bundle, identity, tenant, by_group));
    }
    let by_anyone = rows(bundle, Who::Anyone, "", tenant)?;
    Ok(choose(bundle, identity, tenant, by_anyone))
}

/// Returns the number of the tenant that authentication gives, if any.
fn tenant_of(
    bundle: &Bundle,
    identity: &Identity<'_>,
) -> Result<Result<Option<usize>, NoPlace>, Corrupt> {
    // Unless the project has tenants, the tenant only distinguishes callers.
    let Some(name) = identity.tenant.filter(|_| bundle.tenants().count() > 0) else {
        return Ok(Ok(None));
    };
    let tenant = bundle.tenants().find(name)?;
    Ok(tenant.map(Some).ok_or_else(|| NoPlace::UnknownTenant(name.to_owned())))
}

/// Places the caller of a preview: a lone role is taken as given. With an id or groups it must be
/// one that `users` gives, as on a server.
///
/// # Errors
///
/// The bundle is corrupt. The inner error refuses the caller a place.
pub fn preview(
    bundle: &Bundle,
    identity: &Identity<'_>,
) -> Result<Result<Placement, NoPlace>, Corrupt> {
    let Some(role) = identity.role.filter(|_| !identity.names_who()) else {
        return place(bundle, identity);
    };
    let tenant = match tenant_of(bundle, identity)? {
        Ok(tenant) => tenant,
        Err(reason) => return Ok(Err(reason)),
    };
    let placed = |role| Placement { tenant, role: Some(role), row: None };
    let number = number_of(bundle.roles(), role).map(placed);
    Ok(number.ok_or_else(|| NoPlace::NotItsRole(role.to_owned())))
}

impl Identity<'_> {
    /// Returns whether it names a person or groups, in addition to a role.
    #[must_use]
    pub fn names_who(&self) -> bool {
        !(self.id.is_empty() && self.groups.is_empty())
    }
}

/// Returns the rows of an id that count for a caller of a tenant; all rows for a caller that gives
/// no tenant.
fn rows(
    bundle: &Bundle,
    who: Who,
    id: &str,
    tenant: Option<usize>,
) -> Result<Vec<UserRow>, Corrupt> {
    let range = bundle.users().of(who, id)?;
    let Some(tenant) = tenant else {
        return range.map(|number| bundle.users().row(number)).collect();
    };
    // Rows are sorted by tenant, the one of any tenant last, so a binary search finds the tenant.
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match bundle.users().row(middle)?.tenant {
            Some(other) if (other as usize) < tenant => low = middle + 1,
            _ => high = middle,
        }
    }
    let mut found = Vec::new();
    if low < range.end {
        let row = bundle.users().row(low)?;
        found.extend(Some(row).filter(|row| row.tenant == u32::try_from(tenant).ok()));
    }
    if let (Some(last), true) = (range.end.checked_sub(1), found.is_empty() && !range.is_empty()) {
        let row = bundle.users().row(last)?;
        found.extend(Some(row).filter(|row| row.tenant.is_none()));
    }
    Ok(found)
}

/// Selects the row that counts.
fn choose(
    bundle: &Bundle,
    identity: &Identity<'_>,
    tenant: Option<usize>,
    mut rows: Vec<UserRow>,
) -> Result<Placement, NoPlace> {
    if rows.is_empty() {
        return Err(NoPlace::NotAdmitted);
    }
    // The same row counts for any order of the groups.
    rows.sort_unstable_by_key(|row| row.number);
    let roles = bundle.roles();
    if let Some(wanted) = identity.role {
        let name = |row: &UserRow| roles.get(row.role as usize).map(|role| role.name.as_str());
        rows.retain(|row| name(row) == Some(wanted));
        if rows.is_empty() {
            return Err(NoPlace::NotItsRole(wanted.to_owned()));
        }
    }
    if tenant.is_none() {
        let tenants: BTreeSet<Option<u32>> = rows.iter().map(|row| row.tenant).collect();
        if tenants.len() > 1 {
            return Err(NoPlace::SeveralTenants);
        }
    }
    let widest = rows.iter().find(|row| {
        rows.iter().all(|other| contains(roles, row.role as usize, other.role as usize))
    });
    let Some(row) = widest else {
        let names: BTreeSet<&str> = rows
            .iter()
            .filter_map(|row| roles.get(row.role as usize))
            .map(|role| role.name.as_str())
            .collect();
        return Err(NoPlace::RolesApart(RoleNames(names.into_iter().map(Into::into).collect())));
    };
    Ok(Placement {
        tenant: tenant.or(row.tenant.map(|tenant| tenant as usize)),
        role: Some(row.role as usize),
        row: Some(row.number),
    })
}

/// Returns whether a role equals another one or contains it.
#[must_use]
pub fn contains(roles: &[CallerRole], wide: usize, role: usize) -> bool {
    let mut next = Some(role);
    // Each step leads to a parent; the number of roles limits the search in a bundle with a circle.
    for _ in 0..=roles.len() {
        let Some(at) = next else { return false };
        if at == wide {
            return true;
        }
        next = roles.get(at).and_then(|role| role.parent).map(|parent| parent as usize);
    }
    false
}

/// Returns the number of the role with this name.
#[must_use]
pub fn number_of(roles: &[CallerRole], name: &str) -> Option<usize> {
    roles.binary_search_by(|role| role.name.as_str().cmp(name)).ok()
}
