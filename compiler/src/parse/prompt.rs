//! `prompt NAME priority=… file=… { … }`

use super::node::{Node, Reader, TEXT};
use super::{argument, body, message, readers, when};
use crate::ast::Prompt;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule};

/// The priority of a prompt that gives none.
pub(crate) const PRIORITY: u8 = 5;

pub(crate) static PROMPT: Rule = Rule {
    name: "prompt",
    what: "a prompt",
    meaning: "A prompt. Its text is a `text`, a `file=`, or `message`s: one of the three.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "What clients call it."),
        Field::property("enabled", Kind::Boolean, "`#false` leaves it out of the bundle.")
            .or(Literal::Boolean(true)),
        Field::property(
            "priority",
            Kind::Number { low: 1, high: 10 },
            "Weighs its matches with a task; 10 is in every briefing.",
        )
        .or(Literal::Number(PRIORITY as u64)),
        Field::property(
            "briefing",
            Kind::Boolean,
            "`#false` keeps it out of briefings and of the index: it is for people, who find it in their client's list. By default `#false` with a required argument.",
        ),
        body::FILE,
        body::TEMPLATE,
        when::NEW,
        Field::either("title", "The name that clients show."),
        Field::either("description", "What clients show in their list of prompts."),
        Field::either(
            "summary",
            "What it is about, for keywords to match; without it, the description, or the first sentence of its text.",
        ),
    ],
    children: &[
        &readers::FOR,
        &CHAPTERS,
        &argument::ARG,
        &TEXT,
        &message::MESSAGE,
        &body::ALLOW_SECRET,
    ],
    example: include_str!("../reference/prompt.kdl"),
};

static CHAPTERS: Rule = Rule::leaf(
    "chapters",
    "chapters",
    "Its parts, for keywords to match; without it, the headings of its text.",
    &[Field::arguments("a chapter", Kind::Text("text"), "A chapter.")],
);

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Prompt {
    let mut reader = Reader::new(node, &PROMPT, out);
    let prompt = Prompt {
        name: reader.argument(out).and_then(|value| value.text(out)),
        new: reader.value("new", out),
        enabled: reader.value("enabled", out),
        priority: reader.value("priority", out),
        briefing: reader.value("briefing", out),
        title: reader.text("title", out),
        description: reader.text("description", out),
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
