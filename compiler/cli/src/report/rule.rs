//! The meaning of every diagnostic code, read from `docs/diagnostics.md`, which is generated from the
//! sources of the compiler.

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::json::Severity;

const DOCUMENT: &str = include_str!("../../../../docs/diagnostics.md");

/// A code and its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Rule {
    /// The stable code: `area::what`.
    pub(crate) code: String,
    /// The messages that have this code; most codes have one.
    pub(crate) messages: Vec<Message>,
    /// Why the rule exists, in paragraphs.
    pub(crate) why: Vec<String>,
    /// A report with this code; absent if it takes a project of unusual size to get one.
    pub(crate) example: Option<String>,
}

/// A message, with `{name}` for each part that differs from case to case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Message {
    /// Whether a bundle can be built in spite of it.
    pub(crate) severity: Severity,
    /// The message of the diagnostic.
    pub(crate) message: String,
    /// The remedy; absent if that differs from case to case.
    pub(crate) help: Option<String>,
    /// Whether `relay fmt --fix` can correct it, where the correction is certain.
    pub(crate) fixable: bool,
}

impl Rule {
    /// Returns every rule, sorted by code.
    pub(crate) fn all() -> Vec<Self> {
        DOCUMENT.split("\n### ").skip(1).map(Self::parse).collect()
    }

    /// Returns the part of the code before `::`.
    pub(crate) fn area(&self) -> &str {
        self.code.split("::").next().unwrap_or_default()
    }

    /// Reads one section of the document: its heading, its messages, its reason and its example.
    fn parse(section: &str) -> Self {
        // The heading of the next area lies between rules.
        let section = section.split("\n## ").next().unwrap_or_default();
        let (code, text) = section.split_once('\n').unwrap_or((section, ""));
        let (text, example) = match text.split_once("```text\n") {
            Some((text, example)) => (text, example.split_once("```")),
            None => (text, None),
        };
        let mut rule = Self {
            code: code.to_owned(),
            messages: Vec::new(),
            why: Vec::new(),
            example: example.map(|(example, _)| example.to_owned()),
        };
        for line in text.lines().filter(|line| !line.is_empty()) {
            let labelled = line.strip_prefix("- ").and_then(|item| item.split_once(": "));
            match labelled {
                Some(("error", message)) => {
                    rule.messages.push(Message::new(Severity::Error, message))
                }
                Some(("warning", message)) => {
                    rule.messages.push(Message::new(Severity::Warning, message));
                }
                Some(("note", message)) => {
                    rule.messages.push(Message::new(Severity::Note, message));
                }
                Some(("help", help)) => {
                    if let Some(message) = rule.messages.last_mut() {
                        message.help = Some(help.to_owned());
                    }
                }
                Some(("fix", _)) => {
                    if let Some(message) = rule.messages.last_mut() {
                        message.fixable = true;
                    }
                }
                _ => rule.why.push(line.to_owned()),
            }
        }
        rule
    }
}

impl Message {
    fn new(severity: Severity, message: &str) -> Self {
        Self { severity, message: message.to_owned(), help: None, fixable: false }
    }
}

#[cfg(test)]
mod tests {
    use super::{DOCUMENT, Rule};

    #[test]
    fn the_whole_document_is_read() {
        let rules = Rule::all();
        let headings = DOCUMENT.lines().filter(|line| line.starts_with("### ")).count();
        assert!(rules.len() > 100 && rules.len() == headings, "{} of {headings}", rules.len());
        assert!(rules.is_sorted_by(|one, other| one.code < other.code));
        for Rule { code, messages, why, example } in rules {
            assert!(code.contains("::") && !messages.is_empty() && !why.is_empty(), "{code}");
            let texts = messages.iter().map(|message| message.message.as_str());
            let texts = texts.chain(why.iter().map(String::as_str));
            let of_document = |text: &str| {
                text.starts_with("- ") || text.starts_with('#') || text.contains("```")
            };
            assert!(!texts.clone().any(of_document), "{code}");
            assert!(example.is_none_or(|example| example.starts_with("  ")), "{code}");
        }
    }
}
