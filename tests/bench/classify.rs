//! The classifier: commands, long texts, the table of facts, and the process; beside a list of patterns.

mod corpus;
mod long;
mod naive;
pub(crate) mod process;

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use corpus::times;
pub(crate) use corpus::{labelled, usual_commands};
use long::long_texts;
use naive::naive;
use relay_policy::classify::{Rules, Verdict, classify};
use relay_policy::facts::Facts;

use crate::allocation::allocated;
use crate::figures::number::{median, quantile};
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] =
    &[COMMAND, naive::SPEED, naive::LOST, naive::OVER, long::FIGURE, TABLE];

const COMMAND: Figure = Figure {
    id: "classify/command",
    work: "classify a command of 80–120 bytes, 106 of the open corpora",
    parts: &[
        of("p50", "µs").at_most(5.0),
        of("p99", "µs").at_most(50.0),
        of("memory at most", "bytes").at_most(32_768.0),
        of("asked for", "bytes"),
    ],
    note: "",
};
const TABLE: Figure = Figure {
    id: "classify/table",
    work: "table of the shipped facts, and to open it with every row checked",
    parts: &[of("", "bytes").at_most(640_000.0), of("open", "ms")],
    note: "a program takes some 340 bytes.",
};

/// Returns the table of the shipped facts.
pub(crate) fn shipped_table() -> Result<Vec<u8>> {
    Ok(fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler/facts/table.bin"))?)
}

/// The classifier in this process.
pub(crate) fn in_process(_: &Setting, report: &mut Report) -> Result<()> {
    let table = shipped_table()?;
    let facts = Facts::open(&table)?;
    let rules = Rules::default();
    let all = labelled();
    let usual = usual_commands();
    let usual: Vec<&str> = usual.iter().map(String::as_str).collect();
    let judge = |command: &str| classify(command, &facts, &rules);
    commands(&usual, judge, report)?;
    naive(&all, &usual, judge, report)?;
    long_texts(judge, report)?;
    let mut open = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        black_box(Facts::open(black_box(&table))?);
        open.push(start.elapsed().as_secs_f64() * 1e3);
    }
    report.put_all(&TABLE, &[table.len() as f64, median(&mut open)])
}

/// Measures commands of usual length.
fn commands(usual: &[&str], judge: impl Fn(&str) -> Verdict, report: &mut Report) -> Result<()> {
    let mut figures = times(usual, &judge);
    let (half, most) = (quantile(&mut figures, 0.5), quantile(&mut figures, 0.99));
    let memory: Vec<_> = usual.iter().map(|command| allocated(|| judge(command)).1).collect();
    let peak = memory.iter().map(|memory| memory.peak).max().unwrap_or_default();
    let total = memory.iter().map(|memory| memory.total).sum::<usize>() / usual.len().max(1);
    report.put_all(&COMMAND, &[half, most, peak as f64, total as f64])?;
    report.detail(&COMMAND, format!("{} commands", usual.len()));
    Ok(())
}
