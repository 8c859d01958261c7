//! The one `gate` node of a project, with its defaults.

use miette::Diagnostic;
use relay_bundle::Unlock;
use thiserror::Error;

use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::model::{Gate, Setting};
use crate::source::Span;

/// How many keywords describe a task well enough and are still quickly given.
const TAGS_ASK: u32 = 5;

/// Resolves the gate; a project that says nothing of it has none.
pub(super) fn gate(nodes: Vec<ast::Gate>, out: &mut Diagnostics) -> Gate {
    let mut nodes = nodes.into_iter();
    let Some(node) = nodes.next() else { return with(ast::GateSettings::default()) };
    for again in nodes {
        out.report(again.at, SecondGate { first_at: node.at, at: again.at });
    }
    let ast::Gate { at, on, settings, first_setting, empty } = node;
    // Whoever forgot the word is told so; that the settings do nothing would be told in vain.
    let on = Setting::or(on, true);
    let settings = if on.value { settings } else { ast::GateSettings::default() };
    Gate { at: Some(at), on, first_setting, empty, ..with(settings) }
}

/// Returns a gate that is off, with these settings and the defaults of the others.
fn with(settings: ast::GateSettings) -> Gate {
    let ast::GateSettings {
        hide_tools,
        unlock,
        repeat_bytes,
        tags_ask,
        tags_max,
        budget_bytes,
        remaining_bytes,
        index_cap,
        over_cap_priority,
        entry_chars,
        instructions_chars,
    } = settings;
    let tags_max = Setting::or(tags_max, 10);
    Gate {
        at: None,
        on: Setting::or(None, false),
        hide_tools: Setting::or(hide_tools, false),
        unlock: Setting::or(unlock, Unlock::Intercept),
        repeat_bytes: Setting::or(repeat_bytes, 2048),
        tags_ask: Setting::or(tags_ask, TAGS_ASK.min(tags_max.value)),
        tags_max,
        budget_bytes: Setting::or(budget_bytes, 8192),
        remaining_bytes: Setting::or(remaining_bytes, 4096),
        index_cap: Setting::or(index_cap, 50),
        over_cap_priority: Setting::or(over_cap_priority, 7),
        entry_chars: Setting::or(entry_chars, 100),
        instructions_chars: Setting::or(instructions_chars, 2000),
        first_setting: None,
        empty: Vec::new(),
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `gate` node")]
#[diagnostic(code(gate::second), help("keep one; an environment has its own in a `when`"))]
struct SecondGate {
    #[label("the first one")]
    first_at: Span,
    #[label(primary, "a second one")]
    at: Span,
}
