//! What calls are given: the skills of each tenant, tool and user, before and after.
//!
//! A change of one skill reaches other calls than the ones it names where skills share a topic. So
//! both bundles are asked, with every name that a changed skill asks for and one that none asks for.

mod asked;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt};
use relay_engine::cascade::{self, Question};

use self::asked::{Asked, Call};
use crate::finding::{Area, Called, Change, Finding, Findings, Kind, TOKEN_BYTES};

/// The most calls that two bundles are asked for.
const CALLS_MAX: usize = 65_536;

/// How what a call is given differs.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    lost: Vec<String>,
    gained: Vec<String>,
    changed: Vec<String>,
    reordered: bool,
    /// Bytes more or fewer.
    bytes: i64,
}

/// Compares what calls are given, if a skill that both sides or one of them has is another one.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    // All of what is given is new where nothing was, and gone where nothing is.
    if serves_nothing(a) || serves_nothing(b) {
        return Ok(());
    }
    let Some(asked) = Asked::of(a, b)? else { return Ok(()) };
    let mut differences: BTreeMap<Difference, BTreeSet<Call>> = BTreeMap::new();
    for call in asked.calls().take(CALLS_MAX) {
        let question = asked.question(call);
        let [before, after] = [given(a, question)?, given(b, question)?];
        if let Some(difference) = Difference::of(&before, &after) {
            differences.entry(difference).or_default().insert(call);
        }
    }
    let mut groups: Vec<Called> = differences
        .into_iter()
        .map(|(Difference { lost, gained, changed, reordered, bytes }, calls)| Called {
            calls: asked.words(&calls),
            bytes,
            tokens_estimated: bytes / TOKEN_BYTES,
            lost,
            gained,
            changed,
            reordered,
        })
        .collect();
    if groups.is_empty() {
        return Ok(());
    }
    groups.sort_by_key(|group| Reverse(group.bytes.abs()));
    let content = serde_json::to_vec(&groups).unwrap_or_default();
    let change = Change::Calls { groups };
    let mut finding = Finding::new(Area::Contexts, Kind::Calls, "", change);
    if asked.count() > CALLS_MAX {
        finding = finding.meaning(format!(
            "{CALLS_MAX} of {} calls that differ by tenant, tool or user were compared; others may differ",
            asked.count()
        ));
    }
    out.push(finding.content(&[], &content));
    Ok(())
}

fn serves_nothing(bundle: &Bundle) -> bool {
    bundle.skill_count() + bundle.prompt_count() + bundle.tools().len() == 0
}

/// Returns the skills that a call is given, each with its text, in their order.
fn given<'b>(
    bundle: &'b Bundle,
    question: Question<'_>,
) -> Result<Vec<(String, &'b str)>, Corrupt> {
    let mut given = Vec::new();
    for matched in cascade::resolve(bundle, question)?.matched {
        let skill = bundle.skill(matched.skill as usize)?;
        let text = skill.text()?.trim_end();
        if matched.overridden_by.is_none() && !text.is_empty() {
            given.push((skill.to_owned()?.label(), text));
        }
    }
    Ok(given)
}

impl Difference {
    /// Returns how two lists of skills differ; `None` if they give the same text.
    fn of(before: &[(String, &str)], after: &[(String, &str)]) -> Option<Self> {
        if before.iter().map(|(_, text)| text).eq(after.iter().map(|(_, text)| text)) {
            return None;
        }
        // The skills of one side that the other lacks, or has with another text.
        let only = |side: &[(String, &str)], other: &[(String, &str)]| -> Vec<String> {
            let mut other: Vec<_> = other.iter().collect();
            other.sort_unstable();
            let differs = side.iter().filter(|skill| other.binary_search(skill).is_err());
            differs.map(|(label, _)| label.clone()).collect()
        };
        let (mut lost, mut gained) = (only(before, after), only(after, before));
        let is_both: BTreeSet<String> =
            lost.iter().filter(|label| gained.contains(label)).cloned().collect();
        lost.retain(|label| !is_both.contains(label));
        gained.retain(|label| !is_both.contains(label));
        let kept = |side: &[(String, &str)], gone: &[String]| -> Vec<String> {
            let labels = side.iter().map(|(label, _)| label);
            labels.filter(|label| !gone.contains(label)).cloned().collect()
        };
        Some(Self {
            reordered: kept(before, &lost) != kept(after, &gained),
            bytes: size(after) - size(before),
            changed: is_both.into_iter().collect(),
            lost,
            gained,
        })
    }
}

/// Returns the bytes of the skills, each with a line feed. So the difference does not depend on
/// whether a call is given other skills too.
fn size(given: &[(String, &str)]) -> i64 {
    let bytes: usize = given.iter().map(|(_, text)| text.len() + 1).sum();
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
