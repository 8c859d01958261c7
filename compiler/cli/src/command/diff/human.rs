//! The comparison as text for people.

use relay_diff::{Area, Change, Claim, Direction, Hunk, Kind, Lost, PieceKind, Subject};

use crate::answer::size::{counted, grouped};
use crate::command::diff::comparison::{Compared, Comparison, Described, Found};
use crate::command::verify::Signature;
use crate::output::{Look, bad, bold, dim, doubtful, good};
use crate::text::{padded, printable, wrapped};

/// Renderings that a passage names.
const VARIANTS_MAX: usize = 3;
/// Characters of a value that is shown on one line with the other.
const SHORT_CHARS_MAX: usize = 40;

/// Returns the comparison of each project, an empty line between them.
pub(crate) fn draw(comparison: &Comparison, look: Look) -> String {
    let projects = comparison.projects.iter().map(|project| drawn(project, look));
    projects.collect::<Vec<_>>().join("\n")
}

fn drawn(project: &Compared, look: Look) -> String {
    let mut text = header(project);
    if project.same_meaning {
        text.push_str(&format!("{}\n", good("no difference in meaning")));
    } else {
        text.push_str(&format!("\n  {}\n", verdict(project)));
    }
    for (area, name) in
        [(Area::Authority, "Authority"), (Area::Contexts, "Contexts"), (Area::Surface, "Surface")]
    {
        let mut found = project.of_area(area).peekable();
        if found.peek().is_some() {
            text.push_str(&format!("\n{}\n", bold(name)));
        }
        for found in found {
            text.push_str(&finding(found, project, look));
        }
    }
    for side in [&project.a, &project.b] {
        for signature in &side.signers {
            let Signature { keyid, name: _, state } = signature;
            let signed = format!("`{}` is signed by {keyid} ({state})", side.subject);
            text.push_str(&format!("{} {}\n", bold("note:"), printable(&signed)));
        }
    }
    for note in &project.notes {
        text.push_str(&format!("{} {}\n", bold("note:"), printable(note)));
    }
    text
}

/// Returns which project, which sides, and how much of the source differs.
fn header(project: &Compared) -> String {
    let Compared { a, b, environments, files_of, files, .. } = project;
    let version = |side: &Described| side.bundle.as_ref().and_then(|it| it.version.clone());
    let versions = match (version(a), version(b)) {
        (Some(a), Some(b)) if a != b => format!(" {a} → {b}"),
        (_, Some(version)) | (Some(version), None) => format!(" {version}"),
        (None, None) => String::new(),
    };
    let name = printable(&format!("{}{versions}", project.project()));
    let mut parts = vec![
        bold(name).to_string(),
        format!("{} → {}", side(a), side(b)),
        format!("{} of {} differ", grouped(files.len()), counted(*files_of, "file")),
    ];
    if environments.iter().any(Option::is_some) {
        parts.push(self::environments(environments));
    }
    format!("{}\n", parts.join("   "))
}

fn side(side: &Described) -> String {
    let commit = side.commit.as_ref().and_then(|commit| commit.get(..7));
    let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    printable(&format!("{}{commit}", side.subject))
}

/// Returns the names of environments; the project without one is `default`.
pub(crate) fn environments(names: &[Option<String>]) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "default".into());
    printable(&names.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Returns how many findings there are of each kind.
fn verdict(project: &Compared) -> String {
    let count = |direction, word: &str| format!("{} {word}", project.directed(direction));
    let loosens = count(Direction::Loosens, "loosens");
    let loosens = match project.directed(Direction::Loosens) {
        0 => loosens,
        _ => bad(loosens).to_string(),
    };
    let changes = match project.directed(Direction::Changes) {
        0 => String::new(),
        _ => format!("   {}", count(Direction::Changes, "changes")),
    };
    let contexts = project.of_area(Area::Contexts).count();
    let surface = project.of_area(Area::Surface).count();
    let breaking = project.findings.iter().filter(|found| found.finding.breaking).count();
    let breaking = match breaking {
        0 => String::new(),
        breaking => format!("   ·   {}", bad(format!("{breaking} breaking"))),
    };
    let surface = match surface {
        0 => "surface same".into(),
        surface => format!("{surface} of surface"),
    };
    format!(
        "{loosens}   {}{changes}   ·   {}   ·   {surface}{breaking}",
        count(Direction::Tightens, "tightens"),
        counted(contexts, "context"),
    )
}

fn finding(found: &Found, project: &Compared, look: Look) -> String {
    let finding = &found.finding;
    let title = printable(&title(&finding.subject, &finding.part));
    let title = format!("{} {}", mark(found), bold(title));
    // What is gone is shown where it was; its mark would be on another thing's line.
    let written = finding.places.b.as_ref().and(found.anchor.as_ref());
    let place = written.or(finding.places.b.as_ref()).or(finding.places.a.as_ref());
    let place = place.map(|place| printable(&place.to_string())).unwrap_or_default();
    let size = match (found.finding.bytes, found.tokens_estimated) {
        (0, _) => String::new(),
        (bytes, 0) => format!("{bytes:+} B"),
        (bytes, tokens) => format!("{bytes:+} B, about {tokens:+} tokens"),
    };
    let right: Vec<String> = [place, size].into_iter().filter(|part| !part.is_empty()).collect();
    let mut text = if right.is_empty() {
        format!("{title}\n")
    } else {
        let left = padded(&title, (look.width / 2).saturating_sub(4));
        format!("{left}  {}\n", dim(right.join("   ")))
    };
    text.push_str(&change(&finding.change, look));
    if let Some(meaning) = &finding.meaning {
        text.push_str(&wrapped(meaning, "    ", look.width));
    }
    if let Claim::Tried { inputs, of } = finding.claim {
        let tried =
            format!("tried with {} of {}; others may differ", counted(inputs, "tag"), grouped(of));
        text.push_str(&wrapped(&tried, "    ", look.width));
    }
    if found.environments.len() < project.environments.len() {
        let only = format!("only in {}", environments(&found.environments));
        text.push_str(&wrapped(&only, "    ", look.width));
    }
    text
}

/// Returns the symbol of a finding, which says without colour what its colour says.
fn mark(found: &Found) -> String {
    let finding = &found.finding;
    match (finding.direction, &finding.change) {
        (Some(Direction::Loosens), _) => bad("▲ loosens ").to_string(),
        (Some(Direction::Tightens), _) => good("▼ tightens").to_string(),
        (Some(Direction::Changes), _) => doubtful("◆ changes ").to_string(),
        (None, _) if finding.breaking => bad("! breaking").to_string(),
        (None, Change::Added) => good("+").to_string(),
        (None, Change::Removed) => bad("-").to_string(),
        (None, _) => "~".into(),
    }
}

/// Returns what differs, in words: ``prompt `database`: priority``.
pub(crate) fn title(subject: &Subject, part: &str) -> String {
    let Subject { kind, name } = subject;
    let kind = match kind {
        Kind::Gate => "gate",
        Kind::Tool => "tool",
        Kind::Suppression => "allow-secret",
        Kind::Briefings => "briefings",
        Kind::Index => "index of prompts",
        Kind::Prompt => "prompt",
        Kind::Message => "message",
        Kind::Resource => "resource",
        Kind::Template => "template",
        Kind::Project => "project",
    };
    let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    let part = if part.is_empty() { String::new() } else { format!(": {part}") };
    format!("{kind}{name}{part}")
}

fn change(change: &Change, look: Look) -> String {
    match change {
        Change::Added => "    new\n".into(),
        Change::Removed => "    gone\n".into(),
        Change::Renamed { before } => format!("    renamed from `{}`\n", printable(before)),
        Change::Value { before, after } => value(before.as_deref(), after.as_deref(), look),
        Change::Text { hunks } => hunks.iter().map(passage).collect::<Vec<_>>().join(""),
        Change::Listed { lost, gained, causes } => {
            let mut text = String::new();
            for (verb, names) in [("no longer lists", lost), ("lists in addition", gained)] {
                if !names.is_empty() {
                    let line = format!("{verb} {}", names.join(", "));
                    text.push_str(&wrapped(&line, "    ", look.width));
                }
            }
            if !causes.is_empty() {
                let line = format!("follows from {}", causes.join(", "));
                text.push_str(&wrapped(&line, "    ", look.width));
            }
            text
        }
        Change::Briefings { always, budget, losing, gaining, examples, causes } => {
            let mut text = String::new();
            let mut line = |line: String| text.push_str(&wrapped(&line, "    ", look.width));
            let [before, after] = always.map(grouped);
            let [_, budget] = budget.map(grouped);
            line(if before == after {
                format!("always sent: {after} of {budget} bytes, as before")
            } else {
                format!("always sent: {before} → {after} of {budget} bytes")
            });
            if *losing > 0 {
                line(format!(
                    "{}: a prompt that came in full no longer does",
                    counted(*losing, "tag")
                ));
            }
            if *gaining > 0 {
                line(format!("{}: another prompt comes in full", counted(*gaining, "tag")));
            }
            for Lost { tag, lost, gained } in examples {
                let names = |mark: &str, names: &[String]| {
                    let name = |name: &String| format!(" {mark}{name}");
                    names.iter().map(name).collect::<String>()
                };
                line(format!("for `{tag}`:{}{}", names("-", lost), names("+", gained)));
            }
            if !causes.is_empty() {
                line(format!("follows from {}", causes.join(", ")));
            }
            text
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
    if !hunk.variants.is_empty() {
        let named: Vec<&str> =
            hunk.variants.iter().take(VARIANTS_MAX).map(String::as_str).collect();
        let more = match hunk.variants.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let alike = match hunk.alike.len() {
            0 => String::new(),
            alike => format!("; the same words with {alike} more"),
        };
        let with = printable(&format!("with {}{more}{alike}:", named.join("; ")));
        shown.push_str(&format!("    {}\n", dim(with)));
    }
    // Lines of context may be empty.
    for line in text.trim_matches('\n').split('\n') {
        shown.push_str(&format!("    {line}\n"));
    }
    shown
}
