//! Cursor: the `permissions` of the command line's settings, which allow or deny.

mod write;

use super::json::{self, Dialect, JsonValue};
use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Paths, Setting, Subject, Tools,
};
use super::paths::{self, Base, Direction};
use super::source::{ClientFile, Folders};
use super::translate::MORE;
use crate::failure::Failure;

pub(crate) use write::FORM;

/// Its files.
const FILES: &[(Level, &str)] =
    &[(Level::User, ".cursor/cli-config.json"), (Level::Project, ".cursor/cli.json")];

const TOOLS: Tools = Tools {
    read: (&["Read"], "file_path"),
    write: (&["Write"], "file_path"),
    fetch: (&["WebFetch"], "url"),
    reads_work_tree: false,
};

/// Reads its rules.
///
/// # Errors
///
/// A file is unreadable or malformed.
pub(crate) fn read(folders: &Folders) -> Result<Option<ClientRules>, Failure> {
    let files = folders.read(FILES)?;
    if files.is_empty() {
        return Ok(None);
    }
    let mut all = ClientRules {
        client: "Cursor",
        rules: Vec::new(),
        unlisted: Answer::Ask,
        mode: "open",
        unasked: &[],
        never_by_prefix: &[],
        tools: TOOLS,
        settings: Vec::new(),
    };
    for file in &files {
        let settings = json::read(&file.text, Dialect::Strict)
            .map_err(|error| file.refuse(error.line, &error.reason))?;
        if !matches!(settings.value, JsonValue::Map(_)) {
            return Err(file.refuse(settings.line, "expected an object"));
        }
        for (key, line, value) in settings.entries() {
            if key == "permissions" {
                if !matches!(value.value, JsonValue::Map(_)) {
                    return Err(file.refuse(*line, "`permissions` is not an object"));
                }
            } else if key == "approvalMode" {
                let written = format!("approvalMode {}", value.text().unwrap_or_default());
                let is_kept = value.text() == Some("allowlist");
                all.settings.push(Setting {
                    at: file.at(*line),
                    level: file.level,
                    written,
                    fate: if is_kept { Fate::Kept } else { Fate::Stricter },
                    reason: "calls without a rule are asked about".to_owned(),
                });
            }
        }
        let Some(permissions) = settings.get("permissions") else { continue };
        for (key, line, value) in permissions.entries() {
            let answer = match key.as_str() {
                "allow" => Answer::Allow,
                "deny" => Answer::Deny,
                _ => return Err(file.refuse(*line, &format!("`permissions.{key}` is not known"))),
            };
            let JsonValue::List(items) = &value.value else {
                return Err(file.refuse(*line, &format!("`{key}` is {}, not a list", value.kind())));
            };
            for item in items {
                let Some(written) = item.text() else {
                    return Err(file.refuse(item.line, "a rule is not a text"));
                };
                all.rules.push(rule(file, item.line, answer, written));
            }
        }
    }
    Ok(Some(all))
}

fn rule(file: &ClientFile, line: usize, answer: Answer, written: &str) -> ClientRule {
    let subject = subject(answer, written.trim());
    let mut notes = Vec::new();
    if let Subject::Commands(commands) = &subject
        && let [Command::Tokens(words)] = commands.as_slice()
        && words.len() == 1
        && written.contains(':')
    {
        notes.push(format!("{MORE} of the program, since its words may be quoted"));
    }
    ClientRule {
        at: file.at(line),
        level: file.level,
        answer,
        written: written.to_owned(),
        subject,
        examples: Vec::new(),
        notes,
    }
}

fn subject(answer: Answer, written: &str) -> Subject {
    let parts =
        written.split_once('(').and_then(|(kind, rest)| Some((kind, rest.strip_suffix(')')?)));
    let Some((kind, inside)) = parts else {
        return Subject::Inert("it has not the form `Kind(pattern)`".to_owned());
    };
    let is_any = matches!(inside, "*" | "**");
    match kind {
        "Shell" if is_any => Subject::Commands(vec![Command::Any]),
        "Shell" => shell(answer, inside),
        "Read" | "Write" => {
            let paths = if is_any { Ok(paths::everything()) } else { file_paths(answer, inside) };
            match paths {
                Ok(paths) if kind == "Read" => Subject::Reads(paths),
                Ok(paths) => Subject::Writes(paths),
                Err(reason) => Subject::Unnamed(reason),
            }
        }
        "WebFetch" => {
            let inner = inside.strip_prefix("*.").unwrap_or(inside);
            if is_any {
                Subject::Hosts(vec!["*".to_owned()])
            } else if inner.contains('*') && answer == Answer::Allow {
                Subject::Unnamed("`*` inside a name of a host may mean one part of it".to_owned())
            } else {
                Subject::Hosts(vec![inside.to_owned()])
            }
        }
        "Mcp" => match inside.split_once(':') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Subject::Tools {
                patterns: vec![format!("{}/{}", server.trim(), tool.trim())],
                argument: None,
            },
            _ => Subject::Unnamed("a rule of Mcp names `server:tool`".to_owned()),
        },
        _ => Subject::Inert(format!("`{kind}` is not a kind of rule")),
    }
}

/// Reads `base` or `base:arguments`.
fn shell(answer: Answer, inside: &str) -> Subject {
    let (base, arguments) = match inside.split_once(':') {
        Some((base, arguments)) => (base.trim(), Some(arguments.trim())),
        None => (inside.trim(), None),
    };
    let is_word = |word: &str| !word.is_empty() && !word.contains([' ', '*', '?', '"', '\'']);
    if !is_word(base) {
        let command = Command::Glob(inside.replacen(':', " ", 1));
        return match answer {
            Answer::Allow => {
                Subject::Unnamed("its first word is a pattern or several words".to_owned())
            }
            Answer::Ask | Answer::Deny => Subject::Commands(vec![command]),
        };
    }
    let base = base.to_owned();
    let arguments = match arguments {
        None | Some("*" | "**") => {
            let command = match answer {
                Answer::Allow => Command::Prefix(vec![base]),
                Answer::Ask | Answer::Deny => Command::Tokens(vec![base]),
            };
            return Subject::Commands(vec![command]);
        }
        Some(arguments) => arguments,
    };
    let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
    let is_literal = words.iter().all(|word| is_word(word));
    let command = match (answer, is_literal) {
        (Answer::Allow, true) => Command::Exact(format!("{base} {arguments}")),
        (Answer::Allow, false) => Command::Glob(format!("{base} {arguments}")),
        (_, true) => Command::Tokens([vec![base], words].concat()),
        // Words may be quoted, so that a search of the text would miss them.
        (_, false) => Command::Tokens(vec![base]),
    };
    Subject::Commands(vec![command])
}

fn file_paths(answer: Answer, inside: &str) -> Result<Paths, String> {
    match answer {
        Answer::Allow => {
            let rooted = match inside {
                _ if inside.starts_with('/') => format!("/{inside}"),
                _ if inside.starts_with("~/") || inside.starts_with("./") => inside.to_owned(),
                _ => format!("./{inside}"),
            };
            paths::ignore_pattern(&rooted, &Base::WorkTree, Direction::Permit)
        }
        Answer::Ask | Answer::Deny => {
            let rooted =
                if inside.starts_with('/') { format!("/{inside}") } else { inside.to_owned() };
            paths::ignore_pattern(&rooted, &Base::WorkTree, Direction::Restrict)
        }
    }
}
