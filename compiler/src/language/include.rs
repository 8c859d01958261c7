//! `include PATTERN…`: joins documents, and follows them from the project's first one.

use crate::grammar::{Field, Kind, Rule};

pub(crate) static INCLUDE: Rule = Rule {
    name: "include",
    what: "an include",
    meaning: "Joins other documents to this one, as if their nodes were written here.",
    fields: &[Field::arguments(
        "a path or a pattern",
        Kind::Name("path"),
        "A document, or a pattern: `*` matches within a folder, `**` any folders, `?` one character. Files of a pattern are joined sorted by path.",
    )],
    children: &[],
    example: include_str!("../reference/include.kdl"),
};
