//! Figures with the goal of the contract of relay beside each, and counts of instructions.
//!
//! After `cargo build --release --workspace`:
//!
//! - `bench [NAME …]` measures areas, or single figures, once and prints a table;
//! - `bench --record [--runs N] [NAME …]` measures them several times, keeps the values in
//!   `docs/figures/VERSION.json` and writes `docs/figures.md`; in the profile `dist` alone;
//! - `bench --write` writes `docs/figures.md` of the files that are there; `--print` prints it;
//! - `bench --count [--check | --accept REASON] [NAME …]` counts instructions: see `count.rs`;
//! - `bench --timings FILE` prints `docs/build.md` of a page of `cargo build --timings`;
//! - `bench --list` prints the names of all figures.
//!
//! CPU time is what the scheduler counted for a process, so a busy machine blurs it little; wall
//! time is measured where a goal is one. A missed goal is only reported; a count that grew fails.

#![expect(clippy::print_stdout, reason = "a table is what this prints")]
#![expect(clippy::print_stderr, reason = "progress and errors")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod agent;
mod agent_skills;
mod allocation;
mod areas;
mod audience;
mod audit;
mod automata;
mod bundle;
mod cascade;
mod classify;
mod cost;
mod count;
mod crowd;
mod decide;
mod diff;
mod figures;
mod generate;
mod hook;
mod http;
mod limit;
mod peer;
mod port;
mod record;
mod select;
mod setting;
mod shell;
mod size;
mod ssh;
mod stdio;
mod terminal;
mod timings;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use areas::{AREAS, Area};
use figures::Report;
use figures::report::HEADER;
use setting::Setting;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["--list"] => {
            for figure in AREAS.iter().flat_map(|area| area.figures) {
                println!("{}", figure.id);
            }
            Ok(())
        }
        ["--record", "--runs", runs, names @ ..] => record::record(names, runs.parse()?),
        ["--record", names @ ..] => record::record(names, record::RUNS),
        ["--write"] => record::write(),
        ["--print"] => {
            print!("{}", record::document()?);
            Ok(())
        }
        [record::MEASURE, area] => measure(area),
        ["--count", rest @ ..] => count::count(rest),
        [count::WORK, rest @ ..] => count::work(rest),
        ["--timings", file] => {
            print!("{}", timings::table(Path::new(file))?);
            Ok(())
        }
        [option, ..] if option.starts_with('-') => {
            Err(format!("`{option}` is unknown here: tests/bench/main.rs lists the ways to run it")
                .into())
        }
        names => table(names),
    }
}

/// Measures areas once and prints their rows.
fn table(names: &[&str]) -> Result<()> {
    let chosen = areas::chosen(names)?;
    println!("| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()));
    let mut failed = Vec::new();
    for (area, ids) in chosen {
        let (report, ended) = measured(area)?;
        for figure in area.figures.iter().filter(|figure| ids.contains(&figure.id)) {
            println!("{}", report.row(figure));
        }
        if let Err(error) = ended {
            failed.push(format!("{}: {error}", area.name));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n").into()) }
}

/// Measures an area once, for the process that records it.
fn measure(name: &str) -> Result<()> {
    let area = AREAS.iter().find(|area| area.name == name).ok_or("no such area")?;
    let (report, ended) = measured(area)?;
    print!("{}", report.lines());
    ended
}

/// Returns what an area reported, even if it then failed.
fn measured(area: &Area) -> Result<(Report, Result<()>)> {
    let setting = Setting::new(&binaries()?)?;
    if !area.is_in_process {
        setting.check_binaries()?;
    }
    let mut report = Report::default();
    let ended = (area.run)(&setting, &mut report);
    Ok((report, ended))
}

/// Returns the folder of this program and of those that it measures.
fn binaries() -> Result<PathBuf> {
    Ok(std::env::current_exe()?.parent().ok_or("no folder")?.to_owned())
}

/// Returns the root of the repository.
fn repository() -> Result<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(tests.parent().ok_or("no repository")?.to_owned())
}
