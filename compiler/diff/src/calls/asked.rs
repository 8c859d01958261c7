//! The calls that both bundles are asked for: those that changed skills distinguish.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Setting, Skill, Who};
use relay_engine::cascade::Question;

use super::tools::{Classes, Tools, tools};
use crate::finding::Claim;
use crate::pairs::listed;

/// A call, by the numbers of its tenant, tool and user among those asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    tenant: usize,
    tool: usize,
    user: usize,
}

/// The parts of a call by which answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Tool,
    Tenant,
    User,
}

impl Call {
    fn number(self, axis: Axis) -> usize {
        match axis {
            Axis::Tool => self.tool,
            Axis::Tenant => self.tenant,
            Axis::User => self.user,
        }
    }
}

/// The numbers of calls of each tool, each tenant and each user.
pub(super) struct Totals(BTreeMap<(Axis, usize), usize>);

impl Totals {
    fn of(calls: impl Iterator<Item = Call>) -> Self {
        let mut totals = BTreeMap::new();
        for call in calls {
            for axis in [Axis::Tool, Axis::Tenant, Axis::User] {
                *totals.entry((axis, call.number(axis))).or_default() += 1;
            }
        }
        Self(totals)
    }

    fn get(&self, axis: Axis, number: usize) -> usize {
        self.0.get(&(axis, number)).copied().unwrap_or(0)
    }
}

/// The names to ask with, on each of the three axes.
pub(super) struct Asked {
    tenants: Vec<Option<String>>,
    users: Vec<Option<String>>,
    tools: Vec<Tools>,
    /// Whether every other call has the skills of a call of one of these tools.
    are_tools_all: bool,
    /// The numbers of tool names: those matched with the patterns, and all.
    names: [usize; 2],
    /// The skills of each side that the other lacks, in all that decides on calls.
    changed: [String; 2],
}

/// The selectors of the skills that a change can reach.
#[derive(Default)]
struct Selectors {
    tenants: BTreeSet<String>,
    users: BTreeSet<String>,
    patterns: BTreeSet<String>,
    /// The patterns of changed skills.
    changed: BTreeSet<String>,
}

impl Asked {
    /// Returns the calls to ask for; `None` if the skills of both bundles say the same.
    pub(super) fn of(
        [a, b]: [&Bundle; 2],
        [of_a, of_b]: [&[Skill]; 2],
    ) -> Result<Option<Self>, Corrupt> {
        let [homes_a, homes_b] = [homes(a)?, homes(b)?];
        let moved = |skill: &&Skill| {
            let user = skill.user.as_ref().map(|user| user.value.as_str());
            user.is_some_and(|user| homes_a.get(user) != homes_b.get(user))
        };
        let mut of_sides = [without(of_a, of_b), without(of_b, of_a)];
        for (changed, all) in of_sides.iter_mut().zip([of_a, of_b]) {
            changed.extend(all.iter().filter(moved));
        }
        let changed = of_sides.concat();
        if changed.is_empty() {
            return Ok(None);
        }
        let mut selectors = Selectors::default();
        let topics: BTreeSet<&str> = changed.iter().filter_map(|skill| topic(skill)).collect();
        let all = || of_a.iter().chain(of_b);
        let reached: Vec<&Skill> =
            of_topics(all(), &topics).chain(changed.iter().copied()).collect();
        let passed = passed(&reached, all());
        // A narrower skill of its topic takes a skill that is passed from some calls.
        let topics: BTreeSet<&str> = passed.iter().filter_map(|skill| topic(skill)).collect();
        let rivals = of_topics(all(), &topics);
        rivals.chain(passed).chain(reached).for_each(|skill| selectors.add(skill));
        let patterns = changed.iter().flat_map(|skill| &skill.tools);
        selectors.changed.extend(patterns.map(|pattern| pattern.value.clone()));
        // A user may be that user in some tenants alone.
        for homes in [homes_a, homes_b] {
            let of_users = selectors.users.iter().filter_map(|user| homes.get(user)).flatten();
            selectors.tenants.extend(of_users.flatten().cloned());
        }
        let Classes { list: tools, are_all: are_tools_all, names } =
            tools([a, b], &selectors.patterns, &selectors.changed)?;
        let with_none = |names: BTreeSet<String>| -> Vec<Option<String>> {
            names.into_iter().map(Some).chain([None]).collect()
        };
        let Selectors { tenants, users, patterns: _, changed: _ } = selectors;
        Ok(Some(Self {
            tenants: with_none(tenants),
            users: with_none(users),
            tools,
            are_tools_all,
            names,
            changed: of_sides.map(|skills| skills.into_iter().map(content).collect()),
        }))
    }

    /// Returns the number of calls.
    pub(super) fn count(&self) -> usize {
        self.tenants.len().saturating_mul(self.tools.len()).saturating_mul(self.users.len())
    }

    /// Returns the calls; of more than `most`, that many, spread over all.
    pub(super) fn calls(&self, most: usize) -> impl Iterator<Item = Call> {
        let (tenants, tools) = (self.tenants.len(), self.tools.len());
        let count = self.count();
        let step = stride(count);
        (0..count.min(most)).map(move |place| {
            // 128 bits hold the product of any two counts.
            let number = place as u128 * step as u128 % count as u128;
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            let pair = number / tools;
            Call { tenant: pair % tenants, tool: number % tools, user: pair / tenants }
        })
    }

    /// Returns how far a trial of at most `most` calls is exact.
    pub(super) fn claim(&self, most: usize) -> Claim {
        let [tried, of] = self.names;
        // An unmatched name may be a class of its own.
        let tools = self.tools.len().saturating_add(of - tried);
        let of = self.tenants.len().saturating_mul(tools).saturating_mul(self.users.len());
        let inputs = self.count().min(most);
        match inputs == of && self.are_tools_all {
            true => Claim::Exact,
            false => Claim::Tried { inputs, of },
        }
    }

    /// Returns the remark for readers on the omitted tools.
    pub(super) fn remark(&self) -> Option<String> {
        let [tried, of] = self.names;
        (tried < of).then(|| {
            format!(
                "{of} names and patterns of tools are too many to match with each other; {tried} were tried"
            )
        })
    }

    /// Returns the changed skills of each side, in all that decides on calls.
    pub(super) fn changed(&self) -> &[String; 2] {
        &self.changed
    }

    pub(super) fn question(&self, call: Call) -> Question<'_> {
        Question {
            tenant: self.tenants.get(call.tenant).and_then(Option::as_deref),
            tool: self.tools.get(call.tool).map(|tools| tools.example.as_str()),
            user: self.users.get(call.user).and_then(Option::as_deref),
        }
    }

    /// Returns the numbers of calls of each name, of at most `most` calls.
    pub(super) fn totals(&self, most: usize) -> Totals {
        Totals::of(self.calls(most))
    }

    /// Returns words for these calls among the tried ones.
    pub(super) fn words(&self, calls: &BTreeSet<Call>, tried: &Totals) -> Vec<String> {
        // Of a part of all calls, no tool has every tenant and user: its tried calls count as all.
        let found = Totals::of(calls.iter().copied());
        let mut rest = calls.clone();
        let mut words = Vec::new();
        for axis in [Axis::Tool, Axis::Tenant, Axis::User] {
            let all = |number: &usize| found.get(axis, *number) == tried.get(axis, *number);
            let whole: BTreeSet<usize> =
                rest.iter().map(|call| call.number(axis)).filter(all).collect();
            if !whole.is_empty() {
                words.push(match axis {
                    Axis::Tool => self.of_tools(&whole),
                    Axis::Tenant => named("tenant", &self.tenants, &whole),
                    Axis::User => named("user", &self.users, &whole),
                });
                rest.retain(|call| !whole.contains(&call.number(axis)));
            }
        }
        words.into_iter().flatten().chain(self.phrases(&rest)).collect()
    }

    /// Returns words for calls that are all the calls of no name.
    fn phrases(&self, calls: &BTreeSet<Call>) -> Vec<String> {
        // Calls are merged by tool, then by user, then by tenant.
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

/// Returns the tenants of each user's rows in `users`; `None` for a row for all tenants.
fn homes(bundle: &Bundle) -> Result<BTreeMap<String, BTreeSet<Option<String>>>, Corrupt> {
    let mut homes: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for user in bundle.users().list()?.into_iter().filter(|user| user.who == Who::User) {
        let tenant =
            user.tenant.map(|tenant| bundle.tenants().name(tenant as usize)).transpose()?;
        homes.entry(user.id).or_default().insert(tenant.map(Into::into));
    }
    Ok(homes)
}

/// Returns a step that leads through all of `count` numbers, and spreads any first few evenly: near
/// the golden section, which no count makes periodic, and without a common divisor.
fn stride(count: usize) -> usize {
    // 128 bits hold the product.
    let golden = usize::try_from(count as u128 * 618 / 1_000).unwrap_or(usize::MAX).max(1);
    (golden..=count).find(|step| divisor(count, *step) == 1).unwrap_or(1)
}

/// Returns the greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
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

/// Returns the skills of some topics.
fn of_topics<'s>(
    skills: impl Iterator<Item = &'s Skill>,
    topics: &BTreeSet<&str>,
) -> impl Iterator<Item = &'s Skill> {
    skills.filter(|skill| topic(skill).is_some_and(|topic| topics.contains(topic)))
}

/// Returns the parts of a skill that decide on its calls and their text.
fn given(skill: &Skill) -> impl Ord + '_ {
    (skill.label(), skill.order(), topic(skill), skill.text.value.as_str())
}

/// Returns the same parts in full.
fn content(skill: &Skill) -> String {
    let selector = |it: &Option<Setting<String>>| it.as_ref().map(|it| it.value.clone());
    let selectors = (selector(&skill.tenant), selector(&skill.user));
    let tools: Vec<&str> = skill.tools.iter().map(|pattern| pattern.value.as_str()).collect();
    let (label, text) = (skill.label(), skill.text.value.as_str());
    format!("{:?}\n", (label, selectors, tools, skill.priority.value, topic(skill), text))
}

/// Returns the skills that the others lack, in all that decides on calls.
fn without<'s>(skills: &'s [Skill], others: &'s [Skill]) -> Vec<&'s Skill> {
    let others: BTreeSet<_> = others.iter().map(given).collect();
    skills.iter().filter(|skill| !others.contains(&given(skill))).collect()
}

/// Returns the skills that a moved text passes: calls with both now have another order.
fn passed<'s>(reached: &[&'s Skill], all: impl Iterator<Item = &'s Skill>) -> Vec<&'s Skill> {
    let mut all: Vec<&Skill> = all.collect();
    all.sort_by(|a, b| a.order().cmp(&b.order()));
    let place = |skill: &Skill| all.partition_point(|other| other.order() < skill.order());
    // A moved skill has its label or its text on both sides.
    let mut ranges: BTreeMap<(bool, String), [usize; 2]> = BTreeMap::new();
    for skill in reached {
        let place = place(skill);
        let text = skill.text.value.trim_end().to_owned();
        for name in [(true, skill.label()), (false, text)] {
            let [first, last] = ranges.entry(name).or_insert([place; 2]);
            (*first, *last) = (place.min(*first), place.max(*last));
        }
    }
    // The number of ranges that begin at a place, less those that end there.
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
