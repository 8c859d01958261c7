//! Secrets in audit records: each is replaced by one visible mark, and the name beside it stays.
//!
//! A record shows the commands of a caller, which may hold passwords and keys. Redaction is a
//! heuristic over any text: a shell command, a script, JSON, a message. In doubt it hides a value.
//! It leaves references (`$TOKEN`, `$(vault read …)`, `<password>`) and words (`password: none`),
//! which only say where a secret is.
//!
//! | shape | examples | module |
//! |---|---|---|
//! | private keys | PEM, OpenSSH, PGP and PuTTY, also without the last line | `key_block.rs` |
//! | tokens by their form | `ghp_…`, `sk-…`, `AKIA…`, JSON Web Tokens, hooks of Slack | `token.rs`, `crate::token_shape` |
//! | URLs | `https://user:x@host`, `https://TOKEN@host` | `url.rs` |
//! | assignments | `DB_PASSWORD=x cmd`, `export TOKEN='x'`, `"apiKey": "x"`, `secret => x`, `--from-literal=password=x`, `?sig=x`, `${TOKEN:-x}`, `<password>x</password>` | `name.rs`, `named.rs` |
//! | pairs | `name: DB_PASSWORD` and `value: x` | `scan.rs` |
//! | headers | `Authorization: Basic x`, `-H 'X-Api-Key: x'`, `Cookie: a=x`, `Bearer x` | `named.rs`, `value.rs` |
//! | flags | `--password x`, `-token=x`, `--client-secret "x"` | `scan.rs` |
//! | options of programs | `curl -u user:x`, `mysql -px`, `openssl -pass pass:x`, `docker login -p x` | `program.rs` |
//! | input of programs | `echo x \| sudo -S`, `chpasswd <<< x`, here-documents, `--password-stdin` | `program.rs`, `command.rs`, `shell.rs` |
//! | SQL, PowerShell | `IDENTIFIED BY 'x'`, `ConvertTo-SecureString 'x'` | `scan.rs` |
//! | JSON | values of keys that name secrets, of any type; texts within | `json.rs` |
//!
//! Known misses: secrets without a name or a known shape (operands of unknown programs, text typed
//! at a prompt), text that follows a command substitution in one value, encoded secrets, and
//! several commands in a group before `| sudo -S`.
//!
//! The scan is linear in the text, and takes at most [`SCAN_CHARS_MAX`] characters.

mod command;
mod found;
mod json;
mod key_block;
mod mark;
mod name;
mod named;
mod nesting;
mod part;
mod plain;
mod program;
mod scan;
mod scans;
mod shell;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod url;
mod value;

use std::borrow::Cow;

use serde_json::Value as Json;

pub use mark::{MARKER, SCAN_CHARS_MAX};

/// Returns a text with each secret replaced by [`MARKER`].
///
/// A text of more than [`SCAN_CHARS_MAX`] characters is cut, with `…` as its last character. A text
/// that is a JSON object is redacted as [`redacted_json`] does. Applied again, the result stays.
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    settled(text).unwrap_or(Cow::Borrowed(MARKER))
}

/// Returns a text after as many scans as change it; `None` if it changes beyond the limit.
///
/// A text with odd quotes may change for long, always further to the end. Then it keeps the part
/// before the change.
fn settled(text: &str) -> Option<Cow<'_, str>> {
    let mut current = Cow::Borrowed(text);
    let mut stable = 0;
    for _ in 0..mark::SCANS_MAX {
        let Some(next) = next(&current) else { return Some(current) };
        stable = common_bytes(&current, &next);
        current = Cow::Owned(next);
    }
    let short = |part: usize| {
        let kept = current.get(..current.floor_char_boundary(stable / part))?;
        let short = format!("{}{MARKER}", scans::without_marker_start(kept));
        next(&short).is_none().then_some(Cow::Owned(short))
    };
    [1, 2, 4, 8].into_iter().find_map(short)
}

/// Returns the number of bytes with which both texts begin.
fn common_bytes(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

/// Returns a text after another scan; `None` if it stays.
fn next(text: &str) -> Option<String> {
    let cut = scans::cut(text);
    let short = cut.as_deref().unwrap_or(text);
    let scanned = scans::scanned(short);
    // The scan keeps the spaces of an object, and reads texts alone. Where it took too much for the
    // rest to be an object, the object itself is redacted.
    let object = match json::object_text(&scanned, 0) {
        json::ObjectText::Changed(object) => Some(object),
        json::ObjectText::Same => None,
        json::ObjectText::Other => match json::object_text(short, 0) {
            json::ObjectText::Changed(object) => Some(object),
            json::ObjectText::Same | json::ObjectText::Other => None,
        },
    };
    match scanned {
        _ if object.is_some() => object,
        Cow::Owned(scanned) => Some(scanned),
        Cow::Borrowed(_) => cut,
    }
}

/// Returns a value with its secrets replaced by [`MARKER`]: the whole value of each key that names
/// a secret, unless it is null or empty, and the secrets in all texts and keys.
///
/// Objects and lists within more than 64 others are replaced as a whole.
#[must_use]
pub fn redacted_json(value: &Json) -> Json {
    let mut current = json::value(value, 0, 0);
    for _ in 1..mark::SCANS_MAX {
        let next = json::value(&current, 0, 0);
        if next == current {
            return current;
        }
        current = next;
    }
    Json::String(MARKER.into())
}
