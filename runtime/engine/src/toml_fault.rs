//! A fault of a TOML file in words: its place, its key, and the text to write instead.
//!
//! The caller reads the file. This module gets the message of its reader, which names types of Rust,
//! and the bytes that the message is about.

use std::fmt;
use std::ops::Range;

use crate::nearest::nearest;

/// A fault of a TOML file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlFault {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The fault, with the remedy if it is known.
    pub message: String,
}

impl fmt::Display for TomlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message } = self;
        write!(f, "{line}:{column}: {message}")
    }
}

/// Names of Rust in the messages of a reader of TOML, and the value that a person writes.
const EXPECTED: [(&str, &str); 12] = [
    (
        "struct TrustedKey",
        "a table: write `[[keys]]` on a line of its own, as `relay trust add` does",
    ),
    ("struct Revoked", "a table: write `[revoked]` on a line of its own, then keys and digests"),
    ("struct", "a table: write its name in brackets on a line of its own, then its keys"),
    ("a sequence", "a list: write `[\"…\", \"…\"]`"),
    ("a map", "a table"),
    ("a nonzero", "a whole number from 1"),
    ("a boolean", "true or false"),
    ("a string", "a text in quotes"),
    ("a character", "a text in quotes"),
    ("path string", "a path in quotes"),
    ("socket address", "an address in quotes, such as \"127.0.0.1:8700\""),
    ("", "a whole number"),
];

/// The beginnings of messages about the syntax, and the same in words.
const SYNTAX: [(&str, &str); 6] = [
    ("invalid basic string", "the text is not closed on its line: end it with `\"`"),
    ("invalid literal string", "the text is not closed on its line: end it with `'`"),
    (
        "key with no value",
        "a line is `key = value`, with texts in quotes, or the name of a table in brackets, `[table]`",
    ),
    ("string values must be quoted", "a text is in quotes: `key = \"value\"`"),
    (
        "invalid boolean",
        "a text is in quotes: `key = \"value\"`; without them only true and false are values",
    ),
    ("missing value", "the value is missing: write `key = value`, with texts in quotes"),
];

/// Returns the fault that the message of a reader of `text` is about.
///
/// `tables` gives, for types of the caller, the beginning of their name in messages and the lines that
/// a person writes.
#[must_use]
pub fn of_message(
    text: &str,
    span: Option<Range<usize>>,
    message: &str,
    tables: &[(&str, &str)],
) -> TomlFault {
    let start = span.map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = place(text, start);
    TomlFault {
        line,
        column,
        message: foreign(text)
            .or_else(|| of_lists(text.get(line_begins..)?, message))
            .or_else(|| unquoted(text.get(line_begins..)?, message))
            .unwrap_or_else(|| in_words(message.trim_end(), key_before(before), tables)),
    }
}

/// Returns the line and the character, both from 1, at a byte of a text.
#[must_use]
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before.get(line_begins..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// Returns the key whose value goes on where `before` ends.
fn key_before(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next()?;
    // A list may go over several lines, and begins after the last `=`.
    let is_list =
        line.trim_start().starts_with(['"', '\'', '{', ']', '[']) || line.trim().is_empty();
    let assignment = if line.contains('=') {
        line
    } else {
        let open = before.rsplit('\n').skip(1).find(|line| line.contains('='))?;
        (is_list && open.trim_end().ends_with(['[', ','])).then_some(open)?
    };
    let key = assignment.rsplit_once('=')?.0;
    let key = key.rsplit(['{', ',']).next().unwrap_or(key).trim();
    (!key.is_empty()).then_some(key)
}

/// Returns the fault of a text in another language.
fn foreign(text: &str) -> Option<String> {
    let is_json = text.trim_start().starts_with('{');
    is_json.then(|| {
        "the file is JSON, and is read as TOML: write lines as `key = value`, and tables as `[name]` or `[[name]]`"
            .to_owned()
    })
}

/// Returns the fault of a table in single brackets in place of a list of tables; `line` is the text from its beginning
/// on.
fn of_lists(line: &str, message: &str) -> Option<String> {
    let is_list = message.starts_with("invalid type: map, expected a sequence")
        || message.starts_with("invalid type: map, expected [[");
    let name = line.lines().next()?.trim().strip_prefix('[')?.split(']').next()?;
    (is_list && !name.starts_with('[')).then(|| {
        format!(
            "`{name}` is a list of tables: write `[[{name}]]`, in double brackets, for each of them"
        )
    })
}

/// Returns the fault of a text without quotes; `line` is the text from its beginning on.
fn unquoted(line: &str, message: &str) -> Option<String> {
    let is_text = message.starts_with("invalid boolean")
        || message.starts_with("string values must be quoted");
    let (key, value) = line.lines().next().filter(|_| is_text)?.split_once('=')?;
    let (key, value) = (key.trim(), value.split(" #").next()?.trim());
    let is_plain = !value.is_empty() && !value.contains(['"', '\'', '\\', '[', '{', ',']);
    let keyword = ["true", "false"].into_iter().find(|it| value.eq_ignore_ascii_case(it));
    Some(match keyword {
        Some(keyword) => format!("`{key}`: write `{key} = {keyword}`, in small letters"),
        None if is_plain => format!("`{key}`: a text is in quotes: write `{key} = \"{value}\"`"),
        None => return None,
    })
}

/// Returns the fault of a word that is not one of the known ones.
fn unknown_word(word: &str, known: &[&str], key: Option<&str>) -> String {
    let fault = match key {
        Some(key) => format!("the text \"{word}\" does not fit `{key}`"),
        None => format!("the text \"{word}\" does not fit"),
    };
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("{fault}; did you mean \"{near}\"?"),
        None => {
            let known: Vec<String> = known.iter().map(|word| format!("\"{word}\"")).collect();
            format!("{fault}, which takes {}", known.join(", "))
        }
    }
}

/// Returns the remedy for a number in quotes, with the unit that the name of the key ends with.
fn number(key: &str, found: &str, expected: &str) -> Option<String> {
    if !expected.starts_with("a whole number") {
        return None;
    }
    let text = found.strip_prefix("the text \"")?.strip_suffix('"')?;
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let unit = text.get(digits.len()..).unwrap_or_default().trim();
    let (wanted, known): (_, &[&str]) = match key.trim_end_matches("-max").rsplit('-').next()? {
        "s" => (" seconds", &["", "s", "sec", "seconds"]),
        "ms" => (" milliseconds", &["", "ms"]),
        "min" => (" minutes", &["", "m", "min", "minutes"]),
        "bytes" => (" bytes", &["", "B", "bytes"]),
        _ => ("", &[""]),
    };
    if is_number && known.contains(&unit) {
        return Some(format!(
            ": write `{key} = {digits}`, without quotes{}",
            match wanted {
                "" => String::new(),
                wanted => format!(", for {digits}{wanted}"),
            }
        ));
    }
    Some(format!(
        ", in digits{}",
        if wanted.is_empty() { String::new() } else { format!(": the number of{wanted}") }
    ))
}

fn in_words(message: &str, key: Option<&str>, tables: &[(&str, &str)]) -> String {
    if let Some((found, expected)) = wrong_type(message, tables) {
        return match key {
            Some(key) => {
                let remedy = number(key, &found, expected).unwrap_or_default();
                format!("{found} does not fit `{key}`, which takes {expected}{remedy}")
            }
            None => format!("{found} does not fit: this key takes {expected}"),
        };
    }
    let mut names = message.split('`').skip(1).step_by(2);
    let field = names.next().unwrap_or_default();
    if message.starts_with("unknown field") {
        return unknown_key(field, &names.collect::<Vec<_>>());
    }
    if message.starts_with("unknown variant") {
        return unknown_word(field, &names.collect::<Vec<_>>(), key);
    }
    if message.starts_with("missing field") {
        return format!("the key `{field}` is missing");
    }
    let message = message.replace('\n', ", ");
    if let Some((_, words)) = SYNTAX.iter().find(|(start, _)| message.starts_with(start)) {
        return match key {
            Some(key) => format!("`{key}`: {words}"),
            None => (*words).to_owned(),
        };
    }
    match key.filter(|key| !message.contains(*key)) {
        Some(key) => format!("`{key}`: {message}"),
        None => message,
    }
}

fn unknown_key(name: &str, known: &[&str]) -> String {
    let begun = || known.iter().copied().filter(|known| name.starts_with(known)).max();
    match nearest(name, known.iter().copied()).or_else(begun) {
        Some(near) => format!("unknown key `{name}`; did you mean `{near}`?"),
        None if known.is_empty() => format!("unknown key `{name}`; no key belongs here"),
        None => format!("unknown key `{name}`; known keys: {}", known.join(", ")),
    }
}

/// Returns the found and the expected type in a message about the type of a value.
fn wrong_type<'t>(message: &str, tables: &[(&'t str, &'t str)]) -> Option<(String, &'t str)> {
    let (found, expected) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))?
        .split_once(", expected ")?;
    let is_number = ["u8", "u16", "u32", "u64", "usize", "i64"].contains(&expected);
    let (_, meant) = tables.iter().chain(&EXPECTED).find(|(rust, _)| match *rust {
        "" => is_number,
        rust => expected.starts_with(rust),
    })?;
    let found = [
        ("string ", "the text "),
        ("integer ", "the number "),
        ("floating point ", "the number "),
        ("boolean ", "the value "),
        ("sequence", "a list"),
        ("map", "a table"),
    ]
    .iter()
    .fold(found.to_owned(), |found, (rust, words)| found.replacen(rust, words, 1));
    Some((found, *meant))
}
