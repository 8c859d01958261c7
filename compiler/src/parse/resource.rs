//! `resources { resource URI mime=… file=… { … } }`

use super::node::{Node, Reader};
use super::{argument, body, empty, readers};
use crate::ast::{Resource, ResourceSettings};
use crate::diagnostic::Diagnostics;
use crate::language::resource::{RESOURCE, RESOURCES};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Resource> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &RESOURCES, out);
    let resources = reader.children("resource").map(|child| resource(child, out)).collect();
    reader.finish(out);
    resources
}

fn resource(node: &Node, out: &mut Diagnostics) -> Resource {
    let mut reader = Reader::new(node, &RESOURCE, out);
    let mut settings = ResourceSettings::default();
    reader.settings(settings.of_mut(&RESOURCE), out);
    let resource = Resource {
        uri: reader.argument(out).and_then(|value| value.non_empty(out)),
        new: reader.value("new", out),
        enabled: reader.value("enabled", out),
        name: reader.text("name", out),
        settings,
        mime: reader.text("mime", out),
        arguments: reader.children("arg").map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        readers: readers::readers(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    resource
}
