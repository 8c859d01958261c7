//! Writing a policy file. A deny has a higher priority than a question, and that than an allow.

use super::super::entry::{Entry, Form, Line, json_text};
use super::super::from_policy::Calls;
use super::super::model::Answer;
use super::super::regex::escaped;
use super::super::report::RuleRow;

pub(crate) const FORM: Form = Form {
    entries,
    write,
    // `dir_path` of a call is a folder of the work tree.
    forms: &["cd x && @", "cat f | @", "@ | head", "@ &"],
    joins: true,
};

fn entries(calls: &Calls, _: Answer, _: bool) -> Result<Vec<String>, &'static str> {
    let is_literal = |word: &String| !word.contains(['*', '?', '"', '\\']);
    let command = |key: &str, text: &str| vec![format!("{key} = {}", toml_text(text))];
    Ok(match calls {
        Calls::Prefix(words) if words.iter().all(is_literal) => {
            command("commandPrefix", &words.join(" "))
        }
        Calls::Containing(words, word) if words.iter().all(is_literal) && is_literal(word) => {
            let regex = format!("{} (.* )?{}", escaped(&words.join(" ")), escaped(word));
            command("commandRegex", &regex)
        }
        // The quote ends the command in the JSON that is searched.
        Calls::Text(text) => command("commandRegex", &format!("{}\"", escaped(text))),
        Calls::Tool(pattern, None) => match pattern.split_once('/') {
            Some((server, name))
                if !server.contains(['*', '_']) && (name == "*" || !name.contains('*')) =>
            {
                vec![format!("mcpName = {}, toolName = {}", toml_text(server), toml_text(name))]
            }
            _ => return Err("no rule of the client names these tools"),
        },
        Calls::AnyWrite => vec!["toolName = [\"write_file\", \"replace\"]".to_owned()],
        Calls::Reads(_) | Calls::Writes(_) | Calls::Host(_) => {
            return Err("the client's rules see it in the JSON of arguments alone");
        }
        Calls::Tool(_, Some(_)) => {
            return Err("the client's rules see it in the JSON of arguments alone");
        }
        Calls::Prefix(_) | Calls::Containing(..) => {
            return Err("the client has no such pattern");
        }
    })
}

/// Returns a text as TOML: JSON's escapes are TOML's, too.
fn toml_text(text: &str) -> String {
    json_text(text)
}

fn write(entries: &[Entry], rows: &[RuleRow]) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![("# Written by `relay export gemini`.".to_owned(), None)];
    for Entry { answer, text, of } in entries {
        let (decision, priority) = match answer {
            Answer::Allow => ("allow", 100),
            Answer::Ask => ("ask_user", 900),
            Answer::Deny => ("deny", 999),
        };
        let rule = rows.get(*of).map(|row| row.rule.clone()).unwrap_or_default();
        lines.push((String::new(), None));
        lines.push((format!("# {rule}"), None));
        lines.push(("[[rule]]".to_owned(), Some(*of)));
        if text.starts_with("command") {
            lines.push(("toolName = \"run_shell_command\"".to_owned(), Some(*of)));
        }
        lines.extend(text.split(", toolName").enumerate().map(|(number, line)| {
            let line = if number == 0 { line.to_owned() } else { format!("toolName{line}") };
            (line, Some(*of))
        }));
        lines.push((format!("decision = \"{decision}\""), Some(*of)));
        lines.push((format!("priority = {priority}"), Some(*of)));
    }
    lines
}
