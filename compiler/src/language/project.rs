//! `project NAME version=… epoch=… { title …; owner … }`

use crate::grammar::{Field, Kind, Literal, Rule};

/// The epoch of a project that gives none.
pub(crate) const EPOCH: u64 = 0;

pub(crate) static PROJECT: Rule = Rule {
    name: "project",
    what: "a project",
    meaning: "Who and what the project is. A project has exactly one, in its first document.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "The project's name, without `/`."),
        Field::either("version", "The version, for people."),
        Field::property(
            "epoch",
            Kind::Number { low: 0, high: u64::MAX >> 1 },
            "Rises with each release: a server that keeps a state refuses a lower one.",
        )
        .or(Literal::Number(EPOCH)),
        Field::either("title", "The name that clients show."),
        Field::either("owner", "Who answers for it."),
    ],
    children: &[],
    example: include_str!("../reference/project.kdl"),
};
