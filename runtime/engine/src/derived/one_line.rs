//! A text as one line.

/// Returns a text as one line of at most so many characters; `…` ends one that was cut.
#[must_use]
pub fn line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // There are no more characters than bytes.
    if line.len() <= chars_max || line.chars().count() <= chars_max {
        return line;
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
