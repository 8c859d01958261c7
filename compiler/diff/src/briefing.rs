//! The prompts of briefings: asked of `engine`, with the tags that the prompts themselves suggest.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use relay_bundle::{Bundle, Corrupt, Gate, List, lower_case};
use relay_engine::briefing::{self, Occasion, Request};
use relay_engine::select::{self, Tags};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::finding::{Area, Change, Claim, Finding, Findings, Kind, Lost};
use crate::pairs::{Cell, Pair, Pairs};

/// The most tried audiences: those that see a changed prompt first, then those that see most.
const AUDIENCES_MAX: usize = 8;
/// The most tried tags, of all audiences together.
const TAGS_MAX: usize = 400;
/// Tags that a finding names.
const EXAMPLES_MAX: usize = 5;

/// Compares the prompts that tags bring in full, if both bundles have a gate and a prompt or the
/// budget changed. Audiences with equal differences are one.
pub(crate) fn compare(
    a: &Bundle,
    b: &Bundle,
    pairs: &Pairs<'_>,
    out: &mut Findings,
) -> Result<(), Corrupt> {
    let (Some(gate_a), Some(gate_b)) = (a.gate(), b.gate()) else { return Ok(()) };
    let budget = [gate_a.budget_bytes.value as usize, gate_b.budget_bytes.value as usize];
    if (out.briefed.is_empty() && budget[0] == budget[1]) || pairs.list.is_empty() {
        return Ok(());
    }
    let chapters = chapters(a, b)?;
    let tags: BTreeSet<String> =
        chapters.iter().cloned().chain(words(a, b, &out.briefed)?).collect();
    let changed = Changed::of(a, b, &out.briefed)?;
    let mut audiences: Vec<(bool, &Pair<'_>)> = Vec::new();
    for pair in &pairs.list {
        // Another budget reaches everyone.
        audiences.push((budget[0] != budget[1] || changed.is_seen_by(pair)?, pair));
    }
    audiences.sort_by_key(|(may_differ, pair)| Reverse((*may_differ, pair.b.count(List::Prompts))));
    let untried = audiences.split_off(AUDIENCES_MAX.min(audiences.len()));
    let tried = evenly(&tags, TAGS_MAX / audiences.len());
    let mut causes = std::mem::take(&mut out.briefed);
    causes.sort();
    let mut differences: Vec<(Difference, Vec<Cell>)> = Vec::new();
    for (_, pair) in &audiences {
        let Some(difference) = difference(pair, [gate_a, gate_b], &tried)? else { continue };
        match differences.iter_mut().find(|(known, _)| *known == difference) {
            Some((_, cells)) => cells.extend(&pair.cells),
            None => differences.push((difference, pair.cells.clone())),
        }
    }
    let untried: Vec<&Pair<'_>> =
        untried.iter().filter(|(may_differ, _)| *may_differ).map(|(_, pair)| *pair).collect();
    if !untried.is_empty() {
        let cells = || untried.iter().flat_map(|pair| pair.cells.iter().copied());
        let (readers, causes) = (pairs.words(cells()), causes.clone());
        // All of these may differ: the others were removed.
        let claim = Claim::Tried { inputs: audiences.len(), of: audiences.len() + untried.len() };
        let change = Change::Untried { readers, causes };
        let finding = Finding::new(Area::Contexts, Kind::Briefings, "", change);
        let content = pairs.content(cells());
        out.push(finding.part("not tried").claim(claim).content(&[], content.as_bytes()));
    }
    for (Difference { always, mut lost }, cells) in differences {
        let count =
            |of: fn(&Lost) -> &Vec<String>| lost.iter().filter(|each| !of(each).is_empty()).count();
        let (losing, gaining) = (count(|each| &each.lost), count(|each| &each.gained));
        // Those that lose most come first, then chapters, which agents are likely to ask for.
        lost.sort_by_key(|each| (Reverse(each.lost.len()), !chapters.contains(&each.tag)));
        lost.truncate(EXAMPLES_MAX);
        let causes = causes.clone();
        let change = Change::Briefings { always, budget, losing, gaining, examples: lost, causes };
        let mut finding = Finding::new(Area::Contexts, Kind::Briefings, "", change)
            .bytes(always[0], always[1])
            .claim(Claim::Tried { inputs: tried.len(), of: tags.len() })
            .at(Some(&gate_a.at), Some(&gate_b.at));
        if !pairs.are_one() {
            let readers = pairs.words(cells.into_iter()).join("; ");
            finding = finding.part(format!("for {readers}"));
        }
        out.push(finding);
    }
    Ok(())
}

/// The prompts that changed, by their rows on each side.
struct Changed {
    a: Vec<usize>,
    b: Vec<usize>,
}

impl Changed {
    fn of(a: &Bundle, b: &Bundle, names: &[String]) -> Result<Self, Corrupt> {
        let rows = |bundle: &Bundle| {
            let row = |name: &String| Ok(bundle.find_prompt(name)?.map(|prompt| prompt.index()));
            names.iter().filter_map(|name| row(name).transpose()).collect::<Result<_, Corrupt>>()
        };
        Ok(Self { a: rows(a)?, b: rows(b)? })
    }

    /// Returns whether callers see one of them, before or after.
    fn is_seen_by(&self, pair: &Pair<'_>) -> Result<bool, Corrupt> {
        for (view, rows) in [(&pair.a, &self.a), (&pair.b, &self.b)] {
            for row in rows {
                if view.sees(List::Prompts, *row)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The difference in the briefings of an audience.
#[derive(PartialEq)]
struct Difference {
    /// Bytes of the prompts that every briefing sends.
    always: [usize; 2],
    /// The prompts that each tried tag no longer brings, or brings in addition.
    lost: Vec<Lost>,
}

fn difference(
    pair: &Pair<'_>,
    gates: [&Gate; 2],
    tried: &[String],
) -> Result<Option<Difference>, Corrupt> {
    let mut lost: Vec<Lost> = Vec::new();
    for tag in tried {
        let before = in_full(&pair.a, gates[0], tag)?;
        let after = in_full(&pair.b, gates[1], tag)?;
        // A gone, new or hidden prompt has a finding of its own.
        let is_left =
            |view: &View<'_>, name: &str| Ok::<_, Corrupt>(view.find_prompt(name)?.is_some());
        let mut each = Lost { tag: tag.clone(), lost: Vec::new(), gained: Vec::new() };
        for name in before.difference(&after) {
            if is_left(&pair.b, name)? {
                each.lost.push(name.clone());
            }
        }
        for name in after.difference(&before) {
            if is_left(&pair.a, name)? {
                each.gained.push(name.clone());
            }
        }
        if !(each.lost.is_empty() && each.gained.is_empty()) {
            lost.push(each);
        }
    }
    let always = [always(&pair.a)?, always(&pair.b)?];
    Ok((!lost.is_empty() || always[0] != always[1]).then_some(Difference { always, lost }))
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

/// Returns the names of the changed prompts and the words of their summaries, a tag each.
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

/// Returns at most `most` of the tags, spread over all of them.
fn evenly(tags: &BTreeSet<String>, most: usize) -> Vec<String> {
    let step = tags.len().div_ceil(most).max(1);
    tags.iter().step_by(step).cloned().collect()
}

/// Returns the names of the prompts that come in full for one tag, at the start of a session.
fn in_full(view: &View<'_>, gate: &Gate, tag: &str) -> Result<BTreeSet<String>, Corrupt> {
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
    let selection = select::select(view, &tags, &sent, briefing::limits(gate, &request))?;
    let name = |index: &usize| Ok(view.prompt(*index)?.name()?.to_owned());
    selection.full.iter().map(name).collect()
}

/// Returns the bytes of the prompts that every briefing sends.
fn always(view: &View<'_>) -> Result<usize, Corrupt> {
    let mut bytes = 0;
    for row in view.rows(List::Prompts)? {
        let prompt = view.prompt(row)?;
        if prompt.priority() == 10 && prompt.is_briefed() {
            bytes += prompt.body_bytes();
        }
    }
    Ok(bytes)
}
