//! The settings of a gate: the place, range, default and meaning of each.

use relay_bundle::Unlock;

use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::{Setting, settings};
use crate::source::{Span, Spanned};

/// A budget. Longer answers are useless to agents.
const BUDGET: Kind = Kind::bytes(0, 1024 * 1024);
/// The number of tags in a call.
const TAGS: Kind = Kind::Number { low: 1, high: 32 };

words!(Unlock {
    "intercept" = Unlock::Intercept,
    "refuse" = Unlock::Refuse,
});

/// The `gate` node.
pub(crate) static GATE: Rule = Rule {
    name: "gate",
    what: "a gate",
    meaning: "Begins sessions with a briefing: the prompts that match the keywords of a task. A project without this node has no gate.",
    fields: &[
        Field::argument("`on` or `off`", Kind::Words(&["on", "off"]), "Whether sessions are gated.").or(Literal::Word("off")),
        Field::property("hide-tools", Kind::Boolean, "Whether a legacy client, which keeps a session, sees no tool but `begin_session` until it has a briefing.").or(Literal::Boolean(false)),
    ],
    children: &[&UNLOCK, &TAGS_NODE, &BUDGET_NODE, &INDEX],
    example: include_str!("../reference/gate.kdl"),
};

/// The property that a refusing gate ignores.
pub(crate) const UNLOCK_BUDGET: &str = "budget";

/// The answer to a call before a briefing.
pub(crate) static UNLOCK: Rule = Rule {
    name: "unlock",
    what: "unlock",
    meaning: "What a call without a briefing gets.",
    fields: &[
        Field::property("else", Kind::Words(Unlock::WORDS), "`intercept` runs the call and puts a briefing before its result; `refuse` answers with the way to a briefing.").or(Literal::Word("intercept")),
        Field::property(UNLOCK_BUDGET, BUDGET, "The budget of the briefing that comes with each call of a client that keeps no session.").or(Literal::Number(2048)),
    ],
    children: &[],
    example: "",
};

/// The tags of a call.
pub(crate) static TAGS_NODE: Rule = Rule {
    name: "tags",
    what: "tags",
    meaning: "The keywords of a task.",
    fields: &[
        Field::property(
            "ask",
            TAGS,
            "How many keywords agents are asked for; never more than `max`.",
        )
        .or(Literal::Number(5)),
        Field::property("max", TAGS, "How many keywords a call may bring.").or(Literal::Number(10)),
    ],
    children: &[],
    example: "",
};

/// The limits of answers.
pub(crate) static BUDGET_NODE: Rule = Rule {
    name: "budget",
    what: "budget",
    meaning: "How much text a briefing may have.",
    fields: &[
        Field::optional(
            "the bytes",
            BUDGET,
            "The bytes of the prompts that a briefing sends in full.",
        )
        .or(Literal::Number(8192)),
        Field::property(
            "remaining",
            BUDGET,
            "The bytes of the list of prompts that were not sent.",
        )
        .or(Literal::Number(4096)),
    ],
    children: &[],
    example: "",
};

/// The index of prompts.
pub(crate) static INDEX: Rule = Rule {
    name: "index",
    what: "index",
    meaning: "The list of prompts that replaces `{{prompt_index}}`.",
    fields: &[
        Field::property("cap", Kind::Number { low: 0, high: 1000 }, "With more prompts than this, only the important ones are listed.").or(Literal::Number(50)),
        Field::property("over-cap-priority", Kind::Number { low: 1, high: 10 }, "The lowest priority that is listed in a project over the cap.").or(Literal::Number(7)),
        // An entry holds at least a name and a word of its subject.
        Field::property("entry", Kind::Chars { low: 16, high: 500 }, "The length of one entry; a longer one is truncated.").or(Literal::Number(100)),
        // Clients silently truncate instructions, the strictest known one after 2048 characters,
        // which includes the client's own text before them.
        Field::property("instructions", Kind::Chars { low: 200, high: 2000 }, "The length of what a client reads when it connects; the index is shortened until it fits.").or(Literal::Number(2000)),
    ],
    children: &[],
    example: "",
};

settings! {
    /// The gate of sessions, as written and as resolved. With the gate off the settings are the
    /// defaults.
    struct Gate {
        /// The node, if one is written.
        at: Option<Span>,
        /// The first setting in each node, even an idle one.
        first_settings: Vec<Span>,
        /// The empty nodes.
        empty: Vec<Spanned<String>>,
    }

    GATE {
        on: Setting<bool> = "`on` or `off`",
        hide_tools: Setting<bool> = "hide-tools",
    }

    UNLOCK {
        unlock: Setting<Unlock> = "else",
        /// The budget of a briefing that comes with each call of a stateless client.
        repeat_bytes: Setting<u32> = UNLOCK_BUDGET,
    }

    TAGS_NODE {
        tags_ask: Setting<u32> = "ask",
        tags_max: Setting<u32> = "max",
    }

    BUDGET_NODE {
        budget_bytes: Setting<u32> = "the bytes",
        remaining_bytes: Setting<u32> = "remaining",
    }

    INDEX {
        index_cap: Setting<u32> = "cap",
        over_cap_priority: Setting<u8> = "over-cap-priority",
        entry_chars: Setting<u32> = "entry",
        instructions_chars: Setting<u32> = "instructions",
    }
}
