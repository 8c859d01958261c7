//! `arg NAME required=… default=… type=… max=(chars)… description=… { one-of … }`

use super::node::{Node, Reader, Scalar, Value};
use crate::ast::{Argument, ArgumentType, Default};
use crate::diagnostic::Diagnostics;
use crate::source::Spanned;

/// The most characters that `max` may allow.
const CHARS_MAX: u64 = 1_000_000;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Argument {
    let types = [("text", ArgumentType::Text), ("boolean", ArgumentType::Boolean)];
    let mut reader = Reader::new(node, out);
    let one_of = reader.child("one-of", out).map(|child| {
        let mut reader = Reader::new(child, out);
        let first = reader.argument("a value", out);
        let rest = reader.arguments();
        let values =
            first.into_iter().chain(rest).filter_map(|value| value.non_empty(out)).collect();
        reader.finish("one-of", out);
        values
    });
    let chars_max =
        reader.property("max").and_then(|value| value.with_unit("chars", 1, CHARS_MAX, out));
    let argument = Argument {
        name: reader.argument("a name", out).and_then(|value| value.non_empty(out)),
        required: reader.property("required").and_then(|value| value.boolean(out)),
        default: reader.property("default").and_then(|value| default(value, out)),
        description: reader.text("description", out),
        kind: reader.property("type").and_then(|value| value.one_of(&types, out)),
        one_of,
        chars_max: chars_max.map(|number| Spanned {
            value: u32::try_from(number.value).unwrap_or(u32::MAX),
            at: number.at,
        }),
    };
    reader.finish("an arg", out);
    argument
}

fn default(value: &Value, out: &mut Diagnostics) -> Option<Spanned<Default>> {
    if let Scalar::Boolean(yes) = value.scalar {
        value.plain(out)?;
        return Some(Spanned { value: Default::Boolean(yes), at: value.at });
    }
    let text = value.text(out)?;
    Some(Spanned { value: Default::Text(text.value), at: text.at })
}
