//! Values with a meaning of their own: a list of patterns, of which the first match counts.

use std::collections::BTreeMap;

use relay_policy::facts::{Role, Value};
use relay_policy::tier::{Floor, Floors, Tier};

use super::fields::Fields;
use super::role;
use crate::direction::Direction;

/// The values of one row: of options, or of an operand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'k> {
    pub(super) list: &'k [Value],
    /// The role of all other values.
    pub(super) role: Role,
    /// The most that the command is with the options and any value.
    pub(super) cap: Option<Tier>,
}

/// Compares the values of a row.
///
/// Two different literal patterns never match the same word, so only the order of common patterns
/// matters; for lists of literal patterns it does not.
pub(super) fn compare(a: Values<'_>, b: Values<'_>, before: Floors, fields: &mut Fields) {
    let (of_a, of_b) = (numbered(a.list), numbered(b.list));
    let common: Vec<&str> = of_a.keys().copied().filter(|key| of_b.contains_key(key)).collect();
    let in_order = |of: &BTreeMap<&str, usize>| {
        let mut keys = common.clone();
        keys.sort_by_key(|key| of.get(key).copied());
        keys.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let are_literal = a.list.iter().chain(b.list).all(|value| !value.pattern.contains(['*', '[']));
    if !are_literal && in_order(&of_a) != in_order(&of_b) {
        let list = |values: Values<'_>| {
            values.list.iter().map(|it| it.pattern.as_str()).collect::<Vec<_>>().join(" ")
        };
        fields.add(Direction::NotProved, "values", Some(list(a)), Some(list(b)));
    }
    let value =
        |values: Values<'_>, at: Option<&usize>| at.and_then(|at| values.list.get(*at)).cloned();
    let keys = of_a.keys().chain(of_b.keys().filter(|key| !of_a.contains_key(*key)));
    for key in keys {
        let name = format!("value `{key}`");
        match (value(a, of_a.get(key)), value(b, of_b.get(key))) {
            (Some(old), Some(new)) => changed(&name, (&old, a.cap), (&new, b.cap), fields),
            (Some(old), None) => {
                fields.add(lost(&old), &name, Some(words(&old)), Some("undeclared".into()));
            }
            (None, Some(new)) => {
                let direction = added(&new, a, b, before);
                fields.add(direction, &name, Some("undeclared".into()), Some(words(&new)));
            }
            (None, None) => {}
        }
    }
}

/// Returns the first row of each pattern, the one that counts.
fn numbered(values: &[Value]) -> BTreeMap<&str, usize> {
    let mut numbered = BTreeMap::new();
    for (at, value) in values.iter().enumerate() {
        numbered.entry(value.pattern.as_str()).or_insert(at);
    }
    numbered
}

fn changed(
    name: &str,
    (a, cap_a): (&Value, Option<Tier>),
    (b, cap_b): (&Value, Option<Tier>),
    fields: &mut Fields,
) {
    fields.demand(&format!("{name} tier"), a.tier, b.tier);
    // An unlimited value has the limit of its options.
    fields.cap(&format!("{name} at most"), a.cap.or(cap_a), b.cap.or(cap_b), a.cap != b.cap);
    if a.role != b.role {
        fields.add(
            Direction::NotProved,
            name,
            Some(a.role.word().into()),
            Some(b.role.word().into()),
        );
    }
}

/// Returns the direction of a removed value. The word then counts as any other: at least as high,
/// if the value itself changed nothing.
fn lost(value: &Value) -> Direction {
    let says_nothing = value.tier == Tier::ReadOnly && value.cap.is_none();
    Direction::narrower_if(says_nothing && value.role == Role::Text)
}

/// Returns the direction of a newly declared value.
///
/// Where another value is stateful, an undeclared word was a doubt, which the declaration removes.
fn added(value: &Value, a: Values<'_>, b: Values<'_>, before: Floors) -> Direction {
    let highest = a.list.iter().map(|it| it.tier).max().unwrap_or_default();
    let was_doubt = highest >= Tier::Stateful && before.tier(Floor::UnknownFlag) > Tier::ReadOnly;
    let was_nothing = a.role == Role::Text && b.role == Role::Text && value.role == Role::Text;
    let is_capped = value.cap.is_some() || b.cap.is_some();
    Direction::narrower_if(was_nothing && !was_doubt && !is_capped && value.tier >= highest)
}

fn words(value: &Value) -> String {
    let Value { tier, cap, role, .. } = value;
    let mut words = format!("tier {}", tier.number());
    if let Some(cap) = cap {
        words.push_str(&format!(", at most {}", cap.number()));
    }
    if *role != Role::Text {
        words.push_str(&format!(", {}", role.word()));
    }
    words
}

/// Returns words that the values of a row distinguish: one for each pattern and the row's role.
pub(super) fn examples(values: Values<'_>, out: &mut Vec<String>) {
    out.extend(role::examples(values.role).iter().map(|word| (*word).to_owned()));
    for value in values.list.iter().filter(|value| value.pattern != "*") {
        let of_role = role::examples(value.role).first().copied().unwrap_or("x");
        out.push(value.pattern.replacen('*', of_role, 1).replace('*', "x"));
    }
}
