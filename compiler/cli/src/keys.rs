//! Signing keys: files in PKCS#8 PEM that only their owner may read.
//!
//! Secret bytes are wiped when they are dropped, and kept out of all output.

use std::fmt;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey};
use relay_bundle::Bundle;
use relay_bundle::envelope::{Envelope, EnvelopeError, key_id};
use relay_bundle::trust::PublicKey;
use zeroize::{Zeroize, Zeroizing};

use crate::disk::{self, Access};
use crate::environment;
use crate::failure::Failure;
use crate::kind::{self, Wanted};
use crate::output::Output;
use crate::shell;
use crate::text::shown_path;

/// A key file has a few lines.
pub(crate) const KEY_BYTES_MAX: u64 = 16 * 1024;

/// A signing key and its name.
pub(crate) struct Key {
    /// The secret.
    pub(crate) signing: SigningKey,
    /// The name of its file, before the extension.
    pub(crate) name: String,
}

/// Returns the envelope of a new bundle with the signatures of `keys`; `None` if there are no keys.
pub(crate) fn envelope(bundle: &Bundle, keys: &[Key]) -> Result<Option<Envelope>, EnvelopeError> {
    if keys.is_empty() {
        return Ok(None);
    }
    let mut envelope = Envelope::unsigned(bundle)?;
    for key in keys {
        envelope.sign(&key.signing)?;
    }
    Ok(Some(envelope))
}

/// The paths of the private and the public key file.
pub(crate) struct KeyFiles {
    /// The private key.
    pub(crate) private: PathBuf,
    /// The public key, for verifiers.
    pub(crate) public: PathBuf,
}

impl Key {
    /// Generates a new key.
    pub(crate) fn generate(name: &str) -> Result<Self, Failure> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| {
            Failure::error(format!("the system provides no randomness: {error}"))
        })?;
        Ok(Self { signing: SigningKey::from_bytes(&seed), name: name.into() })
    }

    /// Reads a key file.
    pub(crate) fn read(path: &Path, output: &mut Output) -> Result<Self, Failure> {
        kind::refuse_others(path, Wanted::Key)?;
        let text = disk::read_text(path, KEY_BYTES_MAX).map(Zeroizing::new).map_err(|failure| {
            let name = path.with_extension("").to_string_lossy().into_owned();
            failure.help(format!("`relay keygen -o {}` makes a key", shell::word(&name)))
        })?;
        let signing = SigningKey::from_pkcs8_pem(&text).map_err(|_| not_private(path, &text))?;
        warn_if_readable_by_others(path, output);
        Ok(Self { signing, name: name_of(path) })
    }

    /// Returns the key's id, as in signatures.
    pub(crate) fn id(&self) -> String {
        key_id(&self.signing.verifying_key())
    }

    /// Returns the public key.
    pub(crate) fn public(&self) -> PublicKey {
        PublicKey(self.signing.verifying_key())
    }

    /// Writes both keys to new files. Returns false if a file already exists.
    pub(crate) fn write(&self, files: &KeyFiles) -> Result<bool, Failure> {
        let mut pem = self
            .signing
            .to_pkcs8_pem(LineEnding::LF)
            .map_err(|error| Failure::error(format!("the key cannot be written: {error}")))?;
        let written = disk::create(&files.private, pem.as_bytes(), Access::Owner);
        pem.zeroize();
        Ok(written?
            && disk::create(&files.public, self.public_line().as_bytes(), Access::AllUsers)?)
    }

    /// Returns the contents of the public file.
    pub(crate) fn public_line(&self) -> String {
        format!("{} {}\n", self.public(), self.name)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).field("id", &self.id()).finish()
    }
}

impl KeyFiles {
    /// Returns `NAME.key` and `NAME.pub`.
    pub(crate) fn named(name: &Path) -> Self {
        let ending = |ending: &str| {
            let mut path = name.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        Self { private: ending(".key"), public: ending(".pub") }
    }
}

/// Returns the key by which this user approves calls of agents, generated on first use.
pub(crate) fn approval_key(output: &mut Output) -> Result<Key, Failure> {
    let Some(folder) = environment::data_folder() else {
        return Err(Failure::error(
            "cannot store your key for approvals: neither XDG_DATA_HOME nor HOME is set",
        ));
    };
    let files = KeyFiles::named(&folder.join("approve"));
    if made_if_missing(&files, &folder, "approve")? {
        output.note(format_args!(
            "made a key for your approvals in `{}`",
            shown_path(&files.private)
        ));
    }
    Key::read(&files.private, output)
}

/// Generates a key unless its file exists; returns whether it did. If another process was faster, its
/// key is used.
fn made_if_missing(files: &KeyFiles, folder: &Path, name: &str) -> Result<bool, Failure> {
    if files.private.exists() {
        return Ok(false);
    }
    disk::create_private_folder(folder)?;
    Key::generate(name)?.write(files)
}

/// Returns this user's dev key, generated on first use.
///
/// With it, a first build needs no `relay keygen`. Servers trust it on stdio and loopback only.
pub(crate) fn dev_key(output: &mut Output) -> Result<Key, Failure> {
    let help = "sign with --key FILE (`relay keygen` makes one), or build with --unsigned";
    if environment::is_ci() {
        return Err(Failure::error(
            "no signing key: CI is set, and the dev key is for interactive use only",
        )
        .help(help));
    }
    let Some(folder) = environment::data_folder() else {
        return Err(Failure::error(
            "cannot store the dev key: neither XDG_DATA_HOME nor HOME is set",
        )
        .help(help));
    };
    let files = KeyFiles::named(&folder.join("dev"));
    if made_if_missing(&files, &folder, "dev")? {
        output.note(format_args!(
            "made a dev key for you in `{}`; servers trust it on stdio and loopback only",
            shown_path(&files.private)
        ));
    }
    let key = Key::read(&files.private, output)?;
    // The public file may be of an earlier key, or of none: servers trust its key alone.
    let line = key.public_line();
    if disk::read_text(&files.public, KEY_BYTES_MAX).ok().as_deref() != Some(&line) {
        disk::replace(&files.public, line.as_bytes())?;
    }
    Ok(key)
}

/// Returns the error for a file that is something else than a private key.
fn not_private(path: &Path, text: &str) -> Failure {
    let what = match text.trim_start() {
        text if text.starts_with("ed25519:") => "it is a public key",
        text if text.starts_with("rk_") => "it is an API key, which clients send to a server",
        _ => "it is not an Ed25519 private key in PKCS#8 PEM",
    };
    let failure = Failure::error(format!("cannot sign with `{}`: {what}", shown_path(path)));
    let private = path.with_extension("key");
    if private != path && private.is_file() {
        return failure.help(format!("give its private key: `--key {}`", shown_path(&private)));
    }
    failure.help("give the .key file that `relay keygen` wrote")
}

/// Returns the name of the key in this file.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_stem().map_or_else(|| "key".into(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(unix)]
fn warn_if_readable_by_others(path: &Path, output: &mut Output) {
    use std::os::unix::fs::PermissionsExt;
    const GROUP_AND_OTHERS: u32 = 0o077;
    let mode = std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
    if mode & GROUP_AND_OTHERS != 0 {
        output.warn(
            &format!("others can read or change the private key `{}`", shown_path(path)),
            &format!("chmod 600 {}", shown_path(path)),
        );
    }
}

#[cfg(not(unix))]
fn warn_if_readable_by_others(_: &Path, _: &mut Output) {}
