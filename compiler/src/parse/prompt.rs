//! `prompt NAME priority=… file=… { … }`

use super::node::{Node, Reader};
use super::{argument, body, message};
use crate::ast::Prompt;
use crate::diagnostic::Diagnostics;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Prompt {
    let mut reader = Reader::new(node, out);
    let name = reader.argument("a name", out).and_then(|value| value.text(out));
    let priority = reader.property("priority").and_then(|value| value.integer(1, 10, out));
    let priority = priority.map(|number| crate::source::Spanned {
        // INVARIANT: 1 to 10, as checked.
        value: u8::try_from(number.value).unwrap_or(10),
        at: number.at,
    });
    let chapters = reader.child("chapters", out).map(|child| {
        let mut reader = Reader::new(child, out);
        let first = reader.argument("a chapter", out);
        let rest = reader.arguments();
        let chapters =
            first.into_iter().chain(rest).filter_map(|value| value.non_empty(out)).collect();
        reader.finish("chapters", out);
        chapters
    });
    let prompt = Prompt {
        name,
        enabled: reader.property("enabled").and_then(|value| value.boolean(out)),
        priority,
        title: reader.text("title", out),
        description: reader.text("description", out),
        summary: reader.text("summary", out),
        chapters,
        arguments: reader.children("arg").map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        messages: reader.children("message").map(|child| message::node(child, out)).collect(),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish("a prompt", out);
    prompt
}
