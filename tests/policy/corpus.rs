//! Labelled commands. A third of them was set aside before there were facts, and is scored apart.

use std::collections::BTreeSet;
use std::fs;

use super::{hard_inputs, reasons, tier};
use crate::support::root;

/// A labelled command.
pub(crate) struct Row {
    pub(crate) command: String,
    pub(super) tier: u8,
    pub(super) category: String,
}

/// The corpora, which have the same names where they are set aside.
const NAMES: [&str; 5] = ["system", "development", "operations", "bypasses", "lookalikes"];

/// Returns the rows of a corpus.
pub(super) fn rows(path: &str) -> Vec<Row> {
    let path = root().join("tests/policy/corpus").join(path);
    let text = fs::read_to_string(&path).expect("a corpus");
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let command = columns.next()?.replace('␤', "\n");
        let tier = columns.next()?.parse().ok()?;
        let category = columns.next()?.to_owned();
        Some(Row { command, tier, category })
    };
    text.lines().filter_map(row).collect()
}

/// Returns all rows that are not set aside.
pub(crate) fn open_rows() -> Vec<Row> {
    let names = NAMES.iter().map(|name| format!("{name}.tsv"));
    let others = names.chain(["examples.tsv".to_owned()]);
    others.flat_map(|name| rows(&name)).chain(found_rows()).collect()
}

/// Returns the commands of every corpus, those of the exams and those set aside as well, each once.
pub(crate) fn all_commands() -> Vec<String> {
    let mut files = vec![root().join("tests/policy/corpus")];
    let mut commands = BTreeSet::new();
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder of corpora");
            files.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else {
            let path = path.to_str().expect("a plain name");
            commands.extend(rows(path).into_iter().map(|row| row.command));
        }
    }
    commands.extend(hard_inputs::inputs().into_iter().map(|(_, text)| text));
    commands.into_iter().collect()
}

/// Returns the rows of what attackers of the classifier found, beside everyday texts of the same shape.
fn found_rows() -> Vec<Row> {
    let folder = fs::read_dir(root().join("tests/policy/corpus")).expect("the corpora");
    let names = folder.map(|entry| entry.expect("an entry").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("found-")).collect();
    names.sort();
    names.iter().flat_map(|name| rows(name)).collect()
}

/// How labels and tiers agree.
#[derive(Debug, Default)]
struct Score {
    rows: usize,
    exact: usize,
    /// At least 2 by the label, and reported below.
    dangerous: usize,
    stateful: usize,
    /// 0 by the label, and reported as 2 or more.
    over: usize,
    harmless: usize,
    /// 3 by the label, and reported below 2.
    lost: usize,
    misses: String,
}

fn score(rows: &[Row]) -> Score {
    let mut score = Score::default();
    for row in rows {
        let got = tier(&row.command);
        score.rows += 1;
        score.exact += usize::from(got == row.tier);
        score.stateful += usize::from(row.tier >= 2);
        score.dangerous += usize::from(row.tier >= 2 && got < 2);
        score.lost += usize::from(row.tier == 3 && got < 2);
        score.harmless += usize::from(row.tier == 0);
        score.over += usize::from(row.tier == 0 && got >= 2);
        if got != row.tier {
            let command = row.command.replace('\n', "␤");
            score.misses.push_str(&format!(
                "{}: want {}, got {got}: {command}\n{}",
                row.category,
                row.tier,
                reasons(&row.command)
            ));
        }
    }
    score
}

/// Returns what misses the goals; empty if nothing does.
fn beyond_goals(rows: &[Row]) -> String {
    let all = score(rows);
    let percent = |part: usize, whole: usize| part as f64 * 100.0 / whole.max(1) as f64;
    let (dangerous, over) = (percent(all.dangerous, all.stateful), percent(all.over, all.harmless));
    let exact = percent(all.exact, all.rows);
    if dangerous <= 1.0 && over <= 4.0 && exact >= 90.0 && all.lost == 0 {
        return String::new();
    }
    format!(
        "{} rows: {exact:.1} % exact, {dangerous:.1} % dangerous, {over:.1} % over, {} lost\n{}",
        all.rows, all.lost, all.misses
    )
}

#[test]
fn the_open_corpora_are_judged_as_labelled() {
    let beyond = beyond_goals(&open_rows());
    assert!(beyond.is_empty(), "{beyond}");
}

/// Texts that were once judged too low, with near misses that must stay harmless.
#[test]
fn what_was_found_is_judged_as_labelled() {
    let found = found_rows();
    assert!(found.len() > 500, "{} rows", found.len());
    let Score { exact, misses, .. } = score(&found);
    assert_eq!(exact, found.len(), "{misses}");
}

/// The exams of authors for whom facts and classifier were hidden; their first scores are in
/// docs/tiers.md.
#[test]
fn the_exams_keep_their_goals() {
    let folder = fs::read_dir(root().join("tests/policy/corpus/exam")).expect("the exams");
    let names = folder.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    let rows: Vec<Row> = names.iter().flat_map(|name| rows(&format!("exam/{name}"))).collect();
    assert!(rows.len() > 700, "{} rows", rows.len());
    let beyond = beyond_goals(&rows);
    assert!(beyond.is_empty(), "{beyond}");
}

/// Its first score is in docs/tiers.md; what was cured since must stay so.
#[test]
fn the_set_aside_third_keeps_its_goals() {
    let rows: Vec<Row> =
        NAMES.iter().flat_map(|name| rows(&format!("set-aside/{name}.tsv"))).collect();
    assert_eq!(rows.len(), 730);
    let beyond = beyond_goals(&rows);
    assert!(beyond.is_empty(), "{beyond}");
}
