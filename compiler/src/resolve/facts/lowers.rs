//! Rows of a program that are lower than the shipped ones.
//!
//! `relay diff` asks the same question of two bundles, so each loosening that it reports has its
//! reason here.

use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use relay_diff::facts::{Difference, Row, differences};
use relay_policy::facts::{Facts, Node};
use relay_policy::tier::Floors;
use thiserror::Error;

use crate::ast::{FactProgram, FactRow};
use crate::diagnostic::Diagnostics;
use crate::resolve::policy::reason;
use crate::source::Span;

/// Requires a reason for every row that is lower than the shipped one, and reports the reasons of
/// other rows.
pub(super) fn check(
    programs: &[FactProgram],
    shipped: Facts<'_>,
    floors: Floors,
    out: &mut Diagnostics,
) {
    let names = programs.iter().flat_map(|program| &program.names);
    let known = shipped.programs_named(names.map(|name| name.value.as_str()));
    for program in programs {
        let mut seen = BTreeSet::new();
        let replaced = program.names.iter().filter_map(|name| {
            let node = shipped.program(name.value.as_bytes())?;
            let facts = known.get(&node).filter(|facts| !facts.builtin)?;
            seen.insert(node).then_some((name.value.as_str(), facts))
        });
        let replaced: Vec<(&str, &Node)> = replaced.collect();
        rows(program, &replaced, floors, out);
    }
}

fn rows(program: &FactProgram, replaced: &[(&str, &Node)], floors: Floors, out: &mut Diagnostics) {
    let mut lowered: BTreeMap<Row, (&str, Difference)> = BTreeMap::new();
    for (name, node) in replaced {
        let found = differences(node, &program.fact, [floors, floors]);
        for difference in found.into_iter().filter(|difference| difference.lowers) {
            lowered.entry(difference.row.clone()).or_insert((name, difference));
        }
    }
    for FactRow { row, at, because } in &program.rows {
        let because = reason(because.as_ref());
        match (lowered.get(row), because) {
            (Some((name, difference)), None) => {
                let Difference { part, before, after, .. } = difference;
                let either = |side: &Option<String>| side.clone().unwrap_or("nothing".into());
                let (before, after) = (either(before), either(after));
                let (name, part, at) = ((*name).to_owned(), part.clone(), *at);
                out.report(at, LowersWithoutReason { name, part, before, after, at });
            }
            (None, Some(because)) => {
                let at = because.at;
                out.report(at, IdleRowReason { at });
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
}

/// A row may lower the tier of commands, also in a program whose replacement has a reason. A
/// reviewer needs the reason of each.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}`, `{part}` is lower than the shipped facts, without a reason")]
#[diagnostic(
    code(facts::lowers),
    help("add `because=\"…\"`, or raise it: shipped is {before}, here is {after}")
)]
struct LowersWithoutReason {
    name: String,
    part: String,
    before: String,
    after: String,
    #[label(primary, "lowers what is shipped")]
    at: Span,
}

/// The reason looks as if the row lowered a tier, and a reviewer would search for it.
#[derive(Debug, Error, Diagnostic)]
#[error("the row is not lower than anything that is shipped, and needs no reason")]
#[diagnostic(code(facts::idle_row_reason), severity(Warning), help("remove the `because`"))]
struct IdleRowReason {
    #[label(primary, "gives a reason for nothing")]
    at: Span,
}
