//! The skills of calls: those of each tenant, tool and user, before and after.
//!
//! Through a topic, a change of one skill reaches calls beyond those that the skill names. So both
//! bundles are asked, with every name that a changed skill asks for and one other name.

mod asked;
mod given;
mod moved;
mod tools;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt};

use self::asked::{Asked, Call};
use self::given::{CALLS_MAX, Difference, Side, serves_nothing, skills};
pub(crate) use self::moved::compare_moved;
use crate::finding::{Area, Change, Claim, Finding, Findings, Kind};

/// Compares the skills of calls, if a skill differs between the sides.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    // With nothing served on one side, all skills are plainly new or gone.
    if serves_nothing(a) || serves_nothing(b) {
        return Ok(());
    }
    let (of_a, of_b) = (skills(a)?, skills(b)?);
    let Some(asked) = Asked::of([a, b], [&of_a, &of_b])? else { return Ok(()) };
    let (side_a, side_b) = (Side::of(a, of_a), Side::of(b, of_b));
    let mut differences: BTreeMap<Difference<'_>, BTreeSet<Call>> = BTreeMap::new();
    for call in asked.calls(CALLS_MAX) {
        let question = asked.question(call);
        let (before, after) = (side_a.given(question)?, side_b.given(question)?);
        if let Some(difference) = Difference::of(&before, &after) {
            differences.entry(difference).or_default().insert(call);
        }
    }
    let claim = asked.claim(CALLS_MAX);
    if differences.is_empty() && claim == Claim::Exact {
        return Ok(());
    }
    // After trials alone, acceptance holds only for the same changes of these skills.
    let [before, mut content] = match claim {
        Claim::Exact => [String::new(), String::new()],
        Claim::Tried { .. } => asked.changed().clone(),
    };
    let tried = asked.totals(CALLS_MAX);
    let mut groups = Vec::new();
    for (difference, calls) in &differences {
        // The words leave out names; acceptance covers all of them.
        content.push_str(&format!("{difference:?}\n"));
        calls.iter().for_each(|call| content.push_str(&format!("{:?}\n", asked.question(*call))));
        groups.push(difference.of_calls(asked.words(calls, &tried)));
    }
    groups.sort_by_key(|group| Reverse(group.bytes.abs()));
    let mut finding = Finding::new(Area::Contexts, Kind::Calls, "", Change::Calls { groups });
    if let Some(remark) = asked.remark() {
        finding = finding.meaning(remark);
    }
    out.push(finding.claim(claim).content(before.as_bytes(), content.as_bytes()));
    Ok(())
}
