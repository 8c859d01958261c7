//! The version marker that a KDL document may begin with: `/- kdl-version 2`.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span};

/// Returns whether a document is one of KDL 2, as far as it says; another version is reported.
pub(super) fn check(file: FileId, bytes: &[u8], out: &mut Diagnostics) -> bool {
    let Some(found) = version(bytes) else { return true };
    let Some(written) = bytes.get(found.clone()) else { return true };
    if written == b"2" {
        return true;
    }
    let version = String::from_utf8_lossy(written).into_owned();
    let at = file.span(found.start, found.end);
    out.report(at, WrongVersion { version, at });
    false
}

/// Returns where a document names its version.
fn version(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let is_space = |byte: &&u8| matches!(**byte, b' ' | b'\t');
    let mut at = if bytes.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    for word in [&b"/-"[..], b"kdl-version"] {
        let rest = bytes.get(at..)?.strip_prefix(word)?;
        let spaces = rest.iter().take_while(is_space).count();
        if word != b"/-" && spaces == 0 {
            return None;
        }
        at += word.len() + spaces;
    }
    let end = |byte: &&u8| !byte.is_ascii_whitespace() && **byte != b';';
    let length = bytes.get(at..)?.iter().take_while(end).count();
    Some(at..at + length)
}

#[derive(Debug, Error, Diagnostic)]
#[error("the document is in KDL {version}, and relay reads KDL 2")]
#[diagnostic(
    code(document::version),
    help(
        "write `/- kdl-version 2`, or remove the line; in KDL 2 `true`, `false` and `null` are `#true`, `#false` and `#null`, and a raw string is `#\"…\"#`"
    )
)]
struct WrongVersion {
    version: String,
    #[label(primary, "not this one")]
    at: Span,
}
