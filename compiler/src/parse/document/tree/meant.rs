//! The node or property that was meant by one written as in YAML or TOML, and the text that other quotes quote.

use super::correction::{Correction, Role, Slot};
use crate::grammar::{Kind, Rule};
use crate::language;
use crate::parse::document::scalar::{is_unknown_keyword, start_of};

/// Returns the help for an invalid word, if more is known than its own letters say; `rest` is the text from it on, `fix`
/// its correction, `around` the rule of the node around it.
pub(super) fn of_word(
    written: &str,
    rest: &str,
    slot: &Slot<'_>,
    around: Option<&'static Rule>,
    fix: Option<&Correction>,
) -> Option<String> {
    let role = slot.role;
    if let "true" | "false" | "null" | "nan" | "inf" | "-inf" = written {
        return of_keyword(written, slot.kind(around)?);
    }
    if role == Role::Name && is_unknown_keyword(written) {
        let line = start_of(rest.lines().next()?.trim_start_matches('#').trim());
        return Some(format!("comments begin with `//`: write `// {line}`"));
    }
    if rest.starts_with("'''") || rest.starts_with("```") {
        let help = "write a text of several lines between `\"\"\"` and `\"\"\"`";
        return Some(help.to_owned());
    }
    let quoted = fix.and_then(|fix| fix.text.strip_prefix('"')?.strip_suffix('"'));
    if let Some(text) = quoted {
        let straight = if written.starts_with(['\'', '`']) { "double" } else { "straight" };
        return Some(format!("write texts in {straight} quotes: `\"{}\"`", start_of(text)));
    }
    let word = written.strip_suffix(':')?;
    of_pair(word, rest.get(written.len()..)?, role, around)
}

/// Returns the help for a keyword without its `#` in place of a value of this kind.
fn of_keyword(written: &str, kind: Kind) -> Option<String> {
    match kind {
        Kind::Boolean if matches!(written, "true" | "false") => Some(format!("write `#{written}`")),
        Kind::Text(_) | Kind::Line(_) | Kind::Name(_) => {
            Some(format!("write it in quotes: `\"{written}\"`"))
        }
        Kind::Boolean => Some("write `#true` or `#false`".to_owned()),
        Kind::Measured { measure, .. } => {
            Some(format!("write a number with its unit: `{}`", measure.example))
        }
        Kind::Number { .. } | Kind::Chars { .. } => Some("write a number".to_owned()),
        Kind::Regex => Some("write a regex: `(regex)\"…\"`".to_owned()),
        Kind::File => Some("write a path on the server: `(file)\"/…\"`".to_owned()),
        Kind::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            Some(format!("write one of {}", words.join(", ")))
        }
    }
}

/// Returns the help for a `word:` or `word =` before the text `after`; `None` if the word is unknown.
pub(super) fn of_pair(
    word: &str,
    after: &str,
    role: Role,
    around: Option<&Rule>,
) -> Option<String> {
    if let (Role::Name, Some(around)) = (role, around)
        && around.property(word).is_some()
        && !around.has_child(word)
    {
        let value = value(after, true).unwrap_or_else(|| "…".to_owned());
        return Some(format!(
            "`{word}` is a property: write `{word}={value}` after the name, before the braces of the `{}`",
            around.name
        ));
    }
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
    if let Some(keyword) = ["#true", "#false"].iter().find(|keyword| line.starts_with(**keyword)) {
        return Some((*keyword).to_owned());
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
