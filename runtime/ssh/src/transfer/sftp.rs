//! The SFTP session of one transfer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use russh_sftp::client::RawSftpSession;
use russh_sftp::client::error::Error;
use russh_sftp::protocol::{FileAttributes, FileType, OpenFlags, Packet, StatusCode};
use tokio::task::JoinSet;
use tokio_util::sync::DropGuard;

use super::account::TransferError;
use crate::channel::Pipe;

/// The bytes of one request. OpenSSH answers larger ones more slowly.
pub(super) const BLOCK_BYTES: usize = 32 * 1024;

/// The most requests in flight.
const REQUESTS_MAX: usize = 16;

/// The most symbols of an answer of the host in an error.
const REASON_CHARS_MAX: usize = 200;

const POSIX_RENAME: &str = "posix-rename@openssh.com";

/// The permissions that a transfer keeps. Setuid and its like would turn a copy into a privilege.
pub(super) const MODE: u32 = 0o777;

/// An SFTP session. One failed by a timeout answers nothing more.
pub(super) struct Sftp {
    raw: Arc<RawSftpSession>,
    /// Whether a rename may replace a file.
    posix_rename: bool,
    /// The temporary file that exists on the host.
    temporary: Mutex<Option<String>>,
    /// Ends the tasks of the session, which may wait for the host.
    _end: DropGuard,
}

/// An entry of a folder.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) kind: FileType,
    pub(super) attributes: FileAttributes,
}

impl Sftp {
    pub(super) async fn open(pipe: Pipe) -> Result<Self, TransferError> {
        let answer = pipe.answer().as_secs().max(1);
        let end = pipe.end_on_drop();
        let raw = RawSftpSession::new(pipe);
        raw.set_timeout(answer);
        let version = raw.init().await.map_err(|_| TransferError::NoSftp)?;
        let posix_rename = version.extensions.contains_key(POSIX_RENAME);
        Ok(Self { raw: Arc::new(raw), posix_rename, temporary: Mutex::default(), _end: end })
    }

    /// Returns the attributes of a path, those of the target of a link. `None`: it is missing.
    pub(super) async fn stat(&self, path: &str) -> Result<Option<FileAttributes>, TransferError> {
        found(self.raw.stat(path).await.map(|answer| answer.attrs), path)
    }

    /// Returns the attributes of a path or of a link itself. `None`: it is missing.
    pub(super) async fn lstat(&self, path: &str) -> Result<Option<FileAttributes>, TransferError> {
        found(self.raw.lstat(path).await.map(|answer| answer.attrs), path)
    }

    /// Refuses a path through a link or `..`. Parts of it that are missing lead nowhere else.
    pub(super) async fn without_links(&self, path: &str) -> Result<(), TransferError> {
        let plain = plain_path(path);
        let mut found = plain.as_str();
        while !matches!(found, "" | "/") && self.lstat(found).await?.is_none() {
            found = match found.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((folder, _)) => folder,
                None => "",
            };
        }
        let real = self.real_path(if found.is_empty() { "." } else { found }).await?;
        let meant = match (found.starts_with('/'), found) {
            (true, _) => found.to_owned(),
            (false, "" | ".") => real.clone(),
            (false, _) => joined(&self.real_path(".").await?, found),
        };
        let rest = plain.get(found.len()..).unwrap_or_default().trim_start_matches('/');
        if real == meant && !rest.split('/').any(|part| part == "..") {
            return Ok(());
        }
        Err(TransferError::Link { path: path.to_owned(), real: joined(&real, rest) })
    }

    /// Returns the absolute path that a path means, without links.
    async fn real_path(&self, path: &str) -> Result<String, TransferError> {
        let answer = self.raw.realpath(path).await;
        let answer = answer.map_err(|error| remote(path, "resolve", error))?;
        let first = answer.files.into_iter().next().map(|file| file.filename);
        first.ok_or_else(|| remote(path, "resolve", Error::UnexpectedPacket))
    }

    pub(super) async fn make_folder(&self, path: &str) -> Result<(), TransferError> {
        let made = self.raw.mkdir(path, attributes(0o700)).await;
        made.map(|_| ()).map_err(|error| remote(path, "create folder", error))
    }

    pub(super) async fn set_mode(&self, path: &str, mode: u32) -> Result<(), TransferError> {
        let set = self.raw.setstat(path, attributes(mode & MODE)).await;
        set.map(|_| ()).map_err(|error| remote(path, "set permissions", error))
    }

    /// Lists a folder, sorted by name. `check` is asked about the number of names so far.
    pub(super) async fn list(
        &self,
        path: &str,
        check: impl Fn(usize) -> Result<(), TransferError>,
    ) -> Result<Vec<Entry>, TransferError> {
        let opened = self.raw.opendir(path).await;
        let handle = opened.map_err(|error| remote(path, "open folder", error))?.handle;
        let mut entries = Vec::new();
        loop {
            let files = match self.raw.readdir(handle.as_str()).await {
                Ok(answer) => answer.files,
                Err(Error::Status(status)) if status.status_code == StatusCode::Eof => break,
                Err(error) => return Err(remote(path, "read folder", error)),
            };
            for file in files {
                if matches!(file.filename.as_str(), "." | "..") {
                    continue;
                }
                let kind = file.attrs.file_type();
                entries.push(Entry { name: file.filename, kind, attributes: file.attrs });
            }
            check(entries.len())?;
        }
        let closed = self.raw.close(handle).await;
        closed.map_err(|error| remote(path, "close folder", error))?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Creates a temporary file that its owner alone may read.
    pub(super) async fn create(&self, path: &str) -> Result<String, TransferError> {
        let flags = OpenFlags::CREATE | OpenFlags::WRITE | OpenFlags::EXCLUDE;
        let opened = self.raw.open(path, flags, attributes(0o600)).await;
        let handle = opened.map_err(|error| remote(path, "create", error))?.handle;
        self.note_temporary(Some(path.to_owned()));
        Ok(handle)
    }

    pub(super) async fn open_file(&self, path: &str) -> Result<String, TransferError> {
        let opened = self.raw.open(path, OpenFlags::READ, FileAttributes::empty()).await;
        opened.map(|answer| answer.handle).map_err(|error| remote(path, "open", error))
    }

    pub(super) async fn file_attributes(
        &self,
        path: &str,
        handle: &str,
    ) -> Result<FileAttributes, TransferError> {
        let asked = self.raw.fstat(handle).await;
        asked.map(|answer| answer.attrs).map_err(|error| remote(path, "examine", error))
    }

    pub(super) async fn set_file_attributes(
        &self,
        path: &str,
        handle: &str,
        attributes: FileAttributes,
    ) -> Result<(), TransferError> {
        let set = self.raw.fsetstat(handle, attributes).await;
        set.map(|_| ()).map_err(|error| remote(path, "set permissions", error))
    }

    /// Closes a file. Some hosts report here that a disk is full.
    pub(super) async fn close(&self, path: &str, handle: String) -> Result<(), TransferError> {
        self.raw.close(handle).await.map(|_| ()).map_err(|error| remote(path, "close", error))
    }

    /// Gives the temporary file its name.
    pub(super) async fn rename(&self, from: &str, to: &str) -> Result<(), TransferError> {
        if self.posix_rename {
            let mut paths = Vec::new();
            for path in [from, to] {
                let length = u32::try_from(path.len()).unwrap_or(u32::MAX);
                paths.extend(length.to_be_bytes());
                paths.extend(path.as_bytes());
            }
            match self.raw.extended(POSIX_RENAME, paths).await {
                Ok(Packet::Status(status)) if status.status_code == StatusCode::Ok => {}
                Ok(Packet::Status(status)) => {
                    return Err(remote(to, "rename", Error::Status(status)));
                }
                Ok(_) => return Err(remote(to, "rename", Error::UnexpectedPacket)),
                Err(error) => return Err(remote(to, "rename", error)),
            }
        } else {
            let renamed = self.raw.rename(from, to).await;
            renamed.map_err(|error| remote(to, "rename (the host cannot replace files)", error))?;
        }
        self.note_temporary(None);
        Ok(())
    }

    /// Removes the temporary file of a transfer that failed.
    pub(super) async fn remove_temporary(&self) {
        let Some(path) = self.temporary() else { return };
        match self.raw.remove(path).await {
            Ok(_) => self.note_temporary(None),
            // It has its final name: the answer to the rename came too late.
            Err(Error::Status(status)) if status.status_code == StatusCode::NoSuchFile => {
                self.note_temporary(None);
            }
            Err(_) => {}
        }
    }

    /// Returns the temporary file that exists on the host.
    pub(super) fn temporary(&self) -> Option<String> {
        self.temporary.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Begins to write a file.
    pub(super) fn writes(&self, path: &str, handle: &str) -> Writes {
        Writes {
            raw: Arc::clone(&self.raw),
            path: path.to_owned(),
            handle: handle.to_owned(),
            offset: 0,
            flying: JoinSet::new(),
        }
    }

    /// Begins to read a file.
    pub(super) fn reads(&self, path: &str, handle: &str) -> Reads {
        Reads {
            raw: Arc::clone(&self.raw),
            path: path.to_owned(),
            handle: handle.to_owned(),
            asked: 0,
            given: 0,
            end: None,
            arrived: BTreeMap::new(),
            flying: JoinSet::new(),
        }
    }

    fn note_temporary(&self, path: Option<String>) {
        *self.temporary.lock().unwrap_or_else(PoisonError::into_inner) = path;
    }
}

/// The writes to one file, several in flight.
pub(super) struct Writes {
    raw: Arc<RawSftpSession>,
    path: String,
    handle: String,
    offset: u64,
    flying: JoinSet<Result<(), Error>>,
}

impl Writes {
    pub(super) async fn write(&mut self, block: Vec<u8>) -> Result<(), TransferError> {
        while self.flying.len() >= REQUESTS_MAX {
            self.land().await?;
        }
        let (raw, handle, offset) = (Arc::clone(&self.raw), self.handle.clone(), self.offset);
        self.offset += block.len() as u64;
        self.flying.spawn(async move { raw.write(handle, offset, block).await.map(|_| ()) });
        Ok(())
    }

    /// Waits for all writes and returns the bytes that were written.
    pub(super) async fn finish(mut self) -> Result<u64, TransferError> {
        while !self.flying.is_empty() {
            self.land().await?;
        }
        Ok(self.offset)
    }

    async fn land(&mut self) -> Result<(), TransferError> {
        match self.flying.join_next().await {
            Some(Ok(Err(error))) => Err(remote(&self.path, "write", error)),
            Some(Err(_)) => Err(TransferError::Lost),
            Some(Ok(Ok(()))) | None => Ok(()),
        }
    }
}

/// The reads of one file, several in flight, given back in order.
pub(super) struct Reads {
    raw: Arc<RawSftpSession>,
    path: String,
    handle: String,
    asked: u64,
    given: u64,
    /// The first offset at which the host reported the end. The size of a file may be wrong.
    end: Option<u64>,
    arrived: BTreeMap<u64, Vec<u8>>,
    flying: JoinSet<(u64, u32, Result<Vec<u8>, Error>)>,
}

impl Reads {
    /// Returns the next bytes, or `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, TransferError> {
        loop {
            if let Some(block) = self.arrived.remove(&self.given) {
                self.given += block.len() as u64;
                return Ok(Some(block));
            }
            if self.end.is_some_and(|end| self.given >= end) {
                return Ok(None);
            }
            while self.end.is_none() && self.flying.len() + self.arrived.len() < REQUESTS_MAX {
                self.ask(self.asked, BLOCK_BYTES as u32);
                self.asked += BLOCK_BYTES as u64;
            }
            self.land().await?;
        }
    }

    fn ask(&mut self, offset: u64, length: u32) {
        let (raw, handle) = (Arc::clone(&self.raw), self.handle.clone());
        self.flying.spawn(async move {
            let data = raw.read(handle, offset, length).await.map(|answer| answer.data);
            (offset, length, data)
        });
    }

    async fn land(&mut self) -> Result<(), TransferError> {
        let Some(landed) = self.flying.join_next().await else {
            return Err(remote(&self.path, "read", Error::UnexpectedPacket));
        };
        match landed.map_err(|_| TransferError::Lost)? {
            (offset, length, Ok(data)) if !data.is_empty() => {
                let got = u32::try_from(data.len()).unwrap_or(u32::MAX);
                if got > length {
                    return Err(remote(&self.path, "read", Error::UnexpectedPacket));
                }
                self.arrived.insert(offset, data);
                // After less than asked, more may follow.
                if got < length {
                    self.ask(offset + u64::from(got), length - got);
                }
            }
            (offset, _, Ok(_)) => self.note_end(offset),
            (offset, _, Err(Error::Status(status))) if status.status_code == StatusCode::Eof => {
                self.note_end(offset);
            }
            (_, _, Err(error)) => return Err(remote(&self.path, "read", error)),
        }
        Ok(())
    }

    fn note_end(&mut self, offset: u64) {
        self.end = Some(self.end.map_or(offset, |end| end.min(offset)));
    }
}

/// Returns a path without `.` and doubled slashes.
fn plain_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn joined(folder: &str, rest: &str) -> String {
    if rest.is_empty() {
        folder.to_owned()
    } else {
        format!("{}/{rest}", folder.trim_end_matches('/'))
    }
}

fn found(
    answer: Result<FileAttributes, Error>,
    path: &str,
) -> Result<Option<FileAttributes>, TransferError> {
    match answer {
        Ok(attributes) => Ok(Some(attributes)),
        Err(Error::Status(status)) if status.status_code == StatusCode::NoSuchFile => Ok(None),
        Err(error) => Err(remote(path, "examine", error)),
    }
}

fn attributes(mode: u32) -> FileAttributes {
    FileAttributes { permissions: Some(mode), ..FileAttributes::empty() }
}

fn remote(path: &str, step: &'static str, error: Error) -> TransferError {
    let reason = match error {
        Error::Status(status) if status.error_message.is_empty() => status.status_code.to_string(),
        Error::Status(status) => {
            let printable = status.error_message.chars().filter(|c| !c.is_control());
            printable.take(REASON_CHARS_MAX).collect()
        }
        Error::Timeout => "no answer in time".to_owned(),
        Error::IO(_) | Error::UnexpectedBehavior(_) => return TransferError::Lost,
        Error::Limited(_) | Error::UnexpectedPacket => "an answer against the protocol".to_owned(),
    };
    TransferError::Remote { path: path.to_owned(), step, reason }
}
