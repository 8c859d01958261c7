//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use super::shared;
use super::shared::TEMPLATE;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};

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
        Field::argument("a path", Kind::Text("path"), "The file, relative to this document."),
        TEMPLATE,
    ],
);

const MEDIA: &[Field] = &[
    Field::optional("a path", Kind::Text("path"), "The file, relative to this document."),
    Field::property("file", Kind::Text("path"), "The same, as a property."),
    Field::either("mime", "The media type, if the file's name does not show it."),
];

pub(crate) static IMAGE: Rule = Rule::leaf("image", "a message's image", "An image.", MEDIA);

pub(crate) static AUDIO: Rule =
    Rule { name: "audio", what: "a message's audio", meaning: "A recording.", ..IMAGE };

pub(crate) static RESOURCE: Rule = Rule {
    name: "resource",
    what: "a message's resource",
    meaning: "A resource of the project, or one with a text of its own.",
    fields: &[
        Field::argument("a URI", Kind::Text("URI"), "The resource's URI."),
        Field::either("mime", "The media type."),
        shared::FILE,
        TEMPLATE,
    ],
    children: &[&shared::TEXT],
    example: "",
};
