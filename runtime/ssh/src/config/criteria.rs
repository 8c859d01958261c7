//! The criteria of a `Match` line.

use super::error::LineError;

/// One criterion.
#[derive(Debug)]
pub(crate) struct Criterion {
    /// Whether it begins with `!`.
    pub(crate) is_negated: bool,
    pub(crate) test: Test,
}

/// The things that a criterion asks. Lists are comma lists of patterns.
#[derive(Debug)]
pub(crate) enum Test {
    All,
    /// The second pass. A host whose name would be rewritten is refused, so nothing asks for it here.
    Canonical,
    /// The second pass, for which it asks.
    Final,
    Host(String),
    OriginalHost(String),
    User(String),
    LocalUser(String),
    /// Anything else, such as `exec`: the name as written.
    Other(String),
}

/// Reads the words of a `Match` line.
///
/// # Errors
///
/// A criterion lacks its pattern, or `all` has others beside it.
pub(crate) fn read(words: &[String]) -> Result<Vec<Criterion>, LineError> {
    let mut all = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (is_negated, name) = match word.strip_prefix('!') {
            Some(name) => (true, name),
            None => (false, word.as_str()),
        };
        let incomplete = || LineError::Criterion { criterion: name.to_owned() };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        let test = match (name.to_ascii_lowercase().as_str(), value) {
            ("all", None) => {
                if all.len() > 1 || words.next().is_some() {
                    return Err(LineError::AllAndMore);
                }
                Test::All
            }
            ("canonical", None) => Test::Canonical,
            ("final", None) => Test::Final,
            (lower, value) => {
                let value = value.or_else(|| words.next().map(String::as_str));
                let value = value.ok_or_else(incomplete)?.to_owned();
                match lower {
                    "host" => Test::Host(value),
                    "originalhost" => Test::OriginalHost(value),
                    "user" => Test::User(value),
                    "localuser" => Test::LocalUser(value),
                    _ => Test::Other(name.to_owned()),
                }
            }
        };
        if matches!(&test, Test::Host(list) | Test::OriginalHost(list) | Test::User(list) | Test::LocalUser(list) if list.is_empty())
        {
            return Err(incomplete());
        }
        all.push(Criterion { is_negated, test });
    }
    if all.is_empty() {
        return Err(LineError::Criterion { criterion: String::new() });
    }
    Ok(all)
}
