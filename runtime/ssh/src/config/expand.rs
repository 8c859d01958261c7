//! Tokens (`%h`) and `~` in values.

use std::path::PathBuf;

use super::settings::Reason;
use crate::host_name;

/// The values of tokens.
pub(crate) struct Tokens<'a> {
    /// The home folder of the server's own user: `%d` and `~`.
    pub(crate) home: &'a str,
    /// `%h`: the name or address to connect to.
    pub(crate) hostname: &'a str,
    /// `%k`: the name of the host in known_hosts files.
    pub(crate) host_key_alias: &'a str,
    /// `%n`: the alias.
    pub(crate) alias: &'a str,
    /// `%r`: the user to log in as.
    pub(crate) user: &'a str,
    /// `%u`: the server's own user.
    pub(crate) local_user: &'a str,
}

/// Returns a `HostName` with its `%h`.
///
/// # Errors
///
/// It has another token.
pub(crate) fn host_name(text: &str, host: &str) -> Result<String, Reason> {
    let whole = expanded(text, |token| if token == 'h' { Ok(host) } else { Err(Reason::Token) })?;
    // Each `Match` reads it anew, so its length is limited before it is used.
    if whole.len() > host_name::HOST_BYTES_MAX { Err(Reason::HostName) } else { Ok(whole) }
}

/// Returns a path: absolute, or below `~`.
///
/// # Errors
///
/// It is relative, or has an unsupported token or a variable of the environment.
pub(crate) fn path(text: &str, tokens: &Tokens<'_>) -> Result<PathBuf, Reason> {
    if text.contains("${") {
        return Err(Reason::Variable);
    }
    let (home, rest) = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (tokens.home, rest),
        Some(_) => return Err(Reason::Relative),
        None => ("", text),
    };
    let rest = expanded(rest, |token| {
        let value = match token {
            'd' => return Ok(tokens.home),
            'h' => tokens.hostname,
            'k' => tokens.host_key_alias,
            'n' => tokens.alias,
            'r' => tokens.user,
            'u' => tokens.local_user,
            _ => return Err(Reason::Token),
        };
        // A caller chooses the alias and the user; the folder is the choice of the file.
        if value.contains('/') { Err(Reason::Slash) } else { Ok(value) }
    })?;
    let path = PathBuf::from(format!("{home}{rest}"));
    if path.is_absolute() { Ok(path) } else { Err(Reason::Relative) }
}

fn expanded<'a>(
    text: &str,
    value: impl Fn(char) -> Result<&'a str, Reason>,
) -> Result<String, Reason> {
    let mut whole = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => match letters.next() {
                Some('%') => whole.push('%'),
                Some(token) => whole.push_str(value(token)?),
                None => return Err(Reason::Token),
            },
            _ => whole.push(letter),
        }
    }
    Ok(whole)
}
