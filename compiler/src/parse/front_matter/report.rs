//! Reports of faults in markdown files, with the severity that `on-error` gives: decided here
//! alone.
//!
//! | `on-error` | a slip with one correction | a fault that can be repaired | any other fault |
//! | --- | --- | --- | --- |
//! | `fail` | note, the file is used | error | error |
//! | `skip` | note, the file is used | warning, the file is left out | warning, the file is left out |
//! | `repair` | note, the file is used | warning, the file is used | error |
//!
//! The programs that own command files read a file with a slip, as relay does, so nothing is lost and no
//! build stops, a strict one either.
//! In the project's own prompts a slip is an error. `repair` promises that every file is served, so
//! a fault that it cannot repair is an error: `skip` is for leaving files out.
//!
//! Faults of one kind in one folder are one report, with the option that answers them.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, Severity};

use crate::alike::Alike;
use crate::ast::OnError;
use crate::diagnostic::{Edit, Fixable, Report};
use crate::parse::reading::{Kind, Reading};
use crate::source::Span;

const TAKE: &str = "`front-matter=optional` on the folder takes such files";
const SKIP: &str = "`on-error=skip` leaves such files out";
const REPAIR: &str =
    "`on-error=repair` reads such files all the same, `on-error=skip` leaves them out";

/// The message of a fault; its severity comes from `on-error`.
pub(crate) trait Finding: Diagnostic + Send + Sync + 'static {}

impl<D: Diagnostic + Send + Sync + 'static> Finding for D {}

/// Reports the faults of one file, and records whether the file can still be used.
pub(crate) struct Reporter<'o> {
    reading: Reading,
    refused: bool,
    out: &'o mut Alike,
}

impl<'o> Reporter<'o> {
    pub(crate) fn new(reading: Reading, out: &'o mut Alike) -> Self {
        Self { reading, refused: false, out }
    }

    /// Reports a fault that makes the file unusable as a prompt.
    pub(crate) fn refuse(&mut self, at: Span, fault: impl Finding) {
        let report = Report::new(at, self.refused_fault(fault));
        self.refuse_unless(report, SKIP);
    }

    /// The same for a fault that may have a correction.
    pub(crate) fn refuse_fixable(&mut self, at: Span, fault: impl Finding + Fixable) {
        let report = Report::fixable(at, self.refused_fault(fault));
        self.refuse_unless(report, SKIP);
    }

    /// Reports that the file lacks a part that the folder requires.
    pub(crate) fn lack(&mut self, at: Span, fault: impl Finding + Fixable) {
        let report = Report::fixable(at, self.refused_fault(fault));
        self.out.take(report, Some(TAKE));
    }

    /// Reports a fault that the caller repairs if `on-error` says so.
    pub(crate) fn repair(&mut self, at: Span, fault: impl Finding) {
        match self.reading.on_error {
            OnError::Repair => {
                let fault = FaultReport { fault, outcome: Outcome::Repaired };
                // A file that is used is another thing than one that is left out.
                self.out.take_apart(Report::new(at, fault), "repaired");
            }
            OnError::Fail | OnError::Skip => {
                let report = Report::new(at, self.refused_fault(fault));
                self.refuse_unless(report, REPAIR);
            }
        }
    }

    /// Reports a slip that the caller corrects, as the programs that own command files do.
    pub(crate) fn correct(&mut self, at: Span, fault: impl Finding + Fixable) {
        match (self.reading.kind, self.reading.on_error) {
            (Kind::Command, _) | (Kind::AgentSkill, OnError::Repair) => {
                let fault = FaultReport { fault, outcome: Outcome::Corrected };
                self.out.take_apart(Report::fixable(at, fault), "corrected");
            }
            (Kind::Folder | Kind::AgentSkill, _) => self.refuse_fixable(at, fault),
        }
    }

    /// Reports a fault that leaves the file usable.
    pub(crate) fn warn(&mut self, at: Span, warning: impl Finding) {
        self.out.add(at, warning, None);
    }

    /// Returns whether a fault made the file unusable as a prompt.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// Reports a fault that `option` answers in a folder of commands.
    fn refuse_unless(&mut self, report: Report, option: &'static str) {
        let is_open = self.reading.kind == Kind::Command && self.reading.on_error != OnError::Skip;
        self.out.take(report, is_open.then_some(option));
    }

    /// Notes that the file is unusable because of a fault.
    fn refused_fault<F>(&mut self, fault: F) -> FaultReport<F> {
        self.refused = true;
        let outcome = match self.reading.on_error {
            OnError::Fail | OnError::Repair => Outcome::Rejected,
            OnError::Skip => Outcome::Skipped,
        };
        FaultReport { fault, outcome }
    }
}

/// The consequence of a fault for its file.
#[derive(Debug, Clone, Copy)]
enum Outcome {
    Rejected,
    Skipped,
    Repaired,
    Corrected,
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
            Outcome::Repaired | Outcome::Corrected => f.write_str("repaired: ")?,
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
            Outcome::Corrected => Severity::Advice,
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
