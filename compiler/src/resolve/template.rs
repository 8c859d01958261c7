//! Templates of prompts and resources, rendered for every combination of finite arguments.
//!
//! An argument is known when a prompt is requested, but the server lacks a template engine. So an
//! argument with listed values is finite, and the texts are rendered for each of them; a free-text
//! argument may only be printed and becomes a slot. The language is Jinja as minijinja reads it.
//! Undefined names are errors; an absent optional argument is undefined and may be tested. Files
//! stay as written except for tags: see [`engine::written_syntax`].
//!
//! Every template ends in bounded time and memory, see [`limit`]. Only this module names minijinja.

mod engine;
mod error;
mod input;
mod limit;
mod names;
mod nesting;
mod offsets;
mod read;
mod render;
mod rewrite;
mod slot;
mod source;
mod states;

use std::cell::Cell;
use std::collections::BTreeSet;

use relay_bundle::Segment;

pub(crate) use self::input::{
    Include, TemplateArgument, TemplateArgumentKind, TemplateText, Templates,
};
pub(crate) use self::limit::{TEMPLATE_BYTES_MAX, TEXT_BYTES_MAX, TOTAL_BYTES_MAX, VARIANTS_MAX};
use self::render::Renderer;
pub(crate) use self::source::TextPlace;
use self::states::States;
use crate::diagnostic::Diagnostics;

/// The texts of one prompt, rendered.
#[derive(Debug)]
pub(crate) struct RenderedTexts {
    /// The use of each argument for the choice of a variant.
    pub(crate) steering: Vec<Steering>,
    /// For each variant the segments of each text.
    pub(crate) variants: Vec<Vec<Vec<Segment>>>,
    /// Whether some template mentions the argument.
    pub(crate) used: Vec<bool>,
}

/// The part of an argument in the choice of the variant; see [`relay_bundle::Rendering`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steering {
    /// The weight of its state.
    pub(crate) stride: u32,
    /// Whether only its presence matters.
    pub(crate) only_printed: bool,
}

/// Returns the built-in names of templates, each list sorted, with its mark in the text of the
/// reference: filters, tests and functions.
pub(crate) fn vocabulary() -> [(&'static str, Vec<&'static str>); 3] {
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    [
        ("%filters%", sorted(engine::filter_names().collect())),
        ("%tests%", sorted(engine::test_names().collect())),
        ("%functions%", sorted(engine::function_names().collect())),
    ]
}

/// Renders the templates of one prompt together; `None` if one has errors, which are reported.
///
/// `project_cost` is the cost of the project's prompts so far beyond the free part of each; see
/// [`limit`].
pub(crate) fn render(
    templates: &Templates<'_>,
    project_cost: &Cell<u64>,
    include: &Include<'_>,
    out: &mut Diagnostics,
) -> Option<RenderedTexts> {
    let Templates { texts, arguments, at: prompt_at } = *templates;
    let errors_before = out.error_count();
    read::check_choices(arguments, out);
    let templates = read::read(texts, include, out);
    let uses = names::check_names(&templates, arguments, out);
    if out.error_count() > errors_before {
        return None;
    }
    let engine = render::engine(&templates, out)?;
    // A choice that is only printed is a slot, as free text is: its value is checked against the
    // list when a caller gives it, and the number of renderings stays the same.
    let mut only_printed = names::only_printed(arguments, &uses);
    loop {
        let seen = names::as_seen(arguments, &only_printed);
        let mut attempt = Diagnostics::new(false);
        let looked_at = match States::new(&seen, &uses, prompt_at, &mut attempt) {
            Some(states) => {
                let text_count = texts.len();
                let renderer = Renderer::new(&templates, &engine, &seen, states, text_count);
                if let Some(variants) = renderer.variants(prompt_at, project_cost, &mut attempt) {
                    let strides = renderer.states.strides().into_iter().zip(only_printed);
                    let steering =
                        strides.map(|(stride, only_printed)| Steering { stride, only_printed });
                    let used = uses.iter().map(|used| used.mentioned).collect();
                    return Some(RenderedTexts { steering: steering.collect(), variants, used });
                }
                renderer.looked_at.into_inner()
            }
            None => BTreeSet::new(),
        };
        // A template read a captured choice, so its value must be known: the next attempt renders
        // each value.
        let mut found = false;
        for (index, slot) in only_printed.iter_mut().enumerate() {
            found |= *slot && looked_at.contains(&index);
            *slot &= !looked_at.contains(&index);
        }
        if !found {
            out.absorb(attempt);
            return None;
        }
    }
}

#[cfg(test)]
mod tests;
