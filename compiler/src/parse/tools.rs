//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use super::node::{Node, Reader};
use super::{argument, empty};
use crate::ast::{ToolChoice, ToolGroup, Tools};
use crate::diagnostic::Diagnostics;
use crate::language::tools::{DIAGNOSTICS, OTHER, TOOLS};
use crate::source::Spanned;

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
