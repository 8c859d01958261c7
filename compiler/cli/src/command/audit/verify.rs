//! `relay audit verify`: whether the records of audit files are one whole chain.

mod walk;

use std::path::{Path, PathBuf};

use relay_engine::audit_chain::Link;
use schemars::JsonSchema;
use serde::Serialize;

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
    /// Whether every line is a record that follows the one before it. Records that were cut off the
    /// end leave no trace.
    intact: bool,
    /// The number of records whose own hash is right.
    records: u64,
    /// The number of the first record; the records before it are in older files.
    first: u64,
    /// The number of the last record.
    last: u64,
    /// The hash of the last record: a record of this number with another hash is another one.
    last_chain: String,
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

/// The findings so far.
#[derive(Default)]
struct Found {
    walk: Walk,
    records: u64,
    first: Option<Link>,
    last: Option<Link>,
    breaks: Vec<FoundBreak>,
    breaks_omitted: u64,
}

pub(super) fn run(arguments: &AuditVerifyArgs, output: &mut Output) -> Result<Exit, Failure> {
    let AuditVerifyArgs { files, format } = arguments;
    let mut found = Found::default();
    for path in files {
        found.read(path)?;
    }
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
        match self.walk.next(line) {
            Ok(link) => self.record(link),
            Err(broken) => self.found(path, number, broken),
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
        if self.breaks.len() >= BREAKS_MAX {
            self.breaks_omitted += 1;
            return;
        }
        self.breaks.push(FoundBreak {
            file: shown_path(path),
            line,
            kind: broken.kind,
            number: broken.link.map(|link| link.seq),
            message: broken.message(),
        });
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
    if *breaks_omitted > 0 {
        output.note(format_args!("{} more", count(*breaks_omitted, "break")));
    }
    if *first > 1 {
        output.note(format_args!("the records before {first} are in older files, and unchecked"));
    }
    output.note(format_args!(
        "records that were cut off the end leave no trace: this version signs no checkpoints; compare {last} with a number that you noted elsewhere"
    ));
    Ok(())
}
