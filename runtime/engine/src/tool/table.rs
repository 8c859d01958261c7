//! The table of tools. Agents read these texts on every turn of every session, so they are short.

use relay_bundle::Tier;

use super::spec::{Bound, Gating, Group, Keep, Kind, Limit, Output, Parameter, Time, ToolSpec};

/// The placeholder in the meaning of a parameter for the number of keywords that the gate of the
/// project requests.
pub const TAGS_PLACEHOLDER: &str = "{tags}";

const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The argument of every tool except `begin_session` in a gated project.
pub const BRIEFING: Parameter = Parameter {
    name: crate::keywords::BRIEFING_ARGUMENT,
    kind: Kind::Text { default: None },
    required: false,
    meaning: "The most recent handle from begin_session or read_prompts",
};

/// The time limit of a command.
const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    kind: Kind::Timeout { default: Bound::Limit(Limit::Timeout) },
    required: false,
    meaning: "Time limit in seconds, 0 for the default",
};

/// The most bytes of output that a call gets.
const MAX_OUTPUT: Parameter = Parameter {
    name: "max_output",
    kind: Kind::Integer {
        default: Bound::Limit(Limit::Output),
        min: 1024,
        max: Bound::Limit(Limit::MaxOutput),
    },
    required: false,
    meaning: "The most bytes of output to return",
};

const CWD: Parameter = Parameter {
    name: "cwd",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "The folder to run in, empty for the default",
};

const ENV_JSON: Parameter = Parameter {
    name: "env_json",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "Environment variables to set, as a JSON object; null removes one",
};

const HOST: Parameter = Parameter {
    name: "host",
    kind: Kind::Text { default: None },
    required: true,
    meaning: "The host: an alias that ssh_hosts lists, or USER@HOST",
};

/// A list of hosts; empty for all of the project.
const HOSTS: Parameter = Parameter {
    name: "hosts",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "Hosts, separated by commas or blanks; empty for all that ssh_hosts lists",
};

const USER: Parameter = Parameter {
    name: "user",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "The user to log in as, where the project sets none",
};

const PORT: Parameter = Parameter {
    name: "port",
    kind: Kind::Integer { default: Bound::Fixed(0), min: 0, max: Bound::Fixed(u16::MAX as i64) },
    required: false,
    meaning: "The port, where the project sets none; 0 for 22",
};

const KEY_PATH: Parameter = Parameter {
    name: "key_path",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "A private key on the server, where the project sets none",
};

const KNOWN_HOSTS: Parameter = Parameter {
    name: "known_hosts",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "A stricter check of the host key: strict, accept-new or ignore",
};

const JUMP: Parameter = Parameter {
    name: "jump",
    kind: Kind::Text { default: Some("") },
    required: false,
    meaning: "A host to go through, where the project sets none, as HOST, USER@HOST or USER@HOST:PORT",
};

const COMMAND: Parameter = Parameter {
    name: "command",
    kind: Kind::Text { default: None },
    required: true,
    meaning: "The command, for the login shell there",
};

const LOCAL_PATH: Parameter = Parameter {
    name: "local_path",
    kind: Kind::Text { default: None },
    required: true,
    meaning: "The absolute path on the machine of this server",
};

const REMOTE_PATH: Parameter = Parameter {
    name: "remote_path",
    kind: Kind::Text { default: None },
    required: true,
    meaning: "The path on the host, from the home there",
};

const RECURSIVE: Parameter = Parameter {
    name: "recursive",
    kind: Kind::Boolean { default: Some(false) },
    required: false,
    meaning: "Whether a folder is copied with all that it holds",
};

/// The time beside a command on another host: to log in through its jumps, and to end what runs.
const CONNECT_S_MAX: u32 = 150;

/// The time limit of calls about many hosts, in seconds; each host has its own within it.
const FLEET_S_MAX: u32 = 900;
/// The most hosts on which a command for many runs at once.
pub const FANOUT_MAX: u32 = 32;

/// The time limit of calls about sessions: the longest wait for output, and some more.
const SESSION_S_MAX: u32 = 70;

const SESSION_ID: Parameter = Parameter {
    name: "session_id",
    kind: Kind::Text { default: None },
    required: true,
    meaning: "The id of the session",
};

/// The highest number of lines and columns of a terminal.
const SIZE_MAX: Bound = Bound::Fixed(u16::MAX as i64);

const COLS: Parameter = Parameter {
    name: "cols",
    kind: Kind::Integer { default: Bound::Fixed(120), min: 1, max: SIZE_MAX },
    required: false,
    meaning: "Columns of the terminal",
};

const ROWS: Parameter = Parameter {
    name: "rows",
    kind: Kind::Integer { default: Bound::Fixed(40), min: 1, max: SIZE_MAX },
    required: false,
    meaning: "Lines of the terminal",
};

/// All tools, in the order of `tools/list`.
pub const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "begin_session",
        title: "Begin session",
        description: "Returns prompts: rules of this project to follow, selected by keywords of your task. Call it first, and pass the `briefing` that it returns to later calls.",
        group: Group::Gate,
        tier: Tier::ReadOnly,
        gating: Gating::Begins,
        open_world: false,
        parameters: &[Parameter {
            name: "tags",
            kind: Kind::Tags,
            required: true,
            meaning: "{tags} for your task: systems, files, actions",
        }],
        time: Time::Seconds(30),
        output: Output::ByGate,
        keep: Keep::Start,
    },
    ToolSpec {
        name: "read_prompts",
        title: "Read prompts",
        description: "Returns more prompts that match your keywords, without those you already have. Call it when your task moves to a new topic.",
        group: Group::Gate,
        tier: Tier::ReadOnly,
        gating: Gating::Continues,
        open_world: false,
        parameters: &[Parameter {
            name: "tags",
            kind: Kind::Tags,
            required: true,
            meaning: "Keywords for what you need to know",
        }],
        time: Time::Seconds(30),
        output: Output::ByGate,
        keep: Keep::Start,
    },
    ToolSpec {
        name: "shell_exec",
        title: "Run a command",
        description: "Runs a command on the machine of this server, and returns `[exit N]` and its output. For a command that ends by itself; shell_script takes several statements.",
        group: Group::Shell,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            Parameter {
                name: "command",
                kind: Kind::Text { default: None },
                required: true,
                meaning: "The command, in the language of bash",
            },
            TIMEOUT,
            MAX_OUTPUT,
            CWD,
            Parameter {
                name: "stdin",
                kind: Kind::Text { default: Some("") },
                required: false,
                meaning: "Standard input of the command",
            },
            Parameter {
                name: "merge_stderr",
                kind: Kind::Boolean { default: Some(true) },
                required: false,
                meaning: "Whether standard error comes in order with standard output, or after it",
            },
            Parameter {
                name: "use_shell",
                kind: Kind::Boolean { default: Some(true) },
                required: false,
                meaning: "false: the words of the command are a program and its arguments, and mean nothing else",
            },
            ENV_JSON,
        ],
        time: Time::Argument("timeout"),
        output: Output::Argument("max_output"),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "shell_script",
        title: "Run a script",
        description: "Runs a script of several lines on the machine of this server, and returns `[exit N]` and its output.",
        group: Group::Shell,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            Parameter {
                name: "script",
                kind: Kind::Text { default: None },
                required: true,
                meaning: "The text of the script",
            },
            Parameter {
                name: "interpreter",
                kind: Kind::Text { default: Some("bash") },
                required: false,
                meaning: "bash, sh or python",
            },
            Parameter {
                name: "strict",
                kind: Kind::Boolean { default: Some(true) },
                required: false,
                meaning: "Whether a shell stops at the first error (`set -euo pipefail`)",
            },
            Parameter { kind: Kind::Timeout { default: Bound::Fixed(120) }, ..TIMEOUT },
            MAX_OUTPUT,
            CWD,
            ENV_JSON,
        ],
        time: Time::Argument("timeout"),
        output: Output::Argument("max_output"),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "shell_spawn",
        title: "Start a session",
        description: "Starts a program in a terminal on the machine of this server, and returns the id of the session. For a program that you type into or watch; then use session_send and session_recv.",
        group: Group::Sessions,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            Parameter {
                name: "command",
                kind: Kind::Text { default: Some("") },
                required: false,
                meaning: "The program; empty for bash",
            },
            COLS,
            ROWS,
            CWD,
            ENV_JSON,
        ],
        time: Time::Seconds(SESSION_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "session_send",
        title: "Type into a session",
        description: "Types a text into a session of yours. Call session_recv for what it answers.",
        group: Group::Sessions,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            SESSION_ID,
            Parameter {
                name: "data",
                kind: Kind::Text { default: None },
                required: true,
                meaning: "The text to type",
            },
            Parameter {
                name: "enter",
                kind: Kind::Boolean { default: Some(true) },
                required: false,
                meaning: "Whether Enter is typed after it",
            },
        ],
        time: Time::Seconds(SESSION_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "session_recv",
        title: "Read a session",
        description: "Returns the output of a session since the last call, or `[session ID ended, exit=N]`; empty if nothing came in time.",
        group: Group::Sessions,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
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
        keep: Keep::Start,
    },
    ToolSpec {
        name: "session_resize",
        title: "Resize a session",
        description: "Changes the size of the terminal of a session.",
        group: Group::Sessions,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[
            SESSION_ID,
            Parameter { required: true, ..COLS },
            Parameter { required: true, ..ROWS },
        ],
        time: Time::Seconds(SESSION_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "session_kill",
        title: "End a session",
        description: "Signals the programs of a session, and by default ends and forgets it.",
        group: Group::Sessions,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: false,
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
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "session_list",
        title: "List sessions",
        description: "Returns your sessions as JSON, with their sizes, ages and bytes of output.",
        group: Group::Sessions,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[],
        time: Time::Seconds(SESSION_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_exec",
        title: "Run a command on a host",
        description: "Runs a command on another host over SSH, and returns `[exit N]` and its output. For many hosts call ssh_fanout.",
        group: Group::Ssh,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[HOST, COMMAND, TIMEOUT, MAX_OUTPUT, USER, PORT, KEY_PATH, KNOWN_HOSTS, JUMP],
        time: Time::Within("timeout", CONNECT_S_MAX),
        output: Output::Argument("max_output"),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_spawn",
        title: "Start a session on a host",
        description: "Starts a program in a terminal on another host, and returns the id of the session. For a program that you type into or watch; then use session_send and session_recv.",
        group: Group::SshSessions,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            HOST,
            Parameter {
                kind: Kind::Text { default: Some("") },
                required: false,
                meaning: "The command, for the login shell there; empty for that shell",
                ..COMMAND
            },
            COLS,
            ROWS,
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
        time: Time::Seconds(CONNECT_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_upload",
        title: "Copy to a host",
        description: "Copies a file or a folder from the machine of this server to another host over SFTP.",
        group: Group::Ssh,
        tier: Tier::Stateful,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            HOST,
            LOCAL_PATH,
            REMOTE_PATH,
            RECURSIVE,
            TIMEOUT,
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
        time: Time::Within("timeout", CONNECT_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_download",
        title: "Copy from a host",
        description: "Copies a file or a folder from another host to the machine of this server over SFTP.",
        group: Group::Ssh,
        tier: Tier::Stateful,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            HOST,
            REMOTE_PATH,
            LOCAL_PATH,
            RECURSIVE,
            TIMEOUT,
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
        time: Time::Within("timeout", CONNECT_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_forward",
        title: "Open a forward",
        description: "Opens a port that leads through another host, on the loopback interface, and returns the id of the forward and the port. It stays open until ssh_forward_close.",
        group: Group::Ssh,
        tier: Tier::Stateful,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            HOST,
            Parameter {
                name: "spec",
                kind: Kind::Text { default: None },
                required: true,
                meaning: "L:PORT:HOST:PORT for a port here, R:PORT:HOST:PORT for a port there, D:PORT for a SOCKS5 proxy here; port 0 for any",
            },
            USER,
            PORT,
            KEY_PATH,
            KNOWN_HOSTS,
            JUMP,
        ],
        time: Time::Seconds(CONNECT_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_forward_list",
        title: "List forwards",
        description: "Returns your open forwards as JSON, with their ports, clients and ages.",
        group: Group::Ssh,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_forward_close",
        title: "Close a forward",
        description: "Closes a forward and the connections of its clients.",
        group: Group::Ssh,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[Parameter {
            name: "forward_id",
            kind: Kind::Text { default: None },
            required: true,
            meaning: "The id of the forward",
        }],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_check",
        title: "Probe hosts",
        description: "Returns for each host whether it can be reached and logged in to. Call it before a command on many hosts.",
        group: Group::Ssh,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            HOSTS,
            Parameter {
                name: "timeout",
                kind: Kind::Integer { default: Bound::Fixed(5), min: 1, max: Bound::Fixed(60) },
                required: false,
                meaning: "Seconds for each host",
            },
        ],
        time: Time::Seconds(FLEET_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_fanout",
        title: "Run a command on many hosts",
        description: "Runs a command on many hosts at once, and returns one JSON object with the exit code and the output of each.",
        group: Group::Ssh,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            COMMAND,
            HOSTS,
            Parameter { kind: Kind::Timeout { default: Bound::Fixed(30) }, ..TIMEOUT },
            Parameter {
                name: "concurrency",
                kind: Kind::Integer {
                    default: Bound::Limit(Limit::Fanout),
                    min: 1,
                    max: Bound::Fixed(FANOUT_MAX as i64),
                },
                required: false,
                meaning: "How many hosts at once",
            },
        ],
        time: Time::Seconds(FLEET_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_keyscan",
        title: "Read host keys",
        description: "Returns the keys that hosts show, as lines for known_hosts. A person must compare their fingerprints before anyone trusts them.",
        group: Group::Ssh,
        tier: Tier::Reversible,
        gating: Gating::Gated,
        open_world: true,
        parameters: &[
            Parameter {
                kind: Kind::Text { default: None },
                required: true,
                meaning: "Hosts, separated by commas or blanks; 32 at most",
                ..HOSTS
            },
            PORT,
            Parameter {
                name: "key_types",
                kind: Kind::Text { default: Some("rsa,ecdsa,ed25519") },
                required: false,
                meaning: "Kinds of keys, of rsa, ecdsa and ed25519",
            },
            Parameter {
                name: "timeout",
                kind: Kind::Integer { default: Bound::Fixed(10), min: 1, max: Bound::Fixed(60) },
                required: false,
                meaning: "Seconds for each host",
            },
        ],
        time: Time::Seconds(FLEET_S_MAX),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "ssh_hosts",
        title: "List hosts",
        description: "Returns the hosts that this server knows as JSON: alias, address, user, port, groups, jump.",
        group: Group::Ssh,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "server_info",
        title: "Server info",
        description: "Returns the state of this server as JSON: bundle in force, gate, limits, audit, warnings. Call it when an answer is unexpected.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
    ToolSpec {
        name: "audit_tail",
        title: "Audit tail",
        description: "Returns the newest audit records, one JSON object a line, oldest first. Call it to see which calls were served and which were denied.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[
            Parameter {
                name: "lines",
                kind: Kind::Integer { default: Bound::Fixed(50), min: 1, max: Bound::Fixed(1000) },
                required: false,
                meaning: "How many of the newest records to search",
            },
            Parameter {
                name: "tool",
                kind: Kind::Text { default: Some("") },
                required: false,
                meaning: "Only records of this tool; empty for all",
            },
            Parameter {
                name: "tier",
                kind: Kind::Integer {
                    default: Bound::Fixed(-1),
                    min: -1,
                    max: Bound::Fixed(Tier::Irreversible as i64),
                },
                required: false,
                meaning: "Only records of this tier, -1 for all",
            },
            Parameter {
                name: "denied",
                kind: Kind::Boolean { default: None },
                required: false,
                meaning: "true: only denied calls; false: only calls that were not denied",
            },
        ],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::End,
    },
    ToolSpec {
        name: "explain_context",
        title: "Explain context",
        description: "Returns the rules that a call of a tool is given, as JSON: the text, the skills that make it, and those that miss by one selector. Call it to see beforehand what a call brings, and why.",
        group: Group::Diagnostics,
        tier: Tier::ReadOnly,
        gating: Gating::Gated,
        open_world: false,
        parameters: &[
            Parameter {
                name: "tenant",
                kind: Kind::Text { default: None },
                required: false,
                meaning: "The tenant; without it, yours. If you have one, no other is accepted",
            },
            Parameter {
                name: "tool",
                kind: Kind::Text { default: None },
                required: false,
                meaning: "The tool that would be called",
            },
            Parameter {
                name: "user",
                kind: Kind::Text { default: None },
                required: false,
                meaning: "The id of the user; without it, yours. If you have a tenant, users of others are not accepted",
            },
        ],
        time: Time::Seconds(30),
        output: Output::Bytes(OUTPUT_BYTES_MAX),
        keep: Keep::Start,
    },
];

/// Returns the tool with a name, if relay has one.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|spec| spec.name == name)
}
