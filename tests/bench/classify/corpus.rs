//! The commands of the open corpora, and the time that each takes.

use std::hint::black_box;
use std::time::Instant;

use crate::figures::number::median;

/// Labelled commands: the command, its tier, and further columns.
const CORPORA: &[&str] = &[
    include_str!("../../policy/corpus/system.tsv"),
    include_str!("../../policy/corpus/development.tsv"),
    include_str!("../../policy/corpus/operations.tsv"),
    include_str!("../../policy/corpus/bypasses.tsv"),
    include_str!("../../policy/corpus/lookalikes.tsv"),
    include_str!("../../policy/corpus/examples.tsv"),
];

/// A command and the tier that people gave it.
pub(crate) struct Labelled {
    pub(crate) command: String,
    pub(crate) tier: u8,
}

/// Returns all commands.
pub(crate) fn labelled() -> Vec<Labelled> {
    let read = |line: &str| {
        let mut columns = line.split('\t');
        let command = columns.next()?.replace('␤', "\n");
        Some(Labelled { command, tier: columns.next()?.parse().ok()? })
    };
    CORPORA.iter().flat_map(|corpus| corpus.lines()).filter_map(read).collect()
}

/// Commands of usual length of the corpora.
pub(crate) fn usual_commands() -> Vec<String> {
    let commands = labelled().into_iter().map(|row| row.command);
    commands.filter(|command| (80..=120).contains(&command.len())).collect()
}

/// Returns the median time of each command, in microseconds.
pub(crate) fn times<T>(commands: &[&str], judge: impl Fn(&str) -> T) -> Vec<f64> {
    let mut figures = vec![Vec::new(); commands.len()];
    for _ in 0..101 {
        for (command, times) in commands.iter().zip(&mut figures) {
            let start = Instant::now();
            black_box(judge(black_box(command)));
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    figures.iter_mut().map(|times| median(times)).collect()
}
