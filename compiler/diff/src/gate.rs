//! The gate.

use relay_bundle::{Gate, Unlock};

use crate::direction::Direction;
use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares the gates of two bundles.
pub(crate) fn compare(a: Option<&Gate>, b: Option<&Gate>, out: &mut Findings) {
    match (a, b) {
        (None, None) => {}
        (None, Some(b)) => {
            let added = finding(Area::Authority, Change::Added).at(None, Some(&b.at));
            out.push(
                added
                    .direction(Direction::Narrower)
                    .meaning("calls of gated tools need a briefing"),
            );
        }
        (Some(a), None) => {
            let removed = finding(Area::Authority, Change::Removed).at(Some(&a.at), None);
            out.push(
                removed
                    .direction(Direction::NotProved)
                    .meaning("every tool runs without a briefing"),
            );
        }
        (Some(a), Some(b)) => settings(a, b, out),
    }
}

fn finding(area: Area, change: Change) -> Finding {
    Finding::new(area, Kind::Gate, "", change)
}

fn settings(a: &Gate, b: &Gate, out: &mut Findings) {
    let Gate {
        unlock,
        hide_tools,
        tags_ask,
        tags_max,
        budget_bytes,
        repeat_bytes,
        remaining_bytes,
        at,
    } = b;
    let at = (Some(&a.at), Some(at));
    let authority = |part: &'static str, is_stricter: bool| {
        move |change| {
            let direction = Direction::narrower_if(is_stricter);
            finding(Area::Authority, change).part(part).direction(direction).at(at.0, at.1)
        }
    };
    let before = out.count();
    let is_loose = unlock.value == Unlock::Intercept;
    out.setting(Some(&a.unlock), Some(unlock), unlocked, |change| {
        authority("unlock", !is_loose)(change).meaning(if is_loose {
            "a gated call without a briefing runs, and brings one"
        } else {
            "a gated call without a briefing is denied"
        })
    });
    let hides = hide_tools.value;
    out.setting(Some(&a.hide_tools), Some(hide_tools), bool::to_string, |change| {
        authority("hide-tools", hides)(change).meaning(if hides {
            "clients with a session see the gated tools after their briefing alone"
        } else {
            "clients see the gated tools before their briefing"
        })
    });
    let is_written = out.count() > before;
    let numbers = [
        ("tags ask", &a.tags_ask, tags_ask),
        ("tags max", &a.tags_max, tags_max),
        ("budget", &a.budget_bytes, budget_bytes),
        ("budget repeat", &a.repeat_bytes, repeat_bytes),
        ("budget names", &a.remaining_bytes, remaining_bytes),
    ];
    for (part, a, b) in numbers {
        // A default follows from the way the gate opens.
        if is_written && a.at.is_none() && b.at.is_none() {
            continue;
        }
        out.setting(Some(a), Some(b), u32::to_string, |change| {
            finding(Area::Contexts, change).part(part).at(at.0, at.1)
        });
    }
}

fn unlocked(unlock: &Unlock) -> String {
    match unlock {
        Unlock::Intercept => "intercept",
        Unlock::Refuse => "refuse",
    }
    .into()
}
