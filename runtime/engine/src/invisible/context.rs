//! The neighbours that make an invisible character necessary.

/// Symbols that may be an emoji, by block: those of Unicode's property Emoji and their neighbours,
/// which are all visible.
const SYMBOLS: &[(char, char)] = &[
    ('\u{a9}', '\u{a9}'),
    ('\u{ae}', '\u{ae}'),
    ('\u{203c}', '\u{203c}'),
    ('\u{2049}', '\u{2049}'),
    ('\u{2122}', '\u{2122}'),
    ('\u{2139}', '\u{2139}'),
    ('\u{2190}', '\u{23ff}'),
    ('\u{24c2}', '\u{24c2}'),
    ('\u{25a0}', '\u{27bf}'),
    ('\u{2900}', '\u{297f}'),
    ('\u{2b00}', '\u{2bff}'),
    ('\u{3030}', '\u{3030}'),
    ('\u{303d}', '\u{303d}'),
    ('\u{3297}', '\u{3297}'),
    ('\u{3299}', '\u{3299}'),
    ('\u{1f000}', '\u{1faff}'),
];

/// The blocks of the scripts whose letters change their form next to a joiner: Arabic, Syriac,
/// N'Ko, Mandaic, the scripts of India and Sri Lanka, Tibetan, Myanmar, Khmer, Mongolian, Balinese,
/// Javanese, Hanifi Rohingya, Adlam.
const JOINING: &[(char, char)] = &[
    ('\u{600}', '\u{7ff}'),
    ('\u{840}', '\u{dff}'),
    ('\u{f00}', '\u{109f}'),
    ('\u{1780}', '\u{18af}'),
    ('\u{1b00}', '\u{1b7f}'),
    ('\u{a8e0}', '\u{a8ff}'),
    ('\u{a980}', '\u{a9ff}'),
    ('\u{fb50}', '\u{fdcf}'),
    ('\u{fdf0}', '\u{fdff}'),
    ('\u{fe70}', '\u{fefc}'),
    ('\u{10d00}', '\u{10d3f}'),
    ('\u{11000}', '\u{11fff}'),
    ('\u{1e900}', '\u{1e95f}'),
];

/// The blocks of scripts that write words together, in which a zero width space allows a line
/// break: Thai, Lao, Tibetan, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Javanese, Tai Viet.
const UNSPACED: &[(char, char)] = &[
    ('\u{e00}', '\u{109f}'),
    ('\u{1780}', '\u{17ff}'),
    ('\u{1950}', '\u{1aaf}'),
    ('\u{a980}', '\u{a9ff}'),
    ('\u{aa60}', '\u{aadf}'),
];

/// The letters of Mongolian, whose forms depend on its selectors.
const MONGOLIAN: &[(char, char)] = &[('\u{1820}', '\u{18aa}')];

/// The character before another.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    /// The character; `None` at the beginning of a text.
    letter: Option<char>,
    /// Whether it is visible.
    is_visible: bool,
    /// Whether it is, or selects the form of, a symbol that may be an emoji.
    ends_emoji: bool,
}

impl Before {
    /// Returns a visible character.
    pub(super) fn of(letter: char) -> Self {
        let ends_emoji = !letter.is_ascii() && is_in(SYMBOLS, letter);
        Self { letter: Some(letter), is_visible: true, ends_emoji }
    }

    /// Returns an invisible character after this one.
    pub(super) fn then(self, letter: char, is_needed: bool) -> Self {
        let selects = is_needed && matches!(letter, '\u{fe0e}' | '\u{fe0f}');
        let ends_emoji = self.ends_emoji && selects;
        Self { letter: Some(letter), is_visible: false, ends_emoji }
    }
}

/// Returns whether a character of the table has neighbours that require it. Only the first of
/// several invisible characters is ever required, so a chain of them, which could spell a text, is
/// found.
pub(super) fn is_needed(letter: char, before: &Before, after: Option<char>) -> bool {
    let follows = |ranges| before.is_visible && before.letter.is_some_and(|it| is_in(ranges, it));
    let precedes = |ranges| after.is_some_and(|after| is_in(ranges, after));
    match letter {
        '\r' => after == Some('\n'),
        '\u{200b}' => follows(UNSPACED),
        '\u{200c}' => joins(before, after),
        '\u{200d}' => joins(before, after) || (before.ends_emoji && precedes(SYMBOLS)),
        '\u{180b}'..='\u{180f}' => follows(MONGOLIAN),
        '\u{fe0e}' => follows(SYMBOLS),
        '\u{fe0f}' => follows(SYMBOLS) || is_keycap(before, after),
        _ => false,
    }
}

/// Returns whether a joiner is next to a letter that it changes: a suffix may follow a foreign
/// word, and a letter may appear alone.
fn joins(before: &Before, after: Option<char>) -> bool {
    let visible = before.letter.is_none() || before.is_visible;
    let neighbours = [before.letter, after].into_iter().flatten();
    visible && neighbours.into_iter().any(|letter| is_in(JOINING, letter) && !is_steering(letter))
}

/// Returns whether a character is invisible; the blocks of these scripts hold such characters too.
fn is_steering(letter: char) -> bool {
    super::table::kind(letter).is_some()
}

/// Returns whether a selector belongs to a digit in a keycap.
fn is_keycap(before: &Before, after: Option<char>) -> bool {
    let is_key = |letter: char| matches!(letter, '0'..='9' | '#' | '*');
    before.is_visible && before.letter.is_some_and(is_key) && after == Some('\u{20e3}')
}

fn is_in(ranges: &[(char, char)], letter: char) -> bool {
    let next = ranges.partition_point(|(_, last)| *last < letter);
    ranges.get(next).is_some_and(|(first, _)| *first <= letter)
}
