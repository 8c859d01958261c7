//! The policy of a bundle, its rules and its facts.

use relay_bundle::{ArgumentEffect, Floors, PathClassRow, PathRow, Policy, Rule, ToolEffects};

use super::places::Places;
use super::rules::{self, Scopes};
use crate::ast::OtherEffects;
use crate::model;
use crate::source::Spanned;

/// The lowered parts of a policy; empty without one.
#[derive(Default)]
pub(super) struct Lowered {
    pub(super) policy: Option<Policy>,
    pub(super) rules: Vec<Rule>,
    /// The automata of their regexes.
    pub(super) automata: Vec<u8>,
    pub(super) facts: Vec<u8>,
}

/// Lowers a policy; without one the bundle has no facts.
pub(super) fn policy(
    policy: Option<(model::Policy, model::Facts)>,
    tools: Vec<OtherEffects>,
    places: &Places<'_>,
) -> Lowered {
    let Some((policy, facts)) = policy else { return Lowered::default() };
    let scopes = Scopes::of(&policy, places);
    let (rules, automata) = rules::rules(&policy, &scopes, &facts.table, places);
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
    let mut classes: Vec<PathClassRow> = policy
        .classes
        .into_iter()
        .map(|row| PathClassRow {
            name: row.settings.name.map(|name| name.value).unwrap_or_default(),
            patterns: texts(row.settings.patterns),
            except: texts(row.settings.except),
            at: places.of(row.at),
        })
        .collect();
    classes.sort_by(|one, other| one.name.cmp(&other.name));
    let effects = |tools: OtherEffects| ToolEffects {
        patterns: tools.patterns.into_iter().map(|pattern| pattern.value).collect(),
        arguments: tools
            .arguments
            .into_iter()
            .map(|(name, effect)| ArgumentEffect { name: name.value, effect: effect.value })
            .collect(),
        at: places.of(tools.at),
    };
    let policy = Policy {
        mode: places.setting(policy.settings.mode),
        floors,
        paths: paths.collect(),
        classes,
        scopes: scopes.rows,
        tools: tools.into_iter().map(effects).collect(),
        facts: facts.meaning,
        at: places.of(policy.at),
    };
    Lowered { policy: Some(policy), rules, automata, facts: facts.table }
}
