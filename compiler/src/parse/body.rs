//! Bodies (`file=`, `text`, `template=`) and what excuses a text that looks like a secret.

use super::node::Reader;
use crate::ast::{AllowedSecret, Body};
use crate::diagnostic::Diagnostics;

pub(super) fn body(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Body {
    let mut body = Body::default();
    if let Some(child) = reader.child("text", out) {
        let mut reader = Reader::new(child, out);
        body.text = reader.argument("a text", out).and_then(|value| value.text(out));
        body.broken |= body.text.is_none();
        reader.finish("a text", out);
    }
    if let Some(value) = reader.property("file") {
        body.file = value.non_empty(out);
        body.broken |= body.file.is_none();
    }
    body.template = reader.property("template").and_then(|value| value.boolean(out));
    body
}

pub(super) fn allowed_secrets(
    reader: &mut Reader<'_>,
    out: &mut Diagnostics,
) -> Vec<AllowedSecret> {
    reader
        .children("allow-secret")
        .filter_map(|child| {
            let mut reader = Reader::new(child, out);
            let rule = reader.argument("the name of a rule", out);
            let rule = rule.and_then(|value| value.non_empty(out));
            let because = reader.property("because").and_then(|value| value.non_empty(out));
            reader.finish("allow-secret", out);
            Some(AllowedSecret { rule: rule?, because })
        })
        .collect()
}
