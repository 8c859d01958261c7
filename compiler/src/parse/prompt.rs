//! `prompt NAME priority=… file=… { … }`

use super::node::{Node, Reader};
use super::{argument, body, message, readers};
use crate::ast::{Prompt, PromptSettings};
use crate::diagnostic::Diagnostics;
use crate::language::prompt::{CHAPTERS, PROMPT};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Prompt {
    let mut reader = Reader::new(node, &PROMPT, out);
    let mut settings = PromptSettings::default();
    reader.settings(settings.of_mut(&PROMPT), out);
    let prompt = Prompt {
        name: reader.argument(out).and_then(|value| value.text(out)),
        new: reader.value("new", out),
        enabled: reader.value("enabled", out),
        settings,
        briefing: reader.value("briefing", out),
        summary: reader.text("summary", out),
        chapters: reader.child("chapters", out).map(|child| argument::list(child, &CHAPTERS, out)),
        arguments: reader.children("arg").map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        messages: reader.children("message").map(|child| message::node(child, out)).collect(),
        readers: readers::readers(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    prompt
}
