//! The project that an import writes, as KDL: at most [`LINES_MAX`] lines.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::Level;
use serde_json::Value;

use super::marks;
use super::part::{Body, Content, Folder, FolderNode, Part, Prompt, Skill};
use super::row::Row;

/// The most lines of a project.
pub(super) const LINES_MAX: usize = 60;
/// The longest line, if there is room for more lines.
const COLUMNS: usize = 100;

/// The node of [`Start::Unlisted`].
const UNLISTED: &str =
    "messages { session-greeting \"Ask {{project_name}} for its list of prompts.\" }";

/// A project to write, and the rows of the report so far.
pub(crate) struct Plan {
    /// The project's name.
    pub(crate) name: String,
    /// Its parts, in their order.
    pub(crate) parts: Vec<Part>,
    /// The rows of what has no part.
    pub(crate) rows: Vec<Row>,
    /// The beginning of a session.
    pub(crate) start: Start,
}

/// The beginning of a session, as the project sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// With a gate.
    Gate(Gate),
    /// Without a gate: the instructions list the prompts.
    Listed,
    /// Without a gate and a list: there are too many prompts for the instructions.
    Unlisted,
}

/// The settings of a gate that fit the prompts; absent ones have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gate {
    /// The budget of a briefing.
    pub(crate) budget_kib: Option<usize>,
    /// The most prompts that are all listed.
    pub(crate) cap: Option<usize>,
    /// The characters of an entry of the list.
    pub(crate) entry_chars: Option<usize>,
}

/// A project as text.
pub(crate) struct Written {
    /// The text.
    pub(crate) text: String,
    /// For each line the part that it is of.
    parts: Vec<Option<usize>>,
}

/// How a node is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// A long node takes several lines.
    Roomy,
    /// Each node takes one line.
    Tight,
}

/// A node of the project.
struct Node {
    /// Its word, arguments and properties.
    head: String,
    /// The texts that may be properties or nodes.
    texts: Vec<(&'static str, String)>,
    /// The nodes in it, each in one line.
    children: Vec<String>,
    /// The part that it is.
    part: usize,
}

impl Written {
    /// Returns the part that a line, from 1, is of.
    pub(crate) fn part_at(&self, line: usize) -> Option<usize> {
        self.parts.get(line.checked_sub(1)?).copied().flatten()
    }

    /// Returns how many lines the project has.
    pub(crate) fn line_count(&self) -> usize {
        self.parts.len()
    }
}

impl Plan {
    /// Writes the project with a line for each node only if it would have too many lines otherwise.
    pub(crate) fn written(&self) -> Written {
        let roomy = self.in_layout(Layout::Roomy);
        if roomy.line_count() <= LINES_MAX { roomy } else { self.in_layout(Layout::Tight) }
    }

    /// Returns the files that the parts need and that are not there yet, by path.
    ///
    /// # Errors
    ///
    /// Two parts need a file of one path: either would have the text of the other.
    pub(crate) fn copies(&self) -> Result<BTreeMap<String, String>, String> {
        let mut copies = BTreeMap::new();
        for (path, text) in self.parts.iter().flat_map(Part::copies) {
            match copies.entry(path) {
                Entry::Vacant(entry) => entry.insert(text),
                Entry::Occupied(entry) => {
                    return Err(format!("two texts would be the file `{}`", entry.key()));
                }
            };
        }
        Ok(copies)
    }

    fn in_layout(&self, layout: Layout) -> Written {
        let mut lines = Lines { text: String::new(), parts: Vec::new(), layout };
        lines.line(0, "/- kdl-version 2", None);
        lines.line(0, "", None);
        lines.line(
            0,
            "// `relay import` wrote this project. It refers to the files where they are.",
            None,
        );
        lines.line(0, &format!("project {} version=\"0.1.0\" epoch=1", quoted(&self.name)), None);
        match self.start {
            Start::Gate(gate) => lines.line(0, &gate_node(gate), None),
            Start::Listed => {}
            Start::Unlisted => lines.line(0, UNLISTED, None),
        }
        self.declarations(&mut lines);
        self.prompts(&mut lines);
        self.skills(&mut lines);
        Written { text: lines.text, parts: lines.parts }
    }

    /// Writes the tenants and tools that skills name.
    fn declarations(&self, lines: &mut Lines) {
        let (mut tenants, mut tools) = (BTreeSet::new(), BTreeSet::new());
        for skill in self.parts.iter().filter_map(skill) {
            match skill.level {
                Level::Tenant => tenants.extend([skill.selector.as_str()]),
                Level::Tool => tools.extend([skill.selector.as_str()]),
                Level::Global | Level::User => {}
            }
            for (name, value) in &skill.narrowed {
                match *name {
                    "tenant" => tenants.extend([value.as_str()]),
                    "tools" => tools.extend([value.as_str()]),
                    _ => {}
                }
            }
        }
        if !tenants.is_empty() {
            let tenants = tenants.into_iter().map(|name| format!("tenant {}", quoted(name)));
            let tenants = tenants.collect::<Vec<_>>().join("; ");
            lines.line(0, &format!("tenants {{ {tenants} }}"), None);
        }
        if !tools.is_empty() {
            let tools = tools.into_iter().map(quoted).collect::<Vec<_>>().join(" ");
            lines.line(0, &format!("tools {{ other {tools} }}"), None);
        }
    }

    fn prompts(&self, lines: &mut Lines) {
        let nodes: Vec<_> = self.parts.iter().enumerate().filter_map(prompts_node).collect();
        if !nodes.is_empty() {
            lines.block(0, "prompts", &nodes);
        }
    }

    fn skills(&self, lines: &mut Lines) {
        let skills = || self.parts.iter().filter_map(skill);
        let blocks: BTreeSet<_> =
            skills().map(|skill| (skill.level, skill.selector.as_str())).collect();
        if blocks.is_empty() {
            return;
        }
        lines.line(0, "skills {", None);
        for (level, selector) in blocks {
            let head = match level {
                Level::Global => level.word().to_owned(),
                _ => format!("{} {}", level.word(), quoted(selector)),
            };
            let nodes = self.parts.iter().enumerate().filter_map(|(part, each)| {
                let skill = skill(each)?;
                let is_here = (skill.level, skill.selector.as_str()) == (level, selector);
                is_here.then(|| skill_node(skill, part))
            });
            lines.block(1, &head, &nodes.collect::<Vec<_>>());
        }
        lines.line(0, "}", None);
    }
}

fn gate_node(Gate { budget_kib, cap, entry_chars }: Gate) -> String {
    let budget = budget_kib.map(|kib| format!("budget (bytes)\"{kib}KiB\""));
    let cap = cap.map(|cap| format!(" cap={cap}")).unwrap_or_default();
    let entry = entry_chars.map(|chars| format!(" entry=(chars){chars}")).unwrap_or_default();
    let index = Some(format!("index{cap}{entry}")).filter(|index| index != "index");
    let children: Vec<_> = budget.into_iter().chain(index).collect();
    match children.is_empty() {
        true => "gate on".to_owned(),
        false => format!("gate on {{ {} }}", children.join("; ")),
    }
}

/// The lines that are written so far.
struct Lines {
    text: String,
    parts: Vec<Option<usize>>,
    layout: Layout,
}

impl Lines {
    fn line(&mut self, depth: usize, text: &str, part: Option<usize>) {
        if !text.is_empty() {
            self.text.push_str(&"    ".repeat(depth));
            self.text.push_str(text);
        }
        self.text.push('\n');
        self.parts.push(part);
    }

    fn block(&mut self, depth: usize, head: &str, nodes: &[Node]) {
        self.line(depth, &format!("{head} {{"), None);
        for node in nodes {
            self.node(depth + 1, node);
        }
        self.line(depth, "}", None);
    }

    fn node(&mut self, depth: usize, node: &Node) {
        let Node { head, texts, children, part } = node;
        let part = Some(*part);
        let properties: String =
            texts.iter().map(|(name, text)| format!(" {name}={}", quoted(text))).collect();
        let within = match children.is_empty() {
            true => String::new(),
            false => format!(" {{ {} }}", children.join("; ")),
        };
        let line = format!("{head}{properties}{within}");
        let columns = depth * 4 + line.chars().count();
        let is_leaf = texts.is_empty() && children.is_empty();
        if self.layout == Layout::Tight || columns <= COLUMNS || is_leaf {
            return self.line(depth, &line, part);
        }
        self.line(depth, &format!("{head} {{"), part);
        for (name, text) in texts {
            self.line(depth + 1, &format!("{name} {}", quoted(text)), part);
        }
        for child in children {
            self.line(depth + 1, child, part);
        }
        self.line(depth, "}", part);
    }
}

fn skill(part: &Part) -> Option<&Skill> {
    match &part.content {
        Content::Skill(skill) => Some(skill),
        Content::Prompt(_) | Content::Folder(_) => None,
    }
}

fn prompts_node((part, each): (usize, &Part)) -> Option<Node> {
    match &each.content {
        Content::Prompt(prompt) => Some(prompt_node(prompt, part)),
        Content::Folder(folder) => {
            let (head, children) = folder_node(folder);
            Some(Node { head, texts: Vec::new(), children, part })
        }
        Content::Skill(_) => None,
    }
}

fn prompt_node(prompt: &Prompt, part: usize) -> Node {
    let Prompt { name, priority, body, summary, description, is_command, is_settled, bytes: _ } =
        prompt;
    let mut head = format!("prompt {}", quoted(name));
    let mut children = Vec::new();
    if let Some(priority) = priority {
        head.push_str(&format!(" priority={priority}"));
    }
    if *is_command {
        head.push_str(" briefing=#false");
    }
    match body {
        Body::File { path, has_front_matter } => {
            head.push_str(&format!(" file={}", quoted(path)));
            if *has_front_matter {
                head.push_str(" front-matter=drop");
            }
        }
        Body::Line(text) => children.push(format!("text {}", quoted(text))),
    }
    if *is_settled {
        head.push_str(" template=#false");
    }
    let description = description.as_ref().map(|text| ("description", text.clone()));
    let summary = summary.as_ref().map(|text| ("summary", text.clone()));
    let texts = description.into_iter().chain(summary).collect();
    Node { head, texts, children, part }
}

/// Returns the node that reads a folder. Nodes of folders are written here alone.
fn folder_node(folder: &Folder) -> (String, Vec<String>) {
    let Folder { node, path, files: _, excluded, pattern, prefix } = folder;
    let path = quoted(path);
    let mut head = match node {
        FolderNode::Commands => format!("commands {path}"),
        FolderNode::Prompts => format!("folder {path}"),
        FolderNode::AgentSkills => format!("agent-skills {path}"),
    };
    if let Some(pattern) = pattern {
        head.push_str(&format!(" pattern={}", quoted(pattern)));
    }
    if let Some(prefix) = prefix {
        head.push_str(&format!(" prefix={}", quoted(prefix)));
    }
    let excluded: Vec<_> = excluded.iter().map(|file| quoted(file)).collect();
    let excluded = (!excluded.is_empty()).then(|| format!("exclude {}", excluded.join(" ")));
    let allowed = folder
        .kinds()
        .into_iter()
        .map(|kind| format!("allow-mark {} because={}", kind.name(), quoted(&marks::reason(kind))));
    (head, excluded.into_iter().chain(allowed).collect())
}

fn skill_node(skill: &Skill, part: usize) -> Node {
    let Skill {
        level: _,
        selector: _,
        name,
        priority,
        narrowed,
        title,
        description,
        meta,
        is_enabled,
        text,
        copy,
    } = skill;
    let mut head = format!("skill {}", quoted(name));
    if copy.is_none() {
        head.push_str(&format!(" {}", quoted(text)));
    }
    if let Some(priority) = priority {
        head.push_str(&format!(" priority={priority}"));
    }
    for (selector, value) in narrowed {
        head.push_str(&format!(" {selector}={}", quoted(value)));
    }
    if let Some(path) = copy {
        head.push_str(&format!(" file={}", quoted(path)));
    }
    if !is_enabled {
        head.push_str(" enabled=#false");
    }
    let title = title.as_ref().map(|text| ("title", text.clone()));
    let description = description.as_ref().map(|text| ("description", text.clone()));
    let facts: Vec<_> =
        meta.iter().map(|(key, fact)| format!("{}={}", quoted(key), value(fact))).collect();
    let children = (!facts.is_empty()).then(|| format!("meta {}", facts.join(" ")));
    Node {
        head,
        texts: title.into_iter().chain(description).collect(),
        children: children.into_iter().collect(),
        part,
    }
}

fn value(fact: &Value) -> String {
    match fact {
        Value::String(text) => quoted(text),
        Value::Bool(fact) => format!("#{fact}"),
        fact => fact.to_string(),
    }
}

/// Returns a text as KDL writes it: a word without quotes if it may be one.
pub(crate) fn quoted(text: &str) -> String {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
        && !["true", "false", "null", "inf", "nan"].contains(&text);
    if is_word {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if letter.is_control()
                || !relay_compiler::is_shown(letter.encode_utf8(&mut [0; 4])) =>
            {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
