//! `gate on|off hide-tools=… { unlock …; tags …; budget …; index … }`

use super::node::{Node, Reader};
use crate::diagnostic::Diagnostics;
use crate::language::gate::{GATE, Gate};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Gate {
    let mut gate = Gate { at: Some(node.name.at), ..Gate::default() };
    // If its word is missing, the gate counts as on: the missing word is reported, and a second
    // report on idle settings would mislead.
    gate.on.value = true;
    let mut reader = Reader::new(node, &GATE, out);
    reader.settings(&mut gate, out);
    for rule in GATE.children {
        // A repeated node was reported.
        let Some(child) = reader.children(rule.name).next() else { continue };
        if child.arguments.is_empty() && child.properties.is_empty() {
            gate.empty.push(child.name.clone());
        }
    }
    reader.finish(out);
    let property = node.properties.first().map(|property| property.value.at);
    let child = node.children.iter().flatten().next().map(|child| child.name.at);
    gate.first_settings = property.or(child).into_iter().collect();
    gate
}
