//! A text as one line.

/// Returns a text as one line of at most `chars_max` characters; `…` ends a truncated one.
#[must_use]
pub fn line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // The number of characters is at most the number of bytes.
    if line.len() <= chars_max || line.chars().count() <= chars_max {
        return line;
    }
    let mut cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
