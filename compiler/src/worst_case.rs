//! The largest text that a call can be given, over all tenants, tools and users that can meet.
//!
//! Only scopes that skills ask for differ, and only sets of patterns that one name can match. For
//! each set, the texts of all skills of a tenant and of a user bound what a call with both is given:
//! a topic only takes texts away. So only the calls whose bound is over the limit are resolved.

use std::collections::{BTreeMap, BTreeSet};

use relay_engine::glob;

use crate::model::Skill;
use crate::pattern_set::{self, NameSet};

/// So many calls are resolved at most.
const RESOLVED_MAX: usize = 20_000;
/// So many bounds are computed at most.
const BOUNDS_MAX: usize = 5_000_000;
/// So many comparisons are made to find a known tool for a set of patterns.
const COMPARED_MAX: usize = 20_000_000;

/// A call that is given more than a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorstCase {
    /// Bytes of its text, or what they are at most.
    pub(crate) bytes: usize,
    pub(crate) tenant: Option<String>,
    /// Absent if it is not known which.
    pub(crate) tool: Option<String>,
    pub(crate) user: Option<String>,
    /// Whether `bytes` is an upper bound that perhaps no call reaches.
    pub(crate) is_bound: bool,
}

/// Returns the call with the largest text over `limit`; `None` if no call is over it.
pub(crate) fn over(skills: &[Skill], known_tools: &[&str], limit: usize) -> Option<WorstCase> {
    let (patterns, sets) = sets(skills, known_tools);
    search(&Scopes::of(skills, &patterns), &patterns, sets.as_deref(), limit)
}

/// Returns the largest text of a call of each tenant that skills name, and of callers without one,
/// the largest first: of at most `tenants_max` tenants, in the order of their names.
pub(crate) fn by_tenant(
    skills: &[Skill],
    known_tools: &[&str],
    tenants_max: usize,
) -> Vec<WorstCase> {
    let (patterns, sets) = sets(skills, known_tools);
    let mut scopes = Scopes::of(skills, &patterns);
    let tenants = std::mem::take(&mut scopes.tenants);
    let mut worst = Vec::new();
    for tenant in tenants.into_iter().take(tenants_max.saturating_add(1)) {
        scopes.tenants = BTreeSet::from([tenant]);
        let found = search(&scopes, &patterns, sets.as_deref(), 0);
        worst.extend(found.map(|worst| WorstCase { tenant: tenant.map(str::to_owned), ..worst }));
    }
    worst.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.tenant.cmp(&b.tenant)));
    worst
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

fn search(
    scopes: &Scopes<'_>,
    patterns: &[&str],
    sets: Option<&[NameSet]>,
    limit: usize,
) -> Option<WorstCase> {
    let mut search = Search { scopes, limit, worst: None, bound: None, resolved: 0, bounds: 0 };
    let Some(sets) = sets else {
        // What all patterns would give together is no less than what any of them do.
        let all: Vec<usize> = (0..patterns.len()).collect();
        search.set(&all, None);
        return search.finish().map(|worst| WorstCase { is_bound: true, ..worst });
    };
    // A question may also name no tool.
    search.set(&[], None);
    for NameSet { patterns, witness } in sets {
        search.set(patterns, Some(witness));
    }
    search.finish()
}

/// Names a known tool where one matches just the patterns of a set.
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

type Pair<'s> = (Option<&'s str>, Option<&'s str>);

/// The skills by tenant and user.
struct Scopes<'s> {
    skills: &'s [Skill],
    /// The bytes that each skill adds, with the line feed before it.
    bytes: Vec<usize>,
    /// For each scope, the skills that ask for no tool.
    any_tool: BTreeMap<Pair<'s>, Vec<usize>>,
    /// For each pattern, the scopes with the skills that ask for it.
    of_pattern: Vec<BTreeMap<Pair<'s>, Vec<usize>>>,
    tenants: BTreeSet<Option<&'s str>>,
    users: BTreeSet<Option<&'s str>>,
}

impl<'s> Scopes<'s> {
    fn of(skills: &'s [Skill], patterns: &[&str]) -> Self {
        let mut scopes = Self {
            skills,
            bytes: Vec::new(),
            any_tool: BTreeMap::new(),
            of_pattern: vec![BTreeMap::new(); patterns.len()],
            tenants: BTreeSet::from([None]),
            users: BTreeSet::from([None]),
        };
        for (index, skill) in skills.iter().enumerate() {
            let tenant = skill.tenant.as_ref().map(|tenant| tenant.value.as_str());
            let user = skill.user.as_ref().map(|user| user.value.as_str());
            let length = skill.text.trim_end().len();
            scopes.bytes.push(if length == 0 { 0 } else { length + 1 });
            scopes.tenants.insert(tenant);
            scopes.users.insert(user);
            if skill.tools.is_empty() {
                scopes.any_tool.entry((tenant, user)).or_default().push(index);
            }
            for pattern in &skill.tools {
                let place = patterns.binary_search(&pattern.value.as_str()).ok();
                if let Some(of_pattern) = place.and_then(|place| scopes.of_pattern.get_mut(place)) {
                    of_pattern.entry((tenant, user)).or_default().push(index);
                }
            }
        }
        scopes
    }

    /// Returns the bytes of all skills of each scope that match a tool with these patterns.
    fn sums(&self, patterns: &[usize]) -> BTreeMap<Pair<'s>, usize> {
        let mut skills: BTreeMap<Pair<'s>, BTreeSet<usize>> = BTreeMap::new();
        for of_pattern in patterns.iter().filter_map(|place| self.of_pattern.get(*place)) {
            for (scope, indexes) in of_pattern {
                skills.entry(*scope).or_default().extend(indexes);
            }
        }
        for (scope, indexes) in &self.any_tool {
            skills.entry(*scope).or_default().extend(indexes);
        }
        let bytes = |index: &usize| self.bytes.get(*index).copied().unwrap_or(0);
        skills.into_iter().map(|(scope, all)| (scope, all.iter().map(bytes).sum())).collect()
    }

    /// Returns the bytes of the text that a call is given, with one line feed too many.
    fn resolve(&self, tenant: Option<&str>, user: Option<&str>, patterns: &[usize]) -> usize {
        let mut matched: BTreeSet<usize> = BTreeSet::new();
        let scopes = BTreeSet::from([(None, None), (tenant, None), (None, user), (tenant, user)]);
        for scope in &scopes {
            matched.extend(self.any_tool.get(scope).into_iter().flatten());
            for of_pattern in patterns.iter().filter_map(|place| self.of_pattern.get(*place)) {
                matched.extend(of_pattern.get(scope).into_iter().flatten());
            }
        }
        let mut topics = BTreeSet::new();
        let mut bytes = 0;
        // The order of the cascade: the last one of a topic wins.
        for index in matched.iter().rev() {
            let topic = self.skills.get(*index).and_then(|skill| skill.topic.as_ref());
            if topic.is_none_or(|topic| topics.insert(topic.value.as_str())) {
                bytes += self.bytes.get(*index).copied().unwrap_or(0);
            }
        }
        bytes
    }
}

struct Search<'p, 's> {
    scopes: &'p Scopes<'s>,
    limit: usize,
    worst: Option<WorstCase>,
    /// The largest bound that was not resolved.
    bound: Option<WorstCase>,
    resolved: usize,
    bounds: usize,
}

impl<'s> Search<'_, 's> {
    /// Searches the calls of tools that match these patterns.
    fn set(&mut self, patterns: &[usize], tool: Option<&str>) {
        let sums = self.scopes.sums(patterns);
        let sum = |scope: &Pair<'_>| sums.get(scope).copied().unwrap_or(0);
        let common = sum(&(None, None));
        let both = |scope: &Pair<'_>| matches!(scope, (Some(_), Some(_)));
        let most_of_both = sums.iter().filter(|(scope, _)| both(scope)).map(|(_, sum)| *sum).max();
        let most_of_both = most_of_both.unwrap_or(0);
        let falling = |mut sums: Vec<(usize, Option<&'s str>)>| {
            sums.sort_unstable_by(|a, b| b.cmp(a));
            sums
        };
        let only = |who: &Option<&'s str>, of: usize| if who.is_some() { of } else { 0 };
        let tenants = self.scopes.tenants.iter();
        let tenants = falling(tenants.map(|who| (only(who, sum(&(*who, None))), *who)).collect());
        let users = self.scopes.users.iter();
        let users = falling(users.map(|who| (only(who, sum(&(None, *who))), *who)).collect());
        for (of_tenant, tenant) in &tenants {
            for (of_user, user) in &users {
                let most = common + of_tenant + of_user + most_of_both;
                self.bounds += 1;
                if most <= self.over() {
                    break;
                }
                let pair = (*tenant, *user);
                let of_both = if both(&pair) { sum(&pair) } else { 0 };
                let bound = common + of_tenant + of_user + of_both;
                if bound > self.over() {
                    self.call(pair, patterns, tool, bound);
                }
            }
        }
    }

    /// Returns the bytes, with one line feed too many, that matter only if they are exceeded.
    fn over(&self) -> usize {
        self.worst.as_ref().map_or(self.limit, |worst| worst.bytes) + 1
    }

    fn call(
        &mut self,
        (tenant, user): Pair<'s>,
        patterns: &[usize],
        tool: Option<&str>,
        bound: usize,
    ) {
        let case = |bytes: usize, is_bound| WorstCase {
            bytes: bytes.saturating_sub(1),
            tenant: tenant.map(str::to_owned),
            tool: tool.map(str::to_owned),
            user: user.map(str::to_owned),
            is_bound,
        };
        if self.resolved == RESOLVED_MAX || self.bounds > BOUNDS_MAX {
            let known = self.bound.as_ref().map_or(0, |known| known.bytes + 1);
            if bound > known {
                self.bound = Some(case(bound, true));
            }
            return;
        }
        self.resolved += 1;
        let bytes = self.scopes.resolve(tenant, user, patterns);
        if bytes > self.over() {
            self.worst = Some(case(bytes, false));
        }
    }

    fn finish(self) -> Option<WorstCase> {
        self.worst.or(self.bound)
    }
}
