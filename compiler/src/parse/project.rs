//! `project NAME version=… epoch=… { title …; owner … }`

use super::node::{Node, Reader};
use crate::ast::{Project, ProjectSettings};
use crate::diagnostic::Diagnostics;
use crate::language::project::PROJECT;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Project {
    let mut reader = Reader::new(node, &PROJECT, out);
    let mut settings = ProjectSettings::default();
    reader.settings(&mut settings, out);
    let project = Project { at: node.name.at, name: reader.name(out), settings };
    reader.finish(out);
    project
}
