//! A pattern that meets no known tool.

use std::collections::BTreeMap;

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use relay_engine::tool::{Group, TOOLS};
use thiserror::Error;

use crate::ast::ToolGroup;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::pattern_set::meet;
use crate::source::Span;

/// No tool that the project offers or names matches the pattern, so it is probably mistyped, and
/// no call would be given the skill.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` matches no tool that the project knows")]
#[diagnostic(code(skill::no_tool), severity(Warning))]
struct NoTool {
    pattern: String,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let offered = TOOLS.iter().filter(|spec| match spec.group {
        Group::Gate => model.gate.on.value,
        Group::Diagnostics => model.tools.iter().any(|group| group.value == ToolGroup::Diagnostics),
    });
    let other = model.other_tools.iter().map(|pattern| pattern.value.as_str());
    let known: Vec<&str> = offered.map(|spec| spec.name).chain(other).collect();
    // Each pattern is compared once, however many skills have it.
    let mut met: BTreeMap<&str, bool> = BTreeMap::new();
    for pattern in model.skills.list.iter().flat_map(|skill| &skill.tools) {
        let text = pattern.value.as_str();
        // Where it is not known whether they meet, nothing is said.
        let meets = *met.entry(text).or_insert_with(|| !matches!(meet(&[text], &known), Ok(None)));
        if !meets {
            let declare = format!("declare it: `tools {{ other {text:?} }}`");
            let help = match nearest(text, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? A tool of another server: {declare}"),
                None => format!("if it is a tool of another server, {declare}"),
            };
            out.report(pattern.at, NoTool { pattern: text.to_owned(), help, at: pattern.at });
        }
    }
}
