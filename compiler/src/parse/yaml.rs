//! YAML documents that other programs own, as values with their lines.
//!
//! The reader is that of front matter: YAML 1.2, of limited depth, a repeated key is a fault. A value with
//! a name, which `*name` would copy, is one too: nothing that a stranger wrote grows while it is read.

use hashbrown::HashSet;
use serde_json::Number;
use thiserror::Error;

use super::front_matter::{Entry, Node, Value, YamlError, document, parts};

/// A value, and the line where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Yaml {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: YamlValue,
}

/// The value of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum YamlValue {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Yaml>),
    /// Keys with their values, in the order of the document.
    Map(Vec<(String, Yaml)>),
}

/// The fault of an invalid YAML document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct YamlFault {
    /// The line where the reader noticed, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Reads one document; JSON is YAML too.
///
/// # Errors
///
/// It is invalid YAML, nests too deep, repeats a key, or names a value to copy it.
pub fn yaml(text: &str) -> Result<Yaml, YamlFault> {
    let lines = Lines { starts: text.match_indices('\n').map(|(end, _)| end + 1).collect() };
    match document(text) {
        Ok(node) => lines.yaml(node),
        Err(YamlError { at, reason, .. }) => {
            Err(YamlFault { line: lines.of(at), reason: reason.into_owned() })
        }
    }
}

impl Yaml {
    /// Returns the value of a key, if this is a map that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        let entries = self.entries();
        entries.iter().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// Returns the keys with their values; empty unless this is a map.
    #[must_use]
    pub fn entries(&self) -> &[(String, Self)] {
        match &self.value {
            YamlValue::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the text, if this is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Where each line but the first begins.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) + 1
    }

    fn yaml(&self, Node { value, at }: Node) -> Result<Yaml, YamlFault> {
        let value = match value {
            Value::Null => YamlValue::Null,
            Value::Bool(value) => YamlValue::Bool(value),
            Value::Number(number) => YamlValue::Number(number),
            Value::Text(text) => YamlValue::Text(text),
            Value::List(nodes) => {
                let nodes = nodes.into_iter().map(|node| self.yaml(node));
                YamlValue::List(nodes.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => YamlValue::Map(self.entries(entries)?),
        };
        Ok(Yaml { line: self.of(at.start), value })
    }

    fn entries(&self, entries: Vec<Entry>) -> Result<Vec<(String, Yaml)>, YamlFault> {
        let mut seen = HashSet::new();
        let entry = |Entry { key, key_at, value }| {
            if !seen.insert(key.clone()) {
                let reason = format!("`{key}` is given twice");
                return Err(YamlFault { line: self.of(key_at.start), reason });
            }
            Ok((key, self.yaml(value)?))
        };
        entries.into_iter().map(entry).collect()
    }
}

/// Returns the front matter of a text that begins with one, and the text after it. The front matter
/// may be invalid YAML.
#[must_use]
pub fn front_matter(text: &str) -> Option<(&str, &str)> {
    let (yaml, body) = parts(text)?;
    Some((text.get(yaml)?, text.get(body..)?))
}
