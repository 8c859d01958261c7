//! The report as human output: each finding with its source text and labels.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, Severity as DrawnSeverity, SourceCode, SourceSpan, SpanContents,
};
use relay_compiler::{Diagnostics, Report, Severity};
use textwrap::{WordSeparator, WordSplitter};

use crate::answer::size;
use crate::output::{Look, bad, doubtful};
use crate::report::alike::{self, Drawn};
use crate::report::json::environments;
use crate::report::origin::{Origin, Shelf};
use crate::text::printable;

/// Returns the report, errors before warnings and equal findings once, and a line of counts.
pub(crate) fn draw(diagnostics: &Diagnostics, origin: &Origin<'_>, look: Look) -> String {
    let mut text = String::new();
    for Drawn { report, others } in alike::drawn(diagnostics.sorted()) {
        if report.severity() == Severity::Note {
            text.push_str(&note(report, origin));
            let places = others.into_iter().map(|other| origin.place(other));
            text.push_str(&alike::line(&places.collect::<Vec<_>>()));
            continue;
        }
        finding(report, origin, look, &mut text);
        add_others(report, others, origin, &mut text);
    }
    text + &summary(diagnostics)
}

/// Returns the errors and warnings in the order of files and places, each with its source text and a blank line.
pub(super) fn findings(diagnostics: &Diagnostics, origin: &Origin<'_>, look: Look) -> String {
    let mut text = String::new();
    let is_drawn = |report: &&Report| report.severity() != Severity::Note;
    for report in diagnostics.sorted().into_iter().filter(is_drawn) {
        finding(report, origin, look, &mut text);
        add_others(report, report.others.iter().collect(), origin, &mut text);
    }
    text
}

/// Returns a note, in one line, without the places of those like it.
fn note(report: &Report, origin: &Origin<'_>) -> String {
    let help = report.diagnostic.help().map(|help| format!("; {help}")).unwrap_or_default();
    let place = origin.place(report);
    let environments = environments(&report.environments);
    let environments = environments.map(|names| format!(" {names}")).unwrap_or_default();
    printable(&format!("note: {place}: {}{environments}{help}", report.diagnostic)) + "\n"
}

/// Adds the lines about findings that stay undrawn, and a blank line.
fn add_others(report: &Report, others: Vec<&Report>, origin: &Origin<'_>, text: &mut String) {
    // Unreadable files have no place of their own; their names are in the messages.
    let (here, elsewhere): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|other| other.at == report.at);
    let messages = here.into_iter().map(|other| other.diagnostic.to_string());
    let places = elsewhere.into_iter().map(|other| origin.place(other));
    text.push_str(&alike::line(&messages.collect::<Vec<_>>()));
    text.push_str(&alike::line(&places.collect::<Vec<_>>()));
    text.push('\n');
}

fn finding(report: &Report, origin: &Origin<'_>, look: Look, text: &mut String) {
    let mut theme =
        if look.colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    // The third colour is green, which means that something is right.
    theme.styles.highlights.truncate(2);
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(false)
        // A name with a hyphen stays on one line, so that it can be copied.
        .with_word_splitter(WordSplitter::NoHyphenation)
        .with_word_separator(WordSeparator::AsciiSpace)
        .with_break_words(false);
    let placed = Placed {
        diagnostic: &*report.diagnostic,
        environments: environments(&report.environments),
        shelf: &origin.shelf,
    };
    let mut drawn = String::new();
    // Writing to a string always succeeds; a finding whose rendering fails is reduced to its
    // message.
    if handler.render_report(&mut drawn, &placed).is_err() {
        drawn = placed.to_string();
    }
    text.push_str(&drawn.replace(JOINED, " "));
}

/// Stands for a blank that no line may break at.
const JOINED: char = '\u{f8ff}';

/// The most characters of code that stay in one line; more is a quotation for people to read.
const JOINED_CHARS_MAX: usize = 160;

/// Returns words in which the blanks of code in backticks are joined, so that a reader can copy it in one piece.
fn joined(words: &str) -> String {
    if words.contains(JOINED) {
        return words.to_owned();
    }
    let parts: Vec<&str> = words.split('`').collect();
    let last = parts.len() - 1;
    let is_code = |number, part: &str| {
        number % 2 == 1 && number < last && part.chars().count() <= JOINED_CHARS_MAX
    };
    let part = |(number, part): (usize, &&str)| match is_code(number, part) {
        true => part.replace(' ', &JOINED.to_string()),
        false => (*part).to_owned(),
    };
    parts.iter().enumerate().map(part).collect::<Vec<_>>().join("`")
}

fn summary(diagnostics: &Diagnostics) -> String {
    let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
    let counted = counted(errors, warnings);
    if counted.is_empty() {
        return String::new();
    }
    let reports = diagnostics.sorted();
    let counted_reports = reports.iter().filter(|report| report.severity() != Severity::Note);
    let places = counted_reports.flat_map(|report| report.all());
    let files: BTreeSet<_> = places.map(|report| report.at.file).collect();
    let files = size::counted(files.len(), "file");
    let line = if errors > 0 {
        format!("{} in {files}\n", bad(counted))
    } else if diagnostics.has_errors() {
        format!("{} in {files}, and --strict makes warnings errors\n", bad(counted))
    } else {
        format!("{} in {files}\n", doubtful(counted))
    };
    match diagnostics.dropped_count() {
        0 => line,
        dropped => format!("{line}{dropped} of them are not listed: fix the first ones first\n"),
    }
}

/// Returns `2 errors, 1 warning`; empty for 0 of both.
pub(crate) fn counted(errors: usize, warnings: usize) -> String {
    let both = [(errors, "error"), (warnings, "warning")].into_iter();
    let some = both.filter(|(count, _)| *count > 0);
    some.map(|(count, word)| size::counted(count, word)).collect::<Vec<_>>().join(", ")
}

/// A diagnostic with its source text.
struct Placed<'d> {
    diagnostic: &'d (dyn Diagnostic + Send + Sync),
    environments: Option<String>,
    shelf: &'d Shelf,
}

impl fmt::Debug for Placed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.diagnostic, f)
    }
}

impl fmt::Display for Placed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.diagnostic.to_string()))?;
        match &self.environments {
            Some(environments) => write!(f, " {environments}"),
            None => Ok(()),
        }
    }
}

impl Error for Placed<'_> {}

impl Diagnostic for Placed<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic.code()
    }

    fn severity(&self) -> Option<DrawnSeverity> {
        self.diagnostic.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(joined(&self.diagnostic.help()?.to_string())))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.diagnostic.labels()?;
        Some(Box::new(labels.map(|label| {
            let (text, at) = (label.label().map(str::to_owned), *label.inner());
            let at = self.shelf.texts.drawn_span(at);
            match label.primary() {
                true => LabeledSpan::new_primary_with_span(text, at),
                false => LabeledSpan::new_with_span(text, at),
            }
        })))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.diagnostic.related()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.shelf)
    }
}

impl SourceCode for Shelf {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.texts.read_span(span, context_lines_before, context_lines_after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.shown(found.name().unwrap_or_default()),
            found.data(),
            *found.span(),
            found.line(),
            found.column(),
            // miette counts from the start of the file, and then draws everything between two
            // distant labels.
            found.data().iter().filter(|byte| **byte == b'\n').count(),
        )))
    }
}
