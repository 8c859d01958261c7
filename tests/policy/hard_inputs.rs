//! Texts that are hard to read: each is read or refused as bash does, each on purpose.

use std::fs;

use super::{reasons, tier};
use crate::support::root;
use relay_policy::parse::parse;

/// The only one that bash refuses and that is read: a script may turn `extglob` on.
const READ_THOUGH_REFUSED: &str = "echo @(a|b) !(c) +(d)";

/// Returns whether a text must be read, and the text.
pub(super) fn inputs() -> Vec<(bool, String)> {
    let text = fs::read_to_string(root().join("tests/policy/hard_inputs.tsv")).expect("inputs");
    let input = |line: &str| {
        let (wanted, text) = line.split_once('\t').expect("`reads` or `refuses`, a tab, a text");
        assert!(matches!(wanted, "reads" | "refuses"), "{line}");
        (wanted == "reads", text.replace('␤', "\n").replace('␉', "\t"))
    };
    text.lines().map(input).collect()
}

#[test]
fn each_hard_input_is_read_or_refused() {
    let inputs = inputs();
    assert!(inputs.len() >= 95, "{} inputs", inputs.len());
    assert!(inputs.contains(&(true, READ_THOUGH_REFUSED.to_owned())));
    let mut wrong = String::new();
    for (is_read, text) in &inputs {
        let parsed = parse(text);
        if parsed.is_ok() != *is_read {
            wrong.push_str(&format!("{text}\n    {parsed:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Wherever a text is cut, it is read, or it counts as the worst.
#[test]
fn each_hard_input_may_be_cut_anywhere() {
    for (_, text) in inputs() {
        for (at, _) in text.char_indices() {
            let cut = text.get(..at).expect("a character begins here");
            assert!(parse(cut).is_ok() || tier(cut) == 3, "{cut}\n{}", reasons(cut));
        }
    }
}
