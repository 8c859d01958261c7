//! `resources { resource URI mime=… file=… { … } }`

use super::node::{Node, Reader};
use super::{argument, body, empty, readers};
use crate::ast::{Resource, ResourceAbout, ResourceSettings};
use crate::diagnostic::Diagnostics;
use crate::language::argument::ARG;
use crate::language::resource::{RESOURCE, RESOURCES};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Resource> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &RESOURCES, out);
    let resources = reader.children(RESOURCE.name).map(|child| resource(child, out)).collect();
    reader.finish(out);
    resources
}

fn resource(node: &Node, out: &mut Diagnostics) -> Resource {
    let mut reader = Reader::new(node, &RESOURCE, out);
    let mut settings = ResourceSettings::default();
    reader.settings(&mut settings, out);
    let mut about = ResourceAbout::default();
    reader.settings(&mut about, out);
    let resource = Resource {
        uri: reader.name(out),
        new: reader.is_new(out),
        settings,
        about,
        arguments: reader.children(ARG.name).map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        readers: readers::readers(&mut reader, out),
        allowed: body::allowed(&mut reader, out),
    };
    reader.finish(out);
    resource
}
