//! Commands and scripts on the machine of the server.

use super::shared::{CWD, ENV_JSON, MAX_OUTPUT, TIMEOUT, TOOL};
use crate::tool::spec::{Bound, Group, Kind, Output, Parameter, Time, ToolSpec};

pub(super) const SHELL_EXEC: ToolSpec = ToolSpec {
    name: "shell_exec",
    title: "Run a command",
    description: "Runs a command on the machine of this server, and returns `[exit N]` and its output. For a command that ends by itself; shell_script takes several statements.",
    group: Group::Shell,
    open_world: true,
    parameters: &[
        Parameter::required_text("command", "The command, in the language of bash"),
        TIMEOUT,
        MAX_OUTPUT,
        CWD,
        Parameter::optional_text("stdin", "Standard input of the command"),
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
    ..TOOL
};

pub(super) const SHELL_SCRIPT: ToolSpec = ToolSpec {
    name: "shell_script",
    title: "Run a script",
    description: "Runs a script of several lines on the machine of this server, and returns `[exit N]` and its output.",
    group: Group::Shell,
    open_world: true,
    parameters: &[
        Parameter::required_text("script", "The text of the script"),
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
    ..TOOL
};
