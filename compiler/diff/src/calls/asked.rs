//! The calls that both bundles are asked for: those that changed skills tell apart.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Skill};
use relay_engine::cascade::Question;
use relay_engine::glob::{self, Part};

use crate::pairs::listed;

/// A call, by the numbers of its tenant, tool and user among those asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    tenant: usize,
    tool: usize,
    user: usize,
}

/// The names to ask with, on each of the three axes.
pub(super) struct Asked {
    tenants: Vec<Option<String>>,
    users: Vec<Option<String>>,
    tools: Vec<Tools>,
}

/// Tools that no changed skill tells apart.
struct Tools {
    /// One of them.
    example: String,
    /// What they are called.
    names: Vec<String>,
}

/// The selectors of the skills that a change can reach.
#[derive(Default)]
struct Selectors {
    tenants: BTreeSet<String>,
    users: BTreeSet<String>,
    patterns: BTreeSet<String>,
}

impl Asked {
    /// Returns what to ask; `None` if the skills of both bundles say the same.
    pub(super) fn of(
        [a, b]: [&Bundle; 2],
        [of_a, of_b]: [&[Skill]; 2],
    ) -> Result<Option<Self>, Corrupt> {
        let changed = [without(of_a, of_b), without(of_b, of_a)].concat();
        if changed.is_empty() {
            return Ok(None);
        }
        let mut selectors = Selectors::default();
        let topics: BTreeSet<&str> = changed.iter().filter_map(|skill| topic(skill)).collect();
        let all = || of_a.iter().chain(of_b);
        let of_topics =
            all().filter(|skill| topic(skill).is_some_and(|topic| topics.contains(topic)));
        let reached: Vec<&Skill> = of_topics.chain(changed.iter().copied()).collect();
        for skill in passed(&reached, all()).iter().chain(&reached) {
            selectors.add(skill);
        }
        let tools = tools(a, b, &selectors.patterns)?;
        let with_none = |names: BTreeSet<String>| -> Vec<Option<String>> {
            names.into_iter().map(Some).chain([None]).collect()
        };
        let Selectors { tenants, users, patterns: _ } = selectors;
        Ok(Some(Self { tenants: with_none(tenants), users: with_none(users), tools }))
    }

    /// Returns how many calls there are.
    pub(super) fn count(&self) -> usize {
        self.tenants.len().saturating_mul(self.tools.len()).saturating_mul(self.users.len())
    }

    /// Returns the calls; of more than `most`, so many that are spread over all.
    pub(super) fn calls(&self, most: usize) -> impl Iterator<Item = Call> {
        let (tenants, tools) = (self.tenants.len(), self.tools.len());
        let (count, chosen) = (self.count(), self.count().min(most));
        (0..chosen).map(move |place| {
            // 128 bits hold the product of any two counts.
            let number = place as u128 * count as u128 / chosen as u128;
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let pair = number / tools;
            Call { tenant: pair % tenants, tool: number % tools, user: pair / tenants }
        })
    }

    pub(super) fn question(&self, call: Call) -> Question<'_> {
        Question {
            tenant: self.tenants.get(call.tenant).and_then(Option::as_deref),
            tool: self.tools.get(call.tool).map(|tools| tools.example.as_str()),
            user: self.users.get(call.user).and_then(Option::as_deref),
        }
    }

    /// Returns which calls these are, in a few words each.
    pub(super) fn words(&self, calls: &BTreeSet<Call>) -> Vec<String> {
        // Calls are put together by tool, then by user, then by tenant.
        let mut tools: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
        for Call { tenant, tool, user } in calls {
            tools.entry((*tenant, *user)).or_default().insert(*tool);
        }
        let mut users: BTreeMap<(usize, BTreeSet<usize>), BTreeSet<usize>> = BTreeMap::new();
        for ((tenant, user), tools) in tools {
            users.entry((tenant, tools)).or_default().insert(user);
        }
        let mut tenants: BTreeMap<(BTreeSet<usize>, BTreeSet<usize>), BTreeSet<usize>> =
            BTreeMap::new();
        for ((tenant, tools), users) in users {
            tenants.entry((tools, users)).or_default().insert(tenant);
        }
        let phrase = |((tools, users), tenants): (_, BTreeSet<usize>)| {
            let parts = [
                self.of_tools(&tools),
                named("tenant", &self.tenants, &tenants),
                named("user", &self.users, &users),
            ];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        };
        tenants.into_iter().map(phrase).collect()
    }

    fn of_tools(&self, numbers: &BTreeSet<usize>) -> Option<String> {
        if numbers.len() == self.tools.len() {
            return Some("every tool".into());
        }
        let names = numbers.iter().filter_map(|number| self.tools.get(*number));
        let names: Vec<&str> = names.flat_map(|tools| &tools.names).map(String::as_str).collect();
        Some(listed(&names))
    }
}

/// Returns the names of some tenants or users; `None` if they are all.
fn named(kind: &str, all: &[Option<String>], numbers: &BTreeSet<usize>) -> Option<String> {
    if numbers.len() == all.len() {
        return None;
    }
    let chosen = || numbers.iter().filter_map(|number| all.get(*number));
    let names: Vec<&str> = chosen().filter_map(Option::as_deref).collect();
    let has_others = chosen().any(Option::is_none);
    Some(match (names.as_slice(), has_others) {
        ([], _) => format!("other {kind}s"),
        ([name], false) => format!("{kind} {name}"),
        (names, false) => format!("{kind}s {}", listed(names)),
        (names, true) => format!("{kind}s {} and others", listed(names)),
    })
}

fn topic(skill: &Skill) -> Option<&str> {
    skill.topic.as_ref().map(|topic| topic.value.as_str())
}

/// Returns what decides which calls are given a skill, and what they are given.
fn given(skill: &Skill) -> impl Ord + '_ {
    (skill.label(), skill.order(), topic(skill), skill.text.value.as_str())
}

/// Returns the skills that the others lack, as far as calls are concerned.
fn without<'s>(skills: &'s [Skill], others: &'s [Skill]) -> Vec<&'s Skill> {
    let others: BTreeSet<_> = others.iter().map(given).collect();
    skills.iter().filter(|skill| !others.contains(&given(skill))).collect()
}

/// Returns the skills that a text passes which comes earlier or later now: calls that are given them
/// too are given another order.
fn passed<'s>(reached: &[&'s Skill], all: impl Iterator<Item = &'s Skill>) -> Vec<&'s Skill> {
    let mut all: Vec<&Skill> = all.collect();
    all.sort_by(|a, b| a.order().cmp(&b.order()));
    let place = |skill: &Skill| all.partition_point(|other| other.order() < skill.order());
    // A skill that moved has its label or its text on both sides.
    let mut ranges: BTreeMap<(bool, String), [usize; 2]> = BTreeMap::new();
    for skill in reached {
        let place = place(skill);
        let text = skill.text.value.trim_end().to_owned();
        for name in [(true, skill.label()), (false, text)] {
            let [first, last] = ranges.entry(name).or_insert([place; 2]);
            (*first, *last) = (place.min(*first), place.max(*last));
        }
    }
    // How many ranges begin at a place, less those that ended.
    let mut begins = vec![0isize; all.len() + 1];
    for [first, last] in ranges.into_values().filter(|[first, last]| first < last) {
        for (place, step) in [(first, 1), (last, -1)] {
            if let Some(count) = begins.get_mut(place) {
                *count += step;
            }
        }
    }
    let mut open = 0;
    let within = all.into_iter().zip(begins).filter_map(|(skill, step)| {
        open += step;
        (open > 0).then_some(skill)
    });
    within.collect()
}

impl Selectors {
    fn add(&mut self, skill: &Skill) {
        self.tenants.extend(skill.tenant.as_ref().map(|tenant| tenant.value.clone()));
        self.users.extend(skill.user.as_ref().map(|user| user.value.clone()));
        self.patterns.extend(skill.tools.iter().map(|pattern| pattern.value.clone()));
    }
}

/// Returns the known tools of both sides by the patterns that match them, and of the tools that are
/// not known one for each pattern, and some that none matches or only wide ones do.
fn tools(a: &Bundle, b: &Bundle, patterns: &BTreeSet<String>) -> Result<Vec<Tools>, Corrupt> {
    let mut known = BTreeSet::new();
    for tool in a.known_tools().chain(b.known_tools()) {
        known.insert(tool?.name()?.to_owned());
    }
    let matching = |name: &str| -> Vec<usize> {
        let numbers = patterns.iter().enumerate();
        numbers
            .filter(|(_, pattern)| glob::matches(pattern, name))
            .map(|(number, _)| number)
            .collect()
    };
    let mut classes: BTreeMap<Vec<usize>, Tools> = BTreeMap::new();
    for name in known {
        let class = classes.entry(matching(&name));
        class
            .or_insert_with(|| Tools { example: name.clone(), names: Vec::new() })
            .names
            .push(name);
    }
    for pattern in patterns {
        let example = example(pattern);
        let class = classes.entry(matching(&example));
        class.or_insert_with(|| Tools { example, names: vec![pattern.clone()] });
    }
    for letter in 'a'..='z' {
        let example = format!("{letter}-unknown");
        let matched = matching(&example);
        let name = match matched.is_empty() {
            true => "other tools".to_owned(),
            false => format!("tools like {example}"),
        };
        classes.entry(matched).or_insert_with(|| Tools { example, names: vec![name] });
    }
    Ok(classes.into_values().collect())
}

/// Returns a name that a pattern matches: with a character for each of its parts.
fn example(pattern: &str) -> String {
    let letter = |part: Part<'_>| match part {
        Part::Literal(letter) => Some(letter),
        Part::Run | Part::Any => Some('x'),
        Part::Set(set) => {
            let listed = set.ranges().map(|range| *range.start());
            listed.chain(['x', '0', '-', '_']).find(|letter| part.has(*letter))
        }
    };
    glob::parts(pattern).filter_map(letter).collect()
}
