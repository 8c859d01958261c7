//! Consistency of a bundle's lookup tables with its contents: the rows of a user, the skills of a call, the
//! prompts of an audience.
//!
//! Servers answer from these tables, and a list of what is in a bundle does not show them. So a table
//! that says something else than the list would be a difference that no reviewer sees.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{
    Bundle, Corrupt, Kind as Section, KnownToolView, List, Numbers, Skill, distinct_patterns,
};
use relay_engine::glob;

/// Returns the sections that do not say what the contents of a bundle say.
pub(crate) fn inconsistent(bundle: &Bundle) -> Result<Vec<&'static str>, Corrupt> {
    let skills: Vec<Skill> =
        bundle.skills().map(|skill| skill?.to_owned()).collect::<Result<_, _>>()?;
    let patterns = distinct_patterns(&skills);
    let checks = [
        (Section::PromptIndex, prompts_are_found(bundle)?),
        (Section::ResourceIndex, resources_are_found(bundle)?),
        (Section::TenantIndex, tenants_are_found(bundle)?),
        (Section::UserIndex, users_are_found(bundle)),
        (Section::AudienceMasks, audiences_see_what_they_see(bundle)?),
        (Section::SkillPatterns, patterns_are_those(bundle, &patterns)?),
        (Section::SkillScopes, skills_are_found(bundle, &skills, &patterns)?),
        (Section::SkillTopics, topics_are_those(bundle, &skills)?),
        (Section::KnownTools, tools_have_their_patterns(bundle, &patterns)?),
    ];
    Ok(checks.into_iter().filter(|(_, holds)| !holds).map(|(kind, _)| kind.name()).collect())
}

fn prompts_are_found(bundle: &Bundle) -> Result<bool, Corrupt> {
    for (row, prompt) in bundle.prompts().enumerate() {
        let found = bundle.find_prompt(prompt?.name()?)?;
        if found.map(|prompt| prompt.index()) != Some(row) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn resources_are_found(bundle: &Bundle) -> Result<bool, Corrupt> {
    for (row, resource) in bundle.resources().enumerate() {
        let found = bundle.find_resource(resource?.uri()?)?;
        if found.map(|resource| resource.index()) != Some(row) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn tenants_are_found(bundle: &Bundle) -> Result<bool, Corrupt> {
    for row in 0..bundle.tenants().count() {
        if bundle.tenants().find(bundle.tenants().name(row)?)? != Some(row) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A run that is refused when it is asked for is not found either.
fn users_are_found(bundle: &Bundle) -> bool {
    let Ok(users) = bundle.users().list() else { return false };
    let mut start = 0;
    users.chunk_by(|a, b| (a.who, &a.id) == (b.who, &b.id)).all(|run| {
        let expected = start..start + run.len();
        start = expected.end;
        run.first().is_some_and(|user| bundle.users().of(user.who, &user.id) == Ok(expected))
    })
}

fn audiences_see_what_they_see(bundle: &Bundle) -> Result<bool, Corrupt> {
    let index = bundle.tag_index()?;
    for number in 0..bundle.audiences().count() {
        let audience = bundle.audiences().get(number)?;
        for list in List::ALL {
            if audience.rows(list)?.rows().count() != audience.count(list) {
                return Ok(false);
            }
        }
        let Some(index) = &index else { continue };
        let (rows, ranks) = (audience.rows(List::Prompts)?, audience.ranks()?);
        for rank in 0..index.rank_count() {
            if ranks.contains(rank) != rows.contains(index.prompt_at(rank)?) {
                return Ok(false);
            }
        }
        let always = ranks.rows().filter(|rank| *rank < index.end_of(10)).count();
        if (ranks.rows().count(), always) != (audience.ranked(), audience.always()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn patterns_are_those(bundle: &Bundle, patterns: &[&str]) -> Result<bool, Corrupt> {
    let expected = RefCell::new(patterns.iter());
    let is_next = |pattern: &str| expected.borrow_mut().next() == Some(&pattern);
    let matched = bundle.skill_patterns().matching(is_next)?.len();
    Ok(matched == patterns.len() && bundle.skill_patterns().count() == patterns.len())
}

/// The skills of each pattern of a scope; `None` for those that ask for no tool.
type Lists = BTreeMap<Option<u32>, Vec<u32>>;

fn skills_are_found(bundle: &Bundle, skills: &[Skill], patterns: &[&str]) -> Result<bool, Corrupt> {
    let Some(index) = bundle.skill_index()? else { return Ok(skills.is_empty()) };
    let mut scopes: BTreeMap<(Option<&str>, Option<&str>), Lists> = BTreeMap::new();
    for (number, skill) in (0u32..).zip(skills) {
        let tenant = skill.tenant.as_ref().map(|tenant| tenant.value.as_str());
        let user = skill.user.as_ref().map(|user| user.value.as_str());
        let place = |pattern: &str| patterns.binary_search(&pattern).ok();
        let places = skill.tools.iter().filter_map(|pattern| place(&pattern.value));
        let asked: BTreeSet<Option<u32>> = places.map(|place| u32::try_from(place).ok()).collect();
        let lists = scopes.entry((tenant, user)).or_default();
        for pattern in if asked.is_empty() { BTreeSet::from([None]) } else { asked } {
            lists.entry(pattern).or_default().push(number);
        }
    }
    let mut holds = scopes.len() == index.scope_count();
    for ((tenant, user), lists) in scopes {
        let Some(scope) = index.scope(tenant, user)? else { return Ok(false) };
        let equal = |list: Option<&Vec<u32>>, found: Numbers<'_>| {
            list.map_or(&[][..], Vec::as_slice).iter().copied().eq(found.iter())
        };
        let of_patterns = lists.len() - usize::from(lists.contains_key(&None));
        holds &= equal(lists.get(&None), scope.any_tool())
            && scope.pattern_count() == of_patterns
            && scope.patterns().all(|(number, found)| equal(lists.get(&Some(number)), found));
    }
    Ok(holds)
}

/// Skills have one number of a topic if they have one topic; a topic of one skill needs none.
fn topics_are_those(bundle: &Bundle, skills: &[Skill]) -> Result<bool, Corrupt> {
    let Some(index) = bundle.skill_index()? else { return Ok(true) };
    let mut numbers: BTreeMap<&str, BTreeSet<Option<u32>>> = BTreeMap::new();
    let mut names: BTreeMap<u32, BTreeSet<Option<&str>>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (skill, number) in skills.iter().zip(0u32..) {
        let topic = skill.topic.as_ref().map(|topic| topic.value.as_str());
        let number = index.topic(number);
        if let Some(topic) = topic {
            numbers.entry(topic).or_default().insert(number);
            *counts.entry(topic).or_default() += 1;
        }
        if let Some(number) = number {
            names.entry(number).or_default().insert(topic);
        }
    }
    let is_one = |topic: &str, of: &BTreeSet<Option<u32>>| {
        of.len() == 1 && (!of.contains(&None) || counts.get(topic) == Some(&1))
    };
    Ok(numbers.iter().all(|(topic, of)| is_one(topic, of))
        && names.values().all(|of| of.len() == 1 && !of.contains(&None)))
}

fn tools_have_their_patterns(bundle: &Bundle, patterns: &[&str]) -> Result<bool, Corrupt> {
    for (row, tool) in bundle.known_tools().iter().enumerate() {
        let tool = tool?;
        let name = tool.name()?;
        let found = bundle.known_tools().find(name)?;
        let is_found = found.as_ref().map(KnownToolView::name).transpose()? == Some(name);
        let matching = (0u32..).zip(patterns).filter(|(_, pattern)| glob::matches(pattern, name));
        let has_its = tool
            .patterns()?
            .is_none_or(|listed| matching.map(|(number, _)| number).eq(listed.iter()));
        // The same tool twice would have the patterns of either.
        let is_once = row == 0 || bundle.known_tools().get(row - 1)?.name()? < name;
        if !(is_found && has_its && is_once) {
            return Ok(false);
        }
    }
    Ok(true)
}
