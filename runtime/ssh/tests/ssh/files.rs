//! SFTP of the test server, on the files of this machine.
//!
//! Opening a path that ends in `stall` never answers; a rename to one that ends in `late` answers late.

use std::collections::{BTreeMap, HashMap};
use std::fs::FileTimes;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::time::{Duration, UNIX_EPOCH};

use russh_sftp::protocol::{
    Attrs, Data, FileAttributes, Handle, Name, OpenFlags, Packet, Status, StatusCode, Version,
};
use russh_sftp::server::{Handler, StatusReply};

pub(crate) struct Files {
    listed: Vec<String>,
    plain_rename: bool,
    next: u32,
    open: BTreeMap<String, Open>,
}

enum Open {
    File(File),
    Folder(Vec<russh_sftp::protocol::File>),
}

impl Files {
    pub(crate) fn new(listed: Vec<String>, plain_rename: bool) -> Self {
        Self { listed, plain_rename, next: 0, open: BTreeMap::new() }
    }

    fn insert(&mut self, id: u32, open: Open) -> Handle {
        self.next += 1;
        let handle = self.next.to_string();
        self.open.insert(handle.clone(), open);
        Handle { id, handle }
    }

    fn file(&self, handle: &str) -> Result<&File, StatusReply> {
        match self.open.get(handle) {
            Some(Open::File(file)) => Ok(file),
            _ => Err(StatusCode::Failure.into()),
        }
    }
}

fn code(error: io::Error) -> StatusReply {
    match error.kind() {
        io::ErrorKind::NotFound => StatusCode::NoSuchFile.into(),
        io::ErrorKind::PermissionDenied => StatusCode::PermissionDenied.into(),
        _ => StatusCode::Failure.into(),
    }
}

fn ok(id: u32) -> Status {
    let (error_message, language_tag) = ("Ok".to_owned(), String::new());
    Status { id, status_code: StatusCode::Ok, error_message, language_tag }
}

fn attributes(found: &Metadata) -> FileAttributes {
    FileAttributes {
        size: Some(found.len()),
        permissions: Some(found.mode()),
        atime: Some(0),
        mtime: Some(u32::try_from(found.mtime()).unwrap()),
        ..FileAttributes::empty()
    }
}

impl Handler for Files {
    type Error = StatusReply;

    fn unimplemented(&self) -> Self::Error {
        StatusCode::OpUnsupported.into()
    }

    async fn init(&mut self, _: u32, _: HashMap<String, String>) -> Result<Version, Self::Error> {
        let mut version = Version::new();
        if !self.plain_rename {
            version.extensions.insert("posix-rename@openssh.com".to_owned(), "1".to_owned());
        }
        Ok(version)
    }

    async fn open(
        &mut self,
        id: u32,
        filename: String,
        flags: OpenFlags,
        attrs: FileAttributes,
    ) -> Result<Handle, Self::Error> {
        if filename.ends_with("stall") {
            std::future::pending::<()>().await;
        }
        let mut options = OpenOptions::new();
        options.read(flags.contains(OpenFlags::READ)).write(flags.contains(OpenFlags::WRITE));
        options.create_new(flags.contains(OpenFlags::CREATE | OpenFlags::EXCLUDE));
        options.mode(attrs.permissions.unwrap_or(0o644));
        let file = options.open(filename).map_err(code)?;
        Ok(self.insert(id, Open::File(file)))
    }

    async fn close(&mut self, id: u32, handle: String) -> Result<Status, Self::Error> {
        self.open.remove(&handle);
        Ok(ok(id))
    }

    async fn read(
        &mut self,
        id: u32,
        handle: String,
        offset: u64,
        len: u32,
    ) -> Result<Data, Self::Error> {
        // Less than asked, as a server may do.
        let mut data = vec![0; (len as usize).min(20_000)];
        let read = self.file(&handle)?.read_at(&mut data, offset).map_err(code)?;
        if read == 0 {
            return Err(StatusCode::Eof.into());
        }
        data.truncate(read);
        Ok(Data { id, data })
    }

    async fn write(
        &mut self,
        id: u32,
        handle: String,
        offset: u64,
        data: Vec<u8>,
    ) -> Result<Status, Self::Error> {
        self.file(&handle)?.write_all_at(&data, offset).map_err(code)?;
        Ok(ok(id))
    }

    async fn realpath(&mut self, id: u32, path: String) -> Result<Name, Self::Error> {
        let real = fs::canonicalize(path).map_err(code)?;
        let file = russh_sftp::protocol::File::dummy(real.to_str().unwrap());
        Ok(Name { id, files: vec![file] })
    }

    async fn lstat(&mut self, id: u32, path: String) -> Result<Attrs, Self::Error> {
        Ok(Attrs { id, attrs: attributes(&fs::symlink_metadata(path).map_err(code)?) })
    }

    async fn stat(&mut self, id: u32, path: String) -> Result<Attrs, Self::Error> {
        Ok(Attrs { id, attrs: attributes(&fs::metadata(path).map_err(code)?) })
    }

    async fn fstat(&mut self, id: u32, handle: String) -> Result<Attrs, Self::Error> {
        Ok(Attrs { id, attrs: attributes(&self.file(&handle)?.metadata().map_err(code)?) })
    }

    async fn setstat(
        &mut self,
        id: u32,
        path: String,
        attrs: FileAttributes,
    ) -> Result<Status, Self::Error> {
        let mode = fs::Permissions::from_mode(attrs.permissions.unwrap());
        fs::set_permissions(path, mode).map_err(code)?;
        Ok(ok(id))
    }

    async fn fsetstat(
        &mut self,
        id: u32,
        handle: String,
        attrs: FileAttributes,
    ) -> Result<Status, Self::Error> {
        let file = self.file(&handle)?;
        file.set_permissions(fs::Permissions::from_mode(attrs.permissions.unwrap()))
            .map_err(code)?;
        let time = UNIX_EPOCH + Duration::from_secs(attrs.mtime.unwrap().into());
        file.set_times(FileTimes::new().set_modified(time)).map_err(code)?;
        Ok(ok(id))
    }

    async fn opendir(&mut self, id: u32, path: String) -> Result<Handle, Self::Error> {
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(code)? {
            let entry = entry.map_err(code)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let found = fs::symlink_metadata(entry.path()).map_err(code)?;
            files.push(russh_sftp::protocol::File::new(name, attributes(&found)));
        }
        for name in &self.listed {
            let attrs = FileAttributes { permissions: Some(0o100_644), ..FileAttributes::empty() };
            files.push(russh_sftp::protocol::File::new(name.clone(), attrs));
        }
        Ok(self.insert(id, Open::Folder(files)))
    }

    async fn readdir(&mut self, id: u32, handle: String) -> Result<Name, Self::Error> {
        match self.open.get_mut(&handle) {
            Some(Open::Folder(files)) if !files.is_empty() => {
                Ok(Name { id, files: std::mem::take(files) })
            }
            _ => Err(StatusCode::Eof.into()),
        }
    }

    async fn remove(&mut self, id: u32, filename: String) -> Result<Status, Self::Error> {
        fs::remove_file(filename).map_err(code)?;
        Ok(ok(id))
    }

    async fn mkdir(
        &mut self,
        id: u32,
        path: String,
        attrs: FileAttributes,
    ) -> Result<Status, Self::Error> {
        fs::create_dir(&path).map_err(code)?;
        let mode = fs::Permissions::from_mode(attrs.permissions.unwrap());
        fs::set_permissions(path, mode).map_err(code)?;
        Ok(ok(id))
    }

    async fn rename(
        &mut self,
        id: u32,
        oldpath: String,
        newpath: String,
    ) -> Result<Status, Self::Error> {
        if fs::exists(&newpath).map_err(code)? {
            return Err(StatusCode::Failure.into());
        }
        fs::rename(oldpath, &newpath).map_err(code)?;
        if newpath.ends_with("late") {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
        Ok(ok(id))
    }

    async fn extended(
        &mut self,
        id: u32,
        request: String,
        data: Vec<u8>,
    ) -> Result<Packet, Self::Error> {
        if request != "posix-rename@openssh.com" || self.plain_rename {
            return Err(StatusCode::OpUnsupported.into());
        }
        let mut rest = data.as_slice();
        let mut next = || {
            let (length, tail) = rest.split_first_chunk::<4>().unwrap();
            let (text, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
            rest = tail;
            String::from_utf8(text.to_vec()).unwrap()
        };
        let (from, to) = (next(), next());
        fs::rename(from, to).map_err(code)?;
        Ok(Packet::Status(ok(id)))
    }
}
