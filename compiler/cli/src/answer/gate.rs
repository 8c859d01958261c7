//! How sessions are gated, for people.

use relay_bundle::{Gate, Unlock};

use crate::answer::size::grouped;

/// Returns what the settings of a gate mean, each under the word that sets it.
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
            "intercept: a gated call without a briefing runs, and one is put before its result: \
             once a session; with each call of a client that has none, up to {} bytes",
            number(repeat_bytes.value)
        ),
        Unlock::Refuse => "refuse: a gated call without a briefing is refused, and the answer \
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
        let hidden = "a client with a session sees no tool but `begin_session` until it called it";
        facts.push(("hide-tools", hidden.to_owned()));
    }
    facts
}
