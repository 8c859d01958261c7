//! All renderings of a text as one: a line in many of them is printed once.
//!
//! Lines keep the order of each rendering that has them, so that every one can be read from the
//! whole, and a word that changes in all of them is one changed line.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::iter::repeat_n;

use relay_diff::{DiffOp, edits};
use serde_json::Value;

use crate::answer::prompt::{Variant, When};
use crate::text::printable;

/// The most aligned lines of two renderings; in longer ones, all lines differ.
const LINES_MAX: usize = 20_000;

/// A line, and the numbers of its renderings.
struct Line {
    text: String,
    of: BTreeSet<usize>,
}

/// Returns all renderings; `lines` gives the lines of one of them.
pub(super) fn draw(variants: &[Variant], lines: impl Fn(&Variant) -> Vec<String>) -> String {
    let mut merged: Vec<Line> = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        merged = merge(merged, lines(variant), number);
    }
    let all: Vec<&When> = variants.iter().map(|variant| &variant.when).collect();
    let every = (0..variants.len()).collect::<BTreeSet<_>>();
    let mut text = String::new();
    let mut of = &every;
    for line in &merged {
        if line.of != *of {
            of = &line.of;
            let _ = writeln!(text, "-- {}", printable(&described(of, &all)));
        }
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}

/// Adds the lines of one more rendering.
fn merge(merged: Vec<Line>, lines: Vec<String>, number: usize) -> Vec<Line> {
    let known: Vec<&str> = merged.iter().map(|line| line.text.as_str()).collect();
    let added: Vec<&str> = lines.iter().map(String::as_str).collect();
    let operations = if known.len() + added.len() > LINES_MAX && known != added {
        let (old_len, new_len) = (known.len(), added.len());
        vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
    } else {
        edits(&known, &added)
    };
    // The sides that have a line, in the order of the whole.
    let mut order = Vec::with_capacity(merged.len() + lines.len());
    for operation in operations {
        let (old, new) = (operation.old_range().len(), operation.new_range().len());
        match operation {
            DiffOp::Equal { len, .. } => order.extend(repeat_n((true, true), len)),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                order.extend(repeat_n((true, false), old));
                order.extend(repeat_n((false, true), new));
            }
        }
    }
    let (mut merged, mut lines) = (merged.into_iter(), lines.into_iter());
    let next = |(is_old, is_new): (bool, bool)| {
        let old = if is_old { merged.next() } else { None };
        let new = if is_new { lines.next() } else { None };
        match (old, new) {
            (Some(Line { text, mut of }), new) => {
                if new.is_some() {
                    of.insert(number);
                }
                Some(Line { text, of })
            }
            (None, Some(text)) => Some(Line { text, of: BTreeSet::from([number]) }),
            (None, None) => None,
        }
    };
    order.into_iter().filter_map(next).collect()
}

/// Returns words for these renderings: `service: api, web; environment: production`.
fn described(of: &BTreeSet<usize>, all: &[&When]) -> String {
    let names: Vec<&String> = all.first().map(|when| when.keys().collect()).unwrap_or_default();
    let alternatives = alternatives(of, all, &names);
    let alternatives = alternatives.into_iter().map(|parts| match parts.is_empty() {
        true => "always".to_owned(),
        false => parts.join("; "),
    });
    alternatives.collect::<Vec<_>>().join(" or ")
}

/// Returns the alternatives for these: for each, the values of the arguments that matter.
fn alternatives(of: &BTreeSet<usize>, all: &[&When], names: &[&String]) -> Vec<Vec<String>> {
    let Some((name, names)) = names.split_first() else { return vec![Vec::new()] };
    let value = |number: usize| all.get(number).and_then(|when| when.get(*name));
    // The values of the argument, in their order, with the renderings of each.
    let mut values: Vec<(&Value, BTreeSet<usize>)> = Vec::new();
    for (number, held) in (0..all.len()).filter_map(|number| Some((number, value(number)?))) {
        match values.iter_mut().find(|(value, _)| *value == held) {
            Some((_, numbers)) => _ = numbers.insert(number),
            None => values.push((held, BTreeSet::from([number]))),
        }
    }
    // Values with the same values of all other arguments are one alternative.
    let mut alike: Vec<(Vec<&Value>, Vec<Vec<String>>)> = Vec::new();
    for (value, numbers) in &values {
        let within: Vec<&When> = numbers.iter().filter_map(|it| all.get(*it).copied()).collect();
        let chosen = numbers.iter().enumerate().filter(|(_, number)| of.contains(number));
        let chosen: BTreeSet<usize> = chosen.map(|(at, _)| at).collect();
        if chosen.is_empty() {
            continue;
        }
        let others = alternatives(&chosen, &within, names);
        match alike.iter_mut().find(|(_, known)| *known == others) {
            Some((known, _)) => known.push(value),
            None => alike.push((vec![value], others)),
        }
    }
    let count = values.len();
    let mut ways = Vec::new();
    for (of_argument, others) in alike {
        let condition = (of_argument.len() < count).then(|| {
            let words: Vec<_> = of_argument.into_iter().map(word).collect();
            format!("{name}: {}", words.join(", "))
        });
        ways.extend(others.into_iter().map(|rest| condition.iter().cloned().chain(rest).collect()));
    }
    ways
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => "(absent)".into(),
        Value::String(value) => value.clone(),
        _ => "(given)".into(),
    }
}
