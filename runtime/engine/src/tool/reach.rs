//! The effects of tools that run commands or move files: which argument does what.
//!
//! Rules may name all of these, whether or not a project offers them: clients and other servers have
//! tools of the same names.

use relay_bundle::{Selector, Tier};
use serde_json::{Map, Value};

/// The tool of a command for which none is named.
pub const SHELL: &str = "shell_exec";

/// The effects of a call of a tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Reach {
    /// The name of the tool.
    pub tool: &'static str,
    /// The tier of the tool itself, with any arguments.
    pub tier: Tier,
    /// The argument with the text for a shell.
    pub text: Option<&'static str>,
    /// The argument with a host, or several in a list.
    pub host: Option<&'static str>,
    /// Whether it is for a fleet: without a host it means every host of the project.
    pub is_of_fleet: bool,
    /// The tier of a call about a host outside the project, where it is higher.
    pub outside_tier: Tier,
    /// The argument with a forward: a port that it opens, and the target that the port leads to.
    pub forward: Option<&'static str>,
    /// The effects of its other arguments. A path on another host is from the home there.
    pub effects: &'static [(&'static str, Selector)],
    /// The names of its other arguments.
    pub others: &'static [&'static str],
    /// Whether its text is only begun: what follows is typed later, and not seen here.
    pub is_session: bool,
    /// Whether its text is typed into a terminal, which edits it.
    pub is_typed: bool,
}

const NOTHING: Reach = Reach {
    tool: "",
    tier: Tier::ReadOnly,
    text: None,
    host: None,
    is_of_fleet: false,
    outside_tier: Tier::ReadOnly,
    forward: None,
    effects: &[],
    others: &[],
    is_session: false,
    is_typed: false,
};

const CONNECTION: &[&str] = &["timeout", "user", "port", "known_hosts", "jump"];

/// The argument with a file of the server that holds a private key.
const KEY: (&str, Selector) = ("key_path", Selector::Reads);

/// The argument with a path on another host.
pub(crate) const REMOTE_PATH: &str = "remote_path";

/// The reason for which a tool does not run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCommand {
    /// It runs no command at all.
    NoText,
    /// It runs commands on the own host, and another one is named.
    OwnHost,
    /// It runs commands on another host, and none is named.
    NoHost,
}

/// Returns the arguments of a call of a tool that runs a command.
///
/// # Errors
///
/// The tool does not run it; see [`NoCommand`].
pub fn command_arguments(
    tool: &str,
    command: &str,
    host: Option<&str>,
) -> Result<Map<String, Value>, NoCommand> {
    let reach = reach(tool).ok_or(NoCommand::NoText)?;
    let text = reach.text.ok_or(NoCommand::NoText)?;
    let mut given = Map::from_iter([(text.to_owned(), Value::from(command))]);
    match (reach.host, host) {
        (Some(name), Some(host)) => _ = given.insert(name.to_owned(), Value::from(host)),
        (None, Some(_)) => return Err(NoCommand::OwnHost),
        (Some(_), None) => return Err(NoCommand::NoHost),
        (None, None) => {}
    }
    Ok(given)
}

/// The tools whose arguments have effects, and those that only act.
pub const REACH: &[Reach] = &[
    Reach {
        tool: SHELL,
        text: Some("command"),
        others: &["timeout", "max_output", "cwd", "stdin", "merge_stderr", "use_shell", "env_json"],
        ..NOTHING
    },
    Reach {
        tool: "shell_script",
        text: Some("script"),
        others: &["interpreter", "strict", "timeout", "max_output", "cwd", "env_json"],
        ..NOTHING
    },
    Reach {
        tool: "shell_spawn",
        tier: Tier::Reversible,
        text: Some("command"),
        others: &["cols", "rows", "cwd", "env_json"],
        is_session: true,
        ..NOTHING
    },
    Reach {
        tool: "ssh_exec",
        text: Some("command"),
        host: Some("host"),
        effects: &[KEY],
        others: CONNECTION,
        ..NOTHING
    },
    Reach {
        tool: "ssh_spawn",
        tier: Tier::Reversible,
        text: Some("command"),
        host: Some("host"),
        effects: &[KEY],
        others: &["cols", "rows", "user", "port", "known_hosts", "jump"],
        is_session: true,
        ..NOTHING
    },
    Reach {
        tool: "ssh_upload",
        tier: Tier::Stateful,
        host: Some("host"),
        effects: &[
            ("local_path", Selector::Reads),
            ("local_path", Selector::Sends),
            (REMOTE_PATH, Selector::Writes),
            KEY,
        ],
        others: &["recursive", "timeout", "user", "port", "known_hosts", "jump"],
        ..NOTHING
    },
    Reach {
        tool: "ssh_download",
        tier: Tier::Stateful,
        host: Some("host"),
        effects: &[(REMOTE_PATH, Selector::Reads), ("local_path", Selector::Writes), KEY],
        others: &["recursive", "timeout", "user", "port", "known_hosts", "jump"],
        ..NOTHING
    },
    Reach {
        tool: "ssh_forward",
        tier: Tier::Stateful,
        host: Some("host"),
        forward: Some("spec"),
        effects: &[KEY],
        others: &["user", "port", "known_hosts", "jump"],
        ..NOTHING
    },
    Reach { tool: "ssh_forward_list", ..NOTHING },
    Reach { tool: "ssh_forward_close", tier: Tier::Reversible, others: &["forward_id"], ..NOTHING },
    Reach {
        tool: "ssh_check",
        host: Some("hosts"),
        is_of_fleet: true,
        outside_tier: Tier::Reversible,
        others: &["timeout"],
        ..NOTHING
    },
    Reach {
        tool: "ssh_fanout",
        text: Some("command"),
        host: Some("hosts"),
        is_of_fleet: true,
        effects: &[KEY],
        others: &["concurrency", "timeout", "user", "port", "known_hosts", "jump"],
        ..NOTHING
    },
    Reach {
        tool: "ssh_keyscan",
        tier: Tier::Reversible,
        host: Some("hosts"),
        others: &["port", "key_types", "timeout"],
        ..NOTHING
    },
    Reach { tool: "ssh_hosts", ..NOTHING },
    Reach {
        tool: "session_send",
        tier: Tier::Reversible,
        text: Some("data"),
        others: &["session_id", "enter"],
        is_session: true,
        is_typed: true,
        ..NOTHING
    },
    Reach { tool: "session_recv", others: &["session_id", "timeout", "max_bytes"], ..NOTHING },
    Reach {
        tool: "session_resize",
        tier: Tier::Reversible,
        others: &["session_id", "cols", "rows"],
        ..NOTHING
    },
    Reach {
        tool: "session_kill",
        tier: Tier::Reversible,
        others: &["session_id", "signal_name", "close"],
        ..NOTHING
    },
    Reach { tool: "session_list", ..NOTHING },
];

/// Returns the hosts of a list: commas and blanks separate them.
pub fn host_list(written: &str) -> impl Iterator<Item = &str> {
    written
        .split(|letter: char| letter == ',' || letter.is_whitespace())
        .filter(|host| !host.is_empty())
}

/// Returns the effects of a call of a tool; `None` for tools without such a row.
#[must_use]
pub fn reach(tool: &str) -> Option<&'static Reach> {
    REACH.iter().find(|reach| reach.tool == tool)
}

impl Reach {
    /// Returns the names of its arguments.
    pub fn argument_names(&self) -> impl Iterator<Item = &'static str> {
        let Self { text, host, forward, effects, others, .. } = self;
        let effects = effects.iter().map(|(name, _)| *name);
        text.iter().chain(host).chain(forward).copied().chain(effects).chain(others.iter().copied())
    }
}
