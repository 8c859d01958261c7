//! `SKILL.md`: the front matter of an agent skill, as its specification defines it, and the text.
//!
//! The front matter is kept whole, with its keys in their order: hosts get it as its author wrote it.

use hashbrown::HashMap;
use relay_bundle::SharedText;
use serde_json::{Map, Value as Json};

use super::front_matter::{Entry, FrontMatter, Node, Reporter, Text, Value};
use super::markdown_prompt::{is_known_key, is_near_known_key, json, normal_lines};
use super::reading::{Kind, Reading};
use crate::alike::Alike;
use crate::ast::{FrontMatterRule, OnError};
use crate::source::{FileId, SourceFile, Span, Spanned};

/// The most characters of a name, a description and a compatibility (agentskills.io, "Specification").
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;
const COMPATIBILITY_CHARS_MAX: usize = 500;

/// The keys of the specification.
pub(crate) const KEYS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// A point in which front matter departs from the specification of agent skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Departure {
    NoFrontMatter,
    NoName,
    WrongName,
    OtherName,
    OtherNameInside,
    NoDescription,
    LongDescription,
    LongCompatibility,
    WrongType,
    UnknownKey,
    /// A key that is close to no known one: it is probably the author's own.
    OwnKey,
}

impl Departure {
    /// Returns the fault and its remedy, in words.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::NoFrontMatter => (
                "`SKILL.md` has no front matter",
                "begin it with a line `---`, the lines `name: …` and `description: …`, and a line `---`",
            ),
            Self::NoName => {
                ("the front matter has no `name`", "add the name of the folder: `name: …`")
            }
            Self::WrongName => (
                "the `name` is not one of an agent skill",
                "write 1 to 64 of `a`–`z`, `0`–`9` and single `-` between them",
            ),
            Self::OtherName => ("the `name` is not that of the folder", "give both the same name"),
            Self::OtherNameInside => (
                "the `name` of a skill inside another one is not that of its folder",
                "give both the same name",
            ),
            Self::NoDescription => (
                "the front matter has no `description`",
                "say what the skill does, and when to use it: `description: …`",
            ),
            Self::LongDescription => (
                "the `description` has over 1,024 characters",
                "shorten it: hosts send it with each conversation",
            ),
            Self::LongCompatibility => {
                ("the `compatibility` has over 500 characters", "shorten it")
            }
            Self::WrongType => (
                "a key has another type than the specification gives it",
                "`metadata` maps texts to texts; the others are one text each",
            ),
            Self::UnknownKey | Self::OwnKey => (
                "a key is not of the specification",
                "move it into `metadata`: some hosts refuse others",
            ),
        }
    }

    /// Returns whether it hides an agent skill from hosts: its entry lacks a name or a description.
    pub(crate) fn unlists(self) -> bool {
        match self {
            Self::NoFrontMatter
            | Self::NoName
            | Self::WrongName
            | Self::OtherNameInside
            | Self::NoDescription => true,
            Self::OtherName
            | Self::LongDescription
            | Self::LongCompatibility
            | Self::WrongType
            | Self::UnknownKey
            | Self::OwnKey => false,
        }
    }
}

/// The contents of a `SKILL.md`.
pub(crate) struct SkillFile {
    pub(crate) name: Option<Spanned<String>>,
    pub(crate) description: Option<Spanned<String>>,
    /// All of the front matter, with the keys in the order of the file.
    pub(crate) frontmatter: Map<String, Json>,
    /// The points in which it departs from the specification, with their places.
    pub(crate) departures: Vec<(Departure, Span)>,
    /// The text after the front matter, with LF line ends, otherwise unchanged.
    pub(crate) body: SharedText,
    /// The offset of the body in the file.
    pub(crate) body_start: usize,
}

/// Reads a `SKILL.md`. `None`: it is unusable, and the reason was reported. Slips of YAML are corrected
/// unless `is_strict`.
pub(crate) fn skill_file(
    file: FileId,
    source: &SourceFile,
    is_strict: bool,
    out: &mut Alike,
) -> Option<SkillFile> {
    let rule = FrontMatterRule::Optional;
    let on_error = if is_strict { OnError::Fail } else { OnError::Repair };
    let mut reporter = Reporter::new(Reading { kind: Kind::AgentSkill, rule, on_error }, out);
    let text = Text::decode(file, source, &mut reporter)?;
    let matter = FrontMatter::read(&text, rule, |key| KEYS.contains(&key), &mut reporter)?;
    if reporter.refused() {
        return None;
    }
    let mut reader = Reader { matter: &matter, is_strict, departures: Vec::new() };
    let (name, description) = reader.read();
    let departures = reader.departures;
    let body = text.text.part(matter.body..text.text.len());
    Some(SkillFile {
        name,
        description,
        frontmatter: in_order(&matter.entries),
        departures,
        body: normal_lines(body),
        body_start: text.offset(matter.body),
    })
}

/// Returns entries as a JSON object in their order, which the feature `preserve_order` of serde_json keeps.
fn in_order(entries: &[Entry]) -> Map<String, Json> {
    entries.iter().map(|entry| (entry.key.clone(), verbatim(&entry.value))).collect()
}

fn verbatim(node: &Node) -> Json {
    match &node.value {
        Value::Map(entries) => Json::Object(in_order(entries)),
        Value::List(nodes) => nodes.iter().map(verbatim).collect(),
        _ => json(node),
    }
}

/// Reads the keys, and notes departures.
struct Reader<'r> {
    matter: &'r FrontMatter<'r>,
    is_strict: bool,
    departures: Vec<(Departure, Span)>,
}

impl Reader<'_> {
    fn read(&mut self) -> (Option<Spanned<String>>, Option<Spanned<String>>) {
        let matter = self.matter;
        if matter.is_absent() {
            self.departures.push((Departure::NoFrontMatter, matter.opening));
            return (None, None);
        }
        let (mut texts, mut places) = (HashMap::new(), HashMap::new());
        for Entry { key, key_at, value } in &matter.entries {
            let key_at = matter.span(key_at);
            match key.as_str() {
                "metadata" => self.metadata(value),
                key if KEYS.contains(&key) => {
                    places.insert(key, matter.span(&value.at));
                    match text(value) {
                        Some(written) => {
                            let at = matter.span(&value.at);
                            texts.insert(key, Spanned { value: written.to_owned(), at });
                        }
                        // Below they count as missing.
                        None if ["name", "description"].contains(&key) => {}
                        None if matches!(value.value, Value::Null | Value::Text(_)) => {}
                        None => {
                            self.departures.push((Departure::WrongType, matter.span(&value.at)))
                        }
                    }
                }
                // Hosts that know a key of another program read it, and others ignore it.
                key if !self.is_strict && is_known_key(key) => {}
                key if self.is_strict || is_near_known_key(key) => {
                    self.departures.push((Departure::UnknownKey, key_at));
                }
                _ => self.departures.push((Departure::OwnKey, key_at)),
            }
        }
        let place = |key| places.get(key).copied().unwrap_or(matter.opening);
        let name = texts.remove("name");
        match &name {
            Some(name) if !is_name(&name.value) => {
                self.departures.push((Departure::WrongName, name.at));
            }
            Some(_) => {}
            None => self.departures.push((Departure::NoName, place("name"))),
        }
        let description = texts.remove("description");
        match &description {
            Some(text) => {
                self.limit(text, DESCRIPTION_CHARS_MAX, Departure::LongDescription);
            }
            None => self.departures.push((Departure::NoDescription, place("description"))),
        }
        if let Some(text) = texts.get("compatibility") {
            self.limit(text, COMPATIBILITY_CHARS_MAX, Departure::LongCompatibility);
        }
        (name, description)
    }

    fn metadata(&mut self, node: &Node) {
        let is_text = |entry: &Entry| matches!(entry.value.value, Value::Text(_));
        let is_right = match &node.value {
            Value::Null => true,
            Value::Map(entries) => entries.iter().all(is_text),
            _ => false,
        };
        if !is_right {
            self.departures.push((Departure::WrongType, self.matter.span(&node.at)));
        }
    }

    fn limit(&mut self, text: &Spanned<String>, max: usize, departure: Departure) {
        if text.value.chars().nth(max).is_some() {
            self.departures.push((departure, text.at));
        }
    }
}

/// Returns a text with words; `None` for another value.
fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
        _ => None,
    }
}

/// Returns whether a text is the name of an agent skill: 1 to 64 lower-case letters, digits and
/// single hyphens between them.
pub(crate) fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !part.is_empty() && part.bytes().all(is_letter)
    };
    name.len() <= NAME_CHARS_MAX && name.split('-').all(is_part)
}
