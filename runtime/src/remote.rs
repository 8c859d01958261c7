//! Other hosts: the way to each, whose keys prove them, and the connections that calls share.

mod forwards;
mod known;
mod route;
mod signals;
mod terminal;
mod trust;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use relay_ssh::{Hop, Limits, Pool, Route};

pub(crate) use self::forwards::{Forwards, OpenForward, Opened};
pub(crate) use self::route::Ask;
pub(crate) use self::signals::signal_number;
pub(crate) use self::terminal::RemoteTerminal;

use self::known::Known;
use self::route::Ways;
use crate::caller::principal::CallerKey;
use crate::caller::slots::Slots;
use crate::hosts::{Account, Fleet};
use crate::settings::config::Ssh as Settings;

/// Other hosts, and the connections to them.
pub(crate) struct Remote {
    pub(crate) pool: Pool,
    pub(crate) limits: Limits,
    pub(crate) ways: Ways,
    pub(crate) forwards: Forwards,
    /// The connections of each caller's calls for many hosts.
    pub(crate) shares: Slots<CallerKey>,
}

/// The part of all connections that one caller's calls for many hosts may use at once.
const SHARE: usize = 4;

impl Remote {
    /// Returns the state of a server with these settings, for its account.
    pub(crate) fn new(settings: &Settings, account: Account) -> Self {
        let limits = Limits {
            connect: Duration::from_secs(settings.connect_s_max.get().into()),
            idle: Duration::from_secs(settings.idle_s_max.get().into()),
            connections_max: settings.connections_max.get(),
            ..Limits::default()
        };
        let files = match &settings.known_hosts {
            Some(files) => files.clone(),
            None => {
                let own = account.home.iter().map(|home| home.join(".ssh/known_hosts"));
                own.chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]).collect()
            }
        };
        Self {
            pool: Pool::new(limits.clone()),
            limits,
            ways: Ways { known: Known::new(files), account },
            shares: Slots::new((settings.connections_max.get() / SHARE).max(1)),
            forwards: Forwards::new(settings.principal_forwards_max.get()),
        }
    }
}

impl Remote {
    /// Ends the connections to hosts that a project with these hosts would reach in another way, or not at
    /// all; `None` stands for a project that may reach no host. Returns the places that they led to.
    pub(crate) async fn end_refused(&self, fleet: Option<&Fleet>) -> Vec<String> {
        let mut ended = Vec::new();
        let keep = |route: &Route| {
            let is_kept = fleet.is_some_and(|fleet| self.ways.is_way(fleet, route));
            if !is_kept {
                ended.extend(route.hops.last().map(Hop::place));
            }
            is_kept
        };
        self.pool.retain(keep).await;
        ended
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pool, limits: _, ways, forwards, shares: _ } = self;
        let connections = pool.connections();
        out.debug_struct("Remote")
            .field("connections", &connections)
            .field("ways", ways)
            .field("forwards", forwards)
            .finish()
    }
}
