//! The effective project: every setting in force, including those that were not written.
//!
//! `relay show` prints it with origins; a bundle carries it as its canonical source, so that a
//! default that changed with the compiler shows in a diff. Compiled again as a document in the
//! project's folder, it gives the same project. Two things the language cannot say: that the text
//! of a file begins after its front matter, and which folder an inline template includes from.

mod access;
mod expect;
mod facts;
mod node;
mod policy;
mod renderer;

use std::collections::BTreeMap;

use relay_bundle::{Argument, ArgumentKind, Level, Role, Unlock};
use serde_json::{Value, json};

use crate::ast::ToolGroup;
use crate::grammar::Rule;
use crate::language::gate::{GATE, UNLOCK};
use crate::language::project::PROJECT;
use crate::language::prompt::PROMPT;
use crate::language::resource::RESOURCE;
use crate::language::skills::{SKILL, SKILLS};
use crate::model::{
    About, Access, AllowedSecret, BodySource, Gate, MessageSource, Model, PartSource, Prompt,
    Skill, Skills, SystemText,
};
use crate::source::{FileId, Sources, Spanned};
use node::{EffectiveNode, Scalar, node_json, write_kdl};
pub(crate) use renderer::literal_kdl;
use renderer::{Renderer, leaf, list, said};

pub use facts::{OwnProgram, OwnVariables, facts_kdl};

/// The effective project as a tree of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    nodes: Vec<EffectiveNode>,
}

impl Effective {
    pub(crate) fn of(sources: &Sources<'_>, model: &Model) -> Self {
        let renderer = Renderer { sources };
        let mut nodes = vec![renderer.project(model)];
        nodes.extend(renderer.access(&model.access));
        nodes.push(renderer.gate(&model.gate));
        if !(model.tools.is_empty() && model.other_tools.is_empty()) {
            let mut children: Vec<_> =
                model.tools.iter().map(|group| renderer.tool_group(group)).collect();
            if !model.other_tools.is_empty() {
                children.push(list("other", &model.other_tools));
            }
            nodes.push(EffectiveNode { name: "tools", children, ..EffectiveNode::default() });
        }
        if let Some((policy, facts)) = &model.policy {
            nodes.extend(renderer.policy(policy, facts));
        }
        let said = model.messages.all().into_iter().filter(|message| message.is_said(&model.gate));
        let children = said.map(|message| renderer.system_text(message)).collect();
        nodes.push(EffectiveNode { name: "messages", children, ..EffectiveNode::default() });
        if !model.prompts.is_empty() || !model.disabled_prompts.is_empty() {
            let mut children: Vec<_> =
                model.prompts.iter().map(|it| renderer.prompt(it, &model.access)).collect();
            children.extend(model.disabled_prompts.iter().map(|name| renderer.disabled(name)));
            nodes.push(EffectiveNode { name: "prompts", children, ..EffectiveNode::default() });
        }
        let access = &model.access;
        let fixed =
            model.resources.iter().map(|r| renderer.resource(&r.uri, &r.about, access, Vec::new()));
        let templates = model.templates.iter().map(|t| {
            let variables = t.rendering.arguments.iter().map(|a| variable(a, &t.booleans));
            renderer.resource(&t.uri_template, &t.about, access, variables.collect())
        });
        let children: Vec<_> = fixed.chain(templates).collect();
        if !children.is_empty() {
            nodes.push(EffectiveNode { name: "resources", children, ..EffectiveNode::default() });
        }
        if !(model.skills.list.is_empty() && model.skills.disabled.is_empty()) {
            nodes.push(renderer.skills(&model.skills));
        }
        nodes.extend(model.expects.iter().map(|expect| renderer.expect(expect)));
        Self { nodes }
    }

    /// Returns the project as KDL; with `origins` a comment at each node says where it was
    /// written and which of its values are defaults, and comments hold what was generated.
    #[must_use]
    pub fn kdl(&self, origins: bool) -> String {
        let mut text = String::from("/- kdl-version 2\n");
        for node in &self.nodes {
            write_kdl(node, 0, origins, &mut text);
        }
        text
    }

    /// Returns the project as JSON: `{"format_version", "nodes"}`, a node being `{"node",
    /// "arguments", "properties", "children", "at", "defaults", "generated"}`.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "format_version": 1, "nodes": self.nodes.iter().map(node_json).collect::<Vec<_>>() })
    }
}

impl Renderer<'_, '_> {
    fn project(&self, model: &Model) -> EffectiveNode {
        let project = &model.project;
        let mut node = EffectiveNode {
            name: "project",
            arguments: vec![Scalar::Text(project.name.value.clone())],
            at: self.at(project.name.at),
            ..EffectiveNode::default()
        };
        node.settings(&PROJECT, project.settings.of(&PROJECT));
        node.texts(&PROJECT, project.settings.of(&PROJECT));
        node
    }

    fn gate(&self, gate: &Gate) -> EffectiveNode {
        let mut node = gate_node(&GATE, gate);
        node.at = gate.at.and_then(|at| self.at(at));
        if gate.on.value {
            node.children = GATE.children.iter().map(|rule| gate_node(rule, gate)).collect();
        } else {
            for (name, _) in std::mem::take(&mut node.properties) {
                node.defaults.retain(|default| *default != name);
            }
        }
        node
    }

    fn tool_group(&self, group: &Spanned<ToolGroup>) -> EffectiveNode {
        let name = match group.value {
            ToolGroup::Diagnostics => "diagnostics",
        };
        EffectiveNode { name, at: self.at(group.at), ..EffectiveNode::default() }
    }

    fn skills(&self, skills: &Skills) -> EffectiveNode {
        let mut node = EffectiveNode { name: "skills", ..EffectiveNode::default() };
        node.settings(&SKILLS, skills.limits.of(&SKILLS));
        let mut blocks: BTreeMap<(Level, Vec<&str>), EffectiveNode> = BTreeMap::new();
        let on = skills.list.iter().map(|skill| (skill, true));
        for (skill, on) in on.chain(skills.disabled.iter().map(|skill| (skill, false))) {
            let selectors: Vec<&str> =
                skill.block().into_iter().map(|selector| selector.value.as_str()).collect();
            let block = blocks.entry((skill.level, selectors)).or_insert_with(|| EffectiveNode {
                name: skill.level.word(),
                arguments: skill.block().into_iter().map(said).collect(),
                ..EffectiveNode::default()
            });
            block.children.push(self.skill(skill, on));
        }
        node.children = blocks.into_values().collect();
        node
    }

    fn skill(&self, skill: &Skill, on: bool) -> EffectiveNode {
        let mut node = EffectiveNode {
            name: "skill",
            arguments: vec![said(&skill.name)],
            at: self.at(skill.name.at),
            ..EffectiveNode::default()
        };
        if !on {
            node.properties.push(("enabled", Scalar::Boolean(false)));
            return node;
        }
        node.settings(&SKILL, skill.settings.of(&SKILL));
        if skill.level != Level::Tenant {
            node.optional("tenant", skill.tenant.as_ref());
        }
        if skill.level != Level::User {
            node.optional("user", skill.user.as_ref());
        }
        if let Some(body) = &skill.body {
            self.body(body, false, &mut node);
            // A skill is no template, whatever its file is called.
            node.properties.retain(|(name, _)| *name != "template");
        }
        node.texts(&SKILL, skill.settings.of(&SKILL));
        if skill.level != Level::Tool && !skill.tools.is_empty() {
            node.children.push(list("tools", &skill.tools));
        }
        if let Some(meta) = &skill.meta {
            let facts = meta.value.iter().map(|(key, value)| (key.clone(), Scalar::of(value)));
            node.children.push(EffectiveNode {
                name: "meta",
                facts: facts.collect(),
                ..EffectiveNode::default()
            });
        }
        node.children.extend(skill.allowed_secrets.iter().map(suppression));
        node
    }

    fn system_text(&self, message: &SystemText) -> EffectiveNode {
        EffectiveNode {
            at: message.at.and_then(|at| self.at(at)),
            defaults: if message.at.is_none() { vec!["text"] } else { Vec::new() },
            ..leaf(message.name.word(), &message.text)
        }
    }

    fn prompt(&self, prompt: &Prompt, access: &Access) -> EffectiveNode {
        let mut node = EffectiveNode {
            name: "prompt",
            arguments: vec![Scalar::Text(prompt.name.value.clone())],
            at: self.at(prompt.name.at),
            ..EffectiveNode::default()
        };
        node.settings(&PROMPT, prompt.settings.of(&PROMPT));
        node.setting("briefing", &prompt.briefing, |briefing| Scalar::Boolean(*briefing));
        let messages = &prompt.messages;
        if let ([body], []) = (prompt.bodies.as_slice(), messages.as_slice()) {
            self.body(body, false, &mut node);
        }
        // Texts written in messages are all templates or none: only the prompt can say so.
        let template = messages.iter().flat_map(|message| &message.parts).any(inherits_template);
        if template {
            node.properties.push(("template", Scalar::Boolean(true)));
        }
        node.texts(&PROMPT, prompt.settings.of(&PROMPT));
        node.about(prompt);
        node.children.extend(self.readers(&prompt.readers, access));
        let arguments = prompt.rendering.arguments.iter();
        node.children.extend(arguments.map(|each| argument(each, &prompt.booleans)));
        node.children.extend(messages.iter().map(|message| self.message(message, template)));
        node.children.extend(prompt.allowed_secrets.iter().map(suppression));
        node
    }

    fn message(&self, message: &MessageSource, template: bool) -> EffectiveNode {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        EffectiveNode {
            name: "message",
            properties: vec![("role", Scalar::Text(role.into()))],
            children: message.parts.iter().map(|part| self.part(part, template)).collect(),
            ..EffectiveNode::default()
        }
    }

    fn part(&self, part: &PartSource, template: bool) -> EffectiveNode {
        match part {
            PartSource::Text(BodySource { inline_at: Some(_), text: Some(text), .. }) => {
                leaf("text", text)
            }
            PartSource::Text(body) => {
                let mut node = leaf("file", &self.path(body.file));
                node.template(body.template, template || body.template || self.is_j2(body.file));
                node
            }
            PartSource::Image { body, mime } => self.media("image", body, mime),
            PartSource::Audio { body, mime } => self.media("audio", body, mime),
            PartSource::Resource { uri, mime, body } => {
                let mut node = leaf("resource", uri.text.as_deref().unwrap_or_default());
                if let Some(mime) = mime {
                    node.properties.push(("mime", Scalar::Text(mime.clone())));
                }
                if let Some(body) = body {
                    self.body(body, template, &mut node);
                }
                node
            }
        }
    }

    fn media(&self, name: &'static str, body: &BodySource, mime: &str) -> EffectiveNode {
        let file = ("file", Scalar::Text(self.path(body.file)));
        let mime = ("mime", Scalar::Text(mime.into()));
        EffectiveNode { name, properties: vec![file, mime], ..EffectiveNode::default() }
    }

    fn disabled(&self, name: &Spanned<String>) -> EffectiveNode {
        EffectiveNode {
            name: "prompt",
            arguments: vec![Scalar::Text(name.value.clone())],
            properties: vec![("enabled", Scalar::Boolean(false))],
            at: self.at(name.at),
            ..EffectiveNode::default()
        }
    }

    fn resource(
        &self,
        uri: &Spanned<String>,
        about: &About,
        access: &Access,
        variables: Vec<EffectiveNode>,
    ) -> EffectiveNode {
        let mut node = EffectiveNode {
            name: "resource",
            arguments: vec![Scalar::Text(uri.value.clone())],
            at: self.at(uri.at),
            ..EffectiveNode::default()
        };
        node.setting("name", &about.name, |name| Scalar::Text(name.clone()));
        node.setting("mime", &about.mime, |mime| Scalar::Text(mime.clone()));
        self.body(&about.body, false, &mut node);
        node.texts(&RESOURCE, about.settings.of(&RESOURCE));
        node.children.extend(self.readers(&about.readers, access));
        node.children.extend(variables);
        node.children.extend(about.allowed_secrets.iter().map(suppression));
        node
    }

    /// Renders a text or a file; `template` is what the text is if its node does not say.
    fn body(&self, body: &BodySource, template: bool, node: &mut EffectiveNode) {
        match (&body.inline_at, &body.text) {
            (Some(_), Some(text)) => {
                node.children.push(leaf("text", text));
                node.template(body.template, body.template || template);
            }
            _ => {
                node.properties.push(("file", Scalar::Text(self.path(body.file))));
                node.template(body.template, body.template || self.is_j2(body.file));
            }
        }
    }

    /// Returns a file's path as a document in the project's folder names it.
    fn path(&self, file: FileId) -> String {
        let path = &self.sources.file(file).path;
        let is_plain = !path.starts_with('~') && path.as_bytes().get(1) != Some(&b':');
        if is_plain { path.clone() } else { format!("./{path}") }
    }

    fn is_j2(&self, file: FileId) -> bool {
        self.sources.file(file).path.ends_with(".j2")
    }
}

/// Returns whether only the prompt's own `template=` can have made this part a template.
fn inherits_template(part: &PartSource) -> bool {
    match part {
        PartSource::Text(body) => body.template && body.inline_at.is_some(),
        PartSource::Resource { uri, .. } => uri.template,
        PartSource::Image { .. } | PartSource::Audio { .. } => false,
    }
}

/// Renders a node of the gate with its settings.
fn gate_node(rule: &'static Rule, gate: &Gate) -> EffectiveNode {
    let mut node = EffectiveNode { name: rule.name, ..EffectiveNode::default() };
    // Where a call is refused, no briefing comes with it.
    let refuses = gate.unlock.value == Unlock::Refuse;
    let is_idle = |name| refuses && std::ptr::eq(rule, &UNLOCK) && name == "budget";
    node.settings(rule, gate.of(rule).into_iter().filter(|(name, _)| !is_idle(*name)));
    node
}

impl EffectiveNode {
    /// Adds what a prompt is about, written or generated.
    fn about(&mut self, prompt: &Prompt) {
        if let Some(summary) = &prompt.summary {
            let generated = summary.at.is_none();
            self.children.push(EffectiveNode { generated, ..leaf("summary", &summary.value) });
        }
        if !prompt.chapters.is_empty() {
            let chapters = prompt.chapters.iter();
            self.children.push(EffectiveNode {
                name: "chapters",
                arguments: chapters.map(|chapter| Scalar::Text(chapter.value.clone())).collect(),
                generated: prompt.chapters.iter().any(|chapter| chapter.at.is_none()),
                ..EffectiveNode::default()
            });
        }
    }
}

fn suppression(allowed: &AllowedSecret) -> EffectiveNode {
    let mut node = leaf("allow-secret", &allowed.rule.value);
    node.properties.push(("because", Scalar::Text(allowed.because.value.clone())));
    node
}

fn argument(argument: &Argument, booleans: &[String]) -> EffectiveNode {
    let mut node = variable(argument, booleans);
    node.properties.insert(0, ("required", Scalar::Boolean(argument.required)));
    node
}

/// Renders an argument; a variable of a URI is always required, so that is not said of it.
fn variable(argument: &Argument, booleans: &[String]) -> EffectiveNode {
    let mut node = leaf("arg", &argument.name);
    if let Some(default) = &argument.default {
        node.properties.push(("default", Scalar::Text(default.clone())));
    }
    if let Some(description) = &argument.description {
        node.properties.push(("description", Scalar::Text(description.clone())));
    }
    match &argument.kind {
        ArgumentKind::Choice(_) if booleans.contains(&argument.name) => {
            node.properties.push(("type", Scalar::Text("boolean".into())));
        }
        ArgumentKind::Choice(choices) => node.children.push(EffectiveNode {
            name: "one-of",
            arguments: choices.iter().cloned().map(Scalar::Text).collect(),
            ..EffectiveNode::default()
        }),
        ArgumentKind::Text { chars_max: 0 } => {}
        ArgumentKind::Text { chars_max } => {
            node.properties.push(("max", Scalar::Chars(u64::from(*chars_max))));
        }
    }
    node
}
