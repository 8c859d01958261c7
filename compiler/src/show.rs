//! The effective project: every setting in force, including the defaults.
//!
//! `relay show` prints it with origins; a bundle carries it as its canonical source, so that a
//! default that changed with the compiler appears in a diff. Compiled again as a document in the
//! project's folder, it gives the same project. The language cannot express two things: that the
//! text of a file begins after its front matter, and which folder an inline template includes from.

mod access;
mod expect;
mod facts;
mod hosts;
mod node;
mod policy;
mod renderer;

use std::collections::BTreeMap;

use relay_bundle::{Argument, ArgumentKind, Level, Suppressed, Unlock};
use serde_json::{Value, json};

use crate::ast::ToolChoice;
use crate::grammar::Rule;
use crate::language::argument::{ARG, ONE_OF};
use crate::language::gate::{GATE, UNLOCK, UNLOCK_BUDGET};
use crate::language::message::{self, MESSAGE, MIME};
use crate::language::messages::MESSAGES;
use crate::language::project::PROJECT;
use crate::language::prompt::{CHAPTERS, PROMPT};
use crate::language::prompts::PROMPTS;
use crate::language::resource::{RESOURCE, RESOURCES};
use crate::language::shared::{BECAUSE, FILE, TEMPLATE, TEXT, allowing};
use crate::language::skills::{META, SKILL, SKILLS, SkillSelectors};
use crate::language::tools::{OTHER, OTHER_ARG, TOOLS};
use crate::model::{
    About, Access, Allowed, BodySource, Gate, MessageSource, Model, PartSource, Prompt, Skill,
    Skills, SystemText,
};
use crate::source::{FileId, Sources, Spanned};
use node::{EffectiveNode, Scalar, node_json, write_kdl};
pub(crate) use renderer::literal_kdl;
use renderer::{Renderer, block, leaf, list, said, said_by};

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
        nodes.extend(model.hosts.iter().map(|hosts| renderer.hosts(hosts)));
        if !(model.tools.is_empty() && model.other_tools.is_empty()) {
            let mut children: Vec<_> =
                model.tools.iter().map(|group| renderer.tool_group(group)).collect();
            if !model.other_tools.is_empty() {
                children.extend(renderer.other_tools(model));
            }
            nodes.push(block(&TOOLS, children));
        }
        if let Some((policy, facts)) = &model.policy {
            nodes.extend(renderer.policy(policy, facts, model.starts_processes()));
        }
        let said = model.messages.all().into_iter().filter(|message| model.says(message));
        let children = said.map(|message| renderer.system_text(message)).collect();
        nodes.push(block(&MESSAGES, children));
        if !model.prompts.is_empty() || !model.disabled_prompts.is_empty() {
            let mut children: Vec<_> =
                model.prompts.iter().map(|it| renderer.prompt(it, &model.access)).collect();
            children.extend(model.disabled_prompts.iter().map(|name| renderer.disabled(name)));
            nodes.push(block(&PROMPTS, children));
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
            nodes.push(block(&RESOURCES, children));
        }
        if !(model.skills.list.is_empty() && model.skills.disabled.is_empty()) {
            nodes.push(renderer.skills(&model.skills));
        }
        nodes.extend(model.expects.iter().map(|expect| renderer.expect(expect)));
        Self { nodes }
    }

    /// Returns the project as KDL; with `origins` a comment at each node names its place and its
    /// default values, and comments hold the generated nodes.
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
        let mut node = self.named(&PROJECT, &project.name);
        node.settings(&PROJECT, &project.settings);
        node.texts(&PROJECT, &project.settings);
        node
    }

    fn gate(&self, gate: &Gate) -> EffectiveNode {
        let mut node =
            EffectiveNode { at: gate.at.and_then(|at| self.at(at)), ..EffectiveNode::of(&GATE) };
        node.settings(&GATE, gate);
        if gate.on.value {
            node.nodes(&GATE, gate);
        } else {
            for (name, _) in std::mem::take(&mut node.properties) {
                node.defaults.retain(|default| *default != name);
            }
        }
        // A gate that refuses calls leaves out their briefing.
        if gate.unlock.value == Unlock::Refuse {
            let unlock = node.children.iter_mut().find(|child| child.name == UNLOCK.name);
            unlock.into_iter().for_each(|unlock| unlock.forget(UNLOCK_BUDGET));
        }
        node
    }

    /// Returns the tools of other servers: those with effects each as written, the others in one list.
    fn other_tools(&self, model: &Model) -> Vec<EffectiveNode> {
        let has_effects = |name: &&Spanned<String>| {
            let patterns = model.tool_effects.iter().flat_map(|tools| &tools.patterns);
            patterns.into_iter().any(|pattern| pattern.value == name.value)
        };
        let plain: Vec<_> =
            model.other_tools.iter().filter(|name| !has_effects(name)).cloned().collect();
        let mut nodes = Vec::new();
        if !plain.is_empty() {
            nodes.push(list(OTHER.name, &plain));
        }
        nodes.extend(model.tool_effects.iter().map(|tools| {
            let mut node = list(OTHER.name, &tools.patterns);
            node.at = self.at(tools.at);
            node.children.extend(tools.arguments.iter().map(|(name, effect)| EffectiveNode {
                arguments: vec![said(name), Scalar::Text(effect.value.word().into())],
                ..EffectiveNode::of(&OTHER_ARG)
            }));
            node
        }));
        nodes
    }

    fn tool_group(&self, ToolChoice { group, settings }: &ToolChoice) -> EffectiveNode {
        EffectiveNode { at: self.at(group.at), ..said_by(group.value.rule(), settings) }
    }

    fn skills(&self, skills: &Skills) -> EffectiveNode {
        let mut node = EffectiveNode::of(&SKILLS);
        node.settings(&SKILLS, &skills.limits);
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
        let mut node = self.named(&SKILL, &skill.name);
        if !on {
            node.switched_off();
            return node;
        }
        node.settings(&SKILL, &skill.settings);
        let selectors = SkillSelectors {
            tenant: skill.tenant.clone().filter(|_| skill.level != Level::Tenant),
            user: skill.user.clone().filter(|_| skill.level != Level::User),
            tools: Some(skill.tools.clone()).filter(|_| skill.level != Level::Tool),
        };
        node.settings(&SKILL, &selectors);
        if let Some(body) = &skill.body {
            self.body(body, false, &mut node);
            // A skill is always plain text, with any file name.
            node.properties.retain(|(name, _)| *name != TEMPLATE.name);
        }
        node.texts(&SKILL, &skill.settings);
        node.nodes(&SKILL, &selectors);
        if let Some(meta) = &skill.meta {
            let facts = meta.value.iter().map(|(key, value)| (key.clone(), Scalar::of(value)));
            node.children
                .push(EffectiveNode { facts: facts.collect(), ..EffectiveNode::of(&META) });
        }
        node.children.extend(skill.allowed.iter().map(suppression));
        node
    }

    fn system_text(&self, message: &SystemText) -> EffectiveNode {
        EffectiveNode {
            at: message.at.and_then(|at| self.at(at)),
            defaults: if message.at.is_none() { vec![TEXT.name] } else { Vec::new() },
            ..leaf(message.name.word(), &message.text)
        }
    }

    fn prompt(&self, prompt: &Prompt, access: &Access) -> EffectiveNode {
        let mut node = self.named(&PROMPT, &prompt.name);
        if prompt.generated {
            node.generated = true;
            return node;
        }
        node.settings(&PROMPT, &prompt.settings);
        node.setting("briefing", &prompt.briefing, |briefing| Scalar::Boolean(*briefing));
        let messages = &prompt.messages;
        if let ([body], []) = (prompt.bodies.as_slice(), messages.as_slice()) {
            self.body(body, false, &mut node);
        }
        // The texts in messages are all templates or all plain: only the prompt can set it.
        let template = messages.iter().flat_map(|message| &message.parts).any(inherits_template);
        if template {
            node.template(true, true);
        }
        node.texts(&PROMPT, &prompt.settings);
        node.about(prompt);
        node.children.extend(self.readers(&prompt.readers, access));
        let arguments = prompt.rendering.arguments.iter();
        node.children.extend(arguments.map(|each| argument(each, &prompt.booleans)));
        node.children.extend(messages.iter().map(|message| self.message(message, template)));
        node.children.extend(prompt.allowed.iter().map(suppression));
        node
    }

    fn message(&self, message: &MessageSource, template: bool) -> EffectiveNode {
        let mut node = EffectiveNode::of(&MESSAGE);
        node.settings(&MESSAGE, &message.settings);
        node.children = message.parts.iter().map(|part| self.part(part, template)).collect();
        node
    }

    fn part(&self, part: &PartSource, template: bool) -> EffectiveNode {
        match part {
            PartSource::Text(BodySource { inline_at: Some(_), text: Some(text), .. }) => {
                leaf(TEXT.name, text)
            }
            PartSource::Text(body) => {
                let mut node = leaf(message::FILE.name, &self.path(body.file));
                node.template(body.template, template || body.template || self.is_j2(body.file));
                node
            }
            PartSource::Image { body, mime } => self.media(&message::IMAGE, body, mime),
            PartSource::Audio { body, mime } => self.media(&message::AUDIO, body, mime),
            PartSource::Resource { uri, mime, body } => {
                let mut node = leaf(message::RESOURCE.name, uri.text());
                if let Some(mime) = mime {
                    node.properties.push((MIME, Scalar::Text(mime.clone())));
                }
                if let Some(body) = body {
                    self.body(body, template, &mut node);
                }
                node
            }
        }
    }

    fn media(&self, rule: &'static Rule, body: &BodySource, mime: &str) -> EffectiveNode {
        let file = (FILE.name, Scalar::Text(self.path(body.file)));
        let mime = (MIME, Scalar::Text(mime.into()));
        EffectiveNode { properties: vec![file, mime], ..EffectiveNode::of(rule) }
    }

    fn disabled(&self, name: &Spanned<String>) -> EffectiveNode {
        let mut node = self.named(&PROMPT, name);
        node.switched_off();
        node
    }

    fn resource(
        &self,
        uri: &Spanned<String>,
        about: &About,
        access: &Access,
        variables: Vec<EffectiveNode>,
    ) -> EffectiveNode {
        let mut node = self.named(&RESOURCE, uri);
        node.setting("name", &about.name, |name| Scalar::Text(name.clone()));
        node.setting(MIME, &about.mime, |mime| Scalar::Text(mime.clone()));
        self.body(&about.body, false, &mut node);
        node.texts(&RESOURCE, &about.settings);
        node.children.extend(self.readers(&about.readers, access));
        node.children.extend(variables);
        node.children.extend(about.allowed.iter().map(suppression));
        node
    }

    /// Renders a text or a file; `template` is the form of a text whose node leaves it out.
    fn body(&self, body: &BodySource, template: bool, node: &mut EffectiveNode) {
        match (&body.inline_at, &body.text) {
            (Some(_), Some(text)) => {
                node.children.push(leaf(TEXT.name, text));
                node.template(body.template, body.template || template);
            }
            _ => {
                node.properties.push((FILE.name, Scalar::Text(self.path(body.file))));
                node.template(body.template, body.template || self.is_j2(body.file));
            }
        }
    }

    /// Returns a file's path as it is written in a document in the project's folder.
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

impl EffectiveNode {
    /// Adds the summary and the like of a prompt, written or generated.
    fn about(&mut self, prompt: &Prompt) {
        if let Some(summary) = &prompt.summary {
            let generated = summary.at.is_none();
            self.children.push(EffectiveNode { generated, ..leaf("summary", &summary.value) });
        }
        if !prompt.chapters.is_empty() {
            let chapters = prompt.chapters.iter();
            self.children.push(EffectiveNode {
                arguments: chapters.map(|chapter| Scalar::Text(chapter.value.clone())).collect(),
                generated: prompt.chapters.iter().any(|chapter| chapter.at.is_none()),
                ..EffectiveNode::of(&CHAPTERS)
            });
        }
    }
}

fn suppression(allowed: &Allowed) -> EffectiveNode {
    let of_folder = allowed.of == Suppressed::Mark;
    // A comment has one line.
    let text = |text: &str| match of_folder {
        true => text.split_whitespace().collect::<Vec<_>>().join(" "),
        false => text.to_owned(),
    };
    let mut node = leaf(allowing(allowed.of).name, &text(&allowed.rule.value));
    node.properties.push((BECAUSE.name, Scalar::Text(text(&allowed.because.value))));
    node.of_folder = of_folder;
    node
}

fn argument(argument: &Argument, booleans: &[String]) -> EffectiveNode {
    let mut node = variable(argument, booleans);
    node.put(&ARG, "required", Scalar::Boolean(argument.required));
    node.properties.rotate_right(1);
    node
}

/// Renders an argument; a variable of a URI is always required, so `required` is left out.
fn variable(argument: &Argument, booleans: &[String]) -> EffectiveNode {
    let mut node = leaf(ARG.name, &argument.name);
    if let Some(default) = &argument.default {
        node.put(&ARG, "default", Scalar::Text(default.clone()));
    }
    if let Some(description) = &argument.description {
        node.put(&ARG, "description", Scalar::Text(description.clone()));
    }
    match &argument.kind {
        ArgumentKind::Choice(_) if booleans.contains(&argument.name) => {
            node.put(&ARG, "type", Scalar::Text("boolean".into()));
        }
        ArgumentKind::Choice(choices) => node.children.push(EffectiveNode {
            arguments: choices.iter().cloned().map(Scalar::Text).collect(),
            ..EffectiveNode::of(&ONE_OF)
        }),
        ArgumentKind::Text { chars_max: 0 } => {}
        ArgumentKind::Text { chars_max } => {
            node.put(&ARG, "max", Scalar::Chars(u64::from(*chars_max)));
        }
    }
    node
}
