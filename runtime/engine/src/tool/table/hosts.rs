//! Commands, terminals, files and ports on other hosts.

use relay_bundle::Tier;

use super::shared::{COLS, MAX_OUTPUT, ROWS, TIMEOUT, TOOL};
use crate::tool::spec::{Bound, Group, Kind, Limit, Output, Parameter, Time, ToolSpec};

const HOST: Parameter =
    Parameter::required_text("host", "The host: an alias that ssh_hosts lists, or USER@HOST");

/// A list of hosts; empty for all of the project.
const HOSTS: Parameter = Parameter::optional_text(
    "hosts",
    "Hosts, separated by commas or blanks; empty for all that ssh_hosts lists",
);

const USER: Parameter =
    Parameter::optional_text("user", "The user to log in as, where the project sets none");

const PORT: Parameter = Parameter {
    name: "port",
    kind: Kind::Integer { default: Bound::Fixed(0), min: 0, max: Bound::Fixed(u16::MAX as i64) },
    required: false,
    meaning: "The port, where the project sets none; 0 for 22",
};

const KEY_PATH: Parameter = Parameter::optional_text(
    "key_path",
    "A private key on the server, where the project sets none",
);

const KNOWN_HOSTS: Parameter = Parameter::optional_text(
    "known_hosts",
    "A stricter check of the host key: strict, accept-new or ignore",
);

const JUMP: Parameter = Parameter::optional_text(
    "jump",
    "A host to go through, where the project sets none, as HOST, USER@HOST or USER@HOST:PORT",
);

const COMMAND: Parameter =
    Parameter::required_text("command", "The command, for the login shell there");

const LOCAL_PATH: Parameter =
    Parameter::required_text("local_path", "The absolute path on the machine of this server");

const REMOTE_PATH: Parameter =
    Parameter::required_text("remote_path", "The path on the host, from the home there");

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

pub(super) const SSH_EXEC: ToolSpec = ToolSpec {
    name: "ssh_exec",
    title: "Run a command on a host",
    description: "Runs a command on another host over SSH, and returns `[exit N]` and its output. For many hosts call ssh_fanout.",
    group: Group::Ssh,
    open_world: true,
    parameters: &[HOST, COMMAND, TIMEOUT, MAX_OUTPUT, USER, PORT, KEY_PATH, KNOWN_HOSTS, JUMP],
    time: Time::Within("timeout", CONNECT_S_MAX),
    output: Output::Argument("max_output"),
    ..TOOL
};

pub(super) const SSH_SPAWN: ToolSpec = ToolSpec {
    name: "ssh_spawn",
    title: "Start a session on a host",
    description: "Starts a program in a terminal on another host, and returns the id of the session. For a program that you type into or watch; then use session_send and session_recv.",
    group: Group::SshSessions,
    tier: Tier::Reversible,
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
    ..TOOL
};

pub(super) const SSH_UPLOAD: ToolSpec = ToolSpec {
    name: "ssh_upload",
    title: "Copy to a host",
    description: "Copies a file or a folder from the machine of this server to another host over SFTP.",
    group: Group::Ssh,
    tier: Tier::Stateful,
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
    ..TOOL
};

pub(super) const SSH_DOWNLOAD: ToolSpec = ToolSpec {
    name: "ssh_download",
    title: "Copy from a host",
    description: "Copies a file or a folder from another host to the machine of this server over SFTP.",
    group: Group::Ssh,
    tier: Tier::Stateful,
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
    ..TOOL
};

pub(super) const SSH_FORWARD: ToolSpec = ToolSpec {
    name: "ssh_forward",
    title: "Open a forward",
    description: "Opens a port that leads through another host, on the loopback interface, and returns the id of the forward and the port. It stays open until ssh_forward_close.",
    group: Group::Ssh,
    tier: Tier::Stateful,
    open_world: true,
    parameters: &[
        HOST,
        Parameter::required_text(
            "spec",
            "L:PORT:HOST:PORT for a port here, R:PORT:HOST:PORT for a port there, D:PORT for a SOCKS5 proxy here; port 0 for any",
        ),
        USER,
        PORT,
        KEY_PATH,
        KNOWN_HOSTS,
        JUMP,
    ],
    time: Time::Seconds(CONNECT_S_MAX),
    ..TOOL
};

pub(super) const SSH_FORWARD_LIST: ToolSpec = ToolSpec {
    name: "ssh_forward_list",
    title: "List forwards",
    description: "Returns your open forwards as JSON, with their ports, clients and ages.",
    group: Group::Ssh,
    ..TOOL
};

pub(super) const SSH_FORWARD_CLOSE: ToolSpec = ToolSpec {
    name: "ssh_forward_close",
    title: "Close a forward",
    description: "Closes a forward and the connections of its clients.",
    group: Group::Ssh,
    tier: Tier::Reversible,
    parameters: &[Parameter::required_text("forward_id", "The id of the forward")],
    ..TOOL
};

pub(super) const SSH_CHECK: ToolSpec = ToolSpec {
    name: "ssh_check",
    title: "Probe hosts",
    description: "Returns for each host whether it can be reached and logged in to. Call it before a command on many hosts.",
    group: Group::Ssh,
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
    ..TOOL
};

pub(super) const SSH_FANOUT: ToolSpec = ToolSpec {
    name: "ssh_fanout",
    title: "Run a command on many hosts",
    description: "Runs a command on many hosts at once, and returns one JSON object with the exit code and the output of each.",
    group: Group::Ssh,
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
    ..TOOL
};

pub(super) const SSH_KEYSCAN: ToolSpec = ToolSpec {
    name: "ssh_keyscan",
    title: "Read host keys",
    description: "Returns the keys that hosts show, as lines for known_hosts. A person must compare their fingerprints before anyone trusts them.",
    group: Group::Ssh,
    tier: Tier::Reversible,
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
    ..TOOL
};

pub(super) const SSH_HOSTS: ToolSpec = ToolSpec {
    name: "ssh_hosts",
    title: "List hosts",
    description: "Returns the hosts that this server knows as JSON: alias, address, user, port, groups, jump.",
    group: Group::Ssh,
    ..TOOL
};
