//! Compiles a project before it is written, and takes out the parts with findings: the written
//! project checks without one.

use std::collections::{BTreeMap, BTreeSet};

use relay_compiler::{Compiled, Files, Options, Report, Severity, Sources};

use super::part::{Content, FolderFile, FolderNode, Part};
use super::row::{Origin, Row};
use super::write::{Gate, LINES_MAX, Plan, Start};
use crate::files::WithFiles;
use crate::shipped;

/// The bytes that a gate's budget has by default, and at most.
const BUDGET_BYTES: usize = 8 * 1024;
const BUDGET_KIB_MAX: usize = 1024;
/// The prompts that a gate lists by default, and at most.
const INDEX_CAP: usize = 50;
const INDEX_CAP_MAX: usize = 1000;
/// The lengths of an index entry that are tried, after the default.
const ENTRY_CHARS: [usize; 3] = [60, 40, 20];
/// The findings about the list of prompts in the instructions.
const SHORTENED: &str = "message::shortened";
/// The finding on an `allow-mark` of a kind that no command has.
const IDLE_MARK: &str = "commands::idle_suppression";
/// The finding on a text that looks like a template.
const LOOKS_LIKE_TEMPLATE: &str = "text::template_mark";

/// A finding that no part of the project is to blame for.
pub(crate) struct Unsettled {
    /// Its code and words.
    pub(crate) finding: String,
}

/// Chooses the settings of the gate, and takes out parts until the project has at most 60 lines and no
/// finding. `document` is its name in the project's folder.
pub(crate) fn settle(
    plan: &mut Plan,
    files: &dyn Files,
    document: &str,
) -> Result<(), Box<Unsettled>> {
    plan.start = start(&plan.parts);
    fit(plan);
    plan.start = start(&plan.parts);
    loop {
        fit(plan);
        if plan.parts.is_empty() {
            return Ok(());
        }
        let copies = plan.copies().map_err(|finding| Box::new(Unsettled { finding }))?;
        let Err(findings) = compile(plan, &copies, files, document) else { return Ok(()) };
        let mut taken = Taken::default();
        for finding in &findings {
            taken.add(plan, finding);
        }
        if !taken.apply(plan) && !give_way(plan, &findings) {
            let finding = findings.into_iter().next().map(|finding| finding.words());
            return Err(Box::new(Unsettled { finding: finding.unwrap_or_default() }));
        }
    }
}

/// A finding of the compiler.
struct Finding {
    code: String,
    message: String,
    help: Option<String>,
    file: String,
    line: usize,
    /// The part whose node it is on, if it is in the document.
    part: Option<usize>,
}

impl Finding {
    /// Returns code, message and help in one line.
    fn words(&self) -> String {
        let Self { code, message, help, .. } = self;
        let help = help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        format!("{code}: {message}{help}")
    }
}

/// Compiles the project as it would be written.
fn compile(
    plan: &Plan,
    copies: &BTreeMap<String, String>,
    files: &dyn Files,
    document: &str,
) -> Result<(), Vec<Finding>> {
    let written = plan.written();
    let mut added: BTreeMap<String, Vec<u8>> =
        copies.iter().map(|(path, text)| (path.clone(), text.clone().into())).collect();
    added.insert(document.to_owned(), written.text.clone().into());
    let files = WithFiles { files, added };
    let sources = Sources::new(&files, document).with_facts(shipped::facts());
    let Compiled { diagnostics, .. } = relay_compiler::check(&sources, &Options::default());
    if diagnostics.error_count() + diagnostics.warning_count() == 0 {
        return Ok(());
    }
    let finding = |report: &Report| {
        let place = sources.place(report.at);
        let line = place.line as usize;
        let part = (place.file == document).then(|| written.part_at(line)).flatten();
        Finding {
            code: report.code(),
            message: report.diagnostic.to_string(),
            help: report.diagnostic.help().map(|help| help.to_string()),
            file: place.file,
            line,
            part,
        }
    };
    // Findings of one kind are one report.
    let sorted = diagnostics.sorted();
    // A note asks for nothing.
    let all = || {
        let reports = sorted.iter().flat_map(|report| report.all());
        reports.filter(|report| report.severity() != Severity::Note)
    };
    // A warning may be the consequence of an error.
    let errors: Vec<_> = all().filter(|report| report.is_error()).map(finding).collect();
    Err(if errors.is_empty() { all().map(finding).collect() } else { errors })
}

/// The parts and files that the findings of one trial take out.
#[derive(Default)]
struct Taken {
    /// Whole parts, with the row of each.
    parts: BTreeMap<usize, Row>,
    /// Files of folders.
    files: BTreeMap<(usize, String), Row>,
    /// Folders in whose commands the compiler finds other marks.
    unmarked: BTreeSet<usize>,
    /// Prompts whose node must say that they are no templates.
    settled: BTreeSet<usize>,
}

impl Taken {
    fn add(&mut self, plan: &Plan, finding: &Finding) {
        let Finding { code, file, line, part: on_node, .. } = finding;
        let owner = || plan.parts.iter().position(|part| part.has_file(file));
        let Some(index) = on_node.or_else(owner) else { return };
        let Some(part) = plan.parts.get(index) else { return };
        match &part.content {
            Content::Prompt(prompt) if code == LOOKS_LIKE_TEMPLATE && !prompt.is_settled => {
                self.settled.insert(index);
            }
            Content::Folder(_) if code == IDLE_MARK => {
                self.unmarked.insert(index);
            }
            Content::Folder(folder) if on_node.is_none() => {
                let own = folder.files.iter().find(|own| own.path == *file);
                let made = own.and_then(|own| own.made.as_ref());
                // The line of a file that an import makes is no line of the file that it is made of.
                let (from, line) = made.map_or((file, *line), |made| (&made.from.0, made.from.1));
                let row = Row::left_out(part.origin, from.clone(), line, finding.words());
                self.files.entry((index, file.clone())).or_insert(row);
            }
            Content::Prompt(_) | Content::Folder(_) | Content::Skill(_) => {
                let line = if *file == part.file { *line } else { part.line };
                let row = Row::left_out(part.origin, part.file.clone(), line, finding.words());
                self.parts.entry(index).or_insert(row);
            }
        }
    }

    /// Takes out these parts and files; returns whether there were any.
    fn apply(self, plan: &mut Plan) -> bool {
        let Self { parts, files, unmarked, settled } = self;
        let is_any = ![parts.is_empty(), files.is_empty(), unmarked.is_empty(), settled.is_empty()]
            .into_iter()
            .all(|is_empty| is_empty);
        let mut gone: BTreeSet<usize> = BTreeSet::new();
        for (index, row) in parts {
            if let Some(Part { content: Content::Folder(folder), origin, .. }) =
                plan.parts.get(index)
            {
                let reason = row.reason.clone().unwrap_or_default();
                plan.rows.extend(rows_of(folder.kept(), *origin, &reason));
            }
            plan.rows.push(row);
            gone.insert(index);
        }
        for ((index, path), row) in files {
            plan.rows.push(row);
            let Some(Part { content: Content::Folder(folder), origin, .. }) =
                plan.parts.get_mut(index)
            else {
                continue;
            };
            let others = folder.take_out(&path, *origin);
            plan.rows.extend(others);
            if folder.kept().next().is_none() {
                gone.insert(index);
            }
        }
        for index in unmarked {
            // Those that it finds are reported next, and take their files out.
            if let Some(Part { content: Content::Folder(folder), .. }) = plan.parts.get_mut(index) {
                folder.files.iter_mut().for_each(|file| file.marks.clear());
            }
        }
        for index in settled {
            if let Some(Part { content: Content::Prompt(prompt), .. }) = plan.parts.get_mut(index) {
                prompt.is_settled = true;
            }
        }
        let mut index = 0;
        plan.parts.retain(|_| {
            let is_kept = !gone.contains(&index);
            index += 1;
            is_kept
        });
        plan.rows.sort();
        plan.rows.dedup();
        is_any
    }
}

/// Returns the rows of files that are left out for one reason.
fn rows_of<'f>(
    files: impl Iterator<Item = &'f FolderFile>,
    origin: Origin,
    reason: &str,
) -> Vec<Row> {
    let row = |file: &FolderFile| {
        let (path, line) = file.origin();
        Row::left_out(origin, path, line, reason)
    };
    files.map(row).collect()
}

/// Changes the beginning of a session so that a finding on the whole project goes; `false` if nothing is left
/// to change.
fn give_way(plan: &mut Plan, findings: &[Finding]) -> bool {
    let is_shortened = findings.iter().any(|finding| finding.code == SHORTENED);
    plan.start = match plan.start {
        Start::Gate(gate) => {
            let is_shorter = |chars: &usize| gate.entry_chars.is_none_or(|now| *chars < now);
            match ENTRY_CHARS.into_iter().find(is_shorter) {
                Some(chars) if is_shortened => {
                    Start::Gate(Gate { entry_chars: Some(chars), ..gate })
                }
                _ => Start::Listed,
            }
        }
        Start::Listed if is_shortened => Start::Unlisted,
        Start::Listed | Start::Unlisted => return false,
    };
    true
}

/// Returns a gate whose budget fits the prompts of priority 10 and the largest other one; none if no
/// briefing would send a prompt.
fn start(parts: &[Part]) -> Start {
    let (mut always, mut largest, mut count) = (0, 0, 0);
    for part in parts {
        match &part.content {
            Content::Prompt(prompt) if !prompt.is_command => {
                count += 1;
                match prompt.priority {
                    Some(_) => always += prompt.bytes,
                    None => largest = largest.max(prompt.bytes),
                }
            }
            Content::Folder(folder) if folder.node == FolderNode::Prompts => {
                count += folder.files.len();
                let made = folder.files.iter().filter_map(|file| file.made.as_ref());
                let bytes = made.map(|made| made.text.len());
                // Their priorities are in their front matter, so each may be in every briefing.
                always += bytes.sum::<usize>();
            }
            Content::Prompt(_) | Content::Folder(_) | Content::Skill(_) => {}
        }
    }
    if count == 0 {
        return Start::Listed;
    }
    let bytes = always + largest;
    Start::Gate(Gate {
        budget_kib: (bytes > BUDGET_BYTES).then(|| bytes.div_ceil(1024).min(BUDGET_KIB_MAX)),
        cap: (count > INDEX_CAP).then(|| count.min(INDEX_CAP_MAX)),
        entry_chars: None,
    })
}

/// Takes out the least important parts until the project has few enough lines.
fn fit(plan: &mut Plan) {
    loop {
        let over = plan.written().line_count().saturating_sub(LINES_MAX);
        if over == 0 {
            return;
        }
        let rank = |part: &Part| match &part.content {
            Content::Prompt(prompt) if prompt.priority.is_none() => 0,
            Content::Skill(_) => 1,
            Content::Prompt(_) => 2,
            Content::Folder(_) => 3,
        };
        let mut order: Vec<_> =
            plan.parts.iter().enumerate().map(|(i, part)| (rank(part), i)).collect();
        // Of equal ones the last goes first.
        order.sort_by_key(|(rank, index)| (*rank, usize::MAX - index));
        let mut gone: Vec<_> = order.into_iter().take(over).map(|(_, index)| index).collect();
        gone.sort_unstable();
        for index in gone.into_iter().rev() {
            let part = plan.parts.remove(index);
            let reason = format!(
                "the project would have more than {LINES_MAX} lines: write `{}` into a document that it includes",
                part.becomes()
            );
            plan.rows.push(Row::left_out(part.origin, part.file, part.line, reason));
        }
    }
}
