//! The effective project: every setting in force, those too that nobody wrote.
//!
//! `relay show` prints it with origins; a bundle carries it as its canonical source, so that a
//! default that changed with the compiler shows in a diff.

use relay_bundle::{Argument, ArgumentKind};
use serde_json::{Map, Value, json};

use crate::model::{About, BodySource, Model, Prompt, Setting};
use crate::source::{Sources, Span, Spanned};

/// The effective project as a tree of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    nodes: Vec<Shown>,
}

/// A node with its values in force.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Shown {
    name: &'static str,
    arguments: Vec<Text>,
    properties: Vec<(&'static str, Text)>,
    children: Vec<Shown>,
    /// `file:line` of what was written.
    at: Option<String>,
    /// The properties that were not written.
    defaults: Vec<&'static str>,
}

/// A value as KDL and JSON both write it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Text(String),
    Number(u64),
    Boolean(bool),
    Chars(u64),
}

impl Effective {
    pub(crate) fn of(sources: &Sources<'_>, model: &Model) -> Self {
        let showing = Showing { sources };
        let mut nodes = vec![showing.project(model)];
        nodes.push(Shown {
            name: "messages",
            children: vec![showing.greeting(model)],
            ..Shown::default()
        });
        if !model.prompts.is_empty() {
            let mut children: Vec<_> =
                model.prompts.iter().map(|prompt| showing.prompt(prompt)).collect();
            children.extend(model.disabled_prompts.iter().map(|name| showing.disabled(name)));
            nodes.push(Shown { name: "prompts", children, ..Shown::default() });
        }
        let fixed = model.resources.iter().map(|r| showing.resource(&r.uri, &r.about, &[]));
        let templates = model
            .templates
            .iter()
            .map(|t| showing.resource(&t.uri_template, &t.about, &t.rendering.arguments));
        let children: Vec<_> = fixed.chain(templates).collect();
        if !children.is_empty() {
            nodes.push(Shown { name: "resources", children, ..Shown::default() });
        }
        Self { nodes }
    }

    /// Returns the project as KDL; with `origins` each node tells in a comment where it was
    /// written and which of its values are defaults.
    #[must_use]
    pub fn kdl(&self, origins: bool) -> String {
        let mut text = String::from("/- kdl-version 2\n");
        for node in &self.nodes {
            write_kdl(node, 0, origins, &mut text);
        }
        text
    }

    /// Returns the project as JSON: `{"format_version", "nodes"}`, a node being `{"node",
    /// "arguments", "properties", "children", "at", "defaults"}`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "format_version": 1, "nodes": self.nodes.iter().map(node_json).collect::<Vec<_>>() })
    }
}

struct Showing<'s, 'f> {
    sources: &'s Sources<'f>,
}

impl Showing<'_, '_> {
    fn at(&self, at: Span) -> Option<String> {
        let place = self.sources.place(at);
        Some(format!("{}:{}", place.file, place.line))
    }

    fn project(&self, model: &Model) -> Shown {
        let project = &model.project;
        let mut shown = Shown {
            name: "project",
            arguments: vec![Text::Text(project.name.value.clone())],
            at: self.at(project.name.at),
            ..Shown::default()
        };
        shown.optional("version", project.version.as_ref());
        shown.setting("epoch", &project.epoch, |epoch| Text::Number(*epoch));
        shown.child("title", project.title.as_ref());
        shown.child("owner", project.owner.as_ref());
        shown
    }

    fn greeting(&self, model: &Model) -> Shown {
        let greeting = &model.greeting;
        Shown {
            name: "session-greeting",
            arguments: vec![Text::Text(greeting.text.clone())],
            at: greeting.at.and_then(|at| self.at(at)),
            defaults: if greeting.at.is_none() { vec!["text"] } else { Vec::new() },
            ..Shown::default()
        }
    }

    fn prompt(&self, prompt: &Prompt) -> Shown {
        let mut shown = Shown {
            name: "prompt",
            arguments: vec![Text::Text(prompt.name.value.clone())],
            at: self.at(prompt.name.at),
            ..Shown::default()
        };
        shown.setting("priority", &prompt.priority, |priority| Text::Number((*priority).into()));
        match prompt.bodies.as_slice() {
            [body] => self.body(body, &mut shown),
            bodies => {
                for body in bodies {
                    let mut part = Shown { name: "part", ..Shown::default() };
                    self.body(body, &mut part);
                    shown.children.push(part);
                }
            }
        }
        shown.child("title", prompt.title.as_ref());
        shown.child("description", prompt.description.as_ref());
        shown.child("summary", prompt.summary.as_ref());
        if !prompt.chapters.is_empty() {
            let chapters = prompt.chapters.iter().map(|chapter| Text::Text(chapter.value.clone()));
            shown.children.push(Shown {
                name: "chapters",
                arguments: chapters.collect(),
                ..Shown::default()
            });
        }
        shown.children.extend(prompt.rendering.arguments.iter().map(argument));
        for excuse in &prompt.allowed_secrets {
            shown.children.push(Shown {
                name: "allow-secret",
                arguments: vec![Text::Text(excuse.rule.value.clone())],
                properties: vec![("because", Text::Text(excuse.because.value.clone()))],
                ..Shown::default()
            });
        }
        shown
    }

    fn disabled(&self, name: &Spanned<String>) -> Shown {
        Shown {
            name: "prompt",
            arguments: vec![Text::Text(name.value.clone())],
            properties: vec![("enabled", Text::Boolean(false))],
            at: self.at(name.at),
            ..Shown::default()
        }
    }

    fn resource(&self, uri: &Spanned<String>, about: &About, arguments: &[Argument]) -> Shown {
        let mut shown = Shown {
            name: "resource",
            arguments: vec![Text::Text(uri.value.clone())],
            at: self.at(uri.at),
            ..Shown::default()
        };
        shown.setting("name", &about.name, |name| Text::Text(name.clone()));
        shown.setting("mime", &about.mime, |mime| Text::Text(mime.clone()));
        self.body(&about.body, &mut shown);
        shown.child("title", about.title.as_ref());
        shown.child("description", about.description.as_ref());
        shown.children.extend(arguments.iter().map(argument));
        shown
    }

    fn body(&self, body: &BodySource, shown: &mut Shown) {
        match (&body.inline_at, &body.text) {
            (Some(_), Some(text)) => shown.children.push(Shown {
                name: "text",
                arguments: vec![Text::Text(text.to_string())],
                ..Shown::default()
            }),
            _ => {
                let file = self.sources.file(body.file).path.clone();
                shown.properties.push(("file", Text::Text(file)));
            }
        }
        if body.template {
            shown.properties.push(("template", Text::Boolean(true)));
        }
    }
}

impl Shown {
    fn setting<T>(&mut self, name: &'static str, setting: &Setting<T>, text: impl Fn(&T) -> Text) {
        self.properties.push((name, text(&setting.value)));
        if setting.at.is_none() {
            self.defaults.push(name);
        }
    }

    fn optional(&mut self, name: &'static str, text: Option<&Spanned<String>>) {
        if let Some(text) = text {
            self.properties.push((name, Text::Text(text.value.clone())));
        }
    }

    fn child(&mut self, name: &'static str, text: Option<&Spanned<String>>) {
        if let Some(text) = text {
            self.children.push(Self {
                name,
                arguments: vec![Text::Text(text.value.clone())],
                ..Self::default()
            });
        }
    }
}

fn argument(argument: &Argument) -> Shown {
    let mut shown = Shown {
        name: "arg",
        arguments: vec![Text::Text(argument.name.clone())],
        properties: vec![("required", Text::Boolean(argument.required))],
        ..Shown::default()
    };
    if let Some(default) = &argument.default {
        shown.properties.push(("default", Text::Text(default.clone())));
    }
    if let Some(description) = &argument.description {
        shown.properties.push(("description", Text::Text(description.clone())));
    }
    match &argument.kind {
        ArgumentKind::Choice(choices) => shown.children.push(Shown {
            name: "one-of",
            arguments: choices.iter().cloned().map(Text::Text).collect(),
            ..Shown::default()
        }),
        ArgumentKind::Text { chars_max: 0 } => {}
        ArgumentKind::Text { chars_max } => {
            shown.properties.push(("max", Text::Chars(u64::from(*chars_max))));
        }
    }
    shown
}

fn write_kdl(node: &Shown, depth: usize, origins: bool, out: &mut String) {
    let indent = "    ".repeat(depth);
    out.push_str(&indent);
    out.push_str(node.name);
    for argument in &node.arguments {
        out.push(' ');
        out.push_str(&argument.kdl(depth));
    }
    for (name, value) in &node.properties {
        out.push(' ');
        out.push_str(name);
        out.push('=');
        out.push_str(&value.kdl(depth));
    }
    if !node.children.is_empty() {
        out.push_str(" {");
    }
    if origins {
        let defaults = (!node.defaults.is_empty())
            .then(|| format!("default: {}", node.defaults.join(", ")));
        let notes: Vec<&str> =
            node.at.as_deref().into_iter().chain(defaults.as_deref()).collect();
        if !notes.is_empty() {
            out.push_str(&format!("  // {}", notes.join("; ")));
        }
    }
    out.push('\n');
    for child in &node.children {
        write_kdl(child, depth + 1, origins, out);
    }
    if !node.children.is_empty() {
        out.push_str(&indent);
        out.push_str("}\n");
    }
}

impl Text {
    fn kdl(&self, depth: usize) -> String {
        match self {
            Self::Text(text) => quote(text, depth),
            Self::Number(number) => number.to_string(),
            Self::Boolean(yes) => format!("#{yes}"),
            Self::Chars(number) => format!("(chars){number}"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(number) | Self::Chars(number) => json!(number),
            Self::Boolean(yes) => json!(yes),
        }
    }
}

/// Returns a text as a KDL string: multi-line where it has lines.
fn quote(text: &str, depth: usize) -> String {
    let lines = text.contains('\n');
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' if lines => escaped.push('\n'),
            '\t' => escaped.push_str("\\t"),
            letter if letter.is_control() || "\u{85}\u{2028}\u{2029}\u{feff}".contains(letter) => {
                escaped.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            letter => escaped.push(letter),
        }
    }
    if !lines {
        return format!("\"{escaped}\"");
    }
    let indent = "    ".repeat(depth + 1);
    // A line of white space alone would lose it to the closing quotes' indentation.
    let body: Vec<String> = escaped
        .split('\n')
        .map(|line| match line.chars().next() {
            None => String::new(),
            Some(' ') if line.trim().is_empty() => {
                format!("{indent}{}", line.replace(' ', "\\u{20}"))
            }
            Some(_) => format!("{indent}{line}"),
        })
        .collect();
    format!("\"\"\"\n{}\n{indent}\"\"\"", body.join("\n"))
}

fn node_json(node: &Shown) -> Value {
    let mut properties = Map::new();
    for (name, value) in &node.properties {
        properties.insert((*name).into(), value.json());
    }
    json!({
        "node": node.name,
        "arguments": node.arguments.iter().map(Text::json).collect::<Vec<_>>(),
        "properties": properties,
        "children": node.children.iter().map(node_json).collect::<Vec<_>>(),
        "at": node.at,
        "defaults": node.defaults,
    })
}
