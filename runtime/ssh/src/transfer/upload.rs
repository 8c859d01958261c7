//! The way to the host.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use russh_sftp::protocol::{FileAttributes, FileType};

use super::account::{Account, TransferError, local};
use super::local::{Folder, Local, Source};
use super::name::{blocking, remote_path, temporary_name};
use super::sftp::{BLOCK_BYTES, Sftp};

/// The blocks that are read from the disk at once.
const BLOCKS: usize = 16;

/// One upload.
pub(super) struct Upload<'a> {
    pub(super) sftp: &'a Sftp,
    pub(super) account: &'a mut Account,
    pub(super) recursive: bool,
}

/// A folder that is yet to be copied.
struct Pending {
    folder: Folder,
    local: PathBuf,
    remote: String,
    depth: usize,
}

impl Upload<'_> {
    pub(super) async fn path(&mut self, from: &Path, to: &str) -> Result<(), TransferError> {
        let to = remote_path(to)?;
        self.sftp.without_links(&to).await?;
        let path = from.to_owned();
        let about = blocking(move || std::fs::metadata(path)).await;
        if !about.map_err(|source| local(from, source))?.is_dir() {
            let path = from.to_owned();
            let source = blocking(move || Source::open(&path)).await;
            return self.file(source.map_err(|source| local(from, source))?, from, &to).await;
        }
        if !self.recursive {
            let path = from.display().to_string();
            return Err(TransferError::Kind {
                path,
                reason: "is a folder, and the transfer is not recursive",
            });
        }
        let path = from.to_owned();
        let folder =
            blocking(move || Folder::open(&path)).await.map_err(|source| local(from, source))?;
        self.folders(Pending { folder, local: from.to_owned(), remote: to, depth: 0 }).await
    }

    async fn folders(&mut self, first: Pending) -> Result<(), TransferError> {
        let mut pending = vec![first];
        // Permissions come last: a folder may be read-only.
        let mut modes = Vec::new();
        while let Some(next) = pending.pop() {
            self.account.folder(next.depth)?;
            if self.make_folder(&next.remote).await? {
                let mode = next.folder.mode().map_err(|source| local(&next.local, source))?;
                modes.push((next.remote.clone(), mode));
            }
            for name in self.names(&next).await? {
                if let Some(deeper) = self.entry(&next, name).await? {
                    self.account.check_entries(pending.len())?;
                    pending.push(deeper);
                }
            }
        }
        for (path, mode) in modes.into_iter().rev() {
            self.sftp.set_mode(&path, mode).await?;
        }
        Ok(())
    }

    async fn names(&self, of: &Pending) -> Result<Vec<OsString>, TransferError> {
        let folder = of.folder.clone();
        // One more than allowed is enough to refuse.
        let room = self.account.room();
        let names = blocking(move || folder.names(room))
            .await
            .map_err(|source| local(&of.local, source))?;
        self.account.check_entries(names.len())?;
        Ok(names)
    }

    /// Copies a file, or returns a folder to copy later.
    async fn entry(
        &mut self,
        of: &Pending,
        name: OsString,
    ) -> Result<Option<Pending>, TransferError> {
        let path = of.local.join(&name);
        let Some(text) = name.to_str() else {
            return Err(TransferError::Name { name: path.display().to_string() });
        };
        let remote = format!("{}/{text}", of.remote.trim_end_matches('/'));
        let folder = of.folder.clone();
        let opened = blocking(move || folder.entry(&name)).await;
        match opened.map_err(|source| local(&path, source))? {
            Local::File(source) => {
                self.file(source, &path, &remote).await?;
                Ok(None)
            }
            Local::Folder(folder) => {
                Ok(Some(Pending { folder, local: path, remote, depth: of.depth + 1 }))
            }
            Local::Other => {
                self.account.leave_out(path.display().to_string())?;
                Ok(None)
            }
        }
    }

    /// Makes sure that a folder exists on the host. True: it is new.
    async fn make_folder(&self, path: &str) -> Result<bool, TransferError> {
        match self.sftp.lstat(path).await? {
            None => self.sftp.make_folder(path).await.map(|()| true),
            Some(found) if found.file_type() == FileType::Dir => Ok(false),
            Some(_) => {
                let reason = "exists on the host and is not a folder; links are not followed";
                Err(TransferError::Kind { path: path.to_owned(), reason })
            }
        }
    }

    async fn file(&mut self, source: Source, from: &Path, to: &str) -> Result<(), TransferError> {
        self.account.file()?;
        if let Some(found) = self.sftp.stat(to).await?
            && found.file_type() == FileType::Dir
        {
            let reason = "is a folder on the host: name the file in it";
            return Err(TransferError::Kind { path: to.to_owned(), reason });
        }
        let Source { mut file, mode, modified } = source;
        let temporary = temporary_name(to);
        let handle = self.sftp.create(&temporary).await?;
        let mut writes = self.sftp.writes(&temporary, &handle);
        loop {
            let (given_back, blocks) =
                blocking(move || read_blocks(file)).await.map_err(|source| local(from, source))?;
            file = given_back;
            if blocks.is_empty() {
                break;
            }
            for block in blocks {
                self.account.bytes(block.len())?;
                writes.write(block).await?;
            }
        }
        let copied = writes.finish().await?;
        let kept = FileAttributes {
            permissions: Some(mode),
            atime: Some(modified),
            mtime: Some(modified),
            ..FileAttributes::empty()
        };
        self.sftp.set_file_attributes(&temporary, &handle, kept).await?;
        let size = self.sftp.file_attributes(&temporary, &handle).await?.size.unwrap_or(copied);
        self.sftp.close(&temporary, handle).await?;
        if size != copied {
            return Err(TransferError::Size { path: to.to_owned(), copied: size, size: copied });
        }
        self.sftp.rename(&temporary, to).await
    }
}

/// Reads some blocks; an empty list is the end.
fn read_blocks(mut file: std::fs::File) -> io::Result<(std::fs::File, Vec<Vec<u8>>)> {
    let mut blocks = Vec::new();
    for _ in 0..BLOCKS {
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        Read::by_ref(&mut file).take(BLOCK_BYTES as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            break;
        }
        blocks.push(block);
    }
    Ok((file, blocks))
}
