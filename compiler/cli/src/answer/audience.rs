//! The audiences of a bundle and their members: callers of a tenant and in a role.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Audiences, Bundle, Corrupt, List};
use relay_engine::view::View;
use schemars::JsonSchema;
use serde::Serialize;

/// Parts of a short name.
const PARTS_MAX: usize = 3;

/// Callers who see something, or who are an audience.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub(crate) struct Readers {
    /// Their tenants, `null` for callers without one; absent if that is everyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tenants: Option<Vec<Option<String>>>,
    /// Their roles; absent if that is every role, or if the project has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) roles: Option<Vec<String>>,
}

/// A prompt, resource or tool, and who sees it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Seen{T}")]
pub(crate) struct Seen<T> {
    /// The prompt, resource or tool.
    #[serde(flatten)]
    pub(crate) held: T,
    /// Who sees it; `null` if everyone does. Those of one entry see it in each of its roles.
    pub(crate) seen_by: Option<Vec<Readers>>,
}

/// The members of the audiences of a bundle.
pub(crate) struct Names<'b> {
    bundle: &'b Bundle,
    /// `None` if everyone sees everything.
    audiences: Option<Audiences>,
    /// The tenants of each class; `None` stands for an absent tenant.
    classes: Vec<Vec<Option<String>>>,
    roles: Vec<String>,
}

impl<'b> Names<'b> {
    /// Reads the audiences and their members.
    pub(crate) fn of(bundle: &'b Bundle) -> Result<Self, Corrupt> {
        let audiences = bundle.audiences().list()?;
        let mut classes: BTreeMap<u32, Vec<Option<String>>> = BTreeMap::new();
        if let Some(audiences) = &audiences {
            let tenants = bundle.tenants().list()?.into_iter().map(|tenant| Some(tenant.name));
            for (class, tenant) in
                audiences.tenant_classes.iter().zip([None].into_iter().chain(tenants))
            {
                classes.entry(*class).or_default().push(tenant);
            }
        }
        let roles = bundle.roles().iter().map(|role| role.name.clone());
        let classes = classes.into_values().collect();
        Ok(Self { bundle, audiences, classes, roles: roles.collect() })
    }

    /// Returns the numbers of the audiences: one if everyone sees everything.
    pub(crate) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.bundle.audiences().count().max(1)
    }

    /// Returns the view of an audience.
    pub(crate) fn view(&self, number: usize) -> Result<View<'b>, Corrupt> {
        View::of_audience(self.bundle, number)
    }

    /// Returns the members of these audiences; `None` for everyone.
    pub(crate) fn readers(&self, is_in: impl Fn(usize) -> bool) -> Option<Vec<Readers>> {
        let audiences = self.audiences.as_ref()?;
        if self.numbers().all(&is_in) {
            return None;
        }
        let columns = self.roles.len().max(1);
        let mut of_roles: BTreeMap<BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
        for role in 0..columns {
            let cell = |class: usize| audiences.table.get(class * columns + role);
            let is_class =
                |class: &usize| cell(*class).is_some_and(|number| is_in(*number as usize));
            let classes: BTreeSet<usize> = (0..self.classes.len()).filter(is_class).collect();
            if !classes.is_empty() {
                of_roles.entry(classes).or_default().push(role);
            }
        }
        let readers = |(classes, roles): (BTreeSet<usize>, Vec<usize>)| {
            let is_everyone = classes.len() == self.classes.len();
            let tenants = classes.iter().filter_map(|class| self.classes.get(*class)).flatten();
            let mut tenants: Vec<Option<String>> = tenants.cloned().collect();
            tenants.sort();
            let roles: Vec<String> =
                roles.into_iter().filter_map(|role| self.roles.get(role).cloned()).collect();
            let is_every_role = roles.len() == self.roles.len();
            Readers {
                tenants: (!is_everyone).then_some(tenants),
                roles: (!is_every_role).then_some(roles),
            }
        };
        let mut readers: Vec<Readers> = of_roles.into_iter().map(readers).collect();
        readers.sort();
        Some(readers)
    }

    /// Returns the readers of a row of a list; `None` for everyone.
    pub(crate) fn seen_by(&self, list: List, row: usize) -> Result<Option<Vec<Readers>>, Corrupt> {
        let sees = |number| self.view(number)?.sees(list, row);
        let seen: Vec<bool> = self.numbers().map(sees).collect::<Result<_, Corrupt>>()?;
        Ok(self.readers(|number| seen.get(number).copied().unwrap_or(false)))
    }

    /// Returns the readers of each row of a list.
    pub(crate) fn all_seen_by(&self, list: List) -> Result<Vec<Option<Vec<Readers>>>, Corrupt> {
        let rows = self.bundle.list(list).count();
        let mut sets: Vec<Vec<bool>> = vec![Vec::new(); rows];
        for number in self.numbers() {
            let view = self.view(number)?;
            let mut seen = vec![false; rows];
            for row in view.rows(list)? {
                if let Some(seen) = seen.get_mut(row) {
                    *seen = true;
                }
            }
            sets.iter_mut().zip(seen).for_each(|(set, seen)| set.push(seen));
        }
        // Nearly all rows share a few sets.
        let mut known: BTreeMap<Vec<bool>, Option<Vec<Readers>>> = BTreeMap::new();
        let readers = |set: Vec<bool>| {
            if let Some(readers) = known.get(&set) {
                return readers.clone();
            }
            let readers = self.readers(|number| set.get(number).copied().unwrap_or(false));
            known.insert(set, readers.clone());
            readers
        };
        Ok(sets.into_iter().map(readers).collect())
    }
}

/// Returns readers in short: `reader`, `acme: operator, admin`, `+3 more`.
pub(crate) fn short(readers: Option<&[Readers]>) -> String {
    let Some(readers) = readers else { return "everyone".into() };
    let parts = parts(readers, some);
    let shown = parts.get(..PARTS_MAX.min(parts.len())).unwrap_or_default().join("; ");
    match parts.len().saturating_sub(PARTS_MAX) {
        0 => shown,
        more => format!("{shown}; +{more} more"),
    }
}

/// Returns readers in full, with all tenants and roles.
pub(crate) fn whole(readers: &[Readers]) -> String {
    parts(readers, |names| names.join(", ")).join("; ")
}

/// Returns the roles of every tenant, then tenants with their other roles; those with the same
/// roles together.
fn parts(readers: &[Readers], named: impl Fn(&[&str]) -> String) -> Vec<String> {
    let mut everywhere: BTreeSet<&str> = BTreeSet::new();
    // An empty list of roles means all.
    let mut of_tenants: BTreeMap<Option<&str>, BTreeSet<&str>> = BTreeMap::new();
    for Readers { tenants, roles } in readers {
        let roles = || roles.iter().flatten().map(String::as_str);
        match tenants {
            None => everywhere.extend(roles()),
            Some(tenants) => {
                for tenant in tenants {
                    of_tenants.entry(tenant.as_deref()).or_default().extend(roles());
                }
            }
        }
    }
    let mut together: BTreeMap<BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    for (tenant, roles) in of_tenants {
        together.entry(roles).or_default().push(tenant.unwrap_or("no tenant"));
    }
    let mut of_tenants: Vec<(Vec<&str>, BTreeSet<&str>)> =
        together.into_iter().map(|(roles, tenants)| (tenants, roles)).collect();
    of_tenants.sort();
    let named_all = |names: BTreeSet<&str>| named(&names.into_iter().collect::<Vec<_>>());
    let mut parts = Vec::new();
    if !everywhere.is_empty() {
        parts.push(named_all(everywhere));
    }
    for (tenants, roles) in of_tenants {
        let tenants = named(&tenants);
        parts.push(if roles.is_empty() {
            tenants
        } else {
            format!("{tenants}: {}", named_all(roles))
        });
    }
    if parts.is_empty() {
        parts.push("no one".into());
    }
    parts
}

/// Returns the first names of a list, and the number of the others.
fn some(names: &[&str]) -> String {
    match names {
        [first, second, _, _, ..] => format!("{first}, {second}, +{} more", names.len() - 2),
        few => few.join(", "),
    }
}
