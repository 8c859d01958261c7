//! Forms that raise the tier, that are always idle, or that name an undeclared option.

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use thiserror::Error;

use super::operand;
use super::option::Known;
use crate::diagnostic::Diagnostics;
use crate::language::facts::{FORM_ROLE, HAS, WITHOUT};
use crate::parse::facts::written::{Word, children, number, words};
use crate::parse::node::Node;
use crate::source::{Span, Spanned};

/// Checks the forms of a command that may have these options.
pub(super) fn check(node: &Node, known: &[Known<'_>], out: &mut Diagnostics) {
    let base = number(node, "tier");
    for form in children(node, &["form"]) {
        // A command that lacks a tier counts as unknown, which a form may replace.
        if let (Some(base), Some(tier)) = (&base, number(form, "tier"))
            && tier.value > base.value
        {
            let (base_at, at) = (base.at, tier.at);
            let (base, tier) = (base.value, tier.value);
            out.report(at, FormRaises { base, tier, base_at, at });
        }
        range(form, out);
        operand::check(form, out);
        for list in children(form, &[HAS.name, WITHOUT.name, FORM_ROLE.name]) {
            let needs_value = list.name.value == FORM_ROLE.name;
            words(list).for_each(|option| self::option(option, needs_value, known, out));
        }
    }
}

fn range(form: &Node, out: &mut Diagnostics) {
    let least = number(form, "least");
    let (Some(least), Some(most)) = (least, number(form, "most")) else { return };
    if least.value > most.value {
        let Spanned { value: least, at: least_at } = least;
        let Spanned { value: most, at } = most;
        out.report(at, EmptyRange { least, most, least_at, at });
    }
}

/// Checks an option that a form names.
fn option(option: Word<'_>, needs_value: bool, known: &[Known<'_>], out: &mut Diagnostics) {
    let Word { text, at } = option;
    let option = text.to_owned();
    match known.iter().find(|known| known.name == text) {
        Some(known) if needs_value && !known.takes_value => {
            out.report(at, RoleOfNone { option, declared_at: known.at, at });
        }
        Some(_) => {}
        None => {
            let help = match nearest(text, known.iter().map(|known| known.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "declare it with `flags`".to_owned(),
            };
            out.report(at, UnknownOption { option, help, at });
        }
    }
}

/// A form lowers the tier: then a form that is lost, or fails because of an unknown word, can only
/// make the tier too high.
#[derive(Debug, Error, Diagnostic)]
#[error("this form raises the tier from {base} to {tier}")]
#[diagnostic(
    code(fact::form_raises),
    help(
        "write the higher tier on the command and let forms lower it, or on the option or value that raises it"
    )
)]
struct FormRaises {
    base: u8,
    tier: u8,
    #[label("the command is less")]
    base_at: Span,
    #[label(primary, "a form may only lower")]
    at: Span,
}

/// A form that names an unknown option is always off (`has`) or always on (`without`). One mistyped
/// letter after `without` would lower the tier of every command.
#[derive(Debug, Error, Diagnostic)]
#[error("the command has no option `{option}`")]
#[diagnostic(code(fact::unknown_option))]
struct UnknownOption {
    option: String,
    #[help]
    help: String,
    #[label(primary, "not declared here or around it")]
    at: Span,
}

/// A role classifies a value, and the option takes none.
#[derive(Debug, Error, Diagnostic)]
#[error("the option `{option}` takes no value, so it has no role")]
#[diagnostic(
    code(fact::role_of_none),
    help("write `value=…` or `attached=…` on the option, or remove it here")
)]
struct RoleOfNone {
    option: String,
    #[label("declared without a value")]
    declared_at: Span,
    #[label(primary, "without effect")]
    at: Span,
}

/// The lower limit is above the upper one, so the form is always off.
#[derive(Debug, Error, Diagnostic)]
#[error("no number is at least {least} and at most {most}")]
#[diagnostic(code(fact::empty_range), help("exchange the two numbers, or correct one"))]
struct EmptyRange {
    least: u8,
    most: u8,
    #[label("more than `most`")]
    least_at: Span,
    #[label(primary, "less than `least`")]
    at: Span,
}
