//! Names in `expect`s, looked up.
//!
//! With an unknown name, `not-…` would always hold.

use std::collections::BTreeSet;
use std::fmt;

use miette::Diagnostic;
use relay_bundle::Level;
use relay_engine::glob;
use relay_engine::tool::{REACH, TOOLS};
use thiserror::Error;

use super::environment::Nodes;
use super::pattern::CHARS_MAX;
use crate::ast::{Claim, Expect, Policy, PromptsItem, Question, Who};
use crate::diagnostic::Diagnostics;
use crate::model::{Access, Prompt};
use crate::source::{Span, Spanned};
use relay_engine::nearest::nearest;

/// The most names that a help line lists.
const NAMED_MAX: usize = 10;

/// The names that an `expect` may use, also those of disabled and faulty nodes.
pub(super) struct Known {
    prompts: BTreeSet<String>,
    resources: BTreeSet<String>,
    skills: BTreeSet<String>,
    /// Users in `users` or in a skill.
    users: BTreeSet<String>,
    /// Groups in `users`.
    groups: BTreeSet<String>,
    has_roles: bool,
    /// Names and patterns of the tools of other servers.
    other_tools: Vec<String>,
    /// The rules of the policy.
    rules: Vec<String>,
}

impl Known {
    /// Returns the names that the documents declare.
    pub(super) fn declared(nodes: &Nodes<'_>) -> Self {
        let value = |name: &Option<Spanned<String>>| name.as_ref().map(|name| name.value.clone());
        let prompts = nodes.prompts.iter().filter_map(|item| match item.as_ref() {
            PromptsItem::Prompt(prompt) => value(&prompt.name),
            PromptsItem::Folder(_) | PromptsItem::Commands(_) | PromptsItem::AgentSkills(_) => None,
        });
        let blocks = || nodes.skills.iter().flat_map(|node| &node.blocks);
        let skills = || blocks().flat_map(|block| &block.skills);
        let of_blocks = blocks().filter(|block| block.level == Level::User);
        let of_blocks = of_blocks.flat_map(|block| &block.selectors).map(|user| user.value.clone());
        let named = |who| nodes.users.iter().filter(move |user| user.who == who);
        let users = named(Who::User).filter_map(|user| value(&user.id));
        Self {
            prompts: prompts.collect(),
            resources: nodes.resources.iter().filter_map(|node| value(&node.uri)).collect(),
            skills: skills().filter_map(|skill| value(&skill.name)).collect(),
            users: users
                .chain(of_blocks)
                .chain(skills().filter_map(|skill| value(&skill.selectors.user)))
                .collect(),
            groups: named(Who::Group).filter_map(|group| value(&group.id)).collect(),
            has_roles: !nodes.roles.is_empty(),
            other_tools: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Adds the prompts of files, the tools of other servers, and the rules of the policy.
    pub(super) fn add(
        &mut self,
        prompts: &[Prompt],
        disabled: &[Spanned<String>],
        other_tools: &[Spanned<String>],
        policy: Option<&Policy>,
    ) {
        let rules = policy.into_iter().flat_map(|policy| &policy.rules);
        self.rules.extend(rules.map(|rule| rule.name.value.clone()));
        let names = prompts.iter().map(|prompt| &prompt.name).chain(disabled);
        // Many names are added faster at once.
        self.prompts.append(&mut names.map(|name| name.value.clone()).collect());
        self.other_tools.extend(other_tools.iter().map(|name| name.value.clone()));
    }

    /// Reports an unknown name.
    fn check(&self, claim: Claim, name: &Spanned<String>, out: &mut Diagnostics) {
        let (what, known) = match claim {
            Claim::Text | Claim::NotText | Claim::Allow | Claim::Approve | Claim::Deny => return,
            Claim::Skill | Claim::NotSkill => (What::Skill, &self.skills),
            Claim::Full
            | Claim::Index
            | Claim::Names
            | Claim::Not
            | Claim::Prompt
            | Claim::NotPrompt => (What::Prompt, &self.prompts),
            Claim::Resource | Claim::NotResource => (What::Resource, &self.resources),
            Claim::Tool | Claim::NotTool => return self.check_offered(name, out),
        };
        if !known.contains(&name.value) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            report_unless(what, name, &known, out);
        }
    }

    /// Reports a tool that this server always leaves out of its list.
    fn check_offered(&self, name: &Spanned<String>, out: &mut Diagnostics) {
        let known: Vec<&str> = built_in().collect();
        let is_meant = nearest(&name.value, known.iter().copied()).is_some();
        if self.other_tools.contains(&name.value) || (self.is_other(name) && !is_meant) {
            let at = name.at;
            out.report(at, OtherServers { name: name.value.clone(), at });
        } else {
            report_unless(What::Tool, name, &known, out);
        }
    }

    /// Returns whether a tool belongs to another server.
    fn is_other(&self, name: &Spanned<String>) -> bool {
        self.other_tools.iter().any(|pattern| glob::matches(pattern, &name.value))
    }

    /// Reports a user that is probably a mistyped known one. Any other unknown user is accepted: an
    /// `expect` may ask for the answer to all others.
    fn check_user(&self, name: &Spanned<String>, out: &mut Diagnostics) {
        if self.users.contains(&name.value) {
            return;
        }
        if let Some(near) = near_user(&name.value, &self.users) {
            let help = format!("did you mean `{near}`?");
            let name = Spanned { value: name.value.clone(), at: name.at };
            out.report(name.at, Unknown { what: What::User, name: name.value, help, at: name.at });
        }
    }

    /// Reports a group that `users` leaves out.
    fn check_group(&self, name: &Spanned<String>, out: &mut Diagnostics) {
        if self.has_roles {
            let known: Vec<&str> = self.groups.iter().map(String::as_str).collect();
            return report_unless(What::Group, name, &known, out);
        }
        let help = "the project has no roles, so a group decides nothing: leave it out".to_owned();
        let at = name.at;
        out.report(at, Unknown { what: What::Group, name: name.value.clone(), help, at });
    }

    /// Reports a tool that is unknown both here and among those of other servers; a decision may also be
    /// about the tools of clients that run commands.
    fn check_called(&self, name: &Spanned<String>, is_decided: bool, out: &mut Diagnostics) {
        if let Some(help) = no_tool_name(&name.value) {
            let at = name.at;
            return out.report(at, NoToolName { name: name.value.clone(), help, at });
        }
        if self.is_other(name) {
            return;
        }
        let mut known: Vec<&str> = built_in().collect();
        known.extend(self.other_tools.iter().map(String::as_str));
        if is_decided {
            known.extend(REACH.iter().map(|reach| reach.tool));
        }
        report_unless(What::Called, name, &known, out);
    }
}

/// Returns the names of the tools of this version, whether or not they are offered.
fn built_in() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|spec| spec.name)
}

/// Returns the reason for which a name is impossible for a tool.
fn no_tool_name(name: &str) -> Option<&'static str> {
    match name {
        // A `[` that stays outside of a set is also impossible in a name.
        name if !glob::is_name(name) || name.contains(['*', '?', '[']) => {
            Some("name one tool; a pattern is not a call")
        }
        name if name.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Some("name one tool; no name of a tool has white space in it")
        }
        name if name.chars().count() > CHARS_MAX => Some("name one tool; this is too long for one"),
        _ => None,
    }
}

/// Returns the known user that was probably meant. Ids with an `@` may differ on one side only,
/// since otherwise all users of one domain would be near.
fn near_user<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k str> {
    let Some((person, domain)) = name.split_once('@') else {
        return nearest(name, known.iter().map(String::as_str));
    };
    known.iter().map(String::as_str).find(|known| match known.split_once('@') {
        Some((known, of)) if of == domain => nearest(person, [known]).is_some(),
        Some((known, of)) if known == person => nearest(domain, [of]).is_some(),
        Some(_) => false,
        None => nearest(name, [*known]).is_some(),
    })
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
        if let Some(user) = &expect.user {
            known.check_user(user, out);
        }
        for group in &expect.groups {
            known.check_group(group, out);
        }
        if let Some(tool) = &expect.tool {
            known.check_called(tool, expect.question == Question::Decision, out);
        }
        if let Some(rule) = &expect.rule {
            let rules: Vec<&str> = known.rules.iter().map(String::as_str).collect();
            report_unless(What::Rule, rule, &rules, out);
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
            format!("known names: {}", some.join(", "))
        }
    };
    if what == What::Called {
        let declare = format!("`tools {{ other {:?} }}`", name.value);
        help.push_str(&format!("; a tool of another server is declared with {declare}"));
    }
    out.report(name.at, Unknown { what, name: name.value.clone(), help, at: name.at });
}

/// The kind of the named thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Skill,
    Prompt,
    Resource,
    User,
    Group,
    Tool,
    /// The tool of a call, which may be another server's.
    Called,
    Rule,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skill => "skill",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::User => "user",
            Self::Group => "group",
            Self::Tool | Self::Called => "tool",
            Self::Rule => "rule",
        })
    }
}

/// A mistyped name is always absent, so an expectation of its absence would always hold.
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

/// A call has one tool. With a pattern or an invalid name, the expectation would be proved of an
/// impossible call.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is not the name of a tool")]
#[diagnostic(code(expect::tool_name))]
struct NoToolName {
    name: String,
    #[help]
    help: &'static str,
    #[label(primary, "no call is one of this")]
    at: Span,
}

/// The tools of other servers are declared for skills. This server leaves them out of its lists, so
/// its lists prove nothing about them.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is another server's tool: it is in no list of this server")]
#[diagnostic(
    code(expect::other_server),
    help("expect what its calls are given: `expect context tool=… {{ … }}`")
)]
struct OtherServers {
    name: String,
    #[label(primary, "not offered by this server")]
    at: Span,
}
