//! Writing the `permissions` of a settings file.

use relay_engine::tool;

use super::super::entry::{Entry, Form, Line, json_list, with_answer};
use super::super::from_policy::Calls;
use super::super::model::Answer;
use super::super::report::RuleRow;

pub(crate) const FORM: Form = Form {
    entries,
    write,
    // The wrappers that it strips, but for two that run no program in bash, and its own unasked commands beside the text.
    // `xargs`, which would add words, is asked about: see `write`.
    forms: &[
        "timeout 5 @",
        "time @",
        "nice @",
        "nice -n 5 @",
        "nohup @",
        "stdbuf -o0 @",
        "command @",
        "cd x && @",
        "cat f | @",
        "ls; @",
        "@ | head",
        "@ 2>&1",
        "@ > /dev/null",
        "LANG=C @",
        "@ &",
    ],
    joins: true,
};

fn entries(calls: &Calls, answer: Answer, _: bool) -> Result<Vec<String>, &'static str> {
    let is_literal = |text: &str| !text.contains(['*', '?', '(', ')']);
    Ok(match calls {
        Calls::Prefix(words) => match words.as_slice() {
            [program] if program.strip_suffix('*').is_some_and(is_literal) => {
                vec![format!("Bash({program})")]
            }
            words if words.iter().all(|word| is_literal(word)) => {
                let text = words.join(" ");
                vec![format!("Bash({text})"), format!("Bash({text} *)")]
            }
            _ => return Err("the client has no such pattern"),
        },
        Calls::Containing(words, word) => {
            if !words.iter().all(|word| is_literal(word)) || word.contains(['?', '(', ')']) {
                return Err("the client has no such pattern");
            }
            let text = words.join(" ");
            let mut all = Vec::new();
            let spaced = word.replacen('=', " ", 1);
            let mut spelled = vec![word.clone()];
            if word.starts_with('-') && spaced != *word {
                spelled.push(spaced);
            }
            for word in spelled {
                for between in ["", "* "] {
                    all.push(format!("Bash({text} {between}{word})"));
                    all.push(format!("Bash({text} {between}{word} *)"));
                }
            }
            all
        }
        Calls::Text(text) => vec![format!("Bash({text})")],
        Calls::Reads(pattern) => vec![format!("Read({})", path(pattern))],
        Calls::Writes(pattern) => vec![format!("Edit({})", path(pattern))],
        Calls::Host(host) if host == "*" => vec!["WebFetch".to_owned()],
        Calls::Host(host) => match host.strip_prefix("*.").unwrap_or(host) {
            rest if is_literal(rest) => vec![format!("WebFetch(domain:{host})")],
            _ => return Err("the client has no such pattern"),
        },
        Calls::Tool(pattern, argument) => {
            let name = match pattern.split_once('/') {
                Some((server, name)) if !name.contains('/') => format!("mcp__{server}__{name}"),
                Some(_) => return Err("no tool of the client has this name"),
                None if pattern == "*" && answer == Answer::Deny => "*".to_owned(),
                None if pattern == tool::SHELL => "Bash".to_owned(),
                None if pattern.contains(['*', '?', '[']) || tool::reach(pattern).is_some() => {
                    return Err("the client has no tool of this name");
                }
                None => pattern.clone(),
            };
            match argument {
                Some((key, value)) if name != "Bash" => vec![format!("{name}({key}:{value})")],
                Some(_) => return Err("an argument of the shell is not seen"),
                None => vec![name],
            }
        }
        Calls::AnyWrite => vec!["Edit".to_owned(), "Write".to_owned(), "NotebookEdit".to_owned()],
    })
}

/// Returns a pattern of relay as one of `.gitignore`.
fn path(pattern: &str) -> String {
    match pattern.strip_prefix('/') {
        Some(rest) => format!("//{rest}"),
        // Anywhere, also above the working folder.
        None if pattern.starts_with("**/") => format!("//{pattern}"),
        None => pattern.to_owned(),
    }
}

fn write(entries: &[Entry], _: &[RuleRow]) -> Vec<Line> {
    let (deny, mut ask, allow) = (
        with_answer(entries, Answer::Deny),
        with_answer(entries, Answer::Ask),
        with_answer(entries, Answer::Allow),
    );
    // The client strips `xargs`, which adds words to an allowed command.
    let guards = ["Bash(xargs)", "Bash(xargs *)"].map(|text| Entry {
        answer: Answer::Ask,
        text: text.to_owned(),
        of: allow.first().map_or(0, |entry| entry.of),
    });
    if !allow.is_empty() {
        ask.extend(guards.iter().filter(|guard| {
            !entries.iter().any(|it| it.answer == Answer::Ask && it.text == guard.text)
        }));
    }
    let mut lines: Vec<Line> =
        vec![("{".to_owned(), None), ("  \"permissions\": {".to_owned(), None)];
    json_list("allow", &allow, (2, false), &mut lines);
    json_list("ask", &ask, (2, false), &mut lines);
    json_list("deny", &deny, (2, true), &mut lines);
    lines.push(("  }".to_owned(), None));
    lines.push(("}".to_owned(), None));
    lines
}
