//! A prompt that embeds a resource which some of its readers may not read.
//!
//! These readers would get the text all the same, or a prompt with a hole.

use hashbrown::HashMap;
use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::{Model, PartSource};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("prompt `{prompt}` embeds the resource `{uri}`, which some of its readers may not read")]
#[diagnostic(
    code(readers::embeds_hidden),
    help("give the prompt the `for`s of the resource, or the resource those of the prompt")
)]
struct EmbedsHidden {
    prompt: String,
    uri: String,
    #[label(primary, "{who} sees this prompt, and not the resource")]
    at: Span,
    who: String,
    #[label("the resource")]
    resource_at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let rows = model.resources.iter().enumerate();
    let rows: HashMap<&str, usize> =
        rows.map(|(row, resource)| (resource.uri.value.as_str(), row)).collect();
    for (row, prompt) in model.prompts.iter().enumerate() {
        let parts = prompt.messages.iter().flat_map(|message| &message.parts);
        for part in parts {
            let PartSource::Resource { uri, body: None, .. } = part else { continue };
            let text = uri.text();
            let Some(resource) = rows.get(text) else { continue };
            let mut audiences = model.audiences.with_callers();
            let Some(audience) = audiences.find(|audience| {
                audience.prompts.contains(row) && !audience.resources.contains(*resource)
            }) else {
                continue;
            };
            let Some(found) = model.resources.get(*resource) else { continue };
            let at = uri.inline_at.unwrap_or(prompt.name.at);
            out.report(
                at,
                EmbedsHidden {
                    prompt: prompt.name.value.clone(),
                    uri: text.to_owned(),
                    at,
                    who: audience.example.describe(&model.access),
                    resource_at: found.uri.at,
                },
            );
        }
    }
}
