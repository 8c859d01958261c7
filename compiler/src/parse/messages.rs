//! `messages { NAME "…"; NAME file=… }`: the texts that the server itself says.

use super::node::{Node, Reader};
use crate::ast::{Body, SystemMessage};
use crate::diagnostic::Diagnostics;

/// The messages that this version composes something of.
const NAMES: &[&str] = &["session-greeting"];

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<SystemMessage> {
    let mut reader = Reader::new(node, out);
    let mut messages = Vec::new();
    for name in NAMES {
        let Some(child) = reader.child(name, out) else { continue };
        let mut reader = Reader::new(child, out);
        let (text, file) = (reader.optional_argument(), reader.property("file"));
        let written = text.is_some() || file.is_some();
        let text = text.and_then(|value| value.text(out));
        let file = file.and_then(|value| value.non_empty(out));
        reader.finish("a system message", out);
        let broken = written && text.is_none() && file.is_none();
        let body = Body { text, file, template: None, broken };
        messages.push(SystemMessage { name: child.name.clone(), body });
    }
    reader.finish("messages", out);
    messages
}
