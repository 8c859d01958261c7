//! Facts for reviewers alone: suppressions, and switched-off names.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Corrupt, Place, Review, Suppressed, Suppression};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Names that a finding lists.
const NAMES_MAX: usize = 3;

/// The prompts switched off on either side, with the place of that setting.
pub(crate) struct SwitchedOff {
    pub(crate) a: BTreeMap<String, Option<Place>>,
    pub(crate) b: BTreeMap<String, Option<Place>>,
}

impl SwitchedOff {
    /// Reads both lists.
    pub(crate) fn of(a: &Review, b: &Review) -> Self {
        let names = |review: &Review| {
            let names = review.switched_off.iter();
            names.map(|name| (name.value.clone(), name.at.clone())).collect()
        };
        Self { a: names(a), b: names(b) }
    }

    /// Reports the names switched off on one side and missing on the other.
    pub(crate) fn compare(
        &self,
        a: &Bundle,
        b: &Bundle,
        out: &mut Findings,
    ) -> Result<(), Corrupt> {
        let off = |name: &str, before: Option<&str>, after: Option<&str>| {
            let [before, after] = [before, after].map(|value| value.map(str::to_owned));
            let change = Change::Value { before, after };
            Finding::new(Area::Surface, Kind::Prompt, name, change).part("enabled")
        };
        for (name, at) in &self.a {
            if !self.b.contains_key(name) && b.find_prompt(name)?.is_none() {
                let meaning = "nothing of that name is left to switch on";
                let gone = off(name, Some("false"), None).meaning(meaning);
                out.push(gone.at(at.as_ref(), None));
            }
        }
        for (name, at) in &self.b {
            if !self.a.contains_key(name) && a.find_prompt(name)?.is_none() {
                let new = off(name, None, Some("false")).meaning("it is new and switched off");
                out.push(new.at(None, at.as_ref()));
            }
        }
        Ok(())
    }
}

/// Compares the switched-off skills.
pub(crate) fn compare_skills(a: &Review, b: &Review, out: &mut Findings) {
    let labels = |review: &Review| -> BTreeMap<String, Option<Place>> {
        let labels = review.switched_off_skills.iter();
        labels.map(|label| (label.value.clone(), label.at.clone())).collect()
    };
    let (a, b) = (labels(a), labels(b));
    let off = |label: &str, is_off: bool| {
        let value = |is: bool| is.then(|| "false".to_owned());
        let change = Change::Value { before: value(!is_off), after: value(is_off) };
        Finding::new(Area::Contexts, Kind::Skill, label, change).part("enabled")
    };
    for (label, at) in a.iter().filter(|(label, _)| !b.contains_key(*label)) {
        out.push(off(label, false).at(at.as_ref(), None));
    }
    for (label, at) in b.iter().filter(|(label, _)| !a.contains_key(*label)) {
        out.push(off(label, true).at(None, at.as_ref()));
    }
}

/// Compares the suppressions of two bundles: equal changes of many holders are one finding.
pub(crate) fn compare(a: &Review, b: &Review, out: &mut Findings) {
    let (a, b) = (suppressed(a), suppressed(b));
    let mut changes: BTreeMap<Changed<'_>, Held<'_>> = BTreeMap::new();
    for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
        let (before, after) = (a.get(key), b.get(key));
        let reasons = |side: Option<&Allowed<'_>>| side.map(|it| it.reasons.join("; "));
        let (of, rule, name) = key;
        let changed = Changed { of: *of, rule, before: reasons(before), after: reasons(after) };
        if changed.before != changed.after {
            let places = (before.map(|it| it.at), after.map(|it| it.at));
            let held = changes.entry(changed).or_insert(Held { names: Vec::new(), places });
            held.names.push(name);
        }
    }
    for (changed, held) in changes {
        out.push(finding(&changed, &held));
    }
}

/// The reasons for suppressing a rule in one prompt or resource, and their place.
struct Allowed<'r> {
    reasons: Vec<&'r str>,
    at: &'r Place,
}

/// The difference in a suppression.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Changed<'r> {
    of: Suppressed,
    rule: &'r str,
    before: Option<String>,
    after: Option<String>,
}

/// The holders of a difference.
struct Held<'k> {
    /// The prompts and resources, in words.
    names: Vec<&'k str>,
    /// The first place on each side.
    places: (Option<&'k Place>, Option<&'k Place>),
}

/// Returns the suppressions by search, rule and holder.
fn suppressed(review: &Review) -> BTreeMap<(Suppressed, &str, String), Allowed<'_>> {
    let mut found: BTreeMap<_, Allowed<'_>> = BTreeMap::new();
    for Suppression { of, rule, because, prompts, resources, skills, at } in &review.suppressions {
        let prompts = prompts.iter().map(|name| format!("prompt {name}"));
        let mut holders: Vec<_> =
            prompts.chain(resources.iter().map(|uri| format!("resource {uri}"))).collect();
        holders.extend(skills.iter().map(|label| format!("skill {label}")));
        if holders.is_empty() {
            holders.push("nothing".into());
        }
        for holder in holders {
            let allowed = found
                .entry((*of, rule.as_str(), holder))
                .or_insert_with(|| Allowed { reasons: Vec::new(), at });
            allowed.reasons.push(because);
        }
    }
    found.values_mut().for_each(|allowed| allowed.reasons.sort_unstable());
    found
}

fn finding(changed: &Changed<'_>, held: &Held<'_>) -> Finding {
    let Changed { of, rule, before, after } = changed;
    let Held { names, places: (of_a, of_b) } = held;
    let (kind, signed, refused) = match of {
        Suppressed::Secret => (
            Kind::Suppression,
            "a text that looks like such a secret is signed",
            "a text that looks like such a secret is an error",
        ),
        Suppressed::Invisible => (
            Kind::Invisible,
            "a text with characters that people do not see is signed",
            "a text with such characters is an error",
        ),
        Suppressed::Mark => (
            Kind::Mark,
            "agents get such marks as text, without a warning",
            "such marks are a warning",
        ),
    };
    let (direction, meaning) = match (before, after) {
        // Agents get the same text with it and without it.
        (None, _) if *of == Suppressed::Mark => (Direction::Same, signed),
        (_, None) if *of == Suppressed::Mark => (Direction::Same, refused),
        (None, _) => (Direction::NotProved, signed),
        (_, None) => (Direction::Narrower, refused),
        (Some(_), Some(_)) => (Direction::Same, "the reason is another"),
    };
    let shown = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    let more = match names.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let change = Change::Value { before: before.clone(), after: after.clone() };
    Finding::new(Area::Authority, kind, *rule, change)
        .part(format!("in {shown}{more}"))
        .direction(direction)
        .meaning(meaning)
        .content(names.join("\n").as_bytes(), b"")
        .at(*of_a, *of_b)
}
