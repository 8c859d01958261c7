//! The callers that rows of `users` distinguish: names to ask both bundles with.
//!
//! A caller is an id, an optional tenant, groups, and an optional role that it asks for. Groups
//! with equal rows on both sides are one. Three groups are enough for every pair of decisions: one
//! gives the role before, one the role after, and a refusal needs two that disagree.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, User, Who};
use relay_engine::place::Identity;

/// The most callers to ask for, of one row of `users`.
const OF_ROW_MAX: usize = 8_192;
/// The most groups of a caller, with the one that a row is for.
const GROUPS_MAX: usize = 3;

/// The subject of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) who: Who,
    pub(crate) id: String,
    /// The name of the tenant for which it counts.
    pub(crate) tenant: Option<String>,
}

/// A row that counts: its tenant and its role.
pub(crate) type Counting<'r> = (Option<&'r str>, &'r str);

/// The rows of `users` of one bundle, by their subject.
pub(crate) struct Rows {
    rows: BTreeMap<(Who, String), BTreeMap<Option<String>, String>>,
    tenants: BTreeSet<String>,
    has_roles: bool,
}

/// A caller, as authentication gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller<'r> {
    /// The id, if either bundle names it.
    pub(crate) id: Option<&'r str>,
    pub(crate) tenant: Option<&'r str>,
    pub(crate) groups: Vec<&'r str>,
    /// The role that it asks for.
    pub(crate) role: Option<&'r str>,
}

/// The callers that a row of `users` affects.
pub(crate) struct Affected<'r> {
    pub(crate) callers: Vec<Caller<'r>>,
    /// Whether these are all.
    pub(crate) are_all: bool,
}

impl Rows {
    pub(crate) fn of(bundle: &Bundle) -> Result<Self, Corrupt> {
        let tenants = bundle.tenants().list()?.into_iter().map(|tenant| tenant.name);
        let mut of = Self {
            rows: BTreeMap::new(),
            tenants: tenants.collect(),
            has_roles: !bundle.roles().is_empty(),
        };
        for User { who, id, tenant, role, at: _ } in bundle.users().list()? {
            let tenant = tenant.map(|tenant| bundle.tenants().name(tenant as usize)).transpose()?;
            let role = bundle.roles().get(role as usize).map_or("", |role| role.name.as_str());
            let of_id = of.rows.entry((who, id)).or_default();
            of_id.insert(tenant.map(Into::into), role.to_owned());
        }
        Ok(of)
    }

    /// Returns the rows of an id that count for callers of a tenant.
    fn counting(&self, who: Who, id: &str, tenant: Option<&str>) -> Vec<Counting<'_>> {
        let of_id = self.rows.get(&(who, id.to_owned())).filter(|_| self.admits(tenant));
        let Some(of_id) = of_id else { return Vec::new() };
        let row = |(tenant, role)| (Option::as_deref(tenant), String::as_str(role));
        match tenant.filter(|_| !self.tenants.is_empty()) {
            None => of_id.iter().map(row).collect(),
            Some(tenant) => {
                let own = of_id.get_key_value(&Some(tenant.to_owned()));
                own.or_else(|| of_id.get_key_value(&None)).map(row).into_iter().collect()
            }
        }
    }

    /// Returns whether the bundle decides by rows on callers of a tenant.
    fn admits(&self, tenant: Option<&str>) -> bool {
        self.has_roles
            && (self.tenants.is_empty() || tenant.is_none_or(|name| self.tenants.contains(name)))
    }

    /// Returns whether a row is among those that decide on a caller.
    fn counts(&self, key: &Key, caller: &Caller<'_>) -> bool {
        let counting = |who, id: &str| self.counting(who, id, caller.tenant);
        let by_id = caller.id.map_or_else(Vec::new, |id| counting(Who::User, id));
        let by_group = || caller.groups.iter().any(|group| !counting(Who::Group, group).is_empty());
        let (who, is_of_caller) = if !by_id.is_empty() {
            (Who::User, caller.id == Some(key.id.as_str()))
        } else if by_group() {
            (Who::Group, caller.groups.contains(&key.id.as_str()))
        } else {
            (Who::Anyone, true)
        };
        let is_it = |(tenant, _): &Counting<'_>| *tenant == key.tenant.as_deref();
        who == key.who && is_of_caller && counting(who, &key.id).iter().any(is_it)
    }

    fn ids(&self, who: Who) -> impl Iterator<Item = &str> {
        self.rows.keys().filter(move |(of, _)| *of == who).map(|(_, id)| id.as_str())
    }
}

impl Caller<'_> {
    /// Returns the caller's identity for a decision; `unnamed` is an id that both bundles lack.
    pub(crate) fn identity<'i>(&'i self, unnamed: &'i str, groups: &'i [String]) -> Identity<'i> {
        Identity { id: self.id.unwrap_or(unnamed), tenant: self.tenant, groups, role: self.role }
    }
}

/// The rows of both bundles.
pub(crate) struct Both {
    a: Rows,
    b: Rows,
    /// A tenant that both bundles lack.
    other_tenant: String,
}

impl Both {
    pub(crate) fn of(a: &Bundle, b: &Bundle) -> Result<Self, Corrupt> {
        let (a, b) = (Rows::of(a)?, Rows::of(b)?);
        let mut other_tenant = "another tenant".to_owned();
        while a.tenants.contains(&other_tenant) || b.tenants.contains(&other_tenant) {
            other_tenant.push('+');
        }
        Ok(Self { a, b, other_tenant })
    }

    /// Returns whether both bundles lack the tenant of a caller.
    pub(crate) fn is_other_tenant(&self, tenant: &str) -> bool {
        tenant == self.other_tenant
    }

    /// Returns an id that both bundles lack.
    pub(crate) fn unnamed(&self) -> String {
        let mut id = "anyone else".to_owned();
        while [&self.a, &self.b].iter().any(|side| side.ids(Who::User).any(|named| named == id)) {
            id.push('+');
        }
        id
    }

    /// Returns whether either side has tenants.
    pub(crate) fn have_tenants(&self) -> bool {
        !(self.a.tenants.is_empty() && self.b.tenants.is_empty())
    }

    /// Returns the rows of an id on each side: ids with equal rows are placed alike.
    pub(crate) fn class(&self, key: &Key) -> [Vec<Counting<'_>>; 2] {
        [&self.a, &self.b].map(|side| side.counting(key.who, &key.id, None))
    }

    /// Returns the callers on whom a row decides on either side.
    pub(crate) fn affected<'r>(&'r self, key: &'r Key) -> Affected<'r> {
        let mut affected = Affected { callers: Vec::new(), are_all: true };
        let mut tried = 0;
        for tenant in self.tenants_of(key) {
            for id in self.ids(key, tenant) {
                let is_placed_by_id = id.is_some_and(|id| {
                    self.counting(Who::User, id, tenant).iter().all(|rows| !rows.is_empty())
                });
                let groups = match is_placed_by_id {
                    true => Vec::new(),
                    false => self.groups(tenant),
                };
                for groups in sets(key, &groups) {
                    tried += 1;
                    if tried > OF_ROW_MAX || affected.callers.len() > OF_ROW_MAX {
                        affected.are_all = false;
                        return affected;
                    }
                    let caller = Caller { id, tenant, groups, role: None };
                    if self.a.counts(key, &caller) || self.b.counts(key, &caller) {
                        let asking = self.roles(&caller).into_iter().map(Some);
                        let asking = asking.map(|role| Caller { role, ..caller.clone() });
                        let asking: Vec<_> = asking.collect();
                        affected.callers.push(caller);
                        affected.callers.extend(asking);
                    }
                }
            }
        }
        affected
    }

    fn counting(&self, who: Who, id: &str, tenant: Option<&str>) -> [Vec<Counting<'_>>; 2] {
        [&self.a, &self.b].map(|side| side.counting(who, id, tenant))
    }

    /// Returns the tenants of the callers for whom a row can count.
    fn tenants_of<'r>(&'r self, key: &'r Key) -> Vec<Option<&'r str>> {
        let own = key.tenant.as_deref();
        // Where one side has no tenants, all rows count there for callers of any tenant.
        if own.is_some() && !self.a.tenants.is_empty() && !self.b.tenants.is_empty() {
            return vec![own, None];
        }
        let all: BTreeSet<&str> =
            self.a.tenants.iter().chain(&self.b.tenants).map(String::as_str).collect();
        let other = Some(self.other_tenant.as_str());
        [None].into_iter().chain(all.into_iter().map(Some)).chain([other]).collect()
    }

    /// Returns the ids of the callers for whom a row can count, one for each set of rows.
    fn ids<'r>(&'r self, key: &'r Key, tenant: Option<&str>) -> Vec<Option<&'r str>> {
        if key.who == Who::User {
            return vec![Some(&key.id)];
        }
        // Where both sides name an id, groups and `anyone` are ignored.
        let mut known = BTreeMap::new();
        for id in self.named(Who::User) {
            let rows = self.counting(Who::User, id, tenant);
            if rows.iter().filter(|rows| rows.is_empty()).count() == 1 {
                known.entry(rows).or_insert(Some(id));
            }
        }
        [None].into_iter().chain(known.into_values()).collect()
    }

    /// Returns the groups with rows for callers of a tenant, one for each set of rows.
    fn groups(&self, tenant: Option<&str>) -> Vec<&str> {
        let mut known = BTreeMap::new();
        for id in self.named(Who::Group) {
            let rows = self.counting(Who::Group, id, tenant);
            if rows.iter().any(|rows| !rows.is_empty()) {
                known.entry(rows).or_insert(id);
            }
        }
        known.into_values().collect()
    }

    fn named(&self, who: Who) -> BTreeSet<&str> {
        self.a.ids(who).chain(self.b.ids(who)).collect()
    }

    /// Returns the roles that a caller can ask for and have.
    fn roles(&self, caller: &Caller<'_>) -> BTreeSet<&str> {
        let of_id = caller.id.map(|id| (Who::User, id));
        let of_groups = caller.groups.iter().map(|group| (Who::Group, *group));
        let named = of_id.into_iter().chain(of_groups).chain([(Who::Anyone, "")]);
        let rows = named.flat_map(|(who, id)| self.counting(who, id, caller.tenant)).flatten();
        rows.map(|(_, role)| role).collect()
    }
}

/// Returns the sets of groups to ask with: up to three groups, with that of a row among them.
fn sets<'r>(key: &'r Key, groups: &[&'r str]) -> impl Iterator<Item = Vec<&'r str>> {
    let own: Vec<&str> =
        Some(key.id.as_str()).filter(|_| key.who == Who::Group).into_iter().collect();
    let others: Vec<&str> = groups.iter().copied().filter(|group| !own.contains(group)).collect();
    let more = GROUPS_MAX - own.len();
    let count = others.len();
    // Each set is rising, so that each comes once. Small sets come first.
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    let mut next = 0;
    std::iter::from_fn(move || {
        let set = chosen.get(next)?.clone();
        next += 1;
        if set.len() < more {
            let first = set.last().map_or(0, |last| last + 1);
            // Only as many sets are kept as may be asked for.
            let room = (OF_ROW_MAX + 1).saturating_sub(chosen.len());
            chosen.extend(
                (first..count)
                    .take(room)
                    .map(|group| set.iter().copied().chain([group]).collect::<Vec<_>>()),
            );
        }
        let of_set = set.iter().filter_map(|number| others.get(*number).copied());
        Some(own.iter().copied().chain(of_set).collect())
    })
}
