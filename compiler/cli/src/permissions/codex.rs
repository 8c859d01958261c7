//! Codex: the calls of `*.rules` files, and the prefix rules of requirements.

mod write;

use toml_edit::{Document, Item, Value};

use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Setting, Subject, Tools,
};
use super::source::{ClientFile, Folders};
use super::starlark::{self, Called, Literal};
use super::toml_lines::line_at;
use crate::failure::Failure;
use crate::text::printable;

pub(crate) use write::FORM;

/// Its files: managed ones first.
const FILES: &[(Level, &str)] = &[
    (Level::Managed, "etc/codex/requirements.toml"),
    (Level::User, ".codex/rules/*.rules"),
    (Level::Project, ".codex/rules/*.rules"),
];

/// The most commands of one rule.
const COMMANDS_MAX: usize = 64;

/// Reads its rules.
///
/// # Errors
///
/// A file cannot be read or understood, or holds more than literal calls.
pub(crate) fn read(folders: &Folders) -> Result<Option<ClientRules>, Failure> {
    let files = folders.read(FILES)?;
    if files.is_empty() {
        return Ok(None);
    }
    let mut all = ClientRules {
        client: "Codex",
        rules: Vec::new(),
        // Its sandbox bounds unlisted commands.
        unlisted: Answer::Allow,
        mode: "guarded",
        unasked: &[],
        never_by_prefix: &[],
        tools: Tools::NONE,
        settings: Vec::new(),
    };
    for file in &files {
        if file.path.ends_with(".toml") {
            requirements(file, &mut all)?;
        } else {
            rules(file, &mut all)?;
        }
    }
    Ok(Some(all))
}

fn rules(file: &ClientFile, all: &mut ClientRules) -> Result<(), Failure> {
    let calls = starlark::read(&file.text).map_err(|(line, reason)| file.refuse(line, &reason))?;
    for call in calls {
        if call.name == "host_executable" {
            host_executable(file, &call, all)?;
            continue;
        }
        let refuse = |reason: &str| file.refuse(call.line, reason);
        let (mut pattern, mut decision) = (None, "allow".to_owned());
        let mut examples = Vec::new();
        for (name, value) in &call.arguments {
            match (name.as_str(), value) {
                ("pattern", Literal::List(words)) => pattern = Some(words),
                ("decision", Literal::Text(word)) => decision.clone_from(word),
                ("justification", Literal::Text(_)) => {}
                ("match", Literal::List(given)) => {
                    examples = given.iter().filter_map(example).collect()
                }
                // They are other commands.
                ("not_match", Literal::List(_)) => {}
                _ => {
                    return Err(refuse(&format!(
                        "`{}` is not an argument of this kind",
                        printable(name)
                    )));
                }
            }
        }
        let Some(pattern) = pattern else { return Err(refuse("a rule without a pattern")) };
        let words = pattern
            .iter()
            .map(|word| match word {
                Literal::Text(word) => Some(vec![word.clone()]),
                Literal::List(words) => words
                    .iter()
                    .map(|word| match word {
                        Literal::Text(word) => Some(word.clone()),
                        Literal::List(_) => None,
                    })
                    .collect(),
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| refuse("a word of the pattern is a list of lists"))?;
        all.rules.push(prefix_rule(file, call.line, words, (&decision, examples))?);
    }
    Ok(())
}

/// Returns an example as a command; `None` if a word would need quotes.
fn example(given: &Literal) -> Option<String> {
    match given {
        Literal::Text(text) => Some(text.clone()),
        Literal::List(words) => {
            let words: Option<Vec<&str>> = words
                .iter()
                .map(|word| match word {
                    Literal::Text(word) if is_plain(word) => Some(word.as_str()),
                    _ => None,
                })
                .collect();
            words.map(|words| words.join(" "))
        }
    }
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "_./:=@%+,-".contains(letter))
}

fn prefix_rule(
    file: &ClientFile,
    line: usize,
    words: Vec<Vec<String>>,
    (decision, examples): (&str, Vec<String>),
) -> Result<ClientRule, Failure> {
    let answer = match decision {
        "allow" => Answer::Allow,
        "prompt" => Answer::Ask,
        "forbidden" => Answer::Deny,
        other => {
            return Err(file.refuse(line, &format!("`{}` is not a decision", printable(other))));
        }
    };
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return Err(file.refuse(line, "an empty pattern"));
    }
    let written: Vec<String> = words
        .iter()
        .map(|any| match any.as_slice() {
            [word] => word.clone(),
            words => format!("[{}]", words.join(", ")),
        })
        .collect();
    let written = format!("{} {decision}", written.join(" "));
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    for any in &words {
        commands = commands
            .iter()
            .flat_map(|before| {
                any.iter().map(|word| [before.as_slice(), std::slice::from_ref(word)].concat())
            })
            .collect();
        if commands.len() > COMMANDS_MAX {
            return Err(file.refuse(line, &format!("a rule of more than {COMMANDS_MAX} commands")));
        }
    }
    let subject = match words.iter().flatten().find(|word| !is_plain(word)) {
        Some(word) => Subject::Unnamed(format!("`{}` needs quotes in a shell", printable(word))),
        None => Subject::Commands(commands.into_iter().map(Command::Tokens).collect()),
    };
    let notes = match file.level {
        Level::Project => vec!["at the client it counts in a trusted project alone".to_owned()],
        Level::Managed | Level::User | Level::Local => Vec::new(),
    };
    Ok(ClientRule {
        at: file.at(line),
        level: file.level,
        answer,
        written,
        subject,
        examples,
        notes,
    })
}

fn host_executable(file: &ClientFile, call: &Called, all: &mut ClientRules) -> Result<(), Failure> {
    let name = call.arguments.iter().find_map(|(name, value)| match value {
        Literal::Text(text) if name == "name" => Some(text),
        _ => None,
    });
    let Some(name) = name else {
        return Err(file.refuse(call.line, "`host_executable` without a name"));
    };
    all.settings.push(Setting {
        at: file.at(call.line),
        level: file.level,
        written: format!("host_executable {name}"),
        fate: Fate::Stricter,
        reason: "a rule that restricts means the program by every path".to_owned(),
    });
    Ok(())
}

fn requirements(file: &ClientFile, all: &mut ClientRules) -> Result<(), Failure> {
    let document = Document::parse(file.text.as_str()).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(&file.text, span.start));
        file.refuse(line, error.message())
    })?;
    for (key, item) in document.iter() {
        let line = item.span().map_or(1, |span| line_at(&file.text, span.start));
        if key == "rules" {
            prefix_rules(file, item, all)?;
            continue;
        }
        let mut setting = Setting {
            at: file.at(line),
            level: file.level,
            written: key.to_owned(),
            fate: Fate::Outside,
            reason: "it is about the sandbox, hooks and questions of the client".to_owned(),
        };
        if key == "allowed_sandbox_modes" {
            let modes = item.as_array().into_iter().flat_map(|modes| modes.iter());
            let modes: Vec<_> = modes.map(|mode| mode.as_str()).collect();
            if modes == [Some("read-only")] {
                all.mode = "readonly";
                setting.fate = Fate::Kept;
                setting.reason = "the mode is `readonly`".to_owned();
            }
        }
        all.settings.push(setting);
    }
    Ok(())
}

fn prefix_rules(file: &ClientFile, item: &Item, all: &mut ClientRules) -> Result<(), Failure> {
    let whole = item.span().map_or(1, |span| line_at(&file.text, span.start));
    let Some(table) = item.as_table_like() else {
        return Err(file.refuse(whole, "`rules` is not a table"));
    };
    for (key, item) in table.iter() {
        let line = item.span().map_or(whole, |span| line_at(&file.text, span.start));
        if key != "prefix_rules" {
            return Err(file.refuse(line, &format!("`rules.{}` is not known", printable(key))));
        }
        let refused = || file.refuse(line, "`prefix_rules` is not a list of tables");
        let tables: Vec<(usize, &dyn toml_edit::TableLike)> = match item {
            Item::Value(Value::Array(list)) => list
                .iter()
                .map(|value| {
                    let line = value.span().map_or(line, |span| line_at(&file.text, span.start));
                    let table = value.as_inline_table().ok_or_else(refused)?;
                    Ok((line, table as &dyn toml_edit::TableLike))
                })
                .collect::<Result<_, Failure>>()?,
            Item::ArrayOfTables(list) => list
                .iter()
                .map(|table| {
                    let line = table.span().map_or(line, |span| line_at(&file.text, span.start));
                    (line, table as &dyn toml_edit::TableLike)
                })
                .collect(),
            _ => return Err(refused()),
        };
        for (line, table) in tables {
            let words = table.get("pattern").and_then(Item::as_array);
            let Some(words) = words else {
                return Err(file.refuse(line, "a rule without a pattern"));
            };
            let words =
                words.iter().map(words_of).collect::<Option<Vec<_>>>().ok_or_else(|| {
                    file.refuse(line, "a word of the pattern is neither `token` nor `any_of`")
                })?;
            let decision = match table.get("decision") {
                None => "allow",
                Some(item) => {
                    item.as_str().ok_or_else(|| file.refuse(line, "`decision` is not a text"))?
                }
            };
            if let Some((other, _)) = table
                .iter()
                .find(|(key, _)| !["pattern", "decision", "justification"].contains(key))
            {
                return Err(file.refuse(line, &format!("`{}` is not known", printable(other))));
            }
            all.rules.push(prefix_rule(file, line, words, (decision, Vec::new()))?);
        }
    }
    Ok(())
}

fn words_of(value: &Value) -> Option<Vec<String>> {
    if let Some(word) = value.as_str() {
        return Some(vec![word.to_owned()]);
    }
    let table = value.as_inline_table()?;
    if let Some(token) = table.get("token") {
        return Some(vec![token.as_str()?.to_owned()]);
    }
    let any = table.get("any_of")?.as_array()?;
    any.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}
