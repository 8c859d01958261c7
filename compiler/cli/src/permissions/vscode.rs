//! VS Code: the `autoApprove` settings of chat. `false` means that a person is asked.

mod write;

use super::json::{self, Dialect, Json, JsonValue};
use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Setting, Subject, Tools,
};
use super::paths::{self, Base, Direction};
use super::regex;
use super::source::{ClientFile, Folders};
use crate::failure::Failure;

pub(crate) use write::FORM;
use write::{COMMANDS, EDITS};

/// Its files.
const FILES: &[(Level, &str)] =
    &[(Level::User, ".config/Code/User/settings.json"), (Level::Project, ".vscode/settings.json")];

const TOOLS: Tools = Tools {
    read: (&["read_file"], "filePath"),
    write: (&["create_file", "replace_string_in_file", "insert_edit_into_file"], "filePath"),
    fetch: (&["fetch_webpage"], "url"),
    reads_work_tree: true,
};

const URLS: &str = "chat.tools.urls.autoApprove";

/// Reads its rules.
///
/// # Errors
///
/// A file is unreadable or malformed.
pub(crate) fn read(folders: &Folders) -> Result<Option<ClientRules>, Failure> {
    let files = folders.read(FILES)?;
    let mut all = ClientRules {
        client: "VS Code",
        rules: Vec::new(),
        unlisted: Answer::Ask,
        mode: "open",
        unasked: &[],
        never_by_prefix: &[],
        tools: TOOLS,
        settings: Vec::new(),
    };
    let mut is_off = None;
    for file in &files {
        let settings = json::read(&file.text, Dialect::WithComments)
            .map_err(|error| file.refuse(error.line, &error.reason))?;
        if !matches!(settings.value, JsonValue::Map(_)) {
            return Err(file.refuse(settings.line, "expected an object"));
        }
        for (key, line, value) in settings.entries() {
            match key.as_str() {
                COMMANDS | EDITS | URLS => {
                    if value.value == JsonValue::Bool(true) || value.value == JsonValue::Bool(false)
                    {
                        return Err(file.refuse(*line, &format!("`{key}` is not an object")));
                    }
                    for (pattern, line, value) in value.entries() {
                        entry(file, *line, (key, pattern, value), &mut all)?;
                    }
                }
                "chat.tools.terminal.enableAutoApprove"
                    if value.value == JsonValue::Bool(false) =>
                {
                    is_off = Some(file.at(*line).shown());
                    all.settings.push(setting(
                        file,
                        *line,
                        key,
                        (Fate::Kept, "commands are asked about"),
                    ));
                }
                "chat.tools.global.autoApprove" | "chat.tools.autoApprove" if value.is_true() => {
                    let reason = "calls without a rule are asked about";
                    all.settings.push(setting(file, *line, key, (Fate::Stricter, reason)));
                }
                _ if key.starts_with("chat.tools.") => {
                    let reason = "it is about the client's own defaults and questions";
                    all.settings.push(setting(file, *line, key, (Fate::Outside, reason)));
                }
                _ => {}
            }
        }
    }
    if let Some(at) = is_off {
        for rule in all.rules.iter_mut().filter(|rule| {
            matches!(rule.subject, Subject::Commands(_)) && rule.answer == Answer::Allow
        }) {
            rule.subject = Subject::Inert(format!("`{at}` switches rules for commands off"));
        }
    }
    Ok((!all.rules.is_empty() || !all.settings.is_empty()).then_some(all))
}

fn setting(file: &ClientFile, line: usize, key: &str, (fate, reason): (Fate, &str)) -> Setting {
    Setting {
        at: file.at(line),
        level: file.level,
        written: key.to_owned(),
        fate,
        reason: reason.to_owned(),
    }
}

fn entry(
    file: &ClientFile,
    line: usize,
    (key, pattern, value): (&str, &str, &Json),
    all: &mut ClientRules,
) -> Result<(), Failure> {
    let flag = |value: &Json| match value.value {
        JsonValue::Bool(value) => Some(value),
        _ => None,
    };
    let (is_approved, is_whole_line) = match &value.value {
        JsonValue::Null => {
            let reason = "it takes back a default of the client, which is not imported";
            all.settings.push(setting(file, line, pattern, (Fate::Stricter, reason)));
            return Ok(());
        }
        JsonValue::Bool(value) => (*value, false),
        JsonValue::Map(entries) => {
            let refuse = |line, key: &str| {
                file.refuse(line, &format!("`{}` is not known", crate::text::printable(key)))
            };
            let known = ["approve", "matchCommandLine", "approveRequest", "approveResponse"];
            if let Some((name, line, _)) =
                entries.iter().find(|(name, _, _)| !known.contains(&name.as_str()))
            {
                return Err(refuse(*line, name));
            }
            let name = if key == URLS { "approveRequest" } else { "approve" };
            // An entry that is silent approves nothing.
            let is_approved = value.get(name).and_then(flag).unwrap_or(false);
            (is_approved, value.get("matchCommandLine").is_some_and(Json::is_true))
        }
        _ => return Err(file.refuse(line, &format!("the value is {}", value.kind()))),
    };
    let answer = if is_approved { Answer::Allow } else { Answer::Ask };
    let mut notes = Vec::new();
    let subject = match key {
        COMMANDS => commands(pattern, answer, is_whole_line, &mut notes),
        EDITS => edits(pattern, answer),
        _ => urls(pattern, answer),
    };
    all.rules.push(ClientRule {
        at: file.at(line),
        level: file.level,
        answer,
        written: format!("{pattern}: {is_approved}"),
        subject,
        examples: Vec::new(),
        notes,
    });
    Ok(())
}

/// Reads a command, or a regex between slashes.
fn commands(
    pattern: &str,
    answer: Answer,
    is_whole_line: bool,
    notes: &mut Vec<String>,
) -> Subject {
    if is_whole_line && answer == Answer::Allow {
        let reason = "it is about the whole line, and relay permits each command of it";
        return Subject::Unnamed(reason.to_owned());
    }
    let regex = pattern.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let regex = regex.filter(|(_, flags)| flags.chars().all(|flag| "dgimsuy".contains(flag)));
    let Some((inner, flags)) = regex else {
        let words: Vec<String> = pattern.split(' ').map(str::to_owned).collect();
        if words.iter().any(String::is_empty) {
            return Subject::Inert("no command begins so".to_owned());
        }
        return Subject::Commands(vec![match answer {
            Answer::Allow => Command::Prefix(words),
            // Its end is a border of letters and signs: `rm` means `rm-x`.
            Answer::Ask | Answer::Deny => Command::Glob(format!("{pattern}*")),
        }]);
    };
    if answer == Answer::Allow {
        let exact = regex::whole_literal(inner).map(Command::Exact);
        let prefix = || {
            let inner = inner.strip_prefix('^')?.strip_suffix("\\b")?;
            let words = regex::literal(inner)?.split(' ').map(str::to_owned).collect();
            Some(Command::Prefix(words))
        };
        return match exact.or_else(prefix) {
            Some(command) => Subject::Commands(vec![command]),
            None => Subject::Unnamed("a rule that permits takes no regex".to_owned()),
        };
    }
    // A part of the text begins and ends inside it.
    let inner = inner.strip_prefix('^').unwrap_or(inner);
    let inner = inner.strip_suffix('$').unwrap_or(inner);
    let has_anchor =
        inner.replace("[^", "").replace("\\^", "").replace("\\$", "").contains(['^', '$']);
    if has_anchor || inner.is_empty() {
        notes.push(format!(
            "{}, since anchors of the client are those of a part of the text",
            super::translate::MORE
        ));
        return Subject::Commands(vec![Command::Any]);
    }
    let mut regex = String::new();
    if flags.contains('i') {
        regex.push_str("(?i)");
    }
    if flags.contains('s') {
        regex.push_str("(?s)");
    }
    regex.push_str(inner);
    Subject::Commands(vec![Command::Regex(regex)])
}

fn edits(pattern: &str, answer: Answer) -> Subject {
    let direction = match answer {
        Answer::Allow => Direction::Permit,
        Answer::Ask | Answer::Deny => Direction::Restrict,
    };
    let mut all = super::model::Paths { patterns: Vec::new(), is_exact: true };
    for one in paths::braces(pattern) {
        let rooted = match (one.strip_prefix('/'), direction) {
            (Some(_), _) => format!("/{one}"),
            (None, Direction::Permit) if !one.starts_with("**/") => format!("./{one}"),
            (None, _) => one,
        };
        match paths::ignore_pattern(&rooted, &Base::WorkTree, direction) {
            Ok(paths) => {
                all.patterns.extend(paths.patterns);
                all.is_exact &= paths.is_exact;
            }
            Err(reason) => return Subject::Unnamed(reason),
        }
    }
    all.patterns.sort();
    all.patterns.dedup();
    Subject::Writes(all)
}

/// Reads a pattern of URLs, of which relay has the host.
fn urls(pattern: &str, answer: Answer) -> Subject {
    let rest = pattern.split_once("://").map_or(pattern, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    if host.is_empty() {
        return Subject::Unnamed("it names no host".to_owned());
    }
    let inner = host.strip_prefix("*.").unwrap_or(host);
    if answer == Answer::Allow
        && (inner.contains('*') && host != "*" || !matches!(path, "" | "*" | "**"))
    {
        return Subject::Unnamed("relay sees the host alone, so it would permit more".to_owned());
    }
    Subject::Hosts(vec![host.to_owned()])
}
