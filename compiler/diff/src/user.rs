//! Who has which role: the rows of `users`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Place, User, Who};
use relay_engine::place::{contains, number_of};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::role::{ancestors, is_within, was_within};

/// Compares the users of two bundles.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (of_a, of_b) = (rows(a)?, rows(b)?);
    let (before, rest) = (Rest::of(&of_a), Rest::of(&of_b));
    let sides = Sides { a, b, known: RefCell::default() };
    for (key, old) in &of_a {
        match of_b.get(key) {
            None => out.extend(sides.gone(key, old, &rest)?),
            Some(new) => out.extend(sides.changed(key, old, new, &rest)?),
        }
    }
    for (key, new) in of_b.iter().filter(|(key, _)| !of_a.contains_key(*key)) {
        out.push(sides.added(key, new, &before)?);
    }
    Ok(())
}

/// Whom a row names.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    who: Who,
    id: String,
    /// The name of the tenant for which it counts.
    tenant: Option<String>,
}

/// The role that a row gives.
#[derive(Debug)]
struct Given {
    role: String,
    at: Place,
}

fn rows(bundle: &Bundle) -> Result<BTreeMap<Key, Given>, Corrupt> {
    let row = |User { who, id, tenant, role, at }| {
        let tenant = tenant.map(|tenant| bundle.tenants().name(tenant as usize)).transpose()?;
        let role = bundle.roles().get(role as usize).map_or("", |role| role.name.as_str());
        let key = Key { who, id, tenant: tenant.map(Into::into) };
        Ok((key, Given { role: role.into(), at }))
    };
    bundle.users().list()?.into_iter().map(row).collect()
}

/// The rows of one bundle, for those that count where another row does not.
#[derive(Default)]
struct Rest<'r> {
    /// The tenants and roles of the rows of each user.
    of_users: BTreeMap<&'r str, Others<'r>>,
    of_groups: Others<'r>,
    of_anyone: Others<'r>,
}

/// Roles that rows give.
#[derive(Default)]
struct Others<'r> {
    /// By the tenant for which the rows count.
    of_tenants: BTreeMap<Option<&'r str>, BTreeSet<&'r str>>,
    all: BTreeSet<&'r str>,
}

impl<'r> Others<'r> {
    fn add(&mut self, tenant: Option<&'r str>, role: &'r str) {
        self.of_tenants.entry(tenant).or_default().insert(role);
        self.all.insert(role);
    }

    /// Returns the roles that callers of a tenant can have; without a tenant, those of any.
    fn roles(&self, tenant: Option<&str>) -> BTreeSet<&'r str> {
        if tenant.is_none() {
            return self.all.clone();
        }
        let of = |tenant| self.of_tenants.get(&tenant).into_iter().flatten().copied();
        of(tenant).chain(of(None)).collect()
    }

    /// Returns a tenant of rows that count for another tenant than this.
    fn other_tenant(&self, tenant: Option<&str>) -> Option<&'r str> {
        self.of_tenants.keys().copied().flatten().find(|of| Some(*of) != tenant)
    }

    /// Returns whether rows count for every caller of a tenant; without a tenant, for every caller.
    fn count_for_all(&self, tenant: Option<&str>) -> bool {
        self.of_tenants.contains_key(&None)
            || (tenant.is_some() && self.of_tenants.contains_key(&tenant))
    }

    /// Returns whether all of the rows count for this tenant and no other.
    fn are_of(&self, tenant: Option<&str>) -> bool {
        self.of_tenants.keys().all(|of| *of == tenant)
    }
}

impl<'r> Rest<'r> {
    fn of(rows: &'r BTreeMap<Key, Given>) -> Self {
        let mut rest = Self::default();
        for (Key { who, id, tenant }, given) in rows {
            let others = match who {
                Who::User => rest.of_users.entry(id).or_default(),
                Who::Group => &mut rest.of_groups,
                Who::Anyone => &mut rest.of_anyone,
            };
            others.add(tenant.as_deref(), &given.role);
        }
        rest
    }

    /// Returns the rows that can count for callers of a row that is not there.
    fn instead_of(&self, key: &Key) -> impl Iterator<Item = &Others<'r>> {
        let of_user = self.of_users.get(key.id.as_str()).filter(|_| key.who == Who::User);
        let of_groups = (key.who != Who::Anyone).then_some(&self.of_groups);
        of_user.into_iter().chain(of_groups).chain([&self.of_anyone])
    }

    /// Returns those of them that count whatever the groups of a caller.
    fn without_groups(&self, key: &Key) -> impl Iterator<Item = &Others<'r>> {
        let of_user = self.of_users.get(key.id.as_str()).filter(|_| key.who == Who::User);
        of_user.into_iter().chain([&self.of_anyone])
    }
}

/// The bundles, for what they say of roles.
struct Sides<'b> {
    a: &'b Bundle,
    b: &'b Bundle,
    /// Which roles were within which, as far as it was asked: the wide one first.
    known: RefCell<BTreeMap<(String, String), bool>>,
}

impl Sides<'_> {
    /// Returns what it means that a row is new: what counted for its callers no longer does.
    fn added(&self, key: &Key, new: &Given, before: &Rest<'_>) -> Result<Finding, Corrupt> {
        let added = finding(key, "", Change::Added).at(None, Some(&new.at));
        let role = &new.role;
        if self.a.roles().is_empty() {
            let added = added.direction(Direction::Narrower);
            return Ok(added.meaning(format!("the role is `{role}`; everyone saw everything")));
        }
        let tenant = key.tenant.as_deref();
        if !self.is_admitted(tenant)? {
            let added = added.direction(Direction::NotProved);
            return Ok(added.meaning(format!("the role is `{role}`")));
        }
        let (mut is_narrower, mut lost) = (true, None);
        for other in before.instead_of(key).flat_map(|others| others.roles(tenant)) {
            is_narrower = is_narrower && self.within(other, role)?;
        }
        for other in before.without_groups(key).flat_map(|others| others.roles(tenant)) {
            if lost.is_none() && !is_within(self.a, self.b, role, other)? {
                lost = Some(other);
            }
        }
        let added = added.breaking(lost.is_some()).meaning(match lost {
            Some(lost) => format!("the role is `{role}`; another row of `users` gave `{lost}`"),
            None => format!("the role is `{role}`"),
        });
        // Callers that no row admitted, or whose groups gave roles apart, were refused.
        let had_place = || {
            before.without_groups(key).any(|others| others.count_for_all(tenant))
                && self.contain_each_other(&before.of_groups.roles(tenant))
        };
        // Else callers whose credentials say no tenant can be of another one now.
        let had_tenant = || before.instead_of(key).all(|others| others.are_of(tenant));
        Ok(added.direction(Direction::narrower_if(is_narrower && had_place() && had_tenant())))
    }

    /// Returns whether the first bundle admits callers of a tenant.
    fn is_admitted(&self, tenant: Option<&str>) -> Result<bool, Corrupt> {
        match tenant {
            Some(name) if self.a.tenants().count() > 0 => {
                Ok(self.a.tenants().find(name)?.is_some())
            }
            _ => Ok(true),
        }
    }

    /// Returns whether of any of these roles one contains the others, in the first bundle.
    fn contain_each_other(&self, roles: &BTreeSet<&str>) -> bool {
        let depth = |role: &&str| ancestors(self.a.roles(), role).len();
        let mut roles: Vec<&str> = roles.iter().copied().collect();
        roles.sort_by_cached_key(depth);
        let mut neighbours = roles.iter().zip(roles.iter().skip(1));
        neighbours.all(|(wide, name)| is_contained(self.a, wide, name))
    }

    /// Returns what it means that a row is gone; `None` if its tenant is, and says so.
    fn gone(&self, key: &Key, old: &Given, rest: &Rest<'_>) -> Result<Option<Finding>, Corrupt> {
        let removed = finding(key, "", Change::Removed).breaking(true).at(Some(&old.at), None);
        let role = &old.role;
        let was = format!("the role was `{role}`");
        if self.b.roles().is_empty() {
            let removed = removed.breaking(false).direction(Direction::NotProved);
            return Ok(Some(removed.meaning(format!("{was}; everyone sees everything"))));
        }
        let tenant = key.tenant.as_deref();
        let roles = rest.instead_of(key).flat_map(|others| others.roles(tenant));
        for other in roles.collect::<BTreeSet<_>>() {
            if !self.within(role, other)? {
                let meaning = format!(
                    "callers had `{role}`; another row of `users` may now give them `{other}`"
                );
                return Ok(Some(removed.direction(Direction::NotProved).meaning(meaning)));
            }
        }
        if let Some(other) = self.was_apart(key, role, rest) {
            let meaning =
                format!("callers that are of a group with the role `{other}` too were refused");
            return Ok(Some(removed.direction(Direction::NotProved).meaning(meaning)));
        }
        let other = rest.instead_of(key).find_map(|others| others.other_tenant(tenant));
        if let Some(other) = other {
            let meaning = format!(
                "{was}; callers whose credentials say no tenant can be of `{other}` by another row"
            );
            return Ok(Some(removed.direction(Direction::NotProved).meaning(meaning)));
        }
        let has_tenant =
            tenant.map_or(Ok(true), |name| Ok(self.b.tenants().find(name)?.is_some()))?;
        Ok(has_tenant.then(|| removed.direction(Direction::Narrower).meaning(was)))
    }

    fn changed(
        &self,
        key: &Key,
        old: &Given,
        new: &Given,
        rest: &Rest<'_>,
    ) -> Result<Option<Finding>, Corrupt> {
        let (before, after) = (&old.role, &new.role);
        if before == after {
            return Ok(None);
        }
        let change = Change::Value { before: Some(before.clone()), after: Some(after.clone()) };
        let changed = finding(key, "role", change).at(Some(&old.at), Some(&new.at));
        let is_in = |bundle: &Bundle| is_contained(bundle, after, before);
        Ok(Some(if is_in(self.b) || is_in(self.a) {
            let meaning = format!("`{after}` contains `{before}`");
            changed.direction(Direction::NotProved).meaning(meaning)
        } else if !self.within(before, after)? {
            let meaning = format!("not all that `{after}` sees and may do is of `{before}`");
            changed.direction(Direction::NotProved).meaning(meaning)
        } else if let Some(other) = self.admitted_with(key, before, after, rest) {
            let meaning =
                format!("callers that are of a group with the role `{other}` too were refused");
            changed.direction(Direction::NotProved).meaning(meaning)
        } else {
            let meaning = format!("all that `{after}` sees and may do is of `{before}`");
            changed.direction(Direction::Narrower).meaning(meaning)
        }))
    }

    /// Returns a role of other groups of which neither contained the one that a group had: callers of both
    /// groups were refused.
    fn was_apart<'r>(&self, key: &Key, role: &str, rest: &Rest<'r>) -> Option<&'r str> {
        let are_related = |other: &str| {
            other == role || is_contained(self.a, other, role) || is_contained(self.a, role, other)
        };
        let mut others = rest.of_groups.all.iter().copied().filter(|_| key.who == Who::Group);
        others.find(|other| !are_related(other))
    }

    /// Returns a role of other groups that with the one before had none that contains the other,
    /// and with the one now has.
    fn admitted_with<'r>(
        &self,
        key: &Key,
        before: &str,
        after: &str,
        rest: &Rest<'r>,
    ) -> Option<&'r str> {
        let are_apart = |bundle: &Bundle, one: &str, other: &str| {
            !is_contained(bundle, one, other) && !is_contained(bundle, other, one)
        };
        if key.who != Who::Group {
            return None;
        }
        let mut others = rest.of_groups.all.iter().copied();
        others.find(|other| are_apart(self.a, before, other) && !are_apart(self.b, after, other))
    }

    /// Returns whether a role after the change is within one before it.
    fn within(&self, wide: &str, name: &str) -> Result<bool, Corrupt> {
        let key = (wide.to_owned(), name.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(*known);
        }
        let is_within = was_within(self.a, self.b, wide, name)?;
        self.known.borrow_mut().insert(key, is_within);
        Ok(is_within)
    }
}

/// Returns whether a bundle says that a role contains another one.
fn is_contained(bundle: &Bundle, wide: &str, name: &str) -> bool {
    let roles = bundle.roles();
    let numbers = (number_of(roles, wide), number_of(roles, name));
    matches!(numbers, (Some(wide), Some(name)) if contains(roles, wide, name))
}

fn finding(key: &Key, part: &str, change: Change) -> Finding {
    let Key { who, id, tenant } = key;
    let kind = match who {
        Who::User => Kind::User,
        Who::Group => Kind::Group,
        Who::Anyone => Kind::Anyone,
    };
    let tenant = tenant.as_ref().map(|tenant| format!("in tenant {tenant}"));
    let role = Some(part.to_owned()).filter(|part| !part.is_empty());
    let part: Vec<String> = role.into_iter().chain(tenant).collect();
    Finding::new(Area::Authority, kind, id.clone(), change).part(part.join(" "))
}
