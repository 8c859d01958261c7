//! Selection by tags, beside the loop that lower-cases and searches every text.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use relay_bundle::{Bundle, Kind, encode, lower_case};
use relay_engine::select::{BUDGET_BYTES, Limits, TAGS_MAX, Tags, select};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::allocation::allocated;
use crate::{Result, Setting, generate, median, row};

/// As many entries as 4 KiB of a message can hold.
pub(crate) const ENTRIES_MAX: usize = 1024;

/// Sets of tags: each with whether it must meet the goal.
pub(crate) const TAGS: &[(&str, bool, &[&str])] = &[
    ("5 mid-frequency tags", true, &["Backup", "tenant", "runbook", "gdpr", "cache"]),
    (
        "10 common tags",
        true,
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
    // Each lies in thousands of words: as bad as it gets.
    ("5 tags of two letters", false, &["ka", "on", "er", "lo", "in"]),
];

/// The answer to tags, the memory it takes, and the size of the index.
pub(crate) fn by_tags(_: &Setting) -> Result<()> {
    for (prompts, words, goal) in [
        (10_000, 8_000, "≤ 200 µs, ≥ 20 × the loop"),
        (10_000, 50_000, "≤ 200 µs, ≥ 20 × the loop"),
        (100_000, 50_000, "≤ 1 ms, ≥ 50 × the loop"),
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
        let of = format!("of {prompts} prompts, a vocabulary of {words} words");
        for (what, has_goal, given) in TAGS {
            let tags = Tags::new(given, TAGS_MAX)?;
            let bundle = Bundle::open(Box::new(Arc::clone(&bytes)))?;
            let answer = answer(&bundle, &tags, &texts)?;
            let goal = if *has_goal { goal } else { "none" };
            row(&format!("selection by {what} {of}"), &answer, goal);
        }
        let bundle = Bundle::open(Box::new(Arc::clone(&bytes)))?;
        let covered = bundle.tag_index()?.ok_or("no index")?.covered_bytes();
        let index = (Kind::TagIndex.number()..=Kind::TagPostings.number())
            .filter_map(|number| bundle.sections().iter().find(|info| info.number == number))
            .map(|info| info.length)
            .sum::<u64>();
        let measured = format!(
            "{:.2} MB for {:.2} MB of text: {:.2}",
            index as f64 / 1e6,
            covered as f64 / 1e6,
            index as f64 / covered as f64
        );
        row(&format!("tag index {of}"), &measured, "≤ 0.5");
    }
    Ok(())
}

fn answer(bundle: &Bundle, tags: &Tags, texts: &[String]) -> Result<String> {
    let limits =
        Limits { budget_bytes: BUDGET_BYTES, entries_max: ENTRIES_MAX, named_in_full: true };
    let view = View::of_audience(bundle, 0)?;
    let mut selected = Vec::new();
    let mut matches = 0;
    let mut memory = 0;
    for _ in 0..201 {
        let start = Instant::now();
        let (selection, allocated) = allocated(|| select(&view, tags, &Sent::default(), limits));
        selected.push(start.elapsed().as_secs_f64() * 1e6);
        let selection = black_box(selection?);
        matches = selection.index.len() + selection.index_omitted;
        memory = allocated.total;
    }
    let first = selected.first().copied().unwrap_or_default();
    let mut looped = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        black_box(naive(black_box(texts), tags));
        looped.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let least = selected.iter().copied().fold(f64::INFINITY, f64::min);
    let (selected, looped) = (median(&mut selected), median(&mut looped));
    Ok(format!(
        "{selected:.0} µs (least {least:.0}, first {first:.0}), {:.0} × the loop's {looped:.0} µs; {matches} entries found, {memory} bytes allocated",
        looped / selected
    ))
}

/// The number of tags that match each text, as a search of the texts finds it.
fn naive(texts: &[String], tags: &Tags) -> Vec<usize> {
    let matching = |text: &String| {
        let text = lower_case(text);
        tags.iter().filter(|tag| text.contains(tag)).count()
    };
    texts.iter().map(matching).collect()
}
