//! The gate settings of a bundle, as human output.

use relay_bundle::{Gate, Unlock};

use crate::answer::size::grouped;

/// Returns the meaning of each gate setting, labelled with its KDL keyword.
pub(crate) fn facts(gate: &Gate) -> Vec<(&'static str, String)> {
    let Gate {
        unlock,
        hide_tools,
        tags_ask,
        tags_max,
        budget_bytes,
        repeat_bytes,
        remaining_bytes,
        at: _,
    } = gate;
    let number = |number: u32| grouped(number as usize);
    let unlock = match unlock.value {
        Unlock::Intercept => format!(
            "intercept: a gated call without a briefing runs, and a briefing precedes its result: \
             once per session, or with each call of a client without a session, up to {} bytes",
            number(repeat_bytes.value)
        ),
        Unlock::Refuse => "refuse: a gated call without a briefing is denied, and the answer \
                           names `begin_session`"
            .to_owned(),
    };
    let tags =
        format!("asks for {}, takes {} at most", number(tags_ask.value), number(tags_max.value));
    let briefing = format!(
        "prompts up to {} bytes, those of priority 10 always; index entries and names up to {} \
         bytes",
        number(budget_bytes.value),
        number(remaining_bytes.value)
    );
    let mut facts = vec![("tags", tags), ("briefing", briefing), ("unlock", unlock)];
    if hide_tools.value {
        let hidden = "a client with a session sees only `begin_session` until it has called it";
        facts.push(("hide-tools", hidden.to_owned()));
    }
    facts
}
