//! relay-shell: the policy in its environment, as a file of settings.

use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Setting, Subject, Tools,
};
use super::regex::BEYOND_ASCII;
use super::source::{ClientFile, Folders};
use super::translate::MORE;
use crate::failure::Failure;
use crate::text::printable;

/// Its file.
const FILES: &[(Level, &str)] = &[(Level::Project, ".env")];

/// The names of its settings begin so.
const PREFIX: &str = "RELAY_SHELL_";

/// Tools that its mode `readonly` refuses; relay's lets commands run that only read.
const MORE_THAN_READING: &[&str] = &[
    "shell_*",
    "ssh_exec",
    "ssh_spawn",
    "ssh_fanout",
    "ssh_upload",
    "ssh_download",
    "ssh_forward",
    "ssh_keyscan",
    "session_send",
    "session_resize",
    "session_kill",
];

/// Reads its settings.
///
/// # Errors
///
/// The file cannot be read, or its mode is unknown.
pub(crate) fn read(folders: &Folders) -> Result<Option<ClientRules>, Failure> {
    let files = folders.read(FILES)?;
    let mut all = ClientRules {
        client: "relay-shell",
        rules: Vec::new(),
        unlisted: Answer::Allow,
        mode: "open",
        unasked: &[],
        never_by_prefix: &[],
        tools: Tools::NONE,
        settings: Vec::new(),
    };
    for file in &files {
        let mut names = std::collections::BTreeSet::new();
        for (number, line) in file.text.lines().enumerate() {
            let line = line.trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#'))
            else {
                continue;
            };
            let name = name.trim().to_ascii_uppercase();
            let Some(name) = name.strip_prefix(PREFIX) else { continue };
            if !names.insert(name.to_owned()) {
                return Err(file
                    .refuse(number + 1, &format!("`{PREFIX}{}` is given twice", printable(name))));
            }
            setting(file, number + 1, (name, &value_of(file, number + 1, value)?), &mut all)?;
        }
    }
    Ok((!all.rules.is_empty() || !all.settings.is_empty()).then_some(all))
}

/// Returns the value of a line, its quotes removed.
fn value_of(file: &ClientFile, line: usize, written: &str) -> Result<String, Failure> {
    let written = written.trim();
    for mark in ['"', '\''] {
        if let Some(rest) = written.strip_prefix(mark) {
            let Some(inner) = rest.strip_suffix(mark).filter(|inner| !inner.contains(mark)) else {
                return Err(file.refuse(line, "a quote is not closed at the end of the line"));
            };
            // In double quotes, a backslash escapes itself.
            return Ok(if mark == '"' { inner.replace("\\\\", "\\") } else { inner.to_owned() });
        }
    }
    Ok(written.split(" #").next().unwrap_or_default().trim_end().to_owned())
}

fn setting(
    file: &ClientFile,
    line: usize,
    (name, value): (&str, &str),
    all: &mut ClientRules,
) -> Result<(), Failure> {
    let written = format!("{PREFIX}{name}={value}");
    let rule = |answer, subject| ClientRule {
        at: file.at(line),
        level: file.level,
        answer,
        written: written.clone(),
        subject,
        examples: Vec::new(),
        notes: Vec::new(),
    };
    let (fate, reason) = match name {
        "POLICY_MODE" => match value.to_ascii_lowercase().as_str() {
            "open" => (Fate::Kept, "the mode is `open`"),
            "guarded" => {
                all.mode = "guarded";
                (Fate::Kept, "the mode is `guarded`; the tiers of commands are relay's own")
            }
            "readonly" => {
                all.mode = "readonly";
                let patterns = MORE_THAN_READING.iter().map(|it| (*it).to_owned()).collect();
                all.rules.push(rule(Answer::Deny, Subject::Tools { patterns, argument: None }));
                return Ok(());
            }
            _ => return Err(file.refuse(line, "the mode is not open, guarded or readonly")),
        },
        "POLICY_DENY" if value.is_empty() => (Fate::Inert, "it is empty"),
        "POLICY_DENY" => {
            let mut commands = vec![Command::Regex(value.to_owned())];
            if differs_beyond_ascii(value) {
                commands.push(Command::Regex(BEYOND_ASCII.to_owned()));
            }
            let mut rule = rule(Answer::Deny, Subject::Commands(commands));
            if differs_beyond_ascii(value) {
                let note = format!(
                    "{MORE} with letters beyond ASCII, too: classes, `.` and `(?i)` mean more of them in Python"
                );
                rule.notes.push(note);
            }
            all.rules.push(rule);
            return Ok(());
        }
        "POLICY_ALLOW" if value.is_empty() => (Fate::Inert, "it is empty"),
        "POLICY_ALLOW" => {
            let reason = "a rule that permits takes no regex: write an `allow` with selectors";
            all.rules.push(rule(Answer::Allow, Subject::Unnamed(reason.to_owned())));
            return Ok(());
        }
        _ => (Fate::Outside, "it is no rule: the server's own settings have their like"),
    };
    all.settings.push(Setting {
        at: file.at(line),
        level: file.level,
        written,
        fate,
        reason: reason.to_owned(),
    });
    Ok(())
}

/// Returns whether Python's regex may mean more letters beyond ASCII than relay's.
fn differs_beyond_ascii(regex: &str) -> bool {
    let mut letters = regex.chars().peekable();
    while let Some(letter) = letters.next() {
        let differs = match letter {
            '\\' => letters.next().is_some_and(|escaped| "sSwWdDbB".contains(escaped)),
            // A run of bytes is a run of characters.
            '.' => !matches!(letters.peek(), Some('*' | '+')),
            '[' => letters.peek() == Some(&'^'),
            _ => false,
        };
        if differs {
            return true;
        }
    }
    regex.contains("(?i")
}
