//! Text -> tier, with the words that raised it.
//!
//! The classifier goes through everything that the text may run, in the order in which a shell would,
//! and joins what it finds. It never guesses downwards: what is not known has a floor, and a text that is
//! read again because a variable got a value later is read until nothing changes.

mod arguments;
mod braces;
mod call;
mod classifier;
mod command;
mod each;
mod expand;
mod hit;
mod mount;
mod nested;
mod output;
mod parameter;
mod parameter_operator;
mod path;
mod redirect;
mod role;
mod rules;
mod run;
mod special;
mod stream;
mod variables;

use crate::facts::Facts;
use crate::parse;
use crate::shell::Frame;
use crate::span::Span;
use crate::text::Text;
use classifier::{Classifier, Code, ROUNDS_MAX};
use stream::Stream;

pub use hit::{Cause, Effect, Hit, Verdict};
pub use rules::{Rules, RulesError};
pub use run::program_name;
pub use variables::changes_code;

/// Classifies a text.
#[must_use]
pub fn classify(text: &str, facts: &Facts<'_>, rules: &Rules) -> Verdict {
    let mut classifier = Classifier::new(facts, rules, text.len());
    let script = match parse::parse(text) {
        Ok(script) => script,
        Err(error) => {
            let at = Span { start: error.at, end: error.at.saturating_add(1) };
            classifier.unparsed(at, error.reason);
            return classifier.finish(text);
        }
    };
    let place = Text::exact(text.as_bytes(), Span::new(0, text.len()));
    for round in 1.. {
        classifier.shell.begin();
        classifier.forget();
        let code = Code { text, place: &place, script: &script };
        let mut frame = Frame::default();
        classifier.list(&code, &script.body, &mut frame, &Stream::default());
        classifier.traps(&mut frame);
        if !classifier.shell.is_stale || classifier.is_spent() || round > ROUNDS_MAX {
            break;
        }
        if round == ROUNDS_MAX {
            classifier.shell.lose();
        }
    }
    classifier.finish(text)
}

/// Returns the verdict on bytes that are no text, such as broken UTF-8.
#[must_use]
pub fn classify_bytes(bytes: &[u8], facts: &Facts<'_>, rules: &Rules) -> Verdict {
    match str::from_utf8(bytes) {
        Ok(text) => classify(text, facts, rules),
        Err(error) => {
            let mut classifier = Classifier::new(facts, rules, 0);
            let at = error.valid_up_to();
            classifier.unparsed(Span::new(at, at + 1), "broken UTF-8");
            classifier.finish("")
        }
    }
}
