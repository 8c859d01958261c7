//! The gate and the tools.

use zerocopy::IntoBytes;

use super::{Sections, absent, append};
use crate::contents::{Gate, MessagePiece, Tool, Unlock};
use crate::record;

impl Sections {
    pub(super) fn gate(&mut self, gate: &Gate) {
        let Gate {
            unlock,
            hide_tools,
            tags_ask,
            tags_max,
            budget_bytes,
            repeat_bytes,
            remaining_bytes,
            entry_chars,
            encouragement,
            reminder,
            preamble,
            at,
        } = gate;
        let record = record::Gate {
            unlock: match unlock {
                Unlock::Intercept => record::UNLOCK_INTERCEPT,
                Unlock::Refuse => record::UNLOCK_REFUSE,
            },
            hide_tools: u8::from(*hide_tools),
            reserved: 0.into(),
            tags_ask: (*tags_ask).into(),
            tags_max: (*tags_max).into(),
            budget_bytes: (*budget_bytes).into(),
            repeat_bytes: (*repeat_bytes).into(),
            remaining_bytes: (*remaining_bytes).into(),
            entry_chars: (*entry_chars).into(),
            encouragement: self.message_pieces(encouragement),
            reminder: self.message_pieces(reminder),
            preamble: self.message_pieces(preamble),
            place: self.place(at),
        };
        self.gate.extend_from_slice(record.as_bytes());
    }

    fn message_pieces(&mut self, pieces: &[MessagePiece]) -> record::Range {
        let rows: Vec<_> = pieces
            .iter()
            .map(|piece| {
                let (kind, literal) = match piece {
                    MessagePiece::Literal(text) => {
                        (record::PIECE_LITERAL, self.bodies.shared(text.as_bytes()))
                    }
                    MessagePiece::Matched => (record::PIECE_MATCHED, absent()),
                    MessagePiece::Remaining => (record::PIECE_REMAINING, absent()),
                };
                record::MessagePiece { kind: kind.into(), literal }
            })
            .collect();
        append(&mut self.message_pieces, &rows)
    }

    pub(super) fn tool(&mut self, tool: &Tool) {
        let Tool { name, gated, tier, at } = tool;
        let record = record::Tool {
            name: self.string(name),
            place: self.place(at),
            gated: u8::from(*gated),
            tier: *tier,
            reserved: 0.into(),
        };
        self.tools.extend_from_slice(record.as_bytes());
    }
}
