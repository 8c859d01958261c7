//! `prompts { … }`: prompts, folders of prompts and folders of commands.

use super::body;
use super::node::{Node, Reader};
use super::{empty, prompt, readers};
use crate::ast::{Folder, FolderSettings, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::prompt::PROMPT;
use crate::language::prompts::{AGENT_SKILLS, COMMANDS, FOLDER, FRONT_MATTER, PROMPTS};
use crate::setting::Slot;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Vec<PromptsItem> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PROMPTS, out);
    let mut items = Vec::new();
    for child in reader.children(PROMPT.name) {
        items.push(PromptsItem::Prompt(prompt::node(child, out)));
    }
    for child in reader.children(FOLDER.name) {
        items.push(PromptsItem::Folder(folder(child, &FOLDER, out)));
    }
    for child in reader.children(COMMANDS.name) {
        items.push(PromptsItem::Commands(folder(child, &COMMANDS, out)));
    }
    for child in reader.children(AGENT_SKILLS.name) {
        items.push(PromptsItem::AgentSkills(folder(child, &AGENT_SKILLS, out)));
    }
    reader.finish(out);
    items
}

fn folder(node: &Node, rule: &'static Rule, out: &mut Diagnostics) -> Folder {
    let mut reader = Reader::new(node, rule, out);
    let mut settings = FolderSettings::default();
    // `folder` and `commands` differ in this default.
    if let default @ Some(_) = rule.default(FRONT_MATTER.name) {
        settings.front_matter = Slot::unwritten(default);
    }
    reader.settings(&mut settings, out);
    let folder = Folder {
        path: reader.name(out),
        new: reader.is_new(out),
        settings,
        readers: readers::readers(&mut reader, out),
        allowed: body::allowed(&mut reader, out),
    };
    reader.finish(out);
    folder
}
