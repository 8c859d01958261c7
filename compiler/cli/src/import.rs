//! `relay import`: the prompts, commands, rules and skills of other programs, read where they are.
//!
//! One file a kind finds what there is (`commands`, `rules`, …) and makes parts of it; `trial` takes out what
//! the compiler has a finding on; `write` writes the rest as a project.

mod agent_skills;
mod below;
mod commands;
mod gemini;
mod instructions;
mod marks;
mod name;
mod part;
mod prompt_list;
mod row;
mod rules;
mod source;
mod stoa;
mod trial;
mod write;

use relay_compiler::Files;

use part::Content;

pub(crate) use below::Below;
pub(crate) use row::{Outcome, Row};
pub(crate) use source::{COPIES, Found, Source};
pub(crate) use trial::Unsettled;
pub(crate) use write::{Plan, quoted};

use write::{Gate, Start};

/// Finds the files of a folder for an import, in the order in which they are written.
pub(crate) fn find(source: &Source<'_>) -> Found {
    let mut found = Found::default();
    instructions::find(source, &mut found);
    rules::find(source, &mut found);
    gemini::find(source, &mut found);
    agent_skills::find(source, &mut found);
    commands::find(source, &mut found);
    prompt_list::find(source, &mut found);
    stoa::find(source, &mut found);
    finish(found)
}

/// Reads one file that holds skills or a list of prompts.
pub(crate) fn find_in_file(source: &Source<'_>, name: &str) -> Found {
    let mut found = Found::default();
    let path = source.path(name);
    stoa::file(source, &path, &mut found);
    if found.parts.is_empty() && found.rows.is_empty() {
        let mut files = Vec::new();
        prompt_list::file(source, &path, &mut files, &mut found);
        prompt_list::finish(files, &mut found);
    }
    finish(found)
}

/// Makes a project of these sources: of at most 60 lines, without a finding of the compiler.
pub(crate) fn plan(
    name: String,
    found: Found,
    files: &dyn Files,
    document: &str,
) -> Result<Plan, Box<Unsettled>> {
    let Found { parts, rows } = found;
    let mut plan = Plan { name, parts, rows, start: Start::Listed };
    trial::settle(&mut plan, files, document)?;
    Ok(plan)
}

/// Names the prompts, and puts what always applies first.
fn finish(mut found: Found) -> Found {
    found.parts.sort_by_key(|part| match &part.content {
        Content::Prompt(prompt) if prompt.priority.is_some() => 0,
        Content::Prompt(_) => 1,
        Content::Folder(_) => 2,
        Content::Skill(_) => 3,
    });
    name::settle(&mut found);
    stoa::number_copies(&mut found.parts);
    found
}

/// Returns how a session begins, where that is not as by default.
pub(crate) fn note(plan: &Plan) -> Option<String> {
    match plan.start {
        Start::Gate(Gate { budget_kib: Some(kib), .. }) => Some(format!(
            "a briefing may have {kib} KiB, since the texts that always apply are large: shorten them, or lower their priority"
        )),
        Start::Gate(_) | Start::Listed => None,
        Start::Unlisted => Some(
            "the prompts are too many for the instructions to list: the project has no gate, and clients list them"
                .to_owned(),
        ),
    }
}

/// Returns the rows of the report, sorted: by outcome, then by file.
pub(crate) fn rows(plan: &Plan) -> Vec<Row> {
    let mut rows = plan.rows.clone();
    for part in &plan.parts {
        let row = |outcome, file: &str, line, becomes: &str, reason| Row {
            outcome,
            file: file.to_owned(),
            line,
            origin: part.origin,
            becomes: Some(becomes.to_owned()),
            reason,
        };
        let changed = |file: &str, becomes: &str, changes: &[(usize, String)]| {
            let changed = changes.iter().map(|(line, reason)| {
                row(Outcome::Changes, file, *line, becomes, Some(reason.clone()))
            });
            changed.collect::<Vec<_>>()
        };
        rows.extend(changed(&part.file, &part.becomes(), &part.changes));
        let exact = match &part.content {
            Content::Folder(folder) => {
                let mut exact = 0;
                for file in folder.kept() {
                    let (from, _) = file.origin();
                    let of_made = file.made.as_ref().map(|made| made.changes.as_slice());
                    let changes =
                        [of_made.unwrap_or_default(), &marks::changes(&file.marks)].concat();
                    exact += usize::from(changes.is_empty());
                    rows.extend(changed(from, &folder.one(file), &changes));
                }
                (exact > 0).then(|| folder.counted(exact))
            }
            Content::Prompt(_) | Content::Skill(_) => Some(part.becomes()),
        };
        if let Some(becomes) = exact.filter(|_| part.changes.is_empty()) {
            rows.push(row(Outcome::Exact, &part.file, part.line, &becomes, None));
        }
    }
    rows.sort();
    rows.dedup();
    rows
}
