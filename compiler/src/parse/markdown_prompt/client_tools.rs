//! The names of tools that clients have, for the lists of tools in front matter. relay passes the lists on
//! unchanged.
//!
//! A client has tools of its servers and extensions too, so an unknown name is no fault. Only one that is close to a
//! known name is probably mistyped.

use relay_engine::nearest::nearest;

use crate::parse::front_matter::{Entry, Node, Value};

/// The keys that list tools.
const KEYS: [&str; 3] = ["allowed-tools", "disallowed-tools", "tools"];

/// The tools of a client.
pub(crate) struct ClientTools {
    /// The client.
    pub(crate) name: &'static str,
    /// The page that lists its tools.
    pub(crate) source: &'static str,
    /// The month in which that page was read.
    pub(crate) read: &'static str,
    pub(crate) tools: &'static [&'static str],
}

/// The tools of clients by the names that front matter has for them, earlier names too. Those with a `/` or a `__`
/// are of sets and servers, and are not listed.
pub(crate) const CLIENT_TOOLS: &[ClientTools] = &[
    ClientTools {
        // `Task`, `MultiEdit`, `LS` and those after them are earlier names.
        name: "Claude Code",
        source: "https://code.claude.com/docs/en/tools-reference",
        read: "2026-11",
        tools: &[
            "Agent",
            "AskUserQuestion",
            "Bash",
            "CronCreate",
            "CronDelete",
            "CronList",
            "Edit",
            "EnterPlanMode",
            "EnterWorktree",
            "ExitPlanMode",
            "ExitWorktree",
            "Glob",
            "Grep",
            "ListMcpResourcesTool",
            "LSP",
            "Monitor",
            "NotebookEdit",
            "PowerShell",
            "Read",
            "ReadMcpResourceTool",
            "SendMessage",
            "Skill",
            "TaskCreate",
            "TaskGet",
            "TaskList",
            "TaskOutput",
            "TaskStop",
            "TaskUpdate",
            "TodoWrite",
            "ToolSearch",
            "WebFetch",
            "WebSearch",
            "Write",
            "Task",
            "MultiEdit",
            "LS",
            "NotebookRead",
            "TodoRead",
            "BashOutput",
            "KillShell",
            "KillBash",
            "SlashCommand",
        ],
    },
    ClientTools {
        // Names without their set, which front matter may leave out, and earlier names.
        name: "VS Code",
        source: "https://code.visualstudio.com/docs/copilot/reference/copilot-vscode-features",
        read: "2026-11",
        tools: &[
            "agent",
            "askQuestions",
            "browser",
            "changes",
            "codebase",
            "createAndRunTask",
            "createDirectory",
            "createFile",
            "edit",
            "editFiles",
            "editNotebook",
            "execute",
            "extensions",
            "fetch",
            "fileSearch",
            "findTestFiles",
            "getNotebookSummary",
            "getProjectSetupInfo",
            "getTerminalOutput",
            "githubRepo",
            "githubTextSearch",
            "installExtension",
            "listDirectory",
            "new",
            "newWorkspace",
            "openSimpleBrowser",
            "problems",
            "read",
            "readFile",
            "readNotebookCellOutput",
            "runCommand",
            "runCommands",
            "runInTerminal",
            "runNotebookCell",
            "runNotebooks",
            "runSubagent",
            "runTask",
            "runTasks",
            "runTests",
            "search",
            "searchResults",
            "selection",
            "terminal",
            "terminalLastCommand",
            "terminalSelection",
            "testFailure",
            "textSearch",
            "todos",
            "usages",
            "vscode",
            "VSCodeAPI",
            "web",
        ],
    },
    ClientTools {
        name: "GitHub Copilot",
        source: "https://github.com/microsoft/vscode/issues/272734",
        read: "2026-11",
        tools: &[
            "agent",
            "custom-agent",
            "edit",
            "execute",
            "read",
            "search",
            "shell",
            "todo",
            "web",
        ],
    },
    ClientTools {
        name: "OpenCode",
        source: "https://opencode.ai/docs/tools",
        read: "2026-11",
        tools: &[
            "apply_patch",
            "bash",
            "browser",
            "edit",
            "glob",
            "grep",
            "list",
            "lsp",
            "patch",
            "question",
            "read",
            "skill",
            "task",
            "todoread",
            "todowrite",
            "webfetch",
            "websearch",
            "write",
        ],
    },
    ClientTools {
        name: "Gemini CLI",
        source: "https://github.com/google-gemini/gemini-cli/tree/main/docs/tools",
        read: "2026-11",
        tools: &[
            "glob",
            "google_web_search",
            "list_directory",
            "read_file",
            "read_many_files",
            "replace",
            "run_shell_command",
            "save_memory",
            "search_file_content",
            "web_fetch",
            "write_file",
            "write_todos",
        ],
    },
];

/// Returns the names in a list of tools that are probably mistyped, each with the known name that is near and the
/// value that it is in; none for keys that list no tools.
pub(super) fn mistyped(entry: &Entry) -> Vec<(String, &'static str, &Node)> {
    let Entry { key, key_at: _, value } = entry;
    if !KEYS.contains(&key.as_str()) {
        return Vec::new();
    }
    let written: Vec<(&str, &Node)> = match &value.value {
        Value::Text(text) => split(text).into_iter().map(|tool| (tool, value)).collect(),
        Value::List(nodes) => {
            let mut texts = Vec::new();
            for node in nodes {
                if let Value::Text(text) = &node.value {
                    texts.push((text.as_str(), node));
                }
            }
            texts
        }
        // `write: false` switches a tool off.
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    let near = |tool: &str| {
        let name = tool.split('(').next().unwrap_or_default().trim();
        let known = || CLIENT_TOOLS.iter().flat_map(|client| client.tools.iter().copied());
        let is_plain = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !is_plain || name.contains("__") || known().any(|it| it.eq_ignore_ascii_case(name)) {
            return None;
        }
        Some((name.to_owned(), nearest(name, known())?))
    };
    let found = written.into_iter().filter_map(|(tool, node)| {
        let (name, near) = near(tool)?;
        Some((name, near, node))
    });
    found.collect()
}

/// Splits a list of tools at blanks and commas outside of parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_between = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter == ',' || letter.is_whitespace())
    };
    text.split(is_between).filter(|tool| !tool.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{CLIENT_TOOLS, ClientTools, split};

    #[test]
    fn a_client_has_a_source_a_date_and_tools() {
        for ClientTools { name, source, read, tools } in CLIENT_TOOLS {
            let (year, month) = read.split_once('-').expect("a month");
            assert!(year.len() == 4 && (1..=12).contains(&month.parse().unwrap_or(0)), "{name}");
            assert!(source.starts_with("https://") && !tools.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_list_is_split_outside_of_parentheses() {
        let tools = ["Bash(git add:*, x)", "Read", "Edit", "Write"];
        assert_eq!(split("Bash(git add:*, x), Read  Edit,Write"), tools);
    }
}
