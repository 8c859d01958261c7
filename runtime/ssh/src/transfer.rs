//! Files and folders to and from a host, over SFTP.
//!
//! A file appears under its name only when it is whole: it is written under a temporary name and renamed.
//! Permissions and the time of modification are kept. Links inside a folder are left out and listed.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::channel::Pipe;
use account::Account;
use download::Download;
use sftp::Sftp;
use upload::Upload;

pub use account::{TransferError, TransferOptions, Transferred};

mod account;
mod download;
mod local;
mod name;
mod sftp;
mod upload;

/// The time for the removal of a temporary file after a failure.
const CLEANUP_MAX: Duration = Duration::from_secs(3);

/// Copies the file or the content of the folder `local` to the path `remote`.
pub(crate) async fn upload(
    pipe: impl Future<Output = Result<Pipe, TransferError>>,
    local: &Path,
    remote: &str,
    options: &TransferOptions,
    stop: impl Future<Output = ()>,
) -> Result<Transferred, TransferError> {
    let mut stop = pin!(stop);
    let sftp = until_stopped(begin(pipe), stop.as_mut()).await?;
    let mut account = Account::new(options);
    let mut upload = Upload { sftp: &sftp, account: &mut account, recursive: options.recursive };
    let work = limited(upload.path(local, remote), options.timeout);
    let result = until_stopped(work, stop).await;
    if let Err(cause) = result {
        let _ = timeout(CLEANUP_MAX, sftp.remove_temporary()).await;
        return Err(match sftp.temporary() {
            Some(temporary) => TransferError::Left { cause: cause.into(), temporary },
            None => cause,
        });
    }
    Ok(account.done())
}

/// Copies the file or the content of the folder `remote` to the path `local`.
pub(crate) async fn download(
    pipe: impl Future<Output = Result<Pipe, TransferError>>,
    remote: &str,
    local: &Path,
    options: &TransferOptions,
    stop: impl Future<Output = ()>,
) -> Result<Transferred, TransferError> {
    let mut stop = pin!(stop);
    let sftp = until_stopped(begin(pipe), stop.as_mut()).await?;
    let mut account = Account::new(options);
    let mut download =
        Download { sftp: &sftp, account: &mut account, recursive: options.recursive };
    let work = limited(download.path(remote, local), options.timeout);
    until_stopped(work, stop).await?;
    Ok(account.done())
}

async fn begin(
    pipe: impl Future<Output = Result<Pipe, TransferError>>,
) -> Result<Sftp, TransferError> {
    Sftp::open(pipe.await?).await
}

async fn limited(
    work: impl Future<Output = Result<(), TransferError>>,
    limit: Duration,
) -> Result<(), TransferError> {
    timeout(limit, work).await.unwrap_or(Err(TransferError::Timeout { limit }))
}

async fn until_stopped<T>(
    work: impl Future<Output = Result<T, TransferError>>,
    stop: impl Future<Output = ()>,
) -> Result<T, TransferError> {
    let mut stop = pin!(stop);
    tokio::select! {
        done = work => done,
        () = &mut stop => Err(TransferError::Stopped),
    }
}
