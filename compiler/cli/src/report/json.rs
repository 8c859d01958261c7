//! The report as JSON, and the findings that the other machine formats are made from.

use miette::{Diagnostic, LabeledSpan};
use relay_compiler::{Diagnostics, Edit, Report, Span};
use relay_engine::invisible::visible_json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::failure::Failure;
use crate::level::Level;
use crate::report::origin::Origin;

/// The output of `relay check --format json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Findings {
    /// The version of this JSON format.
    pub(crate) format_version: u32,
    /// The errors, warnings and notes, sorted by file and place. Findings of one kind are one each, at its own place:
    /// only reports for people join them. `errors`, `warnings` and `notes` count these and the omitted ones.
    pub(crate) diagnostics: Vec<Finding>,
    /// The number of errors.
    pub(crate) errors: usize,
    /// The number of warnings.
    pub(crate) warnings: usize,
    /// The number of notes.
    pub(crate) notes: usize,
    /// The number of findings that are only counted.
    pub(crate) omitted: usize,
}

/// One diagnostic.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// Its stable code: `area::what`.
    pub(crate) code: String,
    /// Whether a bundle can be built in spite of it.
    pub(crate) severity: Severity,
    /// The message, which names the fault.
    pub(crate) message: String,
    /// The help: what to do about it.
    pub(crate) help: Option<String>,
    /// The place to edit.
    #[serde(flatten)]
    pub(crate) place: Range,
    /// The environments that it was found in; empty if it was found in the base, or if only one was
    /// looked at.
    pub(crate) environments: Vec<String>,
    /// This place and related ones.
    pub(crate) labels: Vec<Label>,
    /// The correction, all parts together, which `relay fmt --fix` writes; empty if it is the author's
    /// choice, or if it would print a secret.
    pub(crate) edits: Vec<Replacement>,
    /// The place of the first finding of its kind that reports for people join it to.
    #[serde(skip)]
    pub(crate) joined_to: Option<Range>,
    /// The text of the line, for fingerprints that survive a move.
    #[serde(skip)]
    pub(crate) line_text: String,
}

/// A part of a correction.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Replacement {
    /// The range that is replaced; empty where text is inserted.
    #[serde(flatten)]
    pub(crate) place: Range,
    /// The text in its place.
    pub(crate) text: String,
}

/// Whether a bundle can be built in spite of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// It cannot be built.
    Error,
    /// It can be built, but probably differs from what the author wants.
    Warning,
    /// It can be built, with `--strict` too, and the author should know this.
    Note,
}

impl From<relay_compiler::Severity> for Severity {
    fn from(severity: relay_compiler::Severity) -> Self {
        match severity {
            relay_compiler::Severity::Error => Self::Error,
            relay_compiler::Severity::Warning => Self::Warning,
            relay_compiler::Severity::Note => Self::Note,
        }
    }
}

impl Severity {
    /// Returns its gravity.
    pub(crate) fn level(self) -> Level {
        match self {
            Self::Error => Level::Error,
            Self::Warning => Level::Warning,
            Self::Note => Level::Note,
        }
    }
}

/// A range of characters in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Range {
    /// The file, relative to the folder where the command ran.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// The column in characters, from 1.
    pub(crate) column: u32,
    /// The line of the end.
    pub(crate) end_line: u32,
    /// The column after the last character.
    pub(crate) end_column: u32,
}

/// A label at one place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Label {
    /// The text of the label.
    pub(crate) message: Option<String>,
    /// The place.
    #[serde(flatten)]
    pub(crate) place: Range,
    /// Whether it is the place to edit.
    pub(crate) primary: bool,
}

/// Returns the report as JSON.
pub(crate) fn draw(findings: &Findings) -> Result<String, Failure> {
    Ok(format!("{}\n", visible_json(&serde_json::to_string_pretty(findings)?)))
}

impl Findings {
    /// Converts the diagnostics of the compiler.
    pub(crate) fn of(diagnostics: &Diagnostics, origin: &Origin<'_>) -> Self {
        let sorted = diagnostics.sorted();
        let with_first = |first| Report::all(first).map(move |report| (report, first));
        let mut all: Vec<(&Report, &Report)> = sorted.into_iter().flat_map(with_first).collect();
        all.sort_by_key(|(report, _)| report.at);
        let each = |(report, first)| finding(report, first, origin);
        Self {
            format_version: FORMAT_VERSION,
            diagnostics: all.into_iter().map(each).collect(),
            errors: diagnostics.error_count(),
            warnings: diagnostics.warning_count(),
            notes: diagnostics.note_count(),
            omitted: diagnostics.dropped_count(),
        }
    }
}

fn finding(report: &Report, first: &Report, origin: &Origin<'_>) -> Finding {
    let diagnostic: &dyn Diagnostic = &*report.diagnostic;
    let labels = diagnostic.labels().into_iter().flatten();
    let labels = labels.map(|label| described(&label, report.at, origin));
    let shows_secret =
        report.edits.iter().any(|edit| origin.sources.shows_secret(edit.at, &edit.text));
    let edits = if shows_secret { &[][..] } else { &report.edits };
    Finding {
        code: report.code(),
        severity: report.severity().into(),
        message: diagnostic.to_string(),
        help: diagnostic.help().map(|help| help.to_string()),
        place: range(report.at, origin),
        environments: first.environments.clone(),
        labels: labels.collect(),
        edits: edits.iter().map(|edit| replacement(edit, origin)).collect(),
        joined_to: (!std::ptr::eq(report, first)).then(|| range(first.at, origin)),
        line_text: origin.sources.line_text(report.at),
    }
}

impl Finding {
    /// Returns the message with its environments.
    pub(crate) fn placed_message(&self) -> String {
        match environments(&self.environments) {
            Some(environments) => format!("{} {environments}", self.message),
            None => self.message.clone(),
        }
    }
}

/// Returns `(with --env production, staging)`; `None` for an empty list.
pub(super) fn environments(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("(with --env {})", names.join(", ")))
}

fn described(label: &LabeledSpan, at: Span, origin: &Origin<'_>) -> Label {
    let span = Span::from(*label.inner());
    Label {
        message: label.label().map(Into::into),
        place: range(span, origin),
        primary: label.primary() || span == at,
    }
}

fn replacement(edit: &Edit, origin: &Origin<'_>) -> Replacement {
    Replacement { place: range(edit.at, origin), text: edit.text.clone() }
}

fn range(span: Span, origin: &Origin<'_>) -> Range {
    let start = origin.sources.place(span);
    let end = origin.sources.place(Span { start: span.end, ..span });
    Range {
        file: origin.display_path(&start.file),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}
