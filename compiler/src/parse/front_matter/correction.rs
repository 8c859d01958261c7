//! The commonest slips in YAML, and how to write them instead.
//!
//! A correction changes one line, or the indentation of a few. It is proposed only after the parser
//! has accepted it: with it the document parses, or the next fault is further down. So every
//! proposal can be followed, and several slips of a document are reported in one run.

use std::borrow::Cow;
use std::ops::Range;

use super::yaml::{self, Entry, Remedy, YamlError};

/// The most slips of one document that are corrected.
const SLIPS_MAX: usize = 20;

/// The most corrections that are tried for one document: each try parses it.
const TRIES_MAX: usize = 64;

/// The number of lines above the place of the fault that are searched. An unclosed quote is noticed
/// where the indentation ends.
const LINES_ABOVE_MAX: usize = 8;

/// The most lines of a value in quotes that are indented.
const LINES_OF_VALUE_MAX: usize = 64;

/// The most characters of a corrected line in a report.
const LINE_CHARS_MAX: usize = 1000;

/// A document that the parser accepts.
pub(super) struct Corrected {
    /// The entries of the document as it was written, or with all slips corrected.
    pub(super) entries: Vec<Entry>,
    /// The corrections. The places of `entries` are in the text after them.
    pub(super) edits: Edits,
}

/// A slip and how to write it instead.
pub(super) struct Slip {
    /// The fault, for a report.
    pub(super) what: String,
    /// The range to edit, in the text as written.
    pub(super) at: Range<usize>,
    /// The corrected line.
    pub(super) line: String,
    /// The correction, in the text as written; empty if an earlier one changed the same place, or
    /// if the author's meaning is unknown.
    pub(super) edits: Vec<(Range<usize>, String)>,
}

/// Parses a document; where it has slips, corrects them and goes on.
///
/// Returns the slips that were corrected, and the entries or the fault that stopped it.
pub(super) fn parse(text: &str) -> (Vec<Slip>, Result<Corrected, YamlError>) {
    let mut slips = Vec::new();
    let mut edits = Edits::default();
    let mut tries = TRIES_MAX;
    let mut current = Cow::Borrowed(text);
    let mut result = yaml::parse(&current);
    while let Err(fault) = &result {
        if fault.remedy != Remedy::Correct || slips.len() == SLIPS_MAX {
            break;
        }
        let Some(Correction { change, corrected, outcome }) = correct(&current, fault, &mut tries)
        else {
            break;
        };
        let line = line_at(&corrected, change.at.start);
        let line = shortened(corrected.get(line).unwrap_or_default().trim_end());
        let written = |edit: &Edit| Some((edits.untouched(&edit.at)?, edit.text.clone()));
        let written: Option<Vec<_>> = change.edits.iter().map(written).collect();
        let written = written.filter(|_| change.is_certain);
        let at = edits.original(&change.at);
        slips.push(Slip { what: change.what, at, line, edits: written.unwrap_or_default() });
        edits.0.extend(change.edits);
        current = corrected.into();
        result = outcome;
    }
    match result {
        Ok(entries) => (slips, Ok(Corrected { entries, edits })),
        Err(fault) => {
            let at = edits.original(&(fault.at..fault.at)).start;
            (slips, Err(YamlError { at, ..fault }))
        }
    }
}

/// Returns a line, truncated for a report.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.into(),
    }
}

/// Replacements of text in the order of their making.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    /// The replaced range, in the text before this edit.
    at: Range<usize>,
    /// The replacement.
    text: String,
}

impl Edits {
    /// Returns the range in the text before the edits for a range of the edited text.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.0.iter().rev().fold(range.clone(), |range, Edit { at, text }| {
            let end = at.start + text.len();
            let back = |offset: usize, inside: usize| match offset {
                offset if offset <= at.start => offset,
                offset if offset >= end => offset - end + at.end,
                _ => inside,
            };
            back(range.start, at.start)..back(range.end, at.end)
        })
    }

    /// Returns the same for a range that all edits leave as it is.
    fn untouched(&self, range: &Range<usize>) -> Option<Range<usize>> {
        self.0.iter().rev().try_fold(range.clone(), |range, Edit { at, text }| {
            let end = at.start + text.len();
            if range.end < at.start {
                return Some(range);
            }
            let moved = |offset: usize| offset - end + at.end;
            (range.start > end).then(|| moved(range.start)..moved(range.end))
        })
    }

    /// Returns whether the text is as it was written.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A change that may correct a slip.
struct Change {
    what: String,
    /// The range that a report shows the author.
    at: Range<usize>,
    /// Whether the parser may notice the slip only on a later line.
    reaches_on: bool,
    /// Whether it keeps the author's meaning.
    is_certain: bool,
    /// From the last to the first, so that each keeps the places of the others.
    edits: Vec<Edit>,
}

impl Change {
    fn apply(&self, document: &str) -> String {
        self.edits.iter().fold(document.into(), |document: String, Edit { at, text }| {
            let before = document.get(..at.start).unwrap_or_default();
            let after = document.get(at.end..).unwrap_or_default();
            [before, text, after].concat()
        })
    }
}

/// A change that the parser accepts.
struct Correction {
    change: Change,
    corrected: String,
    /// The result of parsing the corrected document.
    outcome: Result<Vec<Entry>, YamlError>,
}

/// Finds the correction of a fault: tries the line where the parser noticed it, then those above,
/// then the next one.
fn correct(document: &str, fault: &YamlError, tries: &mut usize) -> Option<Correction> {
    let noticed = line_at(document, fault.at);
    let below = (noticed.end < document.len()).then(|| line_at(document, noticed.end + 1));
    let upward = std::iter::successors(Some(noticed.clone()), |line| {
        Some(line_at(document, line.start.checked_sub(1)?))
    });
    for line in upward.take(LINES_ABOVE_MAX + 1).chain(below) {
        for change in changes(document, &line) {
            if line != noticed && !change.reaches_on {
                continue;
            }
            *tries = tries.checked_sub(1)?;
            let corrected = change.apply(document);
            let outcome = yaml::parse(&corrected);
            let edits = Edits(change.edits);
            // The place in the text before the change: an edit above a fault moves it too.
            let accepted = outcome.as_ref().err().is_none_or(|next| {
                edits.original(&(next.at..next.at)).start > fault.at
                    && next.at > line_at(&corrected, change.at.start).end
            });
            let change = Change { edits: edits.0, ..change };
            if accepted {
                return Some(Correction { change, corrected, outcome });
            }
        }
    }
    None
}

/// Returns the range of the line that holds a byte, up to its line end.
fn line_at(document: &str, offset: usize) -> Range<usize> {
    let bytes = document.as_bytes();
    let offset = offset.min(bytes.len());
    let before = bytes.get(..offset).unwrap_or_default();
    let after = bytes.get(offset..).unwrap_or_default();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let length = after.iter().position(|byte| *byte == b'\n').unwrap_or(after.len());
    start..offset + length
}

/// Returns the changes of a line to try.
fn changes(document: &str, line: &Range<usize>) -> Vec<Change> {
    let mut changes = Vec::new();
    changes.extend(spaces_for_tabs(document, line));
    changes.extend(indented_quote(document, line));
    changes.extend(space_or_quotes(document, line));
    changes
}

/// Indents a line and those below it with spaces, as far as they are indented with tabs.
fn spaces_for_tabs(document: &str, line: &Range<usize>) -> Option<Change> {
    let next =
        |line: &Range<usize>| (line.end < document.len()).then(|| line_at(document, line.end + 1));
    let mut edits: Vec<_> = std::iter::successors(Some(line.clone()), next)
        .map(|line| {
            let text = document.get(line.clone()).unwrap_or_default();
            let indented = text.len() - text.trim_start_matches([' ', '\t']).len();
            line.start..line.start + indented
        })
        .map_while(|at| {
            let indent = document.get(at.clone())?;
            indent.contains('\t').then(|| Edit { at, text: indent.replace('\t', "  ") })
        })
        .collect();
    edits.reverse();
    let at = edits.last()?.at.clone();
    let what = "the line is indented with a tab".into();
    Some(Change { what, at, reaches_on: true, is_certain: true, edits })
}

/// Indents the lines on which the value in quotes of a key goes on: js-yaml and PyYAML read them
/// unindented too.
fn indented_quote(document: &str, line: &Range<usize>) -> Option<Change> {
    let text = document.get(line.clone())?;
    let (_, rest) = split_key(text)?;
    let value = rest.trim_start();
    let mark = value.chars().next().filter(|mark| ['"', '\''].contains(mark))?;
    if value.get(1..)?.contains(mark) {
        return None;
    }
    let next =
        |line: &Range<usize>| (line.end < document.len()).then(|| line_at(document, line.end + 1));
    let mut edits = Vec::new();
    let mut is_closed = false;
    for line in std::iter::successors(next(line), next).take(LINES_OF_VALUE_MAX) {
        let text = document.get(line.clone())?;
        if !text.trim().is_empty() && !text.starts_with(' ') {
            edits.push(Edit { at: line.start..line.start, text: "  ".into() });
        }
        is_closed = text.trim_end().ends_with(mark);
        if is_closed {
            break;
        }
    }
    edits.reverse();
    let first = edits.last().filter(|_| is_closed)?.at.start;
    let what = "a line of the value in quotes is not indented".into();
    let at = line_at(document, first);
    Some(Change { what, at, reaches_on: true, is_certain: true, edits })
}

/// Puts a space after the colon of a key, or the value in quotes.
fn space_or_quotes(document: &str, line: &Range<usize>) -> Option<Change> {
    let text = document.get(line.clone())?.trim();
    let end = line.start + document.get(line.clone())?.trim_end().len();
    let item = text.trim_start_matches("- ").trim_start();
    let (of, rest) = match split_key(item) {
        Some((_, "")) => return None,
        Some((key, rest)) if !rest.starts_with([' ', '\t']) => {
            let at = end - rest.len()..end - rest.len();
            return Some(Change {
                what: format!("there is no space after `{key}:`"),
                at: end - item.len()..end,
                reaches_on: true,
                is_certain: true,
                edits: vec![Edit { at, text: " ".into() }],
            });
        }
        Some((key, rest)) => (format!("the value of `{key}`"), rest.trim_start()),
        None if item.len() < text.len() => ("the list item".into(), item),
        None => return None,
    };
    let value = rest.split(" # ").next()?.trim_end();
    let at = end - rest.len()..end - rest.len() + value.len();
    let (how, text) = quote(value)?;
    Some(Change {
        what: format!("{of} {how}"),
        at: at.clone(),
        reaches_on: value.starts_with(['"', '\'', '[', '{']),
        // Other quotes take an escape as letters: `\t` in `"a\tb\d"` may be a tab or a path.
        is_certain: text.starts_with(value) || !has_escape(value),
        edits: vec![Edit { at, text }],
    })
}

/// Splits `key: value` after the colon.
fn split_key(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let is_key = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    (!key.is_empty() && key.chars().all(is_key)).then_some((key, rest))
}

/// Returns why a value cannot be written as it is, and its quoted form. `None`: quotes would not
/// correct it.
fn quote(value: &str) -> Option<(String, String)> {
    let first = value.chars().next()?;
    let rest = value.strip_prefix(first)?;
    match first {
        '"' | '\'' => Some(quote_again(value, first, rest)),
        '[' => Some(("starts with `[` but is not one list".into(), quoted(value))),
        '@' | '`' | '%' | '*' | '&' | '!' | '|' | '>' | '-' | '?' | ',' | ']' | '{' | '}' => {
            let how = format!("starts with `{first}`, which has a meaning of its own in YAML");
            Some((how, quoted(value)))
        }
        _ if value.contains(": ") || value.ends_with(':') => {
            Some(("holds a colon that ends no key".into(), quoted(value)))
        }
        _ => None,
    }
}

/// Returns whether a value in double quotes has an escape that means something in YAML.
fn has_escape(value: &str) -> bool {
    let Some(text) = value.strip_prefix('"') else { return false };
    let mut rest = text.strip_suffix('"').unwrap_or(text);
    while let Some((_, after)) = rest.split_once('\\') {
        let mut letters = after.chars();
        let digits = match letters.next() {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some(letter) if "0abt\tnvfre \"/\\N_LP".contains(letter) => 0,
            _ => {
                rest = letters.as_str();
                continue;
            }
        };
        rest = letters.as_str();
        let code = rest.get(..digits).unwrap_or_default();
        if code.len() == digits && code.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return true;
        }
    }
    false
}

/// Returns the same for a value that starts with a quote.
fn quote_again(value: &str, mark: char, rest: &str) -> (String, String) {
    let Some((before, after)) = rest.split_once(mark) else {
        let how = "starts with a quote that is not closed".into();
        return (how, format!("{value}{mark}"));
    };
    if after.is_empty() {
        return ("holds a `\\` that means nothing in double quotes".into(), quoted(before));
    }
    let how = "goes on after its closing quote".into();
    // `"a" or "b"`: the quotes belong to the text. `'it's'`: they are meant to enclose it.
    let encloses = after.starts_with(|next: char| !next.is_whitespace())
        || before.ends_with(char::is_whitespace);
    match rest.strip_suffix(mark) {
        Some(inner) if encloses => (how, quoted(inner)),
        _ => (how, quoted(value)),
    }
}

/// Returns a text in the quotes that need the fewest changes of it.
pub(in crate::parse) fn quoted(text: &str) -> String {
    match (text.contains(['"', '\\']), text.contains('\'')) {
        (false, _) => format!("\"{text}\""),
        (true, false) => format!("'{text}'"),
        (true, true) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    /// Other quotes would make letters of a tab.
    #[test]
    fn an_escape_beside_a_slip_is_left_to_its_author() {
        for (text, is_certain) in [
            (r#"title: "a\d""#, true),
            (r#"title: "C:\users\d""#, true),
            (r#"title: "a\tb \d""#, false),
            (r#"title: "a\\b \d""#, false),
            (r#"title: "a \"b\" \d""#, false),
            (r#"title: "a \xe9 \d""#, false),
            (r#"title: "a\tb" c"#, false),
            (r#"title: "a" or "b""#, true),
        ] {
            let (slips, result) = super::parse(text);
            assert!(result.is_ok() && slips.len() == 1, "{text}");
            assert_eq!(slips.iter().all(|slip| !slip.edits.is_empty()), is_certain, "{text}");
        }
    }

    /// The last line cannot be corrected. The first line is corrected once all the same, instead of
    /// again and again, twice as long each time.
    #[test]
    fn a_line_is_corrected_once() {
        let (slips, result) = super::parse("title: \"T\"'\npriority:\nd6\nchapters: [A]\n");
        let slips: Vec<_> = slips.iter().map(|slip| slip.line.as_str()).collect();
        assert_eq!(slips, [r#"title: "\"T\"'""#]);
        assert!(result.is_err());
    }
}
