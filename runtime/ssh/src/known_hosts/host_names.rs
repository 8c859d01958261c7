//! The first field of a line: a list of patterns, or the hash of one name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

use crate::{host_name, name_pattern};

/// The bytes of an SHA-1 digest, and of the salt that OpenSSH makes.
const DIGEST_BYTES: usize = 20;

/// The longest `[host]:port`.
const NAME_BYTES_MAX: usize = host_name::HOST_BYTES_MAX + "[]:65535".len();

/// The hosts of a line.
#[derive(Debug)]
pub(crate) enum HostNames {
    /// A comma list of patterns, in lower case.
    Patterns(Vec<u8>),
    /// HMAC-SHA1 of a name in lower case, keyed by the salt.
    Hashed { salt: [u8; DIGEST_BYTES], hash: [u8; DIGEST_BYTES] },
}

impl HostNames {
    /// Reads the field; a damaged hash is `None`.
    pub(crate) fn read(field: &[u8]) -> Option<Self> {
        if field.first() != Some(&b'|') {
            return Some(Self::Patterns(field.to_ascii_lowercase()));
        }
        let mut parts = field.strip_prefix(b"|1|")?.split(|byte| *byte == b'|');
        let (salt, hash) = (digest(parts.next()?)?, digest(parts.next()?)?);
        parts.next().is_none().then_some(Self::Hashed { salt, hash })
    }

    /// Returns whether the line is about `name`, which is in lower case. Names that are too long for a
    /// host are in none.
    pub(crate) fn contains(&self, name: &str) -> bool {
        match self {
            _ if name.len() > NAME_BYTES_MAX => false,
            Self::Patterns(list) => name_pattern::list_matches(list, name.as_bytes()),
            Self::Hashed { salt, hash } => {
                let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(salt) else { return false };
                mac.update(name.as_bytes());
                mac.verify_slice(hash).is_ok()
            }
        }
    }
}

fn digest(text: &[u8]) -> Option<[u8; DIGEST_BYTES]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}
