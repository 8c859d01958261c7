//! Prompts, with the tag index over them.

use zerocopy::IntoBytes;

use super::Sections;
use crate::contents::{Generated, Message, Part, Prompt, Rendering, Segment};
use crate::record;
use crate::tag_index;

impl Sections {
    pub(super) fn prompts(&mut self, prompts: &[Prompt]) {
        let order = tag_index::order(prompts);
        let mut ranks = vec![0; prompts.len()];
        for (rank, index) in (0..).zip(&order) {
            if let Some(slot) = ranks.get_mut(*index as usize) {
                *slot = rank;
            }
        }
        let body_bytes: Vec<u32> =
            prompts.iter().zip(ranks).map(|(prompt, rank)| self.prompt(prompt, rank)).collect();
        self.tag_index = tag_index::build(prompts, &order, &body_bytes);
    }

    /// Appends a prompt; returns the bytes of the text that a briefing sends.
    fn prompt(&mut self, prompt: &Prompt, rank: u32) -> u32 {
        let Prompt {
            name,
            title,
            description,
            summary,
            chapters,
            generated: Generated { summary: generated_summary, chapters: generated_chapters },
            priority,
            meta,
            body,
            rendering,
            at,
        } = prompt;
        let body = body.as_deref().unwrap_or_else(|| only_literal(rendering));
        let body = self.bodies.shared(body.as_bytes());
        let record = record::Prompt {
            name: self.string(name),
            title: self.optional(title.as_deref()),
            description: self.optional(description.as_deref()),
            summary: self.optional(summary.as_deref()),
            meta: self.optional(meta.as_deref()),
            chapters: self.string_list(chapters),
            rendering: self.rendering(rendering),
            body,
            place: self.place(at),
            rank: rank.into(),
            priority: *priority,
            generated: (record::GENERATED_SUMMARY * u8::from(*generated_summary))
                | (record::GENERATED_CHAPTERS * u8::from(*generated_chapters)),
            reserved: 0.into(),
        };
        self.prompts.extend_from_slice(record.as_bytes());
        body.length.get()
    }
}

/// Returns the text of a rendering that is one literal; empty if it is anything else.
fn only_literal(rendering: &Rendering) -> &str {
    let [messages] = rendering.variants.as_slice() else { return "" };
    let [Message { parts, .. }] = messages.as_slice() else { return "" };
    let [Part::Text(segments)] = parts.as_slice() else { return "" };
    let [Segment::Literal(text)] = segments.as_slice() else { return "" };
    text
}
