//! `relay classify` as a process, beside `relay --version` and a small build.

use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

use harness::{Process, command};

use super::corpus::labelled;
use crate::figures::number::median;
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting, generate};

pub(crate) const FIGURES: &[Figure] = &[FIRST, RATE, SMALL];

const FIRST: Figure = Figure {
    id: "relay-classify/first",
    work: "`relay classify --json`: exec to first answer",
    parts: &[of("wall", "ms").at_most(20.0).next(4.0)],
    note: "",
};
const RATE: Figure = Figure {
    id: "relay-classify/rate",
    work: "commands of the corpora after that",
    parts: &[of("", "a second").at_least(100_000.0)],
    note: "",
};
const SMALL: Figure = Figure {
    id: "relay-classify/small",
    work: "small runs of `relay`, wall",
    parts: &[
        of("`--version`", "ms").at_most(1.5),
        of("`classify ls`", "ms").at_most(4.0),
        of("build 10 prompt files, which opens no facts", "ms"),
    ],
    note: "",
};

/// Measures them.
pub(crate) fn process(setting: &Setting, report: &mut Report) -> Result<()> {
    let all = labelled();
    let lines: Vec<String> = all
        .iter()
        .map(|row| serde_json::json!({ "command": row.command }).to_string() + "\n")
        .collect();
    let mut first = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        let mut process = start_classify(setting);
        let mut to = process.stdin().ok_or("no stdin")?;
        let mut from = BufReader::new(process.stdout());
        to.write_all(lines.first().ok_or("no line")?.as_bytes())?;
        read_answers(&mut from, 1)?;
        first.push(start.elapsed().as_secs_f64() * 1e3);
    }
    report.put_all(&FIRST, &[median(&mut first)])?;

    let mut process = start_classify(setting);
    let mut to = process.stdin().ok_or("no stdin")?;
    let mut from = BufReader::new(process.stdout());
    to.write_all(lines.first().ok_or("no line")?.as_bytes())?;
    read_answers(&mut from, 1)?;
    let rounds = 100;
    let count = lines.len() * rounds;
    let text = lines.concat();
    let start = Instant::now();
    let writer =
        std::thread::spawn(move || (0..rounds).try_for_each(|_| to.write_all(text.as_bytes())));
    read_answers(&mut from, count)?;
    let seconds = start.elapsed().as_secs_f64();
    writer.join().map_err(|_| "the writer ended by a panic")??;
    report.put_all(&RATE, &[count as f64 / seconds])?;

    let project = setting.folder.join("small");
    generate::project(&project, 10)?;
    let wall = |arguments: &[&str]| -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..21 {
            let mut relay = command(&setting.relay, &setting.folder);
            relay.args(arguments);
            let start = Instant::now();
            // It waits without a poll, which would take longer than such a run.
            let ended = relay.output()?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if !ended.status.success() {
                let reason = String::from_utf8_lossy(&ended.stderr);
                return Err(format!("relay {arguments:?} failed: {reason}").into());
            }
        }
        Ok(median(&mut times))
    };
    let version = wall(&["--version"])?;
    let build = wall(&[
        "build",
        "small/project.kdl",
        "--unsigned",
        "--no-cache",
        "-q",
        "-o",
        "small.relay",
    ])?;
    let opened = wall(&["classify", "ls"])?;
    report.put_all(&SMALL, &[version, opened, build])
}

fn start_classify(setting: &Setting) -> Process {
    let mut classify = command(&setting.relay, &setting.folder);
    classify.args(["classify", "--json"]);
    Process::start(classify)
}

/// Reads that many lines.
fn read_answers(from: &mut impl BufRead, count: usize) -> Result<()> {
    let mut line = Vec::new();
    for _ in 0..count {
        line.clear();
        from.read_until(b'\n', &mut line)?;
        if !line.starts_with(b"{\"format_version\"") || !line.ends_with(b"}\n") {
            return Err(format!("relay classify said: {}", String::from_utf8_lossy(&line)).into());
        }
    }
    Ok(())
}
