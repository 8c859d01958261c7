//! `resources { resource URI mime=… file=… { … } }`

use super::node::{Node, Reader, TEXT};
use super::{argument, body, empty, readers, when};
use crate::ast::Resource;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule};

pub(crate) static RESOURCES: Rule = Rule {
    name: "resources",
    what: "resources",
    meaning: "What clients can read by its URI. A project may have any number of such nodes.",
    fields: &[],
    children: &[&RESOURCE],
    example: "",
};

static RESOURCE: Rule = Rule {
    name: "resource",
    what: "a resource",
    meaning: "A resource. A URI with variables, as in `relay://rooms/{room}`, is a template, and each variable an `arg`. Its content is a `text` or a `file=`.",
    fields: &[
        Field::argument("a URI", Kind::Text("URI"), "The URI, or a URI template."),
        Field::property("enabled", Kind::Boolean, "`#false` leaves it out of the bundle.")
            .or(Literal::Boolean(true)),
        Field::either(
            "name",
            "What clients call it; without it, the name of its file or the end of its URI.",
        ),
        Field::either("title", "The name that clients show."),
        Field::either("description", "What clients show in their list of resources."),
        Field::either("mime", "The media type; without it, by the file's name."),
        body::FILE,
        body::TEMPLATE,
        when::NEW,
    ],
    children: &[&readers::FOR, &argument::ARG, &TEXT, &body::ALLOW_SECRET],
    example: include_str!("../reference/resource.kdl"),
};

pub(super) fn block(node: &Node, out: &mut Diagnostics) -> Vec<Resource> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &RESOURCES, out);
    let resources = reader.children("resource").map(|child| resource(child, out)).collect();
    reader.finish(out);
    resources
}

fn resource(node: &Node, out: &mut Diagnostics) -> Resource {
    let mut reader = Reader::new(node, &RESOURCE, out);
    let resource = Resource {
        uri: reader.argument(out).and_then(|value| value.non_empty(out)),
        new: reader.value("new", out),
        enabled: reader.value("enabled", out),
        name: reader.text("name", out),
        title: reader.text("title", out),
        description: reader.text("description", out),
        mime: reader.text("mime", out),
        arguments: reader.children("arg").map(|child| argument::node(child, out)).collect(),
        body: body::body(&mut reader, out),
        readers: readers::readers(&mut reader, out),
        allowed_secrets: body::allowed_secrets(&mut reader, out),
    };
    reader.finish(out);
    resource
}
