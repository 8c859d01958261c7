//! The audit file: one JSON line for each record, appended, readable by this user alone.
//!
//! A batch of records is one `write` to a file opened for appending, under a lock of the file: several
//! programs may share a file, and its records are one chain (`relay_engine::audit_chain`). After a
//! crash of a program the file has a record of each answer that a client received.
//!
//! - **Rotation**: each batch looks whether the path still leads to its file. If it leads to another
//!   one, the end of the old file is read under its lock, and the chain goes on in the new one. A
//!   program without an open file goes on with the newest rotated one (`rotated`). Locks are taken in
//!   the order of age, so programs that move on at the same time wait for each other.
//! - **A full disk** may take only a part of a batch. That part is cut off again under the lock. A
//!   part that a killed program left is kept, and the next record begins on a line of its own.

mod checkpoint;
mod locked;
mod opening;
mod rotated;
mod tail;
#[cfg(test)]
mod tests;

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use relay_engine::audit_chain::{self, Link, START};
use relay_engine::audit_record::AuditRecord;
use relay_engine::invisible::visible_json;

pub use self::checkpoint::{CheckpointError, Checkpoints};
use self::locked::Locked;
use self::opening::Identity;
pub use self::opening::{AuditError, unwritten};

/// The most rotations that one batch follows: a file that is moved more often is reported.
const MOVES_MAX: usize = 8;
/// The most bytes of the buffer of batches that are kept for the next one.
const BUFFER_BYTES_KEPT: usize = 256 << 10;
/// The most files with unflushed writes; older ones are flushed by the system.
const UNFLUSHED_MAX: usize = 16;

/// An audit file, opened for appending.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: Arc<File>,
    identity: Identity,
    /// The length of the file after the last record of this program.
    length: Option<u64>,
    /// The end of the chain, as this program knows it.
    last: Option<Link>,
    /// The text of a batch.
    buffer: String,
    unflushed: Vec<Unflushed>,
    /// Whether the path leads to a file that cannot be opened, which was reported.
    is_stuck: bool,
}

/// A file with writes that may only be in memory.
#[derive(Debug)]
pub struct Unflushed {
    file: Arc<File>,
    /// The folder of a new file, whose name may only be in memory.
    folder: Option<PathBuf>,
}

impl Unflushed {
    /// Waits until the writes are on the disk.
    ///
    /// # Errors
    ///
    /// The disk fails. A later flush of the same descriptor may succeed although the writes are lost.
    pub fn flush(&self) -> io::Result<()> {
        self.file.sync_data()?;
        match &self.folder {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }
}

/// A place to append to, under the lock of the file.
struct Place {
    locked: Locked,
    /// The length of the file.
    length: u64,
    last: Link,
    ends_a_line: bool,
}

/// Returns a record as a line without its place in the chain.
///
/// # Errors
///
/// It fails to be written as JSON.
pub fn json(record: &AuditRecord<'_>) -> io::Result<String> {
    let json = serde_json::to_string(record)?;
    Ok(visible_json(&json).into_owned())
}

impl AuditFile {
    /// Opens the file at `path`, created if missing.
    ///
    /// # Errors
    ///
    /// Opening it fails, or it belongs to another user and is open to others.
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        let opened = opening::open(path).and_then(|file| Ok((Identity::of(&file)?, file)));
        let (identity, file) =
            opened.map_err(|source| AuditError { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            file: Arc::new(file),
            identity,
            length: None,
            last: None,
            buffer: String::new(),
            unflushed: Vec::new(),
            is_stuck: false,
        })
    }

    /// Opens the file at `path`, created with its folder if missing.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_own(path: &Path) -> Result<Self, AuditError> {
        DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(folder_of(path))
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
    pub fn append(&mut self, record: &AuditRecord<'_>) -> io::Result<Link> {
        let json = json(record)?;
        self.append_all([json.as_str()])
    }

    /// Appends all of the records, each as [`json`] returns it, or fails.
    ///
    /// # Errors
    ///
    /// As [`Self::append`].
    pub fn append_all<'l>(
        &mut self,
        records: impl IntoIterator<Item = &'l str>,
    ) -> io::Result<Link> {
        self.batch(|text, mut last| {
            for record in records {
                last = audit_chain::append(text, record, last);
                text.push('\n');
            }
            Ok(last)
        })
    }

    /// Appends a record that depends on the one before it.
    ///
    /// # Errors
    ///
    /// As [`Self::append`], or `make` fails.
    pub fn append_after(
        &mut self,
        make: impl FnOnce(Link) -> io::Result<String>,
    ) -> io::Result<Link> {
        self.batch(|text, last| {
            let link = audit_chain::append(text, &make(last)?, last);
            text.push('\n');
            Ok(link)
        })
    }

    /// Follows the path to another file after a rotation.
    ///
    /// # Errors
    ///
    /// The file at the path cannot be opened. Records still go to the open one.
    pub fn follow(&mut self) -> Result<(), AuditError> {
        self.is_stuck = false;
        let failed = |source| AuditError { path: self.path.clone(), source };
        if self.identity.length_at(&self.path).map_err(failed)?.is_none() {
            opening::open(&self.path).map_err(failed)?;
        }
        Ok(())
    }

    /// Opens the file anew after a failed flush: the descriptor may then report success for writes
    /// that are lost.
    ///
    /// # Errors
    ///
    /// Opening it fails.
    pub fn renew(&mut self) -> io::Result<()> {
        if self.identity.length_at(&self.path)?.is_some() {
            let file = opening::open(&self.path)?;
            (self.identity, self.file) = (Identity::of(&file)?, Arc::new(file));
            self.length = None;
        }
        Ok(())
    }

    /// Takes the files with writes since the last time.
    #[must_use]
    pub fn take_unflushed(&mut self) -> Vec<Unflushed> {
        std::mem::take(&mut self.unflushed)
    }

    /// Appends the text that `build` makes, which follows the record that it is given.
    fn batch(
        &mut self,
        build: impl FnOnce(&mut String, Link) -> io::Result<Link>,
    ) -> io::Result<Link> {
        let place = self.place()?;
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        if !place.ends_a_line {
            text.push('\n');
        }
        let written = build(&mut text, place.last).and_then(|link| {
            self.length = None;
            write_all_or_none(&place, &self.file, text.as_bytes())?;
            Ok(link)
        });
        if let Ok(link) = written {
            self.last = Some(link);
            self.length = Some(place.length.saturating_add(text.len() as u64));
            self.note_unflushed(place.length == 0);
        }
        if text.capacity() <= BUFFER_BYTES_KEPT {
            self.buffer = text;
        }
        written
    }

    fn note_unflushed(&mut self, is_new: bool) {
        let folder = is_new.then(|| folder_of(&self.path).to_owned());
        match self.unflushed.last_mut() {
            Some(last) if Arc::ptr_eq(&last.file, &self.file) => {
                last.folder = last.folder.take().or(folder);
            }
            _ => {
                if self.unflushed.len() >= UNFLUSHED_MAX {
                    self.unflushed.remove(0);
                }
                self.unflushed.push(Unflushed { file: self.file.clone(), folder });
            }
        }
    }

    /// Locks the file at the path, and finds the end of its chain.
    fn place(&mut self) -> io::Result<Place> {
        for _ in 0..MOVES_MAX {
            let locked = Locked::of(&self.file)?;
            match self.identity.length_at(&self.path)? {
                Some(0) => {
                    // The rotated file is locked before this one, so this lock ends first.
                    drop(locked);
                    if let Some(place) = self.begin()? {
                        return Ok(place);
                    }
                }
                Some(length) => return self.go_on(locked, length),
                None => {
                    if let Some(place) = self.move_on(locked)? {
                        return Ok(place);
                    }
                }
            }
        }
        Err(io::Error::other("the file was moved again and again"))
    }

    /// Returns the place after the records of a file.
    fn go_on(&mut self, locked: Locked, length: u64) -> io::Result<Place> {
        if let (Some(last), true) = (self.last, self.length == Some(length)) {
            return Ok(Place { locked, length, last, ends_a_line: true });
        }
        let tail = tail::of(&self.file, length)?;
        let last = tail.link.or(self.last).unwrap_or(START);
        Ok(Place { locked, length, last, ends_a_line: tail.ends_a_line })
    }

    /// Returns the place in an empty file: after the newest rotated file, or after the last record
    /// that this program knows, if it is a later one. `None` if the file has records by now.
    fn begin(&mut self) -> io::Result<Option<Place>> {
        let before = rotated::newest(&self.path, None)?;
        let locked = Locked::of(&self.file)?;
        if self.identity.length_at(&self.path)? != Some(0) {
            return Ok(None);
        }
        let last = later(self.last, before.link).unwrap_or(START);
        Ok(Some(Place { locked, length: 0, last, ends_a_line: true }))
    }

    /// Opens the file at the path in place of one that was moved away; `locked` is the lock of that
    /// one. Returns a place in the old file if the new one cannot be opened; `None` if the search for
    /// a place goes on in the new one.
    fn move_on(&mut self, locked: Locked) -> io::Result<Option<Place>> {
        let length = self.file.metadata()?.len();
        let old = self.go_on(locked, length)?;
        self.last = later(self.last, Some(old.last)).filter(|last| *last != START);
        let new = match opening::open(&self.path) {
            Ok(new) => Arc::new(new),
            Err(error) => {
                if !std::mem::replace(&mut self.is_stuck, true) {
                    let error = AuditError { path: self.path.clone(), source: error };
                    tracing::error!("{error}; records still go to the file that was opened before");
                }
                return Ok(Some(old));
            }
        };
        self.is_stuck = false;
        let before = match new.metadata()?.len() {
            0 => rotated::newest(&self.path, Some(&self.file))?,
            _ => rotated::Before::default(),
        };
        let (locked, identity) = (Locked::of(&new)?, Identity::of(&new)?);
        let length = identity.length_at(&self.path)?;
        // Only now the old lock may end: all programs add to the new file.
        (self.file, self.identity, self.length) = (new, identity, None);
        self.last = later(self.last, before.link);
        Ok(match (length, self.last) {
            (Some(0), Some(last)) => Some(Place { locked, length: 0, last, ends_a_line: true }),
            _ => None,
        })
    }
}

/// Writes a text at the end of a file; after a failure all of it is taken off again.
fn write_all_or_none(place: &Place, mut file: &File, text: &[u8]) -> io::Result<()> {
    // One `write` instead of `write_all`: a part can be cut off only while nothing follows it.
    let failure = loop {
        match file.write(text) {
            Ok(written) if written == text.len() => return Ok(()),
            Ok(_) => break io::ErrorKind::StorageFull.into(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break error,
        }
    };
    if place.locked.is_alone() && file.metadata()?.len() > place.length {
        // A part that stays all the same is closed by the next record.
        _ = file.set_len(place.length);
    }
    Err(failure)
}

/// Returns the later one of two places in a chain.
fn later(one: Option<Link>, other: Option<Link>) -> Option<Link> {
    [one, other].into_iter().flatten().max_by_key(|link| link.seq)
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
