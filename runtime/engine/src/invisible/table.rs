//! The characters of invisible form.
//!
//! The table has every code point of Unicode's properties Default_Ignorable_Code_Point and
//! Bidi_Control, of the categories Cc (except tab and line feed), Cf, Zl and Zp, and every
//! noncharacter. Signs that enclose numbers (Prepended_Concatenation_Mark) are of category Cf, but
//! visible. A test compares it with the data of Unicode.

/// The kinds of invisible characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Marks that change the direction of writing.
    Bidi,
    /// Control characters: escape, backspace, null.
    Control,
    /// Letters of width zero, or blank ones.
    Filler,
    /// Marks that only some programs obey.
    Format,
    /// Joiners away from letters to join.
    Joiner,
    /// Ends of lines that many programs display as something else.
    LineSeparator,
    /// Code points that Unicode reserves as noncharacters.
    Noncharacter,
    /// Hyphens that most programs hide.
    SoftHyphen,
    /// An invisible copy of ASCII.
    Tag,
    /// Selectors of a form that the preceding character lacks.
    VariationSelector,
    /// Spaces and marks of width zero.
    ZeroWidth,
}

impl Kind {
    /// Every kind, sorted by name.
    pub const ALL: [Self; 11] = [
        Self::Bidi,
        Self::Control,
        Self::Filler,
        Self::Format,
        Self::Joiner,
        Self::LineSeparator,
        Self::Noncharacter,
        Self::SoftHyphen,
        Self::Tag,
        Self::VariationSelector,
        Self::ZeroWidth,
    ];

    /// Returns the name that projects and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bidi => "bidi",
            Self::Control => "control",
            Self::Filler => "filler",
            Self::Format => "format",
            Self::Joiner => "joiner",
            Self::LineSeparator => "line-separator",
            Self::Noncharacter => "noncharacter",
            Self::SoftHyphen => "soft-hyphen",
            Self::Tag => "tag",
            Self::VariationSelector => "variation-selector",
            Self::ZeroWidth => "zero-width",
        }
    }
}

/// Ranges of code points, sorted.
const ROWS: &[(u32, u32, Kind)] = &[
    (0x0000, 0x0008, Kind::Control),
    (0x000b, 0x001f, Kind::Control),
    (0x007f, 0x009f, Kind::Control),
    (0x00ad, 0x00ad, Kind::SoftHyphen),
    (0x034f, 0x034f, Kind::ZeroWidth),
    (0x061c, 0x061c, Kind::Bidi),
    (0x115f, 0x1160, Kind::Filler),
    (0x17b4, 0x17b5, Kind::Filler),
    (0x180b, 0x180d, Kind::VariationSelector),
    (0x180e, 0x180e, Kind::ZeroWidth),
    (0x180f, 0x180f, Kind::VariationSelector),
    (0x200b, 0x200b, Kind::ZeroWidth),
    (0x200c, 0x200d, Kind::Joiner),
    (0x200e, 0x200f, Kind::Bidi),
    (0x2028, 0x2029, Kind::LineSeparator),
    (0x202a, 0x202e, Kind::Bidi),
    (0x2060, 0x2064, Kind::ZeroWidth),
    (0x2065, 0x2065, Kind::Format),
    (0x2066, 0x2069, Kind::Bidi),
    (0x206a, 0x206f, Kind::Format),
    (0x3164, 0x3164, Kind::Filler),
    (0xfdd0, 0xfdef, Kind::Noncharacter),
    (0xfe00, 0xfe0f, Kind::VariationSelector),
    (0xfeff, 0xfeff, Kind::ZeroWidth),
    (0xffa0, 0xffa0, Kind::Filler),
    (0xfff0, 0xfffb, Kind::Format),
    (0xfffe, 0xffff, Kind::Noncharacter),
    (0x13430, 0x1343f, Kind::Format),
    (0x1bca0, 0x1bca3, Kind::Format),
    (0x1d173, 0x1d17a, Kind::Format),
    (0xe0000, 0xe0000, Kind::Format),
    (0xe0001, 0xe0001, Kind::Tag),
    (0xe0002, 0xe001f, Kind::Format),
    (0xe0020, 0xe007f, Kind::Tag),
    (0xe0080, 0xe00ff, Kind::Format),
    (0xe0100, 0xe01ef, Kind::VariationSelector),
    (0xe01f0, 0xe0fff, Kind::Format),
];

/// The names of the characters most often found in texts.
const NAMES: &[(char, &str)] = &[
    ('\0', "NULL"),
    ('\u{8}', "BACKSPACE"),
    ('\u{b}', "LINE TABULATION"),
    ('\u{c}', "FORM FEED"),
    ('\r', "CARRIAGE RETURN"),
    ('\u{1b}', "ESCAPE"),
    ('\u{7f}', "DELETE"),
    ('\u{85}', "NEXT LINE"),
    ('\u{ad}', "SOFT HYPHEN"),
    ('\u{34f}', "COMBINING GRAPHEME JOINER"),
    ('\u{61c}', "ARABIC LETTER MARK"),
    ('\u{115f}', "HANGUL CHOSEONG FILLER"),
    ('\u{1160}', "HANGUL JUNGSEONG FILLER"),
    ('\u{180e}', "MONGOLIAN VOWEL SEPARATOR"),
    ('\u{200b}', "ZERO WIDTH SPACE"),
    ('\u{200c}', "ZERO WIDTH NON-JOINER"),
    ('\u{200d}', "ZERO WIDTH JOINER"),
    ('\u{200e}', "LEFT-TO-RIGHT MARK"),
    ('\u{200f}', "RIGHT-TO-LEFT MARK"),
    ('\u{2028}', "LINE SEPARATOR"),
    ('\u{2029}', "PARAGRAPH SEPARATOR"),
    ('\u{202a}', "LEFT-TO-RIGHT EMBEDDING"),
    ('\u{202b}', "RIGHT-TO-LEFT EMBEDDING"),
    ('\u{202c}', "POP DIRECTIONAL FORMATTING"),
    ('\u{202d}', "LEFT-TO-RIGHT OVERRIDE"),
    ('\u{202e}', "RIGHT-TO-LEFT OVERRIDE"),
    ('\u{2060}', "WORD JOINER"),
    ('\u{2066}', "LEFT-TO-RIGHT ISOLATE"),
    ('\u{2067}', "RIGHT-TO-LEFT ISOLATE"),
    ('\u{2068}', "FIRST STRONG ISOLATE"),
    ('\u{2069}', "POP DIRECTIONAL ISOLATE"),
    ('\u{3164}', "HANGUL FILLER"),
    ('\u{fe0f}', "VARIATION SELECTOR-16"),
    ('\u{feff}', "ZERO WIDTH NO-BREAK SPACE"),
    ('\u{ffa0}', "HALFWIDTH HANGUL FILLER"),
    ('\u{e0001}', "LANGUAGE TAG"),
    ('\u{e0020}', "TAG SPACE"),
    ('\u{e007f}', "CANCEL TAG"),
];

/// Returns the kind of a character; `None` if it is visible, or a space, tab or line feed.
pub(super) fn kind(letter: char) -> Option<Kind> {
    let code = u32::from(letter);
    if code >= 0x1_fffe && code & 0xfffe == 0xfffe {
        return Some(Kind::Noncharacter);
    }
    let next = ROWS.partition_point(|(_, last, _)| *last < code);
    ROWS.get(next).filter(|(first, _, _)| *first <= code).map(|(_, _, kind)| *kind)
}

/// Returns the name of a well-known character.
pub(super) fn name(letter: char) -> Option<&'static str> {
    let index = NAMES.binary_search_by_key(&letter, |(known, _)| *known).ok()?;
    NAMES.get(index).map(|(_, name)| *name)
}
