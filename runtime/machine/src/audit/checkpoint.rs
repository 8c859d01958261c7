//! The key of a server's checkpoints, and the checkpoints that it keeps outside of the audit file.
//!
//! Both lie in a folder of the server. The key signs checkpoints alone, so a server with it can sign
//! nothing else that is trusted.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::{Signer as _, SigningKey};
use relay_bundle::Digest;
use relay_bundle::envelope::key_id;
use relay_bundle::trust::PublicKey;
use relay_engine::audit_chain::Link;
use relay_engine::audit_checkpoint::{Checkpoint, signed_text};
use relay_engine::system_error::reason;
use rustix::rand::{GetRandomFlags, getrandom};
use tempfile::NamedTempFile;
use thiserror::Error;
use zeroize::Zeroizing;

use super::locked::Locked;
use crate::file::regular_file;

/// The files of the key.
const PRIVATE_KEY: &str = "audit-checkpoint.key";
const PUBLIC_KEY: &str = "audit-checkpoint.pub";
/// The mode of the public half.
const PUBLIC_MODE: u32 = 0o644;
/// The hexadecimal digits of a private key.
const KEY_CHARS: usize = 64;
/// The most checkpoints that are kept, the newest ones.
const KEPT_MAX: usize = 64;
/// The most bytes of the kept checkpoints: each is a line of less than a kilobyte.
const KEPT_BYTES_MAX: u64 = 256 << 10;

/// The key of checkpoints, and the file of the kept ones.
#[derive(Debug)]
pub struct Checkpoints {
    key: SigningKey,
    id: String,
    file: PathBuf,
    public: PathBuf,
}

/// An error of the folder of checkpoints.
#[derive(Debug, Error)]
#[error("cannot sign checkpoints of the audit with `{}`: {}", path.display(), reason(source))]
pub struct CheckpointError {
    path: PathBuf,
    source: io::Error,
}

impl Checkpoints {
    /// Reads the key in `folder`, created with the folder if missing. Checkpoints of the audit file
    /// at `audit` are kept there too.
    ///
    /// # Errors
    ///
    /// Making or reading the folder or the key fails, or others may read the key.
    pub fn open(folder: &Path, audit: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(PRIVATE_KEY);
        let failed = |source| CheckpointError { path: path.clone(), source };
        DirBuilder::new().mode(0o700).recursive(true).create(folder).map_err(failed)?;
        let key = read_or_make(folder, &path).map_err(failed)?;
        let public = folder.join(PUBLIC_KEY);
        write_public(&key, &public).map_err(failed)?;
        let audit = audit.canonicalize().unwrap_or_else(|_| audit.to_owned());
        let name = Digest::of(audit.as_os_str().as_encoded_bytes()).hex();
        let file = format!("audit-checkpoints-{}.jsonl", name.get(..16).unwrap_or_default());
        Ok(Self { id: key_id(&key.verifying_key()), key, file: folder.join(file), public })
    }

    /// Returns the id of the key.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.id
    }

    /// Returns the file of the public half of the key.
    #[must_use]
    pub fn public_key(&self) -> &Path {
        &self.public
    }

    /// Returns the file of the kept checkpoints.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Signs the chain up to a record.
    #[must_use]
    pub fn sign(&self, covers: Link) -> Checkpoint {
        let signature = self.key.sign(signed_text(covers, &self.id).as_bytes()).to_bytes();
        Checkpoint { covers, key: self.id.clone(), signature }
    }

    /// Keeps a checkpoint, a line of the audit file, beside the newest others.
    ///
    /// # Errors
    ///
    /// Writing the file fails.
    pub fn keep(&self, line: &str) -> io::Result<()> {
        let lock = self.file.with_extension("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(regular_file::without_waiting())
            .open(lock)?;
        let _locked = Locked::of(&Arc::new(lock))?;
        let mut kept = String::new();
        match regular_file::open(&self.file) {
            Ok(file) => _ = file.take(KEPT_BYTES_MAX).read_to_string(&mut kept)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let lines: Vec<&str> = kept.lines().chain([line]).collect();
        let surplus = lines.len().saturating_sub(KEPT_MAX);
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let mut new = NamedTempFile::new_in(folder)?;
        for line in lines.into_iter().skip(surplus) {
            writeln!(new, "{line}")?;
        }
        new.as_file().sync_data()?;
        new.persist(&self.file)?;
        Ok(())
    }
}

/// Reads the key; makes one if its file is missing. If another program is faster, its key is used.
fn read_or_make(folder: &Path, path: &Path) -> io::Result<SigningKey> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    let mut seed = Zeroizing::new([0; 32]);
    // The system call itself: a container may be empty, `/dev` included.
    if getrandom(&mut *seed, GetRandomFlags::empty())? < seed.len() {
        return Err(io::Error::other("the system provides no randomness"));
    }
    let hex = Zeroizing::new(base16ct::lower::encode_string(&*seed));
    // A temporary file is for its owner alone.
    let mut new = NamedTempFile::new_in(folder)?;
    writeln!(new, "{}", *hex)?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.error),
    }
    read(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Reads the key, if its file exists.
fn read(path: &Path) -> io::Result<Option<SigningKey>> {
    let file = match regular_file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other("others can read or change it (`chmod 600`)"));
    }
    let mut hex = Zeroizing::new(String::new());
    file.take(KEY_CHARS as u64 + 2).read_to_string(&mut hex)?;
    let mut seed = Zeroizing::new([0; 32]);
    let read = base16ct::lower::decode(hex.trim_end(), &mut *seed).map(<[u8]>::len);
    match read {
        Ok(32) => Ok(Some(SigningKey::from_bytes(&seed))),
        _ => Err(io::Error::other(
            "it is not a key of 64 hexadecimal digits: remove it, and the server makes another",
        )),
    }
}

/// Writes the public half of the key, unless it is there.
fn write_public(key: &SigningKey, path: &Path) -> io::Result<()> {
    let line = format!("{} audit-checkpoint\n", PublicKey(key.verifying_key()));
    if fs::read_to_string(path).is_ok_and(|found| found == line) {
        return Ok(());
    }
    let mut new = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    new.write_all(line.as_bytes())?;
    new.as_file().set_permissions(fs::Permissions::from_mode(PUBLIC_MODE))?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_its_checkpoints_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        let audit = folder.path().join("audit.jsonl");
        let one = Checkpoints::open(&state, &audit).expect("a key");
        let two = Checkpoints::open(&state, &audit).expect("the key");
        assert_eq!(one.key_id(), two.key_id());
        let mode = fs::metadata(state.join(PRIVATE_KEY)).expect("a key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for number in 0..100 {
            one.keep(&format!("line {number}")).expect("it is kept");
        }
        let kept = fs::read_to_string(one.path()).expect("the file");
        assert_eq!(kept.lines().count(), KEPT_MAX);
        assert!(kept.ends_with("line 98\nline 99\n"));
        fs::set_permissions(state.join(PRIVATE_KEY), fs::Permissions::from_mode(0o644)).expect("x");
        let error = Checkpoints::open(&state, &audit).expect_err("others can read it");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}
