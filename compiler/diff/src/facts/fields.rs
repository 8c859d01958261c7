//! The differing fields of one row: each with both of its values, and the direction of all of them.

use relay_policy::tier::Tier;

use crate::direction::Direction;

/// The fields of one row that differ.
#[derive(Debug, Default)]
pub(super) struct Fields {
    before: Vec<String>,
    after: Vec<String>,
    direction: Option<Direction>,
}

impl Fields {
    /// Adds a differing field.
    pub(super) fn add(
        &mut self,
        direction: Direction,
        name: &str,
        before: Option<String>,
        after: Option<String>,
    ) {
        let words = |value: Option<String>| match value {
            Some(value) if name.is_empty() => value,
            Some(value) => format!("{name} {value}"),
            None => format!("no {name}"),
        };
        self.before.push(words(before));
        self.after.push(words(after));
        self.and(direction);
    }

    /// Adds a direction that has no field of its own.
    pub(super) fn and(&mut self, direction: Direction) {
        self.direction = Some(self.direction.map_or(direction, |all| all.and(direction)));
    }

    /// Compares a tier that raises a command.
    pub(super) fn demand(&mut self, name: &str, before: Tier, after: Tier) {
        if before != after {
            let number = |tier: Tier| Some(tier.number().to_string());
            self.add(Direction::of_demand(&before, &after), name, number(before), number(after));
        }
    }

    /// Compares the most that a command is, if there is a limit. `is_written` is whether the row
    /// itself has the limit.
    pub(super) fn cap(
        &mut self,
        name: &str,
        before: Option<Tier>,
        after: Option<Tier>,
        is_written: bool,
    ) {
        if before == after || !is_written {
            return;
        }
        let limit = |cap: Option<Tier>| cap.map_or(u8::MAX, Tier::number);
        let number = |tier: Option<Tier>| {
            tier.map_or("any tier".to_owned(), |tier| tier.number().to_string())
        };
        let direction = Direction::of_demand(&limit(before), &limit(after));
        self.add(direction, name, Some(number(before)), Some(number(after)));
    }

    /// Compares a setting that must stay: another value may be wider.
    pub(super) fn fixed<T: PartialEq>(
        &mut self,
        name: &str,
        before: &T,
        after: &T,
        shown: impl Fn(&T) -> String,
    ) {
        if before != after {
            self.add(Direction::NotProved, name, Some(shown(before)), Some(shown(after)));
        }
    }

    /// Returns both sides in words and the direction; `None` if nothing differs.
    pub(super) fn differing(self) -> Option<(String, String, Direction)> {
        let direction = self.direction?;
        Some((self.before.join(", "), self.after.join(", "), direction))
    }
}
