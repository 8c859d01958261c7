//! Writing the `autoApprove` settings.

use super::super::entry::{Entry, Form, Line, json_text};
use super::super::from_policy::Calls;
use super::super::model::Answer;
use super::super::regex::escaped;
use super::super::report::RuleRow;

/// The setting for commands.
pub(super) const COMMANDS: &str = "chat.tools.terminal.autoApprove";
/// The setting for edits.
pub(super) const EDITS: &str = "chat.tools.edits.autoApprove";

pub(crate) const FORM: Form = Form {
    entries,
    write,
    // A text is approved as a whole line.
    forms: &[],
    joins: false,
};

fn entries(calls: &Calls, answer: Answer, _: bool) -> Result<Vec<String>, &'static str> {
    let is_literal = |word: &String| !word.contains(['*', '?', '/']);
    if answer == Answer::Deny {
        return Err("the client only asks: a deny would be no more than that");
    }
    let setting = |key: &str, pattern: &str, value: &str| {
        vec![format!("{key}\n{}: {value}", json_text(pattern))]
    };
    Ok(match calls {
        Calls::Text(text) => setting(
            COMMANDS,
            &format!("/^{}$/", escaped(text).replace('/', "\\/")),
            "{ \"approve\": true, \"matchCommandLine\": true }",
        ),
        Calls::Prefix(words) if words.iter().all(is_literal) => {
            setting(COMMANDS, &words.join(" "), "false")
        }
        Calls::Containing(words, word) if words.iter().all(is_literal) && is_literal(word) => {
            let regex = format!("/^{} (.* )?{}/", escaped(&words.join(" ")), escaped(word));
            setting(COMMANDS, &regex, "false")
        }
        Calls::Writes(pattern) => {
            setting(EDITS, pattern.strip_prefix("./").unwrap_or(pattern), "false")
        }
        Calls::Prefix(_) | Calls::Containing(..) => {
            return Err("the client has no such pattern");
        }
        Calls::Reads(_) | Calls::Host(_) | Calls::Tool(..) | Calls::AnyWrite => {
            return Err("the client has no such setting");
        }
    })
}

fn write(entries: &[Entry], _: &[RuleRow]) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![("{".to_owned(), None)];
    let keys = [COMMANDS, EDITS];
    for (number, key) in keys.iter().enumerate() {
        lines.push((format!("  {}: {{", json_text(key)), None));
        let mut seen = std::collections::BTreeSet::new();
        let of: Vec<(&str, usize)> = entries
            .iter()
            .filter_map(|entry| {
                let (of, text) = entry.text.split_once('\n')?;
                (of == *key && seen.insert(text)).then_some((text, entry.of))
            })
            .collect();
        let last = of.len().saturating_sub(1);
        for (place, (text, rule)) in of.into_iter().enumerate() {
            let comma = if place == last { "" } else { "," };
            lines.push((format!("    {text}{comma}"), Some(rule)));
        }
        let comma = if number + 1 == keys.len() { "" } else { "," };
        lines.push((format!("  }}{comma}"), None));
    }
    lines.push(("}".to_owned(), None));
    lines
}
