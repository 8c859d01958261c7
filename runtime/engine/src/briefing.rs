//! What an agent reads when it asks for context: a selection and the gate's messages -> text.

use relay_bundle::{Bundle, Corrupt, Gate, MessagePiece};

use crate::select::{Limits, Selection};

/// Characters of one index entry in an answer, which has a limit in bytes for all of them.
const ENTRY_CHARS_MAX: usize = 200;

/// Why a briefing is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// `begin_session` asked for it.
    Begin,
    /// `read_prompts` asked for more.
    Read,
    /// Nobody asked: it is put before the result of a call.
    Intercept,
}

/// Returns how much one answer of this gate may hold.
///
/// `repeated` says that the same caller may get a briefing with each call, since nothing tells
/// that it had one.
#[must_use]
pub fn limits(gate: &Gate, repeated: bool) -> Limits {
    let budget = if repeated { &gate.repeat_bytes } else { &gate.budget_bytes };
    let budget_bytes = budget.value as usize;
    // No entry and no name takes less than a letter and what stands around it.
    Limits { budget_bytes, entries_max: remaining_bytes(gate, repeated) / 3 }
}

fn remaining_bytes(gate: &Gate, repeated: bool) -> usize {
    let most = if repeated { gate.repeat_bytes.value } else { u32::MAX };
    gate.remaining_bytes.value.min(most) as usize
}

/// Composes the text of a briefing: the prompts in full, what else there is, and how to go on.
///
/// Index entries and names together take at most the bytes that the gate gives them; then comes
/// how many more there are. `repeated` as for [`limits`].
///
/// # Errors
///
/// The bundle is not what was signed.
pub fn compose(
    bundle: &Bundle,
    gate: &Gate,
    occasion: Occasion,
    repeated: bool,
    selection: &Selection,
) -> Result<String, Corrupt> {
    let matched = matched(bundle, occasion, selection)?;
    let remaining = remaining(bundle, remaining_bytes(gate, repeated), selection, true)?;
    let message = match occasion {
        Occasion::Begin | Occasion::Intercept => &bundle.messages().gate_encouragement.value,
        Occasion::Read => &bundle.messages().read_prompts_reminder.value,
    };
    let preamble = match occasion {
        Occasion::Intercept => bundle.messages().gate_intercept_preamble.value.as_slice(),
        Occasion::Begin | Occasion::Read => &[],
    };
    let says = |piece| preamble.iter().chain(message).any(|each| *each == piece);
    let mut parts = vec![fill(preamble, &matched, &remaining)];
    // What a message does not place itself stands where it is read best; nothing is left out.
    if !says(MessagePiece::Matched) {
        parts.push(matched.clone());
    }
    if !says(MessagePiece::Remaining) && !selection.index.is_empty() {
        let bytes_max = remaining_bytes(gate, repeated);
        parts.push(self::remaining(bundle, bytes_max, selection, false)?);
    }
    parts.push(fill(message, &matched, &remaining));
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n\n"))
}

/// Returns the line of a prompt in an index: its name and what it is about.
///
/// It is one line whatever was written, since runs of white space become one space, and it has at
/// most `chars_max` characters: a longer one ends with an ellipsis.
#[must_use]
pub fn entry(name: &str, summary: Option<&str>, chars_max: usize) -> String {
    let mut entry = String::from("-");
    let words = name.split_whitespace();
    words.for_each(|word| push(&mut entry, word));
    let mut about = summary.unwrap_or_default().split_whitespace().peekable();
    if about.peek().is_some() {
        entry.push(':');
    }
    // What is cut anyway need not be copied: summaries may be long.
    let mut room = chars_max;
    for word in about {
        if room == 0 {
            break;
        }
        push(&mut entry, word);
        room = room.saturating_sub(word.chars().count() + 1);
    }
    shortened(entry, chars_max)
}

fn matched(bundle: &Bundle, occasion: Occasion, selection: &Selection) -> Result<String, Corrupt> {
    if selection.full.is_empty() {
        let has_more = !selection.index.is_empty() || selection.index_omitted > 0;
        let text = match occasion {
            _ if has_more => {
                "(The prompts that match are too long for one answer; here are their names.)"
            }
            Occasion::Read => "(No further prompt matches these keywords.)",
            Occasion::Begin | Occasion::Intercept => "(No prompt matches these keywords.)",
        };
        return Ok(text.to_owned());
    }
    let mut text = String::new();
    for index in &selection.full {
        let prompt = bundle.prompt(*index)?;
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str("--- prompt ");
        text.push_str(prompt.name()?);
        text.push_str(" ---\n");
        text.push_str(prompt.body()?.trim_end());
    }
    Ok(text)
}

/// Lists what was not sent: index entries of what matched, then the names of the others unless
/// only the former are wanted.
fn remaining(
    bundle: &Bundle,
    bytes_max: usize,
    selection: &Selection,
    wants_names: bool,
) -> Result<String, Corrupt> {
    let mut room = bytes_max;
    let mut fits = |bytes: usize| {
        let rest = room.checked_sub(bytes);
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut lines = Vec::new();
    for index in &selection.index {
        let prompt = bundle.prompt(*index)?;
        let entry = entry(prompt.name()?, prompt.about()?, ENTRY_CHARS_MAX);
        if !fits(entry.len() + "\n".len()) {
            break;
        }
        lines.push(entry);
    }
    let mut left = selection.index.len() - lines.len() + selection.index_omitted;
    if wants_names {
        let mut names = Vec::new();
        // What matched comes first: where some of it is left out, no name takes its room.
        for index in selection.names.iter().take_while(|_| left == 0) {
            let name = bundle.prompt(*index)?.name()?;
            if !fits(name.len() + ", ".len()) {
                break;
            }
            names.push(name);
        }
        left += selection.names.len() - names.len() + selection.names_omitted;
        if !names.is_empty() {
            lines.push(format!("Others, by name: {}", names.join(", ")));
        }
    }
    match (lines.is_empty(), left) {
        (true, 0) => lines.push("(none)".to_owned()),
        (_, 0) => {}
        (_, more) => lines.push(format!("({more} more; read_prompts finds them by keyword)")),
    }
    Ok(lines.join("\n"))
}

fn fill(message: &[MessagePiece], matched: &str, remaining: &str) -> String {
    let texts = message.iter().map(|piece| match piece {
        MessagePiece::Literal(text) => text,
        MessagePiece::Matched => matched,
        MessagePiece::Remaining => remaining,
    });
    texts.collect()
}

fn push(entry: &mut String, word: &str) {
    entry.push(' ');
    entry.push_str(word);
}

fn shortened(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    let cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}
