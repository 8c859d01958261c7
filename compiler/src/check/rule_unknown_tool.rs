//! A rule over a tool or an argument that nothing has.
//!
//! Rules may name every tool that runs commands or moves files, whether or not the project offers
//! it, and all tools that the project offers or declares.

use miette::Diagnostic;
use relay_bundle::Selector;
use relay_engine::nearest::nearest;
use relay_engine::tool::{REACH, TOOLS};
use thiserror::Error;

use crate::ast::{OtherEffects, PolicyCondition};
use crate::diagnostic::Diagnostics;
use crate::matching::pattern_set::meet;
use crate::model::Model;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("`{pattern}` matches no tool that the project knows")]
#[diagnostic(code(rule::no_tool))]
struct NoTool {
    pattern: String,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("no tool of this rule has an argument `{name}`")]
#[diagnostic(code(rule::no_argument))]
struct NoArgument {
    name: String,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

/// Tools of other servers have more arguments than a project declares, so only a slip is reported.
#[derive(Debug, Error, Diagnostic)]
#[error("no tool of this rule declares an argument `{name}`")]
#[diagnostic(
    code(rule::undeclared_argument),
    severity(Warning),
    help("did you mean `{near}`? Else declare it at the tool: `arg {name} …`")
)]
struct UndeclaredArgument {
    name: String,
    near: String,
    #[label(primary, "may match nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    let own = REACH.iter().map(|reach| reach.tool).chain(TOOLS.iter().map(|spec| spec.name));
    let other = model.other_tools.iter().map(|pattern| pattern.value.as_str());
    let tools: Vec<&str> = own.chain(other).collect();
    for rule in &policy.rules {
        let of = |selector| {
            let conditions = rule.conditions.iter();
            conditions.filter(move |condition| condition.selector == selector)
        };
        let patterns: Vec<&str> = of(Selector::Tool)
            .flat_map(|condition| &condition.values)
            .map(|pattern| pattern.value.as_str())
            .collect();
        for pattern in of(Selector::Tool).flat_map(|condition| &condition.values) {
            if matches!(meet(&[pattern.value.as_str()], &tools), Ok(None)) {
                let (name, at) = (pattern.value.clone(), pattern.at);
                let declare = format!("declare it: `tools {{ other {name:?} }}`");
                let help = match nearest(&name, tools.iter().copied()) {
                    Some(near) => {
                        format!("did you mean `{near}`? A tool of another server: {declare}")
                    }
                    None => format!("if it is a tool of another server, {declare}"),
                };
                out.report(at, NoTool { pattern: name, help, at });
            }
        }
        // Arguments of other servers' tools are not all known.
        let others: Vec<&str> =
            model.other_tools.iter().map(|pattern| pattern.value.as_str()).collect();
        let is_of_others = patterns.is_empty() && !others.is_empty()
            || !others.is_empty() && !matches!(meet(&patterns, &others), Ok(None));
        if is_of_others {
            undeclared_arguments(model, &patterns, of(Selector::Arg), out);
            continue;
        }
        let is_meant =
            |tool: &str| patterns.is_empty() || !matches!(meet(&patterns, &[tool]), Ok(None));
        let reached = REACH.iter().filter(|reach| is_meant(reach.tool));
        let offered = TOOLS.iter().filter(|spec| is_meant(spec.name));
        let known: Vec<&str> = reached
            .flat_map(|reach| reach.argument_names())
            .chain(offered.flat_map(|spec| spec.argument_names()))
            .collect();
        for argument in of(Selector::Arg).filter_map(|condition| condition.argument.as_ref()) {
            if known.contains(&argument.value.as_str()) {
                continue;
            }
            let help = match nearest(&argument.value, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name the tool that has it with `tool`".to_owned(),
            };
            let (name, at) = (argument.value.clone(), argument.at);
            out.report(at, NoArgument { name, help, at });
        }
    }
}

/// Reports arguments that none of the declared tools of a rule declares, where all of them declare
/// some.
fn undeclared_arguments<'r>(
    model: &Model,
    patterns: &[&str],
    arguments: impl Iterator<Item = &'r PolicyCondition>,
    out: &mut Diagnostics,
) {
    let rows: Vec<&OtherEffects> = model
        .tool_effects
        .iter()
        .filter(|row| {
            let names: Vec<&str> = row.patterns.iter().map(|it| it.value.as_str()).collect();
            patterns.is_empty() || !matches!(meet(patterns, &names), Ok(None))
        })
        .collect();
    let known: Vec<&str> =
        rows.iter().flat_map(|row| &row.arguments).map(|(name, _)| name.value.as_str()).collect();
    if known.is_empty() {
        return;
    }
    for argument in arguments.filter_map(|condition| condition.argument.as_ref()) {
        let near = nearest(&argument.value, known.iter().copied());
        if let Some(near) = near.filter(|_| !known.contains(&argument.value.as_str())) {
            let (name, near, at) = (argument.value.clone(), near.to_owned(), argument.at);
            out.report(at, UndeclaredArgument { name, near, at });
        }
    }
}
