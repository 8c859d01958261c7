//! The comparison as text for people.

use relay_diff::{Change, Hunk, PieceKind};

use crate::answer::size::counted;
use crate::command::diff::comparison::{Compared, Comparison, Described, Found};
use crate::command::diff::words::{self, Mark};
use crate::command::verify::Signature;
use crate::output::{Look, bad, bold, dim, doubtful, good};
use crate::text::{on_one_line, padded, printable, without_commands, wrapped};

/// Characters of a value that is shown on one line with the other.
const SHORT_CHARS_MAX: usize = 40;

/// Returns the comparison of each project, an empty line between them.
pub(crate) fn draw(comparison: &Comparison, look: Look) -> String {
    let projects = comparison.projects.iter().map(|project| drawn(project, comparison, look));
    let mut text = projects.collect::<Vec<_>>().join("\n");
    for note in &comparison.notes {
        text.push_str(&self::note(note));
    }
    without_commands(&text)
}

fn drawn(project: &Compared, comparison: &Comparison, look: Look) -> String {
    let mut text = header(project);
    if project.same_meaning {
        text.push_str(&format!("{}\n", good(words::NO_DIFFERENCE)));
    } else {
        text.push_str(&format!("\n  {}\n", verdict(project, comparison)));
    }
    for area in &comparison.areas {
        let mut found = project.of_area(*area).peekable();
        if found.peek().is_some() {
            text.push_str(&format!("\n{}\n", bold(words::area(*area))));
        }
        for found in found {
            text.push_str(&finding(found, project, look));
        }
    }
    for side in [&project.a, &project.b] {
        for signature in &side.signers {
            let Signature { keyid, name: _, state } = signature;
            text.push_str(&note(&format!("`{}` is signed by {keyid} ({state})", side.subject)));
        }
    }
    let notes = project.notes.iter().cloned().chain(words::not_shown(project.not_shown));
    for note in notes {
        text.push_str(&self::note(&note));
    }
    text
}

fn note(text: &str) -> String {
    format!("{} {}\n", bold("note:"), printable(text))
}

/// Returns which project, which sides, and how much of the source differs.
fn header(project: &Compared) -> String {
    let Compared { a, b, environments, .. } = project;
    let versions = words::versions(project).map(|versions| format!(" {versions}"));
    let name = on_one_line(&format!("{}{}", project.project(), versions.unwrap_or_default()));
    let mut parts =
        vec![bold(name).to_string(), format!("{} → {}", side(a), side(b)), words::files(project)];
    parts.extend(words::epochs(project));
    if environments.iter().any(Option::is_some) {
        parts.push(on_one_line(&words::environments(environments)));
    }
    format!("{}\n", parts.join("   "))
}

fn side(side: &Described) -> String {
    let commit = words::short_commit(side).map(|commit| format!(" ({commit})"));
    on_one_line(&format!("{}{}", side.subject, commit.unwrap_or_default()))
}

/// Returns how many findings there are of each kind.
fn verdict(project: &Compared, comparison: &Comparison) -> String {
    let groups = words::verdict(&comparison.areas, project.findings.iter());
    let coloured = |count: &words::Count| match count.is_bad {
        true => bad(&count.text).to_string(),
        false => count.text.clone(),
    };
    let group = |group: &Vec<words::Count>| group.iter().map(coloured).collect::<Vec<_>>();
    let groups = groups.iter().map(|counts| group(counts).join("   "));
    groups.collect::<Vec<_>>().join("   ·   ")
}

fn finding(found: &Found, project: &Compared, look: Look) -> String {
    let finding = &found.finding;
    let title = on_one_line(&words::title(&finding.subject, &finding.part));
    let title = format!("{} {}", mark(found), bold(title));
    let place = found.place().map(|place| on_one_line(&place.to_string()));
    // What can fail a run can be accepted, and it is the fingerprint that does so.
    let fingerprint = found.needs_acceptance().then(|| found.fingerprint.clone());
    let right: Vec<String> =
        [place, words::size(found), fingerprint].into_iter().flatten().collect();
    let mut text = if right.is_empty() {
        format!("{title}\n")
    } else {
        let left = padded(&title, (look.width / 2).saturating_sub(4));
        format!("{left}  {}\n", dim(right.join("   ")))
    };
    text.push_str(&change(&finding.change, look));
    let only = words::only_in(found, project).map(|names| format!("only in {names}"));
    let accepted = found.accepted.as_ref().map(|it| format!("accepted: {}", it.reason));
    let meaning = finding.meaning.clone();
    for line in [meaning, words::tried(found), only, accepted].into_iter().flatten() {
        text.push_str(&wrapped(&line, "    ", look.width));
    }
    text
}

/// Returns the symbol of a finding in its colour; those of authority are of one width.
fn mark(found: &Found) -> String {
    let mark = Mark::of(found);
    let text = mark.text();
    match mark {
        Mark::Loosens => bad(format!("{text} ")).to_string(),
        Mark::Tightens => good(text).to_string(),
        Mark::Changes => doubtful(format!("{text} ")).to_string(),
        Mark::Breaking | Mark::Removed => bad(text).to_string(),
        Mark::Added => good(text).to_string(),
        Mark::Other => text.into(),
    }
}

fn change(change: &Change, look: Look) -> String {
    match change {
        Change::Value { before, after } => value(before.as_deref(), after.as_deref(), look),
        Change::Text { hunks } => hunks.iter().map(passage).collect(),
        Change::Added
        | Change::Removed
        | Change::Renamed { .. }
        | Change::Readers { .. }
        | Change::Instructions { .. }
        | Change::Calls { .. }
        | Change::Briefings { .. }
        | Change::Untried { .. }
        | Change::Listed { .. } => {
            let shown = |line: &String| match line.starts_with(words::INDENT) {
                true => format!("    {}\n", on_one_line(line)),
                false => wrapped(line, "    ", look.width),
            };
            words::lines(change).iter().map(shown).collect()
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

/// Returns a passage with what is gone and new in it marked.
fn passage(hunk: &Hunk) -> String {
    let mut text = String::new();
    for piece in &hunk.pieces {
        let shown = printable(&piece.text);
        // A mark around each line: a style or a bracket would else go on over the next ones.
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
        if piece.omitted > 0 {
            text.push_str(
                &dim(format!(" ({} left out)", counted(piece.omitted, "character"))).to_string(),
            );
        }
    }
    let mut shown = String::new();
    if let Some(variants) = words::variants(hunk) {
        shown.push_str(&format!("    {}\n", dim(on_one_line(&variants))));
    }
    // Lines of context may be empty.
    for line in text.trim_matches('\n').split('\n') {
        shown.push_str(&format!("    {line}\n"));
    }
    shown
}
