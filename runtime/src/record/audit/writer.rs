//! Records in turn: threads put their lines in a queue, and one of them writes all that waits.
//!
//! A thread that comes while another one writes finds its own line written, or writes all the lines
//! that came meanwhile. So a thread alone pays for its own record, and many share one write.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use relay_bundle::Digest;
use relay_engine::audit_chain::{self, Link};
use relay_engine::audit_checkpoint::{COUNT, LABEL, LOST, UNFLUSHED};
use relay_engine::audit_record::{AuditRecord, OutputHash};
use relay_engine::system_error::reason;
use relay_machine::audit::{self, AuditFile, Checkpoints, Unflushed};
use relay_machine::clock;
use relay_machine::lock::lock;

/// The most records of one write.
const BATCH_RECORDS_MAX: usize = 512;
/// The principal of records about the server itself.
const SERVER: &str = "server";

/// The lines that wait, and the file.
#[derive(Debug)]
pub(super) struct Lines {
    queue: Mutex<Queue>,
    writer: Mutex<Writer>,
    /// The number of lines that were written or lost so far.
    done: AtomicU64,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The number of lines so far.
    count: u64,
}

#[derive(Debug)]
struct Waiting {
    json: String,
    /// Set if the line was lost, for a caller that asks.
    lost: Option<Arc<Mutex<Option<String>>>>,
}

/// The audit file, and what is to be written beside the records.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) file: AuditFile,
    /// The number of records lost since the last written one.
    lost: u64,
    /// The number of written records whose flush failed, since the last record that counts them.
    unflushed: u64,
    checkpoints: Option<Due>,
    bundle: Digest,
}

/// The checkpoints, and when the next one is due.
#[derive(Debug)]
pub(super) struct Due {
    pub(super) checkpoints: Checkpoints,
    /// After this many records of this server; 0 means never.
    pub(super) records: u64,
    /// After this time, if there is a record; zero means never.
    pub(super) time: Duration,
    /// The records since the last checkpoint.
    since: u64,
    at: Instant,
}

impl Due {
    pub(super) fn new(checkpoints: Checkpoints, records: u64, time: Duration) -> Self {
        Self { checkpoints, records, time, since: 0, at: Instant::now() }
    }

    /// Returns whether the time since the last one is over.
    pub(super) fn is_over(&self) -> bool {
        !self.time.is_zero() && self.at.elapsed() >= self.time
    }
}

impl Lines {
    pub(super) fn new(file: AuditFile, checkpoints: Option<Due>) -> Self {
        let bundle = Digest([0; 32]);
        let writer = Writer { file, lost: 0, unflushed: 0, checkpoints, bundle };
        Self { queue: Mutex::default(), writer: Mutex::new(writer), done: AtomicU64::new(0) }
    }

    /// Returns the number of lines that were written or lost so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Acquire)
    }

    /// Returns the writer, which no other thread uses meanwhile.
    pub(super) fn writer(&self) -> std::sync::MutexGuard<'_, Writer> {
        lock(&self.writer)
    }

    /// Appends a line and all that wait; `note` is called with the result of each batch. Returns the
    /// reason for which the line was lost, if the caller `asks`.
    pub(super) fn write(
        &self,
        json: String,
        bundle: Digest,
        asks: bool,
        note: impl Fn(io::Result<()>),
    ) -> Option<String> {
        let lost = asks.then(Arc::<Mutex<Option<String>>>::default);
        let ticket = {
            let mut queue = lock(&self.queue);
            queue.waiting.push_back(Waiting { json, lost: lost.clone() });
            queue.count += 1;
            queue.count
        };
        let mut writer = lock(&self.writer);
        while self.done() < ticket {
            writer.bundle = bundle;
            let batch: Vec<Waiting> = {
                let mut queue = lock(&self.queue);
                let taken = queue.waiting.len().min(BATCH_RECORDS_MAX);
                queue.waiting.drain(..taken).collect()
            };
            let result = writer.write(&batch);
            self.done.fetch_add(batch.len() as u64, Ordering::Release);
            note(result);
        }
        drop(writer);
        lost.and_then(|lost| lock(&lost).take())
    }
}

impl Writer {
    /// Writes a batch; all of it, or nothing.
    fn write(&mut self, batch: &[Waiting]) -> io::Result<()> {
        let own = self.own_lines()?;
        let lines = own.iter().map(String::as_str);
        let written = self.file.append_all(lines.chain(batch.iter().map(|it| it.json.as_str())));
        match written {
            Ok(_) => {
                (self.lost, self.unflushed) = (0, 0);
                if let Some(due) = &mut self.checkpoints {
                    due.since += batch.len() as u64;
                }
                self.checkpoint_if(|due| due.records > 0 && due.since >= due.records);
                Ok(())
            }
            Err(error) => {
                self.lost += batch.len() as u64;
                for lost in batch.iter().filter_map(|waiting| waiting.lost.as_ref()) {
                    *lock(lost) = Some(audit::unwritten(&error));
                }
                Err(error)
            }
        }
    }

    /// Writes the numbers of lost records, if there are any.
    pub(super) fn write_lost(&mut self, bundle: Digest) -> io::Result<()> {
        self.bundle = bundle;
        if self.lost == 0 && self.unflushed == 0 {
            return Ok(());
        }
        self.write(&[])
    }

    /// Counts written records whose flush failed, and opens the file anew.
    pub(super) fn note_unflushed(&mut self, records: u64) -> io::Result<()> {
        self.unflushed += records;
        self.file.renew()
    }

    /// Returns the records about the records themselves.
    fn own_lines(&self) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        if self.lost > 0 {
            let rule = format!("{} records could not be written before this one", self.lost);
            lines.push(self.own(LOST, BTreeMap::from([(COUNT, self.lost.to_string())]), rule)?);
        }
        if self.unflushed > 0 {
            let rule = format!(
                "{} records before this one may be missing on the disk: it failed to flush them",
                self.unflushed
            );
            let count = BTreeMap::from([(COUNT, self.unflushed.to_string())]);
            lines.push(self.own(UNFLUSHED, count, rule)?);
        }
        Ok(lines)
    }

    /// Returns the time until a checkpoint is due; `None` if none is by time.
    pub(super) fn checkpoint_in(&self) -> Option<Duration> {
        let due = self.checkpoints.as_ref().filter(|due| due.since > 0 && !due.time.is_zero())?;
        Some(due.time.saturating_sub(due.at.elapsed()))
    }

    /// Signs the records so far if `is_due`.
    pub(super) fn checkpoint_if(&mut self, is_due: impl FnOnce(&Due) -> bool) {
        let Some(due) = self.checkpoints.take() else { return };
        let mut due = due;
        if due.since > 0 && is_due(&due) {
            // A failure is tried again at the next time, not at the next record.
            (due.since, due.at) = (0, Instant::now());
            if let Err(error) = self.checkpoint(&due.checkpoints) {
                tracing::error!("a checkpoint of the audit cannot be written: {}", reason(&error));
                due.since = 1;
            }
        }
        self.checkpoints = Some(due);
    }

    fn checkpoint(&mut self, checkpoints: &Checkpoints) -> io::Result<()> {
        let mut signed: Option<(String, Link)> = None;
        let bundle = self.bundle;
        self.file.append_after(|last| {
            let rule = format!("record {} and all before it are signed by this server", last.seq);
            let json = own_record(bundle, LABEL, checkpoints.sign(last).arguments(), rule)?;
            signed = Some((json.clone(), last));
            Ok(json)
        })?;
        match signed {
            Some((json, last)) => checkpoints.keep(&audit_chain::chained(&json, last).0),
            None => Ok(()),
        }
    }

    fn own(
        &self,
        label: &str,
        args: BTreeMap<&'static str, String>,
        rule: String,
    ) -> io::Result<String> {
        own_record(self.bundle, label, args, rule)
    }

    /// Returns the checkpoints, if they are signed.
    pub(super) fn checkpoints(&self) -> Option<&Checkpoints> {
        self.checkpoints.as_ref().map(|due| &due.checkpoints)
    }

    /// Takes the files to flush.
    pub(super) fn take_unflushed(&mut self) -> Vec<Unflushed> {
        self.file.take_unflushed()
    }
}

/// Returns a record about the audit itself.
fn own_record(
    bundle: Digest,
    label: &str,
    args: BTreeMap<&'static str, String>,
    rule: String,
) -> io::Result<String> {
    let (output_sha256, output_len) = OutputHash::default().finish();
    audit::json(&AuditRecord {
        ts: clock::timestamp(),
        tool: label.to_owned(),
        args,
        output_sha256,
        output_len,
        principal: SERVER,
        bundle: bundle.to_string(),
        rule,
        ..AuditRecord::default()
    })
}
