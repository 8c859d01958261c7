//! The names that templates use: variables, filters and tests, each of which must be known.
//!
//! The result is the use of each argument. Values stay unread: rendering finds a name that is set
//! too late.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::engine;
use super::error::TemplateError;
use super::input::{TemplateArgument, TemplateArgumentKind};
use super::read::Template;
use super::rewrite::{Comparison, How, Name, Rewritten};
use super::source::Source;
use crate::diagnostic::Diagnostics;
use relay_engine::nearest::nearest;

/// How the templates use an argument.
#[derive(Default, Clone, Copy)]
pub(super) struct Use {
    pub(super) mentioned: bool,
    tested: bool,
    /// Whether its content matters.
    read: bool,
}

/// Names that have a meaning in some places of a template.
const SPECIAL_NAMES: [&str; 4] = ["caller", "loop", "self", "super"];

/// Checks each name that the templates use, and returns how they use each argument.
///
/// A template may set a variable that another one reads, as an included file shares the variables
/// around it. Rendering finds variables that are set too late, or only in some cases.
pub(super) fn check_names(
    templates: &[Template],
    arguments: &[TemplateArgument<'_>],
    out: &mut Diagnostics,
) -> Vec<Use> {
    let names: HashMap<String, usize> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| (template_name(argument), index))
        .collect();
    let mut known: BTreeSet<&str> = names.keys().map(String::as_str).collect();
    for template in templates {
        known.extend(template.rewritten.assigned.iter().map(|name| name.name.as_str()));
    }
    for name in engine::function_names().chain(SPECIAL_NAMES) {
        known.insert(name);
    }

    let mut uses = vec![Use::default(); arguments.len()];
    for Template { source, rewritten } in templates {
        check_assigned(source, rewritten, &names, arguments, out);
        check_compared(source, rewritten, &names, arguments, out);
        check_known("filter", source, &rewritten.filters, engine::filter_names().collect(), out);
        check_known("test", source, &rewritten.tests, engine::test_names().collect(), out);
        for mention in &rewritten.mentions {
            let name = mention.name.clone();
            let Some(index) = names.get(&name) else {
                if !known.contains(&*name) {
                    let help = match nearest(&name, known.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("declare it in the prompt: `arg {name}`"),
                    };
                    let error = |at, line| TemplateError::UnknownVariable { name, help, line, at };
                    source.report(&mention.at, out, error);
                }
                continue;
            };
            if let Some(used) = uses.get_mut(*index) {
                used.mentioned = true;
                used.read |= mention.how == How::Read;
                used.tested |= matches!(mention.how, How::Tested | How::TestedAndPrinted);
            }
            let is_text = arguments.get(*index).is_some_and(|argument| argument.is_text());
            if is_text && mention.how == How::Read {
                let error = |at, line| TemplateError::FreeText { name, line, at };
                source.report(&mention.at, out, error);
            }
        }
    }
    check_absent(templates, arguments, &names, &uses, out);
    uses
}

/// Returns for each argument whether it is a choice that is only printed. An empty value counts as
/// false and the others as true, so a choice with an empty value is read.
pub(super) fn only_printed(arguments: &[TemplateArgument<'_>], uses: &[Use]) -> Vec<bool> {
    let is_printed = |(argument, used): (&TemplateArgument<'_>, &Use)| match argument.kind {
        TemplateArgumentKind::Choice(choices) => {
            used.mentioned && !used.read && !choices.iter().any(String::is_empty)
        }
        TemplateArgumentKind::Boolean | TemplateArgumentKind::Text => false,
    };
    arguments.iter().zip(uses).map(is_printed).collect()
}

/// Returns the arguments as they are rendered: those that are only printed are free texts.
pub(super) fn as_seen<'a>(
    arguments: &[TemplateArgument<'a>],
    only_printed: &[bool],
) -> Vec<TemplateArgument<'a>> {
    let seen = |(argument, only_printed): (&TemplateArgument<'a>, &bool)| match only_printed {
        true => TemplateArgument { kind: TemplateArgumentKind::Text, ..*argument },
        false => *argument,
    };
    arguments.iter().zip(only_printed).map(seen).collect()
}

fn check_assigned(
    source: &Source,
    rewritten: &Rewritten,
    names: &HashMap<String, usize>,
    arguments: &[TemplateArgument<'_>],
    out: &mut Diagnostics,
) {
    for Name { name, at } in &rewritten.assigned {
        if let Some(argument) = names.get(name).and_then(|index| arguments.get(*index)) {
            let (name, argument_at) = (name.clone(), argument.at);
            let error = |at, line| TemplateError::ShadowedArgument { name, line, argument_at, at };
            source.report(at, out, error);
        }
    }
}

/// Reports the comparison of a choice with an unlisted text: the author knows another list.
fn check_compared(
    source: &Source,
    rewritten: &Rewritten,
    names: &HashMap<String, usize>,
    arguments: &[TemplateArgument<'_>],
    out: &mut Diagnostics,
) {
    for Comparison { name, text, at } in &rewritten.comparisons {
        let Some(argument) = names.get(name).and_then(|index| arguments.get(*index)) else {
            continue;
        };
        let (help, argument_at) = match argument.kind {
            TemplateArgumentKind::Choice(choices) if !choices.contains(text) => {
                let help = match nearest(text, choices.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its values are: {}", choices.join(", ")),
                };
                (help, argument.at)
            }
            TemplateArgumentKind::Boolean => {
                (format!("it is a truth value: write `{name}` or `not {name}`"), argument.at)
            }
            TemplateArgumentKind::Choice(_) | TemplateArgumentKind::Text => continue,
        };
        let (name, text) = (name.clone(), text.clone());
        let error =
            |at, line| TemplateError::ForeignChoice { name, text, help, line, argument_at, at };
        source.report(at, out, error);
    }
}

fn check_known(
    what: &'static str,
    source: &Source,
    named: &[Name],
    mut known: Vec<&'static str>,
    out: &mut Diagnostics,
) {
    for Name { name, at } in named {
        if !known.contains(&&**name) {
            let help = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    known.sort_unstable();
                    format!("these are known: {}", known.join(", "))
                }
            };
            let name = name.clone();
            let error = |at, line| TemplateError::UnknownName { what, name, help, line, at };
            source.report(at, out, error);
        }
    }
}

/// Reports a free text that may be absent and stays untested: rendering fails when it is absent. If
/// it is tested, rendering finds each unguarded print of it.
fn check_absent(
    templates: &[Template],
    arguments: &[TemplateArgument<'_>],
    names: &HashMap<String, usize>,
    uses: &[Use],
    out: &mut Diagnostics,
) {
    for Template { source, rewritten } in templates {
        for mention in &rewritten.mentions {
            let Some(index) = names.get(&mention.name) else { continue };
            let (Some(argument), Some(used)) = (arguments.get(*index), uses.get(*index)) else {
                continue;
            };
            if argument.is_text() && argument.may_be_absent() && !used.tested {
                let (name, argument_at) = (mention.name.clone(), argument.at);
                let error = |at, line| TemplateError::MaybeAbsent { name, line, argument_at, at };
                source.report(&mention.at, out, error);
            }
        }
    }
}

/// Returns the name of an argument in templates.
pub(super) fn template_name(argument: &TemplateArgument<'_>) -> String {
    argument.name.replace('-', "_")
}
