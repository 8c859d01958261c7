//! Completion of arguments with listed values.

use relay_bundle::{ArgumentKind, Corrupt, RenderingView};

/// MCP allows at most this many values in one answer.
pub const VALUES_MAX: usize = 100;

/// The values that complete a typed text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completion<'b> {
    /// At most [`VALUES_MAX`] values, in the project's order.
    pub values: Vec<&'b str>,
    /// The number of all completions.
    pub total: usize,
}

/// Completes `typed` for the argument `name`; only arguments with choices have completions.
///
/// Values that begin with the typed text come first, then those that contain it; case is ignored.
/// `None` if the argument is unknown.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn complete<'b>(
    rendering: RenderingView<'b>,
    name: &str,
    typed: &str,
) -> Result<Option<Completion<'b>>, Corrupt> {
    let arguments = rendering.arguments()?;
    let Some(argument) = arguments.into_iter().find(|argument| argument.name == name) else {
        return Ok(None);
    };
    let ArgumentKind::Choice(choices) = argument.kind else {
        return Ok(Some(Completion::default()));
    };
    Ok(Some(matching(choices, typed)))
}

/// Completes `typed` by these values, in the same order.
#[must_use]
pub fn matching<'v>(values: Vec<&'v str>, typed: &str) -> Completion<'v> {
    let typed = typed.to_lowercase();
    let lower: Vec<_> = values.into_iter().map(|choice| (choice, choice.to_lowercase())).collect();
    let begins = lower.iter().filter(|(_, lower)| lower.starts_with(&typed));
    let contains =
        lower.iter().filter(|(_, lower)| !lower.starts_with(&typed) && lower.contains(&typed));
    let mut values: Vec<_> = begins.chain(contains).map(|(choice, _)| *choice).collect();
    let total = values.len();
    values.truncate(VALUES_MAX);
    Completion { values, total }
}
