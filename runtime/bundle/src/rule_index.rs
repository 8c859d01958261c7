//! The index of rules: finds the rules that a request may concern.
//!
//! A rule has keys: texts that occur in every request that it means, such as the name of a program.
//! The index lists the rules of each key, so a decision reads few of them.

use std::collections::BTreeMap;

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::row::{Range, Text, row};
use crate::rule::Rule;
use crate::rule_key::RuleKey;
use crate::section::Kind;
use crate::skill_index::Numbers;
use crate::writer::{Writer, number};

row! {
    /// A key, with the numbers of its rules.
    Row of RuleKeys {
        key: Text,
        rules: Range,
    }
}

impl Writer<'_> {
    /// Writes the keys of the rules, sorted, and the table of their names.
    pub(crate) fn rule_index(&mut self, rules: &[Rule]) {
        let mut keys: BTreeMap<&str, Vec<U32>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            for key in &rule.keys {
                keys.entry(key).or_default().push(number(index));
            }
        }
        for (key, rules) in &keys {
            let rules = self.records(Kind::RuleKeyRules, rules);
            let row = Row { key: self.string(key), rules };
            self.rows(&[row]);
        }
        self.name_index(Kind::RuleKeyIndex, keys.keys());
    }
}

/// The index of rules, in place.
#[derive(Clone, Copy)]
pub struct RuleIndexView<'b> {
    bundle: &'b Bundle,
}

impl Bundle {
    /// Returns the index of rules.
    #[must_use]
    pub fn rule_index(&self) -> RuleIndexView<'_> {
        RuleIndexView { bundle: self }
    }
}

impl<'b> RuleIndexView<'b> {
    /// Returns the numbers of the rules with a key, rising.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`].
    pub fn of(self, key: &RuleKey<'_>) -> Result<Numbers<'b>, Corrupt> {
        let reader = &self.bundle.reader;
        let found = reader.find_hashed(Kind::RuleKeyIndex, key.hash(), |index| {
            let row: &Row = reader.row(index)?;
            // The length is in the row: it rules most others out.
            let length = row.key.length.get() as usize;
            if length != key.length() {
                return Ok(None);
            }
            let text = reader.bytes(Kind::Strings, row.key.offset.get() as usize, length)?;
            Ok(key.is(text).then_some(row.rules))
        })?;
        found.map_or(Ok(Numbers::default()), |rules| self.numbers(rules))
    }

    /// Returns the keys that begin with a text, sorted, and the rules of each.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::prompt`], also in the place of a key.
    pub fn beginning_with(
        self,
        text: &str,
    ) -> Result<impl Iterator<Item = Result<(&'b str, Numbers<'b>), Corrupt>>, Corrupt> {
        let (mut low, mut high) = (0, self.bundle.reader.count(Kind::RuleKeys));
        let count = high;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.entry(middle)?.0 < text {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let begins = move |entry: &Result<(&str, _), _>| match entry {
            Ok((key, _)) => key.starts_with(text),
            Err(_) => true,
        };
        Ok((low..count).map(move |index| self.entry(index)).take_while(begins))
    }

    fn entry(self, index: usize) -> Result<(&'b str, Numbers<'b>), Corrupt> {
        let row: &Row = self.bundle.reader.row(index)?;
        Ok((self.bundle.reader.string(row.key)?, self.numbers(row.rules)?))
    }

    fn numbers(self, Range { start, count }: Range) -> Result<Numbers<'b>, Corrupt> {
        let reader = &self.bundle.reader;
        let place = (start.get() as usize).checked_mul(size_of::<U32>());
        let length = (count.get() as usize).checked_mul(size_of::<U32>());
        let (Some(place), Some(length)) = (place, length) else { return Err(wrong()) };
        let bytes = reader.bytes(Kind::RuleKeyRules, place, length)?;
        <[U32]>::ref_from_bytes(bytes).map(Numbers::new).map_err(|_| wrong())
    }
}

fn wrong() -> Corrupt {
    Corrupt::Record { section: Kind::RuleKeys.name(), what: "rules" }
}
