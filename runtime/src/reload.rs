//! A replaced bundle -> the bundle in force, while requests go on.
//!
//! The new bundle is loaded and verified completely before it replaces the old one, which requests
//! in flight use until they are answered. A refused bundle changes nothing. The bundle in force is
//! judged again whenever the trust file may have changed: a revocation ends service.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use relay_bundle::trust::Time;
#[cfg(feature = "ssh")]
use relay_engine::tool::Group;
use relay_machine::clock;
use relay_machine::file::stamp::Stamp;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use crate::server::Server;
use crate::settings::Settings;
use crate::tool;
use crate::trust::load::LoadError;
use crate::trust::loaded::Loaded;
use crate::trust::named;

/// The longest time between two looks at the clock.
const CLOCK_INTERVAL_MAX: Duration = Duration::from_secs(60);

/// Follows the paths of the bundle and of the trust file, SIGHUP and the clock in the background
/// until the server stops.
pub(crate) fn follow(server: Arc<Server>, follower: impl Follower) -> io::Result<()> {
    // From here on SIGHUP leaves the process running.
    let hangups = signal(SignalKind::hangup())?;
    tokio::spawn(watch(server, hangups, Arc::new(follower)));
    Ok(())
}

/// Further work when the server reads its files again.
pub(crate) trait Follower: Send + Sync + 'static {
    /// Called on each SIGHUP with the settings as they are now, before the trust file and the bundle
    /// are read again.
    fn hang_up(&self, settings: &Settings);

    /// Called when `new` has replaced `old`.
    fn replaced(&self, old: &Arc<Loaded>, new: &Arc<Loaded>);
}

async fn watch(server: Arc<Server>, mut hangups: Signal, follower: Arc<impl Follower>) {
    let poll = server.settings.poll;
    let loaded = server.loaded().clone();
    let mut bundle = Watched::new(server.loader().path(), Some(loaded.stamp));
    let mut trust = server.loader().trust_path().map(|path| Watched::new(path, loaded.trust_stamp));
    drop(loaded);
    let mut reported = None;
    // The settings that were read last; `None` for those of the start.
    let mut settings = None;
    loop {
        tokio::select! {
            () = server.closing.cancelled() => return,
            _ = hangups.recv() => {
                server.audit.reopen();
                if let Some(new) = read_settings(&server) {
                    settings = Some(new);
                }
                let settings = settings.as_ref().unwrap_or(&server.settings);
                server.keyring.reload(&settings.briefing);
                follower.hang_up(settings);
                // The reload below reads both files, so the next poll skips them.
                bundle.skip();
                if let Some(trust) = &mut trust {
                    trust.skip();
                }
                reload(&server, &follower).await;
            }
            () = server.loader().found_damage() => reload(&server, &follower).await,
            () = sleep(poll.unwrap_or_default()), if poll.is_some() => {
                let trust_changed = trust.as_mut().is_some_and(Watched::has_changed);
                if bundle.has_changed() || trust_changed {
                    reload(&server, &follower).await;
                }
            }
            () = sleep(until_expiry(&server)) => {}
        }
        report_doubt(&server, &mut reported);
    }
}

/// Reads the settings again, and logs those that need a restart. Returns `None` for invalid
/// settings, and the earlier ones stay in force.
fn read_settings(server: &Server) -> Option<Settings> {
    match server.settings.read_again() {
        Ok(new) => {
            for name in server.settings.need_restart(&new) {
                tracing::warn!("`{name}` has changed: it takes effect after a restart");
            }
            Some(new)
        }
        Err(error) => {
            tracing::error!("{error}; the settings read before stay in force");
            None
        }
    }
}

/// Logs names in the settings that a starting server would refuse: above all its own caller, which
/// sees nothing if the bundle gives it no place.
fn report_names(server: &Server, loaded: &Arc<Loaded>) {
    let checked = named::check(&server.settings, loaded);
    let warned = checked.and_then(|()| named::warn_of_open_rows(&server.settings, loaded));
    let placed = warned.and_then(|()| named::check_own_caller(&server.settings, loaded));
    if let Err(error) = placed {
        tracing::error!("{error}; a restart would refuse {}", loaded.digest());
    }
}

/// Logs each new reason for which a starting server would refuse the bundle in force.
fn report_doubt(server: &Server, reported: &mut Option<String>) {
    let doubt = server.doubt();
    let is_served = server.loaded().in_force().is_ok();
    if let Some(reason) = doubt.as_ref().filter(|_| is_served && doubt != *reported) {
        let digest = server.loaded().digest();
        tracing::error!("{digest} stays in force, but a restart would refuse it: {reason}");
    }
    *reported = doubt;
}

/// Returns the time until the next look at the clock: until a key of the bundle expires, but a
/// minute at most, since the clock may be set.
fn until_expiry(server: &Server) -> Duration {
    let now = clock::unix_seconds();
    let expires = server.loaded().standing().expires();
    let left = expires.and_then(|Time(end)| end.checked_sub(now)).filter(|left| *left > 0);
    left.map_or(CLOCK_INTERVAL_MAX, |left| Duration::from_secs(left).min(CLOCK_INTERVAL_MAX))
}

/// A file whose replacement is detected.
struct Watched {
    path: PathBuf,
    /// Its state when it was last read.
    read: Option<Stamp>,
    /// Its state at the last look.
    seen: Option<Stamp>,
}

impl Watched {
    fn new(path: &Path, read: Option<Stamp>) -> Self {
        Self { path: path.to_owned(), read, seen: read }
    }

    /// Returns whether the file differs from the one that was read last, and is complete. It then
    /// counts as read.
    fn has_changed(&mut self) -> bool {
        let now = Stamp::of(&self.path);
        let changed = now != self.read && is_settled(self.seen, now);
        self.seen = now;
        if changed {
            self.read = now;
        }
        changed
    }

    /// Counts the file as read, as it is now.
    fn skip(&mut self) {
        self.read = Stamp::of(&self.path);
    }
}

/// Returns whether the file at the path can be read. A file that replaced another is complete. A
/// file written in place may be incomplete, and a missing one may soon return: both must have the
/// same state twice.
fn is_settled(seen: Option<Stamp>, now: Option<Stamp>) -> bool {
    match (seen, now) {
        (Some(seen), Some(now)) if !now.is_same_file(&seen) => true,
        _ => seen == now,
    }
}

async fn reload(server: &Arc<Server>, follower: &Arc<impl Follower>) {
    let (loading, follower) = (server.clone(), follower.clone());
    // Reading and hashing a large bundle takes time, and requests go on meanwhile.
    let task = tokio::task::spawn_blocking(move || -> Result<_, LoadError> {
        loading.judge_again()?;
        let new = Arc::new(loading.loader().load()?);
        let old = loading.replace(new.clone());
        follower.replaced(&old, &new);
        Ok(new)
    });
    match task.await {
        Ok(Ok(new)) => {
            tracing::info!("{} is in force ({})", new.digest(), new.described());
            report_names(server, &new);
        }
        Ok(Err(error)) => server.refuse_reload(&error),
        Err(error) => tracing::error!("the reload did not end: {error}"),
    }
    // Also after a refusal, since the bundle in force may have been revoked.
    tool::end_refused(server);
    #[cfg(feature = "ssh")]
    end_refused_connections(server).await;
}

/// Ends the connections that the bundle in force would not let begin, and records them.
#[cfg(feature = "ssh")]
async fn end_refused_connections(server: &Server) {
    let loaded = server.loaded().clone();
    let reaches_hosts = loaded.tools.iter().any(|offered| offered.spec.group == Group::Ssh);
    let may_reach = loaded.in_force().is_ok() && reaches_hosts;
    let fleet = may_reach.then(|| loaded.fleet());
    for place in server.remote.end_refused(fleet).await {
        server.record_ended_connection(place);
    }
}
