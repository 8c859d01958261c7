//! A text of a prompt that is too large for any client.
//!
//! A text of this size exceeds the context of any model. A rendered text has the same limit; a
//! plain one is as long as its file.

use miette::Diagnostic;
use relay_bundle::{PartContent, Segment};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::resolve::TEXT_BYTES_MAX;
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("the text of prompt `{name}` has {bytes} bytes, over the limit of {TEXT_BYTES_MAX}")]
#[diagnostic(
    code(text::too_large),
    help("a prompt should fit a model's context: split it, or serve it as a resource")
)]
struct TextTooLarge {
    name: String,
    bytes: usize,
    #[label(primary, "the text of this prompt")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    for prompt in &model.prompts {
        let parts = prompt.rendering.variants.iter().flatten().flat_map(|it| &it.parts);
        let bytes = parts.map(|part| match &part.content {
            PartContent::Text(text) | PartContent::ResourceText { text, .. } => length(text),
            PartContent::Image { .. }
            | PartContent::Audio { .. }
            | PartContent::ResourceBlob { .. } => 0,
        });
        let bytes = bytes.max().unwrap_or_default();
        if bytes > TEXT_BYTES_MAX {
            let at = prompt.name.at;
            out.report(at, TextTooLarge { name: prompt.name.value.clone(), bytes, at });
        }
    }
}

fn length(text: &[Segment]) -> usize {
    let literals = text.iter().map(|segment| match segment {
        Segment::Literal(literal) => literal.len(),
        Segment::Slot(_) => 0,
    });
    literals.sum()
}
