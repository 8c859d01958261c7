//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use super::body;
use super::node::{Node, Reader};
use crate::ast::{Message, Part};
use crate::diagnostic::Diagnostics;
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

static TEXT: Rule = Rule { what: "a message's text", meaning: "A text.", ..super::node::TEXT };

static FILE: Rule = Rule::leaf(
    "file",
    "a message's file",
    "The text of a file.",
    &[
        Field::argument("a path", Kind::Text("path"), "The file, relative to this document."),
        body::TEMPLATE,
    ],
);

const MEDIA: &[Field] = &[
    Field::optional("a path", Kind::Text("path"), "The file, relative to this document."),
    Field::property("file", Kind::Text("path"), "The same, as a property."),
    Field::either("mime", "The media type, if the file's name does not show it."),
];

static IMAGE: Rule = Rule::leaf("image", "a message's image", "An image.", MEDIA);

static AUDIO: Rule =
    Rule { name: "audio", what: "a message's audio", meaning: "A recording.", ..IMAGE };

static RESOURCE: Rule = Rule {
    name: "resource",
    what: "a message's resource",
    meaning: "A resource of the project, or one with a text of its own.",
    fields: &[
        Field::argument("a URI", Kind::Text("URI"), "The resource's URI."),
        Field::either("mime", "The media type."),
        body::FILE,
        body::TEMPLATE,
    ],
    children: &[&super::node::TEXT],
    example: "",
};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Message {
    let mut reader = Reader::new(node, &MESSAGE, out);
    let role = reader.value("role", out);
    let parts = reader.all_children().filter_map(|child| part(child, out)).collect();
    reader.finish(out);
    Message { at: node.name.at, role: role.map(|role| role.value), parts }
}

fn part(node: &Node, out: &mut Diagnostics) -> Option<Part> {
    let name = node.name.value.as_str();
    let rule = *MESSAGE.children.iter().find(|rule| rule.name == name)?;
    let mut reader = Reader::new(node, rule, out);
    let part = match name {
        "text" => reader.argument(out).and_then(|value| value.text(out)).map(Part::Text),
        "file" => {
            let path = reader.argument(out).and_then(|value| value.non_empty(out));
            let template = reader.value("template", out);
            path.map(|path| Part::File { path, template })
        }
        "image" | "audio" => {
            let file = match reader.property("file") {
                Some(value) => value.non_empty(out),
                None => {
                    let value = reader.required_argument("`file=`", out);
                    value.and_then(|value| value.non_empty(out))
                }
            };
            let mime = reader.text("mime", out);
            file.map(|file| match name {
                "image" => Part::Image { file, mime },
                _ => Part::Audio { file, mime },
            })
        }
        _ => {
            let uri = reader.argument(out).and_then(|value| value.non_empty(out));
            let mime = reader.text("mime", out);
            let body = body::body(&mut reader, out);
            uri.map(|uri| Part::Resource { uri, mime, body })
        }
    };
    reader.finish(out);
    part
}
