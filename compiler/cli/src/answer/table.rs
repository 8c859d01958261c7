//! Tables for human output.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::text::{padded, printable, widest, wrapped};

/// A column: its heading and alignment.
pub(crate) type Column = (&'static str, CellAlignment);

/// A column of text.
pub(crate) const fn text(heading: &'static str) -> Column {
    (heading, CellAlignment::Left)
}

/// A column of numbers.
pub(crate) const fn number(heading: &'static str) -> Column {
    (heading, CellAlignment::Right)
}

/// Returns a borderless table, at most `width` wide, indented by two.
pub(crate) fn draw(columns: &[Column], rows: Vec<Vec<String>>, width: usize) -> String {
    let (headings, alignments): (Vec<&str>, Vec<CellAlignment>) = columns.iter().copied().unzip();
    drawn(&headings, &alignments, rows, width)
}

fn drawn(
    headings: &[&str],
    alignments: &[CellAlignment],
    rows: Vec<Vec<String>>,
    width: usize,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width.saturating_sub(2)).unwrap_or(u16::MAX));
    table.set_header(headings.iter().map(|heading| printable(heading)));
    for row in rows {
        table.add_row(row.iter().map(|cell| printable(cell)).collect::<Vec<_>>());
    }
    for (alignment, column) in alignments.iter().zip(table.column_iter_mut()) {
        column.set_cell_alignment(*alignment);
    }
    let mut text = String::new();
    for line in table.lines() {
        // The preset puts a space before each cell; it is half of the indent.
        text.push(' ');
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns the same for columns of text whose headings depend on the subject.
pub(crate) fn draw_headed(headings: &[&str], rows: Vec<Vec<String>>, width: usize) -> String {
    let columns = vec![CellAlignment::Left; headings.len()];
    drawn(headings, &columns, rows, width)
}

/// Returns one line for each fact, names in one column, at most `width` wide, indented by two.
pub(crate) fn facts(facts: &[(&str, String)], width: usize) -> String {
    let column = widest(facts.iter().map(|(name, _)| *name));
    let indent = " ".repeat(column + 4);
    let mut text = String::new();
    for (name, fact) in facts {
        let lines = wrapped(fact, &indent, width);
        text.push_str(&format!("  {}  {}", padded(name, column), lines.trim_start_matches(' ')));
    }
    text
}
