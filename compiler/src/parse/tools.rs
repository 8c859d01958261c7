//! `tools { diagnostics; other PATTERN… }`: the tools that a server of the project offers, group by
//! group, and those of other servers that the project names.

use super::empty;
use super::node::{self, Node, Reader};
use crate::ast::{ToolChoice, ToolGroup, ToolSettings, Tools};
use crate::diagnostic::Diagnostics;
use crate::language::tools::TOOLS;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Tools {
    empty::check(node, out);
    let mut reader = Reader::new(node, &TOOLS, out);
    let mut groups = Vec::new();
    for group in ToolGroup::ALL {
        let Some(child) = reader.child(group.rule().name, out) else { continue };
        let settings = node::entry(child, group.rule(), out).settings;
        groups.push(ToolChoice { group: Spanned { value: group, at: child.name.at }, settings });
    }
    let mut settings = ToolSettings::default();
    reader.settings(&mut settings, out);
    reader.finish(out);
    Tools { at: node.name.at, groups, settings }
}
