//! The beginning of a markdown file: front matter, text, or what another program takes for front
//! matter.
//!
//! Front matter begins with `---` as the first line and ends with a line that is exactly `---`. A
//! file whose first line is a horizontal rule, and one whose front matter is further down or in
//! another notation, are recognised: their text is sent whole, perhaps against the intent of their
//! author.

use std::ops::Range;

use miette::Diagnostic;
use thiserror::Error;

use super::description;
use super::report::Reporter;
use super::text::Text;
use crate::ast::FrontMatterRule;
use crate::diagnostic::{Edit, Fixable};
use crate::source::Span;

/// The line that opens and closes front matter.
pub(super) const MARK: &str = "---";

/// The most lines of a body that are read as more front matter.
const LINES_MORE_MAX: usize = 32;

/// The beginning of a file.
pub(super) enum Opening {
    /// Front matter.
    Found(Opened),
    /// Absent, and optional.
    Absent,
}

/// The place of front matter in the text.
pub(super) struct Opened {
    /// The range of the YAML.
    pub(super) yaml: Range<usize>,
    /// The offset of the body.
    pub(super) body: usize,
}

/// Finds the front matter of a file. `None`: it is required and missing, or endless, which is
/// reported.
pub(super) fn find(
    text: &Text,
    rule: FrontMatterRule,
    reporter: &mut Reporter<'_>,
) -> Option<Opening> {
    let is_required = rule == FrontMatterRule::Required;
    let first = text.text.split_inclusive('\n').next().unwrap_or_default();
    let first_line = 0..without_end(first).len();
    if first.trim() != MARK {
        let place = elsewhere(&text.text);
        match place {
            _ if is_required => {
                // Front matter in another place or notation is the author's to move.
                let edit = if place.is_some() { None } else { described(text) };
                let at = text.span(&place.map_or(first_line, |(at, _)| at));
                let help =
                    "begin the file with a line `---`, a line `description: …` and a line `---`";
                reporter.lack(at, Missing { at, help, edits: edit.into_iter().collect() });
                return None;
            }
            Some((at, place)) => {
                let at = text.span(&at);
                reporter.warn(at, Misplaced { place, at });
            }
            None => {}
        }
        return Some(Opening::Absent);
    }
    let end = end(&text.text, first.len());
    let inner = end.as_ref().map_or(text.text.len(), |end| end.line.start);
    if !has_key(text.text.get(first.len()..inner).unwrap_or_default()) {
        let at = text.span(&first_line);
        if is_required {
            reporter.refuse(at, RuleFirst { what: "front matter must follow", at });
            return None;
        }
        reporter.warn(at, RuleFirst { what: "the file is sent as text", at });
        return Some(Opening::Absent);
    }
    let Some(End { line, is_exact }) = end else {
        let at = text.span(&first_line);
        let almost = almost_end(&text.text, first.len()).map(|at| text.span(&at));
        let edits = almost.map(mark).into_iter().collect();
        reporter.refuse_fixable(at, Unclosed { at, almost, edits });
        return None;
    };
    let inexact = [(without_end(first) == MARK, first_line), (is_exact, line.clone())];
    for (_, at) in inexact.into_iter().filter(|(is_exact, _)| !is_exact) {
        let written = text.text.get(at.clone()).unwrap_or_default();
        let at = text.span(&(at.start..at.start + without_end(written).len()));
        // With more keys below, the author may have meant another line as the end.
        let is_certain = !goes_on(text.text.get(line.end..).unwrap_or_default());
        let edits = if is_certain { vec![mark(at)] } else { Vec::new() };
        reporter.correct(at, Spaces { at, edits });
    }
    if reporter.refused() {
        return None;
    }
    Some(Opening::Found(Opened { yaml: first.len()..line.start, body: line.end }))
}

/// The line that ends front matter.
struct End {
    /// Its range, with its line end.
    line: Range<usize>,
    /// Whether it is exactly `---`.
    is_exact: bool,
}

/// Returns the line that ends the front matter that begins at `start`: the first that is `---`,
/// with spaces after it or not. Such a line begins a second document in YAML, so it is no part of
/// front matter.
fn end(text: &str, start: usize) -> Option<End> {
    let mut offset = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let range = offset..offset + line.len();
        if line.trim_end() == MARK {
            return Some(End { line: range, is_exact: without_end(line) == MARK });
        }
        offset = range.end;
    }
    None
}

/// Returns the first line that would end the front matter that begins at `start` but for the spaces
/// before it. YAML may take it as text, so front matter goes on.
fn almost_end(text: &str, start: usize) -> Option<Range<usize>> {
    let mut offset = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        if line.trim() == MARK {
            return Some(offset..offset + without_end(line).len());
        }
        offset += line.len();
    }
    None
}

/// Returns whether a body begins as more front matter: with a `key:` line, and with an end near it.
pub(super) fn goes_on(body: &str) -> bool {
    let mut lines = body.lines().take(LINES_MORE_MAX);
    let is_key = |line: &str| {
        let key = line.split_once(':').map_or("", |(key, _)| key);
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
    };
    lines.next().is_some_and(is_key) && lines.any(|line| line == MARK)
}

/// Returns the correction of a line that is nearly `---`.
fn mark(at: Span) -> Edit {
    Edit { at, text: MARK.into() }
}

/// Returns the correction of a file that lacks front matter: its first sentence describes it.
fn described(text: &Text) -> Option<Edit> {
    let end = description::line_end(&text.text);
    let line = description::line(&text.text)?;
    Some(Edit { at: text.span(&(0..0)), text: format!("{MARK}{end}{line}{end}{MARK}{end}") })
}

/// Returns whether a text may be front matter: it is empty, or its first line begins with a key. A
/// `#` begins a comment in YAML and a heading in markdown.
fn has_key(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.clone().next().is_none() || lines.find(|line| !line.starts_with('#')).is_some_and(is_key)
}

fn is_key(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '"', '\'', '{']);
    let Some((key, rest)) = line.split_once(':') else { return false };
    let key = key.trim_end_matches(['"', '\'', ' ']);
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-.$".contains(letter);
    // `http://…` is an address.
    !key.is_empty() && key.chars().all(is_letter) && !rest.starts_with("//")
}

/// Returns what another program takes for front matter, with its place.
fn elsewhere(text: &str) -> Option<(Range<usize>, &'static str)> {
    let mut lines = text.lines();
    let first = lines.next()?;
    let is_closed = |mark: &str| text.lines().skip(1).any(|line| line.trim_end() == mark);
    let whole = 0..first.len();
    if first.trim_end() == "+++" && is_closed("+++") {
        return Some((whole, "between `+++`"));
    }
    let notation = first.strip_prefix(MARK).unwrap_or_default().trim_end();
    if ["yaml", "yml", "toml", "json"].contains(&notation) && is_closed(MARK) {
        return Some((whole, "after a line that is not exactly `---`"));
    }
    let is_fence = first.starts_with("```") || first.starts_with("~~~");
    let skipped = match first {
        _ if is_fence => first.len(),
        _ if first.trim_start().starts_with("<!--") => text.find("-->")? + "-->".len(),
        _ if first.trim().is_empty() => 0,
        _ => return None,
    };
    let rest = text.get(skipped..)?;
    let start = text.len() - rest.trim_start().len();
    let mut lines = text.get(start..)?.lines();
    if lines.next()?.trim_end() != MARK {
        return None;
    }
    let matter: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != MARK).collect();
    let is_matter = matter.first().is_some_and(|line| is_key(line));
    let place = match first {
        _ if is_fence => "inside a fence of code",
        _ if skipped > 0 => "after a comment",
        _ => "after a blank line",
    };
    is_matter.then_some((start..start + MARK.len(), place))
}

/// Returns a line up to its line end.
pub(super) fn without_end(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The front matter describes the prompt to people and agents. `front-matter=optional` on the
/// folder takes files that lack it.
#[derive(Debug, Error, Diagnostic)]
#[error("the file has no front matter")]
#[diagnostic(code(front_matter::missing))]
struct Missing {
    #[label(primary, "`---` must be the first line")]
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

/// Front matter is read at the beginning of a file and in YAML alone. In another place or notation
/// it is part of the text, so agents read it and its settings are ignored.
#[derive(Debug, Error, Diagnostic)]
#[error("front matter {place} is sent as text")]
#[diagnostic(
    code(front_matter::misplaced),
    severity(Warning),
    help(
        "begin the file with a line that is exactly `---`, and write `key: value` lines below it"
    )
)]
struct Misplaced {
    place: &'static str,
    #[label(primary, "not read as front matter")]
    at: Span,
}

/// A `---` as the first line opens front matter. A horizontal rule there is no front matter, so the
/// whole file is text.
#[derive(Debug, Error, Diagnostic)]
#[error(
    "the file begins with `---`, which opens front matter, and no `key: value` line follows: {what}"
)]
#[diagnostic(
    code(front_matter::rule_first),
    severity(Warning),
    help("to begin with a horizontal rule, write `***`")
)]
struct RuleFirst {
    what: &'static str,
    #[label(primary, "a horizontal rule")]
    at: Span,
}

/// If its end is missing, the whole file would be front matter, and the prompt would be empty.
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

/// Programs differ in whether they take spaces beside the line that opens or ends front matter.
#[derive(Debug, Error, Diagnostic)]
#[error("the line has spaces beside `---`")]
#[diagnostic(code(front_matter::spaces), help("write exactly `---`"))]
struct Spaces {
    #[label(primary, "spaces here")]
    at: Span,
    edits: Vec<Edit>,
}

impl Fixable for Spaces {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }
}
