//! Text -> tier, with the words that raised it: parse, interpret, judge.

use crate::facts::Facts;
use crate::interpret::{Interpreted, interpret, unparsed};
use crate::judge;
use crate::parse::{self, ParseError};

pub use crate::interpret::changes_code;
pub use crate::judge::{Cause, Hit, Rules, RulesError, Verdict};

/// Classifies a text.
#[must_use]
pub fn classify(text: &str, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    let Interpreted { effects, before } = effects(text, facts, rules);
    judge::verdict(text, effects, before, (facts, rules))
}

fn effects(text: &str, facts: &Facts<'_>, rules: &Rules) -> Interpreted {
    match parse::parse(text) {
        Ok(script) => interpret(text, &script, facts, &rules.paths),
        Err(error) => Interpreted { effects: unparsed(&error), before: None },
    }
}

/// Returns the verdict on bytes that are no text, such as broken UTF-8.
#[must_use]
pub fn classify_bytes(bytes: &[u8], facts: &Facts<'_>, rules: &Rules) -> Verdict {
    match str::from_utf8(bytes) {
        Ok(text) => classify(text, facts, rules),
        Err(error) => {
            let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let effects = unparsed(&ParseError { at, reason: "broken UTF-8" });
            judge::verdict("", effects, None, (facts, rules))
        }
    }
}
