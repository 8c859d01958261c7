//! A change of a text as the hunks of a unified diff.

use std::ops::Range;

use relay_diff::{DiffOp, edit_groups, lines};

/// Equal lines around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the hunks between two texts; empty if they are equal. `shown` are texts with as many lines
/// that are printed in their place.
pub(crate) fn hunks(old: &str, new: &str, shown: [&str; 2]) -> String {
    let [old_shown, new_shown] = shown.map(lines);
    let mut text = String::new();
    for group in edit_groups(&lines(old), &lines(new), CONTEXT_LINES) {
        text.push_str(&header(&group));
        for operation in group {
            let (old, new) = (operation.old_range(), operation.new_range());
            if let DiffOp::Equal { .. } = operation {
                push(&mut text, ' ', &new_shown, new);
            } else {
                push(&mut text, '-', &old_shown, old);
                push(&mut text, '+', &new_shown, new);
            }
        }
    }
    text
}

fn push(text: &mut String, mark: char, lines: &[&str], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Returns the line that says where a hunk is in both texts.
fn header(group: &[DiffOp]) -> String {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return String::new() };
    let old = place(first.old_range().start..last.old_range().end);
    let new = place(first.new_range().start..last.new_range().end);
    format!("@@ -{old} +{new} @@\n")
}

/// Returns the place of lines. An empty one is named by the line before it.
fn place(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::hunks;

    #[test]
    fn hunks_have_places_context_and_the_missing_last_newline() {
        let of = |old: &str, new: &str| hunks(old, new, [old, new]);
        assert_eq!(of("a\n", "a\n"), "");
        assert_eq!(of("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(of("a\n", "b"), "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n");
        assert_eq!(
            of("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn shown_texts_are_printed_in_place_of_equal_ones() {
        let shown = ["key «masked»\n", "key «masked»\n"];
        assert_eq!(hunks("key 1\n", "key 2\n", shown), format!("@@ -1 +1 @@\n-{0}+{0}", shown[0]));
    }
}
