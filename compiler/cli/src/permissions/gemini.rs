//! Gemini CLI: the rules of policy files. There the rule of the highest priority decides; here a rule that denies does, then
//! one that asks. So the policy is the same or stricter, and the report names rules with precedence over a stricter one.

mod write;

use toml_edit::{Document, Item, TableLike, Value};

use super::model::{
    Answer, ClientRule, ClientRules, Command, Fate, Level, Setting, Subject, Tools,
};
use super::paths;
use super::source::{ClientFile, Folders};
use super::toml_lines::line_at;
use crate::failure::Failure;
use crate::text::printable;

pub(crate) use write::FORM;

/// Its files: managed ones first.
const FILES: &[(Level, &str)] = &[
    (Level::Managed, "etc/gemini-cli/policies/*.toml"),
    (Level::User, ".gemini/policies/*.toml"),
    (Level::Project, ".gemini/policies/*.toml"),
];

const TOOLS: Tools = Tools {
    read: (&["read_file"], "file_path"),
    write: (&["write_file", "replace"], "file_path"),
    fetch: (&[], ""),
    reads_work_tree: true,
};

const SHELL: &str = "run_shell_command";

/// A rule with its rank: the level, then the priority.
struct Ranked {
    rule: ClientRule,
    rank: (u8, i64),
    /// Whether it is about all calls, of every tool or of the shell.
    is_for_all: bool,
}

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
        client: "Gemini CLI",
        rules: Vec::new(),
        unlisted: Answer::Ask,
        mode: "open",
        unasked: &[],
        never_by_prefix: &[],
        tools: TOOLS,
        settings: Vec::new(),
    };
    let mut ranked = Vec::new();
    for file in &files {
        rules(file, &mut ranked, &mut all)?;
    }
    order(&mut ranked, &mut all);
    all.rules = ranked.into_iter().map(|ranked| ranked.rule).collect();
    Ok(Some(all))
}

/// Takes rules about all calls as the answer to unlisted ones, where every rule that permits more is above them, and notes where
/// a stricter rule is below another.
fn order(ranked: &mut Vec<Ranked>, all: &mut ClientRules) {
    let permits = |it: &Ranked| !matches!(it.rule.subject, Subject::Unnamed(_) | Subject::Inert(_));
    let others: Vec<_> = ranked
        .iter()
        .filter(|it| permits(it))
        .map(|it| (it.rank, it.rule.answer, it.rule.at.shown(), Kind::of(&it.rule.subject)))
        .collect();
    let is_base = |it: &Ranked| {
        let kind = Kind::of(&it.rule.subject);
        it.is_for_all
            && it.rule.answer != Answer::Allow
            && others.iter().all(|(rank, answer, _, of)| {
                *answer >= it.rule.answer || *rank > it.rank || !kind.meets(*of)
            })
    };
    for base in ranked.iter().filter(|it| is_base(it)) {
        if base.rule.answer == Answer::Deny {
            all.unlisted = Answer::Deny;
        }
        let verb = if base.rule.answer == Answer::Deny { "denied" } else { "asked about" };
        all.settings.push(Setting {
            at: base.rule.at.clone(),
            level: base.rule.level,
            written: base.rule.written.clone(),
            fate: Fate::Kept,
            reason: format!("calls without another rule are {verb}"),
        });
    }
    ranked.retain(|it| !is_base(it));
    for it in ranked.iter_mut() {
        let kind = Kind::of(&it.rule.subject);
        let above = others.iter().find(|(rank, answer, _, of)| {
            *rank > it.rank && *answer < it.rule.answer && kind.meets(*of)
        });
        if let Some((_, _, at, _)) = above {
            it.rule.notes.push(format!(
                "`{at}` has a higher priority; where both match, this one decides in the policy"
            ));
        }
    }
}

/// The kind of calls that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Commands,
    Files,
    Others,
    Every,
}

impl Kind {
    fn of(subject: &Subject) -> Self {
        match subject {
            Subject::Commands(_) => Self::Commands,
            Subject::Reads(_) | Subject::Writes(_) => Self::Files,
            Subject::Everything => Self::Every,
            // Patterns of tools may be about the shell and files, too.
            Subject::Tools { patterns, .. } if patterns.iter().any(|it| !it.contains('/')) => {
                Self::Every
            }
            _ => Self::Others,
        }
    }

    /// Returns whether a call may be of both.
    fn meets(self, other: Self) -> bool {
        self == other || self == Self::Every || other == Self::Every
    }
}

fn rules(
    file: &ClientFile,
    ranked: &mut Vec<Ranked>,
    all: &mut ClientRules,
) -> Result<(), Failure> {
    let document = Document::parse(file.text.as_str()).map_err(|error| {
        let line = error.span().map_or(1, |span| line_at(&file.text, span.start));
        file.refuse(line, error.message())
    })?;
    for (key, item) in document.iter() {
        let line = item.span().map_or(1, |span| line_at(&file.text, span.start));
        let tables: Vec<&dyn TableLike> = match item {
            Item::ArrayOfTables(tables) if key == "rule" => {
                for table in tables.iter() {
                    let line = table.span().map_or(line, |span| line_at(&file.text, span.start));
                    rule(file, line, table, ranked)?;
                }
                continue;
            }
            Item::Value(Value::Array(list)) if key == "rule" => list
                .iter()
                .map(|value| value.as_inline_table().map(|table| table as &dyn TableLike))
                .collect::<Option<_>>()
                .ok_or_else(|| file.refuse(line, "`rule` is not a list of tables"))?,
            _ if key == "rule" => return Err(file.refuse(line, "`rule` is not a list of tables")),
            _ => {
                all.settings.push(Setting {
                    at: file.at(line),
                    level: file.level,
                    written: key.to_owned(),
                    fate: Fate::Outside,
                    reason: "it is no rule".to_owned(),
                });
                continue;
            }
        };
        for table in tables {
            rule(file, line, table, ranked)?;
        }
    }
    Ok(())
}

/// The conditions of a rule.
#[derive(Default)]
struct Read {
    tools: Vec<String>,
    server: Option<String>,
    prefixes: Vec<String>,
    regex: Option<String>,
    has_arguments: bool,
    /// Conditions on the session of the client.
    others: Vec<&'static str>,
}

fn rule(
    file: &ClientFile,
    line: usize,
    table: &dyn TableLike,
    ranked: &mut Vec<Ranked>,
) -> Result<(), Failure> {
    let refuse = |reason: String| file.refuse(line, &reason);
    let (mut read, mut answer, mut priority) = (Read::default(), None, None);
    for (key, item) in table.iter() {
        let wrong = || refuse(format!("`{}` is not of its kind", printable(key)));
        match key {
            "toolName" => read.tools = texts(item).ok_or_else(wrong)?,
            "mcpName" => read.server = Some(item.as_str().ok_or_else(wrong)?.to_owned()),
            "commandPrefix" => read.prefixes = texts(item).ok_or_else(wrong)?,
            "commandRegex" => read.regex = Some(item.as_str().ok_or_else(wrong)?.to_owned()),
            "argsPattern" => read.has_arguments = true,
            "decision" => {
                answer = Some(match item.as_str() {
                    Some("allow") => Answer::Allow,
                    Some("ask_user") => Answer::Ask,
                    Some("deny") => Answer::Deny,
                    _ => {
                        return Err(refuse("`decision` is not allow, ask_user or deny".to_owned()));
                    }
                });
            }
            "priority" => {
                priority = item.as_integer().filter(|number| (0..=999).contains(number));
                if priority.is_none() {
                    return Err(refuse("`priority` is no number from 0 to 999".to_owned()));
                }
            }
            "modes" => read.others.push("modes"),
            "interactive" => read.others.push("interactive"),
            "subagent" => read.others.push("subagent"),
            "toolAnnotations" => read.others.push("toolAnnotations"),
            "denyMessage" | "allowRedirection" => {}
            _ => return Err(refuse(format!("`{}` is not known", printable(key)))),
        }
    }
    let answer = answer.ok_or_else(|| refuse("a rule without a decision".to_owned()))?;
    let priority = priority.ok_or_else(|| refuse("a rule without a priority".to_owned()))?;
    if !read.prefixes.is_empty() && read.regex.is_some() {
        return Err(refuse("a rule has `commandPrefix` or `commandRegex`, not both".to_owned()));
    }
    let level = match file.level {
        Level::Managed => 3,
        Level::User => 2,
        Level::Project | Level::Local => 1,
    };
    let (subject, notes) = subject(file, answer, &read);
    let is_whole = |command: &Command| *command == Command::Any;
    let is_for_all = read.others.is_empty()
        && match &subject {
            Subject::Everything => true,
            Subject::Commands(commands) => commands.iter().all(is_whole),
            _ => false,
        };
    let rule = ClientRule {
        at: file.at(line),
        level: file.level,
        answer,
        written: written(&read, answer),
        subject,
        examples: Vec::new(),
        notes,
    };
    ranked.push(Ranked { rule, rank: (level, priority), is_for_all });
    Ok(())
}

fn texts(item: &Item) -> Option<Vec<String>> {
    if let Some(text) = item.as_str() {
        return Some(vec![text.to_owned()]);
    }
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

fn written(read: &Read, answer: Answer) -> String {
    let word = match answer {
        Answer::Allow => "allow",
        Answer::Ask => "ask_user",
        Answer::Deny => "deny",
    };
    let of = match (&read.prefixes, &read.regex, &read.server) {
        (prefixes, _, _) if !prefixes.is_empty() => {
            format!("commandPrefix {}", prefixes.join(", "))
        }
        (_, Some(regex), _) => format!("commandRegex {regex}"),
        (_, _, Some(server)) => format!("mcpName {server} {}", read.tools.join(", ")),
        _ => format!("toolName {}", read.tools.join(", ")),
    };
    format!("{} {word}", of.trim_end())
}

/// Returns the calls of a rule, and the notes on them.
fn subject(file: &ClientFile, answer: Answer, read: &Read) -> (Subject, Vec<String>) {
    let Read { tools, server, prefixes, regex, has_arguments, others } = read;
    let mut notes = Vec::new();
    if answer == Answer::Allow {
        if !others.is_empty() || *has_arguments {
            let mut conditions = others.clone();
            conditions.extend(has_arguments.then_some("argsPattern"));
            let reason = format!("relay does not see its condition on {}", conditions.join(", "));
            return (Subject::Unnamed(reason), notes);
        }
        if file.level == Level::Project {
            let reason = "versions of the client ignore the policies of a project";
            return (Subject::Unnamed(reason.to_owned()), notes);
        }
    } else {
        if !others.is_empty() {
            notes.push(format!("{} on {}", super::translate::MORE, others.join(", ")));
        }
        if *has_arguments {
            notes.push(format!("{} of the tool, with any arguments", super::translate::MORE));
        }
    }
    if !prefixes.is_empty() {
        let command = |prefix: &String| match answer {
            Answer::Allow => {
                Command::Prefix(prefix.trim_end().split(' ').map(str::to_owned).collect())
            }
            // It ends inside a word, too.
            Answer::Ask | Answer::Deny => Command::Glob(format!("{}*", prefix.trim_end())),
        };
        return (Subject::Commands(prefixes.iter().map(command).collect()), notes);
    }
    if let Some(regex) = regex {
        return (commands_of(regex, answer), notes);
    }
    if let Some(server) = server {
        let names = if tools.is_empty() { vec!["*".to_owned()] } else { tools.clone() };
        let patterns = names.iter().map(|name| format!("{server}/{name}")).collect();
        return (Subject::Tools { patterns, argument: None }, notes);
    }
    let is_one = |names: &[&str]| {
        !tools.is_empty() && tools.iter().all(|tool| names.contains(&tool.as_str()))
    };
    let subject = if is_one(&[SHELL]) {
        Subject::Commands(vec![Command::Any])
    } else if is_one(TOOLS.read.0) {
        Subject::Reads(paths::everything())
    } else if is_one(TOOLS.write.0) {
        Subject::Writes(paths::everything())
    } else if is_one(&["web_fetch"]) && answer != Answer::Allow {
        Subject::Hosts(vec!["*".to_owned()])
    } else if tools.is_empty() || tools.iter().any(|tool| tool == "*") {
        Subject::Everything
    } else {
        return (named(tools, answer), notes);
    };
    (subject, notes)
}

/// Returns the calls of tools with these names.
fn named(tools: &[String], answer: Answer) -> Subject {
    let mut patterns = Vec::new();
    for tool in tools {
        match tool.strip_prefix("mcp_") {
            Some(rest) => match rest.split_once('_') {
                Some((server, name)) => patterns.push(format!("{server}/{name}")),
                None => patterns.push("*/*".to_owned()),
            },
            None if tool == SHELL => patterns.push(super::commands::SHELL.to_owned()),
            None => patterns.push(tool.clone()),
        }
    }
    if answer == Answer::Allow
        && patterns
            .iter()
            .any(|pattern| pattern.starts_with('*') || pattern == super::commands::SHELL)
    {
        return Subject::Unnamed(
            "it permits tools of every server, or the shell beside others".to_owned(),
        );
    }
    Subject::Tools { patterns, argument: None }
}

/// Returns the commands of a regex, which is searched in JSON from the beginning of the command on.
fn commands_of(regex: &str, answer: Answer) -> Subject {
    if answer == Answer::Allow {
        return match super::regex::literal(regex) {
            Some(text) => Subject::Commands(vec![Command::Prefix(
                text.split(' ').map(str::to_owned).collect(),
            )]),
            None => Subject::Unnamed("a rule that permits takes no regex".to_owned()),
        };
    }
    if regex.contains(['^', '$', '"']) || regex.contains("\\\\") {
        return Subject::Unnamed("it is about the JSON of the arguments".to_owned());
    }
    Subject::Commands(vec![Command::Regex(regex.to_owned())])
}
