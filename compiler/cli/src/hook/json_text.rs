//! The text of a JSON file with the places of its values, and edits that leave the rest as it is.
//!
//! Files of clients belong to people: their layout, order and comments stay. So an edit replaces a few
//! bytes, in the style that the file has, instead of writing the file anew.

use std::ops::Range;

use serde_json::{Map, Value};

/// The deepest nesting that is read.
const DEPTH_MAX: usize = 64;

/// A value and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) place: Range<usize>,
    pub(super) kind: Kind,
}

/// A value that edits can go into, or any other.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Other(Value),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    /// The place of the key.
    pub(super) key_at: Range<usize>,
    pub(super) value: Node,
}

/// The reason for refusing a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct JsonError {
    line: usize,
    reason: String,
}

impl JsonError {
    /// Returns an error at a place of a text.
    pub(super) fn at(text: &str, at: usize, reason: &str) -> Self {
        let before = text.get(..at).unwrap_or_default();
        Self { line: before.matches('\n').count() + 1, reason: reason.to_owned() }
    }
}

impl Node {
    /// Returns the member of an object.
    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|member| member.key == key),
            Kind::Array(_) | Kind::Other(_) => None,
        }
    }

    /// Returns the value at a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| Some(&node.member(key)?.value))
    }

    /// Returns the members of an object.
    pub(super) fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            Kind::Array(_) | Kind::Other(_) => &[],
        }
    }

    /// Returns the items of an array.
    pub(super) fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(items) => items,
            Kind::Object(_) | Kind::Other(_) => &[],
        }
    }

    /// Returns the value alone.
    pub(super) fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => Value::Object(Map::from_iter(
                members.iter().map(|member| (member.key.clone(), member.value.value())),
            )),
            Kind::Array(items) => Value::Array(items.iter().map(Self::value).collect()),
            Kind::Other(value) => value.clone(),
        }
    }

    /// Returns the places of the parts of a container, keys included.
    fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| member.key_at.start..member.value.place.end).collect()
            }
            Kind::Array(items) => items.iter().map(|item| item.place.clone()).collect(),
            Kind::Other(_) => Vec::new(),
        }
    }
}

/// Reads a text. Comments and trailing commas are read only for clients that read them.
///
/// # Errors
///
/// It is other than JSON, or an object has a key twice: clients differ in which of them counts.
pub(super) fn parse(text: &str, comments: bool) -> Result<Node, JsonError> {
    let mut reader = Reader { text, at: 0, comments };
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.fault("there is text after the value"));
    }
    Ok(node)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comments: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, reason: impl Into<String>) -> JsonError {
        JsonError::at(self.text, self.at, &reason.into())
    }

    /// Skips blanks and comments.
    fn blank(&mut self) -> Result<(), JsonError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - trimmed.len();
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").ok_or_else(|| self.fault("the comment does not end"))? + 2
            } else {
                return Ok(());
            };
            if !self.comments {
                return Err(self.fault("this client reads no comments"));
            }
            self.at += length;
        }
    }

    fn takes(&mut self, letter: char) -> bool {
        let is_next = self.rest().starts_with(letter);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth > DEPTH_MAX {
            return Err(self.fault(format!("it is nested more than {DEPTH_MAX} deep")));
        }
        self.blank()?;
        let start = self.at;
        let kind = if self.takes('{') {
            Kind::Object(self.members(depth)?)
        } else if self.takes('[') {
            Kind::Array(self.items(depth)?)
        } else {
            Kind::Other(self.other()?)
        };
        Ok(Node { place: start..self.at, kind })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, JsonError> {
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.blank()?;
            if self.ends('}', members.is_empty()) {
                return Ok(members);
            }
            let start = self.at;
            let Value::String(key) = self.other()? else {
                self.at = start;
                return Err(self.fault("a key in double quotes is missing"));
            };
            let key_at = start..self.at;
            if members.iter().any(|member| member.key == key) {
                return Err(self.fault(format!("the key `{key}` is there twice")));
            }
            self.blank()?;
            if !self.takes(':') {
                return Err(self.fault("a `:` is missing"));
            }
            let value = self.value(depth + 1)?;
            members.push(Member { key, key_at, value });
            self.blank()?;
            if !self.takes(',') && !self.rest().starts_with('}') {
                return Err(self.fault("a `,` or `}` is missing"));
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, JsonError> {
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.ends(']', items.is_empty()) {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            if !self.takes(',') && !self.rest().starts_with(']') {
                return Err(self.fault("a `,` or `]` is missing"));
            }
        }
    }

    /// Takes the end of a container, which may follow a comma only where comments are read.
    fn ends(&mut self, letter: char, is_empty: bool) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default().trim_end();
        let follows_comma = !is_empty && before.ends_with(',');
        (self.comments || !follows_comma) && self.takes(letter)
    }

    fn other(&mut self) -> Result<Value, JsonError> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
        match values.next() {
            Some(Ok(value @ (Value::Object(_) | Value::Array(_)))) => {
                // INVARIANT: the callers take `{` and `[` first.
                Err(self.fault(format!("unexpected `{value}`")))
            }
            Some(Ok(value)) => {
                let length = values.byte_offset();
                self.at += length;
                Ok(value)
            }
            Some(Err(_)) | None => Err(self.fault("a value is missing or not valid")),
        }
    }
}

/// A part to put into a container.
pub(super) enum NewPart<'p> {
    Member(&'p str, &'p Value),
    Item(&'p Value),
}

/// Returns the text with a part at the end of a container.
pub(super) fn with_part(text: &str, container: &Node, part: &NewPart<'_>) -> String {
    let style = Style::of(text);
    let parts = container.parts();
    let outer = indent_at(text, container.place.start);
    let close = container.place.end.saturating_sub(1);
    let inside = text.get(container.place.start + 1..close).unwrap_or_default();
    if let Some(last) = parts.last().filter(|_| !inside.contains('\n')) {
        // A container on one line stays on it.
        let comma =
            if text.get(last.end..close).unwrap_or_default().contains(',') { " " } else { ", " };
        return replaced(text, last.end..last.end, &format!("{comma}{}", part.on_one_line()));
    }
    let inner = match parts.first() {
        Some(first) => indent_at(text, first.start),
        None => format!("{outer}{}", style.unit),
    };
    let new = part.laid_out(&inner, &style);
    let (line, end) = (style.line_end, content_end(text, container));
    let after = format!("{line}{inner}{new}{line}{outer}");
    let mut text = replaced(text, end..close, &after);
    if let Some(last) = parts.last() {
        let rest = text.get(last.end..end).unwrap_or_default();
        if !has_comma(rest) {
            text.insert(last.end, ',');
        }
    }
    text
}

/// Returns the text with another value in a place; its lines are indented like the first.
pub(super) fn with_value(text: &str, place: &Range<usize>, value: &Value) -> String {
    let style = Style::of(text);
    let new = laid_out(value, &indent_at(text, place.start), &style);
    replaced(text, place.clone(), &new)
}

/// Returns the text without a part of a container, and without the comma that parted it.
pub(super) fn without_part(text: &str, container: &Node, number: usize) -> String {
    let parts = container.parts();
    let Some(part) = parts.get(number) else { return text.to_owned() };
    let close = container.place.end.saturating_sub(1);
    let next = parts.get(number + 1).map_or(close, |next| next.start);
    let comma = comma_at(text.get(part.end..next).unwrap_or_default());
    let place = with_its_line(text, part.start..part.end + comma.map_or(0, |comma| comma + 1));
    let is_blank = |place: Range<usize>| text.get(place).is_some_and(|text| text.trim().is_empty());
    let open = container.place.start + 1;
    if is_blank(open..place.start) && is_blank(place.end..close) {
        return replaced(text, open..close, "");
    }
    let without = replaced(text, place, "");
    // The last part takes the comma before it along.
    match number.checked_sub(1).and_then(|before| parts.get(before)) {
        Some(before) if comma.is_none() => {
            let between = text.get(before.end..part.start).unwrap_or_default();
            match comma_at(between) {
                Some(comma) => {
                    let at = before.end + comma;
                    replaced(&without, at..at + 1, "")
                }
                None => without,
            }
        }
        _ => without,
    }
}

/// Returns a place with all of its lines, if nothing else is on them; else with the blanks before it.
fn with_its_line(text: &str, place: Range<usize>) -> Range<usize> {
    let before = text.get(..place.start).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(after.len(), |end| end + 1);
    let is_blank = |text: Option<&str>| text.is_some_and(|text| text.trim().is_empty());
    if is_blank(before.get(line..)) && is_blank(after.get(..end)) {
        return line..place.end + end;
    }
    before.trim_end_matches([' ', '\t']).len()..place.end
}

impl NewPart<'_> {
    fn on_one_line(&self) -> String {
        match self {
            Self::Member(key, value) => format!("{}: {value}", Value::from(*key)),
            Self::Item(value) => value.to_string(),
        }
    }

    fn laid_out(&self, indent: &str, style: &Style) -> String {
        match self {
            Self::Member(key, value) => {
                format!("{}: {}", Value::from(*key), laid_out(value, indent, style))
            }
            Self::Item(value) => laid_out(value, indent, style),
        }
    }
}

/// The layout of a file.
struct Style {
    unit: String,
    line_end: &'static str,
}

impl Style {
    fn of(text: &str) -> Self {
        let indents = text.lines().map(indent_of).filter(|indent| !indent.is_empty());
        let unit = indents.min_by_key(|indent| indent.len()).unwrap_or("  ").to_owned();
        Self { unit, line_end: if text.contains("\r\n") { "\r\n" } else { "\n" } }
    }
}

fn laid_out(value: &Value, indent: &str, style: &Style) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(style.unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // A value in memory has text keys and finite numbers, and so is always written.
    _ = serde::Serialize::serialize(value, &mut writer);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.replace('\n', &format!("{}{indent}", style.line_end))
}

fn indent_of(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// Returns the indentation of the line of a place.
fn indent_at(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    indent_of(text.get(line..).unwrap_or_default()).to_owned()
}

/// Returns the end of all that a container holds, comments included.
fn content_end(text: &str, container: &Node) -> usize {
    let close = container.place.end.saturating_sub(1);
    let inside = text.get(container.place.start + 1..close).unwrap_or_default();
    container.place.start + 1 + inside.trim_end_matches([' ', '\t', '\r', '\n']).len()
}

fn has_comma(text: &str) -> bool {
    comma_at(text).is_some()
}

/// Returns the place of the comma in a text of blanks and comments.
fn comma_at(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with(',') {
            return Some(at);
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
    }
    None
}

fn replaced(text: &str, place: Range<usize>, with: &str) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    format!("{before}{with}{after}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn push(text: &str, path: &[&str], part: &NewPart<'_>) -> String {
        let root = parse(text, true).expect("it is JSON");
        let container = root.at(path).expect("it is there");
        let new = with_part(text, container, part);
        parse(&new, true).unwrap_or_else(|error| panic!("{error}\n{new}"));
        new
    }

    #[test]
    fn a_part_is_added_in_the_style_of_the_file() {
        let value = json!({"x": [1]});
        let part = NewPart::Member("b", &value);
        assert_eq!(push("{}", &[], &part), "{\n  \"b\": {\n    \"x\": [\n      1\n    ]\n  }\n}");
        assert_eq!(push("{\"a\": 1}\n", &[], &part), "{\"a\": 1, \"b\": {\"x\":[1]}}\n");
        assert_eq!(
            push("{\n\t\"a\": 1 // one\n\t// end\n}\n", &[], &NewPart::Member("b", &json!(2))),
            "{\n\t\"a\": 1, // one\n\t// end\n\t\"b\": 2\n}\n"
        );
        assert_eq!(
            push(
                "{\r\n    \"a\": [\r\n        1,\r\n    ]\r\n}",
                &["a"],
                &NewPart::Item(&json!(2))
            ),
            "{\r\n    \"a\": [\r\n        1,\r\n        2\r\n    ]\r\n}"
        );
        assert_eq!(push("[ /* none */ ]", &[], &NewPart::Item(&json!(2))), "[ /* none */\n  2\n]");
    }

    #[test]
    fn a_part_is_removed_with_its_comma() {
        let remove = |text: &str, number| {
            let root = parse(text, true).expect("it is JSON");
            let new = without_part(text, &root, number);
            parse(&new, true).unwrap_or_else(|error| panic!("{error}\n{new}"));
            new
        };
        let text = "[\n  1, // one\n  2, /* , */\n  3\n]";
        assert_eq!(remove(text, 0), "[\n // one\n  2, /* , */\n  3\n]");
        assert_eq!(remove(text, 1), "[\n  1, // one\n /* , */\n  3\n]");
        assert_eq!(remove(text, 2), "[\n  1, // one\n  2 /* , */\n]");
        assert_eq!(remove("[\n  1, // one\n  2, 3\n]", 1), "[\n  1, // one\n 3\n]");
        assert_eq!(remove("[1, 2, 3]", 1), "[1, 3]");
        assert_eq!(remove("[1, 2]", 1), "[1]");
        assert_eq!(remove("[1]", 0), "[]");
        assert_eq!(remove("[\n  1\n]", 0), "[]");
    }

    #[test]
    fn what_was_added_can_be_removed() {
        for text in
            ["{\n  \"a\": 1\n}\n", "{\"a\": 1}", "{\n  \"a\": 1 // x\n}", "{\n  \"a\": 1,\n}"]
        {
            let added = push(text, &[], &NewPart::Member("b", &json!([1, {"c": 2}])));
            let root = parse(&added, true).expect("it is JSON");
            let back = without_part(&added, &root, 1);
            let value = |text: &str| parse(text, true).expect("it is JSON").value();
            assert_eq!(value(&back), value(text), "{back}");
        }
    }

    #[test]
    fn doubtful_texts_are_refused() {
        for text in [
            "",
            "{",
            "{\"a\":1,\"a\":2}",
            "{} x",
            "{a:1}",
            "[1,,2]",
            "[1 2]",
            "{\"a\":1,}",
            "// c\n{}",
        ] {
            assert!(parse(text, false).is_err(), "{text}");
        }
        let error = parse("{\n\n  \"a\" 1}", false).expect_err("no colon");
        assert_eq!(error.to_string(), "line 3: a `:` is missing");
        assert!(parse(&"[".repeat(100), false).is_err());
        assert!(parse("[1,2,/* c */]", true).is_ok());
    }
}
