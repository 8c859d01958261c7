//! The comparison as text for people.

use relay_diff::PieceKind;

use crate::command::diff::outline::{Body, Group, Outline, Passage, Project, Row, Side, left_out};
use crate::command::diff::words::{self, Count, Mark};
use crate::output::{Look, bad, bold, dim, good};
use crate::text::{padded, printable, printable_lines, without_commands, wrapped};

/// The most characters of a value that shares a line with the other.
const SHORT_CHARS_MAX: usize = 40;

/// Returns the comparison of each project, an empty line between them.
pub(crate) fn draw(outline: &Outline<'_>, look: Look) -> String {
    let projects = outline.projects.iter().map(|project| drawn(project, look));
    let mut text = projects.collect::<Vec<_>>().join("\n");
    for note in outline.notes {
        text.push_str(&self::note(note));
    }
    without_commands(&text)
}

fn drawn(project: &Project<'_>, look: Look) -> String {
    let mut text = header(project);
    if project.same_meaning {
        text.push_str(&format!("{}\n", good(words::NO_DIFFERENCE)));
    } else {
        text.push_str(&format!("\n  {}\n", verdict(&project.verdict)));
    }
    for Group { area, rows } in &project.groups {
        text.push_str(&format!("\n{}\n", bold(words::area(*area))));
        text.extend(rows.iter().map(|row| finding(row, look)));
    }
    let not_shown = words::not_shown(project.not_shown);
    for note in project.signatures.iter().chain(project.notes).chain(&not_shown) {
        text.push_str(&self::note(note));
    }
    text
}

fn note(text: &str) -> String {
    format!("{} {}\n", bold("note:"), printable(text))
}

/// Returns the project, the sides, and the number of differing source files.
fn header(project: &Project<'_>) -> String {
    let Project { name, versions, a, b, files, epochs, environments, .. } = project;
    let versions = versions.as_ref().map(|versions| format!(" {versions}"));
    let name = printable(&format!("{name}{}", versions.unwrap_or_default()));
    let mut parts =
        vec![bold(name).to_string(), format!("{} → {}", side(a), side(b)), files.clone()];
    parts.extend(epochs.clone());
    parts.extend(environments.as_deref().map(printable));
    format!("{}\n", parts.join("   "))
}

fn side(side: &Side<'_>) -> String {
    let commit = side.commit.map(|commit| format!(" ({commit})"));
    printable(&format!("{}{}", side.subject, commit.unwrap_or_default()))
}

/// Returns the numbers of findings of each kind.
fn verdict(groups: &[Vec<Count>]) -> String {
    let coloured = |count: &Count| match count.is_bad {
        true => bad(&count.text).to_string(),
        false => count.text.clone(),
    };
    let group = |group: &Vec<Count>| group.iter().map(coloured).collect::<Vec<_>>();
    let groups = groups.iter().map(|counts| group(counts).join("   "));
    groups.collect::<Vec<_>>().join("   ·   ")
}

fn finding(row: &Row<'_>, look: Look) -> String {
    let title = format!("{} {}", mark(row.mark), bold(printable(&row.title())));
    let place = row.place.as_deref().map(printable);
    let fingerprint = row.needs_acceptance.then(|| row.fingerprint.to_owned());
    let right: Vec<String> = [place, row.size.clone(), fingerprint].into_iter().flatten().collect();
    let mut text = if right.is_empty() {
        format!("{title}\n")
    } else {
        let left = padded(&title, (look.width / 2).saturating_sub(4));
        format!("{left}  {}\n", dim(right.join("   ")))
    };
    text.push_str(&body(&row.body, look));
    let only = row.only_in.as_ref().map(|names| format!("only in {names}"));
    let accepted = row.acceptance().map(|(how, reason)| format!("{how}: {reason}"));
    let meaning = row.meaning.map(str::to_owned);
    for line in [meaning, row.tried.clone(), only, accepted].into_iter().flatten() {
        text.push_str(&wrapped(&line, "    ", look.width));
    }
    text
}

/// Returns the symbol of a finding in its colour; those of authority are of one width.
fn mark(mark: Mark) -> String {
    let text = mark.text();
    match mark {
        Mark::Loosens => bad(format!("{text} ")).to_string(),
        Mark::Tightens => good(text).to_string(),
        Mark::LoosensNotProved | Mark::Breaking | Mark::Always | Mark::Removed => {
            bad(text).to_string()
        }
        Mark::Added => good(text).to_string(),
        Mark::Other => text.into(),
    }
}

fn body(body: &Body<'_>, look: Look) -> String {
    match body {
        Body::Value { before, after } => value(*before, *after, look),
        Body::Passages(passages) => passages.iter().map(passage).collect(),
        Body::Lines(lines) => {
            let drawn = |line: &String| match line.starts_with(words::INDENT) {
                true => format!("    {}\n", printable(line)),
                false => wrapped(line, "    ", look.width),
            };
            lines.iter().map(drawn).collect()
        }
    }
}

fn value(before: Option<&str>, after: Option<&str>, look: Look) -> String {
    let is_short = |value: Option<&str>| {
        value.is_none_or(|value| value.chars().count() <= SHORT_CHARS_MAX && !value.contains('\n'))
    };
    let shown = |value: Option<&str>| printable(value.unwrap_or("none"));
    if is_short(before) && is_short(after) {
        return format!("    {} → {}\n", bad(shown(before)), good(shown(after)));
    }
    let lines = |word: &str, value: Option<&str>| {
        let value = value.unwrap_or("none");
        let text = wrapped(value, "           ", look.width);
        format!("    {word}{}", text.get(4 + word.len()..).unwrap_or_default())
    };
    format!("{}{}", lines("before ", before), lines("now    ", after))
}

/// Returns a passage with marks on its gone and new text.
fn passage(passage: &Passage<'_>) -> String {
    let mut text = String::new();
    for piece in passage.pieces {
        let shown = printable_lines(&piece.text);
        // A mark around each line: a style or a bracket would continue over the next ones.
        for line in shown.split_inclusive('\n') {
            let (line, end) = match line.strip_suffix('\n') {
                Some(line) => (line, "\n"),
                None => (line, ""),
            };
            match piece.kind {
                _ if line.is_empty() => {}
                PieceKind::Same => text.push_str(line),
                PieceKind::Gone => text.push_str(&bad(format!("[-{line}-]")).to_string()),
                PieceKind::New => text.push_str(&good(format!("{{+{line}+}}")).to_string()),
            }
            text.push_str(end);
        }
        text.extend(left_out(piece).map(|left_out| dim(left_out).to_string()));
    }
    let mut shown = String::new();
    if let Some(variants) = &passage.with {
        shown.push_str(&format!("    {}\n", dim(printable(variants))));
    }
    // Lines of context may be empty.
    for line in text.trim_matches('\n').split('\n') {
        shown.push_str(&format!("    {line}\n"));
    }
    shown
}
