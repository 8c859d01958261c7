//! The audit file: the time of a record in batches, and records on the disk before their answers
//! against a bare flush in the same run.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::time::{Duration, Instant};

use relay_machine::audit::AuditFile;

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
    note: "the chain takes some 48 µs of a group, which counts on a disk that flushes in 0.2 ms.",
};

/// The records of each size of batch.
const RECORDS: usize = 32_000;
/// The rounds of a measurement, of which the fastest counts.
const ROUNDS: usize = 5;
/// The flushes of a measurement.
const FLUSHES: usize = 100;
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
    let mut bare =
        OpenOptions::new().append(true).create(true).open(setting.folder.join("bare"))?;
    let mut file = AuditFile::open(&path)?;
    let batch = vec![record.as_str(); GROUP];
    let text = format!("{record}\n").repeat(GROUP);
    let (mut flush, mut group) = (Duration::ZERO, Duration::ZERO);
    // In turn, so that both meet the same disk.
    for _ in 0..FLUSHES {
        let begun = Instant::now();
        bare.write_all(text.as_bytes())?;
        bare.sync_data()?;
        flush += begun.elapsed();
        let begun = Instant::now();
        file.append_all(batch.iter().copied())?;
        for unflushed in file.take_unflushed() {
            unflushed.flush()?;
        }
        group += begun.elapsed();
    }
    let ratio = flush.as_secs_f64() / group.as_secs_f64();
    let flush_us = flush.as_secs_f64() * 1e6 / FLUSHES as f64;
    report.put_all(&GROUPS, &[ratio, flush_us])
}

/// Returns the CPU time of this thread so far, in nanoseconds.
fn cpu_ns() -> Result<u64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split_whitespace().next().ok_or("no time")?.parse()?)
}
