//! The audit file: the time of a record in batches, and records on the disk before their answers
//! against a bare flush in the same run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use relay_machine::audit::{AuditFile, Unflushed};

use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[RECORD, GROUPS];

const RECORD: Figure = Figure {
    id: "audit/record",
    work: "CPU time of an audit record in batches: the fastest of 5 rounds",
    parts: &[of("of 1", "µs"), of("of 8", "µs").at_most(2.5), of("of 64", "µs").at_most(1.5)],
    note: "",
};
const GROUPS: Figure = Figure {
    id: "audit/durable",
    work: "durable groups of 64, of the rate of a bare write and flush of these records",
    parts: &[of("", "×").at_least(0.8), beside("a bare group", "µs")],
    note: "as the server does it: a thread flushes a group while another one writes the next.",
};

/// The records of each size of batch.
const RECORDS: usize = 32_000;
/// The rounds of a measurement, of which the fastest counts.
const ROUNDS: usize = 5;
/// The groups written and flushed on end, and how often both ways take their turn.
const GROUPS_ON_END: usize = 50;
const TURNS: usize = 6;
/// The records of a group.
const GROUP: usize = 64;

/// Reports the time of a record in batches of 1, 8 and 64, and the share of a flush.
pub(crate) fn records(setting: &Setting, report: &mut Report) -> Result<()> {
    let path = setting.folder.join("audit.jsonl");
    let record = format!(
        "{{\"ts\":\"2027-01-31T10:00:00.000Z\",\"tool\":\"shell_exec\",\"tier\":0,\"args\":{{\"command\":\"{}\"}}}}",
        "x".repeat(300)
    );
    for (size, part) in [(1, "of 1"), (8, "of 8"), (64, "of 64")] {
        let batch = vec![record.as_str(); size];
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            _ = fs::remove_file(&path);
            let mut file = AuditFile::open(&path)?;
            let begun = cpu_ns()?;
            for _ in 0..RECORDS / size {
                file.append_all(batch.iter().copied())?;
            }
            times.push((cpu_ns()? - begun) as f64 / 1e3 / RECORDS as f64);
        }
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        report.put(&RECORD, part, least)?;
    }
    groups(setting, &record, report)
}

/// Reports the rate of durable groups, in turn with that of bare ones, so that both meet the same disk.
fn groups(setting: &Setting, record: &str, report: &mut Report) -> Result<()> {
    let open = |name: &str| -> Result<File> {
        let path = setting.folder.join(name);
        Ok(OpenOptions::new().append(true).create(true).open(path)?)
    };
    let mut bare = open("bare")?;
    let mut file = AuditFile::open(&setting.folder.join("durable.jsonl"))?;
    let batch = vec![record; GROUP];
    let text = format!("{record}\n").repeat(GROUP);
    let (mut bare_time, mut time) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TURNS {
        let begun = Instant::now();
        for _ in 0..GROUPS_ON_END {
            bare.write_all(text.as_bytes())?;
            bare.sync_data()?;
        }
        bare_time += begun.elapsed();
        let begun = Instant::now();
        durable_groups(&mut file, &batch)?;
        time += begun.elapsed();
    }
    let ratio = bare_time.as_secs_f64() / time.as_secs_f64();
    let bare_us = bare_time.as_secs_f64() * 1e6 / (TURNS * GROUPS_ON_END) as f64;
    report.put_all(&GROUPS, &[ratio, bare_us])
}

/// Appends groups while another thread flushes the one before each.
fn durable_groups(file: &mut AuditFile, batch: &[&str]) -> Result<()> {
    // Without room: a group is handed over only when the one before it is on the disk.
    let (sender, receiver) = sync_channel::<Vec<Unflushed>>(0);
    thread::scope(|scope| {
        let flusher = scope.spawn(move || -> io::Result<()> {
            receiver.iter().try_for_each(|group| group.iter().try_for_each(Unflushed::flush))
        });
        for _ in 0..GROUPS_ON_END {
            file.append_all(batch.iter().copied())?;
            // It fails only if a flush did, of which the thread tells.
            if sender.send(file.take_unflushed()).is_err() {
                break;
            }
        }
        drop(sender);
        Ok(flusher.join().map_err(|_| "the thread that flushes panicked")??)
    })
}

/// Returns the CPU time of this thread so far, in nanoseconds.
fn cpu_ns() -> Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no time")?.parse()?)
}
