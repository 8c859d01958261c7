//! `arg NAME required=… default=… type=… max=(chars)… description=… { one-of … }`

use super::node::{Node, Reader, Scalar, Value};
use crate::ast::{Argument, ArgumentSettings, Default};
use crate::diagnostic::Diagnostics;
use crate::grammar::Rule;
use crate::language::argument::ARG;
use crate::source::Spanned;

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Argument {
    let mut reader = Reader::new(node, &ARG, out);
    let mut settings = ArgumentSettings::default();
    reader.settings(&mut settings, out);
    let argument = Argument {
        name: reader.name(out),
        new: reader.is_new(out),
        settings,
        default: reader.property("default").and_then(|value| default(value, out)),
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
