//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use crate::grammar::{Field, Kind, Literal, Rule};

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
    &[Field::property("enabled", Kind::Boolean, "`#false` leaves them out.")
        .or(Literal::Boolean(true))],
);

pub(crate) static OTHER: Rule = Rule::leaf(
    "other",
    "other tools",
    "Tools of other servers that skills or roles name: names, and patterns of names.",
    &[Field::arguments("a pattern", Kind::Text("pattern"), "A name or a pattern.")],
);
