//! `relay export`: prompts or skills of a project as files of other programs, and a report on each.

mod permissions;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use clap::ValueEnum;
use relay_bundle::{Bundle, List, Prompt};
use relay_engine::nearest::nearest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::audience::Names;
use crate::answer::size::counted;
use crate::args::{AnswerFormat, ExportArgs, ExportForm, ReportFormat};
use crate::disk;
use crate::exit::Exit;
use crate::export::{self, Made, MadeFile, SkillFolder, SkillFolders};
use crate::failure::Failure;
use crate::import::Outcome;
use crate::output::{Output, bold};
use crate::shell;
use crate::subject::{self, Opened};
use crate::text::{printable, shown_path, wrapped};

/// The output of `relay export --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Exported {
    /// The version of this JSON format.
    format_version: u32,
    /// The outcome for each prompt or skill: first the exact ones, then the changed ones, then those left out.
    report: Vec<Row>,
}

/// A prompt or a skill in the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
struct Row {
    /// The outcome.
    outcome: Outcome,
    /// The prompt or skill: `prompt naming`.
    of: String,
    /// The path of its file from the folder that is written to, that of the `SKILL.md` of an agent skill; `null` if it
    /// is left out.
    file: Option<String>,
    /// The paths of the other files of an agent skill.
    beside: Vec<String>,
    /// The differences, or the reason why it is left out.
    reasons: Vec<String>,
}

pub(crate) use permissions::ExportedPermissions;

pub(crate) fn run(arguments: &ExportArgs, output: &mut Output) -> Result<Exit, Failure> {
    let ExportArgs { form, subject, output: folder, name, tenant, role, format, project } =
        arguments;
    if let Some(client) = form.client() {
        return permissions::run(arguments, client, output);
    }
    if tenant.is_some() || role.is_some() {
        return Err(Failure::error("`--tenant` and `--role` are about a policy")
            .help("omit them: prompts and skills are exported for everyone"));
    }
    let Some(folder) = folder else {
        let (folder, subject) = (export_folder(*form), shell::word(&subject.to_string_lossy()));
        let word = form.to_possible_value();
        let word = word.as_ref().map_or("command", |word| word.get_name());
        return Err(Failure::error(format!("`relay export {word}` needs --output <FOLDER>"))
            .help(format!("write `relay export {word} {subject} -o {folder}`")));
    };
    let report_format = match format.chosen() {
        AnswerFormat::Human => ReportFormat::Human,
        AnswerFormat::Json => ReportFormat::Json,
    };
    let bundle = match subject::open_path(subject, project, report_format, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    bundle.check_all()?;
    let made = made(&bundle, *form, name)?;
    let mut rows = Vec::new();
    let mut files: BTreeMap<String, MadeFile> = BTreeMap::new();
    for Made { of, files: made, changes } in made {
        let made = made.and_then(|made| {
            for MadeFile { path, bytes } in &made {
                if !is_below(path) {
                    return Err("its name is no path of a file".to_owned());
                }
                // The files of an agent skill inside another one are those of the outer one, too.
                let is_same = |other: &MadeFile| other.path == *path && other.bytes == *bytes;
                if files.get(&path.to_lowercase()).is_some_and(|other| !is_same(other)) {
                    return Err(format!("`{path}` is the file of another one"));
                }
            }
            Ok(made)
        });
        let paths = made.iter().flatten().map(|file| file.path.clone());
        let mut paths = paths.collect::<Vec<_>>().into_iter();
        let (outcome, reasons) = match &made {
            Ok(_) if changes.is_empty() => (Outcome::Exact, changes),
            Ok(_) => (Outcome::Changes, changes),
            Err(reason) => (Outcome::LeftOut, vec![reason.clone()]),
        };
        rows.push(Row { outcome, of, file: paths.next(), beside: paths.collect(), reasons });
        let made = made.into_iter().flatten();
        files.extend(made.map(|file| (file.path.to_lowercase(), file)));
    }
    let files: Vec<MadeFile> = files.into_values().collect();
    write(folder, &files)?;
    rows.sort();
    if format.chosen() == AnswerFormat::Json {
        output.json(&Exported { format_version: FORMAT_VERSION, report: rows })?;
    } else {
        output.result(draw(&rows, folder, output.result_look().width))?;
    }
    Ok(if files.is_empty() { Exit::No } else { Exit::Yes })
}

/// Returns the folder in which the programs of a form look for its files.
fn export_folder(form: ExportForm) -> &'static str {
    match form {
        ExportForm::AgentSkill => ".claude/skills",
        ExportForm::Mdc => ".cursor/rules",
        ExportForm::Stoa => "skills",
        _ => ".claude/commands",
    }
}

/// Makes the files of the prompts or skills with these names, of all if there are no names.
fn made(bundle: &Bundle, form: ExportForm, names: &[String]) -> Result<Vec<Made>, Failure> {
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut known = Vec::new();
    let mut made = Vec::new();
    let of_prompt: Option<fn(&Prompt) -> Made> = match form {
        ExportForm::AgentSkill => Some(export::agent_skill),
        ExportForm::Command => Some(export::command),
        ExportForm::Mdc => Some(export::mdc),
        _ => None,
    };
    if let Some(of_prompt) = of_prompt {
        let seen_by = Names::of(bundle)?.all_seen_by(List::Prompts)?;
        let folders = SkillFolders::of(bundle)?;
        for (prompt, seen_by) in bundle.prompts().zip(seen_by) {
            let mut prompt = prompt.and_then(|prompt| prompt.to_owned())?;
            if is_wanted(&prompt.name) {
                let mut one = match folders.find(&prompt)? {
                    Some(folder) if form == ExportForm::AgentSkill => {
                        export::skill_folder(&prompt, &folder)
                    }
                    Some(folder) => {
                        // It names the agent skill, for clients of the server.
                        prompt.meta = None;
                        one_file(of_prompt(&prompt), &folder)
                    }
                    None => of_prompt(&prompt),
                };
                if seen_by.is_some() {
                    one.changes.push("everyone sees it: its `for` is dropped".to_owned());
                }
                made.push(one);
            }
            known.push(prompt.name);
        }
    } else {
        for skill in bundle.skills() {
            let skill = skill.and_then(|skill| skill.to_owned())?;
            made.extend(is_wanted(&skill.name).then(|| export::stoa(&skill)));
            known.push(skill.name);
        }
    }
    let kind = if form == ExportForm::Stoa { "skill" } else { "prompt" };
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        let failure = Failure::error(format!("unknown {kind} `{}`", printable(unknown)));
        let near = nearest(unknown, known.iter().map(String::as_str));
        return Err(match near {
            Some(near) => failure.help(format!("did you mean `{}`?", printable(near))),
            None => failure,
        });
    }
    if made.is_empty() {
        return Err(Failure::no(format!("there is no {kind} to export")));
    }
    Ok(made)
}

/// Refuses an agent skill whose text names other files, in a form that has one file.
fn one_file(mut made: Made, folder: &SkillFolder) -> Made {
    match folder.len().saturating_sub(1) {
        0 => {
            let keys = export::further_keys(folder);
            made.changes.extend(keys.map(|key| format!("`{key}` of its `SKILL.md` is dropped")));
            made
        }
        others => {
            let others = counted(others, "other file");
            let reason = format!(
                "it is an agent skill with {others}, which this form has no place for: `relay export agent-skill` writes all"
            );
            Made { files: Err(reason), ..made }
        }
    }
}

/// Returns whether a path stays below the folder that is written to.
fn is_below(path: &str) -> bool {
    let is_plain = |component| matches!(component, Component::Normal(_));
    let has_control = path.contains(char::is_control);
    !has_control && !path.contains('\\') && Path::new(path).components().all(is_plain)
}

/// Writes the files, or none if one of them is there already.
fn write(folder: &Path, files: &[MadeFile]) -> Result<(), Failure> {
    let taken = |path: &Path| {
        Failure::error(format!("`{}` already exists", shown_path(path)))
            .help("an export replaces nothing: give another folder with -o")
    };
    for MadeFile { path, bytes: _ } in files {
        let path = folder.join(path);
        if fs::symlink_metadata(&path).is_ok() {
            return Err(taken(&path));
        }
        // A folder of the bundle's choice may be a link to anywhere.
        let parents = path.ancestors().skip(1).take_while(|parent| *parent != folder);
        for parent in parents {
            if parent.is_symlink() {
                return Err(Failure::error(format!("`{}` is a link", shown_path(parent)))
                    .help("give a folder without links below it"));
            }
        }
    }
    let ordered: Vec<_> =
        files.iter().map(|MadeFile { path, bytes }| (path.as_str(), bytes.as_slice())).collect();
    disk::create_all(folder, &ordered, taken)
}

/// Draws the report: a line for each prompt or skill, and its reasons.
fn draw(rows: &[Row], folder: &Path, width: usize) -> String {
    let groups =
        [(Outcome::Exact, "exact"), (Outcome::Changes, "changes"), (Outcome::LeftOut, "left out")];
    let mut page = String::new();
    for (outcome, title) in groups {
        let rows: Vec<_> = rows.iter().filter(|row| row.outcome == outcome).collect();
        if rows.is_empty() {
            continue;
        }
        page.push_str(&format!("{} ({})\n", bold(title), rows.len()));
        for Row { outcome: _, of, file, beside, reasons } in rows {
            let file = file.as_ref().map(|file| format!(": {}", shown_path(folder.join(file))));
            let beside = match beside.len() {
                0 => String::new(),
                others => format!(" and {}", counted(others, "other file")),
            };
            page.push_str(&format!("  {}{}{beside}\n", printable(of), file.unwrap_or_default()));
            for reason in reasons {
                page.push_str(&wrapped(reason, "      ", width));
            }
        }
    }
    page
}
