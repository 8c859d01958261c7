//! YAML 1.2 -> entries with their places.
//!
//! The parser gives events; this module builds the tree from them, because a deserializer hides the
//! exact range of every value and both places of a repeated key, and leaves the copies unlimited of
//! `*name`. Scalars have the types of the core schema of YAML 1.2
//! (<https://yaml.org/spec/1.2.2/#103-core-schema>): `yes` and `<<` are text.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle, Tag};
use hashbrown::HashMap;
use serde_json::Number;

/// The deepest nesting of lists and groups.
const DEPTH_MAX: usize = 32;
const TOO_DEEP: &str = "lists and groups nest too deep";

/// The most that all `*name` of a document may copy, in bytes of text and numbers of values. In a
/// document free of `*name`, the text of a document is at most as large as its file.
const COPIED_MAX: usize = 100_000;

/// A key and its value.
#[derive(Debug, Clone)]
pub(in crate::parse) struct Entry {
    pub(in crate::parse) key: String,
    pub(in crate::parse) key_at: Range<usize>,
    pub(in crate::parse) value: Node,
}

/// A value and its place in the text: a copied value is at its `*name`, and the values inside it
/// are at their first place.
#[derive(Debug, Clone)]
pub(in crate::parse) struct Node {
    pub(in crate::parse) value: Value,
    pub(in crate::parse) at: Range<usize>,
}

#[derive(Debug, Clone)]
pub(in crate::parse) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// The reason why a text is invalid YAML of front matter, and the place where the parser noticed.
#[derive(Debug)]
pub(in crate::parse) struct YamlError {
    pub(in crate::parse) at: usize,
    pub(in crate::parse) reason: Cow<'static, str>,
    pub(super) remedy: Remedy,
}

/// The remedy of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Corrects a slip: something else was meant, and is only written wrongly.
    Correct,
    /// Writes the same value in fewer levels.
    Shorten,
    /// Leaves one document.
    Join,
}

/// Parses the entries of a document. Keys may repeat; an empty document has none.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, YamlError> {
    match build(text)?.root {
        None | Some(Node { value: Value::Null, .. }) => Ok(Vec::new()),
        Some(Node { value: Value::Map(entries), .. }) => Ok(entries),
        Some(Node { at, .. }) => {
            Err(fault(at.start, "the front matter is not made of `key: value` lines"))
        }
    }
}

/// Parses a document that is free of `*name`. Keys may repeat; an empty document is null.
pub(in crate::parse) fn document(text: &str) -> Result<Node, YamlError> {
    let Builder { root, named, .. } = build(text)?;
    if let Some(start) = named.values().map(|node| node.at.start).min() {
        return Err(excess(start, "a value with a name (`&…`) has no meaning here"));
    }
    Ok(root.unwrap_or(Node { value: Value::Null, at: 0..0 }))
}

fn build(text: &str) -> Result<Builder, YamlError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| scan_fault(&error, text))?;
        let offset = |marker: Option<usize>| marker.unwrap_or(text.len());
        let range = offset(span.start.byte_offset())..offset(span.end.byte_offset());
        builder.event(event, range)?;
    }
    Ok(builder)
}

/// The tree so far.
#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    named: HashMap<usize, Node>,
    copied: usize,
}

/// An open list or group.
struct Open {
    /// Its nodes; in a group, keys and values in turn.
    nodes: Vec<Node>,
    is_map: bool,
    style: StructureStyle,
    start: usize,
    /// The number of its `&name`, else 0.
    anchor: usize,
}

impl Builder {
    fn event(&mut self, event: Event<'_>, at: Range<usize>) -> Result<(), YamlError> {
        match event {
            // The line that opens the front matter has begun the first document.
            Event::DocumentStart(explicit, _) if explicit || self.root.is_some() => {
                let reason = "a second YAML document begins here".into();
                Err(YamlError { at: at.start, reason, remedy: Remedy::Join })
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.scalar(&text, style, tag.as_deref(), &at)?;
                self.add(Node { value, at }, anchor);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => {
                refuse_tag(tag.as_deref(), "seq", &at)?;
                self.open(style, anchor, false, &at)
            }
            Event::MappingStart(style, anchor, tag) => {
                refuse_tag(tag.as_deref(), "map", &at)?;
                self.open(style, anchor, true, &at)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.close(at.end);
                Ok(())
            }
            Event::Alias(anchor) => self.copy(anchor, &at),
            _ => Ok(()),
        }
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        at: &Range<usize>,
    ) -> Result<Value, YamlError> {
        let tagged_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
        if !tagged_text {
            refuse_tag(tag, "str", at)?;
        }
        let plain = style == ScalarStyle::Plain && !tagged_text && !self.expects_key();
        Ok(if plain { plain_value(text) } else { Value::Text(text.into()) })
    }

    fn open(
        &mut self,
        style: StructureStyle,
        anchor: usize,
        is_map: bool,
        at: &Range<usize>,
    ) -> Result<(), YamlError> {
        if self.expects_key() {
            return Err(fault(at.start, "a key must be plain text"));
        }
        self.check_depth(1, at)?;
        self.open.push(Open { nodes: Vec::new(), is_map, style, start: at.start, anchor });
        Ok(())
    }

    fn close(&mut self, end: usize) {
        let Some(Open { nodes, is_map, style, start, anchor }) = self.open.pop() else { return };
        // Outside of brackets, the parser's end is at the next token, which may be lines further
        // down.
        let end = match style {
            StructureStyle::Flow => end,
            StructureStyle::Block => nodes.last().map_or(start, |node| node.at.end).max(start),
        };
        let value = if is_map { Value::Map(entries(nodes)) } else { Value::List(nodes) };
        self.add(Node { value, at: start..end }, anchor);
    }

    fn copy(&mut self, anchor: usize, at: &Range<usize>) -> Result<(), YamlError> {
        let Some(node) = self.named.get(&anchor) else {
            return Err(excess(at.start, "`*` is inside what it repeats"));
        };
        let (weight, depth) = measure(node);
        let node = Node { value: node.value.clone(), at: at.clone() };
        self.copied += weight;
        if self.copied > COPIED_MAX {
            return Err(excess(at.start, "what `*` repeats is too much in all"));
        }
        self.check_depth(depth, at)?;
        if self.expects_key() && !matches!(node.value, Value::Text(_)) {
            return Err(fault(at.start, "a key must be plain text"));
        }
        self.add(node, 0);
        Ok(())
    }

    fn add(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.named.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            Some(parent) => parent.nodes.push(node),
            None => self.root = Some(node),
        }
    }

    fn expects_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_map && open.nodes.len().is_multiple_of(2))
    }

    fn check_depth(&self, more: usize, at: &Range<usize>) -> Result<(), YamlError> {
        if self.open.len() + more > DEPTH_MAX {
            return Err(excess(at.start, TOO_DEEP));
        }
        Ok(())
    }
}

fn entries(nodes: Vec<Node>) -> Vec<Entry> {
    let mut nodes = nodes.into_iter();
    let mut entries = Vec::with_capacity(nodes.len() / 2);
    while let (Some(key), Some(value)) = (nodes.next(), nodes.next()) {
        // INVARIANT: a node in the place of a key is text; `scalar`, `open` and `copy` reject
        // others.
        if let Node { value: Value::Text(text), at } = key {
            entries.push(Entry { key: text, key_at: at, value });
        }
    }
    entries
}

/// Returns the size of a value (its values and the bytes of its text) and its depth.
fn measure(node: &Node) -> (usize, usize) {
    let join = |(weight, depth): (usize, usize), inner: (usize, usize)| {
        (weight + inner.0, depth.max(inner.1 + 1))
    };
    match &node.value {
        Value::Null | Value::Bool(_) | Value::Number(_) => (1, 0),
        Value::Text(text) => (1 + text.len(), 0),
        Value::List(nodes) => nodes.iter().map(measure).fold((1, 1), join),
        Value::Map(entries) => entries
            .iter()
            .map(|Entry { key, key_at: _, value }| {
                let (weight, depth) = measure(value);
                (weight + 1 + key.len(), depth)
            })
            .fold((1, 1), join),
    }
}

/// Returns the value of an unquoted scalar. A number beyond those of JSON stays text.
fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::Text(text.into()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    // Most values are words: the first byte decides.
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    let based = |digits: &str, base| {
        // `from_str_radix` would take a sign.
        let signed = digits.starts_with(['+', '-']);
        u64::from_str_radix(digits, base).ok().filter(|_| !signed).map(Number::from)
    };
    if let Some(digits) = text.strip_prefix("0o") {
        return based(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return based(digits, 16);
    }
    if let Ok(number) = text.parse::<i64>() {
        return Some(number.into());
    }
    if let Ok(number) = text.parse::<u64>() {
        return Some(number.into());
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_float = digits.contains(['.', 'e', 'E'])
        && digits.contains(|letter: char| letter.is_ascii_digit())
        && digits.chars().all(|letter| letter.is_ascii_digit() || ".eE+-".contains(letter));
    is_float.then(|| text.parse::<f64>().ok())?.and_then(Number::from_f64)
}

fn refuse_tag(tag: Option<&Tag>, allowed: &str, at: &Range<usize>) -> Result<(), YamlError> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(allowed) => {
            Err(fault(at.start, "a value with a tag (`!…`) has no meaning here"))
        }
        _ => Ok(()),
    }
}

fn scan_fault(error: &ScanError, text: &str) -> YamlError {
    let at = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
    match error.kind() {
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation => {
            fault(at, "a tab is where YAML needs spaces")
        }
        ErrorKind::UnknownAnchor => fault(at, "`*` repeats a value that no `&` has named"),
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => {
            let code = u32::from(*character);
            fault(at, format!("the control character U+{code:04X} is not allowed here"))
        }
        ErrorKind::UnexpectedCharacter { character } => {
            fault(at, format!("`{character}` is not allowed here"))
        }
        ErrorKind::RecursionLimitExceeded => excess(at, TOO_DEEP),
        kind => fault(at, format!("not valid YAML: {kind}")),
    }
}

fn fault(at: usize, reason: impl Into<Cow<'static, str>>) -> YamlError {
    YamlError { at, reason: reason.into(), remedy: Remedy::Correct }
}

/// Returns the fault of a valid document that exceeds a limit.
fn excess(at: usize, reason: &'static str) -> YamlError {
    YamlError { at, reason: reason.into(), remedy: Remedy::Shorten }
}
