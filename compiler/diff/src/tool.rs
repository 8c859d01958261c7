//! The tools that are offered.

use std::collections::BTreeMap;

use relay_bundle::Tool;

use crate::finding::{Area, Change, Direction, Finding, Findings, Kind};

/// Compares the tools of two bundles. Their order in the list is the product's, not the project's.
pub(crate) fn compare(a: &[Tool], b: &[Tool], out: &mut Findings) {
    let named = |tools| -> BTreeMap<_, _> {
        let named = |tool: &'_ Tool| (tool.name.clone(), tool.clone());
        <[Tool]>::iter(tools).map(named).collect()
    };
    let (a, b) = (named(a), named(b));
    for (name, gone) in a.iter().filter(|(name, _)| !b.contains_key(*name)) {
        let removed = finding(name, Change::Removed).direction(Direction::Tightens).breaking(true);
        out.push(removed.meaning("no agent can call it").at(Some(&gone.at), None));
    }
    for (name, new) in &b {
        match a.get(name) {
            None => {
                let tier = new.tier;
                let added = finding(name, Change::Added).direction(Direction::Loosens);
                let meaning = format!("agents can call it (tier {tier})");
                out.push(added.meaning(meaning).at(None, Some(&new.at)));
            }
            Some(old) => differences(old, new, out),
        }
    }
}

fn finding(name: &str, change: Change) -> Finding {
    Finding::new(Area::Authority, Kind::Tool, name, change)
}

fn differences(a: &Tool, b: &Tool, out: &mut Findings) {
    let Tool { name, gated, tier, at } = b;
    let value =
        |before: String, after: String| Change::Value { before: Some(before), after: Some(after) };
    let at = |finding: Finding| finding.at(Some(&a.at), Some(at));
    if a.gated != *gated {
        let (direction, meaning) = if *gated {
            (Direction::Tightens, "it needs a briefing")
        } else {
            (Direction::Loosens, "it runs without a briefing")
        };
        let change = value(a.gated.to_string(), gated.to_string());
        out.push(at(finding(name, change).part("gated").direction(direction).meaning(meaning)));
    }
    if a.tier != *tier {
        let change = value(a.tier.to_string(), tier.to_string());
        out.push(at(finding(name, change).part("tier").direction(Direction::Changes)));
    }
}
