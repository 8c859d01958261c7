//! A diagnostic whose words are one line, free of secrets and of invisible characters.
//!
//! Names and values that a diagnostic quotes come from the author, and KDL texts may have several
//! lines. Text after a line end would look like a report of its own.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity};

use relay_engine::invisible;

use crate::secret;
use crate::source::is_newline;

/// A diagnostic with every line end and invisible character of its message, help and labels written
/// as an escape, and every secret masked. It is behind a pointer, since a wrapper of each of the
/// hundreds of types would be compiled as often.
#[derive(Debug)]
pub(super) struct OneLine(pub(super) Box<dyn Diagnostic + Send + Sync>);

fn one_line(text: &str) -> Cow<'_, str> {
    let masked = secret::masked_text(text);
    if !masked.contains(is_newline) && invisible::search(&masked).is_empty() {
        return masked;
    }
    let mut escaped = String::new();
    for character in masked.chars() {
        match is_newline(character) {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    invisible::visible(&escaped).into_owned().into()
}

impl fmt::Display for OneLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.0.to_string()))
    }
}

impl Error for OneLine {}

impl Diagnostic for OneLine {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.0.help()?.to_string();
        Some(Box::new(one_line(&help).into_owned()))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.0.labels()?;
        Some(Box::new(labels.map(|mut label| {
            let text = label.label().map(|text| one_line(text).into_owned());
            label.set_label(text);
            label
        })))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.0.related()
    }
}
