//! `resources { resource URI mime=… file=… { … } }`

use super::shared::{ALLOW_SECRET, FILE, NEW, TEMPLATE, TEXT};
use super::{argument, readers};
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::settings;
use crate::source::Spanned;

pub(crate) static RESOURCES: Rule = Rule {
    name: "resources",
    what: "resources",
    meaning: "What clients can read by its URI. A project may have any number of such nodes.",
    fields: &[],
    children: &[&RESOURCE],
    example: "",
};

pub(crate) static RESOURCE: Rule = Rule {
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
        FILE,
        TEMPLATE,
        NEW,
    ],
    children: &[&readers::FOR, &argument::ARG, &TEXT, &ALLOW_SECRET],
    example: include_str!("../reference/resource.kdl"),
};

settings! {
    /// The settings of a resource that have no default.
    struct ResourceSettings {}
    RESOURCE {
        title: Option<Spanned<String>> = "title",
        description: Option<Spanned<String>> = "description",
    }
}
