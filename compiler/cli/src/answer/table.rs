//! Tables for people, and text that is safe to show to them.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A column: its heading, and whether numbers stand in it.
pub(crate) type Column = (&'static str, CellAlignment);

/// A column of text.
pub(crate) const fn text(heading: &'static str) -> Column {
    (heading, CellAlignment::Left)
}

/// A column of numbers.
pub(crate) const fn number(heading: &'static str) -> Column {
    (heading, CellAlignment::Right)
}

/// Returns a table without lines, at most `width` wide, indented by two.
pub(crate) fn draw(columns: &[Column], rows: Vec<Vec<String>>, width: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width.saturating_sub(2)).unwrap_or(u16::MAX));
    table.set_header(columns.iter().map(|(heading, _)| *heading));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)).collect::<Vec<_>>());
    }
    for ((_, alignment), column) in columns.iter().zip(table.column_iter_mut()) {
        column.set_cell_alignment(*alignment);
    }
    let mut text = String::new();
    for line in table.lines() {
        // The preset puts a space in front of each cell; it is half of the indent.
        text.push(' ');
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns facts a line each, their names in one column, at most `width` wide, indented by two.
pub(crate) fn facts(facts: &[(&str, String)], width: usize) -> String {
    let column = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let indent = " ".repeat(column + 4);
    let mut shown = String::new();
    for (name, fact) in facts {
        let lines = wrapped(fact, &indent, width);
        shown.push_str(&format!("  {name:column$}  {}", lines.trim_start_matches(' ')));
    }
    shown
}

/// Returns `text` in lines of at most `width` where its blanks allow that, with `indent` before and
/// a line end behind each.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let room = width.saturating_sub(indent.chars().count());
    let mut shown = String::new();
    let mut used = 0;
    for word in printable(text).split(' ') {
        let chars = word.chars().count();
        if used > 0 && used + 1 + chars <= room {
            shown.push(' ');
            used += 1;
        } else {
            shown.push_str(if used > 0 { "\n" } else { "" });
            shown.push_str(indent);
            used = 0;
        }
        shown.push_str(word);
        used += chars;
    }
    shown.push('\n');
    shown
}

/// Returns `text` with every character that would move the cursor, change colours or turn the
/// direction of writing made visible: a bundle may come from anybody.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (character.is_control() && !matches!(character, '\n' | '\t')) || turns {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Returns `text` with `indent` before every line and a line end behind it, no blanks at the end.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in printable(text).lines() {
        shown.push_str(if line.is_empty() { indent.trim_end() } else { indent });
        shown.push_str(line);
        shown.push('\n');
    }
    shown
}
