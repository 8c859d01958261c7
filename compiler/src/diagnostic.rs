//! The sink for the diagnostics of every stage: severity, order, count.

mod one_line;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use relay_bundle::Digest;

use self::one_line::OneLine;
use crate::secret;
use crate::source::Span;

/// The most diagnostics that are kept; the rest are counted.
pub(crate) const KEPT_MAX: usize = 1000;
/// The most diagnostics that are remembered so that each is counted once; beyond it all are
/// counted.
const SAID_MAX: usize = 50_000;

/// The diagnostics of all stages. [`Self::sorted`] returns them in the order in which they are
/// reported: by file, then by place, then by code.
#[derive(Default)]
pub struct Diagnostics {
    reports: Vec<Report>,
    /// The diagnostics so far, each with the index of its report if that was kept: each is reported
    /// once.
    said: BTreeMap<Said, Option<usize>>,
    /// The reports of things that are idle in this environment, and may be used in another.
    idle: Vec<Report>,
    /// The places of things with an effect in this environment.
    used: BTreeSet<Span>,
    errors: usize,
    warnings: usize,
    notes: usize,
    /// Whether a warning is as bad as an error.
    strict: bool,
}

/// A change of a source file that is part of a correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The range that is replaced; empty where text is inserted.
    pub at: Span,
    /// The text in its place.
    pub text: String,
}

/// A diagnostic that a program can correct in some cases: those in which only one correction keeps
/// the author's meaning. An unknown name is the author's to correct, even if a known one is near.
pub(crate) trait Fixable: Diagnostic {
    /// Returns the correction, in separate parts; empty where it is the author's choice.
    fn edits(&self) -> &[Edit];
}

/// One diagnostic with its span.
pub struct Report {
    /// The smallest thing that the author must edit.
    pub at: Span,
    /// Code, message, labels and help, each in one line.
    pub diagnostic: Box<dyn Diagnostic + Send + Sync>,
    /// The correction, if it is certain. All parts of it belong together. Those of `others` are theirs.
    pub edits: Vec<Edit>,
    /// The environments in which it was found, sorted; empty if it was found in the base, or if
    /// only one was compiled.
    pub environments: Vec<String>,
    /// The findings of the same kind that are reported with it, sorted by place. Each is
    /// counted.
    pub others: Vec<Report>,
}

/// The identity of a diagnostic: two with the same identity are reported once.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    at: Span,
    code: String,
    message: Digest,
    severity: Severity,
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// No bundle can be made.
    Error,
    /// A bundle can be made, and probably differs from what the author wants. A strict build
    /// refuses it.
    Warning,
    /// The project is as it should be, and the author should know something about it. Exit codes
    /// ignore notes, and a strict build takes them.
    Note,
}

impl Report {
    pub(crate) fn new(at: Span, diagnostic: impl Diagnostic + Send + Sync + 'static) -> Self {
        Self::of(at, Box::new(diagnostic))
    }

    fn of(at: Span, diagnostic: Box<dyn Diagnostic + Send + Sync>) -> Self {
        let (edits, environments, others) = (Vec::new(), Vec::new(), Vec::new());
        Self { at, diagnostic: Box::new(OneLine(diagnostic)), edits, environments, others }
    }

    /// Returns the report of a diagnostic that may have a correction. A correction that would print a
    /// secret is left out.
    pub(crate) fn fixable(at: Span, diagnostic: impl Fixable + Send + Sync + 'static) -> Self {
        Self { edits: without_secrets(diagnostic.edits()), ..Self::new(at, diagnostic) }
    }

    /// Returns this finding and those of the same kind that are reported with it.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.others)
    }

    fn said(&self) -> Said {
        Said {
            at: self.at,
            code: self.code(),
            message: Digest::of(self.diagnostic.to_string().as_bytes()),
            severity: self.severity(),
        }
    }

    /// Returns its severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self.diagnostic.severity() {
            None | Some(miette::Severity::Error) => Severity::Error,
            Some(miette::Severity::Warning) => Severity::Warning,
            Some(miette::Severity::Advice) => Severity::Note,
        }
    }

    /// Returns whether it prevents a bundle.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }

    /// Returns the code: `area::what`.
    #[must_use]
    pub fn code(&self) -> String {
        code(&*self.diagnostic)
    }
}

impl Diagnostics {
    /// Returns an empty sink; in a strict one a warning is as bad as an error.
    #[must_use]
    pub fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// Takes a diagnostic about the thing at `at`. It is dropped if an earlier one has the same
    /// code, words and place.
    pub fn report(&mut self, at: Span, diagnostic: impl Diagnostic + Send + Sync + 'static) {
        self.take(Report::new(at, diagnostic));
    }

    /// Takes a diagnostic that may have a correction.
    pub(crate) fn report_fixable(
        &mut self,
        at: Span,
        diagnostic: impl Fixable + Send + Sync + 'static,
    ) {
        self.take(Report::fixable(at, diagnostic));
    }

    /// Takes a diagnostic that the thing at `at` is idle. It counts once [`Self::settle`] finds the
    /// thing idle in every environment.
    pub(crate) fn report_idle(
        &mut self,
        at: Span,
        diagnostic: impl Diagnostic + Send + Sync + 'static,
    ) {
        self.idle.push(Report::new(at, diagnostic));
    }

    /// Notes that the thing at `at`, which [`Self::report_idle`] could be about, has an effect.
    pub(crate) fn mark_used(&mut self, at: Span) {
        self.used.insert(at);
    }

    /// Returns whether something is idle unless another environment uses it.
    pub(crate) fn is_unsettled(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Takes out the places that are used.
    pub(crate) fn take_used(&mut self) -> BTreeSet<Span> {
        std::mem::take(&mut self.used)
    }

    /// Reports the things that are idle in every environment.
    pub(crate) fn settle(&mut self, used: &BTreeSet<Span>) {
        for report in std::mem::take(&mut self.idle) {
            if !used.contains(&report.at) {
                self.take(report);
            }
        }
    }

    /// Takes the new diagnostics of an environment. The report of a known diagnostic names the
    /// environment too.
    pub(crate) fn join(&mut self, environment: &str, other: Self) {
        let mut reports: Vec<_> = other.reports.into_iter().map(Some).collect();
        for (said, index) in other.said {
            let report = index.and_then(|index| reports.get_mut(index)).and_then(Option::take);
            if let Some(known) = self.said.get(&said) {
                let known = known.and_then(|index| self.reports.get_mut(index));
                if let Some(known) = known.filter(|known| !known.environments.is_empty()) {
                    known.environments.push(environment.to_owned());
                }
                continue;
            }
            let environments = vec![environment.to_owned()];
            self.add(said, report.map(|report| Report { environments, ..report }));
        }
    }

    /// Takes all of another sink.
    pub(crate) fn absorb(&mut self, other: Self) {
        other.reports.into_iter().for_each(|report| self.take(report));
    }

    /// Takes a report, unless one with the same identity was taken before.
    pub(crate) fn take(&mut self, report: Report) {
        let said = report.said();
        if !self.said.contains_key(&said) {
            self.add(said, Some(report));
        }
    }

    fn count(&mut self, severity: Severity) -> &mut usize {
        match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        }
    }

    fn add(&mut self, said: Said, report: Option<Report>) {
        // Each further place of a finding counts.
        let others = report.as_ref().map_or(0, |report| report.others.len());
        *self.count(said.severity) += 1 + others;
        let kept = report.filter(|_| self.reports.len() < KEPT_MAX);
        if self.said.len() < SAID_MAX {
            self.said.insert(said, kept.is_some().then_some(self.reports.len()));
        }
        self.reports.extend(kept);
    }

    /// Returns whether the diagnostics prevent a bundle.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors > 0 || (self.strict && self.warnings > 0)
    }

    /// Returns the number of errors, including the dropped ones.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns the number of warnings, including the dropped ones.
    #[must_use]
    pub fn warning_count(&self) -> usize {
        self.warnings
    }

    /// Returns the number of notes, dropped ones included.
    #[must_use]
    pub fn note_count(&self) -> usize {
        self.notes
    }

    /// Returns whether errors and warnings are absent.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }

    /// Returns the number of dropped diagnostics, which were only counted.
    #[must_use]
    pub fn dropped_count(&self) -> usize {
        let kept: usize = self.reports.iter().map(|report| 1 + report.others.len()).sum();
        (self.errors + self.warnings + self.notes).saturating_sub(kept)
    }

    /// Returns the kept diagnostics, in the order of reports.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Report> {
        let mut reports: Vec<_> = self.reports.iter().collect();
        reports.sort_by_key(|report| (report.at, report.code()));
        reports
    }
}

/// Returns the parts of a correction, or none if one of them would print a secret.
fn without_secrets(edits: &[Edit]) -> Vec<Edit> {
    let is_secret =
        |edit: &Edit| matches!(secret::masked(edit.text.as_bytes(), &[]), Cow::Owned(_));
    if edits.iter().any(is_secret) { Vec::new() } else { edits.to_vec() }
}

fn code(diagnostic: &dyn Diagnostic) -> String {
    diagnostic.code().map(|code| code.to_string()).unwrap_or_default()
}
