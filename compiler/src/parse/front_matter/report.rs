//! Reports of faults in markdown files, with the severity that `on-error` gives: decided here
//! alone.
//!
//! | `on-error` | a fault that can be repaired | any other fault |
//! | --- | --- | --- |
//! | `fail` | error | error |
//! | `skip` | warning, the file is left out | warning, the file is left out |
//! | `repair` | warning, the file is used | error |
//!
//! `repair` promises that every file is served, so a fault that it cannot repair is an error:
//! `skip` is for leaving files out.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity};

use crate::ast::OnError;
use crate::diagnostic::{Diagnostics, Edit, Fixable};
use crate::source::Span;

/// The message of a fault; its severity comes from `on-error`.
pub(crate) trait Finding: Diagnostic + Send + Sync + 'static {}

impl<D: Diagnostic + Send + Sync + 'static> Finding for D {}

/// Reports the faults of one file, and records whether the file can still be used.
pub(crate) struct Reporter<'o> {
    on_error: OnError,
    refused: bool,
    out: &'o mut Diagnostics,
}

impl<'o> Reporter<'o> {
    pub(crate) fn new(on_error: OnError, out: &'o mut Diagnostics) -> Self {
        Self { on_error, refused: false, out }
    }

    /// Reports a fault that makes the file unusable as a prompt.
    pub(crate) fn refuse(&mut self, at: Span, fault: impl Finding) {
        let outcome = self.refused_outcome();
        self.out.report(at, FaultReport { fault, outcome });
    }

    /// The same for a fault that may have a correction.
    pub(crate) fn refuse_fixable(&mut self, at: Span, fault: impl Finding + Fixable) {
        let outcome = self.refused_outcome();
        self.out.report_fixable(at, FaultReport { fault, outcome });
    }

    fn refused_outcome(&mut self) -> Outcome {
        self.refused = true;
        match self.on_error {
            OnError::Fail | OnError::Repair => Outcome::Rejected,
            OnError::Skip => Outcome::Skipped,
        }
    }

    /// Reports a fault that the caller repairs if `on-error` says so.
    pub(crate) fn repair(&mut self, at: Span, fault: impl Finding) {
        match self.on_error {
            OnError::Repair => {
                self.out.report(at, FaultReport { fault, outcome: Outcome::Repaired })
            }
            OnError::Fail | OnError::Skip => self.refuse(at, fault),
        }
    }

    /// The same for a fault that may have a correction.
    pub(crate) fn repair_fixable(&mut self, at: Span, fault: impl Finding + Fixable) {
        match self.on_error {
            OnError::Repair => {
                self.out.report_fixable(at, FaultReport { fault, outcome: Outcome::Repaired });
            }
            OnError::Fail | OnError::Skip => self.refuse_fixable(at, fault),
        }
    }

    /// Reports a fault that leaves the file usable.
    pub(crate) fn warn(&mut self, at: Span, warning: impl Finding) {
        self.out.report(at, warning);
    }

    /// Returns whether a fault made the file unusable as a prompt.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }
}

/// The consequence of a fault for its file.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Rejected,
    Skipped,
    Repaired,
}

/// A fault with the severity and the prefix that its outcome gives.
#[derive(Debug)]
struct FaultReport<F> {
    fault: F,
    outcome: Outcome,
}

impl<F: fmt::Display> fmt::Display for FaultReport<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            Outcome::Rejected => {}
            Outcome::Skipped => f.write_str("skipped: ")?,
            Outcome::Repaired => f.write_str("repaired: ")?,
        }
        self.fault.fmt(f)
    }
}

impl<F: fmt::Debug + fmt::Display> std::error::Error for FaultReport<F> {}

impl<F: Diagnostic> Diagnostic for FaultReport<F> {
    fn severity(&self) -> Option<Severity> {
        Some(match self.outcome {
            Outcome::Rejected => Severity::Error,
            Outcome::Skipped | Outcome::Repaired => Severity::Warning,
        })
    }

    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fault.code()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fault.help()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.fault.labels()
    }
}

impl<F: Fixable> Fixable for FaultReport<F> {
    fn edits(&self) -> &[Edit] {
        self.fault.edits()
    }
}
