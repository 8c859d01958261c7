//! Who a caller is in the project: its tenant, its role, and the line of `users` that says so.
//!
//! Authentication says who a caller is; a bundle alone says what that means. The rows of a
//! caller's id count, else those of its groups, else those of anyone. Rows of another tenant do
//! not. What remains in doubt is refused.

use std::collections::BTreeSet;
use std::fmt;

use relay_bundle::{Bundle, CallerRole, Corrupt, UserRow, Who};
use thiserror::Error;

/// The identity of a caller, as authentication gives it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity<'a> {
    /// The id.
    pub id: &'a str,
    /// The tenant, if it says one.
    pub tenant: Option<&'a str>,
    /// The groups.
    pub groups: &'a [String],
    /// The role that is wanted: it chooses among those that the bundle gives.
    pub role: Option<&'a str>,
}

/// Where a caller is in the project, by numbers of the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The tenant; absent for callers without one, or if the project has no tenants.
    pub tenant: Option<usize>,
    /// The role; absent if the project has no roles.
    pub role: Option<usize>,
    /// The row of `users` that gives the role.
    pub row: Option<usize>,
}

/// Why a caller has no place in the project.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPlace {
    /// The bundle does not know the tenant.
    #[error("the tenant `{0}` is unknown here")]
    UnknownTenant(String),
    /// No row of `users` admits the caller.
    #[error("no line of `users` admits this caller")]
    NotAdmitted,
    /// The role that is wanted is not among those of the caller.
    #[error("this caller does not have the role `{0}` here")]
    NotItsRole(String),
    /// The caller has rows of several tenants, and does not say which tenant it is of.
    #[error(
        "this caller has roles in several tenants; its credentials must say which one is meant"
    )]
    SeveralTenants,
    /// The roles of its groups do not contain each other.
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
/// A row for the caller's tenant counts before one for every tenant.
///
/// # Errors
///
/// The bundle is not what was signed. The inner error says why the caller has no place.
pub fn place(
    bundle: &Bundle,
    identity: &Identity<'_>,
) -> Result<Result<Placement, NoPlace>, Corrupt> {
    let tenant = match tenant_of(bundle, identity)? {
        Ok(tenant) => tenant,
        Err(reason) => return Ok(Err(reason)),
    };
    if bundle.roles().is_empty() {
        // A claim that happens to be called role chooses among none.
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

/// Returns the number of the tenant that authentication says, if it says one.
fn tenant_of(
    bundle: &Bundle,
    identity: &Identity<'_>,
) -> Result<Result<Option<usize>, NoPlace>, Corrupt> {
    // Without tenants, the tenant distinguishes callers and means nothing else.
    let Some(name) = identity.tenant.filter(|_| bundle.tenants().count() > 0) else {
        return Ok(Ok(None));
    };
    let tenant = bundle.tenants().find(name)?;
    Ok(tenant.map(Some).ok_or_else(|| NoPlace::UnknownTenant(name.to_owned())))
}

/// Places the caller of a preview: a role alone is taken as it is. With an id or groups it must be one
/// that `users` gives, as on a server.
///
/// # Errors
///
/// The bundle is not what was signed. The inner error says why the caller has no place.
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
    /// Returns whether it says who the caller is, and not only what it is.
    #[must_use]
    pub fn names_who(&self) -> bool {
        !(self.id.is_empty() && self.groups.is_empty())
    }
}

/// Returns the rows of an id that count for a caller of a tenant: of a caller that says none, all.
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
    // Rows are sorted by tenant, without one last: that of the tenant is found by halving.
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

/// Chooses the row that counts.
fn choose(
    bundle: &Bundle,
    identity: &Identity<'_>,
    tenant: Option<usize>,
    mut rows: Vec<UserRow>,
) -> Result<Placement, NoPlace> {
    if rows.is_empty() {
        return Err(NoPlace::NotAdmitted);
    }
    // Whatever the order of the groups, the same row counts.
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

/// Returns whether a role is another one or contains it.
#[must_use]
pub fn contains(roles: &[CallerRole], wide: usize, role: usize) -> bool {
    let mut next = Some(role);
    // Each step leads to a parent; a bundle with a circle ends the search after as many steps as
    // there are roles.
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
