//! The values of words and strings. This is the only module that names the KDL parser.
//!
//! kdl 6.7 needs more than linear time for a whole document and exponential time for nested
//! slashdashes, and overflows the stack on nested braces. It is linear in one value, so it gets one
//! value at a time, and of these only those with rare escapes, odd lines or a fraction: it takes 3,500
//! instructions for each letter of a string.

use std::borrow::Cow;

use kdl::{KdlEntry, KdlValue};
use memchr::{memchr, memchr_iter, memmem};

use super::super::node::Scalar;
use super::token::is_allowed;
use crate::source::is_newline;
use relay_engine::nearest::nearest;

/// The fault of an invalid word or string, and the text to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invalid {
    pub(super) message: String,
    pub(super) help: Option<String>,
    /// The wrong bytes, if they are a part of it.
    pub(super) part: Option<(usize, usize)>,
}

impl Invalid {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()), part: None }
    }
}

/// Returns the value of a word or a string.
pub(super) fn decode(written: &str) -> Result<Scalar, Invalid> {
    match plain(written) {
        Some(scalar) => Ok(scalar),
        None => parsed(written),
    }
}

/// Returns the value of an identifier of ASCII, a short number, a string whose escapes are of one character each, or
/// a keyword: these are read without the KDL parser.
pub(super) fn plain(written: &str) -> Option<Scalar> {
    match written.as_bytes() {
        b"#true" => Some(Scalar::Boolean(true)),
        b"#false" => Some(Scalar::Boolean(false)),
        b"#null" => Some(Scalar::Null),
        [b'"', b'"', b'"', ..] => several_lines(written, "").map(Scalar::Text),
        [b'"', inner @ .., b'"'] => {
            let inner = std::str::from_utf8(inner).ok()?;
            is_one_line(inner).then(|| unescaped(inner))?.map(Scalar::Text)
        }
        [b'#', b'#' | b'"', ..] => {
            let quoted = written.trim_start_matches('#');
            let (hashes, _) = written.split_at(written.len() - quoted.len());
            if quoted.starts_with("\"\"\"") {
                return several_lines(quoted, hashes).map(Scalar::Text);
            }
            let inner = quoted.strip_prefix('"')?.strip_suffix(hashes)?.strip_suffix('"')?;
            let ends_before = memchr_iter(b'"', inner.as_bytes())
                .any(|quote| inner.get(quote + 1..).is_some_and(|rest| rest.starts_with(hashes)));
            (is_one_line(inner) && !ends_before).then(|| Scalar::Text(inner.to_owned()))
        }
        [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => {
            // A comma, or a colon at the end, may be misread.
            let plain = written.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
                && !written.ends_with(':')
                && keyword(written).is_none();
            plain.then(|| Scalar::Text(written.to_owned()))
        }
        [b'0'..=b'9', ..] if written.len() <= 18 && written.bytes().all(|b| b.is_ascii_digit()) => {
            written.parse().ok().map(Scalar::Integer)
        }
        _ => None,
    }
}

/// Returns whether the text between quotes is that of a string of one line.
fn is_one_line(inner: &str) -> bool {
    !inner.starts_with('"')
        && (inner.bytes().all(|byte| matches!(byte, b' '..=b'~'))
            || inner.chars().all(|c| !is_newline(c) && is_allowed(c)))
}

/// Returns the text of a string of several lines, each of which is empty or begins with the white space of the last
/// one and goes on (KDL 2, "Multi-line Strings"). `quoted` ends with the hashes of a raw string.
fn several_lines(quoted: &str, hashes: &str) -> Option<String> {
    let inner = quoted.strip_prefix("\"\"\"")?.strip_suffix(hashes)?.strip_suffix("\"\"\"")?;
    let inner = match memchr(b'\r', inner.as_bytes()) {
        Some(_) => Cow::Owned(inner.replace("\r\n", "\n")),
        None => Cow::Borrowed(inner),
    };
    let inner = inner.strip_prefix('\n')?;
    let (lines, indent) = inner.rsplit_once('\n')?;
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let is_written = inner.bytes().all(is_plain)
        || inner.chars().all(|c| c == '\n' || (!is_newline(c) && is_allowed(c)));
    let ends_before = memmem::find(inner.as_bytes(), b"\"\"\"").is_some();
    if !is_written || ends_before || !indent.bytes().all(|byte| matches!(byte, b' ' | b'\t')) {
        return None;
    }
    let mut text = String::with_capacity(lines.len());
    for (number, line) in lines.split('\n').enumerate() {
        text.push_str(if number > 0 { "\n" } else { "" });
        if !line.is_empty() {
            let line = line.strip_prefix(indent)?;
            text.push_str(Some(line).filter(|line| !line.trim_start().is_empty())?);
        }
    }
    match hashes.is_empty() && memchr(b'\\', text.as_bytes()).is_some() {
        true => unescaped(&text),
        false => Some(text),
    }
}

/// Returns the text of a string whose escapes are of one character each (KDL 2, "Escapes").
fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((before, escape)) = rest.split_once('\\') {
        let mut letters = escape.chars();
        text.push_str(before);
        text.push(match letters.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            's' => ' ',
            'b' => '\u{8}',
            'f' => '\u{c}',
            same @ ('\\' | '"') => same,
            'u' => {
                let (digits, after) = letters.as_str().strip_prefix('{')?.split_once('}')?;
                letters = after.chars();
                let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code =
                    u32::from_str_radix(digits, 16).ok().filter(|_| is_hex && digits.len() <= 6);
                char::from_u32(code?)?
            }
            _ => return None,
        });
        rest = letters.as_str();
    }
    text.push_str(rest);
    Some(text)
}

/// Returns the value that the KDL parser reads.
fn parsed(written: &str) -> Result<Scalar, Invalid> {
    if let Some(invalid) = keyword(written).or_else(|| misread(written)) {
        return Err(invalid);
    }
    match KdlEntry::parse(written) {
        Ok(entry) => Ok(match entry.value() {
            KdlValue::String(text) => Scalar::Text(text.clone()),
            KdlValue::Integer(number) => Scalar::Integer(*number),
            KdlValue::Float(_) => Scalar::Float(written.to_owned()),
            KdlValue::Bool(yes) => Scalar::Boolean(*yes),
            KdlValue::Null => Scalar::Null,
        }),
        Err(error) => Err(invalid(written, &error)),
    }
}

/// Reports a keyword that lacks its `#`.
fn keyword(written: &str) -> Option<Invalid> {
    matches!(written, "true" | "false" | "null" | "inf" | "-inf" | "nan").then(|| {
        Invalid::new(
            format!("the keyword `{written}` needs a `#`"),
            format!("write it as `#{written}`, or quote it: `\"{written}\"`"),
        )
    })
}

/// Reports valid words of KDL whose author meant something else.
fn misread(written: &str) -> Option<Invalid> {
    if written.starts_with('"') {
        return None;
    }
    if is_unknown_keyword(written) {
        return Some(unknown_keyword(written));
    }
    if written.starts_with('#') {
        return None;
    }
    if written.starts_with(['“', '”', '„', '‘', '’', '«', '»']) {
        return Some(Invalid::new(
            "typographic quotes quote nothing",
            "write texts in straight quotes: `\"…\"`",
        ));
    }
    if let Some(quote @ ('\'' | '`')) = written.chars().next() {
        let name = if quote == '`' { "backquotes" } else { "single quotes" };
        let word = written.trim_matches(quote);
        let rest = if written.len() > 1 && written.ends_with(quote) { "" } else { " …" };
        return Some(Invalid::new(
            format!("{name} quote nothing"),
            format!("write texts in double quotes: `\"{}{rest}\"`", start_of(word)),
        ));
    }
    if written.contains(',') {
        return Some(comma(written));
    }
    let word = written.strip_suffix(':').filter(|word| !word.is_empty())?;
    let identifier = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    identifier.then(|| {
        Invalid::new(
            format!("`{word}` has a colon after it"),
            format!("write a property as `{word}=value`, a node as `{word} value`; a name that ends in a colon needs quotes"),
        )
    })
}

/// Returns whether a word begins with a `#` and is not a keyword.
pub(super) fn is_unknown_keyword(written: &str) -> bool {
    let word = written.strip_prefix('#').unwrap_or_default();
    let is_keyword = matches!(word, "true" | "false" | "null" | "nan" | "inf" | "-inf");
    !is_keyword && !word.is_empty() && !word.trim_start_matches('#').starts_with('"')
}

/// Reports a `#` before a word that is not a keyword: another spelling of one, or a comment of other languages.
fn unknown_keyword(written: &str) -> Invalid {
    let word = written.trim_start_matches('#').to_ascii_lowercase();
    let keyword = match word.as_str() {
        "yes" | "on" | "t" => Some("true"),
        "no" | "off" | "f" => Some("false"),
        _ if written.contains(',') => return comma(written),
        _ => nearest(&word, ["true", "false", "null"]),
    };
    let help = match keyword {
        Some(keyword) => format!("write `#{keyword}`"),
        None => "comments begin with `//`; keywords are #true, #false and #null".to_owned(),
    };
    Invalid::new(format!("unknown keyword `{}`", start_of(written)), help)
}

/// Reports a comma outside of quotes. KDL takes it as a part of the word, so `a, b` would be the
/// words `a,` and `b`.
pub(super) fn comma(written: &str) -> Invalid {
    let keyword = |part| match part {
        "true" => "#true",
        "false" => "#false",
        _ => part,
    };
    let parts = written.split(',').filter(|part| !part.is_empty());
    let apart: Vec<&str> = parts.map(keyword).collect();
    let start = start_of(written);
    let instead = match apart.as_slice() {
        [] => "remove the comma".to_owned(),
        parts => format!("write `{}`", start_of(&parts.join(" "))),
    };
    if let [keyword @ ("#true" | "#false" | "#null")] = apart.as_slice() {
        return Invalid::new(
            "no comma separates values or properties",
            format!("write `{keyword}`, without a comma: spaces separate them"),
        );
    }
    Invalid::new(
        "no comma separates values or properties",
        format!("{instead}: spaces separate them; a text with a comma is in quotes, `\"{start}\"`"),
    )
}

fn invalid(written: &str, error: &kdl::KdlError) -> Invalid {
    let number = written.trim_start_matches(['-', '+']);
    if number.len() > 30 && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        return Invalid::new(
            "the number has too many digits",
            "no setting takes a number as large; quote it if it is a text",
        );
    }
    if number.starts_with(|first: char| first.is_ascii_digit()) {
        return Invalid::new(
            format!("`{}` is not a number", start_of(written)),
            "quote it if it is a text",
        );
    }
    if let Some(escape) = bad_escape(written) {
        return Invalid::new(
            format!("`\\{escape}` is no escape"),
            "the escapes are \\n \\r \\t \\s \\b \\f \\\\ \\\" and \\u{…}; a text in #\"…\"# has none",
        );
    }
    let many_lines = written.trim_start_matches('#').strip_prefix("\"\"\"");
    if many_lines.is_some_and(|text| !text.starts_with(is_newline)) {
        return Invalid::new(
            "a text in `\"\"\"` begins on the line after them",
            "write a text of one line as `\"…\"`; one of several lines begins below its `\"\"\"` and ends with a line of `\"\"\"` alone",
        );
    }
    if many_lines.is_some() {
        return indentation(written);
    }
    let Some(fault) = error.diagnostics.first() else {
        return Invalid { message: "this is not a value".to_owned(), help: None, part: None };
    };
    let message = fault.message.as_deref().or(fault.label.as_deref()).unwrap_or("not a value");
    Invalid {
        message: in_our_words(message),
        help: fault.help.as_deref().map(in_our_words),
        part: None,
    }
}

/// Reports the first line of a text that is indented unlike its last one.
fn indentation(written: &str) -> Invalid {
    let quotes = written.trim_end_matches('#');
    let hashes = written.len() - quotes.len();
    let last = quotes.rsplit(is_newline).next().unwrap_or_default();
    let indent = last.strip_suffix("\"\"\"").unwrap_or(last);
    let white = |text: &str| text.chars().all(char::is_whitespace);
    if !white(indent) {
        let end = written.len() - hashes;
        return Invalid {
            message: "the closing `\"\"\"` is not on a line of its own".to_owned(),
            help: Some(
                "write it on the next line; the white space before it is removed from each line"
                    .to_owned(),
            ),
            part: Some((end - last.len().min(end), end)),
        };
    }
    let mut end = 0;
    let lines = written.split_inclusive(is_newline).map(|line| {
        end += line.len();
        (end - line.len(), line)
    });
    let mut inner = lines.skip(1);
    let first = inner.find(|(_, line)| !white(line) && !line.starts_with(indent));
    let (start, line) = first.unwrap_or_default();
    let own = line.len() - line.trim_start().len();
    let (found, wanted) = (spelled(line.get(..own).unwrap_or_default()), spelled(indent));
    Invalid {
        message: "this line is not indented like the last line of its text".to_owned(),
        help: Some(format!(
            "begin it with {wanted}, as the line of the closing `\"\"\"` does; it begins with {found}"
        )),
        part: first.map(|_| (start, start + line.trim_end().len().max(1))),
    }
}

/// Returns white space in words: spaces and tabs look alike.
fn spelled(white: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = white.chars().peekable();
    while let Some(first) = rest.next() {
        let mut count = 1;
        while rest.next_if_eq(&first).is_some() {
            count += 1;
        }
        let name = match first {
            ' ' => "space",
            '\t' => "tab",
            _ => "other white space",
        };
        let plural = if count == 1 || name.starts_with('o') { "" } else { "s" };
        parts.push(format!("{count} {name}{plural}"));
    }
    match parts.is_empty() {
        true => "no white space".to_owned(),
        false => parts.join(" and "),
    }
}

/// Returns the first character after a `\` that makes an invalid escape.
fn bad_escape(written: &str) -> Option<char> {
    // A raw string has no escapes; it begins with a hash.
    let mut rest = written.strip_prefix('"')?.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            continue;
        }
        let after = rest.next()?;
        if !after.is_whitespace() && !"nrtsbf\\\"u".contains(after) {
            return Some(after);
        }
    }
    None
}

pub(super) fn start_of(written: &str) -> String {
    match written.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", written.get(..end).unwrap_or_default()),
        None => written.to_owned(),
    }
}

/// Returns a sentence of the parser as ours are written: no capital, no full stop.
fn in_our_words(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}
