//! Briefings: tags and the gate's messages -> the text for an agent.
//!
//! `relay-serve` sends the text that [`brief`] returns and `relay explain` prints it, so limits,
//! the rule for repeated briefings, selection and composition are all decided here.

use relay_bundle::{Corrupt, Gate, MessagePiece};

use crate::select::{self, Limits, Selection, Tags};
use crate::sent::Sent;
use crate::view::View;

/// Characters of one index entry in an answer. All entries together have a limit in bytes.
const ENTRY_CHARS_MAX: usize = 200;

/// The most unmatched tags that an answer names, and the most characters of one.
const UNMATCHED_MAX: usize = 10;
const UNMATCHED_CHARS_MAX: usize = 60;

/// The occasion of a briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// `begin_session` asked for it.
    Begin,
    /// `read_prompts` asked for more.
    Read,
    /// It was sent unasked: it precedes the result of a call.
    Intercept,
}

/// A request for a briefing.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The occasion of a briefing.
    pub occasion: Occasion,
    /// The keywords of the task.
    pub tags: &'a Tags,
    /// The prompts that the caller received in full before.
    pub sent: &'a Sent,
    /// Whether the caller has a session, in which the server remembers the briefing.
    pub has_session: bool,
    /// The budget for bodies in bytes, in place of the gate's: a preview may set another.
    pub budget_bytes: Option<usize>,
}

/// A briefing: the selection and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Briefing {
    /// The prompts in full, with their summary, and by name only.
    pub selection: Selection,
    /// The text before the handle, which is sealed over the selection.
    text: String,
}

/// Selects the prompts that answer `request` and composes the text.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn brief(view: &View<'_>, gate: &Gate, request: &Request<'_>) -> Result<Briefing, Corrupt> {
    let selection = select::select(view, request.tags, request.sent, limits(gate, request))?;
    let text = compose(view, gate, request, &selection)?;
    Ok(Briefing { selection, text })
}

impl Briefing {
    /// Returns the text for the caller, with the handle for later calls at its end.
    #[must_use]
    pub fn text(&self, handle: &str) -> String {
        let text = &self.text;
        format!("{text}\n\nYour briefing, for the argument `briefing` of later calls: {handle}")
    }
}

/// Returns the limits of the answer to `request`.
#[must_use]
pub fn limits(gate: &Gate, request: &Request<'_>) -> Limits {
    let budget = if request.is_repeated() { &gate.repeat_bytes } else { &gate.budget_bytes };
    let of_gate = budget.value as usize;
    // An entry or a name takes at least one letter and the punctuation around it.
    let entries_max = remaining_bytes(gate, request) / 3;
    let budget_bytes = request.budget_bytes.unwrap_or(of_gate);
    // The keywords of a call may equal a name by chance.
    Limits { budget_bytes, entries_max, named_in_full: request.occasion != Occasion::Intercept }
}

/// Returns the limit of index entries and names together, in bytes.
fn remaining_bytes(gate: &Gate, request: &Request<'_>) -> usize {
    let most = if request.is_repeated() { gate.repeat_bytes.value } else { u32::MAX };
    gate.remaining_bytes.value.min(most) as usize
}

impl Request<'_> {
    /// Returns whether the same caller may get a briefing with each call: in stateless calls, all
    /// that lack the handle look alike.
    fn is_repeated(&self) -> bool {
        self.occasion == Occasion::Intercept && !self.has_session
    }
}

/// Composes the prompts in full, the list of the others, and how to continue.
///
/// Index entries and names together take at most the bytes set by the gate; the number of the
/// remaining prompts follows.
fn compose(
    view: &View<'_>,
    gate: &Gate,
    request: &Request<'_>,
    selection: &Selection,
) -> Result<String, Corrupt> {
    let occasion = request.occasion;
    let bytes_max = remaining_bytes(gate, request);
    let matched = matched(view, occasion, selection)?;
    let remaining = remaining(view, bytes_max, selection, true)?;
    let (preamble, message) = messages(view, occasion);
    let index = view.index()?;
    let places = |piece| preamble.iter().chain(message).any(|each| *each == piece);
    let mut parts = vec![fill(preamble, index, &matched, &remaining)];
    // A list whose variable a message leaves out is appended, so that every list is sent.
    if !places(MessagePiece::Matched) {
        parts.push(matched.clone());
    }
    if !places(MessagePiece::Remaining) && !selection.index.is_empty() {
        parts.push(self::remaining(view, bytes_max, selection, false)?);
    }
    parts.push(fill(message, index, &matched, &remaining));
    if occasion != Occasion::Intercept {
        parts.push(unmatched(request.tags, selection));
    }
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n\n"))
}

/// Returns the message pieces before and after the texts of a briefing.
fn messages<'b>(view: &View<'b>, occasion: Occasion) -> (&'b [MessagePiece], &'b [MessagePiece]) {
    let message = match occasion {
        Occasion::Begin | Occasion::Intercept => {
            view.message(|messages| &messages.gate_encouragement.value)
        }
        Occasion::Read => view.message(|messages| &messages.read_prompts_reminder.value),
    };
    let preamble = match occasion {
        Occasion::Intercept => view.message(|messages| &messages.gate_intercept_preamble.value),
        Occasion::Begin | Occasion::Read => &[],
    };
    (preamble, message)
}

/// The numbers of index entries and names of a selection that fit into the text of its briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// The number of entries, from the start of `index`.
    pub entries: usize,
    /// The number of names, from the start of `names`.
    pub names: usize,
}

/// Returns the parts of a selection in the text of its briefing, besides the prompts in full.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn listed(
    view: &View<'_>,
    gate: &Gate,
    request: &Request<'_>,
    selection: &Selection,
) -> Result<Listed, Corrupt> {
    let (preamble, message) = messages(view, request.occasion);
    // Only a message with the variable lists names.
    let wants_names = preamble.iter().chain(message).any(|piece| *piece == MessagePiece::Remaining);
    let bytes_max = remaining_bytes(gate, request);
    let (entries, names) = fitting(view, bytes_max, selection, wants_names)?;
    Ok(Listed { entries: entries.len(), names: names.len() })
}

/// Returns the line of a prompt in an index: its name and summary.
///
/// Runs of white space become one space, so it is always one line. It has at most `chars_max`
/// characters: a longer one ends with an ellipsis.
#[must_use]
pub fn entry(name: &str, summary: Option<&str>, chars_max: usize) -> String {
    let mut entry = String::from("-");
    let words = name.split_whitespace();
    words.for_each(|word| push(&mut entry, word));
    let mut about = summary.unwrap_or_default().split_whitespace().peekable();
    if about.peek().is_some() {
        entry.push(':');
    }
    // Summaries may be long, so only the kept part is copied.
    let mut room = chars_max;
    for word in about {
        if room == 0 {
            break;
        }
        push(&mut entry, word);
        room = room.saturating_sub(word.chars().count() + 1);
    }
    truncate(entry, chars_max)
}

fn matched(view: &View<'_>, occasion: Occasion, selection: &Selection) -> Result<String, Corrupt> {
    if selection.full.is_empty() {
        let has_more = !selection.index.is_empty() || selection.index_omitted > 0;
        let text = match occasion {
            _ if has_more => {
                "(The prompts that match are too long for one answer. They are listed below.)"
            }
            Occasion::Read => "(No further prompt matches these keywords.)",
            Occasion::Begin | Occasion::Intercept => "(No prompt matches these keywords.)",
        };
        return Ok(text.to_owned());
    }
    let mut text = String::new();
    for index in &selection.full {
        let prompt = view.prompt(*index)?;
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

/// Lists the remaining prompts: index entries of the matches, then the names of the others if
/// `wants_names`.
fn remaining(
    view: &View<'_>,
    bytes_max: usize,
    selection: &Selection,
    wants_names: bool,
) -> Result<String, Corrupt> {
    let (mut lines, names) = fitting(view, bytes_max, selection, wants_names)?;
    let mut left = selection.index.len() - lines.len() + selection.index_omitted;
    if wants_names {
        left += selection.names.len() - names.len() + selection.names_omitted;
        if !names.is_empty() {
            lines.push(format!("Others, by name: {}", names.join(", ")));
        }
    }
    lines.push(match (lines.is_empty(), left) {
        (true, 0) => "(none)".to_owned(),
        (true, more) => format!("({more} more; read_prompts finds them by keyword)"),
        (false, 0) => "(read_prompts with one of these names as the only tag returns it in full)".to_owned(),
        (false, more) => format!(
            "({more} more; read_prompts finds them by keyword, and with a name as the only tag returns that one in full)"
        ),
    });
    Ok(lines.join("\n"))
}

/// Returns the index entries and the names that fit these bytes.
fn fitting<'b>(
    view: &View<'b>,
    bytes_max: usize,
    selection: &Selection,
    wants_names: bool,
) -> Result<(Vec<String>, Vec<&'b str>), Corrupt> {
    let mut room = bytes_max;
    let mut fits = |bytes: usize| {
        let rest = room.checked_sub(bytes);
        room = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut entries = Vec::new();
    for index in &selection.index {
        let prompt = view.prompt(*index)?;
        let entry = entry(prompt.name()?, prompt.about()?, ENTRY_CHARS_MAX);
        if !fits(entry.len() + "\n".len()) {
            break;
        }
        entries.push(entry);
    }
    let left = selection.index.len() - entries.len() + selection.index_omitted;
    let mut names = Vec::new();
    // Matches come first: if one of them is omitted, its room stays empty.
    if wants_names && left == 0 {
        for index in &selection.names {
            let name = view.prompt(*index)?.name()?;
            if !fits(name.len() + ", ".len()) {
                break;
            }
            names.push(name);
        }
    }
    Ok((entries, names))
}

/// Names the unmatched tags, so that the agent tries other words; empty if all tags match.
fn unmatched(tags: &Tags, selection: &Selection) -> String {
    let unmatched = selection.unmatched.iter().filter_map(|place| tags.as_slice().get(*place));
    let mut names: Vec<String> = unmatched
        .clone()
        .take(UNMATCHED_MAX)
        .map(|tag| {
            let words: Vec<&str> = tag.split_whitespace().collect();
            format!("`{}`", truncate(words.join(" "), UNMATCHED_CHARS_MAX))
        })
        .collect();
    let more = selection.unmatched.len().saturating_sub(names.len());
    if more > 0 {
        names.push(format!("{more} more tags"));
    }
    let is_said = selection.full.is_empty() && selection.unmatched.len() == tags.iter().len();
    match names.as_slice() {
        [] => String::new(),
        _ if is_said => String::new(),
        _ => format!("(No prompt matches {}.)", names.join(", ")),
    }
}

fn fill(message: &[MessagePiece], index: &str, matched: &str, remaining: &str) -> String {
    let texts = message.iter().map(|piece| match piece {
        MessagePiece::Literal(text) => text,
        MessagePiece::Index => index,
        MessagePiece::Matched => matched,
        MessagePiece::Remaining => remaining,
    });
    texts.collect()
}

fn push(entry: &mut String, word: &str) {
    entry.push(' ');
    entry.push_str(word);
}

fn truncate(text: String, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text;
    }
    let cut: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}
