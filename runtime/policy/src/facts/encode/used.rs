//! The names and texts of knowledge, laid out before its rows are written.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{Node, Operand, Value};
use super::super::names::NamesBuilder;
use super::{EncodeError, Encoder, size};

/// How often a text is referred to that is not in the row that refers to it.
const SHARED: usize = 2;

/// The names and texts that rows refer to.
#[derive(Default)]
pub(super) struct Used<'k> {
    pub(super) names: BTreeSet<&'k str>,
    /// How often each text is referred to.
    texts: BTreeMap<&'k str, usize>,
}

impl<'k> Used<'k> {
    fn text(&mut self, text: &'k str) {
        *self.texts.entry(text).or_default() += 1;
    }

    pub(super) fn shared_text(&mut self, text: &'k str) {
        *self.texts.entry(text).or_default() += SHARED;
    }

    pub(super) fn node(&mut self, node: Option<&'k Node>) {
        let Some(node) = node else { return };
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
            self.node(Some(sub));
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

    /// Lays out names and texts.
    pub(super) fn into_encoder(self) -> Result<Encoder<'k>, EncodeError> {
        let names = NamesBuilder::new(&self.names)
            .ok_or(EncodeError { what: "there are more than 65,280 names" })?;
        let mut encoder = Encoder {
            names,
            ids: BTreeMap::new(),
            texts: String::new(),
            rows: Vec::new(),
            options: BTreeMap::new(),
        };
        // The empty text is the first, so that its number is 0.
        encoder.ids.insert("", 0);
        encoder.texts.push('\0');
        if self.texts.keys().any(|text| text.contains('\0')) {
            return Err(EncodeError { what: "a text holds a zero byte" });
        }
        let shared = self.texts.into_iter().filter(|(_, count)| *count >= SHARED);
        for (text, ends) in with_ends(shared.collect()) {
            let start = encoder.texts.len();
            for end in ends {
                encoder.ids.insert(end, size(start + text.len() - end.len())?);
            }
            encoder.texts.push_str(text);
            encoder.texts.push('\0');
        }
        Ok(encoder)
    }
}

/// Returns texts that end no other one, each with the texts that it ends with, itself among them. Those that
/// are used more often come first, since their numbers are shorter.
fn with_ends(texts: BTreeMap<&str, usize>) -> Vec<(&str, Vec<&str>)> {
    let mut sorted: Vec<(&str, usize)> =
        texts.into_iter().filter(|(text, _)| !text.is_empty()).collect();
    // By their last letters, so that a text follows those that end with it.
    sorted.sort_by(|(left, _), (right, _)| right.bytes().rev().cmp(left.bytes().rev()));
    let mut whole: Vec<(&str, Vec<&str>, usize)> = Vec::new();
    for (text, count) in sorted {
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
