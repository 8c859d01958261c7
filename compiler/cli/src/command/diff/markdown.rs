//! The comparison as markdown, for a comment on a pull request.
//!
//! All that is an author's is in code spans and fences (`quote`). What does not fit is left out in
//! whole findings, the worst ones last, and counted.

mod quote;

use relay_bundle::Digest;
use relay_compiler::VERSION;
use relay_diff::{Area, Change, Finding, Hunk, PieceKind};
use similar::{ChangeTag, TextDiff};

use self::quote::{code, fence, in_comment, sentence};
use crate::answer::size::{counted, grouped};
use crate::command::diff::comparison::{Compared, Comparison, Described, Found};
use crate::command::diff::words::{self, Mark};
use crate::command::verify::Signature;

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
/// The parts of the comment that the notes and the last line may take: one in so many.
const NOTES_SHARE: usize = 4;
const LAST_SHARE: usize = 3;

/// A finding and its project, with what is shown of both.
type Of<'c> = (&'c Compared, &'c Found);

/// Text of a bounded length. GitHub counts characters, of which there are never more than units of
/// UTF-16.
struct Page {
    text: String,
    length: usize,
    length_max: usize,
    /// Kept for texts that are added later.
    reserved: usize,
}

impl Page {
    fn of(length_max: usize) -> Self {
        Self { text: String::new(), length: 0, length_max, reserved: 0 }
    }

    /// Returns the room that is left.
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

/// Details of one area: what opens and closes them, and what is in them.
struct Section<'c> {
    opening: String,
    found: Vec<Of<'c>>,
}

const CLOSING: &str = "</details>\n\n";

/// Returns the comment: at most `chars_max` characters, if that is at least 2,000.
pub(crate) fn draw(comparison: &Comparison, chars_max: usize) -> String {
    let all = comparison.gravest_first();
    let mut page = Page::of(chars_max);
    page.push(&marker(comparison));
    page.push(&format!("### relay · {}\n\n", headline(comparison)));
    page.push(&counts(comparison, &all));

    let last = last_line(comparison, page.left() / LAST_SHARE);
    let notes = notes(comparison, page.left() / NOTES_SHARE);
    let closing = format!("{notes}{last}");
    let sections = sections(comparison, &all);
    page.reserved = length(&closing) + sections.iter().map(Section::frame).sum::<usize>();

    table(comparison, &all, &mut page);
    for section in &sections {
        page.reserved -= section.frame();
        section.write(comparison, &mut page);
    }
    page.reserved = 0;
    page.push(&closing);
    page.text
}

/// Returns the line by which the comment of an earlier run is found. Several projects share one
/// comment, also when one comes or goes, so their line names none.
fn marker(comparison: &Comparison) -> String {
    match comparison.projects.as_slice() {
        [project] => {
            let name = in_comment(project.project());
            let name = if name.len() > MARKER_CHARS_MAX {
                Digest::of(project.project().as_bytes()).hex()
            } else {
                name
            };
            format!("<!-- relay-diff {name} -->\n")
        }
        _ => "<!-- relay-diff -->\n".into(),
    }
}

/// Returns the verdict: the worst that was found.
fn headline(comparison: &Comparison) -> String {
    let found = || comparison.projects.iter().flat_map(|project| &project.findings);
    let number = |mark: Mark| {
        let counts = |found: &&Found| Mark::of(found) == mark && found.accepted.is_none();
        found().filter(counts).count()
    };
    let loosens = number(Mark::Loosens);
    let breaking =
        found().filter(|found| found.finding.breaking && found.accepted.is_none()).count();
    let total = found().count();
    if loosens > 0 {
        let verb = if loosens == 1 { "loosens" } else { "loosen" };
        format!("{} {verb} authority", counted(loosens, "change"))
    } else if breaking > 0 {
        format!("{} for clients", counted(breaking, "breaking change"))
    } else if total > 0 {
        counted(total, "change")
    } else if comparison.same_meaning {
        words::NO_DIFFERENCE.into()
    } else {
        "no change in what is shown".into()
    }
}

/// Returns how many findings there are of each kind.
fn counts(comparison: &Comparison, all: &[Of<'_>]) -> String {
    if comparison.same_meaning {
        return String::new();
    }
    let groups = words::verdict(&comparison.areas, all.iter().map(|(_, found)| *found));
    let group = |group: &Vec<words::Count>| {
        group.iter().map(|count| count.text.clone()).collect::<Vec<_>>().join(", ")
    };
    let mut groups: Vec<String> = groups.iter().map(group).collect();
    let differing = comparison.projects.iter().filter(|project| !project.same_meaning).count();
    if comparison.projects.len() > 1 {
        let projects = counted(comparison.projects.len(), "project");
        groups.push(format!("{} of {projects} differ", grouped(differing)));
    }
    let not_shown = comparison.projects.iter().map(|project| project.not_shown).sum();
    groups.extend(words::not_shown(not_shown));
    format!("{}\n\n", groups.join(" · "))
}

/// Writes the table of what changes authority or breaks clients.
fn table(comparison: &Comparison, all: &[Of<'_>], page: &mut Page) {
    const HEAD: &str = "| | what | change | meaning |\n|---|---|---|---|\n";
    let rows: Vec<&Of<'_>> = all.iter().filter(|(_, found)| is_row(found)).collect();
    if rows.is_empty() {
        return;
    }
    let more = length(&and_more(rows.len())) + 1;
    page.reserved += more;
    if !page.push(HEAD) {
        page.reserved -= more;
        return;
    }
    let written = rows.iter().take_while(|of| page.push(&row(comparison, of))).count();
    page.reserved -= more;
    page.push("\n");
    if written < rows.len() {
        page.push(&and_more(rows.len() - written));
    }
}

/// Returns whether the table has a row for a finding.
fn is_row(found: &Found) -> bool {
    found.finding.area == Area::Authority || found.finding.breaking
}

fn row(comparison: &Comparison, (project, found): &Of<'_>) -> String {
    let finding = &found.finding;
    let mut what = vec![title(comparison, project, finding)];
    what.extend(place(found));
    what.extend(fingerprint(found));
    let mut meaning: Vec<String> = Vec::new();
    meaning.extend(finding.meaning.as_ref().map(|text| sentence(text, NOTE_CHARS_MAX)));
    meaning.extend(words::size(found));
    meaning.extend(only_in(project, found));
    meaning.extend(accepted(found));
    let mark = Mark::of(found).text();
    let (what, change, meaning) = (what.join("<br>"), in_cell(finding), meaning.join("<br>"));
    format!("| {mark} | {what} | {change} | {meaning} |\n")
}

/// Returns a change for the cell of a table.
fn in_cell(finding: &Finding) -> String {
    let value = |value: &Option<String>| match value {
        Some(value) => code(value, CELL_CHARS_MAX),
        None => "none".into(),
    };
    match &finding.change {
        Change::Added => "new".into(),
        Change::Removed => "gone".into(),
        Change::Renamed { before } => format!("renamed from {}", code(before, CELL_CHARS_MAX)),
        Change::Value { before, after } => format!("{} → {}", value(before), value(after)),
        Change::Text { hunks } => counted(hunks.len(), "passage"),
        Change::Readers { gained, lost } => {
            let shown = |mark: char, list: &[String]| {
                let list = list.join("; ");
                (!list.is_empty()).then(|| format!("{mark} {}", code(&list, CELL_CHARS_MAX)))
            };
            let sides = [shown('+', gained), shown('−', lost)];
            sides.into_iter().flatten().collect::<Vec<_>>().join("<br>")
        }
        Change::Instructions { audiences, .. } => {
            format!("of {}", counted(audiences.len(), "audience"))
        }
        Change::Calls { groups } => counted(groups.len(), "difference"),
        Change::Briefings { losing, gaining, .. } => {
            format!("{} of losses, {} of gains", counted(*losing, "tag"), counted(*gaining, "tag"))
        }
        Change::Untried { readers, .. } => code(&readers.join("; "), CELL_CHARS_MAX),
        Change::Listed { lost, gained, .. } => {
            format!("{} lost, {} gained", counted(lost.len(), "prompt"), grouped(gained.len()))
        }
    }
}

/// Returns the details of each area that has some. What the table shows in full has none.
fn sections<'c>(comparison: &Comparison, all: &[Of<'c>]) -> Vec<Section<'c>> {
    let mut sections = Vec::new();
    for area in &comparison.areas {
        let mut found: Vec<Of<'c>> =
            all.iter().filter(|(_, found)| found.finding.area == *area).copied().collect();
        let total = found.len();
        found.retain(|(_, found)| !is_row(found) || is_long(&found.finding));
        if found.is_empty() {
            continue;
        }
        let word = if found.len() < total { "other change" } else { "change" };
        let tokens: i64 = found.iter().map(|(_, found)| found.tokens_estimated).sum();
        let tokens = match tokens {
            0 => String::new(),
            tokens => format!(", about {} tokens", words::signed(tokens)),
        };
        let (name, count) = (words::area(*area), counted(found.len(), word));
        let opening = format!("<details><summary>{name}: {count}{tokens}</summary>\n\n");
        sections.push(Section { opening, found });
    }
    sections
}

/// Returns whether the cell of a table cannot show a finding in full.
fn is_long(finding: &Finding) -> bool {
    let is_long = |value: &Option<String>| {
        let is_long =
            |value: &String| value.contains('\n') || value.chars().count() > CELL_CHARS_MAX;
        value.as_ref().is_some_and(is_long)
    };
    match &finding.change {
        Change::Value { before, after } => is_long(before) || is_long(after),
        Change::Readers { gained, lost } => {
            [gained, lost].into_iter().any(|list| list.join("; ").chars().count() > CELL_CHARS_MAX)
        }
        Change::Text { .. }
        | Change::Instructions { .. }
        | Change::Calls { .. }
        | Change::Briefings { .. }
        | Change::Untried { .. }
        | Change::Listed { .. } => true,
        Change::Added | Change::Removed | Change::Renamed { .. } => false,
    }
}

impl Section<'_> {
    /// Returns the characters of what surrounds its findings.
    fn frame(&self) -> usize {
        length(&self.opening) + length(&and_more(self.found.len())) + length(CLOSING)
    }

    fn write(&self, comparison: &Comparison, page: &mut Page) {
        let frame = self.frame();
        if frame > page.left() {
            return;
        }
        page.push(&self.opening);
        let rest = frame - length(&self.opening);
        page.reserved += rest;
        let mut written = 0;
        for of in &self.found {
            let heading = heading(comparison, of);
            let fits = page.push(&format!("{heading}{}", body(of)))
                || page.push(&format!("{heading}the text is left out\n\n"));
            if !fits {
                break;
            }
            written += 1;
        }
        page.reserved -= rest;
        if written < self.found.len() {
            page.push(&and_more(self.found.len() - written));
        }
        page.push(CLOSING);
    }
}

/// Returns what and where a finding is, as a paragraph; a short change is part of it.
fn heading(comparison: &Comparison, (project, found): &Of<'_>) -> String {
    let finding = &found.finding;
    // In bold, `+`, `-` and `~` begin no list.
    let (mark, title) = (Mark::of(found).text(), title(comparison, project, finding));
    let mut parts = vec![format!("**{mark}** {title}")];
    parts.extend((!is_long(finding)).then(|| in_cell(finding)));
    parts.extend(place(found));
    parts.extend(words::size(found));
    parts.extend(only_in(project, found));
    parts.extend(fingerprint(found));
    format!("{}\n\n", parts.join(" · "))
}

/// Returns what else a finding says, each part followed by an empty line.
fn body((_, found): &Of<'_>) -> String {
    let finding = &found.finding;
    let mut parts: Vec<String> = Vec::new();
    match &finding.change {
        _ if !is_long(finding) => {}
        Change::Value { before, after } => {
            let marked = |mark: char, value: &Option<String>| {
                let lines = value.as_deref().unwrap_or_default().lines();
                lines.map(|line| format!("{mark} {line}")).collect::<Vec<_>>()
            };
            let lines = [marked('-', before), marked('+', after)].concat();
            parts.push(fence("diff", &bounded(lines)));
        }
        Change::Text { hunks } => parts.extend(passages(hunks)),
        Change::Readers { .. }
        | Change::Instructions { .. }
        | Change::Calls { .. }
        | Change::Briefings { .. }
        | Change::Untried { .. }
        | Change::Listed { .. } => {
            parts.push(fence("text", &bounded(words::lines(&finding.change))));
        }
        Change::Added | Change::Removed | Change::Renamed { .. } => {}
    }
    let mut line: Vec<String> = Vec::new();
    line.extend(finding.meaning.as_ref().map(|text| sentence(text, NOTE_CHARS_MAX)));
    line.extend(words::tried(found));
    line.extend(accepted(found));
    if !line.is_empty() {
        parts.push(format!("{}\n", line.join("; ")));
    }
    parts.iter().map(|part| format!("{part}\n")).collect()
}

/// Returns each passage in a fence, with the renderings before it that have it.
fn passages(hunks: &[Hunk]) -> Vec<String> {
    let mut parts = Vec::new();
    let mut left = LINES_MAX;
    for (index, hunk) in hunks.iter().enumerate() {
        let lines = lines(hunk);
        if index > 0 && lines.len() > left {
            parts.push(format!("and {}\n", counted(hunks.len() - index, "more passage")));
            break;
        }
        left = left.saturating_sub(lines.len());
        parts.extend(
            words::variants(hunk).map(|names| format!("{}\n", code(&names, NOTE_CHARS_MAX))),
        );
        parts.push(fence("diff", &bounded(lines)));
    }
    parts
}

/// Returns a passage line by line: what both texts have, what is gone, what is new.
fn lines(hunk: &Hunk) -> Vec<String> {
    let text = |without: PieceKind| {
        let mut text = String::new();
        for piece in hunk.pieces.iter().filter(|piece| piece.kind != without) {
            text.push_str(&piece.text);
            if piece.omitted > 0 {
                text.push_str(&format!(" ({} left out)", counted(piece.omitted, "character")));
            }
        }
        text
    };
    let (before, after) = (text(PieceKind::New), text(PieceKind::Gone));
    let diff = TextDiff::from_lines(&before, &after);
    let lines = diff.iter_all_changes().map(|change| {
        let mark = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        format!("{mark} {}", change.value().trim_end_matches(['\n', '\r'])).trim_end().to_owned()
    });
    let mut lines: Vec<String> = lines.collect();
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

/// Returns what differs, with its project if there are several.
fn title(comparison: &Comparison, project: &Compared, finding: &Finding) -> String {
    let mut text = String::new();
    if comparison.projects.len() > 1 {
        text.push_str(&format!("{} ", code(project.project(), NAME_CHARS_MAX)));
    }
    text.push_str(words::kind(finding.subject.kind));
    if !finding.subject.name.is_empty() {
        text.push_str(&format!(" {}", code(&finding.subject.name, NAME_CHARS_MAX)));
    }
    if !finding.part.is_empty() {
        text.push_str(&format!(": {}", code(&finding.part, NAME_CHARS_MAX)));
    }
    text
}

fn place(found: &Found) -> Option<String> {
    let place = found.place()?;
    Some(code(&format!("{}:{}", place.file, place.line), PLACE_CHARS_MAX))
}

/// What can fail a run can be accepted, and it is the fingerprint that does so.
fn fingerprint(found: &Found) -> Option<String> {
    found.needs_acceptance().then(|| code(&found.fingerprint, NAME_CHARS_MAX))
}

fn only_in(project: &Compared, found: &Found) -> Option<String> {
    Some(format!("only in {}", code(&words::only_in(found, project)?, NAME_CHARS_MAX)))
}

fn accepted(found: &Found) -> Option<String> {
    let accepted = found.accepted.as_ref()?;
    Some(format!("accepted: {}", code(&accepted.reason, NOTE_CHARS_MAX)))
}

fn and_more(count: usize) -> String {
    format!("and {} more\n\n", grouped(count))
}

/// Returns the notes of all projects, in at most `chars_max` characters.
fn notes(comparison: &Comparison, chars_max: usize) -> String {
    let mut all: Vec<String> = comparison.notes.clone();
    for project in &comparison.projects {
        all.extend(project.notes.iter().cloned());
        for side in [&project.a, &project.b] {
            for Signature { keyid, name: _, state } in &side.signers {
                all.push(format!("`{}` is signed by {keyid} ({state})", side.subject));
            }
        }
    }
    let mut page = Page::of(chars_max);
    page.reserved = length(&and_more(all.len()));
    let note = |text: &String| format!("Note: {}\n\n", code(text, NOTE_CHARS_MAX));
    let written = all.iter().take(NOTES_MAX).take_while(|text| page.push(&note(text))).count();
    page.reserved = 0;
    if written < all.len() {
        page.push(&and_more(all.len() - written));
    }
    page.text
}

/// Returns what was compared: as many projects as `chars_max` characters have room for.
fn last_line(comparison: &Comparison, chars_max: usize) -> String {
    let named = comparison.projects.len().min(PROJECTS_MAX);
    let lines = (0..=named).rev().map(|named| last_line_of(comparison, named));
    let mut lines = lines.skip_while(|line| length(line) > chars_max);
    lines.next().unwrap_or_default()
}

fn last_line_of(comparison: &Comparison, named: usize) -> String {
    let mut parts: Vec<String> = Vec::new();
    for project in comparison.projects.iter().take(named) {
        let mut name = code(project.project(), NAME_CHARS_MAX);
        if let Some(versions) = words::versions(project) {
            name.push_str(&format!(" {}", code(&versions, CELL_CHARS_MAX)));
        }
        let sides = format!("{} → {}", side(&project.a), side(&project.b));
        parts.extend([name, sides, words::files(project)]);
        parts.extend(words::epochs(project));
    }
    match comparison.projects.len() - named {
        0 => {}
        more if named == 0 => parts.push(counted(more, "project")),
        more => parts.push(format!("and {}", counted(more, "more project"))),
    }
    parts.push(format!("relay {VERSION}"));
    format!("<sub>{}</sub>\n", parts.join(" · "))
}

fn side(side: &Described) -> String {
    let commit = words::short_commit(side).map(|commit| format!(" {}", code(commit, 7)));
    format!("{}{}", code(&side.subject, CELL_CHARS_MAX), commit.unwrap_or_default())
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}
