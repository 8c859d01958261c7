//! `messages { NAME "…"; NAME file=… }`: the texts of the server's own answers.

use super::empty;
use super::node::{self, Node, Reader};
use crate::ast::{Body, MessageName, MessageSettings, SystemMessage};
use crate::diagnostic::Diagnostics;
use crate::language::messages::MESSAGES;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<SystemMessage> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &MESSAGES, out);
    let mut messages = Vec::new();
    for name in MessageName::ALL {
        let Some(child) = reader.child(name.word(), out) else { continue };
        let entry = node::entry(child, name.rule(), out);
        let MessageSettings { text, file } = entry.settings;
        let is_written = !(child.arguments.is_empty() && child.properties.is_empty());
        let broken = is_written && text.is_none() && file.is_none();
        let body = Body { text, file, template: None, broken };
        messages.push(SystemMessage { name: Spanned { value: name, at: entry.at }, body });
    }
    reader.finish(out);
    messages
}
