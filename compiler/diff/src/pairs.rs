//! The tenants and roles of both sides, the views of their callers, and their names in reports.
//!
//! Pairs of a tenant and a role that see one audience before and one after are one: the work grows
//! with those. All tenants times all roles are only looked up once each.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt};
use relay_engine::place::{Placement, number_of};
use relay_engine::view::View;

use crate::role;

/// Names that a text lists.
const NAMES_MAX: usize = 3;

/// The tenants and roles of both sides.
pub(crate) struct Pairs<'b> {
    /// The pairs, one for all that see the same.
    pub(crate) list: Vec<Pair<'b>>,
    /// The names of the roles; empty if both sides lack roles.
    roles: Vec<&'b str>,
    /// The tenants, grouped if all pairs treat them alike. `None` stands for an absent tenant.
    groups: Vec<Vec<Option<&'b str>>>,
}

/// Callers that see the same before, and the same after.
pub(crate) struct Pair<'b> {
    pub(crate) a: View<'b>,
    pub(crate) b: View<'b>,
    /// The roles and tenants of these callers.
    pub(crate) cells: Vec<Cell>,
    /// Whether the tools of their roles differ.
    pub(crate) has_other_tools: bool,
    /// The views of roles that contain theirs after the change alone.
    pub(crate) new_parents: Vec<Parent<'b>>,
    /// The views of roles that contain theirs before the change alone.
    pub(crate) old_parents: Vec<Parent<'b>>,
}

/// The views of a role that contains another one; `None` on a side that lacks the role.
pub(crate) struct Parent<'b> {
    pub(crate) a: Option<View<'b>>,
    pub(crate) b: Option<View<'b>>,
}

/// A role and a group of tenants, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    role: usize,
    group: usize,
}

/// The audience before and after, by number, if the bundle has audiences.
type Numbers = [Option<usize>; 2];
/// The same of a role that contains another one; the outer `None` is a side that lacks the role.
type ParentNumbers = [Option<Option<usize>>; 2];

/// A tenant, by its name and its number on each side; an absent name stands for an absent tenant.
type NamedTenant<'b> = (Option<&'b str>, [Option<usize>; 2]);

/// The key of merged pairs: equal for pairs that see the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    seen: Numbers,
    has_other_tools: bool,
    new_parents: Vec<ParentNumbers>,
    old_parents: Vec<ParentNumbers>,
}

/// A role of both sides, by its number on each.
struct Role<'b> {
    name: &'b str,
    numbers: [Option<usize>; 2],
    has_other_tools: bool,
    /// The roles that began or ended to contain it, by their number on each side that has them.
    new_parents: Vec<[Option<usize>; 2]>,
    old_parents: Vec<[Option<usize>; 2]>,
}

impl<'b> Pairs<'b> {
    /// Returns the pairs of two bundles. If only one has roles, the list is empty: both sides share
    /// no role.
    pub(crate) fn of(a: &'b Bundle, b: &'b Bundle) -> Result<Self, Corrupt> {
        let roles = roles(a, b);
        let mut keys: BTreeMap<Vec<Key>, Vec<Option<&str>>> = BTreeMap::new();
        for (name, numbers) in tenants(a, b)? {
            let key = |role: &Role<'_>| role.key(a, b, numbers);
            keys.entry(roles.iter().map(key).collect::<Result<_, _>>()?).or_default().push(name);
        }
        let mut pairs: BTreeMap<Key, Vec<Cell>> = BTreeMap::new();
        let mut groups = Vec::new();
        for (group, (keys, tenants)) in keys.into_iter().enumerate() {
            for (role, key) in keys.into_iter().enumerate() {
                pairs.entry(key).or_default().push(Cell { role, group });
            }
            groups.push(tenants);
        }
        let pair = |(key, cells): (Key, Vec<Cell>)| {
            let Key { seen: [of_a, of_b], has_other_tools, new_parents, old_parents } = key;
            Ok(Pair {
                a: view(a, of_a)?,
                b: view(b, of_b)?,
                cells,
                has_other_tools,
                new_parents: parents(a, b, &new_parents)?,
                old_parents: parents(a, b, &old_parents)?,
            })
        };
        let list = pairs.into_iter().map(pair).collect::<Result<_, _>>()?;
        let roles = roles.iter().filter(|role| !role.name.is_empty());
        Ok(Self { list, roles: roles.map(|role| role.name).collect(), groups })
    }

    /// Returns whether all callers see the same, before and after.
    pub(crate) fn are_one(&self) -> bool {
        self.list.len() == 1
    }

    /// Returns the role of a cell.
    pub(crate) fn role(&self, cell: Cell) -> Option<&'b str> {
        self.roles.get(cell.role).copied()
    }

    /// Returns words for callers, a few for each.
    pub(crate) fn words(&self, cells: impl Iterator<Item = Cell>) -> Vec<String> {
        self.merged(cells).into_iter().map(|(roles, groups)| self.phrase(&roles, &groups)).collect()
    }

    /// Returns everything that [`Self::words`] shortens, including the counted names.
    pub(crate) fn content(&self, cells: impl Iterator<Item = Cell>) -> String {
        let mut text = String::new();
        for (roles, groups) in self.merged(cells) {
            let roles = roles.iter().filter_map(|role| self.roles.get(*role));
            let tenants = groups.iter().filter_map(|group| self.groups.get(*group)).flatten();
            for name in roles {
                text.push_str(&format!("role {name}\n"));
            }
            for name in tenants {
                text.push_str(&format!("tenant {name:?}\n"));
            }
        }
        text
    }

    /// Returns the roles with the same tenants together, each group with its tenants.
    fn merged(&self, cells: impl Iterator<Item = Cell>) -> Vec<(Vec<usize>, BTreeSet<usize>)> {
        let mut of_roles: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for Cell { role, group } in cells {
            of_roles.entry(role).or_default().insert(group);
        }
        let mut merged: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
        for (role, groups) in of_roles {
            merged.entry(groups).or_default().push(role);
        }
        let mut merged: Vec<_> =
            merged.into_iter().map(|(groups, roles)| (roles, groups)).collect();
        merged.sort();
        merged
    }

    fn phrase(&self, roles: &[usize], groups: &BTreeSet<usize>) -> String {
        let names = |roles: &[usize]| -> Vec<&str> {
            roles.iter().filter_map(|role| self.roles.get(*role).copied()).collect()
        };
        let is_every_role = roles.len() >= self.roles.len();
        let who = match (self.roles.len(), roles.len()) {
            (0, _) => String::new(),
            (2.., _) if is_every_role => "every role".into(),
            (_, 1) => format!("role {}", listed(&names(roles))),
            (_, _) => format!("roles {}", listed(&names(roles))),
        };
        let all: Vec<Option<&str>> = self.groups.iter().flatten().copied().collect();
        let meant: Vec<Option<&str>> =
            groups.iter().filter_map(|group| self.groups.get(*group)).flatten().copied().collect();
        let mut tenants: Vec<&str> = meant.iter().copied().flatten().collect();
        tenants.sort_unstable();
        let has_none = meant.len() > tenants.len();
        let with_tenants = match (tenants.len(), has_none) {
            _ if groups.len() == self.groups.len() => {
                return match (is_every_role, all.len()) {
                    (true, _) => "everyone".into(),
                    (false, 1) => who,
                    (false, _) => format!("{who} of every tenant"),
                };
            }
            (0, _) => return joined_words(&who, "without a tenant", "callers without a tenant"),
            (count, false) if count + 1 == all.len() && count > 1 => {
                return joined_words(&who, "with a tenant", "callers with a tenant");
            }
            (1, _) => format!("tenant {}", listed(&tenants)),
            (_, _) => format!("tenants {}", listed(&tenants)),
        };
        let tenants = if has_none { format!("{with_tenants} or none") } else { with_tenants };
        if who.is_empty() { tenants } else { format!("{tenants}, {who}") }
    }
}

fn joined_words(who: &str, suffix: &str, alone: &str) -> String {
    if who.is_empty() { alone.into() } else { format!("{who} {suffix}") }
}

/// Returns the first names of a list, and the number of the others.
pub(crate) fn listed(names: &[&str]) -> String {
    let shown = names.get(..NAMES_MAX.min(names.len())).unwrap_or_default().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

impl Role<'_> {
    fn key(&self, a: &Bundle, b: &Bundle, tenant: [Option<usize>; 2]) -> Result<Key, Corrupt> {
        let Self { name: _, numbers: [of_a, of_b], has_other_tools, new_parents, old_parents } =
            self;
        let [tenant_a, tenant_b] = tenant;
        let parents = |list: &[[Option<usize>; 2]]| -> Result<Vec<ParentNumbers>, Corrupt> {
            let numbers = |[of_a, of_b]: &[Option<usize>; 2]| {
                let of_a = of_a.map(|role| audience(a, tenant_a, Some(role))).transpose()?;
                let of_b = of_b.map(|role| audience(b, tenant_b, Some(role))).transpose()?;
                Ok([of_a, of_b])
            };
            list.iter().map(numbers).collect()
        };
        Ok(Key {
            seen: [audience(a, tenant_a, *of_a)?, audience(b, tenant_b, *of_b)?],
            has_other_tools: *has_other_tools,
            new_parents: parents(new_parents)?,
            old_parents: parents(old_parents)?,
        })
    }
}

fn audience(
    bundle: &Bundle,
    tenant: Option<usize>,
    role: Option<usize>,
) -> Result<Option<usize>, Corrupt> {
    Ok(View::of(bundle, &Placement { tenant, role, row: None })?.audience())
}

fn view(bundle: &Bundle, number: Option<usize>) -> Result<View<'_>, Corrupt> {
    View::of_audience(bundle, number.unwrap_or(0))
}

fn parents<'b>(
    a: &'b Bundle,
    b: &'b Bundle,
    numbers: &[ParentNumbers],
) -> Result<Vec<Parent<'b>>, Corrupt> {
    let parent = |[of_a, of_b]: &ParentNumbers| {
        let of_a = of_a.map(|number| view(a, number)).transpose()?;
        Ok(Parent { a: of_a, b: of_b.map(|number| view(b, number)).transpose()? })
    };
    numbers.iter().map(parent).collect()
}

/// Returns the roles of both sides; if both lack roles, one for everyone.
fn roles<'b>(a: &'b Bundle, b: &'b Bundle) -> Vec<Role<'b>> {
    let (of_a, of_b) = (a.roles(), b.roles());
    if of_a.is_empty() && of_b.is_empty() {
        let (new_parents, old_parents) = (Vec::new(), Vec::new());
        let numbers = [None; 2];
        return vec![Role { name: "", numbers, has_other_tools: false, new_parents, old_parents }];
    }
    let both = |name: &str| [number_of(of_a, name), number_of(of_b, name)];
    let changed = |name: &str| role::parent(of_a, name) != role::parent(of_b, name);
    let mut common = Vec::new();
    for role in of_b {
        let Some(before) = number_of(of_a, &role.name).and_then(|number| of_a.get(number)) else {
            continue;
        };
        let began = role::ancestors(of_b, &role.name).into_iter().filter(|name| changed(name));
        let ended = role::ancestors(of_a, &role.name).into_iter().filter(|name| changed(name));
        common.push(Role {
            name: &role.name,
            numbers: both(&role.name),
            has_other_tools: !role::have_equal_tools(before, role),
            new_parents: began.filter_map(|name| role::parent(of_b, name)).map(both).collect(),
            old_parents: ended.filter_map(|name| role::parent(of_a, name)).map(both).collect(),
        });
    }
    common
}

/// Returns the absent tenant, and the tenants of both sides, each by its number on each side. Where
/// the first side has no tenants, callers of every tenant were alike.
fn tenants<'b>(a: &'b Bundle, b: &'b Bundle) -> Result<Vec<NamedTenant<'b>>, Corrupt> {
    let mut common = vec![(None, [None; 2])];
    for number in 0..b.tenants().count() {
        let name = b.tenants().name(number)?;
        let before = a.tenants().find(name)?;
        if before.is_some() || a.tenants().count() == 0 {
            common.push((Some(name), [before, Some(number)]));
        }
    }
    Ok(common)
}
