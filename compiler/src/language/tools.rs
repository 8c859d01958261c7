//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use super::shared::ENABLED;
use crate::grammar::{Field, Kind, Rule};
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

pub(crate) static OTHER: Rule = Rule::leaf(
    "other",
    "other tools",
    "Tools of other servers that skills or roles name: names, and patterns of names.",
    &[Field::arguments("a pattern", Kind::Name("pattern"), "A name or a pattern.")],
);

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
