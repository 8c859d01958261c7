//! A rule over a program, a sub-command or an option that no fact describes.
//!
//! A mistyped name would match nothing. A program without facts can be meant, so that is a warning;
//! a sub-command or an option of a known program can never match.

use std::cell::LazyCell;

use miette::Diagnostic;
use relay_bundle::Selector;
use relay_engine::nearest::nearest;
use relay_policy::facts::{Facts, NodeId};
use thiserror::Error;

use crate::ast::PolicyRule;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::{Span, Spanned};

#[derive(Debug, Error, Diagnostic)]
#[error("no fact describes the program `{name}`")]
#[diagnostic(code(rule::unknown_program), severity(Warning))]
struct UnknownProgram {
    name: String,
    #[help]
    help: String,
    #[label(primary, "only known by its name")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{program}` has no sub-command `{name}`")]
#[diagnostic(code(rule::unknown_sub))]
struct UnknownSub {
    program: String,
    name: String,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

#[derive(Debug, Error, Diagnostic)]
#[error("`{program}` has no option `{name}`")]
#[diagnostic(code(rule::unknown_flag))]
struct UnknownFlag {
    program: String,
    name: String,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, known)) = &model.policy else { return };
    // The writer of the table has checked it, or a test of the shipped one.
    let Ok(facts) = Facts::reopen(&known.table) else { return };
    // Most projects name programs that are known.
    let names: LazyCell<Vec<String>, _> = LazyCell::new(|| facts.program_names());
    for rule in &policy.rules {
        let groups = rule.conditions.iter().map(|condition| condition.group).max().unwrap_or(0);
        for group in 0..=groups {
            let of = |selector| values(rule, group, selector);
            let programs: Vec<&Spanned<String>> = of(Selector::Program).collect();
            for program in &programs {
                check_program(program, &facts, || &names, out);
            }
            let nodes: Vec<(&str, NodeId)> = programs
                .iter()
                .filter_map(|program| {
                    Some((program.value.as_str(), facts.program(file(&program.value).as_bytes())?))
                })
                .collect();
            // Of several programs, one is enough; a program without facts may have any.
            if nodes.is_empty() || nodes.len() < programs.len() {
                continue;
            }
            for sub in of(Selector::Sub) {
                let words: Vec<&str> = sub.value.split(' ').collect();
                if nodes.iter().all(|(_, node)| facts.sub_command(*node, &words).is_none()) {
                    unknown_sub(sub, &nodes, &facts, out);
                }
            }
            for flag in of(Selector::Flags) {
                let name = flag.value.split_once('=').map_or(flag.value.as_str(), |(name, _)| name);
                if nodes.iter().all(|(_, node)| !facts.has_flag(*node, name)) {
                    unknown_flag(flag, name, &nodes, &facts, out);
                }
            }
        }
    }
}

fn values(
    rule: &PolicyRule,
    group: u8,
    selector: Selector,
) -> impl Iterator<Item = &Spanned<String>> {
    let conditions = rule.conditions.iter();
    let of = conditions.filter(move |it| it.group == group && it.selector == selector);
    of.flat_map(|condition| condition.values.iter().chain(&condition.except))
}

fn check_program<'n>(
    program: &Spanned<String>,
    facts: &Facts<'_>,
    names: impl FnOnce() -> &'n [String],
    out: &mut Diagnostics,
) {
    let Spanned { value: name, at } = program;
    let is_pattern = name.contains(['*', '?']);
    if is_pattern || name.contains('/') || facts.program(name.as_bytes()).is_some() {
        return;
    }
    let help = match nearest(name, names().iter().map(String::as_str)) {
        Some(near) => {
            format!("did you mean `{near}`? Else describe it: `facts {{ program {name} }}`")
        }
        None => format!("describe it, so that its options are known: `facts {{ program {name} }}`"),
    };
    out.report(*at, UnknownProgram { name: name.clone(), help, at: *at });
}

fn unknown_sub(
    sub: &Spanned<String>,
    nodes: &[(&str, NodeId)],
    facts: &Facts<'_>,
    out: &mut Diagnostics,
) {
    let Some((program, node)) = nodes.first() else { return };
    let known = facts.sub_names(*node);
    let help = match nearest(&sub.value, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has none; remove the `sub`, or use `operands`".to_owned(),
        None => "see `relay facts` for what is known of it".to_owned(),
    };
    let (program, name, at) = ((*program).to_owned(), sub.value.clone(), sub.at);
    out.report(at, UnknownSub { program, name, help, at });
}

fn unknown_flag(
    flag: &Spanned<String>,
    name: &str,
    nodes: &[(&str, NodeId)],
    facts: &Facts<'_>,
    out: &mut Diagnostics,
) {
    let Some((program, node)) = nodes.first() else { return };
    let known = facts.flag_names(*node);
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "see `relay facts` for what is known of it".to_owned(),
    };
    let (program, name, at) = ((*program).to_owned(), name.to_owned(), flag.at);
    out.report(at, UnknownFlag { program, name, help, at });
}

fn file(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
