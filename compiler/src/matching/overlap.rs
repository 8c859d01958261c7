//! The skills of a list that may match together with another one, found by indexes instead of
//! comparing each pair.
//!
//! Skills are found by their tenants and users, and by the first letters of their patterns: a
//! thousand skills for a thousand tools, tenants or users have nothing in common, and cost a
//! thousand look-ups.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::matching::pattern_set::literal_start;
use crate::model::Skill;
use crate::source::Spanned;

/// Skills of a list, in the order in which they were added.
#[derive(Default)]
pub(crate) struct Overlap<'m> {
    skills: Vec<&'m Skill>,
    all: Callers<'m>,
    /// The skills for any tool.
    of_any_tool: Callers<'m>,
    /// The others, by the first letters of one of their patterns.
    by_start: BTreeMap<&'m str, Callers<'m>>,
}

/// The name of a tenant or a user, if a skill selects one.
type Name<'m> = Option<&'m str>;

/// Places of skills by the callers that they select.
#[derive(Default)]
struct Callers<'m> {
    /// By tenant and user.
    by_tenant: BTreeMap<(Name<'m>, Name<'m>), Vec<usize>>,
    /// The same by user and tenant.
    by_user: BTreeMap<(Name<'m>, Name<'m>), Vec<usize>>,
}

impl<'m> Overlap<'m> {
    pub(crate) fn add(&mut self, skill: &'m Skill) {
        let place = self.skills.len();
        self.skills.push(skill);
        self.all.add(skill, place);
        if skill.tools.is_empty() {
            self.of_any_tool.add(skill, place);
        }
        for start in starts(skill) {
            self.by_start.entry(start).or_default().add(skill, place);
        }
    }

    /// Returns the skills that may match together with `skill`: they share a caller with it, and
    /// are for any tool or for one whose name can begin like one of its own.
    pub(crate) fn with(&self, skill: &'m Skill) -> impl Iterator<Item = &'m Skill> + '_ {
        let of_callers = if skill.tools.is_empty() { &self.all } else { &self.of_any_tool };
        self.found(of_callers, skill)
    }

    /// Returns the same, except the skills for certain tools, if `skill` is for any tool.
    pub(crate) fn wider(&self, skill: &'m Skill) -> impl Iterator<Item = &'m Skill> + '_ {
        self.found(&self.of_any_tool, skill)
    }

    fn found<'s>(
        &'s self,
        of_callers: &'s Callers<'m>,
        skill: &'m Skill,
    ) -> impl Iterator<Item = &'m Skill> + 's {
        let of_starts = starts(skill).into_iter().flat_map(|start| self.starting(start));
        let places =
            of_callers.with(skill).chain(of_starts.flat_map(|callers| callers.with(skill)));
        let mut seen = BTreeSet::new();
        let places = places.filter(move |place| seen.insert(*place));
        places.filter_map(|place| self.skills.get(place).copied())
    }

    /// Returns the skills with a pattern that begins with `start`, or with the first letters of it.
    fn starting(&self, start: &'m str) -> impl Iterator<Item = &Callers<'m>> {
        let shorter = (0..start.len()).filter_map(|length| self.by_start.get(start.get(..length)?));
        let from = (Bound::Included(start), Bound::Unbounded);
        let longer = self.by_start.range::<str, _>(from);
        let longer = longer.take_while(move |(text, _)| text.starts_with(start));
        shorter.chain(longer.map(|(_, callers)| callers))
    }
}

impl<'m> Callers<'m> {
    fn add(&mut self, skill: &'m Skill, place: usize) {
        let (tenant, user) = (name(&skill.tenant), name(&skill.user));
        self.by_tenant.entry((tenant, user)).or_default().push(place);
        self.by_user.entry((user, tenant)).or_default().push(place);
    }

    /// Returns the skills that share a caller with `skill`.
    fn with(&self, skill: &'m Skill) -> Box<dyn Iterator<Item = usize> + '_> {
        // A skill for any caller shares a caller with all.
        let places = match (name(&skill.tenant), name(&skill.user)) {
            (None, None) => return Box::new(self.by_tenant.values().flatten().copied()),
            (tenant @ Some(_), None) => {
                [range(&self.by_tenant, tenant), range(&self.by_tenant, None)]
            }
            (None, user @ Some(_)) => [range(&self.by_user, user), range(&self.by_user, None)],
            (tenant @ Some(_), user @ Some(_)) => {
                let keys = [(tenant, user), (tenant, None), (None, user), (None, None)];
                let found = keys.into_iter().filter_map(|key| self.by_tenant.get(&key));
                return Box::new(found.flatten().copied());
            }
        };
        Box::new(places.into_iter().flatten())
    }
}

/// Returns the places of all keys whose first name is this one.
fn range<'a>(
    map: &'a BTreeMap<(Name<'_>, Name<'_>), Vec<usize>>,
    first: Name<'a>,
) -> impl Iterator<Item = usize> + 'a {
    let from = map.range((first, None)..);
    from.take_while(move |((of_key, _), _)| *of_key == first)
        .flat_map(|(_, places)| places)
        .copied()
}

/// Returns the first letters of the skill's patterns, each once.
fn starts(skill: &Skill) -> BTreeSet<&str> {
    skill.tools.iter().map(|pattern| literal_start(&pattern.value)).collect()
}

fn name(selector: &Option<Spanned<String>>) -> Name<'_> {
    selector.as_ref().map(|selector| selector.value.as_str())
}
