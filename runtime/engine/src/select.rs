//! Tags -> the prompts that come in full, with their summary, or by name only.
//!
//! A tag matches a prompt if it is its whole name, or occurs in its summary or in one of its
//! chapters; the score is the number of matching tags times the priority. The lists hold only
//! prompts that briefings may send. The tag index of the bundle answers for all prompts at once:
//! memory grows with the size of the selection alone.

mod best;
mod count;
mod hit;
mod score;
mod tag;
mod walk;
mod word;

pub use hit::{Hit, HitPlace, hits};
pub use score::{Score, score};
pub use tag::{BUDGET_BYTES, TAG_CHARS_MAX, TAGS_LIMIT, TAGS_MAX, TagError, Tags};

use relay_bundle::{Corrupt, List, TagIndexView};

use self::walk::Matched;
use crate::sent::Sent;
use crate::view::View;

/// The limits of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The budget for bodies in full, in bytes. Bodies of priority 10 come even if they exceed it.
    pub budget_bytes: usize,
    /// The most index entries and names together; `usize::MAX` for all.
    pub entries_max: usize,
    /// Whether a prompt comes in full, even over the budget, if its name is the only tag.
    pub named_in_full: bool,
}

/// The prompts selected by tags, each by its index in the order of names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// The prompts in full: priority 10 by name, then the best matches, then a prompt requested
    /// only by its name, if it is missing so far.
    pub full: Vec<usize>,
    /// The other matches, best first: they come with name and summary.
    pub index: Vec<usize>,
    /// The unmatched prompts, by name.
    pub names: Vec<usize>,
    /// Bytes of the bodies of `full`.
    pub bytes: usize,
    /// The number of index entries omitted from `index`.
    pub index_omitted: usize,
    /// The number of names omitted from `names`.
    pub names_omitted: usize,
    /// The match at which the budget ended; absent if all matches come in full.
    pub cut: Option<BudgetEnd>,
    /// The tags that miss every prompt, sent ones included, by their positions in [`Tags`].
    pub unmatched: Vec<usize>,
}

/// The first match whose body exceeded the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetEnd {
    /// The prompt.
    pub prompt: usize,
    /// Bytes of its body.
    pub bytes: usize,
    /// The remaining bytes of the budget.
    pub left: usize,
}

/// Selects prompts by tags, among those still unsent.
///
/// The order is score falling, priority falling, name. Matches come in full while the body fits the
/// rest of the budget, up to the first that exceeds it.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn select(
    view: &View<'_>,
    tags: &Tags,
    sent: &Sent,
    limits: Limits,
) -> Result<Selection, Corrupt> {
    let Some(index) = view.bundle().tag_index()? else {
        let unmatched = (0..tags.iter().len()).collect();
        return Ok(Selection { unmatched, ..Selection::default() });
    };
    let always = index.end_of(10);
    let named = tags.iter().map(|tag| ranks_named(view, tag)).collect::<Result<Vec<_>, _>>()?;
    let sent_ranks = sent_ranks(view, sent, always)?;
    let ranks = view.ranks()?;
    let mut out = Selection::default();
    for rank in (0..always).filter(|rank| ranks.contains(*rank)) {
        let prompt = view.prompt(index.prompt_at(rank)?)?;
        if !is_sent(sent, prompt.index()) {
            out.full.push(prompt.index());
            out.bytes = out.bytes.saturating_add(prompt.body_bytes());
        }
    }
    let left = limits.budget_bytes.saturating_sub(out.bytes);
    // One more than fits, to end the filling.
    let wanted = index.fitting_max(left).saturating_add(limits.entries_max).saturating_add(1);
    let matched = walk::matched(view, &index, tags, &named, &sent_ranks, wanted)?;
    fill(&mut out, view, &index, &matched, left, limits.entries_max)?;
    if let ([ranks], true) = (named.as_slice(), limits.named_in_full) {
        let asked = ranks.iter().filter(|rank| **rank >= always && !sent_ranks.contains(rank));
        for rank in asked {
            send_named(&mut out, view, index.prompt_at(*rank)?)?;
        }
    }
    out.unmatched = matched.unmatched;
    let others = view.ranked(index.rank_count()).saturating_sub(view.always(always));
    let others = others.saturating_sub(sent_ranks.len());
    let names = others.saturating_sub(matched.count);
    // Matches come first: if one of them is omitted, its room stays empty.
    let room = match out.index_omitted {
        0 => names.min(limits.entries_max.saturating_sub(out.index.len())),
        _ => 0,
    };
    name(&mut out, view, sent, room)?;
    out.names_omitted = names.saturating_sub(out.names.len());
    Ok(out)
}

/// Returns the ranks of the prompts whose whole name is the tag.
fn ranks_named(view: &View<'_>, tag: &str) -> Result<Vec<usize>, Corrupt> {
    let mut ranks = Vec::new();
    for index in view.prompts_named(tag)? {
        ranks.extend(view.prompt(index)?.rank()?);
    }
    Ok(ranks)
}

/// Returns the sorted ranks of the visible sent prompts, except those of priority 10.
fn sent_ranks(view: &View<'_>, sent: &Sent, always: usize) -> Result<Vec<usize>, Corrupt> {
    let mut ranks = Vec::new();
    for index in sent.iter() {
        let index = index as usize;
        // Indexes beyond the prompts are ignored, and so are prompts that became invisible.
        if view.sees(List::Prompts, index)? {
            ranks.extend(view.prompt(index)?.rank()?);
        }
    }
    ranks.retain(|rank| *rank >= always);
    ranks.sort_unstable();
    Ok(ranks)
}

/// Adds the matches, best first: in full while the body fits, then as index entries.
fn fill(
    out: &mut Selection,
    view: &View<'_>,
    index: &TagIndexView<'_>,
    matched: &Matched,
    mut left: usize,
    entries_max: usize,
) -> Result<(), Corrupt> {
    let mut in_full = 0;
    for rank in &matched.ranks {
        if out.cut.is_some() && out.index.len() == entries_max {
            break;
        }
        let prompt = index.prompt_at(*rank as usize)?;
        if out.cut.is_none() {
            let bytes = view.prompt(prompt)?.body_bytes();
            if let Some(rest) = left.checked_sub(bytes) {
                left = rest;
                in_full += 1;
                out.bytes = out.bytes.saturating_add(bytes);
                out.full.push(prompt);
                continue;
            }
            out.cut = Some(BudgetEnd { prompt, bytes, left });
        }
        if out.index.len() < entries_max {
            out.index.push(prompt);
        }
    }
    out.index_omitted = matched.count.saturating_sub(in_full).saturating_sub(out.index.len());
    Ok(())
}

/// Moves a match over the budget from the index entries to the texts in full.
fn send_named(out: &mut Selection, view: &View<'_>, prompt: usize) -> Result<(), Corrupt> {
    if out.full.contains(&prompt) {
        return Ok(());
    }
    match out.index.iter().position(|entry| *entry == prompt) {
        Some(entry) => drop(out.index.remove(entry)),
        None => out.index_omitted = out.index_omitted.saturating_sub(1),
    }
    out.bytes = out.bytes.saturating_add(view.prompt(prompt)?.body_bytes());
    out.full.push(prompt);
    Ok(())
}

/// Adds the first `room` names of the unmatched prompts.
///
/// INVARIANT: if there is room for a name, every match is in one of the lists of `out`, and so is
/// every unsent prompt of priority 10.
fn name(out: &mut Selection, view: &View<'_>, sent: &Sent, room: usize) -> Result<(), Corrupt> {
    if room == 0 {
        return Ok(());
    }
    let mut listed: Vec<usize> = out.full.iter().chain(&out.index).copied().collect();
    listed.sort_unstable();
    let mut listed = listed.into_iter().peekable();
    for index in view.rows(List::Prompts)? {
        let is_listed = listed.next_if_eq(&index).is_some();
        if !is_listed && !is_sent(sent, index) && view.prompt(index)?.is_briefed() {
            out.names.push(index);
            if out.names.len() == room {
                break;
            }
        }
    }
    Ok(())
}

fn is_sent(sent: &Sent, index: usize) -> bool {
    u32::try_from(index).is_ok_and(|index| sent.contains(index))
}
