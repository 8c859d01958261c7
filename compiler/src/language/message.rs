//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use super::shared;
use super::shared::TEMPLATE;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::{Setting, settings};

/// The property for the media type.
pub(crate) const MIME: &str = "mime";

/// The kind of part that a node of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    Text,
    File,
    Image,
    Audio,
    Resource,
}

impl PartKind {
    /// All of them.
    const ALL: [Self; 5] = [Self::Text, Self::File, Self::Image, Self::Audio, Self::Resource];

    /// Returns the rule of its node.
    pub(crate) fn rule(self) -> &'static Rule {
        match self {
            Self::Text => &TEXT,
            Self::File => &FILE,
            Self::Image => &IMAGE,
            Self::Audio => &AUDIO,
            Self::Resource => &RESOURCE,
        }
    }

    /// Returns the part with this rule.
    pub(crate) fn of(rule: &'static Rule) -> Option<Self> {
        Self::ALL.into_iter().find(|part| std::ptr::eq(part.rule(), rule))
    }
}

words!(relay_bundle::Role {
    "user" = relay_bundle::Role::User,
    "assistant" = relay_bundle::Role::Assistant,
});

pub(crate) static MESSAGE: Rule = Rule {
    name: "message",
    what: "a message",
    meaning: "One message of a prompt that has several, or one with more than a text. Its parts keep their order.",
    fields: &[Field::property(
        "role",
        Kind::Words(<relay_bundle::Role as Scalar>::WORDS),
        "Who says it.",
    )
    .or(Literal::Word("user"))],
    children: &[&TEXT, &FILE, &IMAGE, &AUDIO, &RESOURCE],
    example: include_str!("../reference/message.kdl"),
};

pub(crate) static TEXT: Rule =
    Rule { what: "a message's text", meaning: "A text.", ..shared::TEXT };

pub(crate) static FILE: Rule = Rule::leaf(
    "file",
    "a message's file",
    "The text of a file.",
    &[
        Field::argument("a path", Kind::Name("path"), "The file, relative to this document."),
        TEMPLATE,
    ],
);

const MEDIA: &[Field] = &[
    Field::optional("a path", Kind::Name("path"), "The file, relative to this document."),
    Field { meaning: "The same, as a property.", ..shared::FILE },
    Field::either(MIME, "The media type, if the file's name does not show it."),
];

pub(crate) static IMAGE: Rule = Rule::leaf("image", "a message's image", "An image.", MEDIA);

pub(crate) static AUDIO: Rule =
    Rule { name: "audio", what: "a message's audio", meaning: "A recording.", ..IMAGE };

pub(crate) static RESOURCE: Rule = Rule {
    name: "resource",
    what: "a message's resource",
    meaning: "A resource of the project, or one with a text of its own.",
    fields: &[
        Field::argument("a URI", Kind::Name("URI"), "The resource's URI."),
        Field::either(MIME, "The media type."),
        shared::FILE,
        TEMPLATE,
    ],
    children: &[&shared::TEXT],
    example: "",
};

settings! {
    /// The settings of a message.
    struct TurnSettings {}
    MESSAGE {
        role: Setting<relay_bundle::Role> = "role",
    }
}
