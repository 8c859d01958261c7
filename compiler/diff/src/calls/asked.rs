//! The calls that both bundles are asked for: those that changed skills tell apart.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt, Setting, Skill};
use relay_engine::cascade::Question;
use relay_engine::glob::{self, Part};

use crate::finding::Claim;
use crate::pairs::listed;

/// Names of tools times the patterns that each is matched with, at most.
const STEPS_MAX: usize = 2_000_000;

/// A call, by the numbers of its tenant, tool and user among those asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    tenant: usize,
    tool: usize,
    user: usize,
}

/// What calls differ by.
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

/// How many calls are of each tool, of each tenant and of each user.
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
    /// Whether no call is given other skills than calls of one of these tools.
    are_tools_all: bool,
    /// Names of tools that were matched with the patterns, and how many there are.
    names: [usize; 2],
    /// The skills of each side that the other lacks, as far as calls are concerned.
    changed: [String; 2],
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
    /// Those of the patterns that a changed skill has.
    changed: BTreeSet<String>,
}

/// The tools that patterns distinguish.
struct Classes {
    list: Vec<Tools>,
    /// Whether these are all that they can distinguish.
    are_all: bool,
    /// Names that were matched, and how many there are.
    names: [usize; 2],
}

/// Patterns, by how a name is matched with them.
struct Patterns<'p> {
    /// Those that match one name alone, with their numbers.
    names: BTreeMap<&'p str, usize>,
    wide: Vec<(usize, &'p str)>,
}

/// A name to match with the patterns.
struct Candidate<'n> {
    is_known: bool,
    name: String,
    /// What the tools of its class are called.
    called: &'n str,
}

impl Asked {
    /// Returns what to ask; `None` if the skills of both bundles say the same.
    pub(super) fn of(
        [a, b]: [&Bundle; 2],
        [of_a, of_b]: [&[Skill]; 2],
    ) -> Result<Option<Self>, Corrupt> {
        let of_sides = [without(of_a, of_b), without(of_b, of_a)];
        let changed = of_sides.concat();
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
        let patterns = changed.iter().flat_map(|skill| &skill.tools);
        selectors.changed.extend(patterns.map(|pattern| pattern.value.clone()));
        let Classes { list: tools, are_all: are_tools_all, names } = tools(a, b, &selectors)?;
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

    /// Returns how many calls there are.
    pub(super) fn count(&self) -> usize {
        self.tenants.len().saturating_mul(self.tools.len()).saturating_mul(self.users.len())
    }

    /// Returns the calls; of more than `most`, so many that are spread over all.
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

    /// Returns how sure it is what at most so many of these calls say of all.
    pub(super) fn claim(&self, most: usize) -> Claim {
        let [tried, of] = self.names;
        // What was not matched may be a class of its own.
        let tools = self.tools.len().saturating_add(of - tried);
        let of = self.tenants.len().saturating_mul(tools).saturating_mul(self.users.len());
        let inputs = self.count().min(most);
        match inputs == of && self.are_tools_all {
            true => Claim::Exact,
            false => Claim::Tried { inputs, of },
        }
    }

    /// Returns what a reader must know of the tools that were not asked for.
    pub(super) fn remark(&self) -> Option<String> {
        let [tried, of] = self.names;
        (tried < of).then(|| {
            format!(
                "{of} names and patterns of tools are too many to match with each other; {tried} were tried"
            )
        })
    }

    /// Returns the changed skills of each side, all that calls depend on.
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

    /// Returns how many of at most so many calls are of each name.
    pub(super) fn totals(&self, most: usize) -> Totals {
        Totals::of(self.calls(most))
    }

    /// Returns which calls these are of those that were tried, in a few words each.
    pub(super) fn words(&self, calls: &BTreeSet<Call>, tried: &Totals) -> Vec<String> {
        // Of some calls, no tool is there with every tenant and user: what was tried of it counts.
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

    /// Returns calls that are of no name alone.
    fn phrases(&self, calls: &BTreeSet<Call>) -> Vec<String> {
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

/// Returns a step that leads through all of so many numbers, and of any first few evenly: near the
/// golden section, which no count makes periodic, and without a common divisor.
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

/// Returns what decides which calls are given a skill, and what they are given.
fn given(skill: &Skill) -> impl Ord + '_ {
    (skill.label(), skill.order(), topic(skill), skill.text.value.as_str())
}

/// Returns the same in full.
fn content(skill: &Skill) -> String {
    let selector = |it: &Option<Setting<String>>| it.as_ref().map(|it| it.value.clone());
    let selectors = (selector(&skill.tenant), selector(&skill.user));
    let tools: Vec<&str> = skill.tools.iter().map(|pattern| pattern.value.as_str()).collect();
    let (label, text) = (skill.label(), skill.text.value.as_str());
    format!("{:?}\n", (label, selectors, tools, skill.priority.value, topic(skill), text))
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
/// not known one for each pattern, and some that none matches or only wide ones do. Of too many
/// names those that changed skills name are matched first, and of the others some.
fn tools(a: &Bundle, b: &Bundle, selectors: &Selectors) -> Result<Classes, Corrupt> {
    let mut known = BTreeSet::new();
    for tool in a.known_tools().chain(b.known_tools()) {
        known.insert(tool?.name()?);
    }
    let patterns = Patterns::of(&selectors.patterns);
    let unknown: Vec<String> = ('a'..='z').map(|letter| format!("{letter}-unknown")).collect();
    let Selectors { patterns: all, changed, .. } = selectors;
    let first: Vec<_> = changed.iter().map(|pattern| Candidate::of_pattern(pattern)).collect();
    let others = all.difference(changed).map(|pattern| Candidate::of_pattern(pattern));
    let others: Vec<_> = known.iter().map(|name| Candidate::of_tool(name)).chain(others).collect();
    let count = first.len() + others.len();
    let most = (STEPS_MAX / patterns.wide.len().max(1)).saturating_sub(unknown.len());
    let mut candidates = evenly(first, most);
    candidates.extend(evenly(others, most - candidates.len()));
    // A class is called by its known tools, where it has some.
    candidates.sort_by_key(|candidate| !candidate.is_known);

    let names = [candidates.len(), count];
    let mut classes: BTreeMap<Vec<usize>, Tools> = BTreeMap::new();
    for Candidate { is_known, name, called } in candidates {
        let class = classes.entry(patterns.matching(&name));
        let is_new = matches!(class, Entry::Vacant(_));
        let class = class.or_insert_with(|| Tools { example: name, names: Vec::new() });
        if is_known || is_new {
            class.names.push(called.to_owned());
        }
    }
    for example in unknown {
        let matched = patterns.matching(&example);
        let name = match matched.is_empty() {
            true => "other tools".to_owned(),
            false => format!("tools like {example}"),
        };
        classes.entry(matched).or_insert_with(|| Tools { example, names: vec![name] });
    }
    let are_all = names[0] == names[1] && patterns.are_all_in(&classes);
    Ok(Classes { list: classes.into_values().collect(), are_all, names })
}

/// Returns at most so many of a list, spread over all of it.
fn evenly<T>(list: Vec<T>, most: usize) -> Vec<T> {
    if most == 0 {
        return Vec::new();
    }
    let step = list.len().div_ceil(most).max(1);
    list.into_iter().step_by(step).collect()
}

impl<'n> Candidate<'n> {
    fn of_tool(name: &'n str) -> Self {
        Self { is_known: true, name: name.to_owned(), called: name }
    }

    fn of_pattern(pattern: &'n str) -> Self {
        Self { is_known: false, name: example(pattern), called: pattern }
    }
}

impl<'p> Patterns<'p> {
    fn of(patterns: &'p BTreeSet<String>) -> Self {
        let mut all = Self { names: BTreeMap::new(), wide: Vec::new() };
        for (number, pattern) in patterns.iter().enumerate() {
            match glob::is_name(pattern) {
                true => _ = all.names.insert(pattern, number),
                false => all.wide.push((number, pattern)),
            }
        }
        all
    }

    /// Returns the patterns that match a name, by their numbers.
    fn matching(&self, name: &str) -> Vec<usize> {
        let wide = self.wide.iter().filter(|(_, pattern)| glob::matches(pattern, name));
        let mut numbers: Vec<usize> = wide.map(|(number, _)| *number).collect();
        numbers.extend(self.names.get(name));
        numbers.sort_unstable();
        numbers
    }

    /// Returns whether it is proved that every name is of one of these classes: wide patterns that
    /// begin or end differently never match together, and each, and none of them, has its class.
    fn are_all_in(&self, classes: &BTreeMap<Vec<usize>, Tools>) -> bool {
        let is_any = |pattern: &str| glob::parts(pattern).all(|part| part == Part::Run);
        let (any, others): (Vec<_>, Vec<_>) =
            self.wide.iter().copied().partition(|(_, pattern)| is_any(pattern));
        let any: Vec<usize> = any.into_iter().map(|(number, _)| number).collect();
        let begin = others.iter().map(|(_, pattern)| literal(glob::parts(pattern))).collect();
        let end = others.iter().map(|(_, pattern)| {
            let parts: Vec<Part<'_>> = glob::parts(pattern).collect();
            literal(parts.into_iter().rev())
        });
        let with = |number: &usize| {
            let mut class = any.clone();
            class.push(*number);
            class.sort_unstable();
            class
        };
        (are_apart(begin) || are_apart(end.collect()))
            && others.iter().all(|(number, _)| classes.contains_key(&with(number)))
            && classes.contains_key(&any)
    }
}

/// Returns the characters before the first part that is none.
fn literal<'p>(parts: impl Iterator<Item = Part<'p>>) -> String {
    let letter = |part| match part {
        Part::Literal(letter) => Some(letter),
        Part::Run | Part::Any | Part::Set(_) => None,
    };
    parts.map_while(letter).collect()
}

/// Returns whether none of these texts begins another one.
fn are_apart(mut texts: Vec<String>) -> bool {
    // What begins any other one begins that which follows it.
    texts.sort_unstable();
    texts.iter().zip(texts.iter().skip(1)).all(|(text, next)| !next.starts_with(text.as_str()))
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
