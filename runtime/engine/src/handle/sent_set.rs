//! The sent set of a handle, as bytes and back.

use crate::sent::Sent;

/// The encodings of a sent set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Bitmap,
    List,
}

/// The most bytes of a sent set.
pub(super) const SENT_BYTES_MAX: usize = 2048;

/// Returns the shorter of the two encodings of `sent`, the bitmap if both have the same length.
///
/// A set that would be too long is truncated to the first indexes that fit.
pub(super) fn encode(sent: &Sent, prompts: usize) -> (Form, Vec<u8>) {
    let mut list = Vec::new();
    let mut bitmap_bytes = 0;
    let mut count = 0;
    let mut next = 0;
    for index in sent.iter().take_while(|index| (*index as usize) < prompts) {
        let length = list.len();
        push_number(&mut list, index.saturating_sub(next));
        if list.len().min(index as usize / 8 + 1) > SENT_BYTES_MAX {
            list.truncate(length);
            break;
        }
        bitmap_bytes = index as usize / 8 + 1;
        count += 1;
        next = index.saturating_add(1);
    }
    if list.len() < bitmap_bytes {
        return (Form::List, list);
    }
    let mut bitmap = vec![0; bitmap_bytes];
    for index in sent.iter().take(count) {
        if let Some(byte) = bitmap.get_mut(index as usize / 8) {
            *byte |= 1 << (index % 8);
        }
    }
    (Form::Bitmap, bitmap)
}

/// Reads the result of [`encode`]; `None` for any other bytes.
pub(super) fn decode(form: Form, bytes: &[u8], prompts: usize) -> Option<Sent> {
    let sent = match form {
        Form::Bitmap => Sent::from_indexes(bits(bytes)),
        Form::List => list(bytes)?,
    };
    // `encode` keeps every index and writes the shortest form, and other bytes are rejected.
    (encode(&sent, prompts) == (form, bytes.to_vec())).then_some(sent)
}

fn bits(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
    (0..).zip(bits).filter(|(_, is_set)| *is_set).map(|(index, _)| index)
}

fn list(mut bytes: &[u8]) -> Option<Sent> {
    let mut indexes = Vec::new();
    let mut next = 0u32;
    while !bytes.is_empty() {
        let (distance, rest) = number(bytes)?;
        let index = next.checked_add(distance)?;
        indexes.push(index);
        next = index.checked_add(1)?;
        bytes = rest;
    }
    Some(Sent::from_indexes(indexes))
}

fn push_number(out: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

/// Reads a LEB128 number; returns it and the rest.
fn number(mut bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((number, rest));
        }
        bytes = rest;
    }
    None
}
