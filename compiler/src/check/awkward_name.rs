//! A prompt's file has a name that causes trouble in clients.
//!
//! Names of files may be anything; many clients make a slash command of a prompt's name, end it at
//! white space, and truncate it.

use miette::Diagnostic;
use thiserror::Error;

use crate::alike::Alike;
use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

const CHARS_MAX: usize = 64;

#[derive(Debug, Error, Diagnostic)]
#[error("clients will have trouble with the prompt name `{name}`: it {trouble}")]
#[diagnostic(
    code(prompt::awkward_name),
    severity(Warning),
    help("rename the file: letters, digits, `_`, `-` and `.`, at most {CHARS_MAX} characters")
)]
struct AwkwardName {
    name: String,
    trouble: &'static str,
    #[label(primary, "the name comes from this file's path")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let mut found = Alike::default();
    for prompt in &model.prompts {
        let name = &prompt.name.value;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        let trouble = if name.chars().any(char::is_whitespace) {
            "has white space"
        } else if name.chars().count() > CHARS_MAX {
            "is longer than 64 characters"
        } else if !name.chars().all(plain) {
            "has characters that not every client takes"
        } else {
            continue;
        };
        let at = prompt.name.at;
        found.add(at, AwkwardName { name: name.clone(), trouble, at }, None);
    }
    found.report(out);
}
