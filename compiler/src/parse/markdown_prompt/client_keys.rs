//! The keys of front matter that clients read. relay passes them on unchanged.

/// The keys of a client.
pub(crate) struct Client {
    /// The client.
    pub(crate) name: &'static str,
    /// The page that lists its keys.
    pub(crate) source: &'static str,
    /// The month in which that page was read.
    pub(crate) read: &'static str,
    pub(crate) keys: &'static [&'static str],
}

/// The keys of a command or a skill that clients read, besides those with a meaning in relay.
pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "Claude Code",
        source: "https://code.claude.com/docs/en/skills",
        read: "2026-08",
        keys: &[
            "name",
            "when_to_use",
            "arguments",
            "disable-model-invocation",
            "user-invocable",
            "allowed-tools",
            "disallowed-tools",
            "model",
            "effort",
            "context",
            "agent",
            "background",
            "hooks",
            "paths",
            "shell",
        ],
    },
    Client {
        name: "Agent Skills",
        source: "https://agentskills.io/specification",
        read: "2026-08",
        keys: &["name", "license", "compatibility", "metadata", "allowed-tools"],
    },
    Client {
        // `mode` was the name of `agent` before.
        name: "VS Code",
        source: "https://code.visualstudio.com/docs/copilot/customization/prompt-files",
        read: "2026-11",
        keys: &["name", "agent", "mode", "model", "tools", "applyTo"],
    },
    Client {
        name: "OpenCode",
        source: "https://opencode.ai/docs/commands",
        read: "2026-11",
        keys: &["agent", "model", "subtask"],
    },
    Client {
        name: "Cursor",
        source: "https://cursor.com/docs/context/rules",
        read: "2026-09",
        keys: &["globs", "alwaysApply"],
    },
    Client {
        name: "Spec Kit",
        source: "https://github.com/github/spec-kit/tree/main/templates/commands",
        read: "2026-11",
        keys: &["scripts", "agent_scripts"],
    },
];

/// Returns the keys of all clients; one that several read is repeated.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().flat_map(|client| client.keys.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, Client};

    #[test]
    fn a_client_has_a_source_a_date_and_keys() {
        for Client { name, source, read, keys } in CLIENTS {
            let (year, month) = read.split_once('-').expect("a month");
            assert!(year.len() == 4 && (1..=12).contains(&month.parse().unwrap_or(0)), "{name}");
            assert!(source.starts_with("https://") && !keys.is_empty(), "{name}");
        }
    }
}
