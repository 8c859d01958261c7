//! All prompts of a project: those of nodes, of folders and of commands, names unique.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use thiserror::Error;

use super::environment::PromptPatches;
use super::prompt::{Markdown, Named};
use super::{agent_skills, markdown, name, prompt};
use crate::ast::{self, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::model::Prompt;
use crate::parse::MarkdownKind;
use crate::source::{Span, Spanned};
use relay_engine::nearest::nearest;

/// Resolves all prompts; returns the enabled ones and the names of the others, both sorted.
///
/// A prompt of the project replaces the generated one of its name, or switches it off.
pub(super) fn prompts(
    items: Vec<Cow<'_, PromptsItem>>,
    patches: PromptPatches,
    generated: Option<Prompt>,
    named: Named<'_, '_>,
    out: &mut Diagnostics,
) -> (Vec<Prompt>, Vec<Spanned<String>>) {
    let mut found = Found {
        named,
        patches,
        names: Vec::new(),
        prompts: Vec::new(),
        bare: Vec::new(),
        within: BTreeMap::new(),
    };
    for item in items {
        match item.into_owned() {
            PromptsItem::Prompt(node) => found.node(node, out),
            PromptsItem::Folder(folder) => found.folder(folder, MarkdownKind::Folder, out),
            PromptsItem::Commands(folder) => found.folder(folder, MarkdownKind::Command, out),
            PromptsItem::AgentSkills(folder) => found.agent_skills(&folder, out),
        }
    }
    found.finish(generated, out)
}

/// The prompts found so far.
struct Found<'p, 's> {
    named: Named<'p, 's>,
    patches: PromptPatches,
    /// All names, also those of faulty prompts.
    names: Vec<String>,
    /// The prompts, also those that are off.
    prompts: Vec<Prompt>,
    /// The names of disabled prompts that have no text.
    bare: Vec<Spanned<String>>,
    /// For each agent skill inside another one, the name of that one's prompt.
    within: BTreeMap<String, String>,
}

impl Found<'_, '_> {
    fn node(&mut self, node: ast::Prompt, out: &mut Diagnostics) {
        self.names.extend(node.name.as_ref().map(|name| name.value.clone()));
        let off = !node.settings.enabled.value;
        if off && prompt::has_no_body(&node.body) && node.messages.is_empty() {
            // A disabled prompt needs no text: an environment may give it one.
            self.bare.extend(node.name.filter(|name| name::check(name, "prompt", out)));
            return;
        }
        self.one(node, None, None, out);
    }

    fn folder(&mut self, folder: ast::Folder, kind: MarkdownKind, out: &mut Diagnostics) {
        let markdown::FolderPrompts { prompts, faulty } =
            markdown::folder(self.named.sources, folder, kind, out);
        for name in faulty {
            self.patches.forget(&name);
            self.names.push(name);
        }
        self.prompts.reserve_exact(prompts.len());
        for markdown::FilePrompt { mut node, markdown } in prompts {
            self.names.extend(node.name.as_ref().map(|name| name.value.clone()));
            self.patches.apply(&mut node, out);
            self.one(node, Some(markdown), None, out);
        }
    }

    fn agent_skills(&mut self, folder: &ast::Folder, out: &mut Diagnostics) {
        let agent_skills::FolderSkills { skills, faulty } =
            agent_skills::folder(self.named.sources, folder, out);
        for name in faulty {
            self.patches.forget(&name);
            self.names.push(name);
        }
        for agent_skills::SkillPrompt { mut node, markdown, skill } in skills {
            let Some(name) = node.name.clone() else { continue };
            self.names.push(name.value.clone());
            self.patches.apply(&mut node, out);
            let is_other = !prompt::has_no_body(&node.body) || node.body.template.is_some();
            if is_other || !node.messages.is_empty() {
                out.report(name.at, OtherText { name: name.value, at: name.at });
                continue;
            }
            self.within.extend(skill.within.clone().map(|outer| (name.value, outer)));
            self.one(node, Some(markdown), Some(skill), out);
        }
    }

    /// Resolves a prompt, also a disabled one, so that its faults are reported before it is
    /// enabled.
    fn one(
        &mut self,
        node: ast::Prompt,
        markdown: Option<Markdown>,
        skill: Option<agent_skills::Draft>,
        out: &mut Diagnostics,
    ) {
        let undecided = prompt::undecided(&node.arguments, &node.allowed);
        match prompt::prompt(node, markdown, &self.named, out) {
            Some(mut prompt) => {
                skill.into_iter().for_each(|skill| agent_skills::finish(skill, &mut prompt));
                self.prompts.push(prompt);
            }
            None => undecided.into_iter().for_each(|at| out.mark_used(at)),
        }
    }

    fn finish(
        self,
        generated: Option<Prompt>,
        out: &mut Diagnostics,
    ) -> (Vec<Prompt>, Vec<Spanned<String>>) {
        let Self { patches, names, mut prompts, mut bare, within, .. } = self;
        let names: BTreeSet<String> = names.into_iter().collect();
        patches.report_rest(&names, out);
        agent_skills::check_nested(&within, &prompts, out);
        let mut switched_off = Vec::new();
        if let Some(generated) = generated {
            let name = generated.name.value.clone();
            if !names.contains(&name) {
                prompts.push(generated);
            }
            // Beside another prompt of the name, `enabled=#false` misses its aim, which is reported.
            if prompts.iter().all(|prompt| prompt.name.value != name) {
                switched_off.extend(bare.extract_if(.., |off| off.value == name));
            }
        }
        let mut unique = name::unique(prompts, "prompt", |prompt| &prompt.name, out);
        for prompt in &unique {
            out.mark_used(prompt.name.at);
        }
        let mut disabled: Vec<Spanned<String>> = Vec::new();
        for name in switched_off {
            out.mark_used(name.at);
            disabled.push(name);
        }
        for name in bare {
            let Spanned { value, at } = name.clone();
            let found = unique.binary_search_by(|prompt| prompt.name.value.cmp(&value));
            if let Some(first) = found.ok().and_then(|index| unique.get(index)) {
                out.report(at, OffElsewhere { name: value, first_at: first.name.at, at });
                continue;
            }
            let others = names.iter().map(String::as_str).filter(|other| *other != value);
            let help = match nearest(&value, others) {
                Some(near) => format!("did you mean `{near}`? Write `enabled=#false` on its node"),
                None => "give it a text, here or in a `when`, or remove it".into(),
            };
            out.report_idle(at, NothingToSwitchOff { name: value, help, at });
            disabled.push(name);
        }
        let off = unique.extract_if(.., |prompt| !prompt.settings.enabled.value);
        disabled.extend(off.map(|prompt| prompt.name));
        disabled.sort_by(|a, b| a.value.cmp(&b.value));
        disabled.dedup_by(|a, b| a.value == b.value);
        (unique, disabled)
    }
}

/// `enabled=#false` on a node of its own looks as if the prompt were off, and it would still be
/// served.
#[derive(Debug, Error, Diagnostic)]
#[error("`enabled=#false` does not reach the prompt `{name}`, which is declared elsewhere")]
#[diagnostic(
    code(prompt::off_elsewhere),
    help(
        "write `enabled=#false` on that node, or remove the file; to switch the prompt off in one environment, patch it in a `when`"
    )
)]
struct OffElsewhere {
    name: String,
    #[label("declared here, and served")]
    first_at: Span,
    #[label(primary, "switches nothing off")]
    at: Span,
}

/// `enabled=#false` alone switches off a prompt of a folder. This name is unknown, so the intended
/// prompt is still served.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no prompt `{name}` to switch off")]
#[diagnostic(code(prompt::nothing_off), severity(Warning))]
struct NothingToSwitchOff {
    name: String,
    #[help]
    help: String,
    #[label(primary, "switches nothing off")]
    at: Span,
}

/// The text of an agent skill is its `SKILL.md`, whose digest hosts check. A patch with another text
/// would show the prompt's readers something else.
#[derive(Debug, Error, Diagnostic)]
#[error("the text of the agent skill `{name}` is its `SKILL.md`")]
#[diagnostic(
    code(agent_skills::other_text),
    help("remove the text from the `when`; patch `for`, `priority` or `enabled` there")
)]
struct OtherText {
    name: String,
    #[label(primary, "patched with another text")]
    at: Span,
}
