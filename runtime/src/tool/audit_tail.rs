//! `audit_tail`: the newest records of the audit file, oldest first.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Permit;
use super::arguments::{Arguments, Fault};

/// Records that one call may ask for.
const LINES: (i64, i64) = (1, 1000);
const LINES_DEFAULT: i64 = 50;
/// As much of the end of the file is looked at.
const SCANNED_BYTES_MAX: u64 = 8 << 20;
const CHUNK_BYTES: u64 = 64 << 10;

/// What to return of the audit file.
#[derive(Debug, Clone)]
pub(super) struct Query {
    lines: usize,
    tool: Option<String>,
    tier: Option<i64>,
    denied: Option<bool>,
}

impl Query {
    pub(super) fn take(arguments: &mut Arguments) -> Result<Self, Fault> {
        let lines = arguments.integer("lines", LINES)?.unwrap_or(LINES_DEFAULT);
        Ok(Self {
            lines: usize::try_from(lines).unwrap_or(0),
            tool: arguments.text("tool")?.filter(|tool| !tool.is_empty()),
            tier: arguments.integer("tier", (-1, 3))?.filter(|tier| *tier >= 0),
            denied: arguments.boolean("denied")?,
        })
    }
}

/// Whose records are shown: where callers are told apart, only a caller's own.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    pub(super) principal: String,
    pub(super) tenant: Option<String>,
}

/// As much of a record as the query looks at.
#[derive(Deserialize)]
struct Record {
    tool: String,
    tier: i64,
    denied: bool,
    principal: String,
    tenant: Option<String>,
}

/// Returns the last records as JSON lines; the filters act on these alone. A line that is no
/// record, because a disk was full, is left out.
///
/// A file that is not there has no records.
pub(super) fn run(
    _: &Permit,
    path: &Path,
    query: &Query,
    owner: Option<&Owner>,
) -> io::Result<String> {
    let Some(tail) = Tail::open(path)? else { return Ok(String::new()) };
    let own = |record: &Record| {
        owner.is_none_or(|owner| {
            owner.principal == record.principal && owner.tenant == record.tenant
        })
    };
    let mut window: Vec<String> = Vec::new();
    let mut shown = Vec::new();
    tail.lines(|line| {
        let Ok(record) = serde_json::from_str::<Record>(line) else { return true };
        if own(&record) {
            let Query { lines: _, tool, tier, denied } = query;
            let wanted = tool.as_ref().is_none_or(|tool| *tool == record.tool)
                && tier.is_none_or(|tier| tier == record.tier)
                && denied.is_none_or(|denied| denied == record.denied);
            shown.push(wanted);
            window.push(line.to_owned());
        }
        window.len() < query.lines
    })?;
    let wanted = window.into_iter().zip(shown).rev().filter(|(_, shown)| *shown);
    Ok(wanted.map(|(line, _)| line + "\n").collect())
}

/// The end of the audit file, opened anew: the writer's own descriptor is left alone.
struct Tail {
    file: std::fs::File,
    start: u64,
    end: u64,
}

impl Tail {
    fn open(path: &Path) -> io::Result<Option<Self>> {
        // A pipe in its place must not hold the call up.
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("the audit goes to no ordinary file"));
        }
        let end = metadata.len();
        Ok(Some(Self { file, start: end.saturating_sub(SCANNED_BYTES_MAX), end }))
    }

    /// Gives each whole line from the last to the first, until `wants_more` says no.
    fn lines(&self, mut wants_more: impl FnMut(&str) -> bool) -> io::Result<()> {
        let mut at = self.end;
        // What stands before the first line feed of the chunk behind this one.
        let mut behind: Vec<u8> = Vec::new();
        while at > self.start {
            let from = at.saturating_sub(CHUNK_BYTES).max(self.start);
            let mut chunk = vec![0; usize::try_from(at - from).unwrap_or(0)];
            self.file.read_exact_at(&mut chunk, from)?;
            chunk.append(&mut behind);
            let mut parts = chunk.split(|byte| *byte == b'\n');
            behind = parts.next().unwrap_or_default().to_vec();
            for line in parts.rev() {
                if !line.is_empty() && !str::from_utf8(line).is_ok_and(&mut wants_more) {
                    return Ok(());
                }
            }
            at = from;
        }
        if self.start == 0 {
            _ = str::from_utf8(&behind).map(wants_more);
        }
        Ok(())
    }
}

/// Returns where the audit is, or why there is nothing to read.
pub(super) fn path_of(path: Option<&Path>) -> Result<PathBuf, Fault> {
    path.map(Path::to_owned).ok_or_else(|| "this server keeps no audit".to_owned())
}
