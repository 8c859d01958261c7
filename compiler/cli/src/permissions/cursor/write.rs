//! Writing the `permissions` of `cli.json`.

use super::super::entry::{Entry, Form, Line, json_list, with_answer};
use super::super::from_policy::Calls;
use super::super::model::Answer;
use super::super::report::RuleRow;

pub(crate) const FORM: Form = Form { entries, write, forms: &[], joins: true };

fn entries(calls: &Calls, answer: Answer, is_strict: bool) -> Result<Vec<String>, &'static str> {
    const NO_QUESTION: &str = "the client has no rule that asks: `--strict` exports it as a deny";
    if answer == Answer::Ask && !is_strict {
        return Err(NO_QUESTION);
    }
    let is_literal = |text: &str| !text.contains(['*', '?', '(', ')', ':']);
    let is_path = |text: &str| !text.contains(['(', ')']);
    Ok(match calls {
        Calls::Text(_) => return Err("a pattern of the client may mean more words"),
        Calls::Prefix(words) | Calls::Containing(words, _) => match words.as_slice() {
            [program, rest @ ..] if is_literal(program) => {
                let is_whole = rest.is_empty() && matches!(calls, Calls::Prefix(_));
                if !is_whole && !is_strict {
                    return Err("the client denies whole programs: `--strict` exports it so");
                }
                vec![format!("Shell({program})")]
            }
            _ => return Err("the client has no such pattern"),
        },
        Calls::Reads(pattern) if is_path(pattern) => vec![format!("Read({})", path(pattern))],
        Calls::Writes(pattern) if is_path(pattern) => vec![format!("Write({})", path(pattern))],
        Calls::Host(host) if is_path(host) => vec![format!("WebFetch({host})")],
        Calls::Tool(pattern, None) => match pattern.split_once('/') {
            Some((server, name)) => vec![format!("Mcp({server}:{name})")],
            None => return Err("the client has no rule for this tool"),
        },
        Calls::Tool(_, Some(_)) => return Err("the client's rules do not see arguments"),
        Calls::AnyWrite => vec!["Write(**)".to_owned()],
        Calls::Reads(_) | Calls::Writes(_) | Calls::Host(_) => {
            return Err("the client has no such pattern");
        }
    })
}

fn path(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

fn write(entries: &[Entry], _: &[RuleRow]) -> Vec<Line> {
    let denied: Vec<Entry> = entries
        .iter()
        .filter(|entry| entry.answer != Answer::Allow)
        .map(|entry| Entry { answer: Answer::Deny, ..entry.clone() })
        .collect();
    let mut lines: Vec<Line> =
        vec![("{".to_owned(), None), ("  \"permissions\": {".to_owned(), None)];
    json_list("allow", &with_answer(entries, Answer::Allow), (2, false), &mut lines);
    json_list("deny", &with_answer(&denied, Answer::Deny), (2, true), &mut lines);
    lines.push(("  }".to_owned(), None));
    lines.push(("}".to_owned(), None));
    lines
}
