//! Values beside the name of a secret that are harmless: references, placeholders and plain words.

use super::mark::{MARKER, PLAIN_BYTES_MAX};

/// Values that say something about a secret: the types and states that configurations, code and
/// messages give it.
const WORDS: &[&str] = &[
    "-",
    "0",
    "any",
    "bool",
    "boolean",
    "bytes",
    "compat",
    "default",
    "disabled",
    "empty",
    "enabled",
    "expired",
    "false",
    "files",
    "hidden",
    "inherit",
    "int",
    "integer",
    "invalid",
    "masked",
    "missing",
    "n/a",
    "never",
    "nil",
    "no",
    "none",
    "null",
    "number",
    "object",
    "off",
    "ok",
    "omitted",
    "on",
    "optional",
    "redacted",
    "removed",
    "required",
    "rotated",
    "secretstr",
    "set",
    "str",
    "&str",
    "string",
    "todo",
    "true",
    "undefined",
    "unknown",
    "unset",
    "valid",
    "yes",
];

/// Words that begin a sentence or go on with one: `password: see the vault`.
const PROSE: &[&str] = &[
    "a",
    "an",
    "and",
    "are",
    "as",
    "ask",
    "at",
    "authentication",
    "be",
    "but",
    "by",
    "can",
    "cannot",
    "command",
    "could",
    "do",
    "does",
    "edit",
    "enter",
    "failed",
    "field",
    "file",
    "flag",
    "flags",
    "for",
    "from",
    "has",
    "have",
    "if",
    "in",
    "incorrect",
    "into",
    "is",
    "it",
    "its",
    "may",
    "minimum",
    "must",
    "not",
    "of",
    "only",
    "option",
    "options",
    "or",
    "parameter",
    "please",
    "read",
    "reset",
    "rotate",
    "see",
    "should",
    "show",
    "stored",
    "that",
    "the",
    "there",
    "this",
    "to",
    "unexpected",
    "use",
    "used",
    "value",
    "via",
    "was",
    "we",
    "when",
    "where",
    "which",
    "will",
    "with",
    "you",
    "your",
];

/// Beginnings of expressions that read a secret from where it is kept.
const EXPRESSIONS: &[&str] = &[
    "args.",
    "config.",
    "env.",
    "env!(",
    "getenv(",
    "getpass(",
    "getpass.",
    "input(",
    "local.",
    "op://",
    "options.",
    "opts.",
    "os.environ",
    "os.getenv",
    "process.env",
    "secrets.",
    "self.",
    "settings.",
    "std::env",
    "system.getenv",
    "this.",
    "var.",
    "vault.",
];

/// Endings of files that hold keys.
const KEY_FILES: &[&str] =
    &[".cer", ".crt", ".json", ".key", ".p12", ".pem", ".pfx", ".ppk", ".pub", ".txt"];

/// The quoting of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// The value is bare.
    Bare,
    /// A shell replaces variables in the value.
    Double,
    /// The value is literal.
    Single,
}

/// Returns whether a value is harmless in each place: the mark itself, a placeholder, a reference
/// to a variable, or a word such as `none`.
pub(super) fn is_plain(value: &[u8], quoting: Quoting) -> bool {
    let value = if quoting == Quoting::Bare { without_line_end(value) } else { value };
    let Some(lower) = lower(value) else { return false };
    value == MARKER.as_bytes()
        || WORDS.contains(&&*lower)
        || is_reference(value, quoting)
        || is_placeholder(value, quoting)
        || (quoting == Quoting::Bare
            && EXPRESSIONS.iter().any(|beginning| lower.starts_with(beginning)))
}

/// Returns whether a bare word goes on with a sentence.
pub(super) fn is_prose(value: &[u8]) -> bool {
    let word = value.strip_suffix(b".").or_else(|| value.strip_suffix(b"?")).unwrap_or(value);
    lower(word).is_some_and(|lower| PROSE.contains(&&*lower))
}

/// Returns whether a value is the path of a file that holds a key.
pub(super) fn is_key_file(value: &[u8]) -> bool {
    let Some(lower) = lower(value) else { return false };
    let is_path = ["~/", "./", "../"].iter().any(|start| lower.starts_with(start));
    is_path
        || lower.contains("/.ssh/")
        || KEY_FILES.iter().any(|ending| lower.len() > ending.len() && lower.ends_with(ending))
}

/// Returns whether a value is a reference that a shell or a template replaces.
pub(super) fn is_reference(value: &[u8], quoting: Quoting) -> bool {
    let is_identifier = |name: &[u8]| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let is_upper = |name: &[u8]| is_identifier(name) && !name.iter().any(u8::is_ascii_lowercase);
    let is_within = |open: &[u8], close: &[u8]| {
        value.len() >= open.len() + close.len()
            && value.starts_with(open)
            && value.ends_with(close)
            && memchr::memchr(b'\n', value).is_none()
    };
    if value.len() > PLAIN_BYTES_MAX {
        return false;
    }
    if is_within(b"{{", b"}}") || is_within(b"${{", b"}}") || is_format(value) {
        return true;
    }
    let is_input = |name: &[u8]| {
        let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let name = name.strip_prefix(b"env:").or_else(|| name.strip_prefix(b"input:"));
        name.is_some_and(|name| !name.is_empty() && name.iter().all(is_in))
    };
    if is_within(b"${", b"}") && is_input(value.get(2..value.len() - 1).unwrap_or_default()) {
        return true;
    }
    let Some(rest) = value.strip_prefix(b"$") else {
        let name = value.strip_prefix(b"%").and_then(|rest| rest.strip_suffix(b"%"));
        return name.is_some_and(is_identifier);
    };
    let rest = rest.strip_prefix(b"env:").unwrap_or(rest);
    let braced = rest.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    match (braced.unwrap_or(rest), quoting) {
        (name, Quoting::Single) => is_upper(name),
        (b"@" | b"*" | b"?" | b"!", _) => true,
        (name, _) => is_identifier(name),
    }
}

/// Returns whether a value is a place of a format: `%s`, `{}`, `{token}`, `#{token}`.
fn is_format(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"#").unwrap_or(value);
    let braced = value.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    let is_in = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    matches!(value, b"%s" | b"%v" | b"%q" | b"%d")
        || braced.is_some_and(|name| name.iter().all(is_in))
}

/// Returns whether a value only marks a place: `<password>`, `****`, `xxxx`, `…`.
fn is_placeholder(value: &[u8], quoting: Quoting) -> bool {
    let is_filler = |byte: &u8| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'_' | b'-' | b'?');
    let first = value.first();
    let is_filled = value.len() >= 3
        && first.is_some_and(is_filler)
        && value.iter().all(|byte| Some(byte) == first);
    let is_angled = value.starts_with(b"<")
        && match quoting {
            // A shell reads `<` as a redirection, so the value is empty or a placeholder.
            Quoting::Bare => true,
            _ => {
                value.ends_with(b">")
                    && memchr::memchr(b'<', value.get(1..).unwrap_or_default()).is_none()
            }
        };
    is_filled || is_angled || value == "…".as_bytes()
}

/// Returns a value without the escaped line end of a format: `$TOKEN\n`.
fn without_line_end(value: &[u8]) -> &[u8] {
    let Some(before) = value.strip_suffix(b"n").or_else(|| value.strip_suffix(b"r")) else {
        return value;
    };
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    if slashes == 0 { value } else { before.get(..before.len() - slashes).unwrap_or(value) }
}

fn lower(value: &[u8]) -> Option<String> {
    if value.len() > PLAIN_BYTES_MAX {
        return None;
    }
    std::str::from_utf8(value).ok().map(str::to_ascii_lowercase)
}
