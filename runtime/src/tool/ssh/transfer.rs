//! `ssh_upload` and `ssh_download`: files and folders between this server and a host.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use relay_ssh::{Route, TransferError, TransferOptions, Transferred};

use super::order::{number, place, route, stopped};
use crate::record::metrics::Transfer;
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::{Outcome, Run, Running, Tool};

/// The most files and folders of a transfer.
const ENTRIES_MAX: u64 = 100_000;
/// The most bytes of a transfer.
const BYTES_MAX: u64 = 64 << 30;
/// The most names of left-out entries in an answer.
const NAMED_MAX: usize = 10;

/// `ssh_upload`.
pub(in crate::tool) struct SshUpload;
/// `ssh_download`.
pub(in crate::tool) struct SshDownload;

/// A transfer of a call.
struct Asked {
    route: Route,
    local: PathBuf,
    remote: String,
    options: TransferOptions,
    timeout_s: u64,
}

fn asked(run: &Run<'_>) -> Result<Asked, CallError> {
    let text = |name: &str| run.arguments.text(name).unwrap_or_default();
    let local = PathBuf::from(text("local_path"));
    if !local.is_absolute() {
        return Err(CallError::Failed(
            "`local_path` is not absolute: begin it with `/`".to_owned(),
        ));
    }
    without_links(&local)?;
    let timeout_s = number(&run.arguments, "timeout");
    Ok(Asked {
        route: route(run, text("host"))?,
        local,
        // From the home there, where SFTP begins.
        remote: text("remote_path").strip_prefix("~/").unwrap_or(text("remote_path")).to_owned(),
        options: TransferOptions {
            recursive: run.arguments.boolean("recursive").unwrap_or(false),
            entries_max: ENTRIES_MAX,
            bytes_max: BYTES_MAX,
            timeout: Duration::from_secs(timeout_s),
        },
        timeout_s,
    })
}

/// Refuses a path through a link: rules have judged it as it is written.
fn without_links(local: &Path) -> Result<(), CallError> {
    // Parts that are to be made lead nowhere else.
    let exists = |path: &&Path| path.symlink_metadata().is_ok();
    let Some(found) = local.ancestors().find(exists) else { return Ok(()) };
    let real = found.canonicalize().map_err(|error| CallError::Failed(error.to_string()))?;
    let rest = local.strip_prefix(found).unwrap_or(Path::new(""));
    let has_parent = rest.components().any(|part| part == Component::ParentDir);
    if real == found && !has_parent {
        return Ok(());
    }
    let real = real.join(rest);
    let text = format!("`local_path` goes through a link or `..`: write {}", real.display());
    Err(CallError::Failed(text))
}

impl Tool for SshUpload {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { transfer(permit, &run, Transfer::Uploaded).await })
    }
}

impl Tool for SshDownload {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { transfer(permit, &run, Transfer::Downloaded).await })
    }
}

async fn transfer(permit: &Permit, run: &Run<'_>, kind: Transfer) -> Result<Outcome, CallError> {
    let Asked { route, local, remote, options, timeout_s } = asked(run)?;
    let _place = place(permit, run).await?;
    let (pool, stop) = (&run.call.server.remote.pool, stopped(&run.stop));
    let host = run.arguments.text("host").unwrap_or_default();
    let (here, there) = (local.display(), format!("{host}:{remote}"));
    let (done, text) = match kind {
        Transfer::Downloaded => (
            pool.download(&route, (&remote, &local), &options, stop).await,
            format!("downloaded {there} -> {here}"),
        ),
        Transfer::Uploaded | Transfer::Failed => (
            pool.upload(&route, (&local, &remote), &options, stop).await,
            format!("uploaded {here} -> {there}"),
        ),
    };
    count(run, &route, kind, &done);
    answer(done, text, timeout_s)
}

/// Counts a transfer that ended.
fn count(run: &Run<'_>, route: &Route, kind: Transfer, done: &Result<Transferred, TransferError>) {
    let alias = route.hops.last().map_or("", |hop| &hop.alias);
    let source = run.call.placed.loaded.fleet().source(alias);
    let (kind, bytes) = match done {
        Ok(done) => (kind, done.bytes),
        Err(_) => (Transfer::Failed, 0),
    };
    if let Some((transfers, transferred)) = run.call.server.metrics.transfers.get(&(source, kind)) {
        transfers.increment();
        transferred.add(bytes);
    }
}

fn answer(
    done: Result<Transferred, TransferError>,
    what: String,
    timeout_s: u64,
) -> Result<Outcome, CallError> {
    let Transferred { files, folders, bytes, left_out, left_out_count } = match done {
        Ok(done) => done,
        Err(error) => {
            let (is_late, left) = match &error {
                TransferError::Timeout { .. } => (true, String::new()),
                TransferError::Left { cause, temporary } => (
                    matches!(**cause, TransferError::Timeout { .. }),
                    format!("\n`{temporary}` may be left on the host: remove it"),
                ),
                _ => (false, String::new()),
            };
            if !is_late {
                return Err(CallError::Failed(error.to_string()));
            }
            return Ok(Outcome {
                is_error: true,
                timed_out: true,
                ..Outcome::of_text(format!("[TIMEOUT after {timeout_s}s]{left}"))
            });
        }
    };
    let mut text = match folders {
        0 => format!("{what} ({bytes} bytes)"),
        _ => format!("{what} ({files} files, {folders} folders, {bytes} bytes)"),
    };
    if left_out_count > 0 {
        let named: Vec<&str> = left_out.iter().take(NAMED_MAX).map(String::as_str).collect();
        text.push_str(&format!(
            "\n{left_out_count} links and special files were left out: {}",
            named.join(", ")
        ));
    }
    Ok(Outcome::of_text(text))
}
