//! Bodies (`file=`, `text`, `template=`) and `allow-secret`, which lets a text pass that only
//! looks like a secret.

use super::node::Reader;
use crate::ast::{AllowedSecret, Body};
use crate::diagnostic::Diagnostics;
use crate::language::shared::{ALLOW_SECRET, BECAUSE, FILE, TEMPLATE, TEXT};

pub(super) fn body(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Body {
    let mut body = plain(reader, out);
    body.template = reader.value(TEMPLATE.name, out);
    body
}

/// Takes a body that is never a template.
pub(super) fn plain(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Body {
    let mut body = Body::default();
    if let Some(child) = reader.child(TEXT.name, out) {
        let mut reader = Reader::new(child, &TEXT, out);
        body.text = reader.name(out);
        body.broken |= body.text.is_none();
        reader.finish(out);
    }
    if reader.property(FILE.name).is_some() {
        body.file = reader.text(FILE.name, out);
        body.broken |= body.file.is_none();
    }
    // A mistyped `text`, or a `file` as a node, is reported as an unknown name.
    body.broken |= body.text.is_none() && body.file.is_none() && reader.has_unknown();
    body
}

pub(super) fn allowed_secrets(
    reader: &mut Reader<'_>,
    out: &mut Diagnostics,
) -> Vec<AllowedSecret> {
    reader
        .children(ALLOW_SECRET.name)
        .filter_map(|child| {
            let mut reader = Reader::new(child, &ALLOW_SECRET, out);
            let rule = reader.name(out);
            let because = reader.text(BECAUSE.name, out);
            reader.finish(out);
            Some(AllowedSecret { rule: rule?, because })
        })
        .collect()
}
