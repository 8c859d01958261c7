//! Programs in a terminal of the machine of the server, and the tools that drive every session.

use relay_bundle::Tier;

use super::shared::{COLS, CWD, ENV_JSON, ROWS, TOOL};
use crate::tool::spec::{Bound, Group, Kind, Limit, Output, Parameter, Time, ToolSpec};

/// The time limit of calls about sessions: the longest wait for output, and some more.
const SESSION_S_MAX: u32 = 70;

const SESSION_ID: Parameter = Parameter::required_text("session_id", "The id of the session");

pub(super) const SHELL_SPAWN: ToolSpec = ToolSpec {
    name: "shell_spawn",
    title: "Start a session",
    description: "Starts a program in a terminal on the machine of this server, and returns the id of the session. For a program that you type into or watch; then use session_send and session_recv.",
    group: Group::Sessions,
    tier: Tier::Reversible,
    open_world: true,
    parameters: &[
        Parameter::optional_text("command", "The program; empty for bash"),
        COLS,
        ROWS,
        CWD,
        ENV_JSON,
    ],
    time: Time::Seconds(SESSION_S_MAX),
    ..TOOL
};

pub(super) const SESSION_SEND: ToolSpec = ToolSpec {
    name: "session_send",
    title: "Type into a session",
    description: "Types a text into a session of yours. Call session_recv for what it answers.",
    group: Group::Sessions,
    tier: Tier::Reversible,
    open_world: true,
    parameters: &[
        SESSION_ID,
        Parameter::required_text("data", "The text to type"),
        Parameter {
            name: "enter",
            kind: Kind::Boolean { default: Some(true) },
            required: false,
            meaning: "Whether Enter is typed after it",
        },
    ],
    time: Time::Seconds(SESSION_S_MAX),
    ..TOOL
};

pub(super) const SESSION_RECV: ToolSpec = ToolSpec {
    name: "session_recv",
    title: "Read a session",
    description: "Returns the output of a session since the last call, or `[session ID ended, exit=N]`; empty if nothing came in time.",
    group: Group::Sessions,
    parameters: &[
        SESSION_ID,
        Parameter {
            name: "timeout",
            kind: Kind::Decimal { default_ms: 2_000, max_ms: 60_000 },
            required: false,
            meaning: "How long to wait for output, in seconds",
        },
        Parameter {
            name: "max_bytes",
            kind: Kind::Integer {
                default: Bound::Limit(Limit::Output),
                min: 256,
                max: Bound::Limit(Limit::MaxOutput),
            },
            required: false,
            meaning: "The most bytes of output to return",
        },
    ],
    time: Time::Seconds(SESSION_S_MAX),
    output: Output::Argument("max_bytes"),
    ..TOOL
};

pub(super) const SESSION_RESIZE: ToolSpec = ToolSpec {
    name: "session_resize",
    title: "Resize a session",
    description: "Changes the size of the terminal of a session.",
    group: Group::Sessions,
    tier: Tier::Reversible,
    parameters: &[
        SESSION_ID,
        Parameter { required: true, ..COLS },
        Parameter { required: true, ..ROWS },
    ],
    time: Time::Seconds(SESSION_S_MAX),
    ..TOOL
};

pub(super) const SESSION_KILL: ToolSpec = ToolSpec {
    name: "session_kill",
    title: "End a session",
    description: "Signals the programs of a session, and by default ends and forgets it.",
    group: Group::Sessions,
    tier: Tier::Reversible,
    parameters: &[
        SESSION_ID,
        Parameter {
            name: "signal_name",
            kind: Kind::Text { default: Some("TERM") },
            required: false,
            meaning: "The signal, such as INT",
        },
        Parameter {
            name: "close",
            kind: Kind::Boolean { default: Some(true) },
            required: false,
            meaning: "Whether the session is ended and forgotten",
        },
    ],
    time: Time::Seconds(SESSION_S_MAX),
    ..TOOL
};

pub(super) const SESSION_LIST: ToolSpec = ToolSpec {
    name: "session_list",
    title: "List sessions",
    description: "Returns your sessions as JSON, with their sizes, ages and bytes of output.",
    group: Group::Sessions,
    time: Time::Seconds(SESSION_S_MAX),
    ..TOOL
};
