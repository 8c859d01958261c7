//! `prompt NAME priority=… file=… { … }`

use super::node::{Node, Reader};
use super::{argument, body, message, readers};
use crate::ast::{Prompt, PromptAbout, PromptSettings};
use crate::diagnostic::Diagnostics;
use crate::language::argument::ARG;
use crate::language::message::MESSAGE;
use crate::language::prompt::PROMPT;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Prompt {
    let mut reader = Reader::new(node, &PROMPT, out);
    let mut settings = PromptSettings::default();
    reader.settings(&mut settings, out);
    let mut about = PromptAbout::default();
    reader.settings(&mut about, out);
    let prompt = Prompt {
        name: reader.name(out),
        new: reader.is_new(out),
        settings,
        about,
        arguments: reader.children(ARG.name).map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        messages: reader.children(MESSAGE.name).map(|child| message::node(child, out)).collect(),
        readers: readers::readers(&mut reader, out),
        allowed: body::allowed(&mut reader, out),
    };
    reader.finish(out);
    prompt
}
