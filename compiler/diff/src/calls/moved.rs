//! The skills of callers that rows of `users` place in another tenant.
//!
//! Their skills are equal on both sides, but each of their calls may have others.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Corrupt};
use relay_engine::cascade::Question;

use super::given::{CALLS_MAX, Difference, Side, serves_nothing, skills};
use super::tools::{Classes, tools};
use crate::finding::{Area, Change, Claim, Finding, Findings, Kind};
use crate::pairs::listed;
use crate::user::Moved;

/// Compares the skills of calls by callers that have another tenant.
pub(crate) fn compare_moved(
    a: &Bundle,
    b: &Bundle,
    moved: &BTreeSet<Moved>,
    out: &mut Findings,
) -> Result<(), Corrupt> {
    if moved.is_empty() || serves_nothing(a) || serves_nothing(b) {
        return Ok(());
    }
    let (of_a, of_b) = (skills(a)?, skills(b)?);
    if of_a.is_empty() && of_b.is_empty() {
        return Ok(());
    }
    let (mut patterns, mut users) = (BTreeSet::new(), BTreeSet::from([None]));
    for skill in of_a.iter().chain(&of_b) {
        patterns.extend(skill.tools.iter().map(|pattern| pattern.value.clone()));
        users.insert(skill.user.as_ref().map(|user| user.value.clone()));
    }
    let Classes { list: tools, are_all, names: [tried, of] } =
        tools([a, b], &patterns, &BTreeSet::new())?;
    let (side_a, side_b) = (Side::of(a, of_a), Side::of(b, of_b));
    let mut groups: BTreeMap<Difference<'_>, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    let (mut inputs, mut count) = (0, 0);
    for moved in moved {
        // Callers missing in `users` may be any that skills name.
        let own = BTreeSet::from([moved.id.clone()]);
        for user in if moved.id.is_some() { &own } else { &users } {
            for tool in &tools {
                count += 1;
                if inputs == CALLS_MAX {
                    continue;
                }
                inputs += 1;
                let [before, after] = moved.tenants.each_ref().map(|tenant| Question {
                    tenant: tenant.as_deref(),
                    tool: Some(&tool.example),
                    user: user.as_deref(),
                });
                let (before, after) = (side_a.given(before)?, side_b.given(after)?);
                if let Some(difference) = Difference::of(&before, &after) {
                    let names = groups.entry(difference).or_default();
                    let names = names.entry(words(moved, user.as_deref())).or_default();
                    names.extend(tool.names.iter().map(String::as_str));
                }
            }
        }
    }
    let is_exact = are_all && inputs == count && tried == of;
    if groups.is_empty() && is_exact {
        return Ok(());
    }
    let claim =
        if is_exact { Claim::Exact } else { Claim::Tried { inputs, of: count.max(inputs) } };
    let content = format!("{groups:?}{moved:?}");
    let all_tools: usize = tools.iter().map(|tool| tool.names.len()).sum();
    let group = |(difference, calls): (&Difference<'_>, &BTreeMap<String, Vec<&str>>)| {
        let call = |(who, names): (&String, &Vec<&str>)| match names.len() == all_tools {
            true => who.clone(),
            false => format!("{}, {who}", listed(names)),
        };
        difference.of_calls(calls.iter().map(call).collect())
    };
    let groups = groups.iter().map(group).collect();
    let change = Change::Calls { groups };
    let finding = Finding::new(Area::Contexts, Kind::Calls, "", change).part("by `users`");
    out.push(finding.claim(claim).content(b"", content.as_bytes()));
    Ok(())
}

fn words(moved: &Moved, user: Option<&str>) -> String {
    let tenant = |tenant: &Option<String>| match tenant {
        Some(name) => format!("tenant {name}"),
        None => "no tenant".to_owned(),
    };
    let who = user.map_or_else(|| "callers without a tenant".into(), |user| format!("user {user}"));
    let [before, after] = moved.tenants.each_ref().map(tenant);
    format!("{who} ({before} → {after})")
}
