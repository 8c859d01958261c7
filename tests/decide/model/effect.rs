//! Conditions on one effect.

use relay_policy::effect::{Call, Effect, Hidden, Sent, Touch, What};
use relay_policy::tier::Floor;

use super::meant::Meant::{Maybe, No, Surely};
use super::meant::{Meant, any, surely, word};
use super::path::{Touched, is_of};
use super::{Asked, Line, PATHS, of_values};

impl Asked<'_> {
    pub(super) fn of_effect(&self, line: &Line, effect: &Effect) -> Meant {
        match effect.what {
            What::Path { touch, path, class, is_many, is_tree, is_secret }
                if PATHS.contains(&line.selector) =>
            {
                let happens = self.happens(line.selector, touch, effect);
                if happens == No {
                    return No;
                }
                let is_whole = is_many
                    || is_tree && touch == Touch::Write
                    || matches!(touch, Touch::Remove | Touch::Take | Touch::ChangeTree)
                    || happens == Maybe;
                let shown = self.effects.display(path).into_owned();
                let path = Touched {
                    // What leaves the home may be anywhere.
                    is_open: self.effects.is_open(path) || shown.starts_with("~/.."),
                    path: shown,
                    is_pattern: !self.effects.is_exact(path),
                    class,
                    is_secret,
                    is_whole,
                };
                happens.min(of_values(line, |pattern| is_of(pattern, &path)))
            }
            What::Connects(host) if line.selector == "connects" => {
                let given = self.value(host);
                of_values(line, |pattern| self.host(pattern, &given))
            }
            What::Listens(value) if line.selector == "listens" => {
                let (value, is_exact) = self.value(value);
                of_values(line, |pattern| word(pattern, &value, is_exact))
            }
            What::Escalates(value) if line.selector == "escalates" => {
                let (value, is_exact) = self.value(value);
                of_values(line, |pattern| word(pattern, &value, is_exact))
            }
            What::Sends(sent) if line.selector == "sends" => {
                of_values(line, |wanted| match (wanted, sent) {
                    ("secret", Sent::Output) | ("file" | "body" | "output", Sent::Data) => Maybe,
                    ("*", _)
                    | ("secret", Sent::Secret)
                    | ("file", Sent::File)
                    | ("body", Sent::Body)
                    | ("output", Sent::Output)
                    | ("data", Sent::Data) => Surely,
                    _ => No,
                })
            }
            What::Runs(hidden, _) if line.selector == "runs" => of_values(line, |wanted| {
                let name = match hidden {
                    Hidden::Opaque => "opaque",
                    Hidden::Made => "made",
                    Hidden::Network => "remote",
                };
                surely(wanted == "*" || wanted == name)
            }),
            // A file that is run by its path is code that is not shown; an unknown name may be.
            What::Doubt(Floor::UnknownProgram, _) if line.selector == "runs" => {
                let call = effect.by.and_then(|by| self.effects.call(by));
                let is_file = call.is_some_and(|call| self.value(call.program).0.contains('/'));
                let meant = of_values(line, |wanted| surely(wanted == "*" || wanted == "opaque"));
                if is_file { meant } else { meant.min(Maybe) }
            }
            // A sub-command that is not literal may have any effect.
            What::Doubt(Floor::UnknownWord, _) => Maybe,
            _ => No,
        }
    }

    /// Returns whether this happens to a path.
    pub(super) fn happens(&self, selector: &str, touch: Touch, effect: &Effect) -> Meant {
        if is_of_kind(selector, effect) {
            return Surely;
        }
        // A program that reads its path and acts may do anything to it: `find /srv -delete`.
        let acts = |other: &Effect| {
            other.by == effect.by
                && other.by.is_some()
                && other.is_own
                && matches!(other.what, What::Declared(_) | What::Does(..) | What::Doubt(..))
        };
        let may = touch == Touch::Read && self.effects.all().iter().any(acts);
        if may { Maybe } else { No }
    }

    /// Returns whether a word of a program that no fact describes may be meant.
    pub(super) fn of_unknown(&self, line: &Line, call: &Call) -> Meant {
        if call.node.is_some() {
            return No;
        }
        let is_path = PATHS.contains(&line.selector);
        let words = self.effects.arguments(call).iter().filter_map(|word| word.value);
        let each = words.map(|given| {
            let (text, is_exact) = self.value(given);
            let text = match text.split_once('=') {
                Some((_, value)) if text.starts_with('-') => value.to_owned(),
                _ => text,
            };
            if is_path {
                let path = Touched::of_word(&text, self.effects.is_open(given), is_exact);
                return of_values(line, |pattern| is_of(pattern, &path)).min(Maybe);
            }
            if line.selector != "connects" {
                return No;
            }
            let Some((_, rest)) = text.split_once("://") else { return No };
            let host = rest.split(['/', '?', '#', ':']).next().unwrap_or(rest).to_owned();
            of_values(line, |pattern| self.host(pattern, &(host.clone(), true))).min(Maybe)
        });
        any(each.collect::<Vec<_>>())
    }
}

/// Returns whether an effect is of the kind that a selector names.
pub(super) fn is_of_kind(selector: &str, effect: &Effect) -> bool {
    match (effect.what, selector) {
        (What::Path { .. }, "touches") => true,
        (What::Path { touch: Touch::Take, .. }, "reads") => true,
        (What::Path { touch: Touch::Empty, .. }, "writes") => true,
        (What::Doubt(Floor::UnknownProgram, _), "runs") => true,
        _ => effect.name() == selector,
    }
}
