//! Options: the names that a command accepts, its own and inherited ones.

use std::collections::BTreeSet;

use relay_policy::facts::{Arity, Flag, Form, Role, Special, Style};
use relay_policy::tier::{Floor, Tier};

use super::difference::{Concept, Difference, Row, RowPart, located, option_words};
use super::fields::Fields;
use super::form;
use super::role;
use super::side::{Command, Comparison, Known, Options};
use super::value::{self, Values};
use crate::direction::Direction;

/// Compares the options of a command.
pub(super) fn compare<'k>(a: &Command<'k>, b: &Command<'k>, all: &mut Comparison<'k>) {
    let mut pairs: Vec<(Option<Known<'k>>, Option<Known<'k>>, Vec<&'k str>)> = Vec::new();
    let names: BTreeSet<&str> =
        a.options.by_name.keys().chain(b.options.by_name.keys()).copied().collect();
    for name in names {
        let (old, new) = (a.options.get(name), b.options.get(name));
        let is_around = |known: Option<Known<'_>>| known.is_some_and(|it| it.own.is_none());
        // The comparison of the command around has it.
        if is_around(old) && is_around(new) || all.known_options.contains(name) {
            continue;
        }
        let is_same = |known: &Option<Known<'_>>, other: Option<Known<'_>>| {
            known.map(|it| std::ptr::from_ref(it.flag))
                == other.map(|it| std::ptr::from_ref(it.flag))
        };
        match pairs.iter_mut().find(|(x, y, _)| is_same(x, old) && is_same(y, new)) {
            Some((_, _, names)) => names.push(name),
            None => pairs.push((old, new, vec![name])),
        }
    }
    for (old, new, names) in pairs {
        let found = match (old, new) {
            (Some(old), Some(new)) => changed(a, b, old.flag, new.flag, all),
            (Some(old), None) => Some(lost(a, b, old.flag, &names, all)),
            (None, Some(new)) => Some(added(new.flag, all)),
            (None, None) => None,
        };
        let Some(Found { before, after, direction, lowers }) = found else { continue };
        if direction == Direction::NotProved {
            all.known_options.extend(&names);
        }
        let part = new.and_then(|new| new.own).map_or(RowPart::Node, RowPart::Options);
        let owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut examples = Vec::new();
        for flag in [old, new].into_iter().flatten().map(|known| known.flag) {
            if flag.arity != Arity::None {
                value::examples(values(flag), &mut examples);
            }
        }
        all.out.push(Difference {
            part: located(&b.names, &option_words(&owned)),
            commands: b.called(),
            concept: Concept::Options(owned, examples),
            before,
            after,
            direction,
            row: Row::part(&b.row, part),
            lowers: lowers && part != RowPart::Node,
        });
    }
}

/// A difference of an option.
struct Found {
    before: Option<String>,
    after: Option<String>,
    direction: Direction,
    /// Whether its row lowers something.
    lowers: bool,
}

fn changed<'k>(
    a: &Command<'k>,
    b: &Command<'k>,
    old: &'k Flag,
    new: &'k Flag,
    all: &Comparison<'k>,
) -> Option<Found> {
    let Flag { names: _, tier, cap, arity, role, says, everywhere, values: list, place: _ } = new;
    let mut fields = Fields::default();
    fields.demand("tier", old.tier, *tier);
    let mut limits = Fields::default();
    limits.cap("at most", old.cap, *cap, true);
    fields.fixed("takes", &old.arity, arity, |arity| match arity {
        Arity::None => "no value".into(),
        Arity::Required => "a value".into(),
        Arity::Attached => "an attached value".into(),
    });
    let has_values = !(old.values.is_empty() && list.is_empty());
    if old.role != *role {
        let direction =
            if has_values { Direction::NotProved } else { role::direction(old.role, *role) };
        // In an option that takes no value, the role only says whether the option opens a port.
        let (name, word): (_, fn(Role) -> String) = match (old.arity, arity) {
            (Arity::None, Arity::None) => ("listens", |role| (role == Role::Listen).to_string()),
            _ => ("value", |role| role.word().into()),
        };
        fields.add(direction, name, Some(word(old.role)), Some(word(*role)));
    }
    value::compare(values(old), values(new), all.before, &mut fields);
    if let Some((before, after, direction)) = limits.differing() {
        // An undeclared option that removes a limit keeps other limits from holding.
        let is_proved = !(cap.is_none() && all.has_value_caps);
        fields.add(
            direction.and(Direction::proved(is_proved, true)),
            "",
            Some(before),
            Some(after),
        );
    }
    // The last option of a row counts, so another grouping is another limit.
    let group = |flag: &Flag, options: &Options<'_>| -> BTreeSet<String> {
        let own = |name: &&String| options.get(name).is_some_and(|it| std::ptr::eq(it.flag, flag));
        flag.names.iter().filter(own).cloned().collect()
    };
    let (group_a, group_b) = (group(old, &a.options), group(new, &b.options));
    if (is_capped(old) || is_capped(new)) && group_a != group_b {
        fields.add(
            Direction::NotProved,
            "beside",
            Some(group_a.into_iter().collect::<Vec<_>>().join(" ")),
            Some(group_b.into_iter().collect::<Vec<_>>().join(" ")),
        );
    }
    if old.everywhere != *everywhere {
        let place = |is: bool| Some(if is { "everywhere" } else { "here alone" }.to_owned());
        fields.add(Direction::Same, "", place(old.everywhere), place(*everywhere));
    }
    let Some((before, after, direction)) = fields.differing() else {
        // Its words appear in reasons and decide nothing.
        return (old.says != *says).then(|| Found {
            before: Some(format!("says `{}`", old.says)),
            after: Some(format!("says `{says}`")),
            direction: Direction::Same,
            lowers: false,
        });
    };
    // A shell finds options by name, independently of the facts about them.
    let is_special = a.node.special != Special::Nothing || b.node.special != Special::Nothing;
    let is_tier_alone = (old.cap, old.arity, old.role, old.everywhere)
        == (*cap, *arity, *role, *everywhere)
        && old.values == *list;
    let direction = direction.and(Direction::proved(!is_special || is_tier_alone, true));
    let lowers = direction == Direction::NotProved;
    Some(Found { before: Some(before), after: Some(after), direction, lowers })
}

/// Returns the difference for a removed option: it is a doubt now, which disables all limits and
/// all forms with `without`.
fn lost<'k>(
    a: &Command<'k>,
    b: &Command<'k>,
    flag: &'k Flag,
    names: &[&str],
    all: &Comparison<'k>,
) -> Found {
    let floor = all.after.tier(Floor::UnknownFlag);
    let is_long = names.iter().all(|name| name.starts_with("--") && !name.contains('*'));
    let is_plain = flag.arity == Arity::None && flag.tier <= floor && is_long;
    let is_named = |form: &Form| names.iter().any(|name| form.has.iter().any(|has| has == name));
    let is_free = |command: &Command<'_>| {
        !command.node.forms.iter().any(is_named) && form::only_lower(command, all)
    };
    // A shortened name of this option may now mean another one alone.
    let is_apart = flag.tier == Tier::ReadOnly
        || b.node.style != Style::Gnu
        || !names.iter().any(|name| b.options.shares_a_letter(name));
    let is_special = a.node.special != Special::Nothing || b.node.special != Special::Nothing;
    let is_narrower = is_plain && is_free(a) && is_free(b) && is_apart && !is_special;
    Found {
        before: Some(words(flag)),
        after: Some(format!("undeclared, at least {}", floor.number())),
        direction: Direction::narrower_if(is_narrower),
        lowers: false,
    }
}

/// Returns the difference for a newly declared option: its doubt is gone, which held back the
/// limits and forms of other options.
fn added(flag: &Flag, all: &Comparison<'_>) -> Found {
    let floor = all.before.tier(Floor::UnknownFlag);
    Found {
        before: Some(format!("undeclared, at least {}", floor.number())),
        after: Some(words(flag)),
        direction: Direction::NotProved,
        lowers: flag.tier < floor || is_capped(flag),
    }
}

fn is_capped(flag: &Flag) -> bool {
    flag.cap.is_some() || flag.values.iter().any(|value| value.cap.is_some())
}

fn values(flag: &Flag) -> Values<'_> {
    Values { list: &flag.values, role: flag.role, cap: flag.cap }
}

fn words(flag: &Flag) -> String {
    let mut words = format!("tier {}", flag.tier.number());
    if let Some(cap) = flag.cap {
        words.push_str(&format!(", at most {}", cap.number()));
    }
    match (flag.arity, flag.role) {
        (_, Role::Text) => {}
        (Arity::None, _) => words.push_str(", listens"),
        (_, role) => words.push_str(&format!(", value {}", role.word())),
    }
    words
}
