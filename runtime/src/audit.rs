//! The audit file: one JSON line for each record, appended, readable by this user alone.
//!
//! A record is written before its answer is sent, by one `write` to a file opened for appending. So
//! two servers may share a file, and a crash of the server loses no record of an answer that a
//! client has. Records are not flushed to the disk one by one.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use relay_bundle::Digest;
use relay_engine::audit_record::{self, Action, AuditRecord, OutputHash, truncated};
use serde::Serialize;
use thiserror::Error;

use crate::caller::Caller;
use crate::clock;
use crate::lock::lock;
use crate::settings::AuditPath;

/// The audit file, if there is one.
#[derive(Debug)]
pub(crate) struct Audit {
    target: Option<Target>,
}

#[derive(Debug)]
struct Target {
    path: PathBuf,
    writer: Mutex<Writer>,
    failing: AtomicBool,
}

#[derive(Debug)]
struct Writer {
    file: File,
    /// Whether the last line was written in part: the next one must not continue it.
    torn: bool,
}

/// A request and its outcome.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// What was requested, a `Subject`, or what happened to a bundle. Never what a caller typed.
    pub(crate) tool: String,
    /// The tier of the call; reads are 0.
    pub(crate) tier: u8,
    pub(crate) args: BTreeMap<&'a str, String>,
    pub(crate) output: OutputHash,
    /// The exit code, for commands.
    pub(crate) exit_code: Option<i32>,
    /// The place of the declaration that was served, or why nothing was. Never what a caller typed.
    pub(crate) rule: String,
    pub(crate) action: Action,
    /// The names of the prompts that a briefing sent in full.
    pub(crate) prompts: Vec<String>,
}

impl<'a> Entry<'a> {
    /// Returns the entry of a request that was served.
    pub(crate) fn served(
        tool: String,
        args: BTreeMap<&'a str, String>,
        output: OutputHash,
        rule: String,
    ) -> Self {
        let (action, prompts) = (Action::Served, Vec::new());
        Self { tool, tier: 0, args, output, exit_code: None, rule, action, prompts }
    }

    /// Returns the entry of a request that was rejected or denied for the reason `rule`.
    pub(crate) fn refused(tool: String, args: BTreeMap<&'a str, String>, rule: String) -> Self {
        Self { action: Action::Refused, ..Self::served(tool, args, OutputHash::default(), rule) }
    }
}

/// The state of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Health {
    /// No audit is kept.
    Off,
    /// The last record was written.
    Ok,
    /// The last record could not be written.
    Failing,
}

/// Why the audit file cannot be opened.
#[derive(Debug, Error)]
#[error(
    "cannot append to the audit file `{}`: {source}; name another with --audit FILE, or `--audit none` to keep no record",
    path.display()
)]
pub(crate) struct AuditError {
    path: PathBuf,
    source: io::Error,
}

impl Audit {
    /// Opens the file at `path`, which is created if it is missing, and logs where records go.
    pub(crate) fn open(path: &AuditPath) -> Result<Self, AuditError> {
        let path = match path {
            AuditPath::Named(path) => path,
            AuditPath::Own(path) => {
                make_folder_of(path)?;
                path
            }
            AuditPath::Off => {
                tracing::info!("nothing is recorded, as configured");
                return Ok(Self { target: None });
            }
            AuditPath::Homeless => {
                tracing::warn!(
                    "nothing is recorded: neither XDG_STATE_HOME nor HOME says where; name a file with --audit FILE"
                );
                return Ok(Self { target: None });
            }
        };
        let file = open(path)?;
        tracing::info!("every tool call, prompt and resource is recorded in `{}`", path.display());
        Ok(Self {
            target: Some(Target {
                path: path.to_owned(),
                writer: Mutex::new(Writer { file, torn: false }),
                failing: AtomicBool::new(false),
            }),
        })
    }

    /// Opens the file again by its name, so that it can be moved away (log rotation).
    pub(crate) fn reopen(&self) {
        let Some(target) = &self.target else { return };
        match open(&target.path) {
            Ok(file) => {
                *lock(&target.writer) = Writer { file, torn: false };
            }
            Err(error) => target.fail(&error.to_string()),
        }
    }

    /// Returns the file that records go to.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.target.as_ref().map(|target| target.path.as_path())
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
    /// logged, and the server is no longer ready; reads are still answered.
    pub(crate) fn record(&self, caller: &Caller, bundle: Digest, entry: Entry<'_>) {
        let Some(target) = &self.target else { return };
        let Entry { tool, tier, args, output, exit_code, rule, action, prompts } = entry;
        let Caller { principal, request_id, traceparent } = caller;
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
            tenant: principal.tenant.as_deref(),
            bundle: bundle.to_string(),
            rule: truncated(&rule),
            action,
            prompts,
            traceparent: traceparent.as_deref().and_then(audit_record::traceparent),
        };
        let written = serde_json::to_vec(&record)
            .map_err(io::Error::from)
            .and_then(|line| target.append(line));
        match written {
            Ok(()) => target.failing.store(false, Ordering::Relaxed),
            Err(error) => target.fail(&error.to_string()),
        }
    }
}

impl Target {
    fn append(&self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let mut writer = lock(&self.writer);
        if writer.torn {
            line.insert(0, b'\n');
        }
        let written = writer.file.write(&line)?;
        // A full disk may take only a part of a line. Readers skip a line that is not JSON, and the
        // next record begins on a line of its own.
        writer.torn = written < line.len();
        if writer.torn { Err(io::ErrorKind::WriteZero.into()) } else { Ok(()) }
    }

    fn fail(&self, reason: &str) {
        if !self.failing.swap(true, Ordering::Relaxed) {
            tracing::error!("cannot write the audit file `{}`: {reason}", self.path.display());
        }
    }
}

fn make_folder_of(path: &Path) -> Result<(), AuditError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(folder)
        .map_err(|source| AuditError { path: path.to_owned(), source })
}

fn open(path: &Path) -> Result<File, AuditError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| AuditError { path: path.to_owned(), source })
}
