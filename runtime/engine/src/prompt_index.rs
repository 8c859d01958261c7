//! The index of the prompts: a line for each, and the number of omitted prompts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, PromptView};

use crate::briefing;

/// Returns the text of an index.
///
/// `omitted` is the number of prompts left out; in a gated project, `read_prompts` returns them.
#[must_use]
pub fn text(entries: &[String], omitted: usize, is_gated: bool) -> String {
    let mut text = entries.join("\n");
    if let Some(rest) = rest(entries.len(), omitted, is_gated) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&rest);
    }
    text
}

/// Returns the rows of the prompts that an index may list, in its order: the most important first.
/// These are the prompts that briefings may send, with the gate on or off: people run the others.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn order(bundle: &Bundle) -> Result<Vec<usize>, Corrupt> {
    let mut order = Vec::new();
    for prompt in bundle.prompts() {
        let prompt = prompt?;
        if prompt.is_briefed() {
            order.push((Reverse(prompt.priority()), prompt.index()));
        }
    }
    order.sort_unstable();
    Ok(order.into_iter().map(|(_, row)| row).collect())
}

/// The most entry lengths that are tried.
const LENGTHS_MAX: usize = 8;

/// Returns whether lines are the entries of these prompts, either all truncated to one length or
/// all whole.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn are_entries(lines: &[&str], prompts: &[PromptView<'_>]) -> Result<bool, Corrupt> {
    if lines.len() != prompts.len() {
        return Ok(false);
    }
    let cut = lines.iter().filter(|line| line.ends_with('…'));
    let lengths: BTreeSet<usize> = cut.map(|line| line.chars().count()).collect();
    // Truncation drops a blank at the end, so an entry may be one character shorter than the limit.
    let lengths = lengths.into_iter().rev().take(LENGTHS_MAX).flat_map(|each| [each, each + 1]);
    for chars_max in lengths.chain([usize::MAX]) {
        let mut are = true;
        for (line, prompt) in lines.iter().zip(prompts) {
            are = briefing::entry(prompt.name()?, prompt.about()?, chars_max) == *line;
            if !are {
                break;
            }
        }
        if are {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a text is an index of `count` prompts, of which `prompts` are the first, in the
/// order of selection: the entries of the first prompts, and the number of omitted ones.
///
/// # Errors
///
/// The bundle is corrupt.
pub fn is_index<'b>(
    text: &str,
    count: usize,
    is_gated: bool,
    prompts: impl Iterator<Item = Result<PromptView<'b>, Corrupt>>,
) -> Result<bool, Corrupt> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.len() != count {
        let last = lines.pop();
        let Some(omitted) = count.checked_sub(lines.len()) else { return Ok(false) };
        if rest(lines.len(), omitted, is_gated).as_deref() != last {
            return Ok(false);
        }
    }
    let listed = prompts.take(lines.len()).collect::<Result<Vec<_>, _>>()?;
    are_entries(&lines, &listed)
}

/// Returns the last line of an index with `listed` entries; `None` if all are listed.
#[must_use]
pub fn rest(listed: usize, omitted: usize, is_gated: bool) -> Option<String> {
    let how = if is_gated { "ask with read_prompts" } else { "prompts/list names them" };
    match (listed, omitted) {
        (0, 0) => Some("(none)".into()),
        (_, 0) => None,
        (0, _) => Some(format!("({omitted} prompts; {how})")),
        (_, _) => Some(format!("({omitted} more; {how})")),
    }
}
