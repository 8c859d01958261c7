//! The gate of sessions.

use relay_bundle::{Gate, Unlock};

use super::places::Places;
use crate::model::{self, Model, Setting};

/// Lowers the gate; `None` if it is off.
pub(super) fn gate(model: &Model, places: &Places<'_>) -> Option<Gate> {
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
        // These shape the instructions, which are composed at build.
        index_cap: _,
        over_cap_priority: _,
        entry_chars: _,
        instructions_chars: _,
        first_settings: _,
        empty: _,
    } = model.gate.clone();
    if !on.value {
        return None;
    }
    let repeat_bytes = match unlock.value {
        Unlock::Intercept => repeat_bytes,
        Unlock::Refuse => Setting { value: 0, at: None },
    };
    Some(Gate {
        unlock: places.setting(unlock),
        hide_tools: places.setting(hide_tools),
        tags_ask: places.setting(tags_ask),
        tags_max: places.setting(tags_max),
        budget_bytes: places.setting(budget_bytes),
        repeat_bytes: places.setting(repeat_bytes),
        remaining_bytes: places.setting(remaining_bytes),
        at: places.of(at.unwrap_or(model.project.name.at)),
    })
}
