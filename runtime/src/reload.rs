//! A replaced bundle -> the bundle in force, without a request noticing.
//!
//! The new one is loaded and verified whole before it takes the place of the old one, which
//! requests in flight keep until they are answered. One that is refused changes nothing.

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

/// What else has to be done when the server reads its files again.
pub(crate) trait Follower: Send + Sync + 'static {
    /// Is called on each SIGHUP, before the trust file and the bundle are read again.
    fn hang_up(&self);

    /// Is called when `new` has taken the place of `old`.
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

/// A file that took the place of another is whole. One that is written in place may be half
/// there, and one that is gone may be about to come back: both must look the same twice.
fn is_settled(seen: Option<Stamp>, now: Option<Stamp>) -> bool {
    match (seen, now) {
        (Some(seen), Some(now)) if !now.is_same_file(&seen) => true,
        _ => seen == now,
    }
}

async fn reload(server: &Arc<Server>, follower: &Arc<impl Follower>) {
    let (loading, follower) = (server.clone(), follower.clone());
    // Reading and hashing a large bundle takes a while; requests go on meanwhile.
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
