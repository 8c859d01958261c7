//! The index of the prompts that clients get before any briefing, and the instructions with it,
//! where audiences have their own.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use relay_bundle::Corrupt;
use relay_engine::view::View;

use crate::finding::{Area, Change, Finding, Findings, Instructed, Kind, TOKEN_BYTES};
use crate::pairs::{Cell, Pair, Pairs};

/// Compares the prompts that the index lists, except changes that follow from the prompts
/// themselves: a new, gone or changed prompt can push others out. Where audiences differ, the
/// lengths of their instructions are compared too.
pub(crate) fn compare(pairs: &Pairs<'_>, out: &mut Findings) -> Result<(), Corrupt> {
    match pairs.list.as_slice() {
        [] => Ok(()),
        [everyone] => listed(everyone, out),
        _ => instructions(pairs, out),
    }
}

fn listed(pair: &Pair<'_>, out: &mut Findings) -> Result<(), Corrupt> {
    // If only one side has a gate, changes of the listed prompts follow from that.
    if pair.a.gate().is_some() != pair.b.gate().is_some() {
        return Ok(());
    }
    let (lost, gained) = differences(pair, out)?;
    if !(lost.is_empty() && gained.is_empty()) {
        let causes = out.briefed.clone();
        let change = Change::Listed { lost, gained, causes };
        out.push(Finding::new(Area::Contexts, Kind::Index, "", change));
    }
    Ok(())
}

/// The difference in instructions: their bytes, and the prompts of their index.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Difference {
    bytes: [usize; 2],
    lost: Vec<String>,
    gained: Vec<String>,
}

fn instructions(pairs: &Pairs<'_>, out: &mut Findings) -> Result<(), Corrupt> {
    let mut differences: BTreeMap<Difference, Vec<Cell>> = BTreeMap::new();
    let mut content = [String::new(), String::new()];
    for pair in &pairs.list {
        let texts = [pair.a.instructions()?, pair.b.instructions()?];
        let (lost, gained) = self::differences(pair, out)?;
        let [before, after] = &texts;
        if before == after && lost.is_empty() && gained.is_empty() {
            continue;
        }
        let difference = Difference { bytes: [before.len(), after.len()], lost, gained };
        differences.entry(difference).or_default().extend(&pair.cells);
        for (content, text) in content.iter_mut().zip(texts) {
            content.push_str(&text);
            content.push('\0');
        }
    }
    let mut audiences: Vec<Instructed> = differences
        .into_iter()
        .map(|(Difference { bytes, lost, gained }, cells)| Instructed {
            readers: pairs.words(cells.into_iter()),
            bytes,
            tokens_estimated: bytes
                .map(|bytes| bytes.div_ceil(TOKEN_BYTES.unsigned_abs() as usize)),
            lost,
            gained,
        })
        .collect();
    audiences.sort_by_key(|each| Reverse(each.bytes[0].abs_diff(each.bytes[1])));
    let Some(Instructed { bytes: [before, after], .. }) = audiences.first() else {
        return Ok(());
    };
    let (before, after) = (*before, *after);
    let mut causes = out.briefed.clone();
    causes.sort();
    let change = Change::Instructions { audiences, causes };
    let [old, new] = content;
    let finding = Finding::new(Area::Contexts, Kind::Instructions, "", change);
    out.push(finding.bytes(before, after).content(old.as_bytes(), new.as_bytes()));
    Ok(())
}

/// Returns the prompts that only the index before lists, and those that only the one after lists.
fn differences(pair: &Pair<'_>, out: &Findings) -> Result<(Vec<String>, Vec<String>), Corrupt> {
    let (before, after) = (pair.a.listed()?, pair.b.listed()?);
    if before == after {
        return Ok((Vec::new(), Vec::new()));
    }
    Ok((missing(&before, &after, &pair.b, out)?, missing(&after, &before, &pair.a, out)?))
}

/// Returns the names that only the first list has, of prompts that both sides have unchanged.
fn missing(
    list: &[&str],
    other: &[&str],
    other_view: &View<'_>,
    out: &Findings,
) -> Result<Vec<String>, Corrupt> {
    let mut other: Vec<&str> = other.to_vec();
    other.sort_unstable();
    let mut missing = Vec::new();
    for name in list {
        let is_cause = out.briefed.iter().any(|cause| cause == name);
        let is_other = other.binary_search(name).is_ok() || is_cause;
        if !is_other && other_view.find_prompt(name)?.is_some() {
            missing.push((*name).to_owned());
        }
    }
    Ok(missing)
}
