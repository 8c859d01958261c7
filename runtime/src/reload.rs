//! A replaced bundle -> the bundle in force, without interrupting requests.
//!
//! The new bundle is loaded and verified completely before it replaces the old one, which requests
//! in flight use until they are answered. A bundle that is refused changes nothing.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::load::{LoadError, Loaded, Stamp};
use crate::server::Server;

/// Follows the bundle's path and SIGHUP in the background until the server stops.
///
pub(crate) fn follow(server: Arc<Server>, follower: impl Follower) -> io::Result<()> {
    // From here on SIGHUP no longer ends the process.
    let hangups = signal(SignalKind::hangup())?;
    tokio::spawn(watch(server, hangups, Arc::new(follower)));
    Ok(())
}

/// Further work when the server reads its files again.
pub(crate) trait Follower: Send + Sync + 'static {
    /// Called on each SIGHUP, before the trust file and the bundle are read again.
    fn hang_up(&self);

    /// Called when `new` has replaced `old`.
    fn replaced(&self, old: &Loaded, new: &Loaded);
}

async fn watch(server: Arc<Server>, mut hangups: Signal, follower: Arc<impl Follower>) {
    let poll = server.settings.poll;
    let mut tried = Some(server.loaded().stamp);
    let mut seen = tried;
    loop {
        tokio::select! {
            () = server.closing.cancelled() => return,
            _ = hangups.recv() => {
                server.audit.reopen();
                server.keyring.reload();
                follower.hang_up();
                tried = Stamp::of(server.loader().path());
                reload(&server, &follower).await;
            }
            () = server.loader().found_damage() => reload(&server, &follower).await,
            () = sleep(poll.unwrap_or_default()), if poll.is_some() => {
                let now = Stamp::of(server.loader().path());
                if now != tried && is_settled(seen, now) {
                    tried = now;
                    reload(&server, &follower).await;
                }
                seen = now;
            }
        }
    }
}

/// Returns whether the file at the path can be read. A file that replaced another is complete. A
/// file that is written in place may be incomplete, and a missing one may be about to return: both
/// must have the same state twice.
fn is_settled(seen: Option<Stamp>, now: Option<Stamp>) -> bool {
    match (seen, now) {
        (Some(seen), Some(now)) if !now.is_same_file(&seen) => true,
        _ => seen == now,
    }
}

async fn reload(server: &Arc<Server>, follower: &Arc<impl Follower>) {
    let (loading, follower) = (server.clone(), follower.clone());
    // Reading and hashing a large bundle takes a while, so it must not block requests.
    let task = tokio::task::spawn_blocking(move || -> Result<_, LoadError> {
        let new = Arc::new(loading.loader().load()?);
        let old = loading.replace(new.clone());
        follower.replaced(&old, &new);
        Ok(new)
    });
    match task.await {
        Ok(Ok(new)) => tracing::info!("{} is in force", new.bundle.digest()),
        Ok(Err(error)) => server.refuse_reload(&error),
        Err(error) => tracing::error!("the reload did not end: {error}"),
    }
}
