//! The server's own messages.

use relay_bundle::{Bundle, Corrupt, MessagePiece, PromptView, TOOL_GUIDANCE};
use relay_engine::prompt_index;

use crate::finding::{Area, Change, Finding, Findings, Kind};
use crate::text::hunks;

/// Compares the messages of two bundles, the default ones too. The index of the prompts in them
/// follows from the prompts.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (index_a, index_b) = (Index::of(a)?, Index::of(b)?);
    let messages = a.messages().named().into_iter().zip(b.messages().named());
    for ((name, before), (_, after)) in messages {
        let (for_a, for_b) = (readers(name, a), readers(name, b));
        if before.value == after.value && for_a == for_b {
            continue;
        }
        let old = index_a.cut_from(&text(&before.value, a))? + &for_a;
        let new = index_b.cut_from(&text(&after.value, b))? + &for_b;
        if old == new {
            continue;
        }
        let change = Change::Text { hunks: hunks(&old, &new) };
        let finding = Finding::new(Area::Contexts, Kind::Message, name, change)
            .always(true)
            .bytes(old.len(), new.len())
            .content(old.as_bytes(), new.as_bytes())
            .at(before.at.as_ref(), after.at.as_ref());
        out.push(finding);
    }
    Ok(())
}

/// Returns a line that says for whom a message is, if it is for some callers alone.
fn readers(name: &str, bundle: &Bundle) -> String {
    let tools = &bundle.messages().guided_tools;
    match name {
        TOOL_GUIDANCE if !tools.is_empty() => {
            format!("\n(for callers who have {})", tools.join(", "))
        }
        _ => String::new(),
    }
}

/// Returns a message with its variables as an author writes them; literal braces are marked.
fn text(pieces: &[MessagePiece], bundle: &Bundle) -> String {
    let has_indexes = bundle.audiences().count() > 0;
    let piece = |piece: &MessagePiece| match piece {
        MessagePiece::Literal(text) => text.replace("{{", "\\{{"),
        MessagePiece::Index if has_indexes => "{{ prompt_index }}".into(),
        MessagePiece::Index => "{{ prompt_index of nothing }}".into(),
        MessagePiece::Matched => "{{ matched_prompts }}".into(),
        MessagePiece::Remaining => "{{ remaining_prompts }}".into(),
    };
    pieces.iter().map(piece).collect()
}

/// The index of the prompts in a message.
struct Index<'b> {
    /// The prompts that it lists.
    listed: Vec<PromptView<'b>>,
    /// Its last line.
    rest: Option<String>,
}

impl<'b> Index<'b> {
    fn of(bundle: &'b Bundle) -> Result<Self, Corrupt> {
        let names = bundle.messages().prompt_index.iter();
        let found = names.filter_map(|name| bundle.find_prompt(name).transpose());
        let listed = found.collect::<Result<Vec<_>, _>>()?;
        let omitted = prompt_index::order(bundle)?.len().saturating_sub(listed.len());
        let rest = prompt_index::rest(listed.len(), omitted, bundle.gate().is_some());
        Ok(Self { listed, rest })
    }

    /// Returns a text with the index as an author writes it; a text that lacks the index stays the
    /// same. Only entries of the listed prompts are an index.
    fn cut_from(&self, text: &str) -> Result<String, Corrupt> {
        if self.listed.is_empty() && self.rest.is_none() {
            return Ok(text.to_owned());
        }
        let lines: Vec<&str> = text.split('\n').collect();
        for start in 0..lines.len() {
            if let Some(end) = self.end(&lines, start)? {
                let before = lines.get(..start).unwrap_or_default();
                let after = lines.get(end..).unwrap_or_default();
                return Ok([before, &["{{ prompt_index }}"], after].concat().join("\n"));
            }
        }
        Ok(text.to_owned())
    }

    /// Returns the end of the index that begins at this line, if one does.
    fn end(&self, lines: &[&str], start: usize) -> Result<Option<usize>, Corrupt> {
        let end = start + self.listed.len();
        let Some(found) = lines.get(start..end) else { return Ok(None) };
        if !prompt_index::are_entries(found, &self.listed)? {
            return Ok(None);
        }
        Ok(match &self.rest {
            None => Some(end),
            Some(rest) => (lines.get(end) == Some(&rest.as_str())).then_some(end + 1),
        })
    }
}
