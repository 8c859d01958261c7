//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use super::node::{Node, Reader};
use super::{argument, empty};
use crate::ast::{ToolChoice, ToolGroup, Tools};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::source::Spanned;

pub(crate) static TOOLS: Rule = Rule {
    name: "tools",
    what: "tools",
    meaning: "The tools that a server of the project offers, besides those of the gate, and those of other servers that skills or roles name.",
    fields: &[],
    children: &[&DIAGNOSTICS, &OTHER],
    example: include_str!("../reference/tools.kdl"),
};

static DIAGNOSTICS: Rule = Rule::leaf(
    "diagnostics",
    "a group of tools",
    "`server_info`, `audit_tail` and `explain_context`: what the server is, what it recorded, and what calls are given.",
    &[Field::property("enabled", Kind::Boolean, "`#false` leaves them out.")
        .or(Literal::Boolean(true))],
);

static OTHER: Rule = Rule::leaf(
    "other",
    "other tools",
    "Tools of other servers that skills or roles name: names, and patterns of names.",
    &[Field::arguments("a pattern", Kind::Text("pattern"), "A name or a pattern.")],
);

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Tools {
    empty::check(node, out);
    let mut reader = Reader::new(node, &TOOLS, out);
    let mut groups = Vec::new();
    for (rule, group) in [(&DIAGNOSTICS, ToolGroup::Diagnostics)] {
        let Some(child) = reader.child(rule.name, out) else { continue };
        let mut reader = Reader::new(child, rule, out);
        let enabled = reader.value("enabled", out);
        reader.finish(out);
        let group = Spanned { value: group, at: child.name.at };
        groups.push(ToolChoice { group, enabled });
    }
    let other = reader.child(OTHER.name, out).map(|child| argument::list(child, &OTHER, out));
    reader.finish(out);
    Tools { at: node.name.at, groups, other }
}
