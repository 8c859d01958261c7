//! The settings of a gate: where each is written, its range, its default and what it means.

use relay_bundle::Unlock;

use crate::grammar::{Field, Kind, Scalar, words};
use crate::setting::{Setting, Slot, settings};
use crate::source::{Span, Spanned};

/// A budget: an answer that is longer helps no agent.
const BUDGET: Kind = Kind::Bytes { high: 1024 * 1024 };
/// Tags that a call may bring.
const TAGS: Kind = Kind::Number { low: 1, high: 32 };

words!(Unlock {
    "intercept" = Unlock::Intercept,
    "refuse" = Unlock::Refuse,
});

settings! {
    /// How sessions are gated, as it was written and as it is resolved. With the gate off the
    /// settings are the defaults.
    struct Gate {
        /// The node; absent if none was written.
        at: Option<Span>,
        /// The first setting that each node wrote, counted or not.
        first_settings: Vec<Span>,
        /// The nodes that set nothing.
        empty: Vec<Spanned<String>>,
    }

    /// The `gate` node.
    GATE: "gate", "a gate", &[&UNLOCK, &TAGS_NODE, &BUDGET_NODE, &INDEX], "Begins sessions with a briefing: the prompts that match the keywords of a task. A project without this node has no gate." {
        on: bool = false, Field::argument(
            "`on` or `off`", Kind::Words(&["on", "off"]), "Whether sessions are gated.");
        hide_tools: bool = false, Field::property(
            "hide-tools", Kind::Boolean, "Whether a legacy client, which keeps a session, sees no tool but `begin_session` until it has a briefing.");
    } include_str!("../reference/gate.kdl")

    /// What a call without a briefing gets.
    UNLOCK: "unlock", "unlock", &[], "What a call without a briefing gets." {
        unlock: Unlock = Unlock::Intercept, Field::property(
            "else", Kind::Words(Unlock::WORDS), "`intercept` runs the call and puts a briefing before its result; `refuse` answers with the way to a briefing.");
        /// The budget of a briefing that comes with each call of a client without a session.
        repeat_bytes: u32 = 2048, Field::property(
            "budget", BUDGET, "The budget of the briefing that comes with each call of a client that keeps no session.");
    } ""

    /// Keywords.
    TAGS_NODE: "tags", "tags", &[], "The keywords of a task." {
        tags_ask: u32 = 5, Field::property(
            "ask", TAGS, "How many keywords agents are asked for; never more than `max`.");
        tags_max: u32 = 10, Field::property(
            "max", TAGS, "How many keywords a call may bring.");
    } ""

    /// How long answers may be.
    BUDGET_NODE: "budget", "budget", &[], "How much text a briefing may have." {
        budget_bytes: u32 = 8192, Field::optional(
            "the bytes", BUDGET, "The bytes of the prompts that a briefing sends in full.");
        remaining_bytes: u32 = 4096, Field::property(
            "remaining", BUDGET, "The bytes of the list of prompts that were not sent.");
    } ""

    /// The index of prompts.
    INDEX: "index", "index", &[], "The list of prompts that replaces `{{prompt_index}}`." {
        index_cap: u32 = 50, Field::property(
            "cap", Kind::Number { low: 0, high: 1000 }, "With more prompts than this, only the important ones are listed.");
        over_cap_priority: u8 = 7, Field::property(
            "over-cap-priority", Kind::Number { low: 1, high: 10 }, "The lowest priority that is listed in a project over the cap.");
        // An entry holds at least a name and a word of what it is about.
        entry_chars: u32 = 100, Field::property(
            "entry", Kind::Chars { low: 16, high: 500 }, "The length of one entry; a longer one is truncated.");
        // Clients truncate instructions silently, the strictest known one after 2048 characters; what
        // they put in front of them has to fit as well.
        instructions_chars: u32 = 2000, Field::property(
            "instructions", Kind::Chars { low: 200, high: 2000 }, "The length of what a client reads when it connects; the index is shortened until it fits.");
    } ""
}
