//! The calls and effects of a command.

use relay_policy::classify::Verdict;
use relay_policy::effect::{ArgumentKind, Call, Effect, Effects, Sent, Value, What};
use relay_policy::facts::Facts;
use schemars::JsonSchema;
use serde::Serialize;

/// A program that a command may run, in the order in which programs begin.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Called {
    /// The program, function or alias, as the command calls it; `…` is an unknown part.
    program: String,
    /// The program (a folder of the system is left out) and its sub-commands; absent if it is
    /// unknown to the facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    /// Its options.
    options: Vec<GivenOption>,
    /// Its operands.
    operands: Vec<GivenOperand>,
    /// The number of the call that runs it, such as one of `sudo`, `xargs`, `sh -c` or `ssh`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrapper: Option<u32>,
    /// The user as whom it runs, if the command names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The host on which it runs, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Whether a dry run, a check or a help covers it.
    capped: bool,
    /// Whether all of its words are understood.
    exact: bool,
    /// Its first byte in the command.
    start: u32,
    /// The byte after its name and sub-commands.
    end: u32,
}

/// An option of a call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GivenOption {
    /// Its name.
    name: String,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// Whether all of the value is known.
    exact: bool,
}

/// An operand of a call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GivenOperand {
    /// The operand; `…` is an unknown part.
    value: String,
    /// Its role for the program, by the facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    /// Whether all of it is known, and it is one word.
    exact: bool,
}

/// An effect of a command, in order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Done {
    /// Its kind: reads, writes, removes, changes, connects, listens, sends, runs, mounts, escalates, does or doubts.
    effect: &'static str,
    /// More about it, for people.
    how: String,
    /// The path, host or user; `…` is an unknown part.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// Whether all of the value is known, and it is one.
    exact: bool,
    /// The kind of a path, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    /// Whether a secret is read or sent.
    secret: bool,
    /// The number of the call that does it, or that runs the shell that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    /// Whether the dry run, check or help of its call covers it.
    capped: bool,
    /// Its first byte in the command.
    start: u32,
    /// The byte after its last.
    end: u32,
}

impl Called {
    /// Returns the calls of a verdict.
    pub(crate) fn all(verdict: &Verdict, facts: &Facts<'_>) -> Vec<Self> {
        let effects = &verdict.effects;
        effects.calls().iter().map(|call| Self::of(call, effects, facts)).collect()
    }

    fn of(call: &Call, effects: &Effects, facts: &Facts<'_>) -> Self {
        let shown = |value: Value| effects.display(value).into_owned();
        let mut options = Vec::new();
        let mut operands = Vec::new();
        for argument in effects.arguments(call) {
            let exact = argument.value.is_none_or(|value| effects.is_exact(value));
            let exact = exact && !argument.is_many;
            let value = argument.value.map(shown);
            let name = match argument.kind {
                ArgumentKind::Sub => continue,
                ArgumentKind::Operand(role) => {
                    let role = role.map(relay_policy::facts::Role::word);
                    operands.push(GivenOperand { value: value.unwrap_or_default(), role, exact });
                    continue;
                }
                ArgumentKind::Option(name) => facts.option_name(name),
                ArgumentKind::Help => "--help".to_owned(),
            };
            options.push(GivenOption { name, value, exact });
        }
        Self {
            program: shown(call.program),
            known: call.node.map(|_| effects.command(call)),
            options,
            operands,
            wrapper: call.wrapper.map(|id| id.number()),
            user: effects.user(call).map(shown),
            host: effects.host(call).map(shown),
            capped: effects.is_capped(call),
            exact: effects.is_exact(call.program) && !call.has_doubt,
            start: call.span.start,
            end: call.span.end,
        }
    }
}

impl Done {
    /// Returns the effects of a verdict.
    pub(crate) fn all(verdict: &Verdict, facts: &Facts<'_>) -> Vec<Self> {
        let effects = &verdict.effects;
        effects.all().iter().map(|effect| Self::of(effect, effects, facts)).collect()
    }

    fn of(effect: &Effect, effects: &Effects, facts: &Facts<'_>) -> Self {
        let value = effect.value();
        let (class, many, secret) = match effect.what {
            What::Path { class, is_many, is_secret, .. } => {
                (Some(class.name()), is_many, is_secret)
            }
            What::Sends(sent) => (None, false, sent == Sent::Secret),
            _ => (None, false, false),
        };
        let is_known = !matches!(effect.name(), "doubts" | "runs");
        Self {
            effect: effect.name(),
            how: effect.how(facts).to_owned(),
            value: value.map(|value| effects.display(value).into_owned()),
            exact: is_known && !many && value.is_none_or(|value| effects.is_exact(value)),
            class,
            secret,
            call: effect.by.map(|id| id.number()),
            capped: effects.is_covered(effect),
            start: effect.span.start,
            end: effect.span.end,
        }
    }
}
