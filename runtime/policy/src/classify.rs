//! Text -> tier, with the words that raised it: parse, interpret, judge.

use relay_bundle::Selector;

use crate::effect::{Effects, What};
use crate::facts::Facts;
use crate::interpret::{Interpreted, interpret, unparsed};
use crate::judge;
use crate::location::Location;
use crate::parse::{self, ParseError};
use crate::paths::Ground;
use crate::span::Span;
use crate::tier::Floor;

pub use crate::interpret::changes_code;
pub use crate::judge::{ADJUST_KEY, Cause, Hit, Rules, RulesError, Verdict, changes_agents};

/// Classifies a text that runs in an unnamed work tree.
#[must_use]
pub fn classify(text: &str, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    classify_at(text, &Location::default(), facts, rules)
}

/// Classifies a text that runs at a location given by the caller.
#[must_use]
pub fn classify_at(text: &str, location: &Location, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    let ground = Ground { rules: &rules.paths, location, variables: &[] };
    let Interpreted { effects, before } = effects(text, facts, ground);
    judge::verdict(text, effects, before, (facts, rules), location)
}

/// A request: texts for a shell, arguments with effects, and doubts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Doing<'d> {
    /// The texts for a shell; places of effects are those in all of them, a line feed between two.
    pub texts: &'d [&'d str],
    /// The environment variables that the request sets for them, each with its value.
    pub variables: &'d [(String, String)],
    /// The effects of arguments, each with the value; any value without one.
    pub arguments: &'d [(Selector, Option<&'d str>)],
    /// Whether an argument with a path means all below it too.
    pub are_trees: bool,
    /// The doubts about it, each with a sentence.
    pub doubts: &'d [(Floor, &'static str)],
}

/// Classifies a request that runs at a location.
#[must_use]
pub fn classify_request(
    doing: &Doing<'_>,
    location: &Location,
    facts: &Facts<'_>,
    rules: &Rules,
) -> Verdict {
    let Doing { texts, variables, arguments, are_trees, doubts } = *doing;
    let ground = Ground { rules: &rules.paths, location, variables };
    let (first, others) =
        texts.split_first().map_or(("", texts), |(first, others)| (*first, others));
    let joined = texts.join("\n");
    let mut start = first.len();
    let Interpreted { effects: mut all, before } = match texts {
        [] => Interpreted { effects: Effects::default(), before: None },
        _ => effects(first, facts, ground),
    };
    for text in others {
        // After the text before it, and a line feed.
        start += 1;
        let moved = |span: Span| Span::new(span.start as usize + start, span.end as usize + start);
        let Interpreted { effects: more, before } = effects(text, facts, ground);
        for mut more in [Some(more), before].into_iter().flatten() {
            more.place(moved);
            all.append(&more);
        }
        start += text.len();
    }
    for (selector, value) in arguments {
        all.of_argument((*selector, *value), are_trees, ground);
    }
    for (floor, reason) in doubts {
        all.add(What::Doubt(*floor, reason), Span::new(0, 0));
    }
    judge::verdict(&joined, all, before, (facts, rules), location)
}

/// Returns whether a text is a list of commands that the parser reads.
#[must_use]
pub fn parses(text: &str) -> bool {
    parse::parse(text).is_ok()
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
            judge::verdict("", effects, None, (facts, rules), location)
        }
    }
}
