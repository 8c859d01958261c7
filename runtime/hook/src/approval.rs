//! A person's yes to a client that is unable to ask: a call that waits under a code, and its approval.
//!
//! The hook denies the call and names a code. `relay approve CODE`, in a terminal of the person's own,
//! shows the call and signs its approval with a key of that person. The next call that is the same to
//! the byte, in the same folder, by the same caller, under the same bundle, takes the approval away
//! and runs, once.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ed25519_dalek::Signature;
use relay_bundle::Digest;
use relay_bundle::trust::PublicKey;
use relay_machine::clock;
use relay_machine::file::text_file;
use serde::{Deserialize, Serialize};

/// The letters of a code, which look different from each other.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// The letters in a code.
const CODE_CHARS: usize = 10;
/// The most calls that wait; the oldest are forgotten.
const WAITING_MAX: usize = 64;
/// A call that waits is forgotten after this time.
const WAITS_FOR: Duration = Duration::from_secs(3600);
/// The seconds for which a yes counts, unless the rule says it.
const TTL_S: u32 = 300;
/// The most bytes of the shown text of a call; a longer one has to be refused.
const SHOWN_BYTES_MAX: usize = 64 << 10;
/// The public key of the person, in the state folder.
const PUBLIC_KEY: &str = "approve.pub";
/// The beginning of every signed text.
const CONTEXT: &str = "relay approval 1";

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// The digest of everything that the approval is bound to.
    pub key: String,
    /// The tool, as rules name it.
    pub tool: String,
    /// The text for a shell, or the arguments as JSON.
    pub text: String,
    /// The folder.
    pub cwd: String,
    /// The caller.
    pub principal: String,
    /// The client.
    pub client: String,
    /// The tier.
    pub tier: u8,
    /// The reason, with the rule's place.
    pub reason: String,
    /// The digest of the bundle.
    pub bundle: String,
    /// The time of the call, in seconds since 1970.
    pub asked: u64,
    /// The seconds for which a yes counts.
    pub ttl_s: u32,
}

/// The approval of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    key: String,
    /// The time until which it counts, in seconds since 1970.
    until: u64,
    /// The signature of the person, in hexadecimal digits.
    signature: String,
}

/// The reason for refusing to approve.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says it, with its fields")]
pub enum ApprovalError {
    #[error("`{0}` is no code: a code has {CODE_CHARS} letters and digits")]
    NoCode(String),
    #[error(
        "no call waits under the code {0}: it was approved and ran, or was forgotten after an hour"
    )]
    Unknown(String),
    #[error("the waiting call cannot be read: {0}")]
    Read(io::Error),
    #[error("the waiting call is damaged")]
    Damaged,
}

/// Returns the code of a key.
fn code(key: &Digest) -> String {
    let letters = key.0.iter().take(CODE_CHARS);
    letters.map(|byte| char::from(*LETTERS.get(usize::from(byte % 32)).unwrap_or(&b'a'))).collect()
}

fn folder(state: &Path) -> PathBuf {
    state.join("approvals")
}

/// Lets a call wait, and returns its code; `None` if its text is too long to be shown to a person.
pub(crate) fn wait(state: &Path, key: &Digest, waiting: &Waiting) -> io::Result<Option<String>> {
    if waiting.text.len() > SHOWN_BYTES_MAX {
        return Ok(None);
    }
    let folder = folder(state);
    DirBuilder::new().mode(0o700).recursive(true).create(&folder)?;
    forget(&folder)?;
    let code = code(key);
    replace(&folder, &format!("{code}.json"), &serde_json::to_string(waiting)?)?;
    Ok(Some(code))
}

/// Returns the seconds for which a yes counts.
pub(crate) fn ttl_s(of_rule: Option<u32>) -> u32 {
    of_rule.unwrap_or(TTL_S)
}

/// Removes the oldest waiting calls, and those that wait too long.
fn forget(folder: &Path) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        all.extend(modified.ok().map(|time| (time, entry.path())));
    }
    all.sort();
    let surplus = all.len().saturating_sub(WAITING_MAX);
    for (place, (time, path)) in all.into_iter().enumerate() {
        if place < surplus || time.elapsed().is_ok_and(|age| age > WAITS_FOR) {
            _ = fs::remove_file(path);
        }
    }
    Ok(())
}

/// Writes a file whole, in the place of one that is there.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let part = folder.join(format!("{name}.{}.part", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(text.as_bytes())?;
    fs::rename(part, folder.join(name))
}

/// Returns the call that waits under a code.
///
/// # Errors
///
/// It is missing or unreadable.
pub fn waiting(state: &Path, code: &str) -> Result<Waiting, ApprovalError> {
    let is_code = code.len() == CODE_CHARS && code.bytes().all(|byte| LETTERS.contains(&byte));
    if !is_code {
        let shown = code.chars().filter(|letter| !letter.is_control()).take(40).collect();
        return Err(ApprovalError::NoCode(shown));
    }
    let text = match text_file::read(&folder(state).join(format!("{code}.json"))) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ApprovalError::Unknown(code.to_owned()));
        }
        Err(error) => return Err(ApprovalError::Read(error)),
    };
    serde_json::from_str(&text).map_err(|_| ApprovalError::Damaged)
}

/// Returns the path of the person's public key.
#[must_use]
pub fn public_key_path(state: &Path) -> PathBuf {
    state.join(PUBLIC_KEY)
}

/// Returns the text that a person's key signs.
#[must_use]
pub fn signed(waiting: &Waiting, until: u64) -> String {
    format!("{CONTEXT}\n{}\n{until}\n", waiting.key)
}

/// Keeps the approval of a call until a time, with the signature of [`signed`].
///
/// # Errors
///
/// Writing the state folder fails.
pub fn approve(
    state: &Path,
    waiting: &Waiting,
    until: u64,
    signature: &Signature,
) -> io::Result<()> {
    let signature: String = signature.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let approval = Approval { key: waiting.key.clone(), until, signature };
    let name = format!("{}.yes", approval.key);
    replace(&folder(state), &name, &serde_json::to_string(&approval)?)
}

/// Takes the approval of a call away; returns whether there was a good one. Of two calls at once, one
/// gets it.
pub(crate) fn take(state: &Path, key: &Digest) -> bool {
    let folder = folder(state);
    let hex = key.hex();
    let own = folder.join(format!("{hex}.{}.taken", std::process::id()));
    if fs::rename(folder.join(format!("{hex}.yes")), &own).is_err() {
        return false;
    }
    let is_good = is_good(state, &own, &hex);
    _ = fs::remove_file(own);
    if is_good {
        _ = fs::remove_file(folder.join(format!("{}.json", code(key))));
    }
    is_good
}

fn is_good(state: &Path, path: &Path, key: &str) -> bool {
    let read = |path: &Path| text_file::read(path).ok();
    let public = read(&public_key_path(state));
    let public = public.and_then(|text| PublicKey::parse(text.split_whitespace().next()?));
    let approval = read(path).and_then(|text| serde_json::from_str::<Approval>(&text).ok());
    let (Some(PublicKey(public)), Some(approval)) = (public, approval) else { return false };
    let Some(signature) = bytes(&approval.signature) else { return false };
    let text = format!("{CONTEXT}\n{key}\n{}\n", approval.until);
    approval.key == key
        && clock::unix_seconds() <= approval.until
        && public.verify_strict(text.as_bytes(), &Signature::from_bytes(&signature)).is_ok()
}

fn bytes(hex: &str) -> Option<[u8; 64]> {
    let mut bytes = [0; 64];
    if hex.len() != 2 * bytes.len() {
        return None;
    }
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(bytes)
}
