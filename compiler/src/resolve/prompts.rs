//! All prompts of a project: those of nodes, of folders and of commands, names unique.

use std::collections::BTreeMap;

use super::{markdown, name, prompt};
use crate::ast::PromptsItem;
use crate::diagnostic::Diagnostics;
use crate::model::{Prompt, Resource};
use crate::parse::MarkdownKind;
use crate::source::{Sources, Spanned};

/// Resolves all prompts; returns those that are enabled and the names of the others, both sorted.
pub(super) fn prompts(
    sources: &Sources<'_>,
    items: Vec<PromptsItem>,
    resources: &[Resource],
    out: &mut Diagnostics,
) -> (Vec<Prompt>, Vec<Spanned<String>>) {
    let resources: BTreeMap<&str, &Resource> =
        resources.iter().map(|resource| (resource.uri.value.as_str(), resource)).collect();
    let mut prompts = Vec::new();
    let mut disabled = Vec::new();
    for item in items {
        match item {
            PromptsItem::Prompt(node) => {
                let off = node.enabled.as_ref().is_some_and(|enabled| !enabled.value);
                if off && prompt::has_no_body(&node.body) && node.messages.is_empty() {
                    // What is off needs no text: that is how a `when` takes a prompt away.
                    let name = node.name.filter(|name| name::check(name, "prompt", out));
                    disabled.extend(name);
                    continue;
                }
                // A prompt that is off is resolved all the same: switching it on must not be
                // what finds its faults.
                let Some(prompt) = prompt::prompt(sources, node, &resources, out) else { continue };
                if off {
                    disabled.push(prompt.name);
                } else {
                    prompts.push(prompt);
                }
            }
            PromptsItem::Folder(folder) => {
                prompts.extend(markdown::folder(sources, folder, MarkdownKind::Folder, out));
            }
            PromptsItem::Commands(folder) => {
                prompts.extend(markdown::folder(sources, folder, MarkdownKind::Command, out));
            }
        }
    }
    disabled.sort_by(|a, b| a.value.cmp(&b.value));
    (name::unique(prompts, "prompt", |prompt| &prompt.name, out), disabled)
}
