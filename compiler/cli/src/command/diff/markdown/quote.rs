//! An author's text in markdown: in a code span or a fence longer than any in it. So headings,
//! elements, links and mentions in it stay text.

use crate::text::{printable, printable_lines, shortened, without_commands};

/// Characters of a line in a fence.
const LINE_CHARS_MAX: usize = 1_000;

/// Returns a code span of at most `chars_max` characters of `text`. Pipes are escaped, since they
/// would end the cell of a table.
pub(crate) fn code(text: &str, chars_max: usize) -> String {
    let text = shortened(&printable(text), chars_max).replace('|', "\\u{7c}");
    let text = without_commands(&text);
    if text.trim().is_empty() {
        // A code span of blanks alone is invisible.
        return if text.is_empty() { "empty".into() } else { "blank".into() };
    }
    let mark = "`".repeat(longest_run(&text) + 1);
    // A parser takes one blank off each end.
    let blank = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{mark}{blank}{text}{blank}{mark}")
}

/// Returns a sentence of relay as it is, or in a code span if it may hold more than words: text in
/// its backticks is an author's.
pub(crate) fn sentence(text: &str, chars_max: usize) -> String {
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, ' ' | ',' | ';' | '-' | '(' | ')')
    };
    let is_safe = text.split(": ").flat_map(str::chars).all(is_plain);
    if is_safe && text.chars().count() <= chars_max {
        text.to_owned()
    } else {
        code(text, chars_max)
    }
}

/// Returns lines in a fence of the language `info`.
pub(crate) fn fence(info: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| without_commands(&shortened(&printable_lines(line), LINE_CHARS_MAX)))
        .collect();
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let mark = "`".repeat(longest.max(2) + 1);
    format!("{mark}{info}\n{}\n{mark}\n", lines.join("\n"))
}

/// Returns a name safe in a comment of HTML; different texts give different names.
pub(crate) fn in_comment(text: &str) -> String {
    let mut safe = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') {
            safe.push(char::from(byte));
        } else if byte == b'-' && !safe.ends_with('-') {
            safe.push('-');
        } else {
            safe.push_str(&format!("%{byte:02X}"));
        }
    }
    safe
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{code, fence, in_comment, sentence};

    #[test]
    fn nothing_in_a_text_ends_its_code() {
        assert_eq!(code("a", 9), "`a`");
        assert_eq!(code("a `b`", 9), "`` a `b` ``");
        assert_eq!(code("``", 9), "``` `` ```");
        assert_eq!(code("a|b\n\u{202e}", 20), "`a\\u{7c}b\\n\\u{202e}`");
        assert_eq!((code("", 9).as_str(), code(" \n", 9).as_str()), ("empty", "`  \\n `"));
        assert_eq!(code("0123456789", 5), "`01…89`");
        let lines = ["```", "  ````", "x"].map(str::to_owned);
        assert_eq!(fence("diff", &lines), "`````diff\n```\n  ````\nx\n`````\n");
    }

    #[test]
    fn a_sentence_with_more_than_words_is_code() {
        assert_eq!(sentence("it is required: calls fail", 99), "it is required: calls fail");
        for text in ["@team", "a `b`", "see #12", "<b>", "http://x", "*x*"] {
            assert!(sentence(text, 99).starts_with('`'), "{text}");
        }
    }

    #[test]
    fn a_name_in_a_comment_cannot_end_it() {
        assert_eq!(in_comment("my-team.v2"), "my-team.v2");
        assert_eq!(in_comment("a-->b"), "a-%2D%3Eb");
    }
}
