//! What briefings bring: asked of `engine`, with the tags that the prompts themselves suggest.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Gate, lower_case};
use relay_engine::briefing::{self, Occasion, Request};
use relay_engine::select::{self, Tags};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::finding::{Area, Change, Claim, Finding, Findings, Kind, Lost};

/// Tags that are tried.
const TAGS_MAX: usize = 400;
/// Tags that a finding names.
const EXAMPLES_MAX: usize = 5;

/// Compares what tags bring in full, if both bundles have a gate and a prompt changed.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let (Some(gate_a), Some(gate_b)) = (a.gate(), b.gate()) else { return Ok(()) };
    let budget = [gate_a.budget_bytes.value as usize, gate_b.budget_bytes.value as usize];
    if out.briefed.is_empty() && budget[0] == budget[1] {
        return Ok(());
    }
    let chapters = chapters(a, b)?;
    let tags: BTreeSet<String> =
        chapters.iter().cloned().chain(words(a, b, &out.briefed)?).collect();
    let tried = evenly(&tags, TAGS_MAX);
    let always = [always(a)?, always(b)?];
    let mut lost: Vec<Lost> = Vec::new();
    for tag in &tried {
        let (before, after) = (in_full(a, gate_a, tag)?, in_full(b, gate_b, tag)?);
        // What is gone or new itself is reported as that.
        let is_left =
            |bundle: &Bundle, name: &str| Ok::<_, Corrupt>(bundle.find_prompt(name)?.is_some());
        let mut each = Lost { tag: tag.clone(), lost: Vec::new(), gained: Vec::new() };
        for name in before.difference(&after) {
            if is_left(b, name)? {
                each.lost.push(name.clone());
            }
        }
        for name in after.difference(&before) {
            if is_left(a, name)? {
                each.gained.push(name.clone());
            }
        }
        if !(each.lost.is_empty() && each.gained.is_empty()) {
            lost.push(each);
        }
    }
    if lost.is_empty() && always[0] == always[1] {
        return Ok(());
    }
    let count =
        |of: fn(&Lost) -> &Vec<String>| lost.iter().filter(|each| !of(each).is_empty()).count();
    let (losing, gaining) = (count(|each| &each.lost), count(|each| &each.gained));
    // Those that lose most say most, and chapters are what agents are likely to ask for.
    lost.sort_by_key(|each| (Reverse(each.lost.len()), !chapters.contains(&each.tag)));
    lost.truncate(EXAMPLES_MAX);
    let mut causes = std::mem::take(&mut out.briefed);
    causes.sort();
    let change = Change::Briefings { always, budget, losing, gaining, examples: lost, causes };
    let finding = Finding::new(Area::Contexts, Kind::Briefings, "", change)
        .bytes(always[0], always[1])
        .claim(Claim::Tried { inputs: tried.len(), of: tags.len() })
        .at(Some(&gate_a.at), Some(&gate_b.at));
    out.push(finding);
    Ok(())
}

/// Returns the chapters of both sides, a tag each.
fn chapters(a: &Bundle, b: &Bundle) -> Result<BTreeSet<String>, Corrupt> {
    let mut tags = BTreeSet::new();
    for bundle in [a, b] {
        for prompt in bundle.prompts() {
            tags.extend(prompt?.chapters()?.into_iter().map(lower_case));
        }
    }
    Ok(tags)
}

/// Returns the names of what changed and the words of its summaries, a tag each.
fn words(a: &Bundle, b: &Bundle, changed: &[String]) -> Result<BTreeSet<String>, Corrupt> {
    let mut tags = BTreeSet::new();
    for bundle in [a, b] {
        for name in changed {
            let Some(prompt) = bundle.find_prompt(name)? else { continue };
            tags.insert(lower_case(name));
            if let Some(summary) = prompt.summary()? {
                let summary = lower_case(summary);
                let words = summary.split(|letter: char| !letter.is_alphanumeric());
                tags.extend(words.filter(|word| word.chars().count() > 2).map(Into::into));
            }
        }
    }
    Ok(tags)
}

/// Returns at most so many of the tags, spread over all of them.
fn evenly(tags: &BTreeSet<String>, most: usize) -> Vec<String> {
    let step = tags.len().div_ceil(most).max(1);
    tags.iter().step_by(step).cloned().collect()
}

/// Returns the names of the prompts that come in full for one tag, at the begin of a session.
fn in_full(bundle: &Bundle, gate: &Gate, tag: &str) -> Result<BTreeSet<String>, Corrupt> {
    let Ok(tags) = Tags::new(&[tag], gate.tags_max.value as usize) else {
        return Ok(BTreeSet::new());
    };
    let sent = Sent::default();
    let request = Request {
        occasion: Occasion::Begin,
        tags: &tags,
        sent: &sent,
        has_session: true,
        budget_bytes: None,
    };
    let selection = select::select(
        &View::of_audience(bundle, 0)?,
        &tags,
        &sent,
        briefing::limits(gate, &request),
    )?;
    let name = |index: &usize| Ok(bundle.prompt(*index)?.name()?.to_owned());
    selection.full.iter().map(name).collect()
}

/// Returns the bytes of the prompts that every briefing sends.
fn always(bundle: &Bundle) -> Result<usize, Corrupt> {
    let mut bytes = 0;
    for prompt in bundle.prompts() {
        let prompt = prompt?;
        if prompt.priority() == 10 && prompt.is_briefed() {
            bytes += prompt.body_bytes();
        }
    }
    Ok(bytes)
}
