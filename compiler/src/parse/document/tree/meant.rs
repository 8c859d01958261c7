//! The node or property that was meant by one written as in YAML or TOML, and the text that other quotes quote.

use super::correction::{Correction, Role};
use crate::language;
use crate::parse::document::scalar::start_of;

/// Returns the help for an invalid word, if more is known than its own letters say; `rest` is the text from it on, `fix`
/// its correction.
pub(super) fn of_word(
    written: &str,
    rest: &str,
    role: Role,
    fix: Option<&Correction>,
) -> Option<String> {
    let quoted = fix.and_then(|fix| fix.text.strip_prefix('"')?.strip_suffix('"'));
    if let Some(text) = quoted {
        let straight = if written.starts_with(['\'', '`']) { "double" } else { "straight" };
        return Some(format!("write texts in {straight} quotes: `\"{}\"`", start_of(text)));
    }
    let word = written.strip_suffix(':')?;
    of_pair(word, rest.get(written.len()..)?, role)
}

/// Returns the help for a `word:` or `word =` before the text `after`; `None` if the word is unknown.
pub(super) fn of_pair(word: &str, after: &str, role: Role) -> Option<String> {
    let is_node = language::is_node(word) || language::is_text_property(word);
    match role {
        Role::Name if is_node => Some(match value(after, true) {
            Some(value) => format!("write `{word} {value}`"),
            None if language::has_children(word) => format!("write `{word} {{ … }}`"),
            None => format!("write `{word} \"…\"`"),
        }),
        Role::Name if language::is_property(word) => {
            let value = value(after, true).unwrap_or_else(|| "…".to_owned());
            Some(format!(
                "`{word}` is a property: write `{word}={value}` on the line of its node, before the braces"
            ))
        }
        Role::Value if language::is_property(word) => {
            let value = value(after, false)?;
            Some(format!("write `{word}={value}`"))
        }
        _ => None,
    }
}

/// Returns the value at the beginning of a text, in quotes if it needs them: up to the end of its line, or one word.
fn value(after: &str, is_line: bool) -> Option<String> {
    let line = after.lines().next()?.trim();
    if let Some(quoted) = line.strip_prefix('"') {
        return Some(format!("\"{}\"", start_of(quoted.split('"').next()?)));
    }
    let text = line.split(['{', '}', ';', '"', '\\', '#']).next()?.split("//").next()?;
    let text = if is_line { text.trim_end() } else { text.split_whitespace().next()? };
    let text = text.trim_matches(['\'', ',']);
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    match text {
        "" => None,
        "true" | "false" => Some(format!("#{text}")),
        _ if is_word => Some(text.to_owned()),
        _ => Some(format!("\"{}\"", start_of(text))),
    }
}
