//! A prompt or a resource whose text is empty.
//!
//! It builds and is listed, and agents get an empty text.

use miette::Diagnostic;
use relay_bundle::{Content, Message, Part, PartContent, Segment};
use relay_engine::agent_skill::SCHEME;
use thiserror::Error;

use crate::alike::Alike;
use crate::diagnostic::Diagnostics;
use crate::model::{Model, Resource};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("{what} has an empty text")]
#[diagnostic(code(text::empty), severity(Warning), help("write the text, or remove it"))]
struct EmptyText {
    what: String,
    #[label(primary, "gives nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut of_files = Alike::default();
    for prompt in &model.prompts {
        if are_empty(&prompt.rendering.variants) {
            let (what, at) = (format!("prompt `{}`", prompt.name.value), prompt.name.at);
            match at.start == at.end {
                // The name comes from a path, so its place is a file.
                true => of_files.add(at, EmptyText { what, at }, None),
                false => out.report(at, EmptyText { what, at }),
            }
        }
    }
    of_files.report(out);
    let mut report = |what: String, at| out.report(at, EmptyText { what, at });
    // Agent skills have empty files on purpose, such as `__init__.py`.
    let is_own = |resource: &&Resource| !resource.uri.value.starts_with(SCHEME);
    for resource in model.resources.iter().filter(is_own) {
        if matches!(&resource.content, Content::Text(text) if text.trim().is_empty()) {
            report(format!("resource `{}`", resource.uri.value), resource.uri.at);
        }
    }
    for template in &model.templates {
        if are_empty(&template.rendering.variants) {
            let uri = &template.uri_template;
            report(format!("resource `{}`", uri.value), uri.at);
        }
    }
}

/// Returns whether all variants are empty.
fn are_empty(variants: &[Vec<Message>]) -> bool {
    variants.iter().flatten().flat_map(|message| &message.parts).all(is_empty)
}

fn is_empty(part: &Part) -> bool {
    let is_blank = |segment: &Segment| match segment {
        Segment::Literal(literal) => literal.trim().is_empty(),
        Segment::Slot(_) => false,
    };
    matches!(&part.content, PartContent::Text(text) if text.iter().all(is_blank))
}
