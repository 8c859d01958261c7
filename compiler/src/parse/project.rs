//! `project NAME version=… epoch=… { title …; owner … }`

use super::node::{Node, Reader};
use crate::ast::Project;
use crate::diagnostic::Diagnostics;
use crate::language::project::PROJECT;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Project {
    let mut reader = Reader::new(node, &PROJECT, out);
    let project = Project {
        at: node.name.at,
        name: reader.argument(out).and_then(|value| value.non_empty(out)),
        version: reader.text("version", out),
        epoch: reader.value("epoch", out),
        title: reader.text("title", out),
        owner: reader.text("owner", out),
    };
    reader.finish(out);
    project
}
