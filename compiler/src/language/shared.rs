//! Properties and nodes that several nodes take.

use relay_bundle::Suppressed;

use crate::grammar::{Field, Form, Kind, Literal, Rule};

/// The property of a node in a `when` that adds it.
pub(crate) const NEW: Field = Field::property(
    "new",
    Kind::Boolean,
    "In a `when`: adds the node, instead of patching the one of its name.",
)
.or(Literal::Boolean(false));

/// The property of a node that may be left out of the bundle.
pub(crate) const ENABLED: Field = Field {
    form: Form::Switch,
    ..Field::property("enabled", Kind::Boolean, "`#false` leaves it out of the bundle.")
        .or(Literal::Boolean(true))
};

/// The reason of an exception, or of a lower tier.
pub(crate) const BECAUSE: Field =
    Field::line("because", "The reason; what lowers a tier needs one.");

/// A node that is one text.
pub(crate) static TEXT: Rule = Rule::leaf(
    "text",
    "a text",
    "The text itself.",
    &[Field::argument("a text", Kind::Text("text"), "The text.")],
);

pub(crate) const FILE: Field = Field::property(
    "file",
    Kind::Name("path"),
    "The file that holds the text, relative to this document.",
);
pub(crate) const TEMPLATE: Field = Field::property(
    "template",
    Kind::Boolean,
    "Whether the text is a template. Without it, files named `*.j2` are.",
);

pub(crate) static ALLOW_SECRET: Rule = Rule::leaf(
    Suppressed::Secret.node(),
    Suppressed::Secret.node(),
    "Lets texts pass that only look like a secret.",
    &[
        Field::argument(
            "the name of a rule",
            Kind::Name("text"),
            "The rule that the report of the secret names.",
        ),
        Field::property(BECAUSE.name, Kind::Name("text"), "The reason; it must be given."),
    ],
);

pub(crate) static ALLOW_INVISIBLE: Rule = Rule::leaf(
    Suppressed::Invisible.node(),
    Suppressed::Invisible.node(),
    "Lets texts pass with characters that people do not see.",
    &[
        Field::argument(
            "the name of a kind",
            Kind::Name("text"),
            "The kind of characters that the report names.",
        ),
        Field::property(BECAUSE.name, Kind::Name("text"), "The reason; it must be given."),
    ],
);

pub(crate) static ALLOW_MARK: Rule = Rule::leaf(
    Suppressed::Mark.node(),
    Suppressed::Mark.node(),
    "Sends marks of other programs as text, without a warning.",
    &[
        Field::argument(
            "the name of a kind",
            Kind::Name("text"),
            "The kind of marks that the report names: `argument`, `command`, `file`, `tool` or `variable`.",
        ),
        Field::property(BECAUSE.name, Kind::Name("text"), "The reason; it must be given."),
    ],
);

/// Returns the node that admits the findings of a search.
pub(crate) fn allowing(of: Suppressed) -> &'static Rule {
    match of {
        Suppressed::Secret => &ALLOW_SECRET,
        Suppressed::Invisible => &ALLOW_INVISIBLE,
        Suppressed::Mark => &ALLOW_MARK,
    }
}

/// The values that a list of patterns leaves out.
pub(crate) static EXCEPT: Rule = Rule::leaf(
    "except",
    "except",
    "Those that are not meant.",
    &[Field::joined("a pattern", Kind::Name("pattern"), "A pattern.")],
);
