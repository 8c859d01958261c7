//! How a fault of a markdown file is told: `on-error` decides, in this one place.
//!
//! | `on-error` | a fault that can be repaired | any other fault |
//! | --- | --- | --- |
//! | `fail` | error | error |
//! | `skip` | warning, the file is left out | warning, the file is left out |
//! | `repair` | warning, the file is used | error |
//!
//! `repair` promises that every file is served, so what it cannot repair is an error: leaving
//! files out is what `skip` is for.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity};

use crate::ast::OnError;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// A fault's own words; how grave it is comes from `on-error`.
pub(in crate::parse) trait Fault: Diagnostic + Send + Sync + 'static {}

impl<D: Diagnostic + Send + Sync + 'static> Fault for D {}

/// Tells the faults of one file, and remembers whether the file can still be used.
pub(in crate::parse) struct Teller<'o> {
    on_error: OnError,
    refused: bool,
    out: &'o mut Diagnostics,
}

impl<'o> Teller<'o> {
    pub(in crate::parse) fn new(on_error: OnError, out: &'o mut Diagnostics) -> Self {
        Self { on_error, refused: false, out }
    }

    /// Tells a fault after which the file gives no prompt.
    pub(in crate::parse) fn refuse(&mut self, at: Span, fault: impl Fault) {
        self.refused = true;
        let outcome = match self.on_error {
            OnError::Fail | OnError::Repair => Outcome::Refused,
            OnError::Skip => Outcome::Skipped,
        };
        self.out.report(at, Told { fault, outcome });
    }

    /// Tells a fault that the caller repairs, if it shall.
    pub(in crate::parse) fn repair(&mut self, at: Span, fault: impl Fault) {
        match self.on_error {
            OnError::Repair => self.out.report(at, Told { fault, outcome: Outcome::Repaired }),
            OnError::Fail | OnError::Skip => self.refuse(at, fault),
        }
    }

    /// Returns whether a fault was told after which the file gives no prompt.
    pub(in crate::parse) fn refused(&self) -> bool {
        self.refused
    }
}

/// What becomes of the file.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Refused,
    Skipped,
    Repaired,
}

/// A fault with the severity and the first word that its outcome gives.
#[derive(Debug)]
struct Told<F> {
    fault: F,
    outcome: Outcome,
}

impl<F: fmt::Display> fmt::Display for Told<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outcome {
            Outcome::Refused => {}
            Outcome::Skipped => f.write_str("skipped: ")?,
            Outcome::Repaired => f.write_str("repaired: ")?,
        }
        self.fault.fmt(f)
    }
}

impl<F: fmt::Debug + fmt::Display> std::error::Error for Told<F> {}

impl<F: Diagnostic> Diagnostic for Told<F> {
    fn severity(&self) -> Option<Severity> {
        Some(match self.outcome {
            Outcome::Refused => Severity::Error,
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
