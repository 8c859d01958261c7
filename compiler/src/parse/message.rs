//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use relay_bundle::Role;

use super::body;
use super::node::{Node, Reader};
use crate::ast::{Message, Part};
use crate::diagnostic::Diagnostics;

const PARTS: &[&str] = &["text", "file", "image", "audio", "resource"];

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Message {
    let roles = [("user", Role::User), ("assistant", Role::Assistant)];
    let mut reader = Reader::new(node, out);
    let role = reader.property("role").and_then(|value| value.one_of(&roles, out));
    let children = node.children.as_deref().unwrap_or_default();
    let parts = children.iter().filter_map(|child| part(child, out)).collect();
    for name in PARTS {
        // They are read above, in the order of the text.
        drop(reader.children(name));
    }
    reader.finish("a message", out);
    Message { at: node.name.at, role: role.map(|role| role.value), parts }
}

fn part(node: &Node, out: &mut Diagnostics) -> Option<Part> {
    let name = node.name.value.as_str();
    if !PARTS.contains(&name) {
        return None;
    }
    let mut reader = Reader::new(node, out);
    let part = match name {
        "text" => reader.argument("a text", out).and_then(|value| value.text(out)).map(Part::Text),
        "file" => {
            let path = reader.argument("a path", out).and_then(|value| value.non_empty(out));
            let template = reader.property("template").and_then(|value| value.boolean(out));
            path.map(|path| Part::File { path, template })
        }
        "image" | "audio" => {
            let file = match reader.property("file") {
                Some(value) => value.non_empty(out),
                None => reader.argument("`file=`", out).and_then(|value| value.non_empty(out)),
            };
            let mime = reader.text("mime", out);
            file.map(|file| match name {
                "image" => Part::Image { file, mime },
                _ => Part::Audio { file, mime },
            })
        }
        _ => {
            let uri = reader.argument("a URI", out).and_then(|value| value.non_empty(out));
            let mime = reader.text("mime", out);
            let body = body::body(&mut reader, out);
            uri.map(|uri| Part::Resource { uri, mime, body })
        }
    };
    reader.finish(&format!("a message's {name}"), out);
    part
}
