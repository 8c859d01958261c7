//! The records of a server: the requests, their callers, and how they ended.
//!
//! A record is written before its answer is sent; with `durable = "always"` it is also on the disk.
//! Lost records are counted in a record as soon as one can be written.

mod flusher;
mod writer;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use relay_bundle::{Digest, Tier};
use relay_engine::audit_record::{
    self, Action, AuditRecord, OutputHash, PortRecord, RecordedEffect, truncated,
};
use relay_machine::audit::{self, AuditError, AuditFile, CheckpointError, Checkpoints, unwritten};
use relay_machine::clock;
use serde::Serialize;
use thiserror::Error;

use self::flusher::{Flusher, Settled};
use self::writer::{Due, Lines};
use super::metrics::Counter;
use crate::caller::Caller;
use crate::settings::config::{Durable, OnFailure};
use crate::settings::{AuditPath, AuditSettings};

/// The audit file, if there is one.
#[derive(Debug)]
pub(crate) struct Audit {
    target: Option<Target>,
    denials: Counter,
}

#[derive(Debug)]
struct Target {
    path: PathBuf,
    settings: AuditSettings,
    lines: Arc<Lines>,
    failing: Arc<Failing>,
    flusher: Option<Flusher>,
}

/// Whether the last write and the last flush failed.
#[derive(Debug)]
struct Failing {
    path: PathBuf,
    write: AtomicBool,
    flush: AtomicBool,
}

/// An error of starting the audit.
#[derive(Debug, Error)]
pub(crate) enum OpenError {
    #[error("{0}; name another with --audit FILE, or `--audit none` to keep no record")]
    File(#[from] AuditError),
    #[error("{0}; `audit.checkpoint-records = 0` and `audit.checkpoint-s = 0` switch them off")]
    Checkpoints(#[from] CheckpointError),
    #[error(
        "checkpoints of the audit need a folder for their key: set `state`, or XDG_STATE_HOME or HOME"
    )]
    NoFolder,
    #[error("the thread of the audit does not start: {0}")]
    Thread(io::Error),
}

/// The state of the audit for `server_info`.
#[derive(Debug, Serialize)]
pub(crate) struct Described {
    path: PathBuf,
    format: &'static str,
    durable: Durable,
    on_failure: OnFailure,
    degraded: bool,
    /// Records are a chain. Their number would say how much others do.
    chain: bool,
    /// The id of the key of checkpoints, if they are signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint_key: Option<String>,
}

/// The most names of prompts, of skills and of rules in one record.
pub(crate) const NAMES_MAX: usize = 64;

/// A request and its outcome.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// The `Subject` of the request, or the event of a bundle. Never a text that a caller typed.
    pub(crate) tool: String,
    /// The tier of the call; reads are 0.
    pub(crate) tier: Tier,
    pub(crate) args: BTreeMap<&'a str, String>,
    pub(crate) output: OutputHash,
    /// The exit code, for commands.
    pub(crate) exit_code: Option<i32>,
    /// The place of the served declaration, or the reason for a refusal. Never text of a caller.
    pub(crate) rule: String,
    pub(crate) action: Action,
    /// The names of the prompts that a briefing sent in full.
    pub(crate) prompts: Vec<String>,
    /// The names of the skills in a call's context.
    pub(crate) skills: Vec<String>,
    pub(crate) judged: Judged,
    /// The question of a gateway, if it is one.
    pub(crate) port: Option<PortRecord>,
}

/// The parts of a decision that are recorded, whichever way its call ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judged {
    /// The rules that would deny the call if they were not only observed, with their places.
    pub(crate) observed: Vec<String>,
    pub(crate) effects: Vec<RecordedEffect>,
    /// The number of further effects.
    pub(crate) effects_omitted: usize,
    /// The word for the answer of a person who had to approve the call.
    pub(crate) approval: Option<&'static str>,
}

impl<'a> Entry<'a> {
    /// Returns the entry of a served request.
    pub(crate) fn served(
        tool: String,
        args: BTreeMap<&'a str, String>,
        output: OutputHash,
        rule: String,
    ) -> Self {
        let (prompts, skills, judged) = (Vec::new(), Vec::new(), Judged::default());
        let action = Action::Served;
        Self {
            tool,
            tier: Tier::ReadOnly,
            args,
            output,
            exit_code: None,
            rule,
            action,
            prompts,
            skills,
            judged,
            port: None,
        }
    }

    /// Returns the entry of a request rejected or denied for the reason `rule`.
    pub(crate) fn refused(tool: String, args: BTreeMap<&'a str, String>, rule: String) -> Self {
        Self { action: Action::Refused, ..Self::served(tool, args, OutputHash::default(), rule) }
    }
}

/// The state of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    /// The audit is switched off.
    Off,
    /// The last record was written.
    Ok,
    /// The last record was lost.
    Failing,
}

impl Audit {
    /// Opens the file that the settings name, created if missing, and logs where records go.
    pub(crate) fn open(settings: &AuditSettings) -> Result<Self, OpenError> {
        let file = match &settings.path {
            AuditPath::Named(path) => AuditFile::open(path)?,
            AuditPath::Own(path) => AuditFile::open_own(path)?,
            AuditPath::Off => {
                tracing::info!("nothing is recorded, as configured");
                return Ok(Self::to(None));
            }
            AuditPath::Homeless => {
                tracing::warn!(
                    "nothing is recorded: neither XDG_STATE_HOME nor HOME says where; name a file with --audit FILE"
                );
                return Ok(Self::to(None));
            }
        };
        // The path of an existing file, free of the `..` of the configuration's folder.
        let shown = file.path().canonicalize().unwrap_or_else(|_| file.path().to_owned());
        tracing::info!("every tool call, prompt and resource is recorded in `{}`", shown.display());
        let path = file.path().to_owned();
        let due = due(settings, &path)?;
        let needs_thread =
            settings.durable != Durable::Os || due.as_ref().is_some_and(|due| !due.time.is_zero());
        let lines = Arc::new(Lines::new(file, due));
        let failing = Arc::new(Failing::of(&path));
        let flusher = needs_thread.then(|| {
            let failing = failing.clone();
            let note = move |flushed| failing.note_flush(flushed);
            Flusher::start(lines.clone(), settings.durable, note).map_err(OpenError::Thread)
        });
        let (settings, flusher) = (settings.clone(), flusher.transpose()?);
        Ok(Self::to(Some(Target { path, settings, lines, failing, flusher })))
    }

    fn to(target: Option<Target>) -> Self {
        Self { target, denials: Counter::default() }
    }

    /// Returns the number of rejected or denied requests, recorded or only counted.
    pub(crate) fn denials(&self) -> u64 {
        self.denials.get()
    }

    /// Looks whether the path leads to another file (log rotation), which the next record opens. If
    /// that cannot be opened, records still go to the open file.
    pub(crate) fn reopen(&self) {
        let Some(target) = &self.target else { return };
        if let Err(error) = target.lines.writer().file.follow() {
            tracing::error!("{error}; records still go to the file that was opened before");
        }
    }

    /// Returns the file that records go to.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.target.as_ref().map(|target| target.path.as_path())
    }

    /// Tries to write again after lost records: an unready server gets no requests, so this may be
    /// the only record.
    pub(crate) fn retry(&self, bundle: Digest) {
        let Some(target) = &self.target else { return };
        if target.failing.is_failing() {
            let written = target.lines.writer().write_lost(bundle);
            target.failing.note_write(written);
            target.wake();
        }
    }

    /// Returns the state of the audit.
    pub(crate) fn health(&self) -> Health {
        match &self.target {
            None => Health::Off,
            Some(target) if target.failing.is_failing() => Health::Failing,
            Some(_) => Health::Ok,
        }
    }

    /// Returns whether nothing of tier 2 or 3 may begin, since records cannot be written.
    #[cfg(feature = "ssh")]
    pub(crate) fn withholds(&self) -> bool {
        let Some(target) = &self.target else { return false };
        target.settings.on_failure == OnFailure::Refuse && target.failing.is_failing()
    }

    /// Describes the audit, unless it is switched off.
    pub(crate) fn described(&self) -> Option<Described> {
        let Target { path, settings, lines, failing, flusher: _ } = self.target.as_ref()?;
        let writer = lines.writer();
        Some(Described {
            path: path.clone(),
            format: "jsonl",
            durable: settings.durable,
            on_failure: settings.on_failure,
            degraded: failing.is_failing(),
            chain: true,
            checkpoint_key: writer.checkpoints().map(|it| it.key_id().to_owned()),
        })
    }

    /// Waits until all records so far are on the disk, if `durable` is `always`. Every answer waits
    /// here. A failed flush is logged, and reported as the health of the audit.
    pub(crate) async fn settled(&self) {
        if let Some(target) = &self.target {
            target.settled().await;
        }
    }

    /// Returns whether answers wait for the disk.
    pub(crate) fn waits(&self) -> bool {
        self.target.as_ref().is_some_and(|it| it.settings.durable == Durable::Always)
    }

    /// Records that a call is about to run; returns why it may not run, if it may not.
    ///
    /// Nothing of tier 2 or 3 runs without this record, unless `on-failure` is `degrade`.
    pub(crate) async fn begin(
        &self,
        caller: &Caller,
        bundle: Digest,
        entry: Entry<'_>,
    ) -> Result<(), String> {
        let Some(target) = &self.target else { return Ok(()) };
        let tool = entry.tool.clone();
        let mut lost = target.write(json(caller, bundle, entry), bundle, true);
        if lost.is_none() && target.settled().await != Settled::Kept {
            lost = Some("the disk does not keep it".to_owned());
        }
        let Some(reason) = lost else { return Ok(()) };
        match target.settings.on_failure {
            OnFailure::Refuse => {
                tracing::warn!(
                    "refused a call of `{tool}`: its record cannot be written: {reason}"
                );
                Err(format!(
                    "the audit cannot be written, and calls of tier 2 and 3 wait for it: {reason}. Calls of tier 0 and 1 run"
                ))
            }
            OnFailure::Degrade => {
                tracing::warn!("a call of `{tool}` runs without a record of its begin: {reason}");
                Ok(())
            }
        }
    }

    /// Appends the record of `entry`, requested by `caller` under the bundle `bundle`. A failure is
    /// logged, and the server becomes unready; reads are still answered.
    pub(crate) fn record(&self, caller: &Caller, bundle: Digest, entry: Entry<'_>) {
        if entry.action == Action::Refused {
            self.denials.increment();
        }
        if let Some(target) = &self.target {
            target.write(json(caller, bundle, entry), bundle, false);
        }
    }

    /// Signs and flushes the records so far. Later records are still written.
    pub(crate) fn end(&self) {
        match &self.target {
            Some(Target { flusher: Some(flusher), .. }) => flusher.end(),
            Some(Target { lines, .. }) => lines.writer().checkpoint_if(|_| true),
            None => {}
        }
    }
}

impl Target {
    /// Waits until all records so far are on the disk, if answers wait for it.
    async fn settled(&self) -> Settled {
        let Some(flusher) = &self.flusher else { return Settled::Kept };
        let settled = flusher.settled(self.lines.done()).await;
        if settled == Settled::Late {
            self.failing.note_flush(Err(io::ErrorKind::TimedOut.into()));
        }
        settled
    }

    /// Appends a line; returns the reason for which it was lost, if the caller `asks`.
    fn write(&self, json: io::Result<String>, bundle: Digest, asks: bool) -> Option<String> {
        let json = match json {
            Ok(json) => json,
            Err(error) => {
                let reason = unwritten(&error);
                self.failing.note_write(Err(error));
                return Some(reason);
            }
        };
        let note = |written| self.failing.note_write(written);
        let lost = self.lines.write(json, bundle, asks, note);
        self.wake();
        lost
    }

    fn wake(&self) {
        if let Some(flusher) = &self.flusher {
            flusher.wake();
        }
    }
}

impl Failing {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), write: AtomicBool::new(false), flush: AtomicBool::new(false) }
    }

    fn is_failing(&self) -> bool {
        self.write.load(Ordering::Relaxed) || self.flush.load(Ordering::Relaxed)
    }

    /// Notes whether a batch was written, and logs a change.
    fn note_write(&self, written: io::Result<()>) {
        let (path, was_failing) = (self.path.display(), self.write.load(Ordering::Relaxed));
        if written.is_err() != was_failing {
            self.write.store(written.is_err(), Ordering::Relaxed);
        }
        match written {
            Ok(()) if was_failing => tracing::warn!("the audit file `{path}` is written again"),
            Err(error) if !was_failing => {
                tracing::error!("cannot write the audit file `{path}`: {}", unwritten(&error));
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Notes whether the records so far were flushed, and logs a change.
    fn note_flush(&self, flushed: io::Result<()>) {
        let path = self.path.display();
        let was_failing = self.flush.swap(flushed.is_err(), Ordering::Relaxed);
        match flushed {
            Ok(()) if was_failing => tracing::warn!("the audit file `{path}` is flushed again"),
            Err(error) if !was_failing => tracing::error!(
                "cannot flush the audit file `{path}`: {}; its last records may be lost",
                unwritten(&error)
            ),
            Ok(()) | Err(_) => {}
        }
    }
}

/// Opens the key of checkpoints, unless the settings switch them off.
fn due(settings: &AuditSettings, audit: &Path) -> Result<Option<Due>, OpenError> {
    let AuditSettings { checkpoint_records, checkpoint_s, checkpoint_folder, .. } = settings;
    if *checkpoint_records == 0 && *checkpoint_s == 0 {
        return Ok(None);
    }
    let opened = match checkpoint_folder {
        Some(folder) => Checkpoints::open(folder, audit).map_err(OpenError::from),
        None => Err(OpenError::NoFolder),
    };
    let checkpoints = match opened {
        Ok(checkpoints) => checkpoints,
        Err(error) if settings.checkpoints_required => return Err(error),
        Err(error) => {
            tracing::warn!("a cut end of the audit file would not show: {error}");
            return Ok(None);
        }
    };
    tracing::info!(
        "checkpoints of the audit are signed by the key {} (`{}`), and kept in `{}`",
        checkpoints.key_id(),
        checkpoints.public_key().display(),
        checkpoints.path().display()
    );
    let time = Duration::from_secs(*checkpoint_s);
    Ok(Some(Due::new(checkpoints, *checkpoint_records, time)))
}

/// Returns the record of an entry as a line.
fn json(caller: &Caller, bundle: Digest, entry: Entry<'_>) -> io::Result<String> {
    let Entry { tool, tier, args, output, exit_code, rule, action, prompts, skills, judged, port } =
        entry;
    let Judged { observed, effects, effects_omitted, approval } = judged;
    let Caller { principal, tenant, role, request_id, traceparent } = caller;
    let (output_sha256, output_len) = output.finish();
    audit::json(&AuditRecord {
        ts: clock::timestamp(),
        tool: truncated(&tool),
        tier,
        denied: action == Action::Refused,
        args,
        output_sha256,
        output_len,
        exit_code,
        request_id: truncated(request_id),
        principal: &principal.id,
        issuer: principal.issuer.as_deref(),
        tenant: tenant.as_deref(),
        role: role.as_deref(),
        bundle: bundle.to_string(),
        rule: truncated(&rule),
        action,
        prompts,
        skills,
        observed,
        effects,
        effects_omitted,
        approval,
        traceparent: traceparent.as_deref().and_then(audit_record::traceparent),
        hook: None,
        port,
    })
}
