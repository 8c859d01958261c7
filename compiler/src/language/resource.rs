//! `resources { resource URI mime=… file=… { … } }`

use super::shared::{ALLOW_INVISIBLE, ALLOW_SECRET, ENABLED, FILE, NEW, TEMPLATE, TEXT};
use super::{argument, readers};
use crate::grammar::{Field, Kind, Rule};
use crate::setting::{Setting, settings};
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
        Field::argument("a URI", Kind::Name("URI"), "The URI, or a URI template."),
        ENABLED,
        Field::either(
            "name",
            "What clients call it; without it, the name of its file or the end of its URI.",
        ),
        Field::title("title", "The name that clients show."),
        Field::either("description", "What clients show in their list of resources."),
        Field::either("mime", "The media type; without it, by the file's name."),
        FILE,
        TEMPLATE,
        NEW,
    ],
    children: &[&readers::FOR, &argument::ARG, &TEXT, &ALLOW_SECRET, &ALLOW_INVISIBLE],
    example: include_str!("../reference/resource.kdl"),
};

settings! {
    /// The settings of a resource.
    struct ResourceSettings {}
    RESOURCE {
        enabled: Setting<bool> = ENABLED.name,
        title: Option<Spanned<String>> = "title",
        description: Option<Spanned<String>> = "description",
    }
}

settings! {
    /// The settings of a resource whose defaults come from its other settings.
    struct ResourceAbout {}
    RESOURCE {
        name: Option<Spanned<String>> = "name",
        mime: Option<Spanned<String>> = "mime",
    }
}
