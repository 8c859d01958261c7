//! Findings of one kind, which are one report: the same slip in forty files is one fault.
//!
//! The report is the first finding, and the others are its further places, each with its own
//! correction. An option that answers all of them is in its help.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity};

use crate::diagnostic::{Diagnostics, KEPT_MAX, Report};
use crate::source::Span;

/// The findings so far, by code, severity and the word that sets them apart.
#[derive(Default)]
pub(crate) struct Alike {
    kinds: BTreeMap<(String, bool, String), Kind>,
}

/// The findings of one code and severity.
#[derive(Default)]
struct Kind {
    reports: Vec<Report>,
    option: Option<&'static str>,
}

impl Alike {
    /// Takes a finding, and the option of the project that answers all of its kind.
    pub(crate) fn add(
        &mut self,
        at: Span,
        diagnostic: impl Diagnostic + Send + Sync + 'static,
        option: Option<&'static str>,
    ) {
        self.take(Report::new(at, diagnostic), option);
    }

    /// Takes the report of a finding, which may have a correction.
    pub(crate) fn take(&mut self, report: Report, option: Option<&'static str>) {
        let kind = self.kind(&report, "");
        kind.option = kind.option.or(option);
        kind.reports.push(report);
    }

    /// Takes a finding that is of one kind only with those of the same word.
    pub(crate) fn add_apart(
        &mut self,
        at: Span,
        diagnostic: impl Diagnostic + Send + Sync + 'static,
        word: &str,
    ) {
        self.take_apart(Report::new(at, diagnostic), word);
    }

    /// Takes the report of a finding that is of one kind only with those of the same word.
    pub(crate) fn take_apart(&mut self, report: Report, word: &str) {
        self.kind(&report, word).reports.push(report);
    }

    /// Returns whether a finding is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.kinds.keys().any(|(_, is_error, _)| *is_error)
    }

    /// Reports each kind once.
    pub(crate) fn report(self, out: &mut Diagnostics) {
        for Kind { mut reports, option } in self.kinds.into_values() {
            reports.sort_by_key(|report| report.at);
            reports.truncate(KEPT_MAX);
            let answered = |report: Report| match option {
                Some(option) => {
                    let finding = report.diagnostic;
                    Report { diagnostic: Box::new(Answered { finding, option }), ..report }
                }
                None => report,
            };
            let mut reports = reports.into_iter().map(answered);
            let Some(mut first) = reports.next() else { continue };
            first.others = reports.collect();
            out.take(first);
        }
    }

    fn kind(&mut self, report: &Report, word: &str) -> &mut Kind {
        self.kinds.entry((report.code(), report.is_error(), word.to_owned())).or_default()
    }
}

/// A finding with an option in its help.
#[derive(Debug)]
struct Answered {
    finding: Box<dyn Diagnostic + Send + Sync>,
    option: &'static str,
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

impl Error for Answered {}

impl Diagnostic for Answered {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.finding.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.finding.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(match self.finding.help() {
            Some(help) => Box::new(format!("{help}; {}", self.option)),
            None => Box::new(self.option),
        })
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.finding.labels()
    }
}
