//! `resources { resource URI mime=… file=… { … } }`

use super::node::{Node, Reader};
use super::{argument, body};
use crate::ast::Resource;
use crate::diagnostic::Diagnostics;

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Resource> {
    let mut reader = Reader::new(node, out);
    let resources = reader.children("resource").map(|child| resource(child, out)).collect();
    reader.finish("resources", out);
    resources
}

fn resource(node: &Node, out: &mut Diagnostics) -> Resource {
    let mut reader = Reader::new(node, out);
    let resource = Resource {
        uri: reader.argument("a URI", out).and_then(|value| value.non_empty(out)),
        enabled: reader.property("enabled").and_then(|value| value.boolean(out)),
        name: reader.text("name", out),
        title: reader.text("title", out),
        description: reader.text("description", out),
        mime: reader.text("mime", out),
        arguments: reader.children("arg").map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish("a resource", out);
    resource
}
