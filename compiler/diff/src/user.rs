//! Who has which role: the rows of `users`.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Place, User, Who};
use relay_engine::place::{contains, number_of};

use crate::finding::{Area, Change, Direction, Finding, Findings, Kind};
use crate::role::is_within;

/// Compares the users of two bundles.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (of_a, of_b) = (rows(a)?, rows(b)?);
    let rest = Rest::of(&of_b);
    let sides = Sides { a, b };
    for (key, old) in &of_a {
        match of_b.get(key) {
            None => out.extend(sides.gone(key, old, &rest)?),
            Some(new) => out.extend(sides.changed(key, old, new, &rest)?),
        }
    }
    for (key, new) in of_b.iter().filter(|(key, _)| !of_a.contains_key(*key)) {
        out.push(sides.added(key, new));
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

/// What it gives.
#[derive(Debug)]
struct Given {
    role: String,
    at: Place,
}

fn rows(bundle: &Bundle) -> Result<BTreeMap<Key, Given>, Corrupt> {
    let row = |User { who, id, tenant, role, at }| {
        let tenant = tenant.map(|tenant| bundle.tenant_name(tenant as usize)).transpose()?;
        let role = bundle.roles().get(role as usize).map_or("", |role| role.name.as_str());
        let key = Key { who, id, tenant: tenant.map(Into::into) };
        Ok((key, Given { role: role.into(), at }))
    };
    bundle.users()?.into_iter().map(row).collect()
}

/// The rows that count for callers who lost theirs, as far as one bundle can say.
#[derive(Default)]
struct Rest<'r> {
    /// The tenants and roles of the rows of each user.
    of_users: BTreeMap<&'r str, Others<'r>>,
    of_groups: Others<'r>,
    of_anyone: Others<'r>,
}

/// Roles that rows give, by the tenant for which the rows count.
#[derive(Default)]
struct Others<'r>(BTreeMap<Option<&'r str>, BTreeSet<&'r str>>);

impl<'r> Others<'r> {
    /// Returns the roles that callers of a tenant can have; without a tenant, those of any.
    fn roles(&self, tenant: Option<&str>) -> impl Iterator<Item = &'r str> {
        let counts = move |of: &Option<&str>| tenant.is_none() || of.is_none() || *of == tenant;
        self.0.iter().filter(move |(of, _)| counts(of)).flat_map(|(_, roles)| roles).copied()
    }

    /// Returns a tenant of rows that count for another tenant than this.
    fn other_tenant(&self, tenant: Option<&str>) -> Option<&'r str> {
        self.0.keys().copied().flatten().find(|of| Some(*of) != tenant)
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
            others.0.entry(tenant.as_deref()).or_default().insert(&given.role);
        }
        rest
    }

    /// Returns the rows that can count for callers of a row that is gone.
    fn instead_of(&self, key: &Key) -> impl Iterator<Item = &Others<'r>> {
        let of_user = self.of_users.get(key.id.as_str()).filter(|_| key.who == Who::User);
        let of_groups = (key.who != Who::Anyone).then_some(&self.of_groups);
        of_user.into_iter().chain(of_groups).chain([&self.of_anyone])
    }
}

/// The bundles, for what they say of roles.
struct Sides<'b> {
    a: &'b Bundle,
    b: &'b Bundle,
}

impl Sides<'_> {
    fn added(&self, key: &Key, new: &Given) -> Finding {
        let added = finding(key, "", Change::Added).at(None, Some(&new.at));
        let role = &new.role;
        if self.a.roles().is_empty() {
            let added = added.direction(Direction::Tightens);
            added.meaning(format!("the role is `{role}`; everyone saw everything"))
        } else {
            added.direction(Direction::Loosens).meaning(format!("the role is `{role}`"))
        }
    }

    /// Returns what it means that a row is gone; `None` if its tenant is, and says so.
    fn gone(&self, key: &Key, old: &Given, rest: &Rest<'_>) -> Result<Option<Finding>, Corrupt> {
        let removed = finding(key, "", Change::Removed).breaking(true).at(Some(&old.at), None);
        let role = &old.role;
        let was = format!("the role was `{role}`");
        if self.b.roles().is_empty() {
            let removed = removed.breaking(false).direction(Direction::Loosens);
            return Ok(Some(removed.meaning(format!("{was}; everyone sees everything"))));
        }
        let tenant = key.tenant.as_deref();
        let mut roles = rest.instead_of(key).flat_map(|others| others.roles(tenant));
        let wider = roles.find_map(|other| match self.within(role, other) {
            Ok(true) => None,
            Ok(false) => Some(Ok(other)),
            Err(damage) => Some(Err(damage)),
        });
        let wider = wider.transpose()?;
        if let Some(wider) = wider {
            let meaning = format!("{was}; where another row counts, it can be `{wider}`");
            return Ok(Some(removed.direction(Direction::Loosens).meaning(meaning)));
        }
        let other = rest.instead_of(key).find_map(|others| others.other_tenant(tenant));
        if let Some(other) = other {
            let meaning = format!(
                "{was}; callers whose credentials say no tenant can be of `{other}` by another row"
            );
            return Ok(Some(removed.direction(Direction::Changes).meaning(meaning)));
        }
        let has_tenant = tenant.map_or(Ok(true), |name| Ok(self.b.find_tenant(name)?.is_some()))?;
        Ok(has_tenant.then(|| removed.direction(Direction::Tightens).meaning(was)))
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
            changed.direction(Direction::Loosens).meaning(meaning)
        } else if !self.within(before, after)? {
            let meaning = format!("not all that `{after}` sees and may do is of `{before}`");
            changed.direction(Direction::Loosens).meaning(meaning)
        } else if let Some(other) = self.admitted_with(key, before, after, rest) {
            let meaning =
                format!("callers that are of a group with the role `{other}` too were refused");
            changed.direction(Direction::Loosens).meaning(meaning)
        } else {
            let meaning = format!("all that `{after}` sees and may do is of `{before}`");
            changed.direction(Direction::Tightens).meaning(meaning)
        }))
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
        let mut others = rest.of_groups.roles(None).filter(|_| key.who == Who::Group);
        others.find(|other| are_apart(self.a, before, other) && !are_apart(self.b, after, other))
    }

    fn within(&self, wide: &str, name: &str) -> Result<bool, Corrupt> {
        is_within(self.a, self.b, wide, name)
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
