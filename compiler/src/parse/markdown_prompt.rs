//! Prompts from markdown files: front matter and body.
//!
//! A file of a `commands` folder is made for other programs as well, so keys unknown to relay are
//! kept. A file of a `folder` is the project's own, so unknown keys are errors. The default of
//! `summary` and `chapters` is decided later.

mod client_keys;
mod client_tools;

use std::collections::BTreeMap;
use std::fmt;

use memchr::{memchr, memmem};
use miette::Diagnostic;
use relay_bundle::{Segment, SharedText};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::front_matter::{Entry, FrontMatter, Node, Reporter, Text, Value, quoted};
use super::node::SeveralLines;
use super::reading::{Kind, Reading};
use crate::alike::Alike;
use crate::ast::FrontMatterRule;
use crate::diagnostic::{Edit, Fixable};
use crate::grammar::Numbers;
use crate::language::prompt::PROMPT;
use crate::source::{FileId, SourceFile, Span, Spanned, is_newline};
use relay_engine::nearest::nearest;

pub(crate) use client_keys::{CLIENTS, Client};
pub(crate) use client_tools::{CLIENT_TOOLS, ClientTools};

/// The placeholder of the argument in a body.
const ARGUMENTS: &str = "$ARGUMENTS";

/// A key of front matter.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The values that it takes.
    pub(crate) value: KeyValue,
    /// Its purpose, in one line.
    pub(crate) meaning: &'static str,
}

/// The values of a key.
pub(crate) enum KeyValue {
    /// For people, in words.
    Words(&'static str),
    /// The values of the row of `prompt` with the key's name.
    OfPrompt,
}

const DESCRIPTION: Key = Key {
    name: "description",
    value: KeyValue::Words("text"),
    meaning: "What clients show in their list of prompts. Without it, the first sentence of the text, unless `front-matter=required`.",
};
const TITLE: Key =
    Key { name: "title", value: KeyValue::Words("text"), meaning: "The name that clients show." };

/// The keys of the project's own prompts.
pub(crate) const FOLDER_KEYS: &[Key] = &[
    DESCRIPTION,
    TITLE,
    Key {
        name: "priority",
        value: KeyValue::OfPrompt,
        meaning: "As the `priority` of a `prompt`.",
    },
    Key {
        name: "briefing",
        value: KeyValue::Words("boolean"),
        meaning: "As the `briefing` of a `prompt`.",
    },
    Key {
        name: "summary",
        value: KeyValue::Words("text"),
        meaning: "What it is about; without it, the description, or the first sentence of the text.",
    },
    Key {
        name: "chapters",
        value: KeyValue::Words("list of texts"),
        meaning: "Its parts; without it, the headings of the text.",
    },
];

/// The keys of a command with a meaning in relay.
pub(crate) const COMMAND_KEYS: &[Key] = &[
    DESCRIPTION,
    TITLE,
    Key {
        name: "argument-hint",
        value: KeyValue::Words("text"),
        meaning: "Describes the argument `arguments`; `[feature]` is a word in brackets.",
    },
    Key {
        name: "handoffs",
        value: KeyValue::Words("list"),
        meaning: "Checked, and kept as it is: each has a `label` and an `agent`, perhaps a `prompt` and `send`.",
    },
];

/// The contents of a markdown file.
#[derive(Debug)]
pub(crate) struct MarkdownPrompt {
    /// Its description, which is non-empty; absent if it is left out and optional.
    pub(crate) description: Option<Spanned<String>>,
    pub(crate) title: Option<Spanned<String>>,
    pub(crate) priority: Option<Spanned<u8>>,
    pub(crate) briefing: Option<Spanned<bool>>,
    pub(crate) summary: Option<Spanned<String>>,
    pub(crate) chapters: Option<Vec<Spanned<String>>>,
    /// The description of the one argument of a command.
    pub(crate) argument_hint: Option<Spanned<String>>,
    /// The keys of a command that are unknown to relay and to clients.
    pub(crate) unknown_keys: Vec<UnknownCommandKey>,
    /// The names of tools in a command that are close to a known one, with that one.
    pub(crate) mistyped_tools: Vec<(Spanned<String>, &'static str)>,
    /// The keys of a command besides its title and description; sorted, in inner objects too.
    pub(crate) meta: Map<String, Json>,
    /// The text after the front matter, with LF line ends, otherwise unchanged.
    pub(crate) body: SharedText,
    /// The offset of the body in the file.
    pub(crate) body_start: usize,
}

/// A key of a command that is unknown to relay and to clients.
#[derive(Debug)]
pub(crate) struct UnknownCommandKey {
    pub(crate) key: Spanned<String>,
    /// The known key that was most likely meant.
    pub(crate) near: Option<&'static str>,
}

/// Reads a markdown file. `None`: the file is unusable as a prompt, and the reason was reported.
pub(crate) fn markdown_prompt(
    file: FileId,
    source: &SourceFile,
    reading: Reading,
    out: &mut Alike,
) -> Option<MarkdownPrompt> {
    let Reading { kind, rule, on_error: _ } = reading;
    let mut reporter = Reporter::new(reading, out);
    let text = Text::decode(file, source, &mut reporter)?;
    let keys = match kind {
        Kind::Command | Kind::AgentSkill => COMMAND_KEYS,
        Kind::Folder => FOLDER_KEYS,
    };
    let is_used = |key: &str| keys.iter().any(|used| used.name == key);
    let matter = FrontMatter::read(&text, rule, is_used, &mut reporter)?;
    let mut reader = Reader { matter: &matter, rule, reporter: &mut reporter };
    let mut keys = Keys::default();
    for entry in &matter.entries {
        match kind {
            Kind::Command | Kind::AgentSkill => reader.command_key(entry, &mut keys),
            Kind::Folder => reader.folder_key(entry, &mut keys),
        }
    }
    let Keys {
        has_description,
        description,
        title,
        priority,
        briefing,
        summary,
        chapters,
        hint,
        unknown,
        mistyped_tools,
        meta,
    } = keys;
    if !has_description && rule == FrontMatterRule::Required {
        let help = match matter.is_closed_early() {
            false => "add a line `description: …` that says what the prompt is for",
            true => {
                "the second `---` of the file ends the front matter, and no key is above it: remove that line, so that the keys below count"
            }
        };
        // A `description` may be among the keys below, so a second one could be wrong.
        let edit = if matter.goes_on() { None } else { matter.with_description() };
        let (at, edits) = (matter.opening, edit.into_iter().collect());
        reporter.lack(at, NoDescription { at, help, edits });
    }
    if reporter.refused() {
        return None;
    }
    let body = text.text.part(matter.body..text.text.len());
    Some(MarkdownPrompt {
        description,
        title,
        priority,
        briefing,
        summary,
        chapters,
        argument_hint: hint,
        unknown_keys: unknown,
        mistyped_tools,
        meta: sorted(meta),
        body: normal_lines(body),
        body_start: text.offset(matter.body),
    })
}

/// Returns whether relay or a client is known to read a key of commands and skills.
pub(super) fn is_known_key(key: &str) -> bool {
    COMMAND_KEYS.iter().any(|known| known.name == key) || client_keys::all().any(|it| it == key)
}

/// Returns whether a key is close to one that relay or a client is known to read, so that it is probably mistyped.
pub(super) fn is_near_known_key(key: &str) -> bool {
    let known = COMMAND_KEYS.iter().map(|key| key.name).chain(client_keys::all());
    nearest(key, known).is_some()
}

/// Returns a text with LF line ends.
pub(crate) fn normal_lines(text: SharedText) -> SharedText {
    // Searching for one byte is many times faster, and it is absent from nearly every file.
    match memchr(b'\r', text.as_bytes()).is_some() {
        true => text.replace("\r\n", "\n").replace('\r', "\n").into(),
        false => text,
    }
}

/// Splits a text at every `$ARGUMENTS`, the place of the argument with the index `slot`.
///
/// One pass over plain text: the value of an argument is never searched, and the word has no
/// delimiter at its end (`$ARGUMENTS_2` is a slot and `_2`). `$ARGUMENTS[0]` is one word of the
/// argument in other programs, so it stays text.
pub(crate) fn slots(body: &SharedText, slot: u32) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut end = 0;
    let places = places(body).map(|start| (start, start + ARGUMENTS.len()));
    for (start, after) in places.chain([(body.len(), body.len())]) {
        let literal = body.part(end..start);
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal));
        }
        if start < after {
            segments.push(Segment::Slot(slot));
        }
        end = after;
    }
    segments
}

/// Returns whether a text has a place for the argument.
pub(crate) fn has_slot(body: &str) -> bool {
    places(body).next().is_some()
}

/// Returns the places of the argument in a text.
fn places(body: &str) -> impl Iterator<Item = usize> {
    let is_whole = |start: &usize| {
        let after = body.get(start + ARGUMENTS.len()..).unwrap_or_default();
        let index = after.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        !index.is_some_and(|(index, _)| {
            !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    memmem::find_iter(body.as_bytes(), ARGUMENTS).filter(is_whole)
}

/// The values of the keys of a file, as far as they could be read.
#[derive(Default)]
struct Keys {
    has_description: bool,
    description: Option<Spanned<String>>,
    title: Option<Spanned<String>>,
    priority: Option<Spanned<u8>>,
    briefing: Option<Spanned<bool>>,
    summary: Option<Spanned<String>>,
    chapters: Option<Vec<Spanned<String>>>,
    hint: Option<Spanned<String>>,
    unknown: Vec<UnknownCommandKey>,
    mistyped_tools: Vec<(Spanned<String>, &'static str)>,
    meta: BTreeMap<String, Json>,
}

/// Reads values, and reports those of the wrong type.
struct Reader<'r, 'o> {
    matter: &'r FrontMatter<'r>,
    rule: FrontMatterRule,
    reporter: &'r mut Reporter<'o>,
}

/// The key of a value, or the kind of a list item.
#[derive(Clone, Copy)]
enum Of<'k> {
    Key(&'k str),
    Item(&'static str),
}

impl Of<'_> {
    /// Returns the line with a value.
    fn line(self, value: &str) -> String {
        match self {
            Of::Key(key) => format!("{key}: {value}"),
            Of::Item(_) => value.into(),
        }
    }
}

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Of::Key(key) => write!(f, "`{key}`"),
            Of::Item(item) => f.write_str(item),
        }
    }
}

impl Reader<'_, '_> {
    fn command_key(&mut self, entry: &Entry, keys: &mut Keys) {
        let Entry { key, key_at, value } = entry;
        match key.as_str() {
            "description" => self.description(entry, keys),
            "title" => keys.title = self.title(key, value),
            "argument-hint" => {
                let hint = self.hint(value);
                keys.meta.extend(hint.clone().map(|hint| (key.clone(), hint.into())));
                let at = self.matter.span(&value.at);
                keys.hint = hint.map(|value| Spanned { value, at });
            }
            _ => {
                if key == "handoffs" {
                    self.check_handoffs(value);
                } else if !client_keys::all().any(|known| known == key) {
                    let known = COMMAND_KEYS.iter().map(|key| key.name).chain(client_keys::all());
                    let key = Spanned { value: key.clone(), at: self.matter.span(key_at) };
                    keys.unknown.push(UnknownCommandKey { near: nearest(&key.value, known), key });
                }
                let tools = client_tools::mistyped(entry).into_iter();
                keys.mistyped_tools.extend(tools.map(|(value, near, node)| {
                    (Spanned { value, at: self.matter.span(&node.at) }, near)
                }));
                keys.meta.insert(key.clone(), json(value));
            }
        }
    }

    fn folder_key(&mut self, entry: &Entry, keys: &mut Keys) {
        let Entry { key, key_at, value } = entry;
        match key.as_str() {
            "description" => self.description(entry, keys),
            "title" => keys.title = self.title(key, value),
            "priority" => keys.priority = self.priority(key, value),
            "briefing" => keys.briefing = self.boolean(key, value),
            "summary" => keys.summary = self.text(Of::Key(key), value),
            "chapters" => keys.chapters = self.chapters(key, value),
            _ => {
                debug_assert!(FOLDER_KEYS.iter().all(|known| known.name != key), "{key}");
                let at = self.matter.span(key_at);
                let near = nearest(key, FOLDER_KEYS.iter().map(|key| key.name));
                self.reporter.refuse(at, UnknownKey { key: key.clone(), near, at });
            }
        }
    }

    fn description(&mut self, entry: &Entry, keys: &mut Keys) {
        let Entry { key, key_at, value } = entry;
        keys.has_description = true;
        let is_empty = match &value.value {
            Value::Null => true,
            Value::Text(text) => text.trim().is_empty(),
            _ => false,
        };
        if is_empty && self.rule == FrontMatterRule::Required {
            let range = key_at.start..value.at.end;
            let at = self.matter.span(&range);
            let line = self.matter.description();
            // A value that is missing may be before the colon.
            let colon = key_at.end..key_at.end + 1;
            let has_colon = self.matter.written(&colon) == ":";
            let whole = range.start..range.end.max(colon.end);
            let edit = line.filter(|_| has_colon);
            let edit = edit.and_then(|line| self.matter.rewritten(&whole, line));
            let edits = edit.into_iter().collect();
            self.reporter.lack(at, EmptyDescription { at, edits });
        } else if !is_empty {
            keys.description = self.text(Of::Key(key), value);
        }
    }

    /// Returns a text less the line ends that `|` and `>` leave after it.
    fn text(&mut self, of: Of<'_>, node: &Node) -> Option<Spanned<String>> {
        let Value::Text(text) = &node.value else {
            let (help, edit) = match &node.value {
                Value::Bool(_) | Value::Number(_) => {
                    let value = quoted(self.matter.written(&node.at));
                    let help = format!("write it as: {}", of.line(&value));
                    (help, self.matter.rewritten(&node.at, value))
                }
                Value::Null => ("give it a text, or remove the line".into(), None),
                _ => ("write it as one text".into(), None),
            };
            self.wrong_type_fixed(of, node, "text", help, edit);
            return None;
        };
        Some(Spanned { value: text.trim_end().into(), at: self.matter.span(&node.at) })
    }

    /// Returns a text of one line.
    fn title(&mut self, key: &str, node: &Node) -> Option<Spanned<String>> {
        let text = self.text(Of::Key(key), node)?;
        if text.value.contains(is_newline) {
            self.reporter.refuse(text.at, SeveralLines { at: text.at });
            return None;
        }
        Some(text)
    }

    fn priority(&mut self, key: &str, node: &Node) -> Option<Spanned<u8>> {
        let number = match &node.value {
            Value::Number(number) => number.as_u64().and_then(|number| u8::try_from(number).ok()),
            _ => None,
        };
        let Numbers { low, high, default } = PROMPT.numbers("priority")?;
        let Some(value) = number.filter(|number| (low..=high).contains(&u64::from(*number))) else {
            let help =
                format!("{low} is reference, {default} the default, and {high} is always sent");
            let numbers = format!("a number from {low} to {high}");
            self.wrong_type(Of::Key(key), node, numbers, help);
            return None;
        };
        Some(Spanned { value, at: self.matter.span(&node.at) })
    }

    fn boolean(&mut self, key: &str, node: &Node) -> Option<Spanned<bool>> {
        let Value::Bool(value) = node.value else {
            let help = format!("write `{key}: true` or `{key}: false`");
            self.wrong_type(Of::Key(key), node, "`true` or `false`", help);
            return None;
        };
        Some(Spanned { value, at: self.matter.span(&node.at) })
    }

    fn chapters(&mut self, key: &str, node: &Node) -> Option<Vec<Spanned<String>>> {
        let Value::List(nodes) = &node.value else {
            let help = format!("write it as: {key}: [Install, Upgrade]");
            self.wrong_type(Of::Key(key), node, "a list of texts", help);
            return None;
        };
        Some(nodes.iter().filter_map(|node| self.text(Of::Item("a chapter"), node)).collect())
    }

    /// Returns a hint as its author wrote it: `[feature]` means a word in brackets rather than a
    /// list.
    fn hint(&self, node: &Node) -> Option<String> {
        let written = self.matter.written(&node.at);
        match &node.value {
            Value::Null => None,
            Value::Text(text) => Some(text.trim().into()).filter(|text: &String| !text.is_empty()),
            Value::List(nodes) if !written.starts_with('[') => {
                let items = nodes.iter().filter_map(|node| self.hint(node));
                Some(format!("[{}]", items.collect::<Vec<_>>().join(", ")))
            }
            _ => Some(written.split_whitespace().collect::<Vec<_>>().join(" ")),
        }
    }

    /// Checks that a client can rely on the handoffs, which are kept as they are written.
    fn check_handoffs(&mut self, node: &Node) {
        let help = "write each as `- label: …` and below it `agent: …`";
        let Value::List(nodes) = &node.value else {
            return self.wrong_type(Of::Key("handoffs"), node, "a list", help.into());
        };
        for node in nodes {
            match &node.value {
                Value::Map(entries) => self.check_handoff(node, entries),
                _ => self.wrong_type(Of::Item("a handoff"), node, "a group of keys", help.into()),
            }
        }
    }

    fn check_handoff(&mut self, node: &Node, entries: &[Entry]) {
        for required in ["label", "agent"] {
            let is_given = |Entry { key, key_at: _, value }: &Entry| {
                let is_empty = matches!(&value.value, Value::Text(text) if text.trim().is_empty());
                key == required && !is_empty
            };
            if !entries.iter().any(is_given) {
                let at = self.matter.span(&node.at);
                self.reporter.refuse(at, IncompleteHandoff { required, at });
            }
        }
        for Entry { key, key_at: _, value } in entries {
            match (key.as_str(), &value.value) {
                ("send", Value::Bool(_)) => {}
                ("send", _) => {
                    let help = "without it a handoff is not sent".into();
                    self.wrong_type(Of::Key(key), value, "`true` or `false`", help);
                }
                ("label" | "agent" | "prompt", _) => {
                    self.text(Of::Key(key), value);
                }
                _ => {}
            }
        }
    }

    fn wrong_type(&mut self, of: Of<'_>, node: &Node, expected: impl Into<String>, help: String) {
        self.wrong_type_fixed(of, node, expected, help, None);
    }

    fn wrong_type_fixed(
        &mut self,
        of: Of<'_>,
        node: &Node,
        expected: impl Into<String>,
        help: String,
        edit: Option<Edit>,
    ) {
        let found = match &node.value {
            Value::Null => "nothing".into(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(number) => format!("the number {number}"),
            Value::Text(_) => "text".into(),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a group of keys".into(),
        };
        let at = self.matter.span(&node.at);
        let (what, expected, edits) = (of.to_string(), expected.into(), edit.into_iter().collect());
        self.reporter.refuse_fixable(at, WrongType { what, expected, found, at, help, edits });
    }
}

pub(super) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(number.clone()),
        Value::Text(text) => Json::String(text.clone()),
        Value::List(nodes) => nodes.iter().map(json).collect(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|entry| (entry.key.clone(), json(&entry.value)));
            Json::Object(sorted(entries.collect()))
        }
    }
}

/// Returns a JSON object whose keys are sorted even if serde_json keeps the order of insertion,
/// which is up to any crate of the build.
pub(super) fn sorted(entries: BTreeMap<String, Json>) -> Map<String, Json> {
    entries.into_iter().collect()
}

/// Clients list prompts by their description, and a prompt that lacks one can only be chosen by
/// chance.
#[derive(Debug, Error, Diagnostic)]
#[error("the front matter has no `description`")]
#[diagnostic(code(front_matter::no_description))]
struct NoDescription {
    #[label(primary, "in what begins here")]
    at: Span,
    #[help]
    help: &'static str,
    edits: Vec<Edit>,
}

impl Fixable for NoDescription {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// Clients list prompts by their description, and a prompt that lacks one can only be chosen by
/// chance.
#[derive(Debug, Error, Diagnostic)]
#[error("`description` is empty")]
#[diagnostic(code(front_matter::no_description), help("say in a sentence what the prompt is for"))]
struct EmptyDescription {
    #[label(primary, "no text here")]
    at: Span,
    edits: Vec<Edit>,
}

impl Fixable for EmptyDescription {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// The value of a key has another type than its meaning needs. A guess of the meaning could be
/// wrong.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} must be {expected}, but is {found}")]
#[diagnostic(code(front_matter::wrong_type))]
struct WrongType {
    what: String,
    expected: String,
    found: String,
    #[label(primary, "this is {found}")]
    at: Span,
    #[help]
    help: String,
    edits: Vec<Edit>,
}

impl Fixable for WrongType {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// A mistyped key would be ignored in silence, and its setting would be lost.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown key `{key}`")]
#[diagnostic(code(front_matter::unknown_key), help("{}", unknown_key_help(key, *near)))]
struct UnknownKey {
    key: String,
    near: Option<&'static str>,
    #[label(primary, "not a key of a prompt")]
    at: Span,
}

fn unknown_key_help(key: &str, near: Option<&str>) -> String {
    if let Some(near) = near {
        return format!("did you mean `{near}`?");
    }
    let names: Vec<&str> = FOLDER_KEYS.iter().map(|key| key.name).collect();
    let known = names.join("`, `");
    match key {
        "tags" | "keywords" => {
            "remove the line, and write its words into `summary` or `chapters`: \
            an agent's keywords are searched there"
                .to_owned()
        }
        "name" => "remove the line: the path of the file names the prompt; a folder of `SKILL.md` \
            files is read by `agent-skills \"FOLDER\"`"
            .to_owned(),
        _ => format!("remove the line; the keys of a prompt are `{known}`"),
    }
}

/// A client offers a handoff by its label and passes the work to its agent, so it needs both.
#[derive(Debug, Error, Diagnostic)]
#[error("a handoff has no `{required}`")]
#[diagnostic(
    code(front_matter::handoff),
    help("a handoff has a `label` that people read and the `agent` that goes on")
)]
struct IncompleteHandoff {
    required: &'static str,
    #[label(primary, "in this handoff")]
    at: Span,
}

#[cfg(test)]
mod tests;
