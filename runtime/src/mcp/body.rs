//! The body of an HTTP request: read within its limit and the budget of its caller.
//!
//! A large body is read into memory of its own, which returns to the system when it is dropped.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody as _};
use http_body_util::BodyExt as _;
use memmap2::MmapMut;
use relay_engine::system_error::reason;
use thiserror::Error;

use crate::caller::bodies::{Bodies, Room};
use crate::caller::principal::Principal;

/// The most bytes of a body outside of its caller's budget, which is parsed where it arrives. The
/// limit of connections bounds the total.
pub(super) const SMALL_BYTES_MAX: usize = 16 << 10;

/// A body, and its room in the budget of its caller.
pub(super) struct Read {
    pub(super) bytes: Bytes,
    /// Absent for a small body.
    pub(super) room: Option<Arc<Room>>,
}

/// An error of reading a body.
#[derive(Debug, Error)]
pub(super) enum Unread {
    #[error("the body of a request has at most {max} bytes")]
    TooLong { max: usize },
    #[error("the request took too long")]
    Late,
    /// Its client disconnected, or broke the rules of HTTP.
    #[error("the body of the request does not arrive: {0}")]
    Broken(#[from] axum::Error),
    #[error("no memory for the body of a request: {}", reason(.0))]
    NoMemory(#[from] io::Error),
}

impl Unread {
    /// Returns the reason for a record.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "the body is over the limit (limits.body-bytes-max)",
            Self::Late => "the request took too long (limits.request-s-max)",
            Self::Broken(_) => "the body did not arrive",
            Self::NoMemory(_) => "there was no memory for the body",
        }
    }
}

/// A mark that some editors and shells put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text after the mark before it.
pub(super) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Reads a body of at most `max` bytes.
pub(super) async fn read(
    mut body: Body,
    max: usize,
    bodies: &Bodies,
    principal: &Principal,
) -> Result<Read, Unread> {
    let announced = body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(max + 1));
    if announced.is_some_and(|bytes| bytes > max) {
        return Err(Unread::TooLong { max });
    }
    let small_max = max.min(SMALL_BYTES_MAX);
    let mut start = Vec::new();
    if announced.is_none_or(|bytes| bytes <= small_max) {
        start.reserve_exact(announced.unwrap_or(0));
        loop {
            let Some(data) = next(&mut body).await? else {
                return Ok(Read { bytes: unmarked(start.into()), room: None });
            };
            start.extend_from_slice(&data);
            if start.len() > small_max {
                break;
            }
        }
    }
    // An unannounced length may be any.
    let capacity = announced.unwrap_or(max);
    if start.len() > capacity {
        return Err(Unread::TooLong { max });
    }
    let room = bodies.room(principal, capacity).await.map(Arc::new);
    let mut memory = MmapMut::map_anon(capacity)?;
    let mut filled = 0;
    let mut add = |data: &[u8]| match memory.get_mut(filled..filled + data.len()) {
        Some(free) => {
            free.copy_from_slice(data);
            filled += data.len();
            Ok(())
        }
        None => Err(Unread::TooLong { max }),
    };
    add(&start)?;
    drop(start);
    while let Some(data) = next(&mut body).await? {
        add(&data)?;
    }
    Ok(Read { bytes: unmarked(Bytes::from_owner(memory).slice(..filled)), room })
}

fn unmarked(bytes: Bytes) -> Bytes {
    bytes.slice_ref(without_mark(&bytes))
}

/// Returns the next bytes of a body; `None` at its end.
async fn next(body: &mut Body) -> Result<Option<Bytes>, axum::Error> {
    loop {
        match body.frame().await.transpose()? {
            None => return Ok(None),
            // Other frames are trailers.
            Some(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Returns whether a JSON text has more than `max` values. For a malformed text, this is an
/// estimate.
pub(super) fn has_more_values(text: &[u8], max: usize) -> bool {
    // Each value takes at least a byte.
    if text.len() <= max {
        return false;
    }
    let (mut count, mut in_string, mut escaped) = (1_usize, false, false);
    for byte in text {
        match (in_string, byte) {
            _ if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b'[' | b'{') => {
                count += 1;
                if count > max {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_of_texts() {
        let more = |text: &str, max| has_more_values(text.as_bytes(), max);
        assert!(more("[0,0,0]", 3));
        assert!(!more("[0,0,0]", 4));
        assert!(!more(r#"{"a":",,,,[[[{\",,"}"#, 2));
        assert!(more(r#"{"a":"\\",  "b":0}"#, 2));
    }
}
