//! `relay audit verify`: whether the records of audit files are one whole chain.

mod checkpoints;
mod walk;

use std::path::{Path, PathBuf};

use relay_engine::audit_chain::{self, Link};
use schemars::JsonSchema;
use serde::Serialize;

use self::checkpoints::{Checks, Own};
use self::walk::{Break, BreakKind, Walk};
use super::lines::Lines;
use crate::answer::FORMAT_VERSION;
use crate::answer::size::counted;
use crate::args::{AnswerFormat, AuditVerifyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, good};
use crate::text::shown_path;

/// The most breaks in an answer.
const BREAKS_MAX: usize = 20;

/// The output of `relay audit verify --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct AuditVerified {
    /// The version of this JSON format.
    format_version: u32,
    /// Whether every line is a record that follows the one before it, every checkpoint is right, and
    /// the chain reaches the kept ones. Without those, records that were cut off the end leave no trace.
    intact: bool,
    /// The number of records whose own hash is right.
    records: u64,
    /// The number of the first record; the records before it are in older files.
    first: u64,
    /// The number of the last record.
    last: u64,
    /// The hash of the last record: a record of this number with another hash is another one.
    last_chain: String,
    /// The number of checkpoints in the files.
    checkpoints: u64,
    /// Whether their signatures were checked, which needs a key.
    signatures_checked: bool,
    /// The last record that a checkpoint in the files covers.
    covered: Option<u64>,
    /// The number of kept checkpoints that the chain was compared with.
    kept: u64,
    /// The first gaps that the server recorded itself: lost records keep the chain whole.
    gaps: Vec<FoundGap>,
    /// The number of further gaps.
    gaps_omitted: u64,
    /// The first breaks, in the order of the lines.
    breaks: Vec<FoundBreak>,
    /// The number of further breaks.
    breaks_omitted: u64,
}

/// A break of the chain, and its place.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct FoundBreak {
    /// The file, as it was given.
    file: String,
    /// The line, from 1.
    line: u64,
    /// The way in which the chain is broken.
    kind: BreakKind,
    /// The number of the record at this line, if its hash is right.
    number: Option<u64>,
    /// The description.
    message: String,
}

/// A gap that the server recorded itself, and the place of that record.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct FoundGap {
    /// The file, as it was given.
    file: String,
    /// The line, from 1.
    line: u64,
    /// The number of the record that names the gap.
    number: u64,
    /// The number of records.
    count: u64,
    /// Whether they were written, but may be missing on the disk.
    unflushed: bool,
}

/// The findings so far.
#[derive(Default)]
struct Found {
    walk: Walk,
    checks: Checks,
    checkpoints: u64,
    covered: Option<u64>,
    gaps: Vec<FoundGap>,
    gaps_omitted: u64,
    /// The last line that was read.
    place: (String, u64),
    records: u64,
    first: Option<Link>,
    last: Option<Link>,
    breaks: Vec<FoundBreak>,
    breaks_omitted: u64,
}

pub(super) fn run(arguments: &AuditVerifyArgs, output: &mut Output) -> Result<Exit, Failure> {
    let AuditVerifyArgs { files, checkpoints, keys, format } = arguments;
    let checks = Checks::read(keys, checkpoints.as_deref())?;
    let mut found = Found { checks, ..Found::default() };
    for path in files {
        found.read(path)?;
    }
    found.end();
    let answer = found.answer(files)?;
    match format.chosen() {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => human(&answer, files.len(), output)?,
    }
    Ok(if answer.intact { Exit::Yes } else { Exit::No })
}

impl Found {
    /// Follows the chain through a file.
    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        let mut lines = Lines::open(path)?;
        let mut number = 0;
        loop {
            while let Some(line) = lines.next(path)? {
                number += 1;
                self.line(path, number, &line);
            }
            if !lines.ends_within_a_line() {
                return Ok(());
            }
            let Some(line) = lines.next_locked(path)? else {
                self.found(path, number + 1, Break::partial());
                return Ok(());
            };
            number += 1;
            self.line(path, number, &line);
        }
    }

    fn line(&mut self, path: &Path, number: u64, line: &[u8]) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        // The first byte of a record on a full disk may be the line feed that ends a part of another.
        if line.is_empty() {
            return;
        }
        let line = str::from_utf8(line).unwrap_or_default();
        self.place = (shown_path(path), number);
        let link = match self.walk.next(line) {
            Ok(link) => {
                self.record(link);
                link
            }
            Err(broken) => {
                self.found(path, number, broken);
                let Some(link) = broken.link else { return };
                link
            }
        };
        self.own(line, link);
    }

    /// Reads a record about the audit itself, and compares each with the kept checkpoints.
    fn own(&mut self, line: &str, link: Link) {
        if let Err((kind, message)) = self.checks.compare(link) {
            self.push(kind, Some(link.seq), message);
        }
        let Ok(chained) = audit_chain::read(line) else { return };
        match self.checks.own(line, link, chained.prev) {
            Ok(None) => {}
            Ok(Some(Own::Checkpoint(covers))) => {
                self.checkpoints += 1;
                self.covered = self.covered.max(Some(covers));
            }
            Ok(Some(Own::Lost(count))) => self.gap(link, count, false),
            Ok(Some(Own::Unflushed(count))) => self.gap(link, count, true),
            Err((kind, message)) => self.push(kind, Some(link.seq), message),
        }
    }

    fn gap(&mut self, link: Link, count: u64, unflushed: bool) {
        if self.gaps.len() >= BREAKS_MAX {
            self.gaps_omitted += 1;
            return;
        }
        let (file, line) = self.place.clone();
        self.gaps.push(FoundGap { file, line, number: link.seq, count, unflushed });
    }

    /// Compares the end of the chain with the kept checkpoints.
    fn end(&mut self) {
        let (Some(newest), Some(last)) = (self.checks.newest(), self.last) else { return };
        if newest > last.seq {
            let message = format!(
                "records from {} on are missing: the server signed records up to {newest}",
                last.seq.saturating_add(1)
            );
            self.place.1 += 1;
            self.push(BreakKind::Cut, None, message);
        }
    }

    fn record(&mut self, link: Link) {
        self.records += 1;
        self.first.get_or_insert(link);
        self.last = Some(link);
    }

    fn found(&mut self, path: &Path, line: u64, broken: Break) {
        if let Some(link) = broken.link {
            self.record(link);
        }
        self.place = (shown_path(path), line);
        self.push(broken.kind, broken.link.map(|link| link.seq), broken.message());
    }

    /// Adds a break at the last line that was read.
    fn push(&mut self, kind: BreakKind, number: Option<u64>, message: String) {
        if self.breaks.len() >= BREAKS_MAX {
            self.breaks_omitted += 1;
            return;
        }
        let (file, line) = self.place.clone();
        self.breaks.push(FoundBreak { file, line, kind, number, message });
    }

    fn answer(self, files: &[PathBuf]) -> Result<AuditVerified, Failure> {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            let files: Vec<_> = files.iter().map(|it| format!("`{}`", shown_path(it))).collect();
            let files = files.join(", ");
            return Err(Failure::error(format!("no line of {files} is a record of a chain")).help(
                "give the file of the server's --audit, by default ~/.local/state/relay/audit.jsonl",
            ));
        };
        Ok(AuditVerified {
            format_version: FORMAT_VERSION,
            intact: self.breaks.is_empty(),
            records: self.records,
            first: first.seq,
            last: last.seq,
            last_chain: last.hash.hex(),
            checkpoints: self.checkpoints,
            signatures_checked: self.checks.has_keys(),
            covered: self.covered,
            kept: self.checks.kept_count,
            gaps: self.gaps,
            gaps_omitted: self.gaps_omitted,
            breaks: self.breaks,
            breaks_omitted: self.breaks_omitted,
        })
    }
}

fn human(answer: &AuditVerified, files: usize, output: &mut Output) -> Result<(), Failure> {
    let AuditVerified {
        format_version: _,
        intact,
        records,
        first,
        last,
        last_chain,
        checkpoints,
        signatures_checked,
        covered,
        kept,
        gaps,
        gaps_omitted,
        breaks,
        breaks_omitted,
    } = answer;
    let count = |number: u64, word| counted(usize::try_from(number).unwrap_or(usize::MAX), word);
    let (records, files) = (count(*records, "record"), counted(files, "file"));
    if *intact {
        let text = format!("{}: {records} in {files}, {first} to {last}", good("intact"));
        output.result(format_args!("{text}\nrecord {last} has the hash {last_chain}\n"))?;
    } else {
        let breaks = count(breaks.len() as u64 + breaks_omitted, "break");
        output.result(format_args!("{}: {breaks}, {records} in {files}\n", bad("broken")))?;
    }
    for FoundBreak { file, line, message, .. } in breaks {
        output.result(format_args!("{file}:{line}: {message}\n"))?;
    }
    for FoundGap { file, line, number, count: lost, unflushed } in gaps {
        let lost = count(*lost, "record");
        let gap = match unflushed {
            false => "could not be written before it",
            true => "before it may be missing on the disk",
        };
        let text = format!("{file}:{line}: record {number} names a gap: {lost} {gap}");
        output.result(format_args!("{text}\n"))?;
    }
    if *gaps_omitted > 0 {
        output.note(format_args!("{} more", count(*gaps_omitted, "gap")));
    }
    if let Some(covered) = covered {
        let signed = if *signatures_checked { "signed" } else { "not checked: give --key" };
        let text = count(*checkpoints, "checkpoint");
        output.result(format_args!("{text}, {signed}, up to record {covered}\n"))?;
    }
    if *breaks_omitted > 0 {
        output.note(format_args!("{} more", count(*breaks_omitted, "break")));
    }
    if *first > 1 {
        output.note(format_args!("the records before {first} are in older files, and unchecked"));
    }
    if *kept == 0 {
        output.note(format_args!(
            "records that were cut off the end leave no trace here: give --checkpoints FILE, which the server keeps in its state folder, or compare {last} with a number that you noted elsewhere"
        ));
    }
    Ok(())
}
