//! `prompts { … }`: prompts, folders of prompts and folders of commands.

use super::body;
use super::node::{Node, Reader};
use super::prompt;
use crate::ast::{Folder, OnError, PromptsItem};
use crate::diagnostic::Diagnostics;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<PromptsItem> {
    let mut reader = Reader::new(node, out);
    let mut items = Vec::new();
    for child in reader.children("prompt") {
        items.push(PromptsItem::Prompt(prompt::node(child, out)));
    }
    for child in reader.children("folder") {
        items.push(PromptsItem::Folder(folder(child, "a folder", out)));
    }
    for child in reader.children("commands") {
        items.push(PromptsItem::Commands(folder(child, "commands", out)));
    }
    reader.finish("prompts", out);
    items
}

fn folder(node: &Node, what: &str, out: &mut Diagnostics) -> Folder {
    let words = [("fail", OnError::Fail), ("skip", OnError::Skip), ("repair", OnError::Repair)];
    let mut reader = Reader::new(node, out);
    let folder = Folder {
        path: reader.argument("a folder", out).and_then(|value| value.non_empty(out)),
        on_error: reader.property("on-error").and_then(|value| value.one_of(&words, out)),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(what, out);
    folder
}
