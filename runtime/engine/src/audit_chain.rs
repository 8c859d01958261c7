//! The chain of audit records: each has a number and the hash of the one before it, so that a record
//! that is changed, moved or missing shows.
//!
//! The hash of a record is the SHA-256 of its line as it is in the file, without the member `chain`
//! and without the line feed. So anyone can check a file with a few lines of any language.

use std::fmt::Write as _;

use relay_bundle::Digest;
use thiserror::Error;

/// The beginning of the last member of a line.
const CHAIN: &str = ",\"chain\":\"";
/// The end of a line.
const END: &str = "\"}";
/// The hexadecimal digits of a hash.
const HASH_CHARS: usize = 64;
/// The beginnings of the members before it.
const PREV: &str = ",\"prev\":\"";
const SEQ: &str = ",\"seq\":";
/// The most bytes that its place in the chain adds to a record, for the room of a line.
const PLACE_BYTES_MAX: usize = 2 * HASH_CHARS + 64;

/// The end of a chain: the number of the last record, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The number of the record; the first one has 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// The beginning of a chain, before its first record.
pub const START: Link = Link { seq: 0, hash: Digest([0; 32]) };

/// A record of a file: its own link, and the hash of the record before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chained {
    /// Its link.
    pub link: Link,
    /// The hash of the record before it, as it says.
    pub prev: Digest,
}

/// A record as it is in a file: the parts of all records, and its place in the chain.
#[cfg(feature = "schema")]
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "AuditRecord")]
pub struct ChainedRecord<'a> {
    /// The record.
    #[serde(flatten)]
    pub record: crate::audit_record::AuditRecord<'a>,
    /// The number of the record; the first one of a chain has 1.
    pub seq: u64,
    /// The `chain` of the record before it, as 64 hexadecimal digits; zeros for the first one.
    pub prev: String,
    /// The SHA-256 of this line without the member `chain` and without the line feed, as 64
    /// hexadecimal digits.
    pub chain: String,
}

/// The reason for which a line is no record of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChainError {
    /// It does not end with a number and two hashes.
    #[error("it has no place in a chain")]
    NotChained,
    /// Its hash is that of another text.
    #[error("it was changed after it was written: its hash is that of another text")]
    Changed,
}

/// Returns the line of a record that follows `last`, and its link. `record` is a JSON object with a
/// member at least.
#[must_use]
pub fn chained(record: &str, last: Link) -> (String, Link) {
    let mut line = String::new();
    let link = append(&mut line, record, last);
    (line, link)
}

/// Appends the line of a record that follows `last` to `out`, without a line feed, and returns its
/// link. `record` is a JSON object with a member at least.
pub fn append(out: &mut String, record: &str, last: Link) -> Link {
    let seq = last.seq.saturating_add(1);
    let start = out.len();
    out.reserve(record.len() + PLACE_BYTES_MAX);
    out.push_str(record.strip_suffix('}').unwrap_or(record));
    // Writing to a text succeeds always.
    _ = write!(out, "{SEQ}{seq}{PREV}");
    push_hex(out, last.hash);
    out.push_str(END);
    let hash = Digest::of(out.as_bytes().get(start..).unwrap_or_default());
    out.pop();
    out.push_str(CHAIN);
    push_hex(out, hash);
    out.push_str(END);
    Link { seq, hash }
}

fn push_hex(out: &mut String, digest: Digest) {
    out.push_str(digest.hex_in(&mut [0; HASH_CHARS]));
}

/// Reads the place of a line in its chain, and checks its hash.
///
/// # Errors
///
/// See [`ChainError`].
pub fn read(line: &str) -> Result<Chained, ChainError> {
    let (text, hash) = member(line, CHAIN).ok_or(ChainError::NotChained)?;
    let whole = format!("{text}}}");
    let (before, prev) = member(&whole, PREV).ok_or(ChainError::NotChained)?;
    let (_, seq) = before.rsplit_once(SEQ).ok_or(ChainError::NotChained)?;
    let seq = number(seq).filter(|seq| *seq > START.seq).ok_or(ChainError::NotChained)?;
    if Digest::of(whole.as_bytes()) != hash {
        return Err(ChainError::Changed);
    }
    Ok(Chained { link: Link { seq, hash }, prev })
}

/// Reads a number as records write it; `+1` and `01` are refused.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Takes the last member of an object, a hash, from the end of its text.
fn member<'l>(text: &'l str, name: &str) -> Option<(&'l str, Digest)> {
    let rest = text.strip_suffix(END)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(HASH_CHARS)?)?;
    Some((rest.strip_suffix(name)?, Digest::from_hex(hash)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_read_as_it_was_written_and_shows_each_change() {
        let (first, one) = chained("{\"a\":1}", START);
        let (second, two) = chained("{\"b\":\",\\\"chain\\\":\\\"\"}", one);
        assert_eq!(read(&first), Ok(Chained { link: one, prev: START.hash }));
        assert_eq!(read(&second), Ok(Chained { link: two, prev: one.hash }));
        assert_eq!((one.seq, two.seq), (1, 2));
        for place in 0..second.len() {
            for byte in [b'0', b'x', b'"'] {
                let mut changed = second.clone().into_bytes();
                if std::mem::replace(&mut changed[place], byte) != byte {
                    let changed = String::from_utf8(changed).expect("ASCII");
                    assert!(read(&changed).is_err(), "{changed}");
                }
            }
        }
        for line in ["", "{}", "{\"a\":1}", "\"}"] {
            assert_eq!(read(line), Err(ChainError::NotChained), "{line}");
        }
    }

    #[test]
    fn a_right_hash_leaves_one_form_of_each_number() {
        let line = |seq: &str| {
            let text = format!("{{\"a\":1{SEQ}{seq}{PREV}{}", Digest([7; 32]).hex());
            let hash = Digest::of(format!("{text}{END}").as_bytes());
            format!("{text}\"{CHAIN}{}{END}", hash.hex())
        };
        for (seq, is_read) in [
            ("1", true),
            ("18446744073709551615", true),
            ("0", false),
            ("+1", false),
            ("01", false),
        ] {
            assert_eq!(read(&line(seq)).is_ok(), is_read, "{seq}");
        }
    }
}
