//! Names in `expect`s, looked up.
//!
//! A name that the project does not have would make `not-…` hold for ever.

use std::collections::BTreeSet;
use std::fmt;

use miette::Diagnostic;
use relay_engine::glob;
use relay_engine::tool::TOOLS;
use thiserror::Error;

use super::environment::Nodes;
use crate::ast::{Claim, Expect, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::model::{Access, Prompt};
use crate::nearest::nearest;
use crate::source::{Span, Spanned};

/// The most names that a help line lists.
const NAMED_MAX: usize = 10;

/// What an `expect` may name. What is switched off, or has faults of its own, is known too.
pub(super) struct Known {
    prompts: BTreeSet<String>,
    resources: BTreeSet<String>,
    skills: BTreeSet<String>,
    /// Names and patterns of the tools of other servers.
    other_tools: Vec<String>,
}

impl Known {
    /// Returns what the documents declare.
    pub(super) fn declared(nodes: &Nodes) -> Self {
        let value = |name: &Option<Spanned<String>>| name.as_ref().map(|name| name.value.clone());
        let prompts = nodes.prompts.iter().filter_map(|item| match item {
            PromptsItem::Prompt(prompt) => value(&prompt.name),
            PromptsItem::Folder(_) | PromptsItem::Commands(_) => None,
        });
        let skills = nodes.skills.iter().flat_map(|node| &node.blocks);
        let skills = skills.flat_map(|block| &block.skills);
        Self {
            prompts: prompts.collect(),
            resources: nodes.resources.iter().filter_map(|node| value(&node.uri)).collect(),
            skills: skills.filter_map(|skill| value(&skill.name)).collect(),
            other_tools: Vec::new(),
        }
    }

    /// Adds what was found in files, and the tools of other servers.
    pub(super) fn add(
        &mut self,
        prompts: &[Prompt],
        disabled: &[Spanned<String>],
        other_tools: &[Spanned<String>],
    ) {
        self.prompts.extend(prompts.iter().map(|prompt| prompt.name.value.clone()));
        self.prompts.extend(disabled.iter().map(|name| name.value.clone()));
        self.other_tools.extend(other_tools.iter().map(|name| name.value.clone()));
    }

    /// Reports a name that is not known.
    fn check(&self, claim: Claim, name: &Spanned<String>, out: &mut Diagnostics) {
        let (what, known) = match claim {
            Claim::Text | Claim::NotText => return,
            Claim::Skill | Claim::NotSkill => (What::Skill, &self.skills),
            Claim::Full
            | Claim::Index
            | Claim::Names
            | Claim::Not
            | Claim::Prompt
            | Claim::NotPrompt => (What::Prompt, &self.prompts),
            Claim::Resource | Claim::NotResource => (What::Resource, &self.resources),
            Claim::Tool | Claim::NotTool => {
                let known: Vec<&str> = built_in().collect();
                return report_unless(What::Tool, name, &known, out);
            }
        };
        if !known.contains(&name.value) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            report_unless(what, name, &known, out);
        }
    }

    /// Reports a tool that this server has not and no other is known to have.
    fn check_called(&self, name: &Spanned<String>, out: &mut Diagnostics) {
        if self.other_tools.iter().any(|pattern| glob::matches(pattern, &name.value)) {
            return;
        }
        let mut known: Vec<&str> = built_in().collect();
        known.extend(self.other_tools.iter().map(String::as_str));
        report_unless(What::Called, name, &known, out);
    }
}

/// Returns the names of the tools that this version has, offered or not.
fn built_in() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|spec| spec.name)
}

/// Looks up the names of each `expect`.
pub(super) fn expects(
    written: Vec<Expect>,
    known: &Known,
    access: &Access,
    out: &mut Diagnostics,
) -> Vec<Expect> {
    for expect in &written {
        if let Some(tenant) = &expect.tenant {
            access.tenant(tenant, out);
        }
        if let Some(role) = &expect.role {
            access.role(role, out);
        }
        if let Some(tool) = &expect.tool {
            known.check_called(tool, out);
        }
        for (claim, about) in &expect.claims {
            known.check(*claim, about, out);
        }
    }
    written
}

fn report_unless(what: What, name: &Spanned<String>, known: &[&str], out: &mut Diagnostics) {
    if known.contains(&name.value.as_str()) {
        return;
    }
    let mut help = match (nearest(&name.value, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => format!("the project has no {what}"),
        (None, [..]) => {
            let some: Vec<&str> = known.iter().copied().take(NAMED_MAX).collect();
            format!("there are: {}", some.join(", "))
        }
    };
    if what == What::Called {
        let declare = format!("`tools {{ other {:?} }}`", name.value);
        help.push_str(&format!("; a tool of another server is declared with {declare}"));
    }
    out.report(name.at, Unknown { what, name: name.value.clone(), help, at: name.at });
}

/// What a name is looked up as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Skill,
    Prompt,
    Resource,
    Tool,
    /// The tool of a call, which may be another server's.
    Called,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skill => "skill",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Tool | Self::Called => "tool",
        })
    }
}

/// A mistyped name would never be found, so what must not be there would seem to be absent.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown {what} `{name}`")]
#[diagnostic(code(expect::unknown))]
struct Unknown {
    what: What,
    name: String,
    #[help]
    help: String,
    #[label(primary, "not in this project")]
    at: Span,
}
