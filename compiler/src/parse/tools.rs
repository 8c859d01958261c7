//! `tools { diagnostics }`: the tools that a server of the project offers, group by group.

use super::node::{Node, Reader};
use crate::ast::{ToolGroup, Tools};
use crate::diagnostic::Diagnostics;
use crate::source::Spanned;

const GROUPS: &[(&str, ToolGroup)] = &[("diagnostics", ToolGroup::Diagnostics)];

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Tools {
    let mut reader = Reader::new(node, out);
    let mut groups = Vec::new();
    for (name, group) in GROUPS {
        let Some(child) = reader.child(name, out) else { continue };
        Reader::new(child, out).finish("a group of tools", out);
        groups.push(Spanned { value: *group, at: child.name.at });
    }
    reader.finish("tools", out);
    Tools { at: node.name.at, groups }
}
