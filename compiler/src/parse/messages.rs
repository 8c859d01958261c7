//! `messages { NAME "…"; NAME file=… }`: the texts that the server itself says.

use super::node::{Node, Reader};
use super::{body, empty};
use crate::ast::{Body, MessageName, SystemMessage};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Rule};
use crate::source::Spanned;

pub(crate) static MESSAGES: Rule = Rule {
    name: "messages",
    what: "messages",
    meaning: "The texts that the server itself sends. Messages that are not written are built in.",
    fields: &[],
    children: &[
        &SESSION_GREETING,
        &GATE_INSTRUCTIONS,
        &GATE_ENCOURAGEMENT,
        &READ_PROMPTS_REMINDER,
        &GATE_INTERCEPT_PREAMBLE,
    ],
    example: include_str!("../reference/messages.kdl"),
};

static SESSION_GREETING: Rule = Rule::leaf(
    "session-greeting",
    "a system message",
    "Begins the instructions that a client reads when it connects.",
    &[
        Field::optional("a text", Kind::Text("text"), ""),
        Field { meaning: "The same, from a file.", ..body::FILE },
    ],
);

static GATE_INSTRUCTIONS: Rule = Rule {
    name: "gate-instructions",
    meaning: "Ends the instructions of a gated project: how to get a briefing.",
    ..SESSION_GREETING
};

static GATE_ENCOURAGEMENT: Rule =
    Rule { name: "gate-encouragement", meaning: "Follows a briefing.", ..SESSION_GREETING };

static READ_PROMPTS_REMINDER: Rule = Rule {
    name: "read-prompts-reminder",
    meaning: "Follows what `read_prompts` returns.",
    ..SESSION_GREETING
};

static GATE_INTERCEPT_PREAMBLE: Rule = Rule {
    name: "gate-intercept-preamble",
    meaning: "Precedes a briefing that the agent did not ask for.",
    ..SESSION_GREETING
};

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
