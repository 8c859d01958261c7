//! `messages { NAME "…"; NAME file=… }`: the texts that the server itself says.

use super::node::{Node, Reader};
use crate::ast::{Body, MessageName, SystemMessage};
use crate::diagnostic::Diagnostics;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<SystemMessage> {
    let mut reader = Reader::new(node, out);
    let mut messages = Vec::new();
    for name in MessageName::ALL {
        let Some(child) = reader.child(name.word(), out) else { continue };
        let mut reader = Reader::new(child, out);
        let (text, file) = (reader.optional_argument(), reader.property("file"));
        let written = text.is_some() || file.is_some();
        let text = text.and_then(|value| value.text(out));
        let file = file.and_then(|value| value.non_empty(out));
        reader.finish("a system message", out);
        let broken = written && text.is_none() && file.is_none();
        let body = Body { text, file, template: None, broken };
        let name = Spanned { value: name, at: child.name.at };
        messages.push(SystemMessage { name, body });
    }
    reader.finish("messages", out);
    messages
}
