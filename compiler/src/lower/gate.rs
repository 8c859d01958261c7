//! The gate and its messages.

use relay_bundle::{Gate, MessagePiece, Place, Unlock};

use crate::instructions;
use crate::model::{self, Model, SystemText};
use crate::source::Span;

/// Lowers the gate; `None` if sessions are not gated. `index` is what `{{prompt_index}}` stands for.
pub(super) fn gate(model: &Model, index: &str, place: &dyn Fn(Span) -> Place) -> Option<Gate> {
    let model::Gate {
        at,
        on,
        hide_tools,
        unlock,
        repeat_bytes,
        tags_ask,
        tags_max,
        budget_bytes,
        remaining_bytes,
        index_cap: _,
        over_cap_priority: _,
        entry_chars,
        instructions_chars: _,
        first_setting: _,
        empty: _,
    } = &model.gate;
    if !on.value {
        return None;
    }
    let pieces = |message: &SystemText| -> Vec<MessagePiece> {
        // What no server says has no place in a bundle.
        if !message.is_said(&model.gate) {
            return Vec::new();
        }
        instructions::pieces(message, &model.project.name.value, index)
    };
    Some(Gate {
        unlock: unlock.value,
        hide_tools: hide_tools.value,
        tags_ask: tags_ask.value,
        tags_max: tags_max.value,
        budget_bytes: budget_bytes.value,
        repeat_bytes: if unlock.value == Unlock::Intercept { repeat_bytes.value } else { 0 },
        remaining_bytes: remaining_bytes.value,
        entry_chars: entry_chars.value,
        encouragement: pieces(&model.messages.gate_encouragement),
        reminder: pieces(&model.messages.read_prompts_reminder),
        preamble: pieces(&model.messages.gate_intercept_preamble),
        at: place(at.unwrap_or(model.project.name.at)),
    })
}
