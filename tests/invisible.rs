//! Characters that only models see: which they are, that a project with one in a text is refused,
//! and that the texts of real languages and emoji pass.

use std::collections::BTreeMap;

use icu_properties::props::{
    BidiControl, DefaultIgnorableCodePoint, Emoji, ExtendedPictographic, GeneralCategory,
    NoncharacterCodePoint, PrependedConcatenationMark, RegionalIndicator, VariationSelector,
};
use icu_properties::{CodePointMapData, CodePointSetData};
use relay_compiler::{Compiled, Options, check};
use relay_engine::invisible::{self, Kind};

use crate::support::{self, Memory};

/// Texts that need joiners, selectors or tags, and texts of scripts that are written from right to left.
const REAL: &[&str] = &[
    // Emoji: families, professions with skin tones, hearts, flags, keycaps, both presentations.
    "👨‍👩‍👧‍👦 👩🏽‍⚕️ 🧑🏿‍🤝‍🧑🏻 ❤️‍🔥 👁️‍🗨️ 🐻‍❄️ 🏃🏾‍♀️‍➡️ ⛓️‍💥",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🏳️‍🌈 🏴‍☠️ 🇩🇪 1️⃣ #️⃣ *️⃣ ☺︎ ☺️ ™️ ↔️ →️ ㊗️",
    // Persian: half spaces, after a foreign word and after a closing mark too.
    "می‌خواهم کتاب‌ها را در خانه‌ای بخوانم. فایل‌های API‌ها و «نامه»‌ها.",
    // Arabic, with a letter in its initial form, and Hebrew with points.
    "السلام عليكم ورحمة الله، سنة ١٤٤٥ ه‍",
    "שָׁלוֹם עֲלֵיכֶם, קובץ README.md",
    // Hindi, Marathi, Bengali, Malayalam, Sinhala, Kannada, Tamil, Telugu.
    "क्‍ष र्‍य हिन्दी में क्‌ष",
    "র‍্যাব ৎ",
    "അവന്‍ ന്‍റെ",
    "ශ්‍රී ලංකාව",
    "ರ‍್ಯ",
    "க்‌ஷ",
    "క్‌ష",
    // Khmer and Thai with places where a line may break, Burmese, Mongolian with its selectors.
    "ភាសា\u{200b}ខ្មែរ",
    "ภาษา\u{200b}ไทย",
    "မြန်မာ",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠌ ᠬᠠᠨ᠎ᠠ",
    // Signs that enclose numbers, Korean, Japanese, accents, a byte beyond ASCII.
    "\u{600}١٢٣ ۝",
    "한국어 텍스트",
    "日本語の文章　全角",
    "e\u{301} Ångström ﬁ ½ € 😀",
];

/// Characters that hide in a text, of each kind; some are beside letters and emoji that need such characters elsewhere.
const HIDDEN: &[(&str, Kind)] = &[
    ("a\u{202e}b", Kind::Bidi),
    ("a\u{2066}b", Kind::Bidi),
    ("שלום\u{200f}", Kind::Bidi),
    ("\u{61c}ا", Kind::Bidi),
    ("a\u{1b}[31mb", Kind::Control),
    ("a\u{0}b", Kind::Control),
    ("a\u{85}b", Kind::Control),
    ("a\u{3164}b", Kind::Filler),
    ("한\u{1160}", Kind::Filler),
    ("a\u{fffa}b", Kind::Format),
    ("a\u{1d173}b", Kind::Format),
    ("a\u{200d}b", Kind::Joiner),
    ("a\u{200c}b", Kind::Joiner),
    ("می\u{200c}\u{200c}خواهم", Kind::Joiner),
    ("👩\u{200d}a", Kind::Joiner),
    ("a\u{200d}👩", Kind::Joiner),
    ("a\u{2028}b", Kind::LineSeparator),
    ("a\u{fdd0}b", Kind::Noncharacter),
    ("a\u{ad}b", Kind::SoftHyphen),
    ("a\u{e0069}\u{e0067}b", Kind::Tag),
    ("🏴\u{e0069}\u{e0067}\u{e007f}", Kind::Tag),
    ("🏴󠁧󠁢󠁥󠁮󠁧󠁿\u{e0069}", Kind::Tag),
    ("a\u{fe0f}b", Kind::VariationSelector),
    ("1\u{fe0f}2", Kind::VariationSelector),
    ("😀\u{e0101}\u{e0102}", Kind::VariationSelector),
    ("😀\u{fe0f}\u{fe0f}", Kind::VariationSelector),
    ("漢\u{e0100}", Kind::VariationSelector),
    ("a\u{200b}b", Kind::ZeroWidth),
    ("a\u{2060}b", Kind::ZeroWidth),
    ("a\u{feff}b", Kind::ZeroWidth),
];

/// A project with a mark in a text of each kind; the mark `@N` of the files is a text of its own.
const FILES: &[(&str, &str)] = &[
    (
        "project.kdl",
        r#"project demo version="@1" epoch=1 { title "@2"; owner "@3" }
tenants { tenant acme }
roles { role reader tier=0 { tools "server_info" "@4*" } }
users { user "@5" tenant=acme role=reader; group "@6" tenant=acme role=reader; anyone role=reader }
tools { diagnostics; other "@7" }
messages { session-greeting "Hello @8"; read-prompts-reminder file="reminder.txt" }
gate on
policy {
    floors { opaque-code 1 because="@9" }
    paths { critical "/srv/@10/**" }
}
facts { program our-deploy tier=2 says="@11" because="@12" { operand text } }
prompts {
    prompt a {
        title "@13"; description "@14"; summary "@15"; chapters "@16"
        text "@17"
    }
    prompt b template=#true {
        arg kind description="@18" default="@19" { one-of "@19" other }
        arg note description="@20"
        text "{{ kind }} {% if note %}{{ note }}@21{% endif %}"
    }
    prompt c file="c.md"
    prompt d file="d.md.j2"
    prompt e {
        message role=user { text "@22"; file "e.md" }
        message role=assistant { resource "relay://demo/own" mime="text/plain" { text "@23" } }
    }
    prompt g { text "\u{41}"; allow-secret npm-token because="@24" }
    folder folder
    commands commands
}
resources {
    resource "relay://demo/a" name="@25" { title "@26"; description "@27"; text "@28" }
    resource "relay://demo/b" file="resource.txt"
    resource "relay://demo/{room}" template=#true name="@29" {
        title "@30"; description "@31"
        arg room description="@32" { one-of hall }
        text "{{ room }} @33"
    }
}
skills {
    global { skill s "@34" { title "@35"; meta kind="@36" } }
    tool "server_info" { skill t file="skill.md" }
}
expect selection role=reader { tags "@37"; tags "@15"; full a }
when "@38" { prompts { prompt a { text "@39" } } }
"#,
    ),
    ("c.md", "@40"),
    ("d.md.j2", "{% include \"part.j2\" %} {{ \"@41\" }}"),
    ("part.j2", "@42"),
    ("e.md", "@43"),
    (
        "folder/f.md",
        "---\ntitle: \"@44\"\ndescription: \"@45\"\nsummary: \"@46\"\nchapters: [\"@47\"]\n---\n@48",
    ),
    (
        "commands/h.md",
        "---\ndescription: \"@49\"\nargument-hint: \"@50\"\nkind: \"@51\"\n---\n@52 $ARGUMENTS",
    ),
    ("resource.txt", "@53"),
    ("skill.md", "@54"),
    ("reminder.txt", "More @55 {{remaining_prompts}}"),
];

/// The number of texts of [`FILES`].
const PLACES: usize = 55;

/// Returns [`FILES`] with a text at each mark, as `text` says.
pub(crate) fn files(text: impl Fn(usize) -> String) -> Vec<(&'static str, String)> {
    let written = |file: &str, template: &str| {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('@') {
            let digits = after.chars().take_while(char::is_ascii_digit).count();
            let (number, after) = after.split_at(digits);
            out.push_str(before);
            out.push_str(&escaped(file, &text(number.parse().expect("a number"))));
            rest = after;
        }
        out + rest
    };
    FILES.iter().map(|(path, text)| (*path, written(path, text))).collect()
}

/// Compiles [`files`] for every environment.
fn compiled(text: impl Fn(usize) -> String) -> (Compiled, String) {
    let files = files(text);
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let memory = Memory::of(&files);
    let sources = support::sources(&memory, "project.kdl");
    let compiled = check(&sources, &Options::default());
    let report = relay_cli::findings(&sources, &compiled.diagnostics);
    (compiled, report)
}

/// Writes a text for a file: some characters need an escape in KDL and YAML.
fn escaped(file: &str, text: &str) -> String {
    let is_data = file.ends_with(".kdl");
    let escape = |letter: char| match letter {
        letter if is_data && !letter.is_ascii_graphic() && letter != ' ' => {
            format!("\\u{{{:x}}}", u32::from(letter))
        }
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}

fn codes(compiled: &Compiled) -> BTreeMap<String, usize> {
    let mut codes = BTreeMap::new();
    for report in compiled.diagnostics.sorted() {
        if report.is_error() {
            *codes.entry(report.code()).or_default() += 1;
        }
    }
    codes
}

#[test]
fn the_table_is_that_of_unicode() {
    let set = |set: icu_properties::CodePointSetDataBorrowed<'static>| {
        move |letter: char| set.contains(letter)
    };
    let ignorable = set(CodePointSetData::new::<DefaultIgnorableCodePoint>());
    let bidi = set(CodePointSetData::new::<BidiControl>());
    let none = set(CodePointSetData::new::<NoncharacterCodePoint>());
    let encloses = set(CodePointSetData::new::<PrependedConcatenationMark>());
    let category = CodePointMapData::<GeneralCategory>::new();
    for letter in ('\0'..=char::MAX).filter(|letter| !matches!(letter, '\n' | '\t')) {
        let is_steering = match category.get(letter) {
            GeneralCategory::Control
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator => true,
            GeneralCategory::Format => !encloses(letter),
            _ => ignorable(letter) || bidi(letter) || none(letter),
        };
        let found = invisible::search(&format!("a{letter}b"));
        assert_eq!(found.len(), usize::from(is_steering), "U+{:04X}", u32::from(letter));
        assert_eq!(
            invisible::visible(&format!("a{letter}b")).contains(letter),
            !is_steering,
            "U+{:04X}",
            u32::from(letter)
        );
        let is_kind = |kind: Kind| found.iter().all(|found| found.kind == kind);
        assert!(!bidi(letter) || is_kind(Kind::Bidi));
        assert!(!none(letter) || is_kind(Kind::Noncharacter));
    }
    let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert!(names.is_sorted());
}

/// Every emoji may have a selector, and be joined to each other one, unlike letters.
#[test]
fn what_an_emoji_needs_is_that_of_unicode() {
    let emoji = CodePointSetData::new::<Emoji>();
    let pictures = CodePointSetData::new::<ExtendedPictographic>();
    let regions = CodePointSetData::new::<RegionalIndicator>();
    let selectors = CodePointSetData::new::<VariationSelector>();
    let category = CodePointMapData::<GeneralCategory>::new();
    for letter in '\u{80}'..=char::MAX {
        let is_emoji = (emoji.contains(letter) || pictures.contains(letter))
            && !regions.contains(letter)
            && letter < '\u{1fc00}';
        let passes = |text: String| invisible::search(&text).is_empty();
        let selected = passes(format!("{letter}\u{fe0f}"));
        let joined = passes(format!("{letter}\u{200d}😀"));
        assert!(!is_emoji || (selected && joined), "U+{:04X}", u32::from(letter));
        // All letters and selectors lack the selector of an emoji.
        let is_letter = char::is_alphabetic(letter) && !emoji.contains(letter);
        let is_circled = category.get(letter) == GeneralCategory::OtherSymbol;
        assert!(!selected || !is_letter || is_circled, "U+{:04X}", u32::from(letter));
        assert!(!selected || !selectors.contains(letter));
    }
}

#[test]
fn texts_of_real_languages_and_emoji_pass() {
    for text in REAL {
        assert_eq!(invisible::search(text), [], "{text}");
        assert_eq!(invisible::visible(text), *text);
    }
    // The places whose texts are names, patterns and titles take most of them, too.
    let free = [14, 15, 17, 18, 20, 21, 22, 23, 27, 28, 31, 32, 33, 34, 40, 43, 48, 52, 53, 54, 55];
    for text in REAL {
        let (compiled, report) = compiled(|place| match free.contains(&place) {
            true => format!("x{place} {text}"),
            false => format!("x{place}"),
        });
        assert_eq!(codes(&compiled), BTreeMap::new(), "{text}: {report}");
    }
}

#[test]
fn each_kind_is_found_in_each_text() {
    let one_of_each = HIDDEN.chunk_by(|(_, one), (_, other)| one == other);
    let one_of_each: Vec<_> = one_of_each.filter_map(|each| each.last()).collect();
    assert_eq!(one_of_each.len(), Kind::ALL.len());
    let mut stricter = Vec::new();
    for place in 1..=PLACES {
        // YAML rejects control characters.
        let takes = |kind: Kind| !(44..=51).contains(&place) || kind != Kind::Control;
        let hidden = one_of_each.iter().filter(|(_, kind)| takes(*kind));
        let hidden: String = hidden.map(|(text, _)| *text).collect();
        let (compiled, report) = compiled(|other| match other == place {
            true => format!("x{other}{hidden}"),
            false => format!("x{other}"),
        });
        let codes = codes(&compiled);
        assert!(!codes.is_empty(), "{place} passes\n{report}");
        if !codes.contains_key("invisible::text") {
            stricter.push((place, codes));
            continue;
        }
        for kind in Kind::ALL.into_iter().filter(|kind| takes(*kind)) {
            assert!(report.contains(&format!("({})", kind.name())), "{place}: {kind:?}\n{report}");
        }
    }
    // Names, patterns and titles have rules of their own, which are stricter.
    assert!(stricter.len() < 20, "{stricter:?}");
}

/// A search skips letters of ASCII eight at a time: the findings are the same wherever they lie, also beside emoji
/// and letters that need an invisible character.
#[test]
fn letters_around_a_text_move_its_findings() {
    let texts = REAL.iter().copied().chain(HIDDEN.iter().map(|(text, _)| *text));
    let texts: Vec<&str> =
        texts.chain(["\u{fe0f}", "\u{200d}b", "1\u{fe0f}\u{20e3}", "\r", ""]).collect();
    for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other))) {
        let found = |before: usize, between: usize| {
            let [before, between] = [before, between].map(|count| "a".repeat(count));
            let text = format!("{before}{one}{between}{other}aaaaaaaa");
            let end = before.len() + one.len();
            let moved = |at: usize| {
                if at < end { at - before.len() } else { at - before.len() - between.len() }
            };
            let found = invisible::search(&text).into_iter();
            found.map(|it| (it.kind, moved(it.range.start), it.range.len())).collect::<Vec<_>>()
        };
        let expected = found(1, 1);
        for (before, between) in [(2, 1), (8, 1), (1, 7), (1, 8), (1, 9), (15, 16), (7, 24)] {
            assert_eq!(found(before, between), expected, "{before} {one:?} {between} {other:?}");
        }
    }
}

#[test]
fn what_hides_is_found_and_named() {
    for (text, kind) in HIDDEN {
        let found = invisible::search(text);
        assert!(found.iter().any(|found| found.kind == *kind), "{text:?}: {found:?}");
        assert!(invisible::search(&invisible::visible(text)).is_empty(), "{text:?}");
    }
    let named = |letter| invisible::named(letter).to_string();
    assert_eq!(named('\u{e0041}'), "U+E0041 TAG LATIN CAPITAL LETTER A");
    assert_eq!(named('\u{e0061}'), "U+E0061 TAG LATIN SMALL LETTER A");
    assert_eq!(named('\u{e0021}'), "U+E0021 TAG !");
    assert_eq!(named('\u{200b}'), "U+200B ZERO WIDTH SPACE");
    assert_eq!(named('\u{2065}'), "U+2065");
    assert_eq!(invisible::spelled("\u{e0068}\u{e0069}\u{e0020}"), Some("hi ".into()));
    assert_eq!(invisible::spelled("\u{e0068}a"), None);
    assert_eq!(invisible::visible("a\u{200b}b"), "a\\u{200b}b");
    assert_eq!(invisible::visible("a\r\nb"), "a\r\nb");
    assert_eq!(invisible::visible("a\rb"), "a\\u{d}b");
}
