//! The front matter of a markdown file: its place and its entries.
//!
//! [`super::markdown_prompt()`] interprets its keys.

mod correction;
mod report;
mod text;
mod yaml;

use std::collections::BTreeMap;
use std::ops::Range;

use miette::Diagnostic;
use thiserror::Error;

use crate::ast::FrontMatterRule;
use crate::diagnostic::{Edit, Fixable};
use crate::outline::first_sentence;
use crate::source::Span;
use correction::{Corrected, Edits, Slip};

pub(super) use correction::quoted;
pub(crate) use report::Reporter;
pub(crate) use text::FILE_BYTES_MAX;
pub(super) use text::Text;
pub(super) use yaml::{Entry, Node, Value};

/// The line that opens and closes front matter.
const MARK: &str = "---";

/// The front matter of a file.
pub(super) struct FrontMatter<'t> {
    /// Its entries, in order. Repeated keys were reported.
    pub(super) entries: Vec<Entry>,
    /// The place of its opening line.
    pub(super) opening: Span,
    /// Whether the file has no front matter and needs none.
    pub(super) is_absent: bool,
    /// The offset of the body in the text.
    pub(super) body: usize,
    text: &'t Text<'t>,
    /// The offset of the YAML in the text.
    start: usize,
    edits: Edits,
}

impl<'t> FrontMatter<'t> {
    /// Reads the front matter of a file. `None`: it is missing or unreadable, which is reported.
    pub(super) fn read(
        text: &'t Text<'_>,
        rule: FrontMatterRule,
        reporter: &mut Reporter<'_>,
    ) -> Option<Self> {
        let first = text.text.lines().next().unwrap_or_default();
        // A first line that is nearly the opening one is a slip even if front matter is optional.
        if rule == FrontMatterRule::Optional && first.trim() != MARK {
            let opening = text.span(&(0..0));
            let (entries, edits) = (Vec::new(), Edits::default());
            return Some(Self {
                entries,
                opening,
                is_absent: true,
                body: 0,
                text,
                start: 0,
                edits,
            });
        }
        let (yaml, body) = split(text, reporter)?;
        let (slips, result) = correction::parse(text.text.get(yaml.clone()).unwrap_or_default());
        let is_right = slips.is_empty();
        for Slip { what, at, line, edits } in slips {
            let span = |at: &Range<usize>| text.span(&(yaml.start + at.start..yaml.start + at.end));
            let edit =
                |(at, text): &(Range<usize>, String)| Edit { at: span(at), text: text.clone() };
            let (at, edits) = (span(&at), edits.iter().map(edit).collect());
            let help = format!("write it as: {line}");
            reporter.repair_fixable(at, NotYaml { what, at, help, edits });
        }
        match result {
            Ok(Corrected { entries, edits }) => {
                let opening = text.span(&(0..MARK.len()));
                let start = yaml.start;
                let matter = Self { entries, opening, is_absent: false, body, text, start, edits };
                matter.report_repeated(&matter.entries, reporter);
                if is_right {
                    matter.report_comments(&matter.entries, reporter);
                }
                Some(matter)
            }
            Err(yaml::YamlError { at, reason, may_be_slip }) => {
                let at = text.span(&text.character(yaml.start + at));
                let help = if may_be_slip {
                    "check the quotes, colons and indentation up to here"
                } else {
                    "write it out, and flatter"
                };
                let help = help.into();
                let (what, edits) = (reason.into_owned(), Vec::new());
                reporter.refuse_fixable(at, NotYaml { what, at, help, edits });
                None
            }
        }
    }

    /// Returns the span in the file of a range of the YAML.
    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        self.text.span(&self.range(range))
    }

    /// Returns the correction of a missing description, as the first line of the front matter.
    pub(super) fn with_description(&self) -> Option<Edit> {
        let line = self.description()?;
        let (at, end) = (self.text.span(&(self.start..self.start)), line_end(&self.text.text));
        Some(Edit { at, text: format!("{line}{end}") })
    }

    /// Returns a line that describes the body by its first sentence.
    pub(super) fn description(&self) -> Option<String> {
        description(self.text.text.get(self.body..).unwrap_or_default())
    }

    /// Returns the correction that writes a value as this text; none after a correction of the YAML, whose places differ.
    pub(super) fn rewritten(&self, range: &Range<usize>, text: String) -> Option<Edit> {
        self.edits.is_empty().then(|| Edit { at: self.span(range), text })
    }

    /// Returns the text at a range of the YAML as its author wrote it.
    pub(super) fn written(&self, range: &Range<usize>) -> &'t str {
        self.text.text.get(self.range(range)).unwrap_or_default()
    }

    fn range(&self, range: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.edits.original(range);
        self.start + start..self.start + end
    }

    fn report_repeated(&self, entries: &[Entry], reporter: &mut Reporter<'_>) {
        let mut seen = BTreeMap::new();
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
    fn report_comments(&self, entries: &[Entry], reporter: &mut Reporter<'_>) {
        for Entry { key, key_at: _, value } in entries {
            self.report_comment(Some(key), value, reporter);
        }
    }

    fn report_comment(&self, key: Option<&str>, node: &Node, reporter: &mut Reporter<'_>) {
        match &node.value {
            Value::List(nodes) => {
                return nodes.iter().for_each(|node| self.report_comment(None, node, reporter));
            }
            Value::Map(entries) => return self.report_comments(entries, reporter),
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

/// Returns the range of the YAML, and the offset of the body.
fn split(text: &Text<'_>, reporter: &mut Reporter<'_>) -> Option<(Range<usize>, usize)> {
    let mut lines = text.text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if without_end(first) != MARK {
        let at = text.span(&(0..without_end(first).len()));
        let is_almost = first.trim() == MARK;
        let help = if is_almost {
            "the first line must be exactly `---`, without spaces"
        } else {
            "begin the file with a line `---`, a line `description: …` and a line `---`; a folder that is read with \
             `commands` and `front-matter=optional` may have files without them"
        };
        let edits = match is_almost {
            true => vec![mark(at)],
            false => described(text).into_iter().collect(),
        };
        reporter.refuse_fixable(at, Missing { at, help, edits });
        return None;
    }

    let mut almost = None;
    let mut offset = first.len();
    for line in lines {
        let end = offset + line.len();
        if without_end(line) == MARK {
            return Some((first.len()..offset, end));
        }
        if almost.is_none() && line.trim() == MARK {
            almost = Some(text.span(&(offset..offset + without_end(line).len())));
        }
        offset = end;
    }
    let at = text.span(&(0..MARK.len()));
    let edits = almost.map(mark).into_iter().collect();
    reporter.refuse_fixable(at, Unclosed { at, almost, edits });
    None
}

/// Returns the correction of a file without front matter: its first sentence describes it.
fn described(text: &Text<'_>) -> Option<Edit> {
    let end = line_end(&text.text);
    let line = description(&text.text)?;
    Some(Edit { at: text.span(&(0..0)), text: format!("{MARK}{end}{line}{end}{MARK}{end}") })
}

/// Returns the line that describes a body by its first sentence. A sentence with the placeholder of an argument
/// describes no prompt.
fn description(body: &str) -> Option<String> {
    let sentence = first_sentence(body).filter(|sentence| !sentence.contains("$ARGUMENTS"))?;
    Some(format!("description: {}", quoted(&sentence)))
}

/// Returns the end of the first line, as the others end.
fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the correction of a line that is nearly `---`.
fn mark(at: Span) -> Edit {
    Edit { at, text: MARK.into() }
}

fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The front matter describes the prompt to people and agents. `front-matter=optional` on
/// `commands` takes files without one.
#[derive(Debug, Error, Diagnostic)]
#[error("the file has no front matter")]
#[diagnostic(code(front_matter::missing))]
struct Missing {
    #[label(primary, "`---` must be here")]
    at: Span,
    #[help]
    help: &'static str,
    edits: Vec<Edit>,
}

impl Fixable for Missing {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// Without its end the whole file would be front matter, and the prompt would be empty.
#[derive(Debug, Error, Diagnostic)]
#[error("the front matter has no end")]
#[diagnostic(code(front_matter::unclosed), help("end it with a line that is exactly `---`"))]
struct Unclosed {
    #[label(primary, "it begins here")]
    at: Span,
    #[label("not exactly `---`: there are spaces")]
    almost: Option<Span>,
    edits: Vec<Edit>,
}

impl Fixable for Unclosed {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}

/// The front matter is not YAML. For a known mistake, such as a colon in a value, the report holds
/// the corrected line.
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
#[error("YAML takes what follows a `#` for a comment, so it is no part of the value")]
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
