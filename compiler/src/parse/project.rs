//! `project NAME version=… epoch=… { title …; owner … }`

use super::node::{Node, Reader};
use crate::ast::{Project, ProjectSettings};
use crate::diagnostic::Diagnostics;
use crate::language::project::PROJECT;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Project {
    let mut reader = Reader::new(node, &PROJECT, out);
    let mut settings = ProjectSettings::default();
    reader.settings(settings.of_mut(&PROJECT), out);
    let project = Project {
        at: node.name.at,
        name: reader.argument(out).and_then(|value| value.non_empty(out)),
        settings,
    };
    reader.finish(out);
    project
}
