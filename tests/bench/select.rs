//! Selection by tags, beside the loop that lower-cases and searches every text.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use relay_bundle::{Bundle, Kind, encode, lower_case};
use relay_engine::select::{BUDGET_BYTES, Limits, TAGS_MAX, Tags, select};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::allocation::allocated;
use crate::figures::number::median;
use crate::figures::{Figure, Part, Report, beside, of};
use crate::{Result, Setting, generate};

pub(crate) const FIGURES: &[Figure] =
    &[TIME_8K, LOOP_8K, TIME_50K, LOOP_50K, TIME_100K, LOOP_100K, MEMORY, INDEX];

const SMALL: &[Part] = &[
    of("5 tags", "µs").at_most(200.0),
    of("10 tags", "µs").at_most(200.0),
    // Each lies in thousands of words: as bad as it gets.
    of("5 of two letters", "µs").next(200.0),
];
const SMALL_LOOP: &[Part] = &[
    of("5 tags", "×").at_least(20.0),
    of("10 tags", "×").at_least(20.0),
    of("5 of two letters", "×"),
    beside("the loop, 5 tags", "µs"),
    beside("the loop, 10 tags", "µs"),
    beside("5 of two letters, the loop", "µs"),
];
const TIME_8K: Figure = Figure {
    id: "select/10k-8k",
    work: "selection by tags of 10,000 prompts with 8,000 words",
    parts: SMALL,
    note: "",
};
const LOOP_8K: Figure = Figure {
    id: "select/10k-8k-loop",
    work: "a loop that lower-cases and searches every text of these, in selections",
    parts: SMALL_LOOP,
    note: "",
};
const TIME_50K: Figure = Figure {
    id: "select/10k-50k",
    work: "selection by tags of 10,000 prompts with 50,000 words",
    parts: SMALL,
    note: "tags of two letters lie in thousands of words.",
};
const LOOP_50K: Figure = Figure {
    id: "select/10k-50k-loop",
    work: "the loop over these, in selections",
    parts: SMALL_LOOP,
    note: "",
};
const TIME_100K: Figure = Figure {
    id: "select/100k-50k",
    work: "selection by tags of 100,000 prompts with 50,000 words",
    parts: &[
        of("5 tags", "µs").at_most(1000.0),
        of("10 tags", "µs").at_most(1000.0),
        of("5 of two letters", "µs").next(1000.0),
    ],
    note: "",
};
const LOOP_100K: Figure = Figure {
    id: "select/100k-50k-loop",
    work: "the loop over these, in selections",
    parts: &[
        of("5 tags", "×").at_least(50.0),
        of("10 tags", "×").at_least(50.0),
        of("5 of two letters", "×"),
        beside("the loop, 5 tags", "µs"),
        beside("the loop, 10 tags", "µs"),
        beside("5 of two letters, the loop", "µs"),
    ],
    note: "",
};
const MEMORY: Figure = Figure {
    id: "select/memory",
    work: "memory that a selection by 10 tags asks for",
    parts: &[of("10,000 prompts", "bytes"), of("100,000 prompts", "bytes")],
    note: "",
};
const INDEX: Figure = Figure {
    id: "select/index",
    work: "tag index, of the bytes of summaries and chapters",
    parts: &[
        of("10,000 prompts, 8,000 words", "×").at_most(0.5),
        of("10,000 prompts, 50,000 words", "×").at_most(0.5),
        of("100,000 prompts, 50,000 words", "×").at_most(0.5),
    ],
    note: "",
};

/// As many entries as 4 KiB of a message can hold.
pub(crate) const ENTRIES_MAX: usize = 1024;

/// Sets of tags, each with the names of its parts.
pub(crate) const TAGS: &[(&str, &str, &[&str])] = &[
    ("5 tags", "the loop, 5 tags", &["Backup", "tenant", "runbook", "gdpr", "cache"]),
    (
        "10 tags",
        "the loop, 10 tags",
        &[
            "zigbee",
            "lights",
            "mqtt",
            "pairing",
            "automation",
            "security",
            "firewall",
            "vpn",
            "deploy",
            "kubernetes",
        ],
    ),
    ("5 of two letters", "5 of two letters, the loop", &["ka", "on", "er", "lo", "in"]),
];

/// The answer to tags, the memory it takes, and the size of the index.
pub(crate) fn by_tags(_: &Setting, report: &mut Report) -> Result<()> {
    for (prompts, words, time, beside) in [
        (10_000, 8_000, &TIME_8K, &LOOP_8K),
        (10_000, 50_000, &TIME_50K, &LOOP_50K),
        (100_000, 50_000, &TIME_100K, &LOOP_100K),
    ] {
        let contents = generate::summaries(prompts, words);
        let texts: Vec<String> = contents
            .prompts
            .iter()
            .map(|prompt| {
                let texts = prompt.summary.iter().chain(&prompt.chapters);
                texts.map(|text| text.value.as_str()).collect::<Vec<_>>().join("\n")
            })
            .collect();
        let bytes: Arc<[u8]> = encode(&contents)?.into();
        drop(contents);
        for (part, looped, given) in TAGS {
            let tags = Tags::new(given, TAGS_MAX)?;
            let bundle = Bundle::open(Box::new(Arc::clone(&bytes)))?;
            let answer = answer(&bundle, &tags, &texts)?;
            report.put(time, part, answer.time_us)?;
            report.put(beside, part, answer.loop_us / answer.time_us)?;
            report.put(beside, looped, answer.loop_us)?;
            report.detail(time, format!("{part}: {} entries found", answer.found));
            let memory = match prompts {
                10_000 => "10,000 prompts",
                _ => "100,000 prompts",
            };
            if *part == "10 tags" && words == 50_000 {
                report.put(&MEMORY, memory, answer.memory as f64)?;
            }
        }
        let bundle = Bundle::open(Box::new(Arc::clone(&bytes)))?;
        let covered = bundle.tag_index()?.ok_or("no index")?.covered_bytes();
        let index = (Kind::TagIndex.number()..=Kind::TagGramPostings.number())
            .filter_map(|number| bundle.sections().iter().find(|info| info.number == number))
            .map(|info| info.length)
            .sum::<u64>();
        let part = match (prompts, words) {
            (10_000, 8_000) => "10,000 prompts, 8,000 words",
            (10_000, _) => "10,000 prompts, 50,000 words",
            _ => "100,000 prompts, 50,000 words",
        };
        report.put(&INDEX, part, index as f64 / covered as f64)?;
    }
    Ok(())
}

/// What a selection costs.
struct Answer {
    time_us: f64,
    /// The time of the loop over all texts.
    loop_us: f64,
    found: usize,
    /// The bytes that it asks for.
    memory: usize,
}

fn answer(bundle: &Bundle, tags: &Tags, texts: &[String]) -> Result<Answer> {
    let limits =
        Limits { budget_bytes: BUDGET_BYTES, entries_max: ENTRIES_MAX, named_in_full: true };
    let view = View::of_audience(bundle, 0)?;
    let mut selected = Vec::new();
    let (mut found, mut memory) = (0, 0);
    for _ in 0..201 {
        let start = Instant::now();
        let (selection, allocated) = allocated(|| select(&view, tags, &Sent::default(), limits));
        selected.push(start.elapsed().as_secs_f64() * 1e6);
        let selection = black_box(selection?);
        found = selection.index.len() + selection.index_omitted;
        memory = allocated.total;
    }
    let mut looped = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        black_box(naive(black_box(texts), tags));
        looped.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let (time_us, loop_us) = (median(&mut selected), median(&mut looped));
    Ok(Answer { time_us, loop_us, found, memory })
}

/// The number of tags that match each text, as a search of the texts finds it.
fn naive(texts: &[String], tags: &Tags) -> Vec<usize> {
    let matching = |text: &String| {
        let text = lower_case(text);
        tags.iter().filter(|tag| text.contains(tag)).count()
    };
    texts.iter().map(matching).collect()
}
