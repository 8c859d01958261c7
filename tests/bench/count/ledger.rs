//! The recorded counts: `tests/bench/instructions.tsv`, a line a row, with the reason of its last change.

#![expect(clippy::disallowed_methods, reason = "it asks git how the file changed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;

/// The file, below the root of the repository.
pub(crate) const FILE: &str = "tests/bench/instructions.tsv";
/// The most commits of the file that are looked at.
const COMMITS_MAX: &str = "--max-count=200";
const REASON_CHARS_MAX: usize = 200;

/// What begins the file.
const HEAD: &str = "\
# Instructions of one operation, counted by `bench --count` with the build of `cargo build --release --workspace`:
# row, count, reason of the last change.
#
# A row that counts over 10 % more than its line fails the step `instructions` of `.ci/run`. The commit that makes a row
# dearer has to say why, here: `target/release/bench --count --accept REASON ROW …` writes the new count and the reason.
# The step also fails if a commit of this file, or a change that is not committed, raises a count and keeps the reason.
# A row that counts over 10 % less asks for a lower line, so that it stays cheap.
# The compiler, the C library and the vector instructions of a processor count too: a new one of these is a reason as well.
";

/// The rows of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(BTreeMap<String, Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    instructions: u64,
    reason: String,
}

impl Ledger {
    /// Reads the file; it is empty if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a line is no row with a reason.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", path.display()).into()),
        };
        let mut rows = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
            let (row, entry) = entry(line).ok_or_else(|| {
                format!("{}:{number}: a row, a count and a reason", path.display())
            })?;
            if rows.insert(row, entry).is_some() {
                return Err(format!("{}:{number}: a second line of the row", path.display()).into());
            }
        }
        Ok(Self(rows))
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let line = |(row, entry): (&String, &Entry)| {
            format!("{row}\t{}\t{}\n", entry.instructions, entry.reason)
        };
        let rows: String = self.0.iter().map(line).collect();
        Ok(fs::write(path, HEAD.to_owned() + &rows)?)
    }

    /// Returns the recorded instructions of a row.
    pub(crate) fn instructions(&self, row: &str) -> Option<u64> {
        self.0.get(row).map(|entry| entry.instructions)
    }

    /// Records a count, with the reason that it changed.
    ///
    /// # Errors
    ///
    /// If the reason is empty, long, or the one of the count before, which it would have to replace.
    pub(crate) fn accept(&mut self, row: &str, instructions: u64, reason: &str) -> Result<()> {
        let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        if reason.is_empty() || reason.chars().count() > REASON_CHARS_MAX {
            return Err(format!("a reason has 1 to {REASON_CHARS_MAX} characters").into());
        }
        let entry = Entry { instructions, reason };
        let before = self.0.get(row);
        if before.is_some_and(|before| is_unexplained(before, &entry)) {
            return Err(format!("`{row}` grew, and its reason is the one of before").into());
        }
        self.0.insert(row.to_owned(), entry);
        Ok(())
    }

    /// Returns faults about lines of rows that are no longer counted.
    pub(crate) fn unknown(&self, ids: &[&str]) -> Vec<String> {
        let unknown = self.0.keys().filter(|row| !ids.contains(&row.as_str()));
        unknown
            .map(|row| format!("{FILE} has `{row}`, which is not counted: remove its line"))
            .collect()
    }
}

/// Returns faults about raised counts without a new reason: in the commits of the file that are here, and in
/// the files as they are.
pub(crate) fn unexplained(repository: &Path) -> Result<Vec<String>> {
    let git = |arguments: &[&str]| -> Result<String> {
        let mut git = Command::new("git");
        git.args(arguments).args(["--unified=0", "--no-color", "--no-ext-diff"]);
        let output = git.args(["--", FILE]).current_dir(repository).output()?;
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into())
        }
    };
    let commits = git(&["log", "--patch", "--no-merges", COMMITS_MAX, "--format=%x00%h"])?;
    let mut faults: Vec<String> = commits.split('\0').skip(1).flat_map(of_change).collect();
    faults.extend(of_change(
        &("files that are not committed\n".to_owned() + &git(&["diff", "HEAD"])?),
    ));
    Ok(faults)
}

/// Returns the faults of a change: its name on the first line, then its differences.
fn of_change(change: &str) -> Vec<String> {
    let (name, differences) = change.split_once('\n').unwrap_or((change, ""));
    let side = |sign: char| -> BTreeMap<String, Entry> {
        let lines = differences.lines().filter_map(|line| line.strip_prefix(sign));
        lines.filter_map(entry).collect()
    };
    let (before, after) = (side('-'), side('+'));
    let raised = after.iter().filter(|(row, entry)| {
        before.get(*row).is_some_and(|before| is_unexplained(before, entry))
    });
    raised.map(|(row, _)| format!("{name}: {FILE} raises `{row}` and keeps its reason")).collect()
}

fn is_unexplained(before: &Entry, after: &Entry) -> bool {
    after.instructions > before.instructions && after.reason == before.reason
}

fn entry(line: &str) -> Option<(String, Entry)> {
    let mut columns = line.split('\t');
    let (row, instructions, reason) = (columns.next()?, columns.next()?, columns.next()?);
    let (reason, instructions) = (reason.trim().to_owned(), instructions.parse().ok()?);
    let is_whole = columns.next().is_none() && !reason.is_empty();
    is_whole.then(|| (row.to_owned(), Entry { instructions, reason }))
}
