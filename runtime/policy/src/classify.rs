//! Text -> tier, with the words that raised it: parse, interpret, judge.

use crate::facts::Facts;
use crate::interpret::{Interpreted, interpret, unparsed};
use crate::judge;
use crate::location::Location;
use crate::parse::{self, ParseError};
use crate::paths::Ground;

pub use crate::interpret::changes_code;
pub use crate::judge::{Cause, Hit, Rules, RulesError, Verdict};

/// Classifies a text that runs in an unnamed work tree.
#[must_use]
pub fn classify(text: &str, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    classify_at(text, &Location::default(), facts, rules)
}

/// Classifies a text that runs at a location given by the caller.
#[must_use]
pub fn classify_at(text: &str, location: &Location, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    let ground = Ground { rules: &rules.paths, location };
    let Interpreted { effects, before } = effects(text, facts, ground);
    judge::verdict(text, effects, before, (facts, rules))
}

fn effects(text: &str, facts: &Facts<'_>, ground: Ground<'_>) -> Interpreted {
    match parse::parse(text) {
        Ok(script) => interpret(text, &script, facts, ground),
        Err(error) => Interpreted { effects: unparsed(&error), before: None },
    }
}

/// Returns the verdict on bytes that may not be text, such as broken UTF-8.
#[must_use]
pub fn classify_bytes(
    bytes: &[u8],
    location: &Location,
    facts: &Facts<'_>,
    rules: &Rules,
) -> Verdict {
    match str::from_utf8(bytes) {
        Ok(text) => classify_at(text, location, facts, rules),
        Err(error) => {
            let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let effects = unparsed(&ParseError { at, reason: "broken UTF-8" });
            judge::verdict("", effects, None, (facts, rules))
        }
    }
}
