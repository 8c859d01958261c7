//! Arguments of prompts and URI templates: kinds, choices and defaults.

use hashbrown::HashMap;
use miette::Diagnostic;
use relay_bundle::{Argument, ArgumentKind, Place};
use thiserror::Error;

use crate::ast::{self, ArgumentType};
use crate::diagnostic::Diagnostics;
use crate::source::{Span, Spanned};
use relay_engine::nearest::nearest;

/// The states of a boolean argument, in the order of its variants.
pub(super) const BOOLEAN: [&str; 2] = ["true", "false"];

/// An argument with the place of its name.
pub(super) struct Resolved {
    pub(super) at: Span,
    /// Whether templates see a truth value.
    pub(super) boolean: bool,
    /// The argument in the bundle; rendering fills in its stride and its place.
    pub(super) argument: Argument,
}

/// Resolves the arguments of one node; those with faults are reported and left out.
pub(super) fn arguments(nodes: Vec<ast::Argument>, out: &mut Diagnostics) -> Vec<Resolved> {
    let mut resolved: Vec<Resolved> = Vec::new();
    let mut first_at: HashMap<String, Span> = HashMap::new();
    for node in nodes {
        let Some(argument) = argument(node, out) else { continue };
        // Templates write `-` as `_`, so names that differ in that alone are one.
        let spelled = argument.argument.name.replace('-', "_").to_lowercase();
        if let Some(first_at) = first_at.get(&spelled) {
            let (first_at, at) = (*first_at, argument.at);
            out.report(at, Duplicate { name: argument.argument.name, first_at, at });
            continue;
        }
        first_at.insert(spelled, argument.at);
        resolved.push(argument);
    }
    resolved
}

fn argument(node: ast::Argument, out: &mut Diagnostics) -> Option<Resolved> {
    let ast::Argument { name, new: _, settings, default } = node;
    let ast::ArgumentSettings { required, description, kind, chars_max, one_of } = settings;
    let Spanned { value: name, at } = name?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if !begins || !name.chars().all(plain) || name.len() > super::name::NAME_CHARS_MAX {
        out.report(at, BadName { name, at });
        return None;
    }
    let boolean = kind.value == ArgumentType::Boolean;
    if let (Some(kind_at), Some(first)) =
        (kind.at, one_of.as_ref().and_then(|values| values.first()))
    {
        out.report(first.at, TypedChoice { kind_at, at: first.at });
    }
    let finite = boolean || one_of.is_some();
    if let (true, Some(max)) = (finite, &chars_max) {
        out.report(max.at, LimitedChoice { at: max.at });
    }
    let choices = match one_of {
        Some(values) => Some(choices(values, out)),
        None if boolean => Some(BOOLEAN.map(str::to_owned).to_vec()),
        None => None,
    };
    let default_at = default.as_ref().map(|default| default.at);
    let default = match default {
        Some(Spanned { value, at }) => {
            Some(check_default(value, at, boolean, choices.as_deref(), out)?)
        }
        None => None,
    };
    if let (Some(default), Some(max), false) = (&default, &chars_max, finite) {
        let chars = default.chars().count();
        if chars > max.value as usize {
            let at = default_at.unwrap_or(at);
            let (max, max_at) = (max.value, max.at);
            out.report(at, LongDefault { name: name.clone(), chars, max, max_at, at });
        }
    }
    if let (Some(at), true) = (required.at, required.value && default.is_some()) {
        out.report(at, RequiredDefault { name: name.clone(), at });
    }
    let kind = match choices {
        Some(choices) => ArgumentKind::Choice(choices),
        None => ArgumentKind::Text { chars_max: chars_max.map_or(0, |max| max.value) },
    };
    let argument = Argument {
        name,
        description: description.map(|text| text.value),
        required: required.value,
        default,
        kind,
        stride: 0,
        only_printed: false,
        at: Place::default(),
    };
    Some(Resolved { at, boolean, argument })
}

fn choices(values: Vec<Spanned<String>>, out: &mut Diagnostics) -> Vec<String> {
    let mut choices: Vec<Spanned<String>> = Vec::new();
    for value in values {
        if let Some(first) = choices.iter().find(|first| first.value == value.value) {
            let (first_at, at) = (first.at, value.at);
            out.report(at, RepeatedChoice { value: value.value, first_at, at });
        } else {
            choices.push(value);
        }
    }
    choices.into_iter().map(|choice| choice.value).collect()
}

fn check_default(
    value: ast::Default,
    at: Span,
    boolean: bool,
    choices: Option<&[String]>,
    out: &mut Diagnostics,
) -> Option<String> {
    let text = match value {
        ast::Default::Boolean(yes) if boolean => return Some(yes.to_string()),
        ast::Default::Boolean(yes) => {
            out.report(at, BooleanDefault { value: yes, at });
            return None;
        }
        ast::Default::Text(text) => text,
    };
    let Some(choices) = choices else { return Some(text) };
    if choices.contains(&text) {
        return Some(text);
    }
    let help = match nearest(&text, choices.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("its values are: {}", choices.join(", ")),
    };
    out.report(at, ForeignDefault { value: text, help, at });
    None
}

/// Clients display the name of an argument, and templates use it as a variable.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` cannot name an argument")]
#[diagnostic(
    code(argument::name),
    help("begin with a letter, go on with letters, digits, `_` or `-`, up to 64 in all")
)]
struct BadName {
    name: String,
    #[label(primary, "this name")]
    at: Span,
}

/// A call gives one value to each name, and a template reads `-` in a name as `_`, so the second
/// argument would stay empty.
#[derive(Debug, Error, Diagnostic)]
#[error("argument `{name}` is declared twice")]
#[diagnostic(
    code(argument::duplicate),
    help("rename or remove one; case, `-` and `_` make no difference in templates")
)]
struct Duplicate {
    name: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// The values of `one-of` are the type of the argument. A second type could contradict them.
#[derive(Debug, Error, Diagnostic)]
#[error("an argument with `one-of` has no type")]
#[diagnostic(code(argument::typed_choice), help("remove `type=` or `one-of`"))]
struct TypedChoice {
    #[label("the type")]
    kind_at: Span,
    #[label(primary, "the values")]
    at: Span,
}

/// The values are listed, so their lengths are known.
#[derive(Debug, Error, Diagnostic)]
#[error("`max` limits free text, and this argument has fixed values")]
#[diagnostic(code(argument::limited_choice), help("remove `max`"))]
struct LimitedChoice {
    #[label(primary, "limits nothing")]
    at: Span,
}

/// Each value is a combination that the build renders. The second one would be unreachable.
#[derive(Debug, Error, Diagnostic)]
#[error("`{value}` is twice in `one-of`")]
#[diagnostic(code(argument::repeated_choice), help("remove one"))]
struct RepeatedChoice {
    value: String,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// Values of arguments are text except for those of `type=boolean`. This keeps `#true` apart from
/// the text `true`.
#[derive(Debug, Error, Diagnostic)]
#[error("the default `#{value}` is for arguments of type boolean")]
#[diagnostic(code(argument::boolean_default), help("quote it, or write `type=boolean`"))]
struct BooleanDefault {
    value: bool,
    #[label(primary, "this default")]
    at: Span,
}

/// A call that omits the argument would get a value that the server rejects from all other callers.
#[derive(Debug, Error, Diagnostic)]
#[error("the default `{value}` is not one of the argument's values")]
#[diagnostic(code(argument::foreign_default))]
struct ForeignDefault {
    value: String,
    #[help]
    help: String,
    #[label(primary, "this default")]
    at: Span,
}

/// A server truncates a long value, and a default that is always truncated is a mistake.
#[derive(Debug, Error, Diagnostic)]
#[error("the default of argument `{name}` has {chars} characters, over its limit of {max}")]
#[diagnostic(
    code(argument::long_default),
    help("shorten it, or raise `max`: it would be truncated")
)]
struct LongDefault {
    name: String,
    chars: usize,
    max: u32,
    #[label("the limit")]
    max_at: Span,
    #[label(primary, "this default")]
    at: Span,
}

/// A required argument has a value in each call, so its default is a line without effect.
#[derive(Debug, Error, Diagnostic)]
#[error("argument `{name}` is required and has a default")]
#[diagnostic(
    code(argument::required_default),
    help("remove one: the default of a required argument is never used")
)]
struct RequiredDefault {
    name: String,
    #[label(primary, "required")]
    at: Span,
}
