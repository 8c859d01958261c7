//! Counts of instructions: what a row costs on any machine, however busy.
//!
//! `bench --count` runs each row under `valgrind --tool=cachegrind` and prints its count beside the recorded
//! one of `instructions.tsv`; the head of that file says how a count may grow. Rows are per operation: the count
//! of few operations is subtracted from that of many, so that what comes before them is left out.
//!
//! Valgrind hides the instructions for SHA and AVX-512, so hashes are computed the long way: compare counts with
//! counts, never with times.

mod ledger;
mod process;
mod valgrind;
mod work;

use std::path::Path;

use crate::figures::number::shown;
use crate::{Result, Setting, binaries, repository};
use ledger::Ledger;
use process::PROCESSES;
use valgrind::Counter;
use work::WORKS;

/// The option by which the work of a row is started under Valgrind.
pub(crate) const WORK: &str = "--work";
/// A count over this part of the recorded one fails.
const GROWTH_MAX: f64 = 1.1;
/// A count below this part of it asks for a new record.
const SHRINKING_MIN: f64 = 0.9;

/// Counts rows; `--check` fails if one grew, `--accept REASON` records what is counted.
pub(crate) fn count(arguments: &[&str]) -> Result<()> {
    if arguments == ["--list"] {
        ids().for_each(|id| println!("{id}"));
        return Ok(());
    }
    let path = repository()?.join(ledger::FILE);
    let mut ledger = Ledger::read(&path)?;
    let (reason, is_check, names) = match arguments {
        ["--accept", reason, names @ ..] => (Some(*reason), false, names),
        ["--check", names @ ..] => (None, true, names),
        names => (None, false, names),
    };
    if let Some(name) = names.iter().find(|name| !ids().any(|id| id == **name)) {
        let all = ids().collect::<Vec<_>>().join(", ");
        return Err(format!("no row is named `{name}`; rows are {all}").into());
    }
    let (mut faults, mut most) = (Vec::new(), 0.0);
    if is_check {
        faults.extend(ledger.unknown(&ids().collect::<Vec<_>>()));
        faults.extend(ledger::unexplained(&repository()?)?);
    }
    let setting = Setting::new(&binaries()?)?;
    setting.check_binaries()?;
    let counter = Counter::new(&setting)?;
    println!("| row | operation | recorded | now | ratio |\n|---|---|---|---|---|");
    for (id, work) in rows().filter(|(id, _)| names.is_empty() || names.contains(id)) {
        let now = one(&counter, id)?;
        let recorded = ledger.instructions(id);
        let ratio = recorded.map(|recorded| now as f64 / recorded as f64);
        let before = recorded.map_or("–".to_owned(), |it| shown(it as f64));
        let ratio_shown = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        println!("| `{id}` | {work} | {before} | {} | {ratio_shown} |", shown(now as f64));
        most = f64::max(most, ratio.unwrap_or_default());
        match ratio {
            _ if reason.is_some() => {}
            None => faults.push(format!("`{id}` has no record")),
            Some(ratio) if ratio > GROWTH_MAX => {
                faults
                    .push(format!("`{id}` runs {:.1} % more instructions", (ratio - 1.0) * 100.0));
            }
            Some(ratio) if ratio < SHRINKING_MIN => {
                let percent = (1.0 - ratio) * 100.0;
                eprintln!("note: `{id}` runs {percent:.1} % fewer: record it, so that it stays so");
            }
            Some(_) => {}
        }
        if let Some(reason) = reason {
            ledger.accept(id, now, reason)?;
        }
    }
    if reason.is_some() {
        ledger.write(&path)?;
    }
    println!("\ninstructions: at most {most:.3} of the record, {} faults", faults.len());
    if !is_check || faults.is_empty() {
        return Ok(());
    }
    let remedy = format!(
        "make it cheaper, or say why in {}: `bench --count --accept REASON ROW …`",
        ledger::FILE
    );
    Err(format!("{}\n{remedy}", faults.join("\n")).into())
}

/// Does the work of a row so many times: what the process under Valgrind does.
pub(crate) fn work(arguments: &[&str]) -> Result<()> {
    let [id, rounds, folder] = arguments else { return Err("a row, rounds and a folder".into()) };
    let work = WORKS.iter().find(|work| work.id == *id).ok_or("no such row")?;
    let operations = (work.run)(Path::new(folder), rounds.parse()?)?;
    println!("{operations}");
    Ok(())
}

/// Returns the instructions of one operation.
fn one(counter: &Counter<'_>, id: &str) -> Result<u64> {
    if let Some(work) = WORKS.iter().find(|work| work.id == id) {
        (work.prepare)(counter.setting)?;
        let [few, many] = work.rounds;
        let ((fewer, less), (more, most)) = (counter.work(id, few)?, counter.work(id, many)?);
        return per_operation(more.checked_sub(fewer), most.checked_sub(less), id);
    }
    let process = PROCESSES.iter().find(|process| process.id == id).ok_or("no such row")?;
    let many = (process.count)(counter, process.operations[1])?;
    match process.operations[0] {
        0 => Ok(many),
        few => {
            let fewer = (process.count)(counter, few)?;
            let operations = process.operations[1].checked_sub(few);
            per_operation(many.checked_sub(fewer), operations.map(|it| it as u64), id)
        }
    }
}

fn per_operation(instructions: Option<u64>, operations: Option<u64>, id: &str) -> Result<u64> {
    let quotient = instructions.zip(operations).and_then(|(all, count)| all.checked_div(count));
    Ok(quotient.ok_or_else(|| format!("`{id}`: more operations cost less"))?)
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let works = WORKS.iter().map(|work| (work.id, work.work));
    works.chain(PROCESSES.iter().map(|process| (process.id, process.work)))
}

fn ids() -> impl Iterator<Item = &'static str> {
    rows().map(|(id, _)| id)
}
