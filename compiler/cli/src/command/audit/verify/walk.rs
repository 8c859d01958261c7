//! Following a chain from line to line.
//!
//! One change breaks a chain once: after a break, the walk goes on from the record that is there.

use relay_engine::audit_chain::{self, ChainError, Link, START};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::IgnoredAny;

/// The way in which a chain is broken at a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BreakKind {
    /// The record was changed after it was written.
    Changed,
    /// Records are missing before it.
    Missing,
    /// The record was moved or copied to this place.
    Moved,
    /// The record follows another one than the one before it: one of them was replaced.
    Replaced,
    /// A new chain begins: its first record follows no other.
    NewChain,
    /// A record without a place in a chain.
    Unchained,
    /// A part of a line, or a text other than a record.
    Partial,
    /// A checkpoint whose signature is wrong, or that covers another record.
    BadCheckpoint,
    /// A checkpoint that another key signed.
    ForeignKey,
    /// A record other than the one that a kept checkpoint names.
    Rewritten,
    /// Records are missing at the end: a kept checkpoint names a later one.
    Cut,
}

/// A break of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Break {
    pub(super) kind: BreakKind,
    /// The record at the line, if its own hash is right.
    pub(super) link: Option<Link>,
    /// The number of the record that was expected, or of the one before.
    other: u64,
}

/// The place in a chain after some lines.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The first record of the chain.
    first: Option<Link>,
    /// The record from which the chain goes on.
    last: Option<Link>,
    /// The last of some records that were moved, which may go on.
    moved: Option<Link>,
    /// The lines since `last` that may have been records.
    unread: u64,
}

impl Walk {
    /// Reads the next line, without its line feed.
    pub(super) fn next(&mut self, text: &str) -> Result<Link, Break> {
        let record = match audit_chain::read(text) {
            Ok(record) => record,
            Err(error) => {
                self.unread += 1;
                let is_object =
                    text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
                let kind = match error {
                    ChainError::Changed => BreakKind::Changed,
                    ChainError::NotChained if is_object => BreakKind::Unchained,
                    ChainError::NotChained => BreakKind::Partial,
                };
                return Err(Break { kind, link: None, other: 0 });
            }
        };
        let unread = std::mem::take(&mut self.unread);
        let link = record.link;
        let broken = |kind, other| Err(Break { kind, link: Some(link), other });
        let follows =
            |before: Link| link.seq == before.seq.saturating_add(1) && record.prev == before.hash;
        let Some(last) = self.last else {
            (self.first, self.last) = (Some(link), Some(link));
            let begins = record.prev == START.hash;
            // A later record follows one of an older file.
            return if begins == (link.seq == 1) {
                Ok(link)
            } else {
                broken(BreakKind::Replaced, 0)
            };
        };
        if follows(last) {
            self.last = Some(link);
            return Ok(link);
        }
        if self.moved.is_some_and(follows) {
            self.moved = Some(link);
            if link.seq > last.seq {
                self.last = self.moved.take();
            }
            return Ok(link);
        }
        // The first record itself is only copied.
        if follows(START) && self.first != Some(link) {
            (self.first, self.last, self.moved) = (Some(link), Some(link), None);
            return broken(BreakKind::NewChain, 0);
        }
        if link.seq <= last.seq {
            self.moved = Some(link);
            return broken(BreakKind::Moved, last.seq);
        }
        (self.last, self.moved) = (Some(link), None);
        match link.seq - last.seq - 1 {
            0 => broken(BreakKind::Replaced, last.seq),
            // The lines that could not be read were these records, and are reported.
            missing if missing <= unread => Ok(link),
            _ => broken(BreakKind::Missing, last.seq.saturating_add(1)),
        }
    }
}

impl Break {
    /// Returns the break of a line that has no end.
    pub(super) fn partial() -> Self {
        Self { kind: BreakKind::Partial, link: None, other: 0 }
    }

    /// Describes the break.
    pub(super) fn message(self) -> String {
        let Self { kind, link, other } = self;
        let number = link.map_or(0, |link| link.seq);
        match kind {
            BreakKind::Changed => "this record was changed after it was written".to_owned(),
            BreakKind::Missing if other.saturating_add(1) == number => {
                format!("record {other} is missing before record {number}")
            }
            BreakKind::Missing => {
                format!("records {other} to {} are missing before record {number}", number.saturating_sub(1))
            }
            BreakKind::Moved => {
                format!("record {number} comes after record {other}: it was moved or copied")
            }
            BreakKind::Replaced if other == 0 => {
                format!("record {number} was replaced: it follows no record that can exist")
            }
            BreakKind::Replaced => format!(
                "record {number} does not follow record {other}: one of the two was replaced"
            ),
            BreakKind::NewChain => {
                "a new chain begins: the file before it was removed or emptied".to_owned()
            }
            BreakKind::Unchained => {
                "this record has no place in the chain: it was added, or written by an older version"
                    .to_owned()
            }
            BreakKind::Partial => {
                "this line is no whole record: a killed program leaves such a part, and so may a change"
                    .to_owned()
            }
            BreakKind::BadCheckpoint
            | BreakKind::ForeignKey
            | BreakKind::Rewritten
            | BreakKind::Cut => "a checkpoint differs".to_owned(),
        }
    }
}
