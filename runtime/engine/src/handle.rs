//! The sealed handle of a briefing. An agent passes it with later calls, so the server is free of
//! sessions.
//!
//! ```text
//! version 1 byte, key id 1 byte, expiry 4 bytes, fingerprint of the bundle 2 bytes,
//! fingerprint of the caller 2 bytes, the sent set, HMAC-SHA-256 truncated to 16 bytes
//! ```
//!
//! in unpadded base64url. Any server with the key accepts it. The tag also covers values outside of
//! the handle: the purpose, the caller, the digest of the bundle and its number of prompts. So a
//! handle is valid for one caller and one bundle; the fingerprints only serve to report the reason
//! for a rejection.
//!
//! The sent set is a bitmap by the prompts' index in the order of names, up to the last byte that
//! is set; or, if shorter, a list of LEB128 numbers, each the distance from the index after the one
//! before. A set has one encoding, bytes have one encoding as text, and all others are rejected: a
//! handle has exactly one text.

mod sent_set;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use relay_bundle::Digest;
use sha2::Sha256;
use thiserror::Error;
use zeroize::Zeroizing;

use self::sent_set::{Form, SENT_BYTES_MAX};
use crate::sent::Sent;

/// Bytes of the secret of a key.
pub const SECRET_BYTES: usize = 32;

/// The most bytes of a handle.
pub const TEXT_BYTES_MAX: usize = ((HEAD_BYTES + SENT_BYTES_MAX + TAG_BYTES) * 4).div_ceil(3);

const VERSION: u8 = 1;
/// The bit of the version byte that marks the sent set as a list.
const LIST: u8 = 0x80;
const HEAD_BYTES: usize = 10;
/// RFC 2104, section 5: at least half of the hash.
const TAG_BYTES: usize = 16;
/// Bytes of a block of SHA-256. HMAC pads a shorter key with zeros.
const BLOCK_BYTES: usize = 64;

const SEAL: &str = "relay briefing handle";
const CALLER: &str = "relay briefing caller";

/// A key that seals handles. Its secret is absent from debug output and is wiped on drop.
#[derive(Clone)]
pub struct Key {
    id: u8,
    secret: Zeroizing<[u8; BLOCK_BYTES]>,
}

/// The values bound to a handle: outside of the handle, and covered by its tag.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The caller, as named by the issuer.
    pub principal: &'a str,
    /// The authorization server that vouches for the caller, if any.
    pub issuer: Option<&'a str>,
    /// The tenant of the caller.
    pub tenant: Option<&'a str>,
    /// The digest of the bundle in force.
    pub bundle: Digest,
    /// The audience of the caller, if the bundle has audiences.
    pub audience: Option<usize>,
    /// The number of prompts that the caller sees.
    pub prompts: usize,
}

/// The reason why a handle is rejected. The messages are for the agent that sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HandleError {
    /// The text has another form than a handle.
    #[error(
        "this is not a briefing that begin_session returned; pass the briefing unchanged, or call begin_session again"
    )]
    Malformed,
    /// It is from a newer server, or has another form than a handle.
    #[error(
        "this briefing is of version {version}, which this server does not know; call begin_session again"
    )]
    UnknownVersion {
        /// Its version.
        version: u8,
    },
    /// It was sealed with a key other than the given ones.
    #[error(
        "this briefing was sealed with key {id}, which this server does not have; call begin_session again"
    )]
    UnknownKey {
        /// The id of the key.
        id: u8,
    },
    /// It was made for another bundle.
    #[error("the prompts have changed since this briefing; call begin_session again")]
    OtherBundle,
    /// It was made for another caller.
    #[error("this briefing belongs to another caller; call begin_session to get your own")]
    OtherCaller,
    /// It was changed after it was sealed, or the caller now sees other prompts.
    #[error(
        "this briefing was changed after it was issued, or your role or groups have changed since; call begin_session again"
    )]
    Altered,
    /// It has expired.
    #[error("this briefing has expired; call begin_session again")]
    Expired {
        /// The minutes since its last valid minute.
        minutes_ago: u32,
    },
}

impl Key {
    /// Returns the key with this id. The secret must be random.
    #[must_use]
    pub fn new(id: u8, secret: [u8; SECRET_BYTES]) -> Self {
        let mut block = Zeroizing::new([0; BLOCK_BYTES]);
        for (to, from) in block.iter_mut().zip(*Zeroizing::new(secret)) {
            *to = from;
        }
        Self { id, secret: block }
    }

    /// Returns the id of the key in handles.
    #[must_use]
    pub fn id(&self) -> u8 {
        self.id
    }

    fn mac(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::new((&*self.secret).into());
        field(&mut mac, purpose.as_bytes());
        mac
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, secret: _ } = self;
        f.debug_struct("Key").field("id", id).finish_non_exhaustive()
    }
}

/// Returns a handle for the set `sent`, valid up to the end of the minute `expires_min` (since
/// 1970).
///
/// A set of more than 2 KiB is truncated: the last prompts in the order of names are omitted, and
/// may be sent again. Indexes beyond the prompts are omitted as well.
#[must_use]
pub fn seal(key: &Key, binding: &Binding<'_>, expires_min: u32, sent: &Sent) -> String {
    let (form, set) = sent_set::encode(sent, binding.prompts);
    let [bundle, caller] = fingerprints(key, binding);
    let mut bytes = vec![VERSION | form.bit(), key.id];
    bytes.extend(expires_min.to_be_bytes());
    bytes.extend(bundle);
    bytes.extend(caller);
    bytes.extend(set);
    let tag = tag(key, binding, &bytes).finalize();
    bytes.extend(tag.as_bytes().iter().take(TAG_BYTES));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the sent set, if `text` is a handle that one of `keys` sealed for `binding` and that is
/// still valid in the minute `now_min` (since 1970).
///
/// # Errors
///
/// The handle is rejected; the error has the reason. Nothing after the key id is used before the
/// tag is verified.
pub fn open(
    keys: &[Key],
    binding: &Binding<'_>,
    now_min: u32,
    text: &str,
) -> Result<Sent, HandleError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(HandleError::Malformed);
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| HandleError::Malformed)?;
    let handle = Parts::of(&bytes).ok_or(HandleError::Malformed)?;
    if handle.version != VERSION {
        return Err(HandleError::UnknownVersion { version: handle.version });
    }
    let id = handle.key_id;
    let key = keys.iter().find(|key| key.id == id).ok_or(HandleError::UnknownKey { id })?;
    // The comparison takes constant time.
    if tag(key, binding, handle.sealed).verify_truncated_left(handle.tag).is_err() {
        return Err(handle.tag_error(fingerprints(key, binding)));
    }
    match now_min.checked_sub(handle.expires_min) {
        None | Some(0) => {}
        Some(minutes_ago) => return Err(HandleError::Expired { minutes_ago }),
    }
    sent_set::decode(handle.form, handle.set, binding.prompts).ok_or(HandleError::Malformed)
}

/// The bytes of a handle, split into its parts.
struct Parts<'a> {
    version: u8,
    form: Form,
    key_id: u8,
    expires_min: u32,
    bundle: [u8; 2],
    caller: [u8; 2],
    set: &'a [u8],
    tag: &'a [u8; TAG_BYTES],
    /// The bytes before the tag.
    sealed: &'a [u8],
}

impl Form {
    fn bit(self) -> u8 {
        match self {
            Self::Bitmap => 0,
            Self::List => LIST,
        }
    }
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (sealed, tag) = bytes.split_last_chunk()?;
        let (head, set) = sealed.split_first_chunk::<HEAD_BYTES>()?;
        let [version, key_id, e0, e1, e2, e3, b0, b1, c0, c1] = *head;
        Some(Self {
            version: version & !LIST,
            form: if version & LIST == 0 { Form::Bitmap } else { Form::List },
            key_id,
            expires_min: u32::from_be_bytes([e0, e1, e2, e3]),
            bundle: [b0, b1],
            caller: [c0, c1],
            set,
            tag,
            sealed,
        })
    }

    /// Returns the most likely reason for a wrong tag.
    fn tag_error(&self, [bundle, caller]: [[u8; 2]; 2]) -> HandleError {
        if self.bundle != bundle {
            HandleError::OtherBundle
        } else if self.caller != caller {
            HandleError::OtherCaller
        } else {
            HandleError::Altered
        }
    }
}

/// Returns the tag over `sealed` and the bound values.
fn tag(key: &Key, binding: &Binding<'_>, sealed: &[u8]) -> Hmac<Sha256> {
    let Binding { bundle: Digest(bundle), audience, prompts, .. } = *binding;
    let mut mac = key.mac(SEAL);
    field(&mut mac, sealed);
    caller(&mut mac, binding);
    field(&mut mac, &bundle);
    field(&mut mac, &(prompts as u64).to_be_bytes());
    // The numbers in a handle mean other prompts for another audience.
    if let Some(audience) = audience {
        field(&mut mac, &(audience as u64).to_be_bytes());
    }
    mac
}

/// Returns the fingerprints of bundle and caller. The one of the caller reveals nothing without the
/// key.
fn fingerprints(key: &Key, binding: &Binding<'_>) -> [[u8; 2]; 2] {
    let Digest([b0, b1, ..]) = binding.bundle;
    let mut mac = key.mac(CALLER);
    caller(&mut mac, binding);
    let [c0, c1, ..]: [u8; 32] = mac.finalize().into_bytes().into();
    [[b0, b1], [c0, c1]]
}

/// Adds the caller. Equal names of two issuers are two callers. An absent tenant differs from one
/// with an empty name.
fn caller(mac: &mut Hmac<Sha256>, binding: &Binding<'_>) {
    let Binding { principal, issuer, tenant, .. } = *binding;
    field(mac, principal.as_bytes());
    for part in [issuer, tenant] {
        field(mac, &[u8::from(part.is_some())]);
        field(mac, part.unwrap_or_default().as_bytes());
    }
}

/// Adds a field after its length, so that different lists of fields are different bytes.
fn field(mac: &mut Hmac<Sha256>, bytes: &[u8]) {
    mac.update(&(bytes.len() as u64).to_be_bytes());
    mac.update(bytes);
}
