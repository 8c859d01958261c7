//! `message role=user|assistant { text …; file …; image file=…; audio file=…; resource URI … }`

use super::body;
use super::node::{Node, Reader};
use crate::ast::{Message, Part, TurnSettings};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::message::{MESSAGE, MIME, PartKind};
use crate::language::shared::{FILE, TEMPLATE};
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Message {
    let mut reader = Reader::new(node, &MESSAGE, out);
    let mut settings = TurnSettings::default();
    reader.settings(&mut settings, out);
    let children = reader.any_children(MESSAGE.children);
    let parts = children.filter_map(|(rule, child)| part(rule, child, out)).collect();
    let broken = reader.has_unknown() || reader.has_surplus();
    reader.finish(out);
    Message { at: node.name.at, settings, parts, broken }
}

fn part(rule: &'static Rule, node: &Node, out: &mut Diagnostics) -> Option<Part> {
    let mut reader = Reader::new(node, rule, out);
    let part = match PartKind::of(rule)? {
        PartKind::Text => reader.name(out).map(Part::Text),
        PartKind::File => {
            let path = reader.name(out);
            let template = reader.value(TEMPLATE.name, out);
            path.map(|path| Part::File { path, template })
        }
        PartKind::Image => media(&mut reader, out).map(|(file, mime)| Part::Image { file, mime }),
        PartKind::Audio => media(&mut reader, out).map(|(file, mime)| Part::Audio { file, mime }),
        PartKind::Resource => {
            let uri = reader.name(out);
            let mime = reader.text(MIME, out);
            let body = body::body(&mut reader, out);
            uri.map(|uri| Part::Resource { uri, mime, body })
        }
    };
    reader.finish(out);
    part
}

/// Takes the file and the media type of an image or a recording.
fn media(
    reader: &mut Reader<'_>,
    out: &mut Diagnostics,
) -> Option<(Spanned<String>, Option<Spanned<String>>)> {
    let file = match reader.property(FILE.name) {
        Some(_) => reader.text(FILE.name, out),
        None => reader.required_name("`file=`", out),
    };
    let mime = reader.text(MIME, out);
    Some((file?, mime))
}
