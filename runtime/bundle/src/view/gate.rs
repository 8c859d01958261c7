//! The gate and the tools, in place.

use super::rendering::take;
use super::{Bundle, PlaceView};
use crate::contents::Unlock;
use crate::error::Corrupt;
use crate::record;
use crate::section::Kind;

/// The highest tier: cannot be undone.
const TIER_MAX: u8 = 3;

/// How sessions are gated; the fields are those of [`Gate`](crate::Gate).
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Gate`")]
pub struct GateView<'b> {
    pub unlock: Unlock,
    pub hide_tools: bool,
    pub tags_ask: usize,
    pub tags_max: usize,
    pub budget_bytes: usize,
    pub repeat_bytes: usize,
    pub remaining_bytes: usize,
    pub entry_chars: usize,
    pub encouragement: Vec<MessagePieceView<'b>>,
    pub reminder: Vec<MessagePieceView<'b>>,
    pub preamble: Vec<MessagePieceView<'b>>,
    pub place: PlaceView<'b>,
}

/// A piece of a message; see [`MessagePiece`](crate::MessagePiece).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `MessagePiece`")]
pub enum MessagePieceView<'b> {
    Literal(&'b str),
    Matched,
    Remaining,
}

/// One tool; the fields are those of [`Tool`](crate::Tool).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented once, at `Tool`")]
pub struct ToolView<'b> {
    pub name: &'b str,
    pub gated: bool,
    pub tier: u8,
    pub place: PlaceView<'b>,
}

impl Bundle {
    /// Returns how sessions are gated; `None` if they are not.
    ///
    /// # Errors
    ///
    /// As for [`Self::manifest`].
    pub fn gate(&self) -> Result<Option<GateView<'_>>, Corrupt> {
        let wrong = |what| Corrupt::Record { section: Kind::Gate.name(), what };
        match self.count(Kind::Gate) {
            0 => return Ok(None),
            1 => {}
            _ => return Err(wrong("count")),
        }
        let record: &record::Gate = self.record(Kind::Gate, 0)?;
        let unlock = match record.unlock {
            record::UNLOCK_INTERCEPT => Unlock::Intercept,
            record::UNLOCK_REFUSE => Unlock::Refuse,
            _ => return Err(wrong("unlock")),
        };
        let mut room = self.count(Kind::MessagePieces);
        Ok(Some(GateView {
            unlock,
            hide_tools: record.hide_tools != 0,
            tags_ask: record.tags_ask.get() as usize,
            tags_max: record.tags_max.get() as usize,
            budget_bytes: record.budget_bytes.get() as usize,
            repeat_bytes: record.repeat_bytes.get() as usize,
            remaining_bytes: record.remaining_bytes.get() as usize,
            entry_chars: record.entry_chars.get() as usize,
            encouragement: self.message_pieces(record.encouragement, &mut room)?,
            reminder: self.message_pieces(record.reminder, &mut room)?,
            preamble: self.message_pieces(record.preamble, &mut room)?,
            place: self.place(record.place)?,
        }))
    }

    /// Returns how many tools there are.
    #[must_use]
    pub fn tool_count(&self) -> usize {
        self.count(Kind::Tools)
    }

    /// Returns the tools, in the order of the list.
    pub fn tools(&self) -> impl Iterator<Item = Result<ToolView<'_>, Corrupt>> {
        (0..self.tool_count()).map(|index| {
            let record: &record::Tool = self.record(Kind::Tools, index)?;
            if record.tier > TIER_MAX {
                return Err(Corrupt::Record { section: Kind::Tools.name(), what: "tier" });
            }
            Ok(ToolView {
                name: self.string(record.name)?,
                gated: record.gated != 0,
                tier: record.tier,
                place: self.place(record.place)?,
            })
        })
    }

    fn message_pieces(
        &self,
        range: record::Range,
        room: &mut usize,
    ) -> Result<Vec<MessagePieceView<'_>>, Corrupt> {
        take(room, Kind::MessagePieces, range)?;
        let piece = |index| {
            let record: &record::MessagePiece = self.record(Kind::MessagePieces, index)?;
            match record.kind.get() {
                record::PIECE_LITERAL => {
                    Ok(MessagePieceView::Literal(self.text(Kind::Bodies, record.literal)?))
                }
                record::PIECE_MATCHED => Ok(MessagePieceView::Matched),
                record::PIECE_REMAINING => Ok(MessagePieceView::Remaining),
                _ => Err(Corrupt::Record { section: Kind::MessagePieces.name(), what: "kind" }),
            }
        };
        self.list(Kind::MessagePieces, range)?.map(piece).collect()
    }
}
