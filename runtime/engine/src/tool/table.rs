//! The table of tools. Agents read these texts on every turn of every session, so they are short.

mod diagnostics;
mod gate;
mod hosts;
mod sessions;
mod shared;
mod shell;

pub use hosts::FANOUT_MAX;

use super::spec::{Kind, Parameter, ToolSpec};

/// The placeholder in the meaning of a parameter for the number of keywords that the gate of the
/// project requests.
pub const TAGS_PLACEHOLDER: &str = "{tags}";

/// The argument of every tool except `begin_session` in a gated project.
pub const BRIEFING: Parameter = Parameter {
    name: crate::keywords::BRIEFING_ARGUMENT,
    kind: Kind::Text { default: None },
    required: false,
    meaning: "The most recent handle from begin_session or read_prompts",
};

/// All tools, in the order of `tools/list`.
pub const TOOLS: &[ToolSpec] = &[
    gate::BEGIN_SESSION,
    gate::READ_PROMPTS,
    shell::SHELL_EXEC,
    shell::SHELL_SCRIPT,
    sessions::SHELL_SPAWN,
    sessions::SESSION_SEND,
    sessions::SESSION_RECV,
    sessions::SESSION_RESIZE,
    sessions::SESSION_KILL,
    sessions::SESSION_LIST,
    hosts::SSH_EXEC,
    hosts::SSH_SPAWN,
    hosts::SSH_UPLOAD,
    hosts::SSH_DOWNLOAD,
    hosts::SSH_FORWARD,
    hosts::SSH_FORWARD_LIST,
    hosts::SSH_FORWARD_CLOSE,
    hosts::SSH_CHECK,
    hosts::SSH_FANOUT,
    hosts::SSH_KEYSCAN,
    hosts::SSH_HOSTS,
    diagnostics::SERVER_INFO,
    diagnostics::AUDIT_TAIL,
    diagnostics::EXPLAIN_CONTEXT,
];

/// Returns the tool with a name, if relay has one.
#[must_use]
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|spec| spec.name == name)
}
