//! Files on this machine, reached from an open folder. Links are left alone.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::fs::{Timespec, Timestamps};
use rustix::fs::{fchmod, fstat, futimens, mkdirat, open, openat, renameat, statat, unlinkat};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Clone)]
pub(super) struct Folder(Arc<OwnedFd>);

/// An entry of a folder, open.
pub(super) enum Local {
    File(Source),
    Folder(Folder),
    /// A link, a device and the like.
    Other,
}

/// A file on this machine, open, with the attributes that a transfer keeps.
pub(super) struct Source {
    pub(super) file: File,
    pub(super) mode: u32,
    pub(super) modified: u32,
}

/// A file that is removed unless it gets its name.
pub(super) struct Temporary {
    folder: Folder,
    name: Option<OsString>,
    file: File,
}

impl Folder {
    /// Opens a folder that the caller names. Links in this path are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(Arc::new(open(path, FOLDER, Mode::empty())?)))
    }

    /// Opens a folder in this one, and creates it if it is missing.
    pub(super) fn enter(&self, name: &OsStr, create: bool) -> io::Result<Self> {
        if create {
            match mkdirat(&self.0, name, Mode::RWXU) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Self(Arc::new(openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)))
    }

    /// Returns the names in the folder, sorted. At most `limit` and one.
    pub(super) fn names(&self, limit: usize) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            names.push(OsStr::from_bytes(name).to_owned());
            if names.len() > limit {
                break;
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens an entry of the folder, unless it is a link.
    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Local> {
        let found = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => self.source(name).map(Local::File),
            FileType::Directory => self.enter(name, false).map(Local::Folder),
            _ => Ok(Local::Other),
        }
    }

    pub(super) fn mode(&self) -> io::Result<u32> {
        Ok(fstat(&self.0)?.st_mode & 0o777)
    }

    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(&self.0, Mode::from_raw_mode(mode))?)
    }

    /// Opens a regular file in the folder.
    fn source(&self, name: &OsStr) -> io::Result<Source> {
        // A FIFO in the place of the file would hold the caller.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Source::new(openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Creates a temporary file in the folder, readable by its owner alone.
    pub(super) fn temporary(&self, name: OsString) -> io::Result<Temporary> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.0, &name, flags, Mode::RUSR | Mode::WUSR)?.into();
        Ok(Temporary { folder: self.clone(), name: Some(name), file })
    }
}

impl Source {
    /// Opens a regular file that the caller names. Links in this path are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Self::new(open(path, flags, Mode::empty())?.into())
    }

    fn new(file: File) -> io::Result<Self> {
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        let modified = u32::try_from(found.st_mtime).unwrap_or_default();
        Ok(Self { file, mode: found.st_mode & 0o777, modified })
    }
}

impl Temporary {
    /// Returns a handle to write with.
    pub(super) fn writer(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Sets permissions and time, and gives the file its name.
    pub(super) fn finish(
        mut self,
        name: &OsStr,
        mode: Option<u32>,
        modified: Option<u32>,
    ) -> io::Result<()> {
        if let Some(mode) = mode {
            fchmod(&self.file, Mode::from_raw_mode(mode & 0o777))?;
        }
        if let Some(seconds) = modified {
            let time = Timespec { tv_sec: seconds.into(), tv_nsec: 0 };
            futimens(&self.file, &Timestamps { last_access: time, last_modification: time })?;
        }
        if let Some(temporary) = &self.name {
            renameat(&self.folder.0, temporary, &self.folder.0, name)?;
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // The folder may be gone; then the file is too.
            let _ = unlinkat(&self.folder.0, name, AtFlags::empty());
        }
    }
}
