//! The way from the host.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

use russh_sftp::protocol::FileType;

use super::account::{Account, TransferError, local};
use super::local::{Folder, Temporary};
use super::name::{blocking, entry_name, remote_path, temporary_name};
use super::sftp::{Entry, Sftp};

/// The bytes that are gathered before they are written to the disk.
const GATHERED_BYTES: usize = 512 * 1024;

/// One download.
pub(super) struct Download<'a> {
    pub(super) sftp: &'a Sftp,
    pub(super) account: &'a mut Account,
    pub(super) recursive: bool,
}

/// A folder that is yet to be copied.
struct Pending {
    folder: Folder,
    local: PathBuf,
    remote: String,
    mode: Option<u32>,
    depth: usize,
}

impl Download<'_> {
    pub(super) async fn path(&mut self, from: &str, to: &Path) -> Result<(), TransferError> {
        let from = remote_path(from)?;
        self.sftp.without_links(&from).await?;
        let kind = |reason| TransferError::Kind { path: from.clone(), reason };
        let found =
            self.sftp.stat(&from).await?.ok_or_else(|| kind("does not exist on the host"))?;
        let (parent, name) = split(to)?;
        let opened = parent.clone();
        let parent_folder = blocking(move || Folder::open(&opened))
            .await
            .map_err(|source| local(&parent, source))?;
        match found.file_type() {
            FileType::File => {
                let path = to.to_owned();
                if blocking(move || Ok(path.is_dir())).await.unwrap_or(false) {
                    let path = to.display().to_string();
                    return Err(TransferError::Kind {
                        path,
                        reason: "is a folder: name the file in it",
                    });
                }
                self.file(&parent_folder, &name, &from, to).await
            }
            FileType::Dir if self.recursive => {
                let folder = enter(&parent_folder, &name, to).await?;
                let mode = found.permissions;
                let first =
                    Pending { folder, local: to.to_owned(), remote: from.clone(), mode, depth: 0 };
                self.folders(first).await
            }
            FileType::Dir => Err(kind("is a folder, and the transfer is not recursive")),
            FileType::Symlink | FileType::Other => Err(kind("is not a regular file")),
        }
    }

    async fn folders(&mut self, first: Pending) -> Result<(), TransferError> {
        let mut pending = vec![first];
        // Permissions come last: a folder may be read-only.
        let mut modes = Vec::new();
        while let Some(next) = pending.pop() {
            self.account.folder(next.depth)?;
            let account = &*self.account;
            let entries =
                self.sftp.list(&next.remote, |count| account.check_entries(count)).await?;
            for entry in entries {
                if let Some(deeper) = self.entry(&next, entry).await? {
                    self.account.check_entries(pending.len())?;
                    pending.push(deeper);
                }
            }
            modes.push((next.folder, next.local, next.mode));
        }
        for (folder, path, mode) in modes.into_iter().rev() {
            if let Some(mode) = mode {
                folder.set_mode(mode & 0o777).map_err(|source| local(&path, source))?;
            }
        }
        Ok(())
    }

    /// Copies a file, or returns a folder to copy later.
    async fn entry(
        &mut self,
        of: &Pending,
        entry: Entry,
    ) -> Result<Option<Pending>, TransferError> {
        let Entry { name, kind, attributes } = entry;
        let remote = format!("{}/{name}", of.remote.trim_end_matches('/'));
        let name = entry_name(&name, &remote)?;
        let path = of.local.join(&name);
        match kind {
            FileType::File => {
                self.file(&of.folder, &name, &remote, &path).await?;
                Ok(None)
            }
            FileType::Dir => {
                let folder = enter(&of.folder, &name, &path).await?;
                let (mode, depth) = (attributes.permissions, of.depth + 1);
                Ok(Some(Pending { folder, local: path, remote, mode, depth }))
            }
            FileType::Symlink | FileType::Other => {
                self.account.leave_out(remote)?;
                Ok(None)
            }
        }
    }

    async fn file(
        &mut self,
        folder: &Folder,
        name: &OsStr,
        from: &str,
        to: &Path,
    ) -> Result<(), TransferError> {
        self.account.file()?;
        let handle = self.sftp.open_file(from).await?;
        let attributes = self.sftp.file_attributes(from, &handle).await?;
        if attributes.file_type() != FileType::File {
            let path = from.to_owned();
            return Err(TransferError::Kind { path, reason: "is not a regular file" });
        }
        let temporary = folder.temporary(OsString::from(temporary_name(&name.to_string_lossy())));
        let temporary = temporary.map_err(|source| local(to, source))?;
        let copied = self.content(&temporary, &handle, from, to).await?;
        self.sftp.close(from, handle).await?;
        // Files of /proc have the size 0 and content all the same.
        let size = attributes.size.unwrap_or_default();
        if copied < size {
            return Err(TransferError::Size { path: from.to_owned(), copied, size });
        }
        let name = name.to_owned();
        let (mode, modified) = (attributes.permissions, attributes.mtime);
        let finished = blocking(move || temporary.finish(&name, mode, modified)).await;
        finished.map_err(|source| local(to, source))
    }

    async fn content(
        &mut self,
        temporary: &Temporary,
        handle: &str,
        from: &str,
        to: &Path,
    ) -> Result<u64, TransferError> {
        let mut writer = temporary.writer().map_err(|source| local(to, source))?;
        let mut reads = self.sftp.reads(from, handle);
        let mut copied = 0;
        let mut gathered = Vec::with_capacity(GATHERED_BYTES);
        loop {
            let block = reads.next().await?;
            let ended = block.is_none();
            if let Some(block) = block {
                self.account.bytes(block.len())?;
                copied += block.len() as u64;
                gathered.extend_from_slice(&block);
            }
            if ended || gathered.len() >= GATHERED_BYTES {
                let bytes = std::mem::replace(&mut gathered, Vec::with_capacity(GATHERED_BYTES));
                let written = blocking(move || writer.write_all(&bytes).map(|()| writer)).await;
                writer = written.map_err(|source| local(to, source))?;
            }
            if ended {
                return Ok(copied);
            }
        }
    }
}

async fn enter(folder: &Folder, name: &OsStr, path: &Path) -> Result<Folder, TransferError> {
    let (folder, name) = (folder.clone(), name.to_owned());
    blocking(move || folder.enter(&name, true)).await.map_err(|source| local(path, source))
}

/// Returns the folder of a path and its last part.
fn split(path: &Path) -> Result<(PathBuf, OsString), TransferError> {
    let Some(name) = path.file_name() else {
        let path = path.display().to_string();
        return Err(TransferError::Kind { path, reason: "has no last part that could be created" });
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((parent.unwrap_or(Path::new(".")).to_owned(), name.to_owned()))
}
