//! Text for a terminal: escaped, and wrapped by display width.

use std::path::Path;

use relay_engine::invisible;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// Returns `text` in one line with line ends, tabs and every invisible character escaped. The
/// author of a bundle may be hostile, and so may the names of files and callers.
pub(crate) fn printable(text: &str) -> String {
    printable_lines(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Returns `text` as [`printable`], with its lines and tabs. Callers mark or indent each line, so
/// that they stay apart from relay's own.
pub(crate) fn printable_lines(text: &str) -> String {
    // A terminal obeys the `\r` of a Windows line end too.
    invisible::visible(text).replace('\r', "\\u{d}")
}

/// Returns a path as [`printable`]: names of files may come from a stranger's branch. All paths are
/// printed through this, instead of their own `display`.
pub(crate) fn shown_path(path: impl AsRef<Path>) -> String {
    printable(&path.as_ref().to_string_lossy())
}

/// Returns `text` with commands for GitHub Actions disabled in the output of a step: a line that
/// begins with `::NAME::`, and `##[` anywhere.
pub(crate) fn without_commands(text: &str) -> String {
    if !text.contains("::") && !text.contains("##[") {
        return text.to_owned();
    }
    let mut safe = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.split_at_checked(visible_start(line));
        match start.and_then(|(before, rest)| Some((before, rest.strip_prefix("::")?))) {
            Some((before, rest)) if rest.contains("::") => {
                safe.extend([before, "\\u{3a}:", rest]);
            }
            _ => safe.push_str(line),
        }
    }
    safe.replace("##[", "#\\u{23}[")
}

/// Returns `text`, or its beginning and end if it has more than `chars_max` characters.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    let chars = text.chars().count();
    if chars <= chars_max {
        return text.to_owned();
    }
    let half = chars_max.saturating_sub(1) / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(chars - half).collect();
    format!("{start}…{end}")
}

/// Returns a whole page for people: as [`printable_lines`] and [`without_commands`], except for the
/// styles of `relay` itself, which stay.
///
/// Everything that `relay` prints for people passes here, so an escape sequence in a name or a
/// message can only colour a word.
pub(crate) fn page(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut pieces = text.split('\u{1b}');
    safe.push_str(&printable_lines(pieces.next().unwrap_or_default()));
    for piece in pieces {
        match style_length(piece) {
            Some(length) => {
                let (style, rest) = piece.split_at(length);
                safe.push('\u{1b}');
                safe.push_str(style);
                safe.push_str(&printable_lines(rest));
            }
            None => {
                safe.push_str("\\u{1b}");
                safe.push_str(&printable_lines(piece));
            }
        }
    }
    without_commands(&safe)
}

/// Returns the length of the white space and styles at the start of `line`.
fn visible_start(line: &str) -> usize {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start();
        let style = trimmed.strip_prefix('\u{1b}');
        let after = style.and_then(|style| style.get(style_length(style)?..));
        match after {
            Some(after) => rest = after,
            None => return line.len() - trimmed.len(),
        }
    }
}

/// Returns the length of the style at the start of `piece`, the text after an escape character.
fn style_length(piece: &str) -> Option<usize> {
    let end = piece.strip_prefix('[')?.find(|c: char| !c.is_ascii_digit() && c != ';')? + 1;
    let numbers = piece.get(1..end)?;
    // Reset, bold, dim, italic, underlined, their ends, and colours of the foreground but black.
    let known = |number: &str| {
        matches!(number, "" | "0" | "1" | "2" | "3" | "4" | "22" | "23" | "24" | "39")
            || matches!(number.parse(), Ok(31..=37 | 91..=97_u8))
    };
    let is_style = piece.get(end..)?.starts_with('m') && numbers.split(';').all(known);
    is_style.then_some(end + 1)
}

/// Returns `text` in lines of at most `width` columns, each between `indent` and a line end. Only
/// an unbreakable word is wider.
pub(crate) fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let options = Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .word_separator(WordSeparator::UnicodeBreakProperties)
        // A name with a hyphen stays on one line, so that it can be copied.
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::fill(&printable_lines(text), options) + "\n"
}

/// Returns `text` with `indent` before and a line end after every line; trailing blanks are
/// dropped.
pub(crate) fn indented(text: &str, indent: &str) -> String {
    let lines: String = printable_lines(text).lines().map(|line| format!("{line}\n")).collect();
    textwrap::indent(&lines, indent)
}

/// Returns `text` padded with blanks to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Returns the columns of the widest of `texts`.
pub(crate) fn widest<'t>(texts: impl IntoIterator<Item = &'t str>) -> usize {
    texts.into_iter().map(display_width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{indented, padded, page, without_commands, wrapped};

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(wrapped("家を出る 🔥🔥 前に", "  ", 12), "  家を出る\n  🔥🔥 前に\n");
        // Text without blanks may break between two such letters.
        assert_eq!(wrapped("家を出る前に鍵を", "", 8), "家を出る\n前に鍵を\n");
        assert_eq!(padded("家", 4), "家  ");
        // A letter takes one column with its accents.
        assert_eq!(wrapped("e\u{301}e\u{301} e\u{301}", "", 4), "e\u{301}e\u{301} e\u{301}\n");
    }

    #[test]
    fn only_our_own_styles_stay() {
        let ours = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m \u{1b}[38;5;1mx";
        assert_eq!(page(ours), "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m \\u{1b}[38;5;1mx");
        for theirs in [
            "\u{1b}[2J",
            "\u{1b}]0;title\u{7}",
            "\u{1b}[8mhidden",
            "\u{1b}",
            "\u{1b}[31",
            "\u{9b}2J",
        ] {
            assert!(!page(theirs).contains(['\u{1b}', '\u{9b}', '\u{7}']), "{theirs:?}");
        }
        assert_eq!(page("a\rb\tc\n\u{202e}\r\n"), "a\\u{d}b\tc\n\\u{202e}\\u{d}\n");
        assert_eq!(page("a\u{2028}b\u{61c}"), "a\\u{2028}b\\u{61c}");
    }

    #[test]
    fn no_line_is_a_command_of_a_ci() {
        assert_eq!(without_commands("a ::b\n::c::d\n"), "a ::b\n\\u{3a}:c::d\n");
        assert_eq!(without_commands("::: note\n"), "::: note\n");
        assert_eq!(
            without_commands(" \u{1b}[1m\u{1b}[0m ::error::"),
            " \u{1b}[1m\u{1b}[0m \\u{3a}:error::"
        );
        assert_eq!(without_commands("a ##[b]"), "a #\\u{23}[b]");
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
