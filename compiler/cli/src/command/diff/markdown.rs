//! The comparison as markdown, for a comment on a pull request.
//!
//! Text of an author is in code spans and fences (`quote`). Findings over the limit are left out
//! whole, the worst ones last, and counted.

mod quote;

use relay_bundle::Digest;
use relay_compiler::VERSION;
use relay_diff::{Area, DiffOp, PieceKind, edits};

use self::quote::{code, fence, in_comment, sentence};
use crate::answer::size::{counted, grouped};
use crate::command::diff::outline::{
    Body, Brief, Outline, Passage, Row, Says, Side, Word, left_out,
};
use crate::command::diff::words;

/// Characters of a name, of a place, of a value in a cell, of a note.
const NAME_CHARS_MAX: usize = 80;
const PLACE_CHARS_MAX: usize = 120;
const CELL_CHARS_MAX: usize = 60;
const NOTE_CHARS_MAX: usize = 300;
/// Characters of a project's name in the marker; a longer one is its digest.
const MARKER_CHARS_MAX: usize = 100;
/// Lines of one finding.
const LINES_MAX: usize = 80;
/// Projects that the last line names, and notes before it.
const PROJECTS_MAX: usize = 5;
const NOTES_MAX: usize = 10;
/// The parts of the comment for the notes and the last line: one in this many.
const NOTES_SHARE: usize = 4;
const LAST_SHARE: usize = 3;

/// Text of a bounded length. GitHub counts characters, which never outnumber units of UTF-16.
struct Page {
    text: String,
    length: usize,
    length_max: usize,
    /// Reserved for texts added later.
    reserved: usize,
}

impl Page {
    fn of(length_max: usize) -> Self {
        Self { text: String::new(), length: 0, length_max, reserved: 0 }
    }

    /// Returns the room that remains.
    fn left(&self) -> usize {
        self.length_max.saturating_sub(self.length + self.reserved)
    }

    /// Adds a text if there is room for it.
    fn push(&mut self, text: &str) -> bool {
        let length = length(text);
        let fits = length <= self.left();
        if fits {
            self.length += length;
            self.text.push_str(text);
        }
        fits
    }
}

/// Findings in full, and the texts that open and close their list.
struct Section<'o> {
    opening: String,
    rows: Vec<&'o Row<'o>>,
    closing: &'static str,
}

/// The end of a list that a reader unfolds.
const FOLDED: &str = "</details>\n\n";

/// Returns the comment: at most `chars_max` characters, if that is at least 2,000.
pub(crate) fn draw(outline: &Outline<'_>, chars_max: usize) -> String {
    let all = outline.gravest_first();
    let mut page = Page::of(chars_max);
    page.push(&marker(outline));
    page.push(&format!("### relay · {}\n\n", outline.headline));
    page.push(&counts(outline));

    let last = last_line(outline, page.left() / LAST_SHARE);
    let notes = notes(outline, page.left() / NOTES_SHARE);
    let closing = format!("{notes}{last}");
    let sections = sections(outline, &all);
    page.reserved = length(&closing) + sections.iter().map(Section::frame).sum::<usize>();

    table(outline, &all, &mut page);
    for section in &sections {
        page.reserved -= section.frame();
        section.write(outline, &mut page);
    }
    page.reserved = 0;
    page.push(&closing);
    page.text
}

/// Returns the line that identifies the comment of an earlier run. Several projects share one
/// comment, even when one comes or goes, so their line leaves names out.
fn marker(outline: &Outline<'_>) -> String {
    match outline.projects.as_slice() {
        [project] => {
            let name = in_comment(project.name);
            let name = if name.len() > MARKER_CHARS_MAX {
                Digest::of(project.name.as_bytes()).hex()
            } else {
                name
            };
            format!("<!-- relay-diff {name} -->\n")
        }
        _ => "<!-- relay-diff -->\n".into(),
    }
}

/// Returns the numbers of findings of each kind.
fn counts(outline: &Outline<'_>) -> String {
    let Outline { headline: _, verdict, same_meaning, areas: _, projects, notes: _ } = outline;
    if *same_meaning {
        return String::new();
    }
    let group = |group: &Vec<words::Count>| {
        group.iter().map(|count| count.text.clone()).collect::<Vec<_>>().join(", ")
    };
    let mut groups: Vec<String> = verdict.iter().map(group).collect();
    let differing = projects.iter().filter(|project| !project.same_meaning).count();
    if projects.len() > 1 {
        let projects = counted(projects.len(), "project");
        groups.push(format!("{} of {projects} differ", grouped(differing)));
    }
    groups.extend(words::not_shown(outline.not_shown()));
    format!("{}\n\n", groups.join(" · "))
}

/// Writes the table of findings that change authority or break clients.
fn table(outline: &Outline<'_>, all: &[&Row<'_>], page: &mut Page) {
    const HEAD: &str = "| | what | change | meaning |\n|---|---|---|---|\n";
    let rows: Vec<_> = all.iter().filter(|row| is_in_table(row)).collect();
    if rows.is_empty() {
        return;
    }
    let more = length(&and_more(rows.len())) + 1;
    page.reserved += more;
    if !page.push(HEAD) {
        page.reserved -= more;
        return;
    }
    let written = rows.iter().take_while(|row| page.push(&line(outline, row))).count();
    page.reserved -= more;
    page.push("\n");
    if written < rows.len() {
        page.push(&and_more(rows.len() - written));
    }
}

/// Returns whether the table has a line for a finding.
fn is_in_table(row: &Row<'_>) -> bool {
    row.area == Area::Authority || row.breaking
}

fn line(outline: &Outline<'_>, row: &Row<'_>) -> String {
    let mut what = vec![title(outline, row)];
    what.extend(place(row));
    what.extend(fingerprint(row));
    let mut meaning: Vec<String> = Vec::new();
    meaning.extend(row.meaning.map(|text| sentence(text, NOTE_CHARS_MAX)));
    meaning.extend(row.size.clone());
    meaning.extend(only_in(row));
    meaning.extend(accepted(row));
    let (mark, change) = (row.mark.text(), in_cell(&row.brief()));
    format!("| {mark} | {} | {change} | {} |\n", what.join("<br>"), meaning.join("<br>"))
}

/// Returns a change for the cell of a table.
fn in_cell(brief: &Brief<'_>) -> String {
    let word = |word: &Word<'_>| match word {
        Word::Own(text) => text.to_string(),
        Word::Quoted(text) => code(text, CELL_CHARS_MAX),
    };
    let line = |line: &Vec<Word<'_>>| line.iter().map(word).collect::<String>();
    brief.lines.iter().map(line).collect::<Vec<_>>().join("<br>")
}

/// Returns the texts that agents always get, open, then the details of each area, folded. Findings
/// shown in full by the table are left out.
fn sections<'o>(outline: &Outline<'_>, all: &[&'o Row<'o>]) -> Vec<Section<'o>> {
    let is_open = |row: &Row<'_>| row.always && row.accepted.is_none() && needs_room(row);
    let mut sections = Vec::new();
    let open: Vec<_> = all.iter().copied().filter(|row| is_open(row)).collect();
    if !open.is_empty() {
        let opening = format!("Agents are always told: {}\n\n", counted(open.len(), "change"));
        sections.push(Section { opening, rows: open, closing: "" });
    }
    for area in outline.areas {
        let mut rows: Vec<_> = all.iter().copied().filter(|row| row.area == *area).collect();
        let total = rows.len();
        rows.retain(|row| !is_open(row) && needs_room(row));
        if rows.is_empty() {
            continue;
        }
        let word = if rows.len() < total { "other change" } else { "change" };
        let tokens: i64 = rows.iter().map(|row| row.tokens_estimated).sum();
        let tokens = match tokens {
            0 => String::new(),
            tokens => format!(", about {} tokens", words::signed(tokens)),
        };
        let (name, count) = (words::area(*area), counted(rows.len(), word));
        let opening = format!("<details><summary>{name}: {count}{tokens}</summary>\n\n");
        sections.push(Section { opening, rows, closing: FOLDED });
    }
    sections
}

/// Returns whether a finding needs more room than its line in the table.
fn needs_room(row: &Row<'_>) -> bool {
    !is_in_table(row) || is_long(&row.brief())
}

/// Returns whether a change is too long for the cell of a table.
fn is_long(brief: &Brief<'_>) -> bool {
    match brief.says {
        Says::All => false,
        Says::AllUncut => {
            brief.quoted().any(|text| text.contains('\n') || text.chars().count() > CELL_CHARS_MAX)
        }
        Says::Less => true,
    }
}

impl Section<'_> {
    /// Returns the length of the text around its findings.
    fn frame(&self) -> usize {
        length(&self.opening) + length(&and_more(self.rows.len())) + length(self.closing)
    }

    fn write(&self, outline: &Outline<'_>, page: &mut Page) {
        let frame = self.frame();
        if frame > page.left() {
            return;
        }
        page.push(&self.opening);
        let rest = frame - length(&self.opening);
        page.reserved += rest;
        let mut written = 0;
        for row in &self.rows {
            let heading = heading(outline, row);
            let fits = page.push(&format!("{heading}{}", body(row)))
                || page.push(&format!("{heading}the text is left out\n\n"));
            if !fits {
                break;
            }
            written += 1;
        }
        page.reserved -= rest;
        if written < self.rows.len() {
            page.push(&and_more(self.rows.len() - written));
        }
        page.push(self.closing);
    }
}

/// Returns the title and place of a finding as a paragraph, with a short change.
fn heading(outline: &Outline<'_>, row: &Row<'_>) -> String {
    // In bold, `+`, `-` and `~` stay text rather than begin a list.
    let mut parts = vec![format!("**{}** {}", row.mark.text(), title(outline, row))];
    let brief = row.brief();
    parts.extend((!is_long(&brief)).then(|| in_cell(&brief)));
    parts.extend(place(row));
    parts.extend(row.size.clone());
    parts.extend(only_in(row));
    parts.extend(fingerprint(row));
    format!("{}\n\n", parts.join(" · "))
}

/// Returns the remaining parts of a finding, each followed by an empty line.
fn body(row: &Row<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    match &row.body {
        _ if !is_long(&row.brief()) => {}
        Body::Value { before, after } => {
            let marked = |mark: char, value: Option<&str>| {
                let lines = value.unwrap_or_default().lines();
                lines.map(|line| format!("{mark} {line}")).collect::<Vec<_>>()
            };
            let lines = [marked('-', *before), marked('+', *after)].concat();
            parts.push(fence("diff", &bounded(lines)));
        }
        Body::Passages(passages) => parts.extend(fences(passages)),
        Body::Lines(lines) => parts.push(fence("text", &bounded(lines.clone()))),
    }
    let mut line: Vec<String> = Vec::new();
    line.extend(row.meaning.map(|text| sentence(text, NOTE_CHARS_MAX)));
    line.extend(row.tried.clone());
    line.extend(accepted(row));
    if !line.is_empty() {
        parts.push(format!("{}\n", line.join("; ")));
    }
    parts.iter().map(|part| format!("{part}\n")).collect()
}

/// Returns each passage in a fence, after the renderings that have it.
fn fences(passages: &[Passage<'_>]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut left = LINES_MAX;
    for (index, passage) in passages.iter().enumerate() {
        let lines = lines(passage);
        if index > 0 && lines.len() > left {
            parts.push(format!("and {}\n", counted(passages.len() - index, "more passage")));
            break;
        }
        left = left.saturating_sub(lines.len());
        parts.extend(
            passage.with.as_ref().map(|names| format!("{}\n", code(names, NOTE_CHARS_MAX))),
        );
        parts.push(fence("diff", &bounded(lines)));
    }
    parts
}

/// Returns a passage line by line: common, gone and new lines.
fn lines(passage: &Passage<'_>) -> Vec<String> {
    let text = |without: PieceKind| {
        let mut text = String::new();
        for piece in passage.pieces.iter().filter(|piece| piece.kind != without) {
            text.push_str(&piece.text);
            text.extend(left_out(piece));
        }
        text
    };
    let (before, after) = (text(PieceKind::New), text(PieceKind::Gone));
    let (before, after) = (relay_diff::lines(&before), relay_diff::lines(&after));
    let marked = |mark: char, lines: Option<&[&str]>| {
        let line = |line: &&str| format!("{mark} {line}").trim_end().to_owned();
        lines.unwrap_or_default().iter().map(line).collect::<Vec<_>>()
    };
    let mut lines: Vec<String> = Vec::new();
    for operation in edits(&before, &after) {
        let (old, new) = (before.get(operation.old_range()), after.get(operation.new_range()));
        if let DiffOp::Equal { .. } = operation {
            lines.extend(marked(' ', new));
        } else {
            lines.extend(marked('-', old));
            lines.extend(marked('+', new));
        }
    }
    let is_text = |line: &String| !line.trim().is_empty();
    lines.truncate(lines.iter().rposition(is_text).map_or(0, |last| last + 1));
    lines.drain(..lines.iter().position(is_text).unwrap_or(0));
    lines
}

fn bounded(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        lines.truncate(LINES_MAX);
        lines.push(format!("… {}", counted(more, "more line")));
    }
    lines
}

/// Returns the subject of a finding, with its project if there are several.
fn title(outline: &Outline<'_>, row: &Row<'_>) -> String {
    let mut text = String::new();
    if outline.projects.len() > 1 {
        text.push_str(&format!("{} ", code(row.project, NAME_CHARS_MAX)));
    }
    text.push_str(row.kind);
    if !row.name.is_empty() {
        text.push_str(&format!(" {}", code(row.name, NAME_CHARS_MAX)));
    }
    if !row.part.is_empty() {
        text.push_str(&format!(": {}", code(row.part, NAME_CHARS_MAX)));
    }
    text
}

fn place(row: &Row<'_>) -> Option<String> {
    Some(code(row.place.as_ref()?, PLACE_CHARS_MAX))
}

fn fingerprint(row: &Row<'_>) -> Option<String> {
    row.needs_acceptance.then(|| code(row.fingerprint, NAME_CHARS_MAX))
}

fn only_in(row: &Row<'_>) -> Option<String> {
    Some(format!("only in {}", code(row.only_in.as_ref()?, NAME_CHARS_MAX)))
}

fn accepted(row: &Row<'_>) -> Option<String> {
    let (how, reason) = row.acceptance()?;
    Some(format!("{how}: {}", code(reason, NOTE_CHARS_MAX)))
}

fn and_more(count: usize) -> String {
    format!("and {} more\n\n", grouped(count))
}

/// Returns the notes of all projects, in at most `chars_max` characters.
fn notes(outline: &Outline<'_>, chars_max: usize) -> String {
    let of_projects =
        outline.projects.iter().flat_map(|project| project.notes.iter().chain(&project.signatures));
    let all: Vec<&String> = outline.notes.iter().chain(of_projects).collect();
    let mut page = Page::of(chars_max);
    page.reserved = length(&and_more(all.len()));
    let note = |text: &str| format!("Note: {}\n\n", code(text, NOTE_CHARS_MAX));
    let written = all.iter().take(NOTES_MAX).take_while(|text| page.push(&note(text))).count();
    page.reserved = 0;
    if written < all.len() {
        page.push(&and_more(all.len() - written));
    }
    page.text
}

/// Returns the compared sides, of as many projects as fit in `chars_max` characters.
fn last_line(outline: &Outline<'_>, chars_max: usize) -> String {
    let named = outline.projects.len().min(PROJECTS_MAX);
    let lines = (0..=named).rev().map(|named| last_line_of(outline, named));
    let mut lines = lines.skip_while(|line| length(line) > chars_max);
    lines.next().unwrap_or_default()
}

fn last_line_of(outline: &Outline<'_>, named: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for project in outline.projects.iter().take(named) {
        let mut name = code(project.name, NAME_CHARS_MAX);
        if let Some(versions) = &project.versions {
            name.push_str(&format!(" {}", code(versions, CELL_CHARS_MAX)));
        }
        let sides = format!("{} → {}", side(&project.a), side(&project.b));
        parts.extend([name, sides, project.files.clone()]);
        parts.extend(project.epochs.clone());
    }
    match outline.projects.len() - named {
        0 => {}
        more if named == 0 => parts.push(counted(more, "project")),
        more => parts.push(format!("and {}", counted(more, "more project"))),
    }
    parts.push(format!("relay {VERSION}"));
    format!("<sub>{}</sub>\n", parts.join(" · "))
}

fn side(side: &Side<'_>) -> String {
    let commit = side.commit.map(|commit| format!(" {}", code(commit, 7)));
    format!("{}{}", code(side.subject, CELL_CHARS_MAX), commit.unwrap_or_default())
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}
