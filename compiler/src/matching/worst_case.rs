//! The largest text that a call can get, over all tenants, tools and users that can meet.
//!
//! Only the scopes that skills select differ, and only sets of patterns that one name can match.
//! For each set, the texts of all skills of a tenant and of a user are an upper bound for a call
//! with both: a topic only removes texts. So only the calls whose bound is over the limit are
//! resolved.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hashbrown::HashMap;
use relay_engine::glob;

use crate::ast::Who;
use crate::matching::pattern_set::{self, NameSet};
use crate::model::{Model, Skill};

/// The most calls that are resolved.
const RESOLVED_MAX: usize = 20_000;
/// The most bounds that are computed.
const BOUNDS_MAX: usize = 5_000_000;
/// The most comparisons to find a known tool for a set of patterns.
const COMPARED_MAX: usize = 20_000_000;

/// A call with more text than a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorstCase {
    /// The bytes of its text, or an upper bound of them.
    pub(crate) bytes: usize,
    pub(crate) tenant: Option<String>,
    /// Absent if it is unknown.
    pub(crate) tool: Option<String>,
    pub(crate) user: Option<String>,
    /// Whether `bytes` is an upper bound that calls may fall short of.
    pub(crate) is_bound: bool,
}

/// Returns the call with the largest text over `limit`, if a call is over it.
pub(crate) fn over(model: &Model, known_tools: &[&str], limit: usize) -> Option<WorstCase> {
    let (patterns, sets) = sets(&model.skills.list, known_tools);
    let scopes = Scopes::of(model, &patterns);
    let all = (0..scopes.tenants.len()).collect();
    let found = search(&scopes, &patterns, sets.as_deref(), vec![Search::of(all, limit)]).pop();
    // The text of an actual call is a better reason than a bound, which may be larger.
    found.and_then(|Found { worst, bound }| worst.or(bound))
}

/// Returns the largest text of a call of each tenant that skills name, and of callers that give
/// none, the largest first.
///
/// Calls are resolved for callers that give none, and for the `tenants_max` tenants with the
/// largest upper bounds. The result holds the bound of each other tenant, so it is complete.
pub(crate) fn by_tenant(model: &Model, known_tools: &[&str], tenants_max: usize) -> Vec<WorstCase> {
    let (patterns, sets) = sets(&model.skills.list, known_tools);
    let scopes = Scopes::of(model, &patterns);
    let mut tenants: Vec<usize> = (0..scopes.tenants.len()).collect();
    let mut worst = Vec::new();
    let measured_max = tenants_max.saturating_add(1);
    if tenants.len() > measured_max {
        let bounds = bounds(&scopes, &patterns, sets.as_deref());
        let bound = |tenant: usize| bounds.get(tenant).copied().unwrap_or(0);
        tenants.sort_by_key(|tenant| (*tenant != 0, Reverse(bound(*tenant))));
        let others = tenants.split_off(measured_max).into_iter();
        worst.extend(others.filter(|tenant| bound(*tenant) > 0).map(|tenant| WorstCase {
            bytes: bound(tenant).saturating_sub(1),
            tenant: scopes.tenant(tenant),
            tool: None,
            user: None,
            is_bound: true,
        }));
    }
    let searches = tenants.iter().map(|tenant| Search::of(vec![*tenant], 0)).collect();
    let found = search(&scopes, &patterns, sets.as_deref(), searches);
    worst.extend(tenants.into_iter().zip(found).filter_map(|(tenant, Found { worst, bound })| {
        let larger = match (worst, bound) {
            (Some(worst), Some(bound)) if bound.bytes <= worst.bytes => worst,
            (worst, bound) => bound.or(worst)?,
        };
        Some(WorstCase { tenant: scopes.tenant(tenant), ..larger })
    }));
    // Of equal sizes the exact ones come first.
    worst.sort_by(|a, b| {
        let by_size = b.bytes.cmp(&a.bytes).then(a.is_bound.cmp(&b.is_bound));
        by_size.then_with(|| a.tenant.cmp(&b.tenant))
    });
    worst
}

/// Returns for each tenant an upper bound of the text of a call, with one line feed too many: exact
/// except for topics, unless there are too many sets.
fn bounds(scopes: &Scopes<'_>, patterns: &[&str], sets: Option<&[NameSet]>) -> Vec<usize> {
    let mut sums = Sums::of(scopes, patterns.len());
    let mut most = vec![0; scopes.tenants.len()];
    let own: Vec<Option<usize>> =
        (1..most.len()).map(|tenant| scopes.numbers.get(&(tenant, 0)).copied()).collect();
    let mut set = |patterns: &[usize]| {
        sums.set(patterns);
        let common = sums.sum(0, 0);
        let of_scope = |scope: usize| sums.of_scope.get(scope).copied().unwrap_or(0);
        let mut of_both = vec![0; most.len()];
        for (tenant, scope) in &scopes.of_both {
            if let Some(most) = of_both.get_mut(*tenant) {
                *most = of_scope(*scope).max(*most);
            }
        }
        let of_tenant = [0].into_iter().chain(own.iter().map(|own| own.map_or(0, of_scope)));
        let own = most.iter_mut().zip(of_both).zip(of_tenant).enumerate();
        for (tenant, ((most, of_both), of_tenant)) in own {
            let of_user = [sums.user(tenant, Home::All, 0), sums.user(tenant, Home::Tenant, 0)];
            let of_user = of_user.into_iter().flatten().map(|(bytes, _)| bytes).max().unwrap_or(0);
            *most = (common + of_user + of_tenant + of_both).max(*most);
        }
    };
    let rounds = |sets: &&[NameSet]| scopes.skills.len().saturating_mul(sets.len());
    match sets.filter(|sets| rounds(sets) <= BOUNDS_MAX) {
        None => set(&(0..patterns.len()).collect::<Vec<_>>()),
        Some(sets) => {
            set(&[]);
            sets.iter().for_each(|each| set(&each.patterns));
        }
    }
    most
}

/// Returns the distinct patterns of skills, sorted, and the sets of them that one name can match;
/// `None` if these are too many.
fn sets<'s>(skills: &'s [Skill], known_tools: &[&str]) -> (Vec<&'s str>, Option<Vec<NameSet>>) {
    let patterns: Vec<&str> = skills
        .iter()
        .flat_map(|skill| &skill.tools)
        .map(|pattern| pattern.value.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let mut sets = pattern_set::sets(&patterns).ok();
    if let Some(sets) = &mut sets {
        name_known(sets, &patterns, known_tools);
    }
    (patterns, sets)
}

/// The result of a search.
struct Found {
    /// The call with the largest text; a bound if all patterns were taken together.
    worst: Option<WorstCase>,
    /// The largest bound of the unresolved calls.
    bound: Option<WorstCase>,
}

/// Returns the result of each search. All searches pass through the sets together, since the sums
/// of a set are the same for all.
fn search(
    scopes: &Scopes<'_>,
    patterns: &[&str],
    sets: Option<&[NameSet]>,
    mut searches: Vec<Search>,
) -> Vec<Found> {
    let resolved_max = RESOLVED_MAX / searches.len().max(1);
    let bounds_max = BOUNDS_MAX / searches.len().max(1);
    let mut sums = Sums::of(scopes, patterns.len());
    let mut set = |patterns: &[usize], tool: Option<&str>| {
        sums.set(patterns);
        for search in &mut searches {
            (search.resolved_max, search.bounds_max) = (resolved_max, bounds_max);
            search.set(&mut sums, tool);
        }
    };
    match sets {
        // A call that all patterns match. Its text, except for topics, is at least as large as that
        // of any set of them.
        None => set(&(0..patterns.len()).collect::<Vec<_>>(), None),
        Some(sets) => {
            // A question may also leave the tool out.
            set(&[], None);
            for NameSet { patterns, witness } in sets {
                set(patterns, Some(witness));
            }
        }
    }
    let is_bound = sets.is_none();
    let found = searches.into_iter().map(|Search { worst, bound, .. }| Found {
        worst: worst.map(|worst| WorstCase { is_bound, ..worst }),
        bound,
    });
    found.collect()
}

/// Names a known tool for each set that is exactly the patterns of that tool.
fn name_known(sets: &mut [NameSet], patterns: &[&str], known_tools: &[&str]) {
    if patterns.len().saturating_mul(known_tools.len()) > COMPARED_MAX {
        return;
    }
    for tool in known_tools.iter().rev() {
        let matched: Vec<usize> = (0..patterns.len())
            .filter(|at| patterns.get(*at).is_some_and(|p| glob::matches(p, tool)))
            .collect();
        let found = sets.binary_search_by(|set| set.patterns.cmp(&matched));
        if let Some(set) = found.ok().and_then(|at| sets.get_mut(at)) {
            set.witness = (*tool).to_owned();
        }
    }
}

/// The skills by tenant and user, each of which has a number; 0 is a caller that gives none.
struct Scopes<'s> {
    /// The bytes that each skill adds, with the line feed before it.
    bytes: Vec<usize>,
    /// The number of each skill's topic, and how many topics there are.
    topics: Vec<Option<usize>>,
    topic_count: usize,
    /// The patterns of each skill; empty if it is for any tool.
    patterns: Vec<Vec<usize>>,
    /// For each pattern, the skills that have it.
    of_pattern: Vec<Vec<usize>>,
    /// The number of each skill's scope.
    of_skill: Vec<usize>,
    /// The skills of each scope, in the order of the cascade.
    skills: Vec<Vec<usize>>,
    /// The number of each scope that skills select, by tenant and user.
    numbers: HashMap<(usize, usize), usize>,
    /// The scopes of a tenant and a user, each after its tenant.
    of_both: Vec<(usize, usize)>,
    /// The tenants; the first is for callers of an unnamed tenant.
    tenants: Vec<Option<&'s str>>,
    users: Vec<Option<&'s str>>,
    /// The tenants of each user that `users` names for certain tenants only.
    homes: Vec<Option<BTreeSet<usize>>>,
}

/// The tenants in which the id of a user means this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// Every tenant.
    All,
    /// This tenant alone.
    Tenant,
}

impl<'s> Scopes<'s> {
    fn of(model: &'s Model, patterns: &[&str]) -> Self {
        let skills = &model.skills.list;
        let tenant = |skill: &'s Skill| skill.tenant.as_ref().map(|tenant| tenant.value.as_str());
        let user = |skill: &'s Skill| skill.user.as_ref().map(|user| user.value.as_str());
        let topic =
            |skill: &'s Skill| skill.settings.topic.as_ref().map(|topic| topic.value.as_str());
        let topics = distinct(skills, topic);
        let mut scopes = Self {
            bytes: Vec::new(),
            topics: Vec::new(),
            topic_count: topics.len(),
            patterns: Vec::new(),
            of_pattern: vec![Vec::new(); patterns.len()],
            of_skill: Vec::new(),
            skills: Vec::new(),
            numbers: HashMap::new(),
            of_both: Vec::new(),
            tenants: distinct(skills, tenant),
            users: distinct(skills, user),
            homes: Vec::new(),
        };
        scopes.homes = scopes.homes(model);
        for (index, skill) in skills.iter().enumerate() {
            let length = skill.text.trim_end().len();
            scopes.bytes.push(if length == 0 { 0 } else { length + 1 });
            let topic = topic(skill).and_then(|topic| topics.binary_search(&Some(topic)).ok());
            scopes.topics.push(topic);
            let place = |names: &[Option<&str>], name| names.binary_search(&name).unwrap_or(0);
            let pair = (place(&scopes.tenants, tenant(skill)), place(&scopes.users, user(skill)));
            let scope = *scopes.numbers.entry(pair).or_insert_with(|| {
                if matches!(pair, (1.., 1..)) {
                    scopes.of_both.push((pair.0, scopes.skills.len()));
                }
                scopes.skills.push(Vec::new());
                scopes.skills.len() - 1
            });
            scopes.of_skill.push(scope);
            if let Some(of_scope) = scopes.skills.get_mut(scope) {
                of_scope.push(index);
            }
            let numbers = skill.tools.iter();
            let numbers: Vec<usize> = numbers
                .filter_map(|pattern| patterns.binary_search(&pattern.value.as_str()).ok())
                .collect();
            for pattern in &numbers {
                if let Some(of_pattern) = scopes.of_pattern.get_mut(*pattern) {
                    of_pattern.push(index);
                }
            }
            scopes.patterns.push(numbers);
        }
        scopes
    }

    fn homes(&self, model: &Model) -> Vec<Option<BTreeSet<usize>>> {
        let mut named: HashMap<&str, Vec<Option<usize>>> = HashMap::new();
        for row in model.access.users.iter().filter(|row| row.who == Who::User) {
            let name =
                row.tenant.as_ref().and_then(|tenant| model.access.tenants.get(tenant.value));
            let number = name.map(|tenant| {
                self.tenants.binary_search(&Some(tenant.value.as_str())).unwrap_or(0)
            });
            named.entry(&row.id).or_default().push(number);
        }
        let home = |user: &Option<&str>| {
            let tenants = named.get(user.as_ref()?)?.iter().copied();
            tenants.collect::<Option<BTreeSet<usize>>>()
        };
        self.users.iter().map(home).collect()
    }

    /// Returns the name of a tenant.
    fn tenant(&self, tenant: usize) -> Option<String> {
        self.tenants.get(tenant).copied().flatten().map(str::to_owned)
    }
}

/// Returns the distinct names, sorted; the first is the missing name.
fn distinct<'s>(
    skills: &'s [Skill],
    name: impl Fn(&'s Skill) -> Option<&'s str>,
) -> Vec<Option<&'s str>> {
    let names: BTreeSet<_> = skills.iter().map(name).chain([None]).collect();
    names.into_iter().collect()
}

/// The sums of the bytes of the skills that match a tool.
struct Sums<'p, 's> {
    scopes: &'p Scopes<'s>,
    /// The bytes of each scope's skills for any tool.
    of_any_tool: Vec<usize>,
    /// The bytes of each scope's skills that match.
    of_scope: Vec<usize>,
    /// Whether each pattern matches.
    matches: Vec<bool>,
    /// The patterns that match.
    patterns: Vec<usize>,
    /// For each user of all tenants the bytes of its skills that match, the most first.
    users: Vec<(usize, usize)>,
    /// The same for the other users of each tenant.
    at_home: Vec<Vec<(usize, usize)>>,
    /// The most bytes of the skills of a tenant and a user.
    most_of_both: usize,
    /// Marks of skills and topics: one with the newest mark was met.
    met: Vec<u64>,
    met_topics: Vec<u64>,
    mark: u64,
}

impl<'p, 's> Sums<'p, 's> {
    fn of(scopes: &'p Scopes<'s>, patterns: usize) -> Self {
        let mut of_any_tool = vec![0; scopes.skills.len()];
        for (index, scope) in scopes.of_skill.iter().enumerate() {
            let asks = scopes.patterns.get(index).is_some_and(|patterns| !patterns.is_empty());
            if let (false, Some(sum)) = (asks, of_any_tool.get_mut(*scope)) {
                *sum += scopes.bytes.get(index).copied().unwrap_or(0);
            }
        }
        Self {
            scopes,
            of_scope: of_any_tool.clone(),
            of_any_tool,
            matches: vec![false; patterns],
            patterns: Vec::new(),
            users: Vec::new(),
            at_home: vec![Vec::new(); scopes.tenants.len()],
            most_of_both: 0,
            met: vec![0; scopes.of_skill.len()],
            met_topics: vec![0; scopes.topic_count],
            mark: 0,
        }
    }

    /// Adds up the skills that match a tool with these patterns.
    fn set(&mut self, patterns: &[usize]) {
        for pattern in std::mem::replace(&mut self.patterns, patterns.to_vec()) {
            if let Some(matches) = self.matches.get_mut(pattern) {
                *matches = false;
            }
        }
        self.of_scope.copy_from_slice(&self.of_any_tool);
        self.mark += 1;
        for pattern in patterns {
            if let Some(matches) = self.matches.get_mut(*pattern) {
                *matches = true;
            }
            for index in self.scopes.of_pattern.get(*pattern).into_iter().flatten() {
                let Some(met) = self.met.get_mut(*index) else { continue };
                if std::mem::replace(met, self.mark) == self.mark {
                    continue;
                }
                let scope = self.scopes.of_skill.get(*index);
                if let Some(sum) = scope.and_then(|scope| self.of_scope.get_mut(*scope)) {
                    *sum += self.scopes.bytes.get(*index).copied().unwrap_or(0);
                }
            }
        }
        self.users.clear();
        self.at_home.iter_mut().for_each(Vec::clear);
        for (user, homes) in self.scopes.homes.iter().enumerate() {
            let of_user = (if user == 0 { 0 } else { self.sum(0, user) }, user);
            match homes {
                None => self.users.push(of_user),
                Some(homes) => homes.iter().for_each(|home| {
                    self.at_home.get_mut(*home).into_iter().for_each(|users| users.push(of_user));
                }),
            }
        }
        for users in self.at_home.iter_mut().chain([&mut self.users]) {
            users.sort_unstable_by(|a, b| b.cmp(a));
        }
        let of_both = self.scopes.of_both.iter();
        let of_both = of_both.filter_map(|(_, scope)| self.of_scope.get(*scope));
        self.most_of_both = of_both.max().copied().unwrap_or(0);
    }

    /// Returns the bytes of a user of a tenant and its number, by its place among these.
    fn user(&self, tenant: usize, home: Home, place: usize) -> Option<(usize, usize)> {
        let users = match home {
            Home::All => &self.users,
            Home::Tenant => self.at_home.get(tenant)?,
        };
        users.get(place).copied()
    }

    fn sum(&self, tenant: usize, user: usize) -> usize {
        let scope = self.scopes.numbers.get(&(tenant, user));
        scope.and_then(|scope| self.of_scope.get(*scope)).copied().unwrap_or(0)
    }

    /// Returns the bytes of the text of a call, with one line feed too many.
    fn resolve(&mut self, tenant: usize, user: usize) -> usize {
        let mut matched: Vec<usize> = Vec::new();
        let pairs = BTreeSet::from([(0, 0), (tenant, 0), (0, user), (tenant, user)]);
        for scope in pairs.iter().filter_map(|pair| self.scopes.numbers.get(pair)) {
            let of_scope = self.scopes.skills.get(*scope).into_iter().flatten();
            matched.extend(of_scope.filter(|index| {
                let Some(patterns) = self.scopes.patterns.get(**index) else { return false };
                let matches = |pattern: &usize| self.matches.get(*pattern) == Some(&true);
                patterns.is_empty() || patterns.iter().any(matches)
            }));
        }
        matched.sort_unstable();
        self.mark += 1;
        let mut bytes = 0;
        // The order of the cascade: the last one of a topic wins.
        for index in matched.into_iter().rev() {
            let topic = self.scopes.topics.get(index).copied().flatten();
            let met = topic.and_then(|topic| self.met_topics.get_mut(topic));
            if met.is_none_or(|met| std::mem::replace(met, self.mark) != self.mark) {
                bytes += self.scopes.bytes.get(index).copied().unwrap_or(0);
            }
        }
        bytes
    }
}

/// A search for the largest text of a call of some tenants.
struct Search {
    tenants: Vec<usize>,
    limit: usize,
    resolved_max: usize,
    bounds_max: usize,
    worst: Option<WorstCase>,
    /// The largest bound that was not resolved.
    bound: Option<WorstCase>,
    resolved: usize,
    bounds: usize,
}

impl Search {
    fn of(tenants: Vec<usize>, limit: usize) -> Self {
        let (resolved_max, bounds_max) = (RESOLVED_MAX, BOUNDS_MAX);
        let (worst, bound, resolved, bounds) = (None, None, 0, 0);
        Self { tenants, limit, resolved_max, bounds_max, worst, bound, resolved, bounds }
    }

    /// Searches the calls of tools that match the patterns of the sums.
    fn set(&mut self, sums: &mut Sums<'_, '_>, tool: Option<&str>) {
        let common = sums.sum(0, 0);
        let of_tenant =
            |tenant: &usize| (if *tenant == 0 { 0 } else { sums.sum(*tenant, 0) }, *tenant);
        let mut tenants: Vec<_> = self.tenants.iter().map(of_tenant).collect();
        tenants.sort_unstable_by(|a, b| b.cmp(a));
        for (of_tenant, tenant) in tenants {
            for home in [Home::All, Home::Tenant] {
                let mut place = 0;
                while let Some((of_user, user)) = sums.user(tenant, home, place) {
                    place += 1;
                    self.bounds += 1;
                    if common + of_tenant + of_user + sums.most_of_both <= self.over() {
                        // The users come by their bytes, the most first, so the other bounds are
                        // lower.
                        break;
                    }
                    let of_both = if tenant > 0 && user > 0 { sums.sum(tenant, user) } else { 0 };
                    let bound = common + of_tenant + of_user + of_both;
                    if bound > self.over() {
                        self.call(sums, (tenant, user), tool, bound);
                    }
                }
            }
        }
    }

    /// Returns the bytes, with one line feed too many, that a larger text must exceed.
    fn over(&self) -> usize {
        self.worst.as_ref().map_or(self.limit, |worst| worst.bytes) + 1
    }

    fn call(
        &mut self,
        sums: &mut Sums<'_, '_>,
        (tenant, user): (usize, usize),
        tool: Option<&str>,
        bound: usize,
    ) {
        let scopes = sums.scopes;
        let case = |bytes: usize, is_bound| WorstCase {
            bytes: bytes.saturating_sub(1),
            tenant: scopes.tenant(tenant),
            tool: tool.map(str::to_owned),
            user: scopes.users.get(user).copied().flatten().map(str::to_owned),
            is_bound,
        };
        if self.resolved >= self.resolved_max || self.bounds > self.bounds_max {
            let known = self.bound.as_ref().map_or(0, |known| known.bytes + 1);
            if bound > known {
                self.bound = Some(case(bound, true));
            }
            return;
        }
        self.resolved += 1;
        let bytes = sums.resolve(tenant, user);
        if bytes > self.over() {
            self.worst = Some(case(bytes, false));
        }
    }
}
