//! Any project and any question to it.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use relay_bundle::Prompt;
use relay_engine::select::Limits;

use super::prompt;
use crate::bundle::sample::made;

/// A project with a question to it; the prompts are sorted by name.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) prompts: Vec<Prompt>,
    pub(super) given: Vec<String>,
    pub(super) sent: Vec<u32>,
    pub(super) limits: Limits,
}

/// Words that lie in each other, and letters that change when their case does.
const WORDS: &[&str] = &[
    "home",
    "Assistant",
    "HOMEASSISTANT",
    "a",
    "ab",
    "aa",
    "aaa",
    "VPN",
    "1.2",
    "x,y;",
    "ΟΔΟΣ",
    "οδος",
    "οδοσ",
    "Σ",
    "ς",
    "İstanbul",
    "ISTANBUL",
    "ı",
    "i\u{307}",
    "Straße",
    "STRASSE",
    "ẞ",
    "日本語",
    "日本",
    "本",
    "e\u{301}te\u{301}",
    "été",
    "É",
    "\u{301}",
    "😴",
    "👩\u{200d}🔧",
    "ﬁn",
    "ǅ",
];

/// White space of all kinds; the empty one joins two words to one.
const SPACES: &[&str] =
    &[" ", " ", " ", "  ", "\t", "\n", "\r\n", "\u{a0}", "\u{3000}", "\u{85}", ""];

pub(super) fn case() -> impl Strategy<Value = Case> {
    let prompts = prop_oneof![
        4 => btree_map(name(), any_prompt(), 0..10),
        1 => btree_map(name(), any_prompt(), 60..140),
    ];
    (prompts, vec(tag(), 0..10), vec(any::<Index>(), 0..4), limits()).prop_map(
        |(prompts, tags, sent, limits)| {
            let named = prompts.into_iter().map(|(name, prompt)| Prompt { name, ..prompt });
            let prompts: Vec<Prompt> = named.collect();
            let texts =
                prompts.iter().flat_map(|prompt| prompt.summary.iter().chain(&prompt.chapters));
            let names = prompts.iter().map(|prompt| &prompt.name);
            let texts: Vec<&String> = texts.map(|text| &text.value).chain(names).collect();
            let given = tags.iter().map(|tag| tag.of(&texts)).collect();
            // The last is beyond the prompts.
            let index = |sent: &Index| sent.index(prompts.len() + 1) as u32;
            let sent = sent.iter().map(index).collect();
            Case { given, sent, limits, prompts }
        },
    )
}

fn name() -> impl Strategy<Value = String> {
    "[ab_Z/ä]{1,4}"
}

fn any_prompt() -> impl Strategy<Value = Prompt> {
    let priority = prop_oneof![1u8..=10, 4u8..=6];
    let bytes = prop_oneof![
        1 => Just(0usize),
        4 => 1usize..60,
        2 => 60usize..3_000,
        1 => 3_000usize..100_000,
    ];
    let briefing = prop::bool::weighted(0.85);
    (priority, option::weighted(0.8, text()), vec(text(), 0..3), bytes, any::<bool>(), briefing)
        .prop_map(|(priority, summary, chapters, bytes, other, briefing)| {
            let prompt = prompt("", priority, summary.as_deref(), bytes);
            // The text in a briefing may differ from the answer of the prompt.
            let body = if other { made("y".repeat(bytes / 2).into()) } else { prompt.body };
            let chapters = chapters.into_iter().map(made).collect();
            Prompt { chapters, body, briefing: made(briefing), ..prompt }
        })
}

fn text() -> impl Strategy<Value = String> {
    let words = vec((select(WORDS), select(SPACES)), 0..6);
    words.prop_map(|words| words.into_iter().flat_map(|(word, space)| [word, space]).collect())
}

fn limits() -> impl Strategy<Value = Limits> {
    let budget = prop_oneof![0usize..200, 0usize..8_192, 0usize..(1 << 20)];
    let entries = prop_oneof![Just(usize::MAX), 0usize..5, 0usize..150];
    (budget, entries, any::<bool>()).prop_map(|(budget_bytes, entries_max, named_in_full)| Limits {
        budget_bytes,
        entries_max,
        named_in_full,
    })
}

/// A tag before it is known what the project says.
#[derive(Debug, Clone)]
enum Tag {
    /// A part of some text or name, in another case.
    Part(Index, Index, Index, Letters),
    /// One of them whole.
    Whole(Index, Letters),
    /// Words that may occur nowhere.
    Words(String),
}

#[derive(Debug, Clone, Copy)]
enum Letters {
    AsTheyAre,
    Upper,
    Lower,
}

fn tag() -> impl Strategy<Value = Tag> {
    let letters = select(&[Letters::AsTheyAre, Letters::Upper, Letters::Lower][..]);
    prop_oneof![
        3 => (any::<Index>(), any::<Index>(), any::<Index>(), letters)
            .prop_map(|(text, start, length, letters)| Tag::Part(text, start, length, letters)),
        2 => (any::<Index>(), select(&[Letters::AsTheyAre, Letters::Upper, Letters::Lower][..]))
            .prop_map(|(text, letters)| Tag::Whole(text, letters)),
        1 => text().prop_map(Tag::Words),
        1 => select(WORDS).prop_map(|word| Tag::Words(word.into())),
    ]
}

impl Tag {
    fn of(&self, texts: &[&String]) -> String {
        match self {
            Self::Words(words) => words.clone(),
            Self::Part(..) | Self::Whole(..) if texts.is_empty() => String::new(),
            Self::Whole(text, letters) => letters.of(texts[text.index(texts.len())]),
            Self::Part(text, start, length, letters) => {
                let text: Vec<char> = texts[text.index(texts.len())].chars().collect();
                let start = start.index(text.len() + 1);
                let length = length.index(text.len() - start + 1);
                letters.of(&text[start..start + length].iter().collect::<String>())
            }
        }
    }
}

impl Letters {
    fn of(self, text: &str) -> String {
        match self {
            Self::AsTheyAre => text.to_owned(),
            Self::Upper => text.to_uppercase(),
            Self::Lower => text.to_lowercase(),
        }
    }
}
