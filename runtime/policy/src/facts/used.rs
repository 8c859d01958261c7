//! The names and texts of facts, and where they lie in a table.

use hashbrown::{HashMap, HashSet};

use super::encode_error::{EncodeError, size};
use super::model::{Node, Operand, Value};
use super::names::{Names, key};
use super::names_builder::NamesBuilder;
use super::row::TextId;
use super::table::Facts;

/// The fewest references to a text that is stored outside of its row.
const SHARED: usize = 2;

/// The names and texts used in rows.
pub(super) struct Used<'k> {
    names: HashSet<&'k str>,
    /// The number of references to each text.
    texts: HashMap<&'k str, usize>,
}

/// The names and the texts outside of rows, where they lie in the table.
pub(super) struct LaidOut<'k> {
    pub(super) names: NamesBuilder<'k>,
    pub(super) ids: HashMap<&'k str, TextId>,
    pub(super) texts: String,
}

impl<'k> Used<'k> {
    /// Returns none yet, with space for some names.
    pub(super) fn with_capacity(names: usize) -> Self {
        Self { names: HashSet::with_capacity(names), texts: HashMap::new() }
    }

    /// Adds names.
    pub(super) fn names(&mut self, names: impl Iterator<Item = &'k str>) {
        self.names.extend(names);
    }

    /// Adds a text that lies outside of rows.
    pub(super) fn shared_text(&mut self, text: &'k str) {
        *self.texts.entry(text).or_default() += SHARED;
    }

    fn text(&mut self, text: &'k str) {
        *self.texts.entry(text).or_default() += 1;
    }

    /// Adds those of a program or sub-command.
    pub(super) fn node(&mut self, node: &'k Node) {
        self.text(&node.says);
        self.text(&node.writes);
        self.text(&node.checked);
        self.names.extend(node.names.iter().map(String::as_str));
        for flag in &node.flags {
            self.names.extend(flag.names.iter().map(String::as_str));
            self.text(&flag.says);
            self.values(&flag.values);
        }
        self.operands(&node.operands);
        for form in &node.forms {
            let roles = form.roles.iter().map(|(name, _)| name);
            let names = form.has.iter().chain(&form.without).chain(roles);
            self.names.extend(names.map(String::as_str));
            self.text(&form.says);
            self.text(&form.writes);
            for text in &form.matching {
                self.text(text);
            }
            self.operands(&form.operands);
        }
        for sub in &node.subs {
            self.node(sub);
        }
    }

    fn operands(&mut self, operands: &'k [Operand]) {
        for operand in operands {
            self.values(&operand.values);
        }
    }

    fn values(&mut self, values: &'k [Value]) {
        for value in values {
            self.text(&value.pattern);
            self.text(&value.says);
        }
    }

    /// Lays them out, after those of `base`.
    ///
    /// # Errors
    ///
    /// There are too many, or a text holds a zero byte.
    pub(super) fn lay_out(self, base: Option<Facts<'k>>) -> Result<LaidOut<'k>, EncodeError> {
        let names = self.names.into_iter().map(|name| (key(name.as_bytes()), name));
        let mut names: Vec<(u64, &str)> = names.collect();
        names.sort_unstable();
        let names: Vec<&str> = names.into_iter().map(|(_, name)| name).collect();
        let before = base.map_or(Names::default(), |base| base.names);
        let names = NamesBuilder::after(before, &names)
            .ok_or(EncodeError { what: "there are more than 65,280 names" })?;
        // The empty text comes first, so that its number is 0.
        let mut ids = HashMap::from([("", 0)]);
        let before = base.and_then(|base| str::from_utf8(base.texts).ok());
        let mut laid_out = before.unwrap_or("\0").to_owned();
        if self.texts.keys().any(|text| text.contains('\0')) {
            return Err(EncodeError { what: "a text holds a zero byte" });
        }
        let shared = self.texts.into_iter().filter(|(_, count)| *count >= SHARED);
        for (text, ends) in with_ends(shared) {
            let start = laid_out.len();
            for end in ends {
                ids.insert(end, size(start + text.len() - end.len())?);
            }
            laid_out.push_str(text);
            laid_out.push('\0');
        }
        Ok(LaidOut { names, ids, texts: laid_out })
    }
}

/// Returns each of these texts, given once, that ends no other text, with all texts that it ends with, itself included.
/// The most used come first, since their numbers are shorter.
fn with_ends<'t>(texts: impl Iterator<Item = (&'t str, usize)>) -> Vec<(&'t str, Vec<&'t str>)> {
    let texts = texts.filter(|(text, _)| !text.is_empty());
    let mut sorted: Vec<(u64, &str, usize)> =
        texts.map(|(text, count)| (last_letters(text), text, count)).collect();
    // The order of the last letters puts a text after those that end with it.
    sorted.sort_unstable_by(|(left_end, left, _), (right_end, right, _)| {
        let ends = right_end.cmp(left_end);
        ends.then_with(|| right.bytes().rev().cmp(left.bytes().rev()))
    });
    let mut whole: Vec<(&str, Vec<&str>, usize)> = Vec::new();
    for (_, text, count) in sorted {
        match whole.last_mut() {
            Some((longer, ends, uses)) if longer.ends_with(text) => {
                ends.push(text);
                *uses += count;
            }
            _ => whole.push((text, vec![text], count)),
        }
    }
    whole.sort_by_key(|(text, _, uses)| (std::cmp::Reverse(*uses), *text));
    whole.into_iter().map(|(text, ends, _)| (text, ends)).collect()
}

/// Returns the last eight bytes of a text as a number whose order is that of the texts read from their ends: their
/// bytes are above zero, so one of fewer bytes comes before those that end with it.
fn last_letters(text: &str) -> u64 {
    let mut letters = [0; 8];
    letters.iter_mut().rev().zip(text.bytes().rev()).for_each(|(letter, byte)| *letter = byte);
    u64::from_le_bytes(letters)
}
