//! `project NAME version=… epoch=… { title …; owner … }`

use super::node::{Node, Reader};
use crate::ast::Project;
use crate::diagnostic::Diagnostics;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Project {
    let mut reader = Reader::new(node, out);
    let project = Project {
        at: node.name.at,
        name: reader.argument("a name", out).and_then(|value| value.non_empty(out)),
        version: reader.text("version", out),
        epoch: reader.property("epoch").and_then(|value| value.integer(0, u64::MAX >> 1, out)),
        title: reader.text("title", out),
        owner: reader.text("owner", out),
    };
    reader.finish("a project", out);
    project
}
