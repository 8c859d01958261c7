//! `prompts { … }`: prompts, folders of prompts and folders of commands.

use super::body;
use super::node::{Node, Reader};
use super::{empty, prompt, readers, when};
use crate::ast::{Folder, FrontMatterRule, OnError, PromptsItem};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar as _};

pub(crate) static PROMPTS: Rule = Rule {
    name: "prompts",
    what: "prompts",
    meaning: "Prompts, one by one and by the folder. A project may have any number of such nodes.",
    fields: &[],
    children: &[&prompt::PROMPT, &FOLDER, &COMMANDS],
    example: include_str!("../reference/prompts.kdl"),
};

static FOLDER: Rule = Rule {
    name: "folder",
    what: "a folder",
    meaning: "Makes a prompt of every `*.md` file below a folder; a name is the path below the folder without `.md`.",
    fields: &[
        Field::argument("a folder", Kind::Text("path"), "The folder, relative to this document."),
        // Read so that it can be reported in its own words: it belongs to `commands`.
        Field { meaning: "", ..ON_ERROR },
        when::NEW,
    ],
    children: &[&readers::FOR, &body::ALLOW_SECRET],
    example: "",
};

static COMMANDS: Rule = Rule {
    name: "commands",
    what: "commands",
    meaning: "Makes a prompt of every markdown command below a folder, as other programs use them.",
    fields: &[
        Field::argument("a folder", Kind::Text("path"), "The folder, relative to this document."),
        ON_ERROR,
        FRONT_MATTER,
        BRIEFING,
        when::NEW,
    ],
    children: &[&readers::FOR, &body::ALLOW_SECRET],
    example: "",
};

const ON_ERROR: Field = Field::property(
    "on-error",
    Kind::Words(OnError::WORDS),
    "What a faulty file does: `fail` is an error, `skip` leaves the file out, `repair` corrects what it can.",
)
.or(Literal::Word("fail"));

const FRONT_MATTER: Field = Field::property(
    "front-matter",
    Kind::Words(FrontMatterRule::WORDS),
    "`optional` takes files without front matter too; their description is the first sentence of the text, else its first heading.",
)
.or(Literal::Word("required"));

const BRIEFING: Field = Field::property(
    "briefing",
    Kind::Boolean,
    "`#true` lets briefings send the commands too; without it only people run them, from their client's list.",
)
.or(Literal::Boolean(false));

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
    let folder = Folder {
        path: reader.argument(out).and_then(|value| value.non_empty(out)),
        new: reader.value("new", out),
        on_error: reader.value("on-error", out),
        front_matter: match rule.property(FRONT_MATTER.name) {
            Some(_) => reader.value(FRONT_MATTER.name, out),
            None => None,
        },
        briefing: match rule.property(BRIEFING.name) {
            Some(_) => reader.value(BRIEFING.name, out),
            None => None,
        },
        readers: readers::readers(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    folder
}
