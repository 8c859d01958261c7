//! `audit_tail`: the newest records of the audit file, oldest first.

use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use relay_bundle::{Corrupt, Tier};
use relay_engine::system_error::reason;
use relay_engine::tool::Arguments;
use relay_machine::file::regular_file;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use super::own_record;
use crate::caller::principal::CallerKey;
use crate::trust::placed::Placed;

/// The most bytes that are read from the end of the file.
const SCANNED_BYTES_MAX: u64 = 8 << 20;
const CHUNK_BYTES: u64 = 64 << 10;

/// `audit_tail`.
pub(super) struct AuditTail;

impl Tool for AuditTail {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(tail(permit, run))
    }
}

async fn tail(_: &Permit, run: Run<'_>) -> Result<Outcome, CallError> {
    let Run { call, arguments, stop, .. } = run;
    let Some(path) = call.server.audit.path().map(Path::to_owned) else {
        return Err(CallError::Failed("this server keeps no audit".to_owned()));
    };
    let query = Query::new(&arguments);
    // The file may also be from a server whose callers authenticate, even if this one is on stdio.
    let owner = call
        .server
        .settings
        .auth
        .is_some()
        .then(|| Owner { key: call.caller.recorded_key(), placed: call.placed.clone() });
    // Reading the disk may take long and other requests of this thread go on meanwhile.
    let read = move || records(&path, &query, owner.as_ref(), &stop);
    let records = tokio::task::spawn_blocking(read).await.map_err(io::Error::other).flatten();
    let failed =
        |error| CallError::Failed(format!("cannot read the audit file: {}", reason(&error)));
    records.map(Outcome::of_text).map_err(failed)
}

/// The caller whose records are returned.
struct Owner {
    key: CallerKey,
    placed: Placed,
}

/// The records to return.
#[derive(Debug)]
struct Query {
    lines: usize,
    tool: Option<String>,
    tier: Option<Tier>,
    denied: Option<bool>,
}

impl Query {
    fn new(arguments: &Arguments<'_>) -> Self {
        let tool = arguments.text("tool").filter(|tool| !tool.is_empty());
        let lines = arguments.integer("lines").and_then(|lines| usize::try_from(lines).ok());
        let tier = arguments.integer("tier").and_then(|tier| u8::try_from(tier).ok());
        Self {
            lines: lines.unwrap_or_default(),
            tool: tool.map(ToOwned::to_owned),
            tier: tier.and_then(Tier::from_number),
            denied: arguments.boolean("denied"),
        }
    }
}

/// The fields of a record that a query needs.
#[derive(Deserialize)]
struct Record {
    tool: String,
    tier: Tier,
    denied: bool,
    principal: String,
    issuer: Option<String>,
    tenant: Option<String>,
}

/// Returns the last records as JSON lines; the filters apply only to these. If callers
/// authenticate, each reads only its own records, as an `owner`. Lines broken by a full disk are
/// left out.
///
/// A missing file is an empty one.
fn records(
    path: &Path,
    query: &Query,
    owner: Option<&Owner>,
    stop: &CancellationToken,
) -> io::Result<String> {
    let Some(tail) = Tail::open(path)? else { return Ok(String::new()) };
    let mut window: Vec<String> = Vec::new();
    let mut wanted = Vec::new();
    let mut damage = None;
    tail.lines(stop, |line| {
        let shown = match own(line, owner) {
            Ok(shown) => shown,
            Err(error) => {
                damage = Some(error);
                return false;
            }
        };
        let parsed = shown.and_then(|shown| Some((serde_json::from_str(&shown).ok()?, shown)));
        let Some((record, shown)) = parsed else { return true };
        let (Record { tool, tier, denied, .. }, query) = (record, query);
        let is_wanted = query.tool.as_ref().is_none_or(|wanted| *wanted == tool)
            && query.tier.is_none_or(|wanted| wanted == tier)
            && query.denied.is_none_or(|wanted| wanted == denied);
        wanted.push(is_wanted);
        window.push(shown);
        window.len() < query.lines
    })?;
    if let Some(damage) = damage {
        return Err(io::Error::other(damage));
    }
    let found = window.into_iter().zip(wanted).rev().filter(|(_, is_wanted)| *is_wanted);
    Ok(found.map(|(line, _)| line + "\n").collect())
}

/// Returns a record in the form for its owner; `None` for a broken line or another's record.
fn own(line: &str, owner: Option<&Owner>) -> Result<Option<String>, Corrupt> {
    let Ok(record) = serde_json::from_str::<Record>(line) else { return Ok(None) };
    let Some(Owner { key, placed }) = owner else { return Ok(Some(line.to_owned())) };
    let Record { principal, issuer, tenant, .. } = record;
    if !key.is(&principal, issuer.as_deref(), tenant.as_deref()) {
        return Ok(None);
    }
    own_record::shown(placed, line)
}

/// The end of the audit file, opened separately from the writer.
struct Tail {
    file: std::fs::File,
    start: u64,
    end: u64,
}

impl Tail {
    fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match regular_file::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let end = file.metadata()?.len();
        Ok(Some(Self { file, start: end.saturating_sub(SCANNED_BYTES_MAX), end }))
    }

    /// Passes complete lines to `wants_more`, from the last to the first, until it returns false or
    /// the call is over.
    fn lines(
        &self,
        stop: &CancellationToken,
        mut wants_more: impl FnMut(&str) -> bool,
    ) -> io::Result<()> {
        let mut at = self.end;
        // The bytes before the first line feed of the chunk that follows this one.
        let mut following: Vec<u8> = Vec::new();
        while at > self.start && !stop.is_cancelled() {
            let from = at.saturating_sub(CHUNK_BYTES).max(self.start);
            let mut chunk = vec![0; usize::try_from(at - from).unwrap_or(0)];
            self.file.read_exact_at(&mut chunk, from)?;
            chunk.append(&mut following);
            let mut parts = chunk.split(|byte| *byte == b'\n');
            following = parts.next().unwrap_or_default().to_vec();
            for line in parts.rev() {
                // A part of a line may end within a character.
                if let Ok(line) = str::from_utf8(line)
                    && !wants_more(line)
                {
                    return Ok(());
                }
            }
            at = from;
        }
        if self.start == 0 {
            _ = str::from_utf8(&following).map(wants_more);
        }
        Ok(())
    }
}
