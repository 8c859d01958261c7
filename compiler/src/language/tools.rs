//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use relay_bundle::Selector;

use super::shared::ENABLED;
use crate::grammar::{Field, Kind, Rule, Scalar, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

/// Tools that a project offers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolGroup {
    /// Tools about the server itself.
    Diagnostics,
}

impl ToolGroup {
    /// All of them.
    pub(crate) const ALL: [Self; 1] = [Self::Diagnostics];

    /// Returns the rule of its node.
    pub(crate) fn rule(self) -> &'static Rule {
        match self {
            Self::Diagnostics => &DIAGNOSTICS,
        }
    }
}

pub(crate) static TOOLS: Rule = Rule {
    name: "tools",
    what: "tools",
    meaning: "The tools that a server of the project offers, besides those of the gate, and those of other servers that skills or roles name.",
    fields: &[],
    children: &[&DIAGNOSTICS, &OTHER],
    example: include_str!("../reference/tools.kdl"),
};

pub(crate) static DIAGNOSTICS: Rule = Rule::leaf(
    "diagnostics",
    "a group of tools",
    "`server_info`, `audit_tail` and `explain_context`: what the server is, what it recorded, and what calls are given.",
    &[Field { meaning: "`#false` leaves them out.", ..ENABLED }],
);

pub(crate) static OTHER: Rule = Rule {
    name: "other",
    what: "other tools",
    meaning: "Tools of other servers that skills, roles or rules name: names, and patterns of names. Its `arg`s say what a call does to the value of an argument, so that rules over effects reach it.",
    fields: &[Field::joined("a pattern", Kind::Name("pattern"), "A name or a pattern.")],
    children: &[&OTHER_ARG],
    example: "",
};

pub(crate) static OTHER_ARG: Rule = Rule::leaf(
    "arg",
    "an argument",
    "An argument of these tools, and its effect: `arg path writes`.",
    &[
        Field::argument("an argument", Kind::Name("name"), "The name of the argument."),
        Field::argument(
            "an effect",
            Kind::Words(Selector::WORDS),
            "What happens to its value: `reads`, `writes`, `removes`, `changes` or `touches` a path, `connects` to a host, `sends` it away, `listens` on it, `runs` it, or `escalates` to a user.",
        ),
    ],
);

words!(Selector {
    "reads" = Selector::Reads,
    "writes" = Selector::Writes,
    "removes" = Selector::Removes,
    "changes" = Selector::Changes,
    "touches" = Selector::Touches,
    "connects" = Selector::Connects,
    "sends" = Selector::Sends,
    "listens" = Selector::Listens,
    "runs" = Selector::Runs,
    "escalates" = Selector::Escalates,
});

settings! {
    /// The settings of a group of tools. Only groups with a node are offered.
    struct ToolGroupSettings {}
    DIAGNOSTICS {
        enabled: Setting<bool> = ENABLED.name,
    }
}

settings! {
    /// The settings of `tools`.
    struct ToolSettings {}
    OTHER {
        /// The tools of other servers that the project names.
        other: Option<Vec<Spanned<String>>> = "a pattern",
    }
}
