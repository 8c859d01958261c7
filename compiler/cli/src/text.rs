//! Text for a terminal: escaped, and wrapped by display width.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Returns `text` with every character escaped that would move the cursor, change colours or change
/// the direction of writing: the author of a bundle may be hostile.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (character.is_control() && !matches!(character, '\n' | '\t')) || turns {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Returns `text` in lines of at most `width` columns, each with `indent` before and a line end
/// after it. Only a word that cannot be broken is wider.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let options = Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .word_separator(WordSeparator::UnicodeBreakProperties)
        // A name with a hyphen stays on one line, so that it can be copied.
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(&printable(text), options) + "\n"
}

/// Returns `text` with `indent` before and a line end after every line, without trailing blanks.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let lines: String = printable(text).lines().map(|line| format!("{line}\n")).collect();
    textwrap::indent(&lines, indent)
}

/// Returns `text` padded with blanks to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Returns how many columns the widest of `texts` has.
pub(crate) fn widest<'t>(texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().map(display_width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{indented, padded, wrapped};

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(wrapped("家を出る 🔥🔥 前に", "  ", 12), "  家を出る\n  🔥🔥 前に\n");
        // Text without blanks may break between two such letters.
        assert_eq!(wrapped("家を出る前に鍵を", "", 8), "家を出る\n前に鍵を\n");
        assert_eq!(padded("家", 4), "家  ");
        // A letter with its accents takes one.
        assert_eq!(wrapped("e\u{301}e\u{301} e\u{301}", "", 4), "e\u{301}e\u{301} e\u{301}\n");
    }

    #[test]
    fn names_are_not_broken() {
        assert_eq!(wrapped("a guest-wifi-for-visitors", "", 10), "a\nguest-wifi-for-visitors\n");
        assert_eq!(wrapped("", "  ", 10), "\n");
    }

    #[test]
    fn every_line_is_indented_and_none_ends_with_blanks() {
        assert_eq!(indented("a\n\n b", "  | "), "  | a\n  |\n  |  b\n");
        assert_eq!(indented("\u{1b}[2J", "> "), "> \\u{1b}[2J\n");
    }
}
