//! Writing a file of `prefix_rule` calls.

use super::super::entry::{Entry, Form, Line, json_text};
use super::super::from_policy::Calls;
use super::super::model::Answer;
use super::super::report::RuleRow;

pub(crate) const FORM: Form = Form {
    entries,
    write,
    // A pattern is a prefix: any words may follow.
    forms: &[
        "@ $WORDS",
        "@ \"$WORD\"",
        "@ -x",
        "@ --x=1",
        "@ x",
        "@ /etc/x",
        "@ ../x",
        "@ | head",
        "cat f | @",
    ],
    joins: true,
};

fn entries(calls: &Calls, _: Answer, _: bool) -> Result<Vec<String>, &'static str> {
    let words: Vec<String> = match calls {
        Calls::Prefix(words) => words.clone(),
        Calls::Containing(words, word) => [words.as_slice(), std::slice::from_ref(word)].concat(),
        Calls::Text(text) => text.split(' ').map(str::to_owned).collect(),
        Calls::AnyWrite => {
            return Err(
                "it is a mode of the sandbox: `sandbox_mode = \"read-only\"` in config.toml",
            );
        }
        Calls::Reads(_) | Calls::Writes(_) => {
            return Err("files are a matter of the client's sandbox");
        }
        Calls::Host(_) | Calls::Tool(..) => {
            return Err("the client's rules are about commands alone");
        }
    };
    let is_literal =
        |word: &String| !word.contains(['*', '?']) && !word.chars().any(char::is_control);
    if !words.iter().all(is_literal) {
        return Err("the client has no such pattern");
    }
    let words: Vec<_> = words.iter().map(|word| json_text(word)).collect();
    Ok(vec![format!("[{}]", words.join(", "))])
}

fn write(entries: &[Entry], rows: &[RuleRow]) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![("# Written by `relay export codex`.".to_owned(), None)];
    for Entry { answer, text, of } in entries {
        let decision = match answer {
            Answer::Allow => "allow",
            Answer::Ask => "prompt",
            Answer::Deny => "forbidden",
        };
        let rule = rows.get(*of).map(|row| row.rule.clone()).unwrap_or_default();
        let call = format!(
            "prefix_rule(pattern = {text}, decision = \"{decision}\", justification = {})",
            json_text(&rule)
        );
        lines.push((call, Some(*of)));
    }
    lines
}
