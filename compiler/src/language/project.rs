//! `project NAME version=… epoch=… { title …; owner … }`

use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

pub(crate) static PROJECT: Rule = Rule {
    name: "project",
    what: "a project",
    meaning: "Who and what the project is. A project has exactly one, in its first document.",
    fields: &[
        Field::argument("a name", Kind::Name("text"), "The project's name, without `/`."),
        Field::line("version", "The version, for people."),
        Field::property(
            "epoch",
            Kind::Number { low: 0, high: u64::MAX >> 1 },
            "Rises with each release: a server that keeps a state refuses a lower one.",
        )
        .or(Literal::Number(0)),
        Field::title("title", "The name that clients show."),
        Field::title("owner", "Who answers for it."),
    ],
    children: &[],
    example: include_str!("../reference/project.kdl"),
};

settings! {
    /// The settings of a project.
    struct ProjectSettings {}
    PROJECT {
        version: Option<Spanned<String>> = "version",
        epoch: Setting<u64> = "epoch",
        title: Option<Spanned<String>> = "title",
        owner: Option<Spanned<String>> = "owner",
    }
}
