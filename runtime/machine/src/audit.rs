//! The audit file: one JSON line for each record, appended, readable by this user alone.
//!
//! A record is one `write` to a file opened for appending, under a lock of the file: several programs
//! may share a file, and its records are one chain (`relay_engine::audit_chain`). After a crash the
//! file has a record of each answer that a client received. Flushing to the disk is left to the system.
//!
//! A full disk may take only a part of a line. That part is kept, and the next record, of any
//! program, begins on a line of its own. An empty file goes on with the chain of `FILE.1`, the name
//! that rotation gives the file before it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use relay_engine::audit_chain::{self, Link, START};
use relay_engine::audit_record::AuditRecord;
use relay_engine::invisible::visible_json;
use relay_engine::system_error::reason;
use rustix::fs::{FlockOperation, flock};
use thiserror::Error;

use crate::file::regular_file;

/// The mode of the file: for its owner alone.
const PRIVATE_MODE: u32 = 0o600;
/// The longest wait for another program that appends a record.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(1);
/// The interval of tries.
const LOCK_AGAIN: Duration = Duration::from_micros(200);
/// The bytes at the end of a file in which its last record is searched, at first and at most. Records
/// are far shorter.
const TAIL_BYTES: u64 = 16 << 10;
const TAIL_BYTES_MAX: u64 = 4 << 20;

/// An audit file, opened for appending.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: File,
    /// The length of the file after the last record of this program, and the end of the chain there.
    end: Option<(u64, Link)>,
}

/// An error of opening the audit file.
#[derive(Debug, Error)]
#[error(
    "cannot append to the audit file `{}`: {}",
    path.display(),
    unwritten(source)
)]
pub struct AuditError {
    path: PathBuf,
    source: io::Error,
}

impl AuditFile {
    /// Opens the file at `path`, created if missing.
    ///
    /// # Errors
    ///
    /// Opening it fails, or it belongs to another user and is open to others.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let file =
            open_private(path).map_err(|source| AuditError { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file, end: None })
    }

    /// Opens the file at `path`, created with its folder if missing.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_own(path: &Path) -> Result<Self, AuditError> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(folder)
            .map_err(|source| AuditError { path: path.to_owned(), source })?;
        Self::open(path)
    }

    /// Returns the file's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record.
    ///
    /// # Errors
    ///
    /// The disk is full or fails, or another program held the file for a second.
    pub fn append(&mut self, record: &AuditRecord<'_>) -> io::Result<()> {
        let json = serde_json::to_string(record)?;
        let json = visible_json(&json);
        let _locked = Locked::of(&self.file)?;
        let length = self.file.metadata()?.len();
        let last = match self.end {
            Some((end, link)) if end == length => Tail { link, ends_a_line: true },
            _ => self.tail(length)?,
        };
        self.end = None;
        let (mut line, link) = audit_chain::chained(&json, last.link);
        if !last.ends_a_line {
            line.insert(0, '\n');
        }
        line.push('\n');
        // One `write` instead of `write_all`: a rest of a line would follow after the lock is gone.
        if (&self.file).write(line.as_bytes())? < line.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.end = Some((length.saturating_add(line.len() as u64), link));
        Ok(())
    }

    /// Reads the end of the chain.
    fn tail(&self, length: u64) -> io::Result<Tail> {
        if length > 0 {
            return tail_of(&self.file, length);
        }
        let mut rotated = OsString::from(self.path.as_os_str());
        rotated.push(".1");
        let before = match regular_file::open(Path::new(&rotated)) {
            Ok(file) => {
                let length = file.metadata()?.len();
                tail_of(&file, length)?.link
            }
            // Without it, or without the right to read it, a chain begins.
            Err(_) => START,
        };
        Ok(Tail { link: before, ends_a_line: true })
    }
}

/// The end of a file.
struct Tail {
    link: Link,
    ends_a_line: bool,
}

/// Reads the end of a file: the last record that is whole, and whether the file ends with a line feed.
fn tail_of(file: &File, length: u64) -> io::Result<Tail> {
    let mut wanted = TAIL_BYTES;
    loop {
        let taken = wanted.min(length);
        let mut bytes = vec![0; usize::try_from(taken).unwrap_or(0)];
        file.read_exact_at(&mut bytes, length - taken)?;
        let ends_a_line = bytes.last().is_none_or(|byte| *byte == b'\n');
        let lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|it| str::from_utf8(it).ok());
        let link = lines.filter_map(|line| audit_chain::read(line).ok()).map(|it| it.link).next();
        if link.is_some() || taken == length || wanted >= TAIL_BYTES_MAX {
            return Ok(Tail { link: link.unwrap_or(START), ends_a_line });
        }
        wanted = wanted.saturating_mul(16);
    }
}

/// A file that no other program appends to meanwhile.
struct Locked<'f>(&'f File);

impl<'f> Locked<'f> {
    /// Waits for the lock of a file, a second at most.
    fn of(file: &'f File) -> io::Result<Self> {
        let since = Instant::now();
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(file)),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR)
                    if since.elapsed() < LOCK_WAIT_MAX =>
                {
                    thread::sleep(LOCK_AGAIN);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(io::Error::other("another program held it for a second"));
                }
                // Some file systems have no locks: records are then appended all the same.
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
                    return Ok(Self(file));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file would free it too.
        _ = flock(self.0, FlockOperation::Unlock);
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    // Some devices act on being opened, so the path is checked before as well as after.
    match fs::metadata(path) {
        Ok(metadata) => regular_file::check(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(PRIVATE_MODE)
        .custom_flags(regular_file::without_waiting())
        .open(path)?;
    let metadata = file.metadata()?;
    regular_file::check(&metadata)?;
    if metadata.mode() & 0o077 == 0 {
        return Ok(file);
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        let reason = "it belongs to another user, and others than its owner may read or write it: make it yours alone (`chmod 600`)";
        return Err(io::Error::other(reason));
    }
    file.set_permissions(Permissions::from_mode(PRIVATE_MODE))?;
    tracing::warn!(
        "the audit file `{}` could be read or written by others than its owner: its mode was {:o} and is now {PRIVATE_MODE:o}",
        path.display(),
        metadata.mode() & 0o777
    );
    Ok(file)
}

/// Returns the cause of a failure to make or write the file; a missing one is made.
#[must_use]
pub fn unwritten(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
        _ => reason(error),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use relay_bundle::Tier;
    use relay_engine::audit_record::{Action, OutputHash};

    use super::*;

    fn record(tool: &str) -> AuditRecord<'static> {
        let (output_sha256, output_len) = OutputHash::default().finish();
        AuditRecord {
            ts: String::new(),
            tool: tool.to_owned(),
            tier: Tier::ReadOnly,
            denied: false,
            args: BTreeMap::new(),
            output_sha256,
            output_len,
            exit_code: None,
            request_id: String::new(),
            principal: "p",
            issuer: None,
            tenant: None,
            role: None,
            bundle: String::new(),
            rule: String::new(),
            action: Action::Served,
            prompts: Vec::new(),
            skills: Vec::new(),
            observed: Vec::new(),
            effects: Vec::new(),
            effects_omitted: 0,
            approval: None,
            traceparent: None,
            hook: None,
            port: None,
        }
    }

    /// Returns the numbers of the records of a file, each of which follows the one before.
    fn numbers(path: &Path, mut last: Link) -> Vec<u64> {
        let text = fs::read_to_string(path).expect("the file");
        let mut numbers = Vec::new();
        for line in text.lines() {
            let Ok(read) = audit_chain::read(line) else { continue };
            assert_eq!(read.prev, last.hash, "{line}");
            last = read.link;
            numbers.push(last.seq);
        }
        numbers
    }

    #[test]
    fn many_writers_of_one_file_write_one_chain() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let mut file = AuditFile::open(&path).expect("the file");
                        file.append(&record("one")).expect("a record");
                        file.append(&record("two")).expect("a record");
                    }
                });
            }
        });
        assert_eq!(numbers(&path, START), (1..=200).collect::<Vec<_>>());
    }

    #[test]
    fn a_part_of_a_line_and_a_long_line_break_no_chain() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::open(&path).expect("the file");
        file.append(&record("one")).expect("a record");
        let mut raw = OpenOptions::new().append(true).open(&path).expect("the file");
        raw.write_all(b"{\"ts\":\"half of a rec").expect("a part");
        file.append(&record("two")).expect("a record");
        raw.write_all(&vec![b'x'; 100_000]).expect("a long line");
        AuditFile::open(&path).expect("the file").append(&record("three")).expect("a record");
        assert_eq!(numbers(&path, START), [1, 2, 3]);
        assert_eq!(fs::read_to_string(&path).expect("the file").lines().count(), 5);
    }

    #[test]
    fn a_new_file_goes_on_with_the_chain_of_the_rotated_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        AuditFile::open(&path).expect("the file").append(&record("one")).expect("a record");
        fs::rename(&path, folder.path().join("audit.jsonl.1")).expect("a rotation");
        AuditFile::open(&path).expect("the file").append(&record("two")).expect("a record");
        let first = fs::read_to_string(folder.path().join("audit.jsonl.1")).expect("the file");
        let link = audit_chain::read(first.trim_end()).expect("a record").link;
        assert_eq!(numbers(&path, link), [2]);
    }

    #[test]
    fn a_writer_that_holds_the_file_is_waited_for_and_not_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("audit.jsonl");
        let mut file = AuditFile::open(&path).expect("the file");
        let other = File::open(&path).expect("the file");
        let held = Locked::of(&other).expect("the lock");
        let error = file.append(&record("one")).expect_err("it is held");
        assert_eq!(error.to_string(), "another program held it for a second");
        drop(held);
        file.append(&record("one")).expect("a record");
        assert_eq!(numbers(&path, START), [1]);
    }
}
