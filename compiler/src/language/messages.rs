//! `messages { NAME "…"; NAME file=… }`: the texts of the server's own answers.

use super::shared::FILE;
use crate::grammar::{Field, Kind, Rule};
use crate::setting::settings;
use crate::source::Spanned;

/// The texts of the server's own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageName {
    /// Opens the instructions.
    SessionGreeting,
    /// Tells how to use the tools that start processes.
    ToolGuidance,
    /// Ends the instructions of a gated project.
    GateInstructions,
    /// Follows a briefing.
    GateEncouragement,
    /// Follows the answer of `read_prompts`.
    ReadPromptsReminder,
    /// Precedes an unrequested briefing.
    GateInterceptPreamble,
}

impl MessageName {
    /// All of them, in the order in which a client reads them.
    pub(crate) const ALL: [Self; 6] = [
        Self::SessionGreeting,
        Self::ToolGuidance,
        Self::GateInstructions,
        Self::GateEncouragement,
        Self::ReadPromptsReminder,
        Self::GateInterceptPreamble,
    ];

    /// Returns the rule of its node.
    pub(crate) fn rule(self) -> &'static Rule {
        match self {
            Self::SessionGreeting => &SESSION_GREETING,
            Self::ToolGuidance => &TOOL_GUIDANCE,
            Self::GateInstructions => &GATE_INSTRUCTIONS,
            Self::GateEncouragement => &GATE_ENCOURAGEMENT,
            Self::ReadPromptsReminder => &READ_PROMPTS_REMINDER,
            Self::GateInterceptPreamble => &GATE_INTERCEPT_PREAMBLE,
        }
    }

    /// Returns the name of its node.
    pub(crate) fn word(self) -> &'static str {
        self.rule().name
    }

    /// Returns whether its text may be empty. A gate that lacks a text would be invisible to agents.
    pub(crate) fn may_be_empty(self) -> bool {
        matches!(self, Self::SessionGreeting | Self::ToolGuidance)
    }
}

pub(crate) static MESSAGES: Rule = Rule {
    name: "messages",
    what: "messages",
    meaning: "The texts that the server itself sends. Messages that are not written are built in.",
    fields: &[],
    children: &[
        &SESSION_GREETING,
        &TOOL_GUIDANCE,
        &GATE_INSTRUCTIONS,
        &GATE_ENCOURAGEMENT,
        &READ_PROMPTS_REMINDER,
        &GATE_INTERCEPT_PREAMBLE,
    ],
    example: include_str!("../reference/messages.kdl"),
};

pub(crate) static SESSION_GREETING: Rule = Rule::leaf(
    "session-greeting",
    "a system message",
    "Begins the instructions that a client reads when it connects.",
    &[
        Field::optional("a text", Kind::Text("text"), ""),
        Field { meaning: "The same, from a file.", ..FILE },
    ],
);

pub(crate) static TOOL_GUIDANCE: Rule = Rule {
    name: "tool-guidance",
    meaning: "Follows the greeting: how to use the tools of `shell`, `sessions` and `ssh`. Callers who lack one of these tools do not get it.",
    ..SESSION_GREETING
};

pub(crate) static GATE_INSTRUCTIONS: Rule = Rule {
    name: "gate-instructions",
    meaning: "Ends the instructions of a gated project: how to get a briefing.",
    ..SESSION_GREETING
};

pub(crate) static GATE_ENCOURAGEMENT: Rule =
    Rule { name: "gate-encouragement", meaning: "Follows a briefing.", ..SESSION_GREETING };

pub(crate) static READ_PROMPTS_REMINDER: Rule = Rule {
    name: "read-prompts-reminder",
    meaning: "Follows what `read_prompts` returns.",
    ..SESSION_GREETING
};

pub(crate) static GATE_INTERCEPT_PREAMBLE: Rule = Rule {
    name: "gate-intercept-preamble",
    meaning: "Precedes a briefing that the agent did not ask for.",
    ..SESSION_GREETING
};

settings! {
    /// The settings of a message: one of the two is its text.
    struct MessageSettings {}
    SESSION_GREETING | TOOL_GUIDANCE | GATE_INSTRUCTIONS | GATE_ENCOURAGEMENT | READ_PROMPTS_REMINDER
        | GATE_INTERCEPT_PREAMBLE {
        text: Option<Spanned<String>> = "a text",
        file: Option<Spanned<String>> = FILE.name,
    }
}
