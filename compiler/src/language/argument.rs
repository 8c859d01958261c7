//! `arg NAME required=… default=… type=… max=(chars)… description=… { one-of … }`

use super::shared::NEW;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar as _, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

/// `type=text|boolean`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentType {
    Text,
    Boolean,
}

words!(ArgumentType {
    "text" = ArgumentType::Text,
    "boolean" = ArgumentType::Boolean,
});

pub(crate) static ARG: Rule = Rule {
    name: "arg",
    what: "an arg",
    meaning: "An argument of a prompt, or a variable of a resource's URI.",
    fields: &[
        Field::argument("a name", Kind::Name("text"), "What clients and templates call it."),
        Field::property("required", Kind::Boolean, "Whether a client must give it.")
            .or(Literal::Boolean(false)),
        Field::property(
            "default",
            Kind::Text("text, `#true` or `#false`"),
            "The value of one that is not given.",
        ),
        Field::either("description", "What a client shows a person who fills it in."),
        Field::property(
            "type",
            Kind::Words(ArgumentType::WORDS),
            "`boolean` takes `true` and `false`, and may steer a template.",
        )
        .or(Literal::Word("text")),
        Field::property(
            "max",
            Kind::Chars { low: 1, high: 1_000_000 },
            "The most characters of a text; a longer one is truncated.",
        ),
        NEW,
    ],
    children: &[&ONE_OF],
    example: include_str!("../reference/arg.kdl"),
};

pub(crate) static ONE_OF: Rule = Rule::leaf(
    "one-of",
    "one-of",
    "The values that it may have; such an argument may steer a template.",
    &[Field::arguments("a value", Kind::Name("text"), "A value.")],
);

settings! {
    /// The settings of an argument.
    struct ArgumentSettings {}
    ARG {
        required: Setting<bool> = "required",
        description: Option<Spanned<String>> = "description",
        kind: Setting<ArgumentType> = "type",
        chars_max: Option<Spanned<u32>> = "max",
    }
    ONE_OF {
        one_of: Option<Vec<Spanned<String>>> = "a value",
    }
}
