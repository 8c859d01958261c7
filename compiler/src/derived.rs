//! A bundle -> the parts that differ from those of its contents, as far as a compiler can make them
//! again: those that a server makes, and also facts and texts generated from markdown.

use relay_bundle::{Bundle, Corrupt};
use relay_engine::derived::Mismatch;
use relay_policy::facts::{Facts, join};

use crate::automaton::Automata;
use crate::lower;
use crate::resolve;
use crate::shipped_facts;

/// Returns the parts of a bundle that differ from those of its contents; empty for every bundle of
/// this version of the compiler. A table with the bytes of `shipped_facts` is as made: a test
/// compares the shipped one with its files.
///
/// # Errors
///
/// The bundle differs from the signed one, or no contents could give its parts.
pub fn mismatches(bundle: &Bundle, shipped_facts: &[u8]) -> Result<Vec<Mismatch>, Corrupt> {
    let mut out = relay_engine::derived::mismatches(bundle)?;
    bundle.bounded(|| {
        for prompt in bundle.prompts() {
            let prompt = prompt?.to_owned()?;
            if !resolve::are_generated(&prompt) {
                out.push(Mismatch::Generated(prompt.name));
            }
        }
        Ok(())
    })?;
    if !has_its_facts(bundle, shipped_facts)? {
        out.push(Mismatch::Facts);
    }
    if !has_its_automata(bundle)? {
        out.push(Mismatch::Automata);
    }
    Ok(out)
}

/// Returns whether the automata are those of the regexes in rules, each with its number.
fn has_its_automata(bundle: &Bundle) -> Result<bool, Corrupt> {
    let mut rules = bundle.rules().map(|rule| rule?.to_owned()).collect::<Result<Vec<_>, _>>()?;
    let written = rules.clone();
    for condition in rules.iter_mut().flat_map(|rule| &mut rule.conditions) {
        condition.automaton = None;
    }
    let automata = lower::automata(&mut rules, &Automata::default());
    Ok(rules == written && automata == bundle.automata_bytes()?)
}

/// Returns whether the table of facts is the one made from its facts, and has the digest in the
/// policy.
fn has_its_facts(bundle: &Bundle, shipped: &[u8]) -> Result<bool, Corrupt> {
    let table = bundle.facts()?;
    let Some(policy) = bundle.policy() else { return Ok(table.is_empty()) };
    if table == shipped {
        return Ok(shipped_facts::meaning(table).is_ok_and(|meaning| meaning == policy.facts));
    }
    let Ok(facts) = Facts::open(table) else { return Ok(false) };
    let is_as_made = match facts.parted() {
        None => is_as_made(&facts, table),
        Some((base, own)) => {
            let base_facts = Facts::open(&base);
            base_facts.is_ok_and(|facts| {
                (base == shipped || is_as_made(&facts, &base))
                    && join(facts, &own).is_ok_and(|made| made == table)
            })
        }
    };
    Ok(is_as_made && facts.meaning().hex() == policy.facts)
}

/// Returns whether the table is the one made from its facts alone.
fn is_as_made(facts: &Facts<'_>, table: &[u8]) -> bool {
    shipped_facts::table(&facts.knowledge()).is_ok_and(|made| made == table)
}
