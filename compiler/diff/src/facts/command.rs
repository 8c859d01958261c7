//! A program or sub-command on both sides, with everything below it.

use relay_policy::facts::Node;

use super::difference::{Concept, Difference, Row, located};
use super::fields::Fields;
use super::side::{Command, Comparison};
use super::{form, operand, option, sub_command};
use crate::direction::Direction;

/// Compares a command with everything below it.
pub(super) fn compare<'k>(a: &Command<'k>, b: &Command<'k>, all: &mut Comparison<'k>) {
    let known = all.known_options.clone();
    settings(a, b, all);
    option::compare(a, b, all);
    operand::compare(a, b, all);
    form::compare(a, b, all);
    for (a, b) in sub_command::compare(a, b, all) {
        compare(&a, &b, all);
    }
    all.known_options = known;
}

/// Compares the tier of a bare command, and its way of reading them.
fn settings<'k>(a: &Command<'k>, b: &Command<'k>, all: &mut Comparison<'k>) {
    let (old, new) = (a.node, b.node);
    let Node {
        names: _,
        tier,
        says,
        style,
        stop,
        sub_at,
        numbers,
        bundle_first,
        ignore_case,
        sends,
        listens,
        builtin,
        user,
        writes,
        stdin,
        output,
        special,
        flags: _,
        operands: _,
        forms: _,
        subs: _,
        checked: _,
        place: _,
    } = new;
    let mut fields = Fields::default();
    if old.tier != *tier {
        let word = |tier: Option<relay_policy::tier::Tier>| {
            Some(tier.map_or("unknown".to_owned(), |tier| tier.number().to_string()))
        };
        let direction = form::tier_direction(old.tier, *tier, all);
        fields.add(direction, "tier", word(old.tier), word(*tier));
    }
    fields.fixed("style", &old.style, style, |style| style.word().into());
    fields.fixed("stop", &old.stop, stop, u8::to_string);
    fields.fixed("sub-at", &old.sub_at, sub_at, u8::to_string);
    fields.fixed("numbers", &old.numbers, numbers, bool::to_string);
    fields.fixed("bundle-first", &old.bundle_first, bundle_first, bool::to_string);
    fields.fixed("ignore-case", &old.ignore_case, ignore_case, bool::to_string);
    fields.fixed("builtin", &old.builtin, builtin, bool::to_string);
    fields.fixed("stdin", &old.stdin, stdin, |role| role.word().into());
    fields.fixed("output", &old.output, output, |output| output.word().into());
    fields.fixed("special", &old.special, special, |special| special.word().into());
    if old.sends != *sends {
        let direction = Direction::narrower_if(*sends);
        fields.add(direction, "sends", Some(old.sends.to_string()), Some(sends.to_string()));
    }
    if old.listens != *listens {
        let direction = Direction::narrower_if(*listens);
        fields.add(direction, "listens", Some(old.listens.to_string()), Some(listens.to_string()));
    }
    if old.user != *user {
        let name = |user: &String| Some(user.clone()).filter(|user| !user.is_empty());
        fields.add(Direction::NotProved, "user", name(&old.user), name(user));
    }
    if old.writes != *writes {
        let path = |path: &String| Some(path.clone()).filter(|path| !path.is_empty());
        let direction = Direction::narrower_if(old.writes.is_empty());
        fields.add(direction, "writes", path(&old.writes), path(writes));
    }
    let (before, after, direction) = match fields.differing() {
        Some(differing) => differing,
        // Its words appear in reasons and decide nothing.
        None if old.says != *says => {
            (format!("says `{}`", old.says), format!("says `{says}`"), Direction::Same)
        }
        None => return,
    };
    all.out.push(Difference {
        part: located(&b.names, ""),
        commands: b.called(),
        concept: Concept::Setting,
        before: Some(before),
        after: Some(after),
        direction,
        row: Row::node(&b.row),
        lowers: direction == Direction::NotProved && !b.row.is_empty(),
    });
}
