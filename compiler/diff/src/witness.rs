//! Commands that show the effect of a difference: judged by both sides, lower after than before.

use std::cell::Cell;
use std::fmt;

use relay_bundle::Bundle;
use relay_policy::classify::{Rules, classify};
use relay_policy::facts::Facts;
use serde::Serialize;

use crate::known_facts::{KnownFacts, KnownTable};

/// The most commands judged for one comparison, and for one difference.
const COMMANDS_MAX: usize = 40_000;
const COMMANDS_EACH_MAX: usize = 400;
/// The most bytes of a command that shows something.
const COMMAND_BYTES_MAX: usize = 200;

/// A command that is judged lower after the change than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Witness {
    /// The command.
    pub command: String,
    /// The environment of the second side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Its tier before the change.
    pub before: u8,
    /// Its tier after it.
    pub after: u8,
}

impl fmt::Display for Witness {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, environment, before, after } = self;
        write!(out, "`{command}`")?;
        if let Some(environment) = environment {
            write!(out, ", env {environment}")?;
        }
        write!(out, ": {before} → {after}")
    }
}

/// The judges of commands on both sides.
pub(crate) struct Judges<'k> {
    facts: [Facts<'k>; 2],
    rules: [Rules; 2],
    environment: Option<String>,
    /// The number of commands that may still be judged.
    left: Cell<usize>,
}

impl<'k> Judges<'k> {
    /// Returns the judges of two bundles with these facts, if both judge commands.
    pub(crate) fn of([a, b]: [&Bundle; 2], facts: &'k KnownFacts) -> Option<Self> {
        let [facts_a, facts_b] = facts.sides().map(KnownTable::facts);
        let rules = |bundle| Rules::of(bundle).ok().flatten();
        let (facts, rules) = ([facts_a?, facts_b?], [rules(a)?, rules(b)?]);
        let environment = b.manifest().environment.clone();
        Some(Self { facts, rules, environment, left: Cell::new(COMMANDS_MAX) })
    }

    /// Returns the most telling command, by its weight, if one falls.
    pub(crate) fn show(&self, commands: impl IntoIterator<Item = String>) -> Option<Witness> {
        let mut best: Option<Witness> = None;
        for command in commands.into_iter().take(COMMANDS_EACH_MAX) {
            if self.left.get() == 0 {
                break;
            }
            let Some(found) = self.judged(command) else { continue };
            if best.as_ref().is_none_or(|best| weight(&found) > weight(best)) {
                best = Some(found);
            }
        }
        best
    }

    /// Returns a command with its tiers, if the one after the change is lower.
    fn judged(&self, command: String) -> Option<Witness> {
        if command.len() > COMMAND_BYTES_MAX {
            return None;
        }
        self.left.set(self.left.get().saturating_sub(1));
        let [before, after] = [0, 1].map(|side| {
            let (facts, rules) = (self.facts.get(side)?, self.rules.get(side)?);
            Some(classify(&command, facts, rules).tier.number())
        });
        let (before, after) = (before?, after?);
        let environment = self.environment.clone();
        (after < before).then_some(Witness { command, environment, before, after })
    }
}

/// Returns the weight of a command: its fall, its tier before, whether it is plain, and its
/// shortness.
fn weight(witness: &Witness) -> (u8, u8, bool, usize) {
    let Witness { command, environment: _, before, after } = witness;
    let is_plain = !command.contains("--help") && !command.contains('$');
    (before - after, *before, is_plain, COMMAND_BYTES_MAX.saturating_sub(command.len()))
}

/// Returns a word as a shell reads it: in quotes, unless it is plain.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,~^".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
