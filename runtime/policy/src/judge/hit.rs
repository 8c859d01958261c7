//! Effects that raise the tier of a text, and their messages.

use std::sync::Arc;

use relay_bundle::Rule;

use crate::effect::{Effects, Touch};
use crate::facts::{FactPlace, Facts, FlagId, NameId, NodeId, Place, Role};
use crate::paths::PathClass;
use crate::span::Span;
use crate::tier::{Floor, Tier};

/// The tier of a text, with all of its effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The highest tier of all effects.
    pub tier: Tier,
    /// The effects that raised it, the highest first, then in the order of the text. Empty exactly
    /// for tier 0.
    pub hits: Vec<Hit>,
    /// The number of further hits.
    pub omitted: usize,
    /// The calls and effects of the text, in order.
    pub effects: Effects,
    /// The tier of each of those effects.
    pub tiers: Vec<Tier>,
}

/// A part of the text that raises its tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The tier that it raises the text to.
    pub tier: Tier,
    /// The bytes of the text.
    pub span: Span,
    /// The reason.
    pub cause: Cause,
    /// The place of the fact that raised it; `None` if the shell itself or a doubt raised it.
    pub place: Option<Place>,
    /// The program and its sub-commands as they were called; `None` unless a fact raised it.
    pub called: Option<Arc<str>>,
    /// The rule of the project that raised or lowered it to this tier.
    pub rule: Option<Arc<Rule>>,
}

/// The reason why a part of a text raises its tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The tier of a program or sub-command.
    Program(NodeId),
    /// The tier of a program in one of its forms.
    Form(NodeId, u32),
    /// The tier of an option.
    Flag(NodeId, FlagId, NameId),
    /// The tier of a value.
    Value(NodeId, u32),
    /// An action on a path.
    Path {
        /// The action.
        touch: Touch,
        /// The class of the path.
        class: PathClass,
        /// Whether it may affect many paths.
        is_many: bool,
    },
    /// An action of code in another language.
    Code(Role, &'static str),
    /// An action of the shell itself.
    Shell(&'static str),
    /// A rule of the project that raises the text; see [`Hit::rule`].
    Rule,
    /// A doubt.
    Floor {
        /// The kind of doubt.
        floor: Floor,
        /// The doubt in words.
        reason: &'static str,
    },
}

impl Hit {
    /// Returns the reason as a sentence for people.
    #[must_use]
    pub fn message(&self, facts: &Facts<'_>) -> String {
        match self.cause {
            Cause::Program(node) | Cause::Form(node, _) => {
                let says = match self.cause {
                    Cause::Form(_, form) => facts.form_says(form),
                    _ => facts.node_says(node),
                };
                sentence(&format!("`{}`", self.command(node, facts)), says, self.tier)
            }
            Cause::Flag(node, flag, flag_name) => {
                let name = self.command(node, facts);
                let subject = format!("`{}` of `{name}`", facts.name(flag_name));
                sentence(&subject, facts.flag_says(flag), self.tier)
            }
            Cause::Value(node, value) => {
                let name = self.command(node, facts);
                sentence(&format!("this word of `{name}`"), facts.value_says(value), self.tier)
            }
            Cause::Path { touch, class, is_many } => {
                let many = if is_many { ", one after the other" } else { "" };
                format!("{} {}{many}", touch.verb(), class.name())
            }
            Cause::Code(language, reason) => format!("{}: {reason}", language.word()),
            Cause::Shell(reason) => reason.to_owned(),
            Cause::Floor { floor, reason } => format!("{reason} ({})", floor.name()),
            Cause::Rule => match &self.rule {
                Some(rule) => reason_of(rule),
                None => "a rule raises it".to_owned(),
            },
        }
    }

    /// Returns a program and its sub-commands by the names in the call; facts are kept under the
    /// first of several names.
    fn command(&self, node: NodeId, facts: &Facts<'_>) -> String {
        let name = facts.command_name(node);
        let Some(called) = &self.called else { return name };
        let count = name.split(' ').count();
        called.split(' ').take(count).collect::<Vec<_>>().join(" ")
    }

    /// Returns the name of the rule that raised it.
    #[must_use]
    pub fn rule(&self, facts: &Facts<'_>) -> String {
        match self.cause {
            Cause::Program(node) | Cause::Form(node, _) | Cause::Value(node, _) => {
                format!("facts.{}", facts.command_name(node).replace(' ', "."))
            }
            Cause::Flag(node, _, flag_name) => {
                let name = facts.command_name(node).replace(' ', ".");
                format!("facts.{name}.{}", facts.name(flag_name))
            }
            Cause::Path { .. } => "path".to_owned(),
            Cause::Code(language, _) => format!("code.{}", language.word()),
            Cause::Shell(_) => "shell".to_owned(),
            Cause::Floor { floor, .. } => format!("floor.{}", floor.name()),
            Cause::Rule => {
                format!("policy.{}", self.rule.as_ref().map_or("", |rule| rule.name.as_str()))
            }
        }
    }

    /// Returns the place of the fact that raised it; `None` if no fact did.
    #[must_use]
    pub fn at<'a>(&self, facts: &Facts<'a>) -> Option<FactPlace<'a>> {
        self.place.map(|place| facts.fact_place(place))
    }
}

/// Returns the reason of a rule, or its name.
fn reason_of(rule: &Rule) -> String {
    match &rule.because {
        Some(because) => because.value.clone(),
        None => format!("rule `{}`", rule.name),
    }
}

fn sentence(subject: &str, says: &str, tier: Tier) -> String {
    match says {
        "" => format!("{subject} is tier {}", tier.number()),
        _ => format!("{subject} {says}"),
    }
}
