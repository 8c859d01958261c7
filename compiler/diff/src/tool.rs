//! The offered tools.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, Tool};
use relay_engine::tool::{Group, find};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares the tools of two bundles. Their order in the list is the product's.
///
/// If only one side has a gate, changes of its tools and gated tools follow from that.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) {
    let has_other_gate = a.gate().is_some() != b.gate().is_some();
    let named = |bundle: &Bundle| -> BTreeMap<String, Tool> {
        let is_of_gate =
            |tool: &&Tool| find(&tool.name).is_some_and(|spec| spec.group == Group::Gate);
        let tools = bundle.tools().iter().filter(|tool| !(has_other_gate && is_of_gate(tool)));
        tools.map(|tool| (tool.name.clone(), tool.clone())).collect()
    };
    let folders = folders(b);
    let (a, b) = (named(a), named(b));
    for (name, gone) in a.iter().filter(|(name, _)| !b.contains_key(*name)) {
        let removed = finding(name, Change::Removed).direction(Direction::Narrower).breaking(true);
        out.push(removed.meaning("no agent can call it").at(Some(&gone.at), None));
    }
    for (name, new) in &b {
        match a.get(name) {
            None => {
                let added = finding(name, Change::Added).direction(Direction::NotProved);
                let meaning = match find(name).filter(|spec| spec.is_destructive()) {
                    // Its own tier says nothing of the texts that it runs.
                    Some(spec) if spec.starts_processes() => {
                        format!("agents run what the policy permits, of any tier, {folders}")
                    }
                    _ => format!("agents can call it (tier {})", new.tier.number()),
                };
                out.push(added.meaning(meaning).at(None, Some(&new.at)));
            }
            Some(old) => differences(old, new, has_other_gate, out),
        }
    }
}

/// Returns where the processes of a bundle's tools begin.
fn folders(bundle: &Bundle) -> String {
    let folders = bundle.tool_settings().and_then(|settings| settings.shell.folders.as_deref());
    match folders {
        None => "in any folder".to_owned(),
        Some(folders) => {
            let folders: Vec<&str> = folders.iter().map(|folder| folder.value.as_str()).collect();
            format!("in {}", folders.join(", "))
        }
    }
}

fn finding(name: &str, change: Change) -> Finding {
    Finding::new(Area::Authority, Kind::Tool, name, change)
}

fn differences(a: &Tool, b: &Tool, has_other_gate: bool, out: &mut Findings) {
    let Tool { name, gated, tier, at } = b;
    let value =
        |before: String, after: String| Change::Value { before: Some(before), after: Some(after) };
    let at = |finding: Finding| finding.at(Some(&a.at), Some(at));
    if a.gated != *gated && !has_other_gate {
        let direction = Direction::narrower_if(*gated);
        let meaning = if *gated { "it needs a briefing" } else { "it runs without a briefing" };
        let change = value(a.gated.to_string(), gated.to_string());
        out.push(at(finding(name, change).part("gated").direction(direction).meaning(meaning)));
    }
    if a.tier != *tier {
        let change = value(a.tier.number().to_string(), tier.number().to_string());
        let direction = Direction::of_demand(&a.tier, tier);
        out.push(at(finding(name, change).part("tier").direction(direction)));
    }
}
