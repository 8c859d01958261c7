//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use super::body;
use super::node::{Node, Reader};
use crate::ast::{Message, Part};
use crate::diagnostic::Diagnostics;
use crate::language::message::MESSAGE;

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
