//! `prompts { … }`: prompts, folders of prompts and folders of commands.

use super::body;
use super::node::{Node, Reader};
use super::{empty, prompt, readers};
use crate::ast::{Folder, FolderSettings, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::prompts::{COMMANDS, FOLDER, PROMPTS};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<PromptsItem> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PROMPTS, out);
    let mut items = Vec::new();
    for child in reader.children("prompt") {
        items.push(PromptsItem::Prompt(prompt::node(child, out)));
    }
    for child in reader.children("folder") {
        items.push(PromptsItem::Folder(folder(child, &FOLDER, out)));
    }
    for child in reader.children("commands") {
        items.push(PromptsItem::Commands(folder(child, &COMMANDS, out)));
    }
    reader.finish(out);
    items
}

fn folder(node: &Node, rule: &'static Rule, out: &mut Diagnostics) -> Folder {
    let mut reader = Reader::new(node, rule, out);
    let mut settings = FolderSettings::default();
    reader.settings(settings.of_mut(&COMMANDS), out);
    let folder = Folder {
        path: reader.argument(out).and_then(|value| value.non_empty(out)),
        new: reader.value("new", out),
        settings,
        readers: readers::readers(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    folder
}
