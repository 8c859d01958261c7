//! The server's own messages.

use relay_bundle::{MessagePiece, Messages};

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::text::hunks;

/// Compares the messages of two bundles. The prompts that the instructions list follow from the
/// prompts.
pub(crate) fn compare(a: &Messages, b: &Messages, out: &mut Findings) {
    for ((name, before), (_, after)) in a.named().into_iter().zip(b.named()) {
        if before.value == after.value {
            continue;
        }
        let (old, new) = (text(&before.value), text(&after.value));
        let change = Change::Text { hunks: hunks(&old, &new) };
        let finding = Finding::new(Area::Contexts, Kind::Message, name, change)
            .bytes(old.len(), new.len())
            .content(old.as_bytes(), new.as_bytes())
            .at(before.at.as_ref(), after.at.as_ref());
        out.push(finding);
    }
}

/// Returns a message with its variables as an author writes them.
fn text(pieces: &[MessagePiece]) -> String {
    let piece = |piece: &MessagePiece| match piece {
        MessagePiece::Literal(text) => text.clone(),
        MessagePiece::Matched => "{{ matched_prompts }}".into(),
        MessagePiece::Remaining => "{{ remaining_prompts }}".into(),
    };
    pieces.iter().map(piece).collect()
}
