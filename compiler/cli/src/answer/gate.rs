//! How sessions are gated: the settings, and the messages of the run time.

use relay_bundle::{GateView, MessagePieceView, Unlock as HeldUnlock};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::size::grouped;

/// The settings of a gate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Gate {
    /// What happens to a gated call without a briefing.
    pub(crate) unlock: Unlock,
    /// Whether clients with a session see no tool but `begin_session` until they called it.
    pub(crate) hide_tools: bool,
    /// How many tags are asked for in words.
    pub(crate) tags_ask: usize,
    /// How many tags are accepted.
    pub(crate) tags_max: usize,
    /// Bytes of bodies in one briefing; prompts of priority 10 come whatever it is.
    pub(crate) budget_bytes: usize,
    /// The same, where a client without a session gets a briefing with each call; 0 if calls are
    /// refused.
    pub(crate) repeat_bytes: usize,
    /// Bytes of the index entries and names in one answer.
    pub(crate) remaining_bytes: usize,
    /// Characters of one entry of the index in the instructions.
    pub(crate) entry_chars: usize,
}

/// What happens to a gated call without a briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unlock {
    /// It runs, and a briefing is put before its result.
    Intercept,
    /// It is refused with the way to a briefing.
    Refuse,
}

/// A gate with what it says.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GateInFull {
    /// Its settings.
    #[serde(flatten)]
    pub(crate) settings: Gate,
    /// What it says when a session runs; the rest stands in the instructions.
    pub(crate) messages: GateMessages,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

/// The messages of the run time, with `{{matched_prompts}}` and `{{remaining_prompts}}` where
/// prompts are put.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GateMessages {
    /// What follows a briefing.
    pub(crate) gate_encouragement: String,
    /// What follows the prompts that `read_prompts` gives.
    pub(crate) read_prompts_reminder: String,
    /// What precedes a briefing that nobody asked for; empty if calls are refused.
    pub(crate) gate_intercept_preamble: String,
}

impl Gate {
    /// Reads the settings of a bundle's gate.
    pub(crate) fn of(view: &GateView<'_>) -> Self {
        Self {
            unlock: match view.unlock {
                HeldUnlock::Intercept => Unlock::Intercept,
                HeldUnlock::Refuse => Unlock::Refuse,
            },
            hide_tools: view.hide_tools,
            tags_ask: view.tags_ask,
            tags_max: view.tags_max,
            budget_bytes: view.budget_bytes,
            repeat_bytes: view.repeat_bytes,
            remaining_bytes: view.remaining_bytes,
            entry_chars: view.entry_chars,
        }
    }

    /// Returns what the settings mean, each under the word that sets it.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Self {
            unlock,
            hide_tools,
            tags_ask,
            tags_max,
            budget_bytes,
            repeat_bytes,
            remaining_bytes,
            entry_chars: _,
        } = self;
        let unlock = match unlock {
            Unlock::Intercept => format!(
                "intercept: a gated call without a briefing runs, and one is put before its result: \
                 once a session; with each call of a client that has none, up to {} bytes",
                grouped(*repeat_bytes)
            ),
            Unlock::Refuse => "refuse: a gated call without a briefing is refused, and the answer \
                               names `begin_session`"
                .to_owned(),
        };
        let mut facts = vec![
            (
                "tags",
                format!("asks for {}, takes {} at most", grouped(*tags_ask), grouped(*tags_max)),
            ),
            (
                "briefing",
                format!(
                    "prompts up to {} bytes, those of priority 10 always; index entries and names \
                     up to {} bytes",
                    grouped(*budget_bytes),
                    grouped(*remaining_bytes)
                ),
            ),
            ("unlock", unlock),
        ];
        if *hide_tools {
            let told =
                "a client with a session sees no tool but `begin_session` until it called it";
            facts.push(("hide-tools", told.to_owned()));
        }
        facts
    }
}

impl Unlock {
    /// Returns the word of the language.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Intercept => "intercept",
            Self::Refuse => "refuse",
        }
    }
}

impl GateInFull {
    /// Reads a bundle's gate.
    pub(crate) fn of(view: &GateView<'_>) -> Self {
        Self {
            settings: Gate::of(view),
            messages: GateMessages {
                gate_encouragement: written(&view.encouragement),
                read_prompts_reminder: written(&view.reminder),
                gate_intercept_preamble: written(&view.preamble),
            },
            at: view.place.to_string(),
        }
    }
}

impl GateMessages {
    /// Returns each message that says something, under its name.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { gate_encouragement, read_prompts_reminder, gate_intercept_preamble } = self;
        let all = [
            ("gate-encouragement", gate_encouragement.as_str()),
            ("read-prompts-reminder", read_prompts_reminder),
            ("gate-intercept-preamble", gate_intercept_preamble),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty())
    }
}

/// Writes a message as its author did.
fn written(pieces: &[MessagePieceView<'_>]) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        MessagePieceView::Literal(text) => text,
        MessagePieceView::Matched => "{{matched_prompts}}",
        MessagePieceView::Remaining => "{{remaining_prompts}}",
    });
    texts.collect()
}
