//! The index of the prompts that clients get before any briefing.

use relay_bundle::{Bundle, Corrupt};

use crate::finding::{Area, Change, Finding, Findings, Kind};

/// Compares which prompts the index lists, as far as that does not follow from the prompts
/// themselves: one that is new, gone or changed can push others out.
pub(crate) fn compare(a: &Bundle, b: &Bundle, out: &mut Findings) -> Result<(), Corrupt> {
    let [before, after] = [a, b].map(|bundle| bundle.messages().prompt_index.as_slice());
    if before == after {
        return Ok(());
    }
    let lost = missing(before, after, b, out)?;
    let gained = missing(after, before, a, out)?;
    if !(lost.is_empty() && gained.is_empty()) {
        let causes = out.briefed.clone();
        let change = Change::Listed { lost, gained, causes };
        out.push(Finding::new(Area::Contexts, Kind::Index, "", change));
    }
    Ok(())
}

/// Returns the names that only the first list has, of prompts that both sides have unchanged.
fn missing(
    list: &[String],
    other: &[String],
    other_bundle: &Bundle,
    out: &Findings,
) -> Result<Vec<String>, Corrupt> {
    let mut other: Vec<&String> = other.iter().collect();
    other.sort_unstable();
    let mut missing = Vec::new();
    for name in list {
        let is_other = other.binary_search(&name).is_ok() || out.briefed.contains(name);
        if !is_other && other_bundle.find_prompt(name)?.is_some() {
            missing.push(name.clone());
        }
    }
    Ok(missing)
}
