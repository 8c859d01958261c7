//! Variables: the effect of `declare`, `export`, `read` and assignments before a command, and the
//! variables that change which code runs.

use super::machine::{Code, Machine};
use super::own::Own;
use super::{arithmetic, code};
use crate::effect::Hidden;
use crate::facts::{NodeBit, NodeRow};
use crate::span::Span;
use crate::state::Frame;
use crate::syntax::Assignment;
use crate::value::{Field, Stream, Text};

/// The doubt about a program that sees a possibly harmful variable.
const CHANGES: &str = "this variable may change which code runs";

/// Variables that change which code runs even unexported, since a shell already exports them or
/// uses them itself.
const OWN_VARIABLES: &[&str] = &[
    "PATH",
    "BASH_ENV",
    "ENV",
    "PS4",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "SHELL",
    "CDPATH",
    // The settings of agents' clients, and with them the hooks that guard an agent.
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_SIMPLE",
    "CODEX_HOME",
    "COPILOT_HOME",
    "CURSOR_CONFIG_DIR",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_PURE",
];

/// Names of variables with a secret, and the ends of such names after a `_`.
const SECRETS: &[&str] = &[
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "SECRET_KEY",
    "SECRET_ACCESS_KEY",
    "ACCESS_KEY",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "PGPASSWORD",
];
/// Parts of such names that mark a place in a list instead of a secret.
const PLACES: &[&str] = &["NEXT", "PAGE", "CONTINUATION", "CURSOR", "STARTING", "CSRF", "SYNC"];

/// Returns whether the name of a variable indicates a secret.
pub(super) fn names_secret(name: &str) -> bool {
    let is_end = |end: &&str| {
        let Some(at) = name.len().checked_sub(end.len()) else { return false };
        let (start, rest) = name.as_bytes().split_at(at);
        rest.eq_ignore_ascii_case(end.as_bytes()) && (start.is_empty() || start.ends_with(b"_"))
    };
    let is_place = |part: &str| PLACES.iter().any(|place| place.eq_ignore_ascii_case(part));
    SECRETS.iter().any(is_end) && !name.split('_').any(is_place)
}

/// Interprets a value that the shell expands in a prompt or a trace.
pub(super) fn prompts(
    run: &mut Machine<'_>,
    name: &str,
    value: &[u8],
    span: Span,
    frame: &mut Frame,
) {
    if !matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT_COMMAND") {
        return;
    }
    let text = Text::from_span(value.to_vec(), span);
    match name {
        "PROMPT_COMMAND" => {
            let mut inner = frame.clone();
            code::here(run, &text, &mut inner, &Stream::default());
        }
        _ => arithmetic::late(run, &text, frame),
    }
}

/// Returns whether a variable of the environment is harmless: the same code runs with every value.
pub(super) fn is_harmless(run: &Machine<'_>, name: &str) -> bool {
    !changes_code(name) && run.facts.is_harmless_variable(name)
}

/// Notes a variable that programs may see from now on.
pub(super) fn exported(run: &mut Machine<'_>, name: &str, span: Span, is_export: bool) {
    let matters = if is_export { !is_harmless(run, name) } else { changes_code(name) };
    if matters && !run.shell.exports.contains(&span) && run.shell.exports.len() < 64 {
        run.shell.exports.push(span);
    }
}

/// Adds the doubts about exported variables when a program runs: they may change its code.
pub(super) fn exports_reach(run: &mut Machine<'_>, row: &NodeRow) {
    if row.has(NodeBit::Builtin) || run.shell.exports.is_empty() {
        return;
    }
    for span in std::mem::take(&mut run.shell.exports) {
        run.runs(Hidden::Opaque, span, CHANGES);
    }
}

/// Adds `NAME=value` for the environment of a program.
pub(super) fn environment(run: &mut Machine<'_>, text: &Text<'_>, own: &mut Own) {
    let bytes = &*text.bytes;
    let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    let is_harmless =
        str::from_utf8(bytes.get(..end).unwrap_or(bytes)).is_ok_and(|name| is_harmless(run, name));
    if !is_harmless {
        own.runs(Hidden::Opaque, text.place(0, end), CHANGES);
    }
    if let Ok(name) = str::from_utf8(bytes.get(..end).unwrap_or(bytes)) {
        let value = bytes.get(end + 1..).unwrap_or(&[]).into();
        run.variables.assign(name, value);
        run.variables.export(name);
    }
}

/// Interprets assignments before a command.
pub(super) fn prefixes(
    run: &mut Machine<'_>,
    code: &Code<'_>,
    assignments: &[Assignment],
    fields: &[Field<'_>],
) {
    if fields.is_empty() {
        return;
    }
    for assignment in assignments {
        let name = code.slice(assignment.name);
        if !is_harmless(run, name) {
            let span = code.place(assignment.name);
            run.runs(Hidden::Opaque, span, CHANGES);
        }
    }
}

/// Returns whether a variable of this name changes the code that the shell or the loader runs,
/// independent of facts.
#[must_use]
pub fn changes_code(name: &str) -> bool {
    OWN_VARIABLES.contains(&name) || name.starts_with("LD_")
}
