//! A command with carets under the words that raised its tier.

use relay_policy::classify::{Hit, Verdict};
use relay_policy::facts::Facts;
use relay_policy::span::Span;
use relay_policy::tier::Tier;
use textwrap::core::display_width;

use crate::output::{bad, bold, dim, doubtful, good};
use crate::text::printable;

/// The most drawn lines of a command; further lines are counted.
const LINES_MAX: usize = 12;

/// A line of a command, and its first byte in it.
struct Line<'t> {
    text: &'t str,
    start: usize,
}

/// Returns a verdict for people: the tier, and each line of the command that raised it.
pub(crate) fn drawn(text: &str, verdict: &Verdict, facts: &Facts<'_>, width: usize) -> String {
    let tier = verdict.tier;
    let name = format!("{} {}", tier.number(), tier.name());
    let name = match tier {
        Tier::ReadOnly => good(name).to_string(),
        Tier::Reversible => bold(name).to_string(),
        Tier::Stateful => doubtful(name).to_string(),
        Tier::Irreversible => bad(name).to_string(),
    };
    if verdict.hits.is_empty() {
        return format!("{name}  {}\n", excerpt(text, 0, 0, width.saturating_sub(16)).0);
    }
    let mut page = format!("{name}\n");
    let mut start = 0;
    let (mut lines, mut rest) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let here = |hit: &&Hit| {
            let at = hit.span.start as usize;
            at >= start && (at < end || (end == text.len() && at == end))
        };
        let mut hits: Vec<_> = verdict.hits.iter().filter(here).collect();
        hits.sort_by_key(|hit| (hit.span.start, std::cmp::Reverse(hit.span.end)));
        if !hits.is_empty() {
            if lines < LINES_MAX {
                let line = Line { text: line.trim_end_matches('\n'), start };
                draw_line(&line, &hits, facts, width, &mut page);
            } else {
                rest += hits.len();
            }
            lines += 1;
        }
        start = end;
    }
    let omitted = verdict.omitted + rest;
    if omitted > 0 {
        page.push_str(&format!("  and {omitted} more\n"));
    }
    page.push('\n');
    page
}

/// Returns the line of a text with carets under a part of it.
pub(crate) fn marked(text: &str, span: Span, width: usize) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    let before = text.get(..start).unwrap_or("");
    let first = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(first..).unwrap_or("").lines().next().unwrap_or("");
    let from = start.saturating_sub(first).min(line.len());
    let to = end.saturating_sub(first).clamp(from, line.len());
    let (shown, before, marked) = excerpt(line, from, to, width.saturating_sub(2));
    format!("  {shown}\n  {}{}\n", " ".repeat(before), bold("^".repeat(marked.max(1))))
}

fn draw_line(line: &Line<'_>, hits: &[&Hit], facts: &Facts<'_>, width: usize, drawn: &mut String) {
    let Line { text: line, start } = *line;
    let room = width.saturating_sub(2);
    let whole = display_width(&printable(line)) <= room;
    for (number, hit) in hits.iter().enumerate() {
        let from = (hit.span.start as usize).saturating_sub(start).min(line.len());
        let to = (hit.span.end as usize).saturating_sub(start).clamp(from, line.len());
        let (shown, before, marked) = excerpt(line, from, to, room);
        // A wide line is drawn again for each of its hits.
        if number == 0 || !whole {
            drawn.push_str(&format!("  {shown}\n"));
        }
        let sign = if hit.tier == Tier::Irreversible { "^" } else { "~" };
        let marks = sign.repeat(marked.max(1));
        let marks = match hit.tier {
            Tier::Irreversible => bad(marks).to_string(),
            _ => doubtful(marks).to_string(),
        };
        drawn.push_str(&format!(
            "  {}{marks} {} {}",
            " ".repeat(before),
            hit.tier.number(),
            hit.message(facts)
        ));
        if let Some(place) = hit.at(facts) {
            drawn.push_str(&format!("  {}", dim(format!("{}:{}", place.file, place.line))));
        }
        drawn.push('\n');
    }
}

/// Returns a line for display, cut to `room` columns around a part of it; the columns before the
/// part, and its own columns.
fn excerpt(line: &str, from: usize, to: usize, room: usize) -> (String, usize, usize) {
    let part = |from: usize, to: usize| printable(line.get(from..to).unwrap_or(""));
    let (before, marked, after) = (part(0, from), part(from, to), part(to, line.len()));
    let columns = (display_width(&before), display_width(&marked));
    if columns.0 + columns.1 + display_width(&after) <= room {
        return (format!("{before}{marked}{after}"), columns.0, columns.1);
    }
    let side = room.saturating_sub(columns.1.min(room / 2) + 2) / 2;
    let before = last_columns(&before, side);
    let marked = first_columns(&marked, room / 2);
    let after = first_columns(
        &after,
        room.saturating_sub(display_width(&before) + display_width(&marked) + 1),
    );
    let columns = (display_width(&before), display_width(&marked));
    (format!("{before}{marked}{after}"), columns.0, columns.1)
}

fn first_columns(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        if display_width(&shown) + 2 > columns {
            break;
        }
        shown.push(character);
    }
    shown.push('…');
    shown
}

fn last_columns(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut characters = Vec::new();
    let mut width = 1;
    for character in text.chars().rev() {
        width += display_width(character.encode_utf8(&mut [0; 4]));
        if width > columns {
            break;
        }
        characters.push(character);
    }
    characters.push('…');
    characters.into_iter().rev().collect()
}
