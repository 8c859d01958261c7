//! A pattern of unknown tools.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_engine::nearest::nearest;
use relay_engine::tool::TOOLS;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::matching::pattern_set::meet;
use crate::model::{Model, offer};
use crate::source::Span;

/// The pattern is probably mistyped: all tools that the project offers or names differ from it. No
/// call would get the skill.
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

/// The pattern is probably mistyped: all tools that the project offers or names differ from it.
/// Callers of the role would miss the intended tool.
#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` matches no tool that the project knows")]
#[diagnostic(code(role::no_tool), severity(Warning))]
struct NoToolOfRole {
    pattern: String,
    #[help]
    help: String,
    #[label(primary, "admits nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut known = Known::of(model);
    for pattern in model.skills.list.iter().flat_map(|skill| &skill.tools) {
        if let Some(help) = known.miss(&pattern.value) {
            let (pattern, at) = (pattern.value.clone(), pattern.at);
            out.report(at, NoTool { pattern, help, at });
        }
    }
    // A malformed pattern of a role is reported already.
    if out.error_count() > 0 {
        return;
    }
    for role in model.access.roles.iter().filter(|role| role.has_own_tools) {
        // `*` means all tools, also before there are any.
        let patterns = role.tools.iter().flatten().filter(|pattern| pattern.value != "*");
        for pattern in patterns {
            if let Some(help) = known.miss(&pattern.value) {
                let (pattern, at) = (pattern.value.clone(), pattern.at);
                out.report(at, NoToolOfRole { pattern, help, at });
            }
        }
    }
}

/// The tools that the project offers or names.
struct Known<'m> {
    tools: Vec<&'m str>,
    /// The help for each pattern that was compared; `None` if it matches a tool, or if that is
    /// unknown. A pattern of several skills is compared once.
    compared: HashMap<&'m str, Option<String>>,
}

impl<'m> Known<'m> {
    fn of(model: &'m Model) -> Self {
        let offered = model.offered_tools().into_iter().map(|(spec, _)| spec.name);
        let other = model.other_tools.iter().map(|pattern| pattern.value.as_str());
        Self { tools: offered.chain(other).collect(), compared: HashMap::new() }
    }

    /// Returns the help for a pattern that matches no tool, if it surely matches none.
    fn miss(&mut self, pattern: &'m str) -> Option<String> {
        let Self { tools, compared } = self;
        let help = || {
            if !matches!(meet(&[pattern], tools), Ok(None)) {
                return None;
            }
            if let Some(offer) = offer_of(pattern) {
                return Some(format!("the server offers this tool if the project has `{offer}`"));
            }
            let declare = format!("declare it: `tools {{ other {pattern:?} }}`");
            Some(match nearest(pattern, tools.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? A tool of another server: {declare}"),
                None => format!("if it is a tool of another server, {declare}"),
            })
        };
        compared.entry(pattern).or_insert_with(help).clone()
    }
}

/// Returns the node that offers the tool of relay itself that the pattern matches.
fn offer_of(pattern: &str) -> Option<&'static str> {
    let spec = TOOLS.iter().find(|spec| matches!(meet(&[pattern], &[spec.name]), Ok(Some(_))))?;
    Some(offer(spec.group))
}
