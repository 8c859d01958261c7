//! Private keys from files.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use russh::keys::{Certificate, PrivateKey, PublicKey, decode_secret_key};
use zeroize::Zeroizing;

use super::error::KeyFileError;
use crate::route::Identity;

/// The most bytes of a key or certificate file. An RSA key of 16,384 bits has 13 KB.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The permissions of others, which make a private key unusable.
const OTHERS: u32 = 0o077;

/// A private key and its certificate.
pub(super) struct Loaded {
    pub(super) key: PrivateKey,
    pub(super) certificate: Option<Certificate>,
}

/// Reads an identity. Blocks.
pub(super) fn load(identity: &Identity) -> Result<Loaded, KeyFileError> {
    let path = identity.key.clone();
    let text = read_private(&path)?;
    let key = match decode_secret_key(&text, None) {
        Ok(key) => key,
        Err(russh::keys::Error::KeyIsEncrypted) => return Err(KeyFileError::Encrypted { path }),
        Err(_) if encrypted(&text) => return Err(KeyFileError::Encrypted { path }),
        Err(_) => return Err(KeyFileError::Format { path }),
    };
    let certificate = identity.certificate.as_deref().map(load_certificate).transpose()?;
    if let Some(found) = &certificate
        && found.public_key() != key.public_key().key_data()
    {
        let path = identity.certificate.clone().unwrap_or(path);
        return Err(KeyFileError::Foreign { path });
    }
    Ok(Loaded { key, certificate })
}

/// Returns the public key of an identity, also where the private key has a passphrase. Blocks.
pub(super) fn public_key(identity: &Identity) -> Option<PublicKey> {
    let mut beside = identity.key.clone().into_os_string();
    beside.push(".pub");
    let beside = PathBuf::from(beside);
    let written = read(&beside).ok().and_then(|text| PublicKey::from_openssh(text.trim()).ok());
    written.or_else(|| {
        let text = read_private(&identity.key).ok()?;
        // The public half of this format is in clear text.
        Some(PrivateKey::from_openssh(text.as_bytes()).ok()?.public_key().clone())
    })
}

fn load_certificate(path: &Path) -> Result<Certificate, KeyFileError> {
    let text = read(path)?;
    Certificate::from_openssh(text.trim())
        .map_err(|_| KeyFileError::Certificate { path: path.to_owned() })
}

fn encrypted(text: &str) -> bool {
    text.contains("ENCRYPTED")
        || PrivateKey::from_openssh(text.as_bytes()).is_ok_and(|key| key.is_encrypted())
}

/// Reads a file that only its owner may read.
fn read_private(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let owned = path.to_owned();
    let failed = |source| KeyFileError::Read { path: owned.clone(), source };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    let path = owned.clone();
    let mode = about.mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(KeyFileError::Mode { path, mode });
    }
    let owner = about.uid();
    if owner != rustix::process::geteuid().as_raw() && owner != 0 {
        return Err(KeyFileError::Owner { path, owner });
    }
    read_open(file, &about, path)
}

fn read(path: &Path) -> Result<Zeroizing<String>, KeyFileError> {
    let owned = path.to_owned();
    let failed = |source| KeyFileError::Read { path: owned.clone(), source };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    read_open(file, &about, path.to_owned())
}

fn read_open(
    file: File,
    about: &fs::Metadata,
    path: PathBuf,
) -> Result<Zeroizing<String>, KeyFileError> {
    if !about.is_file() {
        return Err(KeyFileError::Format { path });
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(KeyFileError::Length { path, limit: FILE_BYTES_MAX });
    }
    // Room for the whole file, so that the text stays in one place.
    let room = usize::try_from(about.len()).unwrap_or_default().saturating_add(1);
    let mut text = Zeroizing::new(String::with_capacity(room));
    match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(KeyFileError::Format { path })
        }
        Err(source) => Err(KeyFileError::Read { path, source }),
    }
}
