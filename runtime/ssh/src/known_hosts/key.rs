//! Public keys in their wire form (RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH PROTOCOL.u2f).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Reasons why a field is invalid as a public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The line ends before its key.
    #[error("the key is missing: write its type and its base64 text")]
    Missing,
    /// Its type is unknown to OpenSSH.
    #[error("the type of the key is unknown")]
    UnknownType,
    /// It is a certificate.
    #[error("a certificate is no host key: write its authority's key after `@cert-authority`")]
    Certificate,
    /// Its text is invalid base64.
    #[error("the key is invalid base64")]
    Base64,
    /// Its bytes are of another type than the line says.
    #[error("the key has another type than the line says")]
    OtherType,
    /// Its bytes are invalid for the type.
    #[error("the key is incomplete or damaged")]
    Damaged,
    /// It is an RSA key under 1,024 bits, which OpenSSH skips.
    #[error("the RSA key has under 1024 bits")]
    Short,
}

/// The parts of a key after the name of its type.
#[derive(Clone, Copy)]
enum Part {
    /// A positive integer.
    Integer,
    /// A string of this many bytes.
    Bytes(usize),
    /// The name of a curve.
    Curve(&'static str),
    /// An uncompressed point of this many bytes.
    Point(usize),
    /// Any string.
    Text,
}

/// The types of key that OpenSSH reads.
const TYPES: [(&str, &[Part]); 8] = [
    ("ssh-ed25519", &[Part::Bytes(32)]),
    ("ecdsa-sha2-nistp256", &[Part::Curve("nistp256"), Part::Point(65)]),
    ("ecdsa-sha2-nistp384", &[Part::Curve("nistp384"), Part::Point(97)]),
    ("ecdsa-sha2-nistp521", &[Part::Curve("nistp521"), Part::Point(133)]),
    ("ssh-rsa", &[Part::Integer, Part::Integer]),
    ("ssh-dss", &[Part::Integer, Part::Integer, Part::Integer, Part::Integer]),
    ("sk-ssh-ed25519@openssh.com", &[Part::Bytes(32), Part::Text]),
    ("sk-ecdsa-sha2-nistp256@openssh.com", &[Part::Curve("nistp256"), Part::Point(65), Part::Text]),
];

/// The most bytes of an integer: 16,384 bits and a sign.
const INTEGER_BYTES_MAX: usize = 16_384 / 8 + 1;
const RSA_BYTES_MIN: usize = 1024 / 8;

/// Reads a key: `name` is the type, `text` its base64 text.
///
/// # Errors
///
/// It is of an unknown type, or its text is invalid.
pub(crate) fn read(name: &[u8], text: &[u8]) -> Result<Vec<u8>, KeyError> {
    if name.is_empty() || text.is_empty() {
        return Err(KeyError::Missing);
    }
    // OpenSSH reads the names of signature schemes as the type of their key.
    let name = match name {
        b"rsa-sha2-256" | b"rsa-sha2-512" => b"ssh-rsa",
        name => name,
    };
    let Some((known, parts)) = TYPES.iter().find(|(known, _)| known.as_bytes() == name) else {
        let is_certificate = name.ends_with(b"-cert-v01@openssh.com");
        return Err(if is_certificate { KeyError::Certificate } else { KeyError::UnknownType });
    };
    let blob = STANDARD.decode(text).map_err(|_| KeyError::Base64)?;
    let (found, mut rest) = string(&blob).ok_or(KeyError::Damaged)?;
    if found != known.as_bytes() {
        return Err(KeyError::OtherType);
    }
    let mut last: &[u8] = &[];
    for part in *parts {
        let (value, after) = string(rest).ok_or(KeyError::Damaged)?;
        let is_valid = match part {
            Part::Integer => {
                value.len() <= INTEGER_BYTES_MAX && value.first().is_some_and(|byte| *byte < 0x80)
            }
            Part::Bytes(count) => value.len() == *count,
            Part::Curve(curve) => value == curve.as_bytes(),
            Part::Point(count) => value.len() == *count && value.first() == Some(&4),
            Part::Text => true,
        };
        if !is_valid {
            return Err(KeyError::Damaged);
        }
        (last, rest) = (value, after);
    }
    if !rest.is_empty() {
        return Err(KeyError::Damaged);
    }
    let zeros = last.iter().take_while(|byte| **byte == 0).count();
    let bits_are_few = last.len() - zeros < RSA_BYTES_MIN;
    if *known == "ssh-rsa" && bits_are_few { Err(KeyError::Short) } else { Ok(blob) }
}

/// Returns the type of a key in wire form, such as `ssh-ed25519`; `None` if it is damaged.
pub(crate) fn type_of(blob: &[u8]) -> Option<&str> {
    let (name, _) = string(blob)?;
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(name).ok().filter(|_| is_name)
}

/// Returns the base64 text of a key in wire form.
pub(crate) fn text_of(blob: &[u8]) -> String {
    STANDARD.encode(blob)
}

/// Takes a string: four bytes of length, then its bytes.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)
}
