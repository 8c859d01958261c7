//! The sink for everything that a stage has to say: severity, order, count.

use std::collections::BTreeSet;

use miette::{Diagnostic, Severity};

use crate::source::Span;

/// At most this many diagnostics are kept; the rest are counted.
const KEPT_MAX: usize = 1000;

/// What the stages found wrong or unwise, in the order in which it is reported: by file, then by
/// place, then by code.
#[derive(Default)]
pub struct Diagnostics {
    reports: Vec<Report>,
    /// Code and span of what was said: no fault is reported twice.
    said: BTreeSet<(String, Span)>,
    errors: usize,
    warnings: usize,
    /// Whether a warning is as bad as an error.
    strict: bool,
}

/// One diagnostic with the span that it is about.
pub struct Report {
    /// The smallest thing that the author must edit.
    pub at: Span,
    /// Code, message, labels and help.
    pub diagnostic: Box<dyn Diagnostic + Send + Sync>,
}

impl Report {
    /// Returns whether no bundle can be made because of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        is_error(&*self.diagnostic)
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

    /// Takes a diagnostic about the thing at `at`. One with the same code at the same place as
    /// one before is dropped.
    pub fn report(&mut self, at: Span, diagnostic: impl Diagnostic + Send + Sync + 'static) {
        // Beyond what is kept only the number matters, and memory stays bounded.
        let kept = self.reports.len() < KEPT_MAX;
        if kept && !self.said.insert((code(&diagnostic), at)) {
            return;
        }
        if is_error(&diagnostic) {
            self.errors += 1;
        } else {
            self.warnings += 1;
        }
        if kept {
            self.reports.push(Report { at, diagnostic: Box::new(diagnostic) });
        }
    }

    /// Returns whether no bundle can be made.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.errors > 0 || (self.strict && self.warnings > 0)
    }

    /// Returns how many errors there are, those too that were not kept.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns how many warnings there are, those too that were not kept.
    #[must_use]
    pub fn warning_count(&self) -> usize {
        self.warnings
    }

    /// Returns how many were counted but not kept.
    #[must_use]
    pub fn dropped_count(&self) -> usize {
        self.errors + self.warnings - self.reports.len()
    }

    /// Returns what is kept, in the order in which it is reported.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Report> {
        let mut reports: Vec<_> = self.reports.iter().collect();
        reports.sort_by_key(|report| (report.at, report.code()));
        reports
    }
}

fn is_error(diagnostic: &dyn Diagnostic) -> bool {
    matches!(diagnostic.severity(), None | Some(Severity::Error))
}

fn code(diagnostic: &dyn Diagnostic) -> String {
    diagnostic.code().map(|code| code.to_string()).unwrap_or_default()
}
