//! `prompt NAME priority=… file=… { … }`

use super::shared::{ALLOW_INVISIBLE, ALLOW_SECRET, ENABLED, FILE, NEW, TEMPLATE, TEXT};
use super::{argument, message, readers};
use crate::grammar::{Field, Kind, Literal, Rule, Scalar as _, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

/// The use of the front matter of a prompt's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontMatterUse {
    Keep,
    Drop,
}

words!(FrontMatterUse {
    "keep" = FrontMatterUse::Keep,
    "drop" = FrontMatterUse::Drop,
});

pub(crate) static PROMPT: Rule = Rule {
    name: "prompt",
    what: "a prompt",
    meaning: "A prompt. Its text is a `text`, a `file=`, or `message`s: one of the three.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "What clients call it."),
        ENABLED,
        Field::property(
            "priority",
            Kind::Number { low: 1, high: 10 },
            "Weighs its matches with a task; 10 is in every briefing.",
        )
        .or(Literal::Number(5)),
        Field::property(
            "briefing",
            Kind::Boolean,
            "`#false` keeps it out of briefings and of the index: it is for people, who find it in their client's list. By default `#false` with a required argument.",
        ),
        FILE,
        TEMPLATE,
        FRONT_MATTER,
        NEW,
        Field::title("title", "The name that clients show."),
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
        &ALLOW_SECRET,
        &ALLOW_INVISIBLE,
    ],
    example: include_str!("../reference/prompt.kdl"),
};

pub(crate) const FRONT_MATTER: Field = Field::property(
    "front-matter",
    Kind::Words(FrontMatterUse::WORDS),
    "`drop` leaves out the front matter of its file, unread: it is for the program that the file was written for. Otherwise all of the file is its text.",
);

pub(crate) static CHAPTERS: Rule = Rule::leaf(
    "chapters",
    "chapters",
    "Its parts, for keywords to match; without it, the headings of its text.",
    &[Field::arguments("a chapter", Kind::Name("text"), "A chapter.")],
);

settings! {
    /// The settings of a prompt.
    struct PromptSettings {}
    PROMPT {
        enabled: Setting<bool> = ENABLED.name,
        priority: Setting<u8> = "priority",
        title: Option<Spanned<String>> = "title",
        description: Option<Spanned<String>> = "description",
        front_matter: Option<Spanned<FrontMatterUse>> = FRONT_MATTER.name,
    }
}

settings! {
    /// The settings of a prompt whose defaults come from its other settings.
    struct PromptAbout {}
    PROMPT {
        briefing: Option<Spanned<bool>> = "briefing",
        summary: Option<Spanned<String>> = "summary",
    }
    CHAPTERS {
        chapters: Option<Vec<Spanned<String>>> = "a chapter",
    }
}
