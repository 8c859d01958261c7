//! The records of a server: the requests, their callers, and how they ended.
//!
//! A record is written before its answer is sent. Lost records are counted in a record as soon as one
//! can be written.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use relay_bundle::{Digest, Tier};
use relay_engine::audit_record::{
    self, Action, AuditRecord, OutputHash, PortRecord, RecordedEffect, truncated,
};
use relay_machine::audit::{AuditError, AuditFile, unwritten};
use relay_machine::clock;
use relay_machine::lock::lock;
use serde::Serialize;

use super::metrics::Counter;
use crate::caller::Caller;
use crate::settings::AuditPath;

/// The label of a record that counts lost records.
const LOST: &str = "audit:lost";
/// The principal of records about the server itself.
const SERVER: &str = "server";

/// The audit file, if there is one.
#[derive(Debug)]
pub(crate) struct Audit {
    target: Option<Target>,
    denials: Counter,
}

#[derive(Debug)]
struct Target {
    path: PathBuf,
    writer: Mutex<Writer>,
    failing: AtomicBool,
}

#[derive(Debug)]
struct Writer {
    file: AuditFile,
    /// The number of records lost since the last written one.
    lost: u64,
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
    /// Opens the file at `path`, created if missing, and logs where records go.
    pub(crate) fn open(path: &AuditPath) -> Result<Self, AuditError> {
        let file = match path {
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
        Ok(Self::to(Some(Target {
            path: file.path().to_owned(),
            writer: Mutex::new(Writer { file, lost: 0 }),
            failing: AtomicBool::new(false),
        })))
    }

    fn to(target: Option<Target>) -> Self {
        Self { target, denials: Counter::default() }
    }

    /// Returns the number of rejected or denied requests, recorded or only counted.
    pub(crate) fn denials(&self) -> u64 {
        self.denials.get()
    }

    /// Opens the file again by its name, so that it can be moved away (log rotation). If that fails,
    /// records still go to the open file.
    pub(crate) fn reopen(&self) {
        let Some(target) = &self.target else { return };
        match AuditFile::open(&target.path) {
            Ok(file) => lock(&target.writer).file = file,
            Err(error) => {
                tracing::error!("{error}; records still go to the file that was opened before");
            }
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
        if target.failing.load(Ordering::Relaxed) {
            target.note(lock(&target.writer).write_lost(bundle));
        }
    }

    /// Returns the state of the audit.
    pub(crate) fn health(&self) -> Health {
        match &self.target {
            None => Health::Off,
            Some(target) if target.failing.load(Ordering::Relaxed) => Health::Failing,
            Some(_) => Health::Ok,
        }
    }

    /// Appends the record of `entry`, requested by `caller` under the bundle `bundle`. A failure is
    /// logged, and the server becomes unready; reads are still answered.
    pub(crate) fn record(&self, caller: &Caller, bundle: Digest, entry: Entry<'_>) {
        if entry.action == Action::Refused {
            self.denials.increment();
        }
        let Some(target) = &self.target else { return };
        let Entry {
            tool,
            tier,
            args,
            output,
            exit_code,
            rule,
            action,
            prompts,
            skills,
            judged,
            port,
        } = entry;
        let Judged { observed, effects, effects_omitted, approval } = judged;
        let Caller { principal, tenant, role, request_id, traceparent } = caller;
        let (output_sha256, output_len) = output.finish();
        let record = AuditRecord {
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
        };
        let mut writer = lock(&target.writer);
        let written = writer.write_lost(bundle).and_then(|()| writer.file.append(&record));
        if written.is_err() {
            writer.lost += 1;
        }
        target.note(written);
    }
}

impl Target {
    /// Notes whether a record was written, and logs a change.
    fn note(&self, written: io::Result<()>) {
        let (path, was_failing) = (self.path.display(), self.failing.load(Ordering::Relaxed));
        self.failing.store(written.is_err(), Ordering::Relaxed);
        match written {
            Ok(()) if was_failing => tracing::warn!("the audit file `{path}` is written again"),
            Err(error) if !was_failing => {
                tracing::error!("cannot write the audit file `{path}`: {}", unwritten(&error));
            }
            Ok(()) | Err(_) => {}
        }
    }
}

impl Writer {
    /// Writes the number of lost records, if any.
    fn write_lost(&mut self, bundle: Digest) -> io::Result<()> {
        if self.lost == 0 {
            return Ok(());
        }
        let (output_sha256, output_len) = OutputHash::default().finish();
        self.file.append(&AuditRecord {
            ts: clock::timestamp(),
            tool: LOST.to_owned(),
            tier: Tier::ReadOnly,
            denied: false,
            args: BTreeMap::from([("count", self.lost.to_string())]),
            output_sha256,
            output_len,
            exit_code: None,
            request_id: String::new(),
            principal: SERVER,
            issuer: None,
            tenant: None,
            role: None,
            bundle: bundle.to_string(),
            rule: format!("{} records could not be written before this one", self.lost),
            action: Action::Served,
            prompts: Vec::new(),
            skills: Vec::new(),
            observed: Vec::new(),
            effects: Vec::new(),
            effects_omitted: 0,
            approval: None,
            traceparent: None,
            hook: None,
            port: None,
        })?;
        self.lost = 0;
        Ok(())
    }
}
