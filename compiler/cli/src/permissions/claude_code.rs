//! Claude Code: the `permissions` of its settings files.

mod write;

use super::json::{self, Dialect, Json, JsonValue};
use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Setting, Subject, Tools,
};
use super::paths::{self, Base, Direction};
use super::source::{ClientFile, Folders};
use super::translate::MORE;
use crate::failure::Failure;

pub(crate) use write::FORM;

/// Its files: managed ones first.
const FILES: &[(Level, &str)] = &[
    (Level::Managed, "etc/claude-code/managed-settings.json"),
    (Level::Managed, "etc/claude-code/managed-settings.d/*.json"),
    (Level::User, ".claude/settings.json"),
    (Level::Project, ".claude/settings.json"),
    (Level::Local, ".claude/settings.local.json"),
];

pub(crate) const TOOLS: Tools = Tools {
    read: (&["Read"], "file_path"),
    write: (&["Edit", "Write", "MultiEdit"], "file_path"),
    fetch: (&["WebFetch"], "url"),
    reads_work_tree: true,
};

/// Commands of its built-in set that run unasked, as far as they print only names and the state of the work tree.
const UNASKED: &[&str] = &["ls", "pwd", "git status", "git log", "git diff"];

/// Commands that are asked about in spite of a pattern.
const NEVER_BY_PREFIX: &[(&str, &[&str])] = &[
    ("find", &["find *-exec*", "find *-ok*", "find *-delete*"]),
    ("watch", &["watch*"]),
    ("setsid", &["setsid*"]),
    ("ionice", &["ionice*"]),
    ("flock", &["flock*"]),
];

/// Tools whose rules parse and do nothing: `Read` and `Edit` alone are asked about files.
const INERT_FILE_TOOLS: &[&str] =
    &["Write", "MultiEdit", "NotebookEdit", "Glob", "Grep", "NotebookRead", "LS"];

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
        client: "Claude Code",
        rules: Vec::new(),
        unlisted: Answer::Ask,
        mode: "open",
        unasked: UNASKED,
        never_by_prefix: NEVER_BY_PREFIX,
        tools: TOOLS,
        settings: Vec::new(),
    };
    let mut managed_only = None;
    let mut mode: Option<(Level, String)> = None;
    for file in &files {
        let settings = json::read(&file.text, Dialect::Strict)
            .map_err(|error| file.refuse(error.line, &error.reason))?;
        if !matches!(settings.value, JsonValue::Map(_)) {
            return Err(file.refuse(settings.line, "expected an object"));
        }
        if file.level == Level::Managed
            && settings.get("allowManagedPermissionRulesOnly").is_some_and(Json::is_true)
        {
            managed_only = Some(file.path.clone());
        }
        for key in ["hooks", "sandbox"] {
            if let Some(value) = settings.get(key) {
                all.settings.push(outside(
                    file,
                    value.line,
                    key,
                    "it is no permission: it is not imported",
                ));
            }
        }
        let Some(permissions) = settings.get("permissions") else { continue };
        if !matches!(permissions.value, JsonValue::Map(_)) {
            return Err(file.refuse(permissions.line, "`permissions` is not an object"));
        }
        for (key, line, value) in permissions.entries() {
            let answer = match key.as_str() {
                "allow" => Answer::Allow,
                "ask" => Answer::Ask,
                "deny" => Answer::Deny,
                "defaultMode" => {
                    let Some(name) = value.text() else {
                        return Err(file.refuse(*line, "`defaultMode` is not a text"));
                    };
                    // Files are in the order managed, user, project, local; managed wins, then the narrowest.
                    if mode.as_ref().is_none_or(|(level, _)| *level != Level::Managed) {
                        mode = Some((file.level, name.to_owned()));
                    }
                    all.settings.push(mode_setting(file, *line, name));
                    continue;
                }
                "additionalDirectories" => {
                    let reason = "files there are outside of the work tree for relay, so it asks";
                    all.settings.push(Setting {
                        at: file.at(*line),
                        level: file.level,
                        written: key.clone(),
                        fate: Fate::Stricter,
                        reason: reason.to_owned(),
                    });
                    continue;
                }
                _ => {
                    let reason = "it is about modes and prompts of the client, and no rule";
                    all.settings.push(outside(file, *line, key, reason));
                    continue;
                }
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
    if let Some(path) = managed_only {
        for rule in all.rules.iter_mut().filter(|rule| rule.level != Level::Managed) {
            rule.subject = Subject::Inert(format!("`{path}` lets managed rules alone count"));
        }
    }
    if mode.is_some_and(|(_, name)| name == "dontAsk") {
        all.unlisted = Answer::Deny;
    }
    Ok(Some(all))
}

fn outside(file: &ClientFile, line: usize, key: &str, reason: &str) -> Setting {
    Setting {
        at: file.at(line),
        level: file.level,
        written: key.to_owned(),
        fate: Fate::Outside,
        reason: reason.to_owned(),
    }
}

fn mode_setting(file: &ClientFile, line: usize, name: &str) -> Setting {
    let (fate, reason) = match name {
        "default" => (Fate::Kept, "calls without a rule are asked about"),
        "dontAsk" => (Fate::Kept, "calls without a rule are denied"),
        "plan" => (Fate::Outside, "a session may leave this mode, so the rules alone are imported"),
        _ => (Fate::Stricter, "calls without a rule are asked about"),
    };
    Setting {
        at: file.at(line),
        level: file.level,
        written: format!("defaultMode {name}"),
        fate,
        reason: reason.to_owned(),
    }
}

fn rule(file: &ClientFile, line: usize, answer: Answer, written: &str) -> ClientRule {
    let mut notes = Vec::new();
    if answer == Answer::Allow && matches!(file.level, Level::Project) {
        notes.push("at the client it counts in a trusted workspace alone".to_owned());
    }
    let subject = subject(file, answer, written.trim());
    if let Subject::Tools { argument: None, .. } = &subject
        && answer != Answer::Allow
        && written.contains('(')
        && !written.ends_with("(*)")
    {
        notes.push(format!("{MORE} of the tool"));
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

fn subject(file: &ClientFile, answer: Answer, written: &str) -> Subject {
    let (tool, inside) = match written.split_once('(') {
        None => (written, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (tool, Some(inside)),
            None => return Subject::Unnamed("its `(` has no `)` at the end".to_owned()),
        },
    };
    let is_any = matches!(inside, None | Some("" | "*"));
    let restricts = answer != Answer::Allow;
    match tool {
        "Bash" if is_any => Subject::Commands(vec![Command::Any]),
        "Bash" => {
            let inside = inside.unwrap_or_default();
            if let Some(argument) = restricts.then(|| parameter(inside, "command")).flatten() {
                return argument_of("shell_exec", argument);
            }
            Subject::Commands(vec![command(inside)])
        }
        "Read" | "Edit" => {
            let direction = if restricts { Direction::Restrict } else { Direction::Permit };
            if is_any {
                return file_subject(tool, paths::everything());
            }
            let inside = inside.unwrap_or_default();
            if let Some(argument) = restricts.then(|| parameter(inside, "file_path")).flatten() {
                return argument_of(tool, argument);
            }
            let base = match file.level {
                Level::User => Base::User,
                Level::Managed => Base::Managed,
                Level::Project | Level::Local => Base::WorkTree,
            };
            match paths::ignore_pattern(inside, &base, direction) {
                Ok(paths) => file_subject(tool, paths),
                Err(reason) => Subject::Unnamed(reason),
            }
        }
        "WebFetch" if is_any => Subject::Hosts(vec!["*".to_owned()]),
        "WebFetch" => match inside.unwrap_or_default().split_once(':') {
            Some(("domain", host)) => hosts(host, restricts),
            _ => Subject::Unnamed("a rule of WebFetch names a `domain:`".to_owned()),
        },
        _ if INERT_FILE_TOOLS.contains(&tool) && !is_any => Subject::Inert(format!(
            "`{tool}(…)` does nothing: rules of Read and Edit decide about files"
        )),
        "*" if restricts && is_any => Subject::Everything,
        _ => tool_subject(tool, inside, is_any, restricts),
    }
}

fn file_subject(tool: &str, paths: super::model::Paths) -> Subject {
    if tool == "Read" { Subject::Reads(paths) } else { Subject::Writes(paths) }
}

/// Returns the name and value of `param:value`, unless the parameter is the tool's primary one.
fn parameter(inside: &str, primary: &str) -> Option<(String, String)> {
    let (name, value) = inside.split_once(':')?;
    let is_name = !name.is_empty()
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    // Of a command, a colon is literal, and `:*` at the end is the old form of ` *`.
    let is_known = ["run_in_background", "timeout", "description", "dangerouslyDisableSandbox"]
        .contains(&name)
        || !matches!(primary, "command" | "file_path");
    (is_name && is_known && name != primary && value != "*")
        .then(|| (name.to_owned(), value.to_owned()))
}

fn argument_of(tool: &str, argument: (String, String)) -> Subject {
    Subject::Tools { patterns: vec![tool.to_owned()], argument: Some(argument) }
}

/// Reads the pattern of a command.
fn command(inside: &str) -> Command {
    let pattern = match inside.strip_suffix(":*") {
        Some(before) => format!("{before} *"),
        None => inside.to_owned(),
    };
    match pattern.strip_suffix(" *") {
        Some(before) if !before.contains('*') && is_words(before) => {
            Command::Prefix(before.split(' ').map(str::to_owned).collect())
        }
        _ if pattern.contains('*') => Command::Glob(pattern),
        _ => Command::Exact(pattern),
    }
}

fn is_words(text: &str) -> bool {
    !text.is_empty() && text.split(' ').all(|word| !word.is_empty())
}

fn hosts(host: &str, restricts: bool) -> Subject {
    let is_plain = |part: &str| !part.contains('*');
    match host.strip_prefix("*.") {
        Some(rest) if is_plain(rest) => Subject::Hosts(vec![host.to_owned()]),
        // Elsewhere `*` stays in a part of the name, so relay's pattern means more hosts.
        _ if is_plain(host) || restricts => Subject::Hosts(vec![host.to_owned()]),
        _ => Subject::Unnamed(
            "`*` inside a name of a host is one part of it at the client".to_owned(),
        ),
    }
}

/// Returns the calls of tools of servers, and of other tools of the client.
fn tool_subject(tool: &str, inside: Option<&str>, is_any: bool, restricts: bool) -> Subject {
    let pattern = match tool.strip_prefix("mcp__") {
        Some(rest) => {
            let (server, name) = rest.split_once("__").unwrap_or((rest, "*"));
            if !restricts && server.contains('*') {
                let reason = "an allow of all servers counts after a literal server alone";
                return Subject::Inert(reason.to_owned());
            }
            if server.is_empty() {
                return Subject::Unnamed("it names no server".to_owned());
            }
            format!("{server}/{name}")
        }
        None if tool == "PowerShell" => {
            return Subject::Unnamed("relay reads commands of PowerShell in no rule".to_owned());
        }
        None => tool.to_owned(),
    };
    if pattern.contains(['?', '[']) || pattern.is_empty() {
        return Subject::Unnamed("its name has a sign that no tool has".to_owned());
    }
    let patterns = vec![pattern];
    match inside {
        _ if is_any => Subject::Tools { patterns, argument: None },
        // A detail beyond the arguments is left out, so that the rule means more.
        Some(inside) if restricts => Subject::Tools { patterns, argument: parameter(inside, "") },
        _ => Subject::Unnamed("relay does not see this detail of the tool".to_owned()),
    }
}
