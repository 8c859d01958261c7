//! The front matter of a markdown file: its place and its entries.
//!
//! [`super::markdown_prompt()`] interprets its keys.

mod correction;
mod description;
mod opening;
mod report;
mod text;
mod yaml;

use std::ops::Range;

use hashbrown::HashMap;
use miette::Diagnostic;
use thiserror::Error;

use crate::ast::FrontMatterRule;
use crate::diagnostic::{Edit, Fixable};
use crate::source::Span;
use correction::{Corrected, Edits, Slip};
use opening::{MARK, Opened, Opening, without_end};

pub(super) use correction::quoted;
pub(crate) use report::Reporter;
pub(crate) use text::FILE_BYTES_MAX;
pub(super) use text::Text;
use yaml::Remedy;
pub(super) use yaml::{Entry, Node, Value, YamlError, document};

/// The front matter of a file.
pub(super) struct FrontMatter<'t> {
    /// Its entries, in order. Repeated keys were reported.
    pub(super) entries: Vec<Entry>,
    /// The place of its opening line.
    pub(super) opening: Span,
    /// The offset of the body in the text.
    pub(super) body: usize,
    text: &'t Text,
    /// The offset of the YAML in the text.
    start: usize,
    edits: Edits,
}

impl<'t> FrontMatter<'t> {
    /// Reads the front matter of a file. `None`: it is missing or unreadable, which is reported.
    ///
    /// `is_used` says which keys have a meaning: a comment that cuts off another value is fine.
    pub(super) fn read(
        text: &'t Text,
        rule: FrontMatterRule,
        is_used: impl Fn(&str) -> bool,
        reporter: &mut Reporter<'_>,
    ) -> Option<Self> {
        let Opened { yaml, body } = match opening::find(text, rule, reporter)? {
            Opening::Found(opened) => opened,
            Opening::Absent => return Some(Self::absent(text)),
        };
        let (slips, result) = correction::parse(text.text.get(yaml.clone()).unwrap_or_default());
        let is_right = slips.is_empty();
        for Slip { what, at, line, edits } in slips {
            let span = |at: &Range<usize>| text.span(&(yaml.start + at.start..yaml.start + at.end));
            let edit =
                |(at, text): &(Range<usize>, String)| Edit { at: span(at), text: text.clone() };
            let (at, edits) = (span(&at), edits.iter().map(edit).collect());
            let help = format!("write it as: {line}");
            reporter.correct(at, NotYaml { what, at, help, edits });
        }
        match result {
            Ok(Corrected { entries, edits }) => {
                let opening = text.span(&(0..MARK.len()));
                let start = yaml.start;
                let matter = Self { entries, opening, body, text, start, edits };
                matter.report_repeated(&matter.entries, reporter);
                if is_right {
                    for entry in matter.entries.iter().filter(|entry| is_used(&entry.key)) {
                        matter.report_comment(Some(&entry.key), &entry.value, reporter);
                    }
                }
                Some(matter)
            }
            Err(yaml::YamlError { at, reason, remedy }) => {
                let at = text.span(&text.character(yaml.start + at));
                let help = match remedy {
                    Remedy::Correct => "check the quotes, colons and indentation up to here",
                    Remedy::Shorten => "write it out, and flatter",
                    Remedy::Join => {
                        "front matter is one document between two lines `---`: remove this line, and keep all keys above the last `---`"
                    }
                };
                let help = help.into();
                let (what, edits) = (reason.into_owned(), Vec::new());
                reporter.refuse_fixable(at, NotYaml { what, at, help, edits });
                None
            }
        }
    }

    /// Returns the front matter of a file that has none.
    fn absent(text: &'t Text) -> Self {
        let (entries, edits) = (Vec::new(), Edits::default());
        let opening = text.span(&(0..0));
        Self { entries, opening, body: 0, text, start: 0, edits }
    }

    /// Returns the span in the file of a range of the YAML.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        self.text.span(&self.range(range))
    }

    /// Returns the correction of a missing description, as the first line of the front matter.
    pub(super) fn with_description(&self) -> Option<Edit> {
        let line = self.description()?;
        let (at, end) =
            (self.text.span(&(self.start..self.start)), description::line_end(&self.text.text));
        Some(Edit { at, text: format!("{line}{end}") })
    }

    /// Returns a line that describes the body by its first sentence.
    pub(super) fn description(&self) -> Option<String> {
        description::line(self.text.text.get(self.body..).unwrap_or_default())
    }

    /// Returns the correction that writes a value as this text, unless a correction of the YAML has
    /// moved the places.
    pub(super) fn rewritten(&self, range: &Range<usize>, text: String) -> Option<Edit> {
        self.edits.is_empty().then(|| Edit { at: self.span(range), text })
    }

    /// Returns the text at a range of the YAML as its author wrote it.
    pub(super) fn written(&self, range: &Range<usize>) -> &'t str {
        self.text.text.get(self.range(range)).unwrap_or_default()
    }

    /// Returns whether front matter is absent.
    pub(super) fn is_absent(&self) -> bool {
        // YAML begins after the opening line.
        self.start == 0
    }

    /// Returns whether its end comes too early: it is empty, and more front matter follows.
    pub(super) fn is_closed_early(&self) -> bool {
        self.entries.is_empty() && self.goes_on()
    }

    /// Returns whether more front matter follows its end.
    pub(super) fn goes_on(&self) -> bool {
        let body = self.text.text.get(self.body..).unwrap_or_default();
        !self.is_absent() && opening::goes_on(body)
    }

    fn range(&self, range: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.edits.original(range);
        self.start + start..self.start + end
    }

    fn report_repeated(&self, entries: &[Entry], reporter: &mut Reporter<'_>) {
        let mut seen = HashMap::new();
        for Entry { key, key_at, value } in entries {
            let at = self.span(key_at);
            if let Some(first_at) = seen.get(key.as_str()).copied() {
                reporter.refuse(at, DuplicateKey { key: key.clone(), first_at, at });
            } else {
                seen.insert(key.as_str(), at);
            }
            self.report_repeated_inside(value, reporter);
        }
    }

    fn report_repeated_inside(&self, node: &Node, reporter: &mut Reporter<'_>) {
        match &node.value {
            Value::List(nodes) => {
                nodes.iter().for_each(|node| self.report_repeated_inside(node, reporter));
            }
            Value::Map(entries) => self.report_repeated(entries, reporter),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }
}

impl FrontMatter<'_> {
    /// Reports a `#` that cuts a value off: an author who means a comment writes it on a line of
    /// its own.
    fn report_comment(&self, key: Option<&str>, node: &Node, reporter: &mut Reporter<'_>) {
        match &node.value {
            Value::List(nodes) => {
                return nodes.iter().for_each(|node| self.report_comment(None, node, reporter));
            }
            Value::Map(entries) => {
                return entries.iter().for_each(|Entry { key, key_at: _, value }| {
                    self.report_comment(Some(key), value, reporter);
                });
            }
            Value::Null | Value::Text(_) => {}
            Value::Bool(_) | Value::Number(_) => return,
        }
        let written = self.written(&node.at);
        if written.starts_with(['"', '\'', '|', '>', '*', '&', '!']) {
            return;
        }
        let end = self.range(&node.at).end;
        let rest = self.text.text.get(end..).unwrap_or_default();
        let rest = without_end(rest.split_inclusive('\n').next().unwrap_or_default());
        let comment = rest.trim_start_matches([' ', '\t']);
        if !comment.starts_with('#') || (comment.len() == rest.len() && !written.is_empty()) {
            return;
        }
        let start = end + rest.len() - comment.len();
        let at = self.text.span(&(start..end + rest.len()));
        let whole = format!("{written} {comment}");
        let whole = quoted(&whole.split_whitespace().collect::<Vec<_>>().join(" "));
        let line = match key {
            Some(key) => format!("{key}: {whole}"),
            None => format!("- {whole}"),
        };
        reporter.warn(at, Comment { line, at });
    }
}

/// Returns the range of the YAML of a text with front matter, and the offset of its body.
pub(crate) fn parts(text: &str) -> Option<(Range<usize>, usize)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|first| without_end(first) == MARK)?;
    let mut offset = first.len();
    for line in lines {
        let end = offset + line.len();
        if without_end(line) == MARK {
            return Some((first.len()..offset, end));
        }
        offset = end;
    }
    None
}

/// The front matter is invalid YAML. For a known mistake, such as a colon in a value, the report
/// holds the corrected line.
#[derive(Debug, Error, Diagnostic)]
#[error("{what}")]
#[diagnostic(code(front_matter::yaml))]
struct NotYaml {
    what: String,
    #[label(primary, "here")]
    at: Span,
    #[help]
    help: String,
    edits: Vec<Edit>,
}

impl Fixable for NotYaml {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// YAML ends a value at ` #`, so the rest of the line would be lost although it was meant as text.
#[derive(Debug, Error, Diagnostic)]
#[error("YAML takes the text after a `#` as a comment, so the value ends before it")]
#[diagnostic(
    code(front_matter::comment),
    severity(Warning),
    help("if it belongs to the value, write `{line}`; a comment needs a line of its own")
)]
struct Comment {
    line: String,
    #[label(primary, "dropped")]
    at: Span,
}

/// YAML has one value for a key. Programs differ in which of the two they take.
#[derive(Debug, Error, Diagnostic)]
#[error("`{key}` is given twice")]
#[diagnostic(code(front_matter::duplicate_key), help("keep one of them"))]
struct DuplicateKey {
    key: String,
    #[label("first given here")]
    first_at: Span,
    #[label(primary, "given again here")]
    at: Span,
}
