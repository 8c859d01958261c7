//! `messages { NAME "…"; NAME file=… }`: the texts that the server itself says.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{Body, MessageName, SystemMessage};
use crate::diagnostic::Diagnostics;
use crate::language::messages::MESSAGES;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<SystemMessage> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &MESSAGES, out);
    let mut messages = Vec::new();
    for (name, rule) in MessageName::ALL.into_iter().zip(MESSAGES.children) {
        let Some(child) = reader.child(name.word(), out) else { continue };
        let mut reader = Reader::new(child, rule, out);
        let (text, file) = (reader.optional_argument(), reader.property("file"));
        let written = text.is_some() || file.is_some();
        let text = text.and_then(|value| value.text(out));
        let file = file.and_then(|value| value.non_empty(out));
        reader.finish(out);
        let broken = written && text.is_none() && file.is_none();
        let body = Body { text, file, template: None, broken };
        let name = Spanned { value: name, at: child.name.at };
        messages.push(SystemMessage { name, body });
    }
    reader.finish(out);
    messages
}
