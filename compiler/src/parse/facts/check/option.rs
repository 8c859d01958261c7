//! Options that are declared twice, or that are always idle.

use miette::Diagnostic;
use relay_policy::facts::Style;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::parse::facts::names::Names;
use crate::parse::facts::pattern;
use crate::parse::facts::written::{Word, children, is_set, place, words};
use crate::parse::node::Node;
use crate::source::Span;

/// An option that forms may name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'n> {
    pub(super) name: &'n str,
    pub(super) takes_value: bool,
    /// Where it was declared.
    pub(super) at: Span,
}

/// Checks the options of a command, and returns them.
pub(super) fn check<'n>(node: &'n Node, style: Style, out: &mut Diagnostics) -> Vec<Known<'n>> {
    let mut names = Names::of("option");
    let mut known = Vec::new();
    for row in children(node, &["flags"]) {
        names.declare(words(row), out);
        pattern::check_names(words(row), out);
        // Sub-commands, which may have another style, read these too.
        let is_everywhere = is_set(row, "everywhere");
        let styles = if is_everywhere { Style::ALL } else { &[style] };
        for Word { text, at } in words(row) {
            if !styles.iter().any(|style| reads(*style, text)) {
                let (option, style) = (text.to_owned(), style.word());
                out.report(at, UnreadOption { option, style, at });
            }
        }
        let takes_value = place(row, "value").or_else(|| place(row, "attached")).is_some();
        if let (false, Some(value)) = (takes_value, children(row, &["value"]).next()) {
            let (options_at, at) = (row.name.at, value.name.at);
            out.report(at, ValueOfNone { options_at, at });
        }
        if let (true, Some(at)) = (takes_value, place(row, "listens")) {
            let options_at = row.name.at;
            out.report(at, ListensBeside { options_at, at });
        }
        known.extend(words(row).map(|Word { text: name, at }| Known { name, takes_value, at }));
    }
    known
}

/// Returns whether a command of this style can read a word as the option of this name.
fn reads(style: Style, name: &str) -> bool {
    // The text after `=` is the value, so the names that are looked up end before it.
    let is_long = name.len() > 2 && (name.starts_with("--") || name.starts_with('*'));
    if !matches!(style, Style::None | Style::Letters) && is_long && !name.contains('=') {
        return true;
    }
    let is_one_dash = name.len() > 1 && name.starts_with('-') && !name.starts_with("--");
    let is_plus = name.len() > 1 && name.starts_with('+');
    let is_pattern = name.contains('*');
    match style {
        Style::None => false,
        Style::Letters => is_one_dash && name.len() == 2 && !is_pattern,
        Style::Key => name.split_once('=').is_some_and(|(_, rest)| rest.is_empty()),
        // A pattern is compared with the text before `=`, a name with the whole word.
        Style::Single if is_one_dash && is_pattern => !name.contains('='),
        Style::Gnu | Style::Go | Style::Single => (is_one_dash || is_plus) && !is_pattern,
    }
}

/// The style of a command decides which words are options: `none` has no options, `key` has `name=`
/// and `--name`, `letters` a dash and a letter, and of the others only `single` has patterns with
/// one dash. `-` and `--` are never options, and the text after `=` is a value. A row that matches
/// no word has no effect.
#[derive(Debug, Error, Diagnostic)]
#[error("no word is read as the option `{option}`")]
#[diagnostic(
    code(fact::unread_option),
    help("the style is `{style}`; write the option as that style reads it, or remove it")
)]
struct UnreadOption {
    option: String,
    style: &'static str,
    #[label(primary, "never an option")]
    at: Span,
}

/// An option takes a value if it has `value=…` or `attached=…`. Otherwise its `value` node is never
/// used, and a tier that the value should raise is lost.
#[derive(Debug, Error, Diagnostic)]
#[error("these options take no value, so `value` has no effect")]
#[diagnostic(
    code(fact::value_of_none),
    help("write `value=…` or `attached=…` on the options, or remove `value`")
)]
struct ValueOfNone {
    #[label("no value is declared here")]
    options_at: Span,
    #[label(primary, "without effect")]
    at: Span,
}

/// The value of such an option is the port, or something else; the row would say both.
#[derive(Debug, Error, Diagnostic)]
#[error("these options take a value, so `listens` has no effect")]
#[diagnostic(
    code(fact::listens_beside_value),
    help("write `value=\"listen\"` if the value is the port or address, or remove `listens`")
)]
struct ListensBeside {
    #[label("a value is declared here")]
    options_at: Span,
    #[label(primary, "without effect")]
    at: Span,
}
