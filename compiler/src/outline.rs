//! The outline of a markdown text: its first sentence and its headings. Only this module names pulldown-cmark.

use std::mem;
use std::ops::Range;

use memchr::{memmem, memrchr3_iter};
use pulldown_cmark::{Event, Options, Parser, TagEnd};
use relay_engine::derived::line;

/// The most words of a generated summary.
pub(crate) const SUMMARY_WORDS_MAX: usize = 20;
/// The most characters of a summary, for words of any length.
pub(crate) const SUMMARY_CHARS_MAX: usize = 400;
/// The most chapters that headings become; the last one is `…` if there are more.
pub(crate) const CHAPTERS_MAX: usize = 64;
/// The most characters of a chapter.
const CHAPTER_CHARS_MAX: usize = 120;

/// The most bytes of a text that may be read in part. In longer ones, the number of references that the
/// parser expands depends on the length.
const PARTIAL_BYTES_MAX: usize = 100_000;
/// The fewest bytes that are read at a second attempt.
const SECOND_BYTES_MIN: usize = 512;

/// After these a sentence goes on, unless the next word begins one.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "cf.", "vs.", "approx.", "incl.", "etc."];

/// The extensions of GitHub, except for heading attributes: `{name}` is a slot here.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_GFM);

/// Returns the first sentence of the first paragraph of a text.
pub(crate) fn first_sentence(text: &str) -> Option<String> {
    let wanted = Wanted { paragraph: true, headings: false };
    let paragraph = Outline::of(text, wanted).paragraph?;
    Some(paragraph.first_sentence()).filter(|sentence| !sentence.is_empty())
}

/// The parts to read.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) paragraph: bool,
    pub(crate) headings: bool,
}

/// The first paragraph and the headings of a markdown text.
#[derive(Default)]
pub(crate) struct Outline {
    /// The first paragraph of text.
    pub(crate) paragraph: Option<Run>,
    /// The headings in order, each once.
    pub(crate) headings: Vec<String>,
    /// Whether the text has more headings.
    pub(crate) cut: bool,
}

/// A run of text, stripped of its markup.
#[derive(Default)]
pub(crate) struct Run {
    text: String,
    /// The ranges of code, in order: a full stop in code leaves a sentence open.
    code: Vec<Range<usize>>,
}

impl Outline {
    /// Reads a text as far as something is wanted.
    pub(crate) fn of(text: &str, wanted: Wanted) -> Self {
        let mut least = if wanted.headings { last_heading(text) } else { 0 };
        loop {
            let beginning = beginning(text, least);
            let outline = Self::read(beginning, wanted);
            let is_complete = !wanted.paragraph || outline.paragraph.is_some();
            if is_complete || beginning.len() == text.len() {
                return outline;
            }
            least = SECOND_BYTES_MIN.max(2 * beginning.len());
        }
    }

    fn read(text: &str, wanted: Wanted) -> Self {
        let mut outline = Self::default();
        let mut run = Run::default();
        let mut in_heading = false;
        // The number of open tables, pictures, code blocks and the like.
        let mut others = 0usize;
        for event in Parser::new_ext(text, OPTIONS) {
            let counts = others == 0 && (in_heading || outline.paragraph.is_none());
            match event {
                Event::Start(tag) => {
                    let tag = tag.to_end();
                    if !is_inline(&tag) {
                        outline.paragraph(&mut run);
                    }
                    in_heading |= matches!(tag, TagEnd::Heading(_));
                    others += usize::from(is_other(&tag));
                }
                Event::End(TagEnd::Heading(_)) => {
                    in_heading = false;
                    outline.heading(&mut run);
                }
                Event::End(tag) => {
                    others = others.saturating_sub(usize::from(is_other(&tag)));
                    if !is_inline(&tag) {
                        outline.paragraph(&mut run);
                    }
                }
                Event::Rule => outline.paragraph(&mut run),
                Event::Text(text) if counts => run.text.push_str(&text),
                Event::Code(code) if counts => run.code(&code),
                Event::SoftBreak | Event::HardBreak if counts => run.text.push(' '),
                _ => {}
            }
            if outline.has(wanted) {
                break;
            }
        }
        outline
    }

    /// Takes the collected text as the first paragraph if that is still missing.
    fn paragraph(&mut self, run: &mut Run) {
        let run = mem::take(run);
        if self.paragraph.is_none() && !run.text.trim().is_empty() {
            self.paragraph = Some(run);
        }
    }

    fn heading(&mut self, run: &mut Run) {
        let heading = line(&mem::take(run).text, CHAPTER_CHARS_MAX);
        if heading.is_empty() || self.headings.contains(&heading) || self.cut {
            return;
        }
        if self.headings.len() < CHAPTERS_MAX {
            self.headings.push(heading);
        } else if let Some(last) = self.headings.last_mut() {
            *last = "…".into();
            self.cut = true;
        }
    }

    fn has(&self, wanted: Wanted) -> bool {
        let Wanted { paragraph, headings } = wanted;
        (!paragraph || self.paragraph.is_some()) && (!headings || self.cut)
    }
}

impl Run {
    fn code(&mut self, code: &str) {
        let start = self.text.len();
        self.text.push_str(code);
        self.code.push(start..self.text.len());
    }

    fn is_code(&self, at: usize) -> bool {
        let next = self.code.partition_point(|code| code.end <= at);
        self.code.get(next).is_some_and(|code| code.contains(&at))
    }

    /// Returns the first sentence, or the first words of a long one.
    pub(crate) fn first_sentence(&self) -> String {
        let mut sentence = String::new();
        let mut words = words(&self.text).peekable();
        let mut count = 0;
        while let Some((start, word)) = words.next() {
            if count == SUMMARY_WORDS_MAX {
                sentence.push('…');
                break;
            }
            if count > 0 {
                sentence.push(' ');
            }
            let end = self.end_of_sentence(start, word, words.peek().map(|(_, next)| *next));
            sentence.push_str(word.get(..end.unwrap_or(word.len())).unwrap_or(word));
            if end.is_some() {
                break;
            }
            count += 1;
        }
        line(&sentence, SUMMARY_CHARS_MAX)
    }

    /// Returns the number of bytes of a word that belong to the sentence that ends in it.
    fn end_of_sentence(&self, start: usize, word: &str, next: Option<&str>) -> Option<usize> {
        // Scripts with full-width stops omit the space after them.
        let full_width = word
            .char_indices()
            .find(|(at, letter)| matches!(letter, '。' | '！' | '？') && !self.is_code(start + at));
        if let Some((at, stop)) = full_width {
            return Some(at + stop.len_utf8());
        }
        let stop = word.len().checked_sub(1)?;
        let ends = word.ends_with(['.', '!', '?']) && !self.is_code(start + stop);
        (ends && !(is_abbreviation(word) && goes_on(next))).then_some(word.len())
    }
}

/// Returns an offset after which no line ends a heading: it would contain `#`, or end with an underline.
fn last_heading(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends_line = |at: usize| {
        let after = bytes.get(at + 1..).unwrap_or_default();
        let next = after.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
        next.is_none_or(|next| matches!(next, b'\n' | b'\r'))
    };
    let mut marks = memrchr3_iter(b'#', b'=', b'-', bytes);
    marks.find(|at| bytes.get(*at) == Some(&b'#') || ends_line(*at)).unwrap_or(0)
}

/// Returns the beginning of a text up to the first empty line after `least`. Its blocks read the same alone as
/// in the whole; if the rest may define a reference, the beginning is all of the text.
///
/// The parser reads a text whole, and the last heading may be the first line.
fn beginning(text: &str, least: usize) -> &str {
    let first = text.bytes().position(|byte| !byte.is_ascii_whitespace());
    let least = least.max(first.unwrap_or(0));
    let end = text
        .as_bytes()
        .get(least..)
        .and_then(|rest| memmem::find(rest, b"\n\n"))
        .filter(|_| text.len() <= PARTIAL_BYTES_MAX);
    let split = end.and_then(|end| text.split_at_checked(least + end + 2));
    match split {
        Some((beginning, rest)) if memmem::find(rest.as_bytes(), b"]:").is_none() => beginning,
        _ => text,
    }
}

/// Returns the words of a text, each with its first byte.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    let pieces = text.split_inclusive(char::is_whitespace).map(move |piece| {
        let start = end;
        end += piece.len();
        (start, piece.trim_end())
    });
    pieces.filter(|(_, word)| !word.is_empty())
}

fn is_abbreviation(word: &str) -> bool {
    let word = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    ABBREVIATIONS.iter().any(|abbreviation| word.eq_ignore_ascii_case(abbreviation))
}

fn goes_on(next: Option<&str>) -> bool {
    let first = next.and_then(|next| next.chars().next());
    first.is_some_and(|first| first.is_lowercase() || first.is_numeric() || first == ',')
}

/// Returns whether an element is inside a line of text.
fn is_inline(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image
    )
}

/// Returns whether the text of an element is left out of paragraphs and headings.
fn is_other(tag: &TagEnd) -> bool {
    matches!(
        tag,
        TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::Table
            | TagEnd::FootnoteDefinition
            | TagEnd::Image
    )
}

#[cfg(test)]
mod tests;
