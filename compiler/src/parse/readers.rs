//! `for tenant=… role=…`: the callers that see a prompt or a resource.

use super::node::{Node, Reader};
use crate::ast::{For, ForSettings};
use crate::diagnostic::Diagnostics;
use crate::language::readers::FOR;

/// Reads the `for`s of a node.
pub(super) fn readers(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Vec<For> {
    reader.children(FOR.name).map(|child| one(child, out)).collect()
}

fn one(node: &Node, out: &mut Diagnostics) -> For {
    let mut reader = Reader::new(node, &FOR, out);
    let mut settings = ForSettings::default();
    reader.settings(&mut settings, out);
    let is_known = |name: &str| FOR.property(name).is_some();
    let says = node.properties.iter().any(|property| is_known(&property.name.value));
    reader.finish(out);
    For { at: node.name.at, says, settings }
}
