//! `arg NAME required=… default=… type=… max=(chars)… description=… { one-of … }`

use super::node::{Node, Reader, Scalar, Value};
use super::when;
use crate::ast::{Argument, ArgumentType, Default};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar as _};
use crate::source::Spanned;

pub(crate) static ARG: Rule = Rule {
    name: "arg",
    what: "an arg",
    meaning: "An argument of a prompt, or a variable of a resource's URI.",
    fields: &[
        Field::argument("a name", Kind::Text("text"), "What clients and templates call it."),
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
        when::NEW,
    ],
    children: &[&ONE_OF],
    example: include_str!("../reference/arg.kdl"),
};

static ONE_OF: Rule = Rule::leaf(
    "one-of",
    "one-of",
    "The values that it may have; such an argument may steer a template.",
    &[Field::arguments("a value", Kind::Text("text"), "A value.")],
);

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Argument {
    let mut reader = Reader::new(node, &ARG, out);
    let argument = Argument {
        name: reader.argument(out).and_then(|value| value.non_empty(out)),
        new: reader.value("new", out),
        required: reader.value("required", out),
        default: reader.property("default").and_then(|value| default(value, out)),
        description: reader.text("description", out),
        kind: reader.value("type", out),
        one_of: reader.child("one-of", out).map(|child| list(child, &ONE_OF, out)),
        chars_max: reader.value("max", out),
    };
    reader.finish(out);
    argument
}

/// Reads a node whose arguments are texts.
pub(super) fn list(
    node: &Node,
    rule: &'static Rule,
    out: &mut Diagnostics,
) -> Vec<Spanned<String>> {
    let mut reader = Reader::new(node, rule, out);
    let texts = reader.texts(out);
    reader.finish(out);
    texts
}

fn default(value: &Value, out: &mut Diagnostics) -> Option<Spanned<Default>> {
    if let Scalar::Boolean(yes) = value.scalar {
        value.plain(out)?;
        return Some(Spanned { value: Default::Boolean(yes), at: value.at });
    }
    let text = value.text(out)?;
    Some(Spanned { value: Default::Text(text.value), at: text.at })
}
