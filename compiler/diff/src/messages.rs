//! The server's own messages.

use relay_bundle::{Bundle, Corrupt, MessagePiece};
use relay_engine::prompt_index;

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::text::hunks;

/// Compares the messages of two bundles. The index of the prompts in them follows from the prompts,
/// and a message that nobody wrote from the project and its gate, if those differ.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let follows = out.has_any(&[Kind::Project, Kind::Gate]);
    let (index_a, index_b) = (Index::of(a)?, Index::of(b)?);
    let messages = a.messages().named().into_iter().zip(b.messages().named());
    for ((name, before), (_, after)) in messages {
        let is_default = before.at.is_none() && after.at.is_none();
        if before.value == after.value || (follows && is_default) {
            continue;
        }
        let old = index_a.cut_from(&text(&before.value));
        let new = index_b.cut_from(&text(&after.value));
        if old == new {
            continue;
        }
        let change = Change::Text { hunks: hunks(&old, &new) };
        let finding = Finding::new(Area::Contexts, Kind::Message, name, change)
            .bytes(old.len(), new.len())
            .content(old.as_bytes(), new.as_bytes())
            .at(before.at.as_ref(), after.at.as_ref());
        out.push(finding);
    }
    Ok(())
}

/// Returns a message with its variables as an author writes them.
fn text(pieces: &[MessagePiece]) -> String {
    let piece = |piece: &MessagePiece| match piece {
        MessagePiece::Literal(text) => text.clone(),
        MessagePiece::Index => "{{ prompt_index }}".into(),
        MessagePiece::Matched => "{{ matched_prompts }}".into(),
        MessagePiece::Remaining => "{{ remaining_prompts }}".into(),
    };
    pieces.iter().map(piece).collect()
}

/// The index of the prompts, as a message has it.
struct Index<'b> {
    /// The prompts that it lists.
    names: &'b [String],
    /// Its last line.
    rest: Option<String>,
}

impl<'b> Index<'b> {
    fn of(bundle: &'b Bundle) -> Result<Self, Corrupt> {
        let names = bundle.messages().prompt_index.as_slice();
        let mut briefed = 0usize;
        for prompt in bundle.prompts() {
            briefed += usize::from(prompt?.is_briefed());
        }
        let omitted = briefed.saturating_sub(names.len());
        let rest = prompt_index::rest(names.len(), omitted, bundle.gate().is_some());
        Ok(Self { names, rest })
    }

    /// Returns a text with the index as an author writes it; the text, if the index is not in it.
    fn cut_from(&self, text: &str) -> String {
        let lines: Vec<&str> = text.split('\n').collect();
        let is_entry = |line: &str, name: &str| {
            let rest = line.strip_prefix("- ").and_then(|line| line.strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let listed = |start: usize| {
            let found = lines.get(start..start + self.names.len()).unwrap_or_default();
            let all = found.len() == self.names.len()
                && found.iter().zip(self.names).all(|(line, name)| is_entry(line, name));
            let rest = lines.get(start + self.names.len()).copied();
            match &self.rest {
                _ if !all => None,
                None => Some(start + self.names.len()),
                Some(wanted) => (rest == Some(wanted)).then_some(start + self.names.len() + 1),
            }
        };
        if self.names.is_empty() && self.rest.is_none() {
            return text.to_owned();
        }
        match (0..lines.len()).find_map(|start| Some((start, listed(start)?))) {
            None => text.to_owned(),
            Some((start, end)) => {
                let before = lines.get(..start).unwrap_or_default();
                let after = lines.get(end..).unwrap_or_default();
                [before, &["{{ prompt_index }}"], after].concat().join("\n")
            }
        }
    }
}
