//! Bodies (`file=`, `text`, `template=`), and the nodes `allow-secret`, `allow-invisible` and
//! `allow-mark` for their texts.

use relay_bundle::Suppressed;

use super::node::Reader;
use crate::ast::{Allowed, Body};
use crate::diagnostic::Diagnostics;
use crate::language::shared::{BECAUSE, FILE, TEMPLATE, TEXT, allowing};

pub(super) fn body(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Body {
    let mut body = plain(reader, out);
    body.template = reader.value(TEMPLATE.name, out);
    body
}

/// Takes a body of plain text.
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
    // A mistyped `text`, a `file` as a node, or a text after the name is reported as such.
    let is_reported = reader.has_unknown() || reader.has_surplus();
    body.broken |= body.text.is_none() && body.file.is_none() && is_reported;
    body
}

pub(super) fn allowed(reader: &mut Reader<'_>, out: &mut Diagnostics) -> Vec<Allowed> {
    let mut all = Vec::new();
    for of in [Suppressed::Secret, Suppressed::Invisible, Suppressed::Mark] {
        let rule = allowing(of);
        if !reader.takes(rule) {
            continue;
        }
        for child in reader.children(rule.name) {
            let mut reader = Reader::new(child, rule, out);
            let name = reader.name(out);
            let because = reader.text(BECAUSE.name, out);
            reader.finish(out);
            all.extend(name.map(|rule| Allowed { of, rule, because }));
        }
    }
    all
}
