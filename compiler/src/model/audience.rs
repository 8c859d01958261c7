//! Audiences: tenants and roles that see the same parts of a project are one audience.
//!
//! The work grows with the number of `for`s times the number of roles, and with the visible parts
//! times the number of audiences, rather than with tenants times prompts.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use relay_bundle::Mask;
use relay_engine::glob;
use relay_engine::tool::{Gating, ToolSpec};

use super::access::{Access, For, Readers, User};

/// The most audiences of a project.
pub(crate) const AUDIENCES_MAX: usize = 4096;
/// The most pairs of a class of tenants and a role that are compared.
const PAIRS_MAX: usize = 65_536;

/// The audiences of a project. There is at least one.
#[derive(Debug, Default)]
pub(crate) struct Audiences {
    /// The class of callers that give no tenant, then that of each tenant.
    pub(crate) tenant_classes: Vec<usize>,
    /// The audience of each class of tenants and role: those of the first class, by role, then
    /// those of the next.
    pub(crate) table: Vec<usize>,
    pub(crate) list: Vec<Audience>,
}

/// An audience, with the rows of the lists of the model that it sees.
#[derive(Debug)]
pub(crate) struct Audience {
    pub(crate) prompts: Mask,
    pub(crate) resources: Mask,
    pub(crate) templates: Mask,
    pub(crate) tools: Mask,
    /// One of its pairs, preferably one that a caller can have.
    pub(crate) example: Pair,
    /// Whether a caller can have one of its pairs.
    pub(crate) has_callers: bool,
}

/// A tenant and a role, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) tenant: Option<usize>,
    pub(crate) role: Option<usize>,
}

/// A project has more audiences than a bundle can hold.
#[derive(Debug)]
pub(crate) struct TooMany {
    /// The number of audiences when counting stopped.
    pub(crate) count: usize,
}

/// The lists of the model that audiences see: the readers of each row, and the tools.
pub(crate) struct Lists<'m> {
    pub(crate) prompts: Vec<&'m Readers>,
    pub(crate) resources: Vec<&'m Readers>,
    pub(crate) templates: Vec<&'m Readers>,
    pub(crate) tools: Vec<&'m ToolSpec>,
    /// The row of the prompt about the tools that start processes.
    pub(crate) guide: Option<usize>,
}

impl Audience {
    /// Hides the guide from an audience that lacks one of its tools.
    fn guided(mut self, lists: &Lists<'_>) -> Self {
        if !self.sees_all_that_start_processes(&lists.tools) {
            let count = lists.prompts.len();
            let prompts = self.prompts;
            self.prompts = Mask::of(count, |row| prompts.contains(row) && lists.guide != Some(row));
        }
        self
    }

    /// Returns whether it sees each of these tools that starts processes.
    pub(crate) fn sees_all_that_start_processes(&self, tools: &[&ToolSpec]) -> bool {
        let mut rows = tools.iter().enumerate();
        rows.all(|(row, spec)| !spec.starts_processes() || self.tools.contains(row))
    }
}

impl Audiences {
    /// Returns the audiences of a project.
    ///
    /// # Errors
    ///
    /// There are over [`AUDIENCES_MAX`].
    pub(crate) fn of(access: &Access, lists: &Lists<'_>) -> Result<Self, TooMany> {
        let conditions = Conditions::of(lists);
        let roles: Vec<Option<usize>> = match access.roles.len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        let (tenant_classes, examples) = conditions.tenant_classes(access.tenants.len());
        if examples.len() * roles.len() > PAIRS_MAX {
            return Err(TooMany { count: examples.len() * roles.len() });
        }
        let tools: Vec<Mask> = roles.iter().map(|role| tools(access, *role, lists)).collect();
        let callers = Callers::of(access).by_class(&tenant_classes);
        let mut audiences = Self { tenant_classes, table: Vec::new(), list: Vec::new() };
        let mut known: HashMap<(Mask, &Mask), usize> = HashMap::new();
        for (class, tenant) in examples.into_iter().enumerate() {
            for (role, tools) in roles.iter().zip(&tools) {
                let pair = Pair { tenant, role: *role };
                let met = conditions.met(access, pair);
                let number = *known.entry((met.clone(), tools)).or_insert_with(|| {
                    audiences.list.push(conditions.audience(&met, tools, pair).guided(lists));
                    audiences.list.len() - 1
                });
                audiences.table.push(number);
                if let (Some(audience), Some(tenant)) =
                    (audiences.list.get_mut(number), callers.tenant_in(class, *role))
                    && !audience.has_callers
                {
                    audience.has_callers = true;
                    audience.example = Pair { tenant, role: *role };
                }
            }
        }
        match audiences.list.len() {
            count if count > AUDIENCES_MAX => Err(TooMany { count }),
            _ => Ok(audiences),
        }
    }

    /// Returns the audiences that have callers.
    pub(crate) fn with_callers(&self) -> impl Iterator<Item = &Audience> {
        self.list.iter().filter(|audience| audience.has_callers)
    }
}

impl Pair {
    /// Returns the pair for people.
    pub(crate) fn describe(self, access: &Access) -> String {
        let tenant = self.tenant.and_then(|tenant| access.tenants.get(tenant));
        let role = self.role.and_then(|role| access.roles.get(role));
        match (tenant, role) {
            (Some(tenant), Some(role)) => {
                format!("tenant `{}`, role `{}`", tenant.value, role.name.value)
            }
            (Some(tenant), None) => format!("tenant `{}`", tenant.value),
            (None, Some(role)) => format!("role `{}`", role.name.value),
            (None, None) => "everyone".into(),
        }
    }
}

/// The condition of a list of `for`s for a tenant: the list's number, and the roles that it
/// requires.
type Naming = (usize, Vec<Option<usize>>);

/// The distinct lists of `for`s of a project. Nearly all nodes of a project share a few.
struct Conditions<'m> {
    distinct: Vec<&'m Readers>,
    /// The number of the list of each prompt, resource and template.
    of_rows: [Vec<usize>; 3],
    /// For each tenant, the lists that name it.
    naming: BTreeMap<usize, BTreeSet<usize>>,
    /// The lists in which some `for` is for all tenants.
    general: Vec<usize>,
}

fn key(readers: &Readers) -> Vec<(Option<usize>, Option<usize>)> {
    let mut key: Vec<_> = readers.0.iter().map(|each| (each.tenant, each.role)).collect();
    key.sort_unstable();
    key.dedup();
    key
}

impl<'m> Conditions<'m> {
    fn of(lists: &Lists<'m>) -> Self {
        let Lists { prompts, resources, templates, tools: _, guide: _ } = lists;
        let mut numbers = HashMap::new();
        let mut distinct = Vec::new();
        let of_rows = [prompts, resources, templates].map(|list| {
            let number = |readers: &&'m Readers| {
                *numbers.entry(key(readers)).or_insert_with(|| {
                    distinct.push(*readers);
                    distinct.len() - 1
                })
            };
            list.iter().map(number).collect()
        });
        let mut naming: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut general = Vec::new();
        for (number, Readers(readers)) in distinct.iter().enumerate() {
            for tenant in readers.iter().filter_map(|each| each.tenant) {
                naming.entry(tenant).or_default().insert(number);
            }
            if readers.is_empty() || readers.iter().any(|each| each.tenant.is_none()) {
                general.push(number);
            }
        }
        Self { distinct, of_rows, naming, general }
    }

    /// Returns the class of callers that give no tenant and of each tenant, and one tenant of each
    /// class. Tenants are one class if the same lists name them in the same way.
    fn tenant_classes(&self, tenants: usize) -> (Vec<usize>, Vec<Option<usize>>) {
        let mut known: HashMap<Vec<Naming>, usize> = HashMap::new();
        known.insert(Vec::new(), 0);
        let mut classes = vec![0];
        let mut examples = vec![None];
        for tenant in 0..tenants {
            let naming = self.naming.get(&tenant).into_iter().flatten();
            let roles = |number: &usize| {
                let readers = self.distinct.get(*number).map_or(&[][..], |readers| &readers.0);
                let named = readers.iter().filter(|each| each.tenant == Some(tenant));
                let mut roles: Vec<_> = named.map(|each| each.role).collect();
                roles.sort_unstable();
                roles.dedup();
                roles
            };
            let signature: Vec<_> = naming.map(|number| (*number, roles(number))).collect();
            let class = *known.entry(signature).or_insert(examples.len());
            if class == examples.len() {
                examples.push(Some(tenant));
            }
            classes.push(class);
        }
        (classes, examples)
    }

    /// Returns the lists that admit a pair, as a mask.
    fn met(&self, access: &Access, pair: Pair) -> Mask {
        let naming = pair.tenant.and_then(|tenant| self.naming.get(&tenant));
        let mut met = vec![false; self.distinct.len()];
        for number in self.general.iter().chain(naming.into_iter().flatten()) {
            let readers = self.distinct.get(*number).copied();
            if let Some(met) = met.get_mut(*number) {
                *met = readers.is_some_and(|readers| admits(readers, access, pair));
            }
        }
        Mask::of(met.len(), |number| met.get(number).copied().unwrap_or(false))
    }

    fn audience(&self, met: &Mask, tools: &Mask, pair: Pair) -> Audience {
        let rows = |numbers: &[usize]| {
            let is_met = |row| numbers.get(row).is_some_and(|number| met.contains(*number));
            Mask::of(numbers.len(), is_met)
        };
        let [prompts, resources, templates] = &self.of_rows;
        Audience {
            prompts: rows(prompts),
            resources: rows(resources),
            templates: rows(templates),
            tools: tools.clone(),
            example: pair,
            has_callers: false,
        }
    }
}

/// Returns whether a list of `for`s admits callers of a tenant and in a role.
pub(crate) fn admits(readers: &Readers, access: &Access, pair: Pair) -> bool {
    let admits = |each: &For| {
        let tenant = each.tenant.is_none_or(|tenant| pair.tenant == Some(tenant));
        let covers = |role| pair.role.is_some_and(|own| access.ancestors(own).any(|it| it == role));
        tenant && each.role.is_none_or(covers)
    };
    readers.0.is_empty() || readers.0.iter().any(admits)
}

/// Returns the tools that a role sees. Those of the gate are visible to everyone.
fn tools(access: &Access, role: Option<usize>, lists: &Lists<'_>) -> Mask {
    let patterns = role.and_then(|role| access.roles.get(role)?.tools.as_ref());
    Mask::of(lists.tools.len(), |row| {
        let Some(spec) = lists.tools.get(row) else { return false };
        let matches =
            |pattern: &str| glob::check(pattern).is_ok() && glob::matches(pattern, spec.name);
        let of_gate = spec.gating != Gating::Gated;
        of_gate || patterns.is_none_or(|all| all.iter().any(|pattern| matches(&pattern.value)))
    })
}

/// The classes of tenants and the roles that callers can have.
struct CallersByClass {
    everyone: bool,
    /// The roles that a caller may have in every tenant.
    anywhere: BTreeSet<usize>,
    /// The classes and roles of the rows for one tenant, with that tenant.
    examples: BTreeMap<(usize, usize), Option<usize>>,
    /// One tenant of each class.
    tenants: BTreeMap<usize, Option<usize>>,
}

impl CallersByClass {
    /// Returns a tenant of a class in which a caller may have a role, if there is one.
    fn tenant_in(&self, class: usize, role: Option<usize>) -> Option<Option<usize>> {
        let anywhere = role.map_or(self.everyone, |role| self.anywhere.contains(&role));
        let of_class = self.tenants.get(&class).copied();
        let of_row = role.and_then(|role| self.examples.get(&(class, role)).copied());
        of_class.filter(|_| anywhere).or(of_row)
    }
}

/// The tenants and roles that callers can have.
pub(crate) struct Callers {
    /// In a project that has no roles, everyone has a place.
    everyone: bool,
    /// The tenant and the role of each row of `users`; if the tenant is absent, it counts for every
    /// one.
    rows: BTreeSet<(Option<usize>, usize)>,
    /// The same, for every role that contains that of the row.
    covered: BTreeSet<(Option<usize>, usize)>,
    covered_anywhere: BTreeSet<usize>,
}

impl Callers {
    pub(crate) fn of(access: &Access) -> Self {
        let tenant = |user: &User| user.tenant.as_ref().map(|tenant| tenant.value);
        let rows: BTreeSet<_> =
            access.users.iter().map(|user| (tenant(user), user.role.value)).collect();
        let covered: BTreeSet<_> = rows
            .iter()
            .flat_map(|(tenant, role)| access.ancestors(*role).map(|covering| (*tenant, covering)))
            .collect();
        let covered_anywhere = covered.iter().map(|(_, role)| *role).collect();
        Self { everyone: access.roles.is_empty(), rows, covered, covered_anywhere }
    }

    /// Returns the classes of tenants that callers may have, given the class of callers that give
    /// none, and of each tenant.
    fn by_class(&self, classes: &[usize]) -> CallersByClass {
        let class = |tenant: Option<usize>| classes.get(tenant.map_or(0, |tenant| tenant + 1));
        let mut anywhere = BTreeSet::new();
        let mut examples = BTreeMap::new();
        for (tenant, role) in &self.rows {
            match (tenant, class(*tenant)) {
                (None, _) => _ = anywhere.insert(*role),
                (Some(_), Some(class)) => _ = examples.entry((*class, *role)).or_insert(*tenant),
                (Some(_), None) => {}
            }
        }
        let mut tenants = BTreeMap::new();
        for (place, class) in classes.iter().enumerate() {
            tenants.entry(*class).or_insert(place.checked_sub(1));
        }
        CallersByClass { everyone: self.everyone, anywhere, examples, tenants }
    }

    /// Returns whether a `for` admits any caller.
    pub(crate) fn are_admitted(&self, readers: &For) -> bool {
        match (readers.tenant, readers.role) {
            _ if self.everyone => true,
            (None, None) => !self.rows.is_empty(),
            (None, Some(role)) => self.covered_anywhere.contains(&role),
            (Some(tenant), Some(role)) => {
                self.covered.contains(&(None, role)) || self.covered.contains(&(Some(tenant), role))
            }
            (Some(tenant), None) => {
                let of = |tenant| self.rows.range((tenant, 0)..=(tenant, usize::MAX)).next();
                of(None).or(of(Some(tenant))).is_some()
            }
        }
    }

    /// Returns whether a caller has exactly this role.
    pub(crate) fn have_role(&self, role: usize) -> bool {
        self.rows.iter().any(|(_, each)| *each == role)
    }
}
