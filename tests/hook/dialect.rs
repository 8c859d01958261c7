//! The events of each client for one call, as the clients send them.

use serde_json::{Value, json};

/// All clients.
pub(crate) const CLIENTS: [&str; 9] = [
    "claude-code",
    "codex",
    "cursor",
    "gemini",
    "copilot",
    "vscode",
    "opencode",
    "cline",
    "windsurf",
];

/// A call of an agent, whichever client it runs in.
#[derive(Debug, Clone)]
pub(crate) enum Play<'p> {
    Shell(&'p str),
    Read(&'p str),
    Write(&'p str),
    Fetch(&'p str),
    Server(&'p str, &'p str, Value),
}

impl Play<'_> {
    /// Returns the event of a client before this call; `None` if the client has no such tool.
    pub(crate) fn event(&self, client: &str, cwd: &str) -> Option<Value> {
        Some(match client {
            "claude-code" => {
                let (tool, input) = self.tool(&CLAUDE_CODE)?;
                json!({
                    "session_id": "s-1", "transcript_path": "/t/x.jsonl", "cwd": cwd,
                    "prompt_id": "p-1", "permission_mode": "default",
                    "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
                    "tool_use_id": "toolu_1",
                })
            }
            "codex" => {
                let (tool, input) = match self {
                    Self::Write(path) => {
                        let patch =
                            format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
                        ("apply_patch".to_owned(), json!({ "command": patch }))
                    }
                    Self::Server(server, tool, arguments) => {
                        let plain = format!("mcp__{server}__{tool}");
                        let plain = plain.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
                        (plain, arguments.clone())
                    }
                    Self::Read(path) => ("view_image".to_owned(), json!({ "path": path })),
                    Self::Fetch(_) => return None,
                    Self::Shell(_) => self.tool(&CLAUDE_CODE)?,
                };
                json!({
                    "session_id": "s-1", "turn_id": "t-1", "transcript_path": "/t/x.jsonl",
                    "cwd": cwd, "hook_event_name": "PreToolUse", "model": "m",
                    "permission_mode": "default", "tool_name": tool, "tool_input": input,
                    "tool_use_id": "call_1",
                })
            }
            "cursor" => {
                let mut event = json!({
                    "conversation_id": "c-1", "generation_id": "g-1", "model": "m",
                    "cursor_version": "2.1.0", "workspace_roots": [cwd],
                });
                let more = match self {
                    Self::Shell(text) => json!({
                        "hook_event_name": "beforeShellExecution", "command": text, "cwd": cwd,
                    }),
                    Self::Server(server, tool, arguments) => json!({
                        "hook_event_name": "beforeMCPExecution", "tool_name": tool,
                        "tool_input": arguments.to_string(), "mcp_server_name": server,
                    }),
                    Self::Read(path) => {
                        json!({ "hook_event_name": "beforeReadFile", "file_path": path, "content": "" })
                    }
                    Self::Write(path) => json!({
                        "hook_event_name": "preToolUse", "tool_name": "Write", "cwd": cwd,
                        "tool_input": { "file_path": path, "content": "x" },
                    }),
                    Self::Fetch(_) => return None,
                };
                event.as_object_mut()?.extend(more.as_object()?.clone());
                event
            }
            "gemini" => {
                let (tool, input, context) = match self {
                    Self::Server(server, tool, arguments) => (
                        format!("mcp_{server}_{tool}"),
                        arguments.clone(),
                        Some(json!({ "server_name": server, "tool_name": tool })),
                    ),
                    Self::Fetch(url) => {
                        let prompt = format!("What does {url} say?");
                        ("web_fetch".to_owned(), json!({ "prompt": prompt }), None)
                    }
                    _ => {
                        let (tool, input) = self.tool(&GEMINI)?;
                        (tool, input, None)
                    }
                };
                let mut event = json!({
                    "session_id": "s-1", "transcript_path": "/t/x.json", "cwd": cwd,
                    "hook_event_name": "BeforeTool", "timestamp": "2026-11-26T14:14:07.657Z",
                    "tool_name": tool, "tool_input": input,
                });
                if let Some(context) = context {
                    event["mcp_context"] = context;
                }
                event
            }
            "copilot" => {
                let (tool, input) = match self {
                    Self::Server(server, tool, arguments) => {
                        (format!("{server}-{tool}"), arguments.clone())
                    }
                    _ => self.tool(&COPILOT)?,
                };
                json!({
                    "sessionId": "s-1", "timestamp": 1_795_702_452_783_u64, "cwd": cwd,
                    "toolName": tool, "toolArgs": input,
                })
            }
            "vscode" => {
                let (tool, input) = match self {
                    Self::Server(server, tool, arguments) => {
                        (format!("mcp_{server}_{tool}"), arguments.clone())
                    }
                    Self::Fetch(_) => return None,
                    _ => self.tool(&VSCODE)?,
                };
                json!({
                    "hook_event_name": "PreToolUse", "session_id": "s-1",
                    "timestamp": "2026-11-26T14:14:07.657Z", "cwd": cwd,
                    "transcript_path": "/t/x.json", "tool_name": tool, "tool_input": input,
                    "tool_use_id": "call_1",
                })
            }
            "opencode" => {
                let (tool, input) = match self {
                    Self::Server(server, tool, arguments) => {
                        (format!("{server}_{tool}"), arguments.clone())
                    }
                    _ => self.tool(&OPENCODE)?,
                };
                json!({
                    "hook": "tool.execute.before", "tool": tool, "sessionID": "ses_1",
                    "callID": "call_1", "args": input, "directory": cwd, "version": "1.18.33",
                })
            }
            "cline" => {
                let (tool, input) = match self {
                    Self::Server(server, tool, arguments) => (
                        "use_mcp_tool".to_owned(),
                        json!({ "server_name": server, "tool_name": tool, "arguments": arguments }),
                    ),
                    _ => self.tool(&CLINE)?,
                };
                json!({
                    "clineVersion": "3.40", "hookName": "PreToolUse", "taskId": "t-1",
                    "workspaceRoots": [cwd],
                    "preToolUse": { "toolName": tool, "parameters": input },
                })
            }
            "windsurf" => {
                let (action, info) = match self {
                    Self::Shell(text) => {
                        ("pre_run_command", json!({ "command_line": text, "cwd": cwd }))
                    }
                    Self::Read(path) => ("pre_read_code", json!({ "file_path": path })),
                    Self::Write(path) => {
                        ("pre_write_code", json!({ "file_path": path, "edits": [] }))
                    }
                    Self::Server(server, tool, arguments) => (
                        "pre_mcp_tool_use",
                        json!({
                            "mcp_server_name": server, "mcp_tool_name": tool,
                            "mcp_tool_arguments": arguments,
                        }),
                    ),
                    Self::Fetch(_) => return None,
                };
                json!({
                    "agent_action_name": action, "trajectory_id": "t-1", "execution_id": "e-1",
                    "timestamp": "2026-11-26T14:14:07Z", "tool_info": info,
                })
            }
            other => panic!("{other}"),
        })
    }

    fn tool(&self, names: &Names) -> Option<(String, Value)> {
        let pair = |(tool, argument): (&str, &str), value: &str| {
            Some((tool.to_owned(), json!({ argument: value })))
        };
        match self {
            Self::Shell(text) => pair(names.shell, text),
            Self::Read(path) => pair(names.read, path),
            Self::Write(path) => pair(names.write, path),
            Self::Fetch(url) => pair(names.fetch, url),
            Self::Server(server, tool, arguments) => {
                Some((format!("mcp__{server}__{tool}"), arguments.clone()))
            }
        }
    }
}

/// The tools of a client, each with its argument.
struct Names {
    shell: (&'static str, &'static str),
    read: (&'static str, &'static str),
    write: (&'static str, &'static str),
    fetch: (&'static str, &'static str),
}

const CLAUDE_CODE: Names = Names {
    shell: ("Bash", "command"),
    read: ("Read", "file_path"),
    write: ("Write", "file_path"),
    fetch: ("WebFetch", "url"),
};
const GEMINI: Names = Names {
    shell: ("run_shell_command", "command"),
    read: ("read_file", "file_path"),
    write: ("write_file", "file_path"),
    fetch: ("", ""),
};
const COPILOT: Names = Names {
    shell: ("bash", "command"),
    read: ("view", "path"),
    write: ("create", "path"),
    fetch: ("web_fetch", "url"),
};
const VSCODE: Names = Names {
    shell: ("run_in_terminal", "command"),
    read: ("read_file", "filePath"),
    write: ("create_file", "filePath"),
    fetch: ("", ""),
};
const OPENCODE: Names = Names {
    shell: ("bash", "command"),
    read: ("read", "filePath"),
    write: ("write", "filePath"),
    fetch: ("webfetch", "url"),
};
const CLINE: Names = Names {
    shell: ("execute_command", "command"),
    read: ("read_file", "path"),
    write: ("write_to_file", "path"),
    fetch: ("web_fetch", "url"),
};
