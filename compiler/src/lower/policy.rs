//! The policy of a bundle, and its facts.

use relay_bundle::{Floors, PathRow, Policy};

use super::places::Places;
use crate::model;
use crate::source::Spanned;

/// Lowers a policy; without one the bundle has no facts.
pub(super) fn policy(
    policy: Option<(model::Policy, model::Facts)>,
    places: &Places<'_>,
) -> (Option<Policy>, Vec<u8>) {
    let Some((policy, facts)) = policy else { return (None, Vec::new()) };
    let floors = Floors::each(|floor| places.setting(policy.floors.of(floor).tier.clone()));
    let texts = |patterns: Option<Vec<Spanned<String>>>| {
        patterns.into_iter().flatten().map(|pattern| pattern.value).collect()
    };
    let paths = policy.paths.into_iter().map(|row| PathRow {
        kind: row.kind(),
        patterns: texts(row.settings.patterns),
        except: texts(row.settings.except),
        at: places.of(row.at),
    });
    let policy =
        Policy { floors, paths: paths.collect(), facts: facts.meaning, at: places.of(policy.at) };
    (Some(policy), facts.table)
}
