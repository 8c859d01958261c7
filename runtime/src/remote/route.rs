//! The host of a call -> the way to it: its jumps, its address, its user, its key, and the check of its
//! host key.
//!
//! The project decides how a host that it lists is reached: a call may set the rest, and may ask for a
//! stricter check alone.

use std::path::PathBuf;
use std::sync::Arc;

use relay_bundle::{Host, KnownHosts, Outside, Setting};
use relay_policy::host::canonical_host;
use relay_ssh::config::IdentityAgent;
use relay_ssh::known_hosts::{KnownHosts as KnownKeys, PinError};
use relay_ssh::{HOPS_MAX, Hop, HostKeyMode, Identity, Place, Route, user_name};
use thiserror::Error;

use super::known::{Known, KnownError};
use super::trust::{Pinned, Trust};
use crate::hosts::{Account, Fleet, Login};

/// The port of SSH.
const PORT: u16 = 22;
/// The most characters of a name in a message.
const SHOWN_CHARS_MAX: usize = 64;

/// The host that a call names, and its settings; empty and 0 for those that it leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ask<'a> {
    pub(crate) host: &'a str,
    pub(crate) user: &'a str,
    pub(crate) port: u16,
    pub(crate) key_path: &'a str,
    pub(crate) known_hosts: &'a str,
    pub(crate) jump: &'a str,
}

/// There is no way to the host. The texts are for the caller.
#[derive(Debug, Error)]
pub(crate) enum RouteError {
    #[error(
        "this is not the name of a host: write an alias of ssh_hosts, or USER@HOST; the port is `port`"
    )]
    NoHost,
    #[error("this is not the name of a user: write letters, digits, `-`, `_` and `.`")]
    BadUser,
    #[error("`jump` is a host, USER@HOST or USER@HOST:PORT")]
    BadJump,
    #[error("`key_path` is not absolute: begin it with `/` or `~/`")]
    RelativeKey,
    #[error("the host is none of this server's; ssh_hosts lists them")]
    Outside,
    #[error("the files of the server put this host out of reach: {0}")]
    Refused(String),
    #[error("several hosts have this address: name one of {}", aliases.join(", "))]
    Ambiguous { aliases: Vec<String> },
    #[error("the {what} of `{alias}` is set: leave `{argument}` out")]
    Set { what: &'static str, argument: &'static str, alias: String },
    #[error("`known_hosts` is one of strict, accept-new and ignore")]
    NoCheck,
    #[error(
        "the project asks for `{word}` as the check of this host's key, and a call may ask only for a stricter one"
    )]
    Weaker { word: &'static str },
    #[error("no user is known for this host: give `user`")]
    NoUser,
    #[error("the host is reached through more than {HOPS_MAX} hosts")]
    TooFar,
    #[error(transparent)]
    Known(#[from] KnownError),
    #[error("a pin of the project is invalid: {0}")]
    Pin(#[from] PinError),
}

/// A host as a call means it.
enum Meant<'h> {
    /// One of the project.
    Listed(&'h Host),
    /// Another one, in one spelling.
    Other(String),
}

/// The keys that a login offers.
struct Keys {
    identities: Vec<Identity>,
    /// Whether an agent offers no others.
    is_only: bool,
    agent: Option<PathBuf>,
}

/// The ways to hosts that the settings and the account of the server allow.
#[derive(Debug)]
pub(crate) struct Ways {
    pub(super) known: Known,
    pub(super) account: Account,
}

impl Ways {
    /// Returns the way to the host of a call, in a project with these hosts.
    pub(crate) fn route(&self, fleet: &Fleet, ask: &Ask<'_>) -> Result<Route, RouteError> {
        let (user, name) = match ask.host.rsplit_once('@') {
            Some((user, name)) => (user, name),
            None => ("", ask.host),
        };
        if !user.is_empty() && !ask.user.is_empty() && user != ask.user {
            return Err(RouteError::NoHost);
        }
        let ask = Ask { user: if user.is_empty() { ask.user } else { user }, ..*ask };
        check_user(ask.user)?;
        let meant = meant(fleet, name)?;
        let mut hops = vec![self.hop(fleet, &meant, &ask)?];
        let mut next = jump(fleet, &meant, &ask)?;
        while let Some((host, ask)) = next {
            if hops.len() == HOPS_MAX {
                return Err(RouteError::TooFar);
            }
            hops.push(self.hop(fleet, &host, &ask)?);
            next = jump(fleet, &host, &Ask::default())?;
        }
        hops.reverse();
        Ok(Route { hops })
    }

    /// Returns whether a call would still take this way, in a project with these hosts. Where a file of
    /// known hosts has changed, the answer is no: the host must prove itself again.
    pub(super) fn is_way(&self, fleet: &Fleet, route: &Route) -> bool {
        let [before @ .., goal] = route.hops.as_slice() else { return false };
        let listed = match meant(fleet, &goal.alias) {
            Ok(Meant::Listed(host)) => Some(host),
            _ => None,
        };
        // Settings of the project or a file are left out: a call may not repeat them.
        let has_keys = listed.is_some_and(|host| host.key.is_some())
            || fleet.login(&goal.alias).is_some_and(|login| login.identities.is_some());
        let key = goal.identities.first().filter(|_| goal.identities_only && !has_keys);
        let key = key.and_then(|identity| identity.key.to_str()).unwrap_or_default();
        let has_jump = listed.is_some_and(|host| host.jump.is_some());
        let jump = before.last().filter(|_| !has_jump).map(|hop| {
            let Hop { alias, user, port, .. } = hop;
            let host = if alias.contains(':') { format!("[{alias}]") } else { alias.clone() };
            format!("{user}@{host}:{port}")
        });
        let jump = jump.unwrap_or_default();
        let known_hosts = match goal.mode {
            HostKeyMode::Strict => KnownHosts::Strict,
            HostKeyMode::AcceptNew => KnownHosts::AcceptNew,
            HostKeyMode::Ignore => KnownHosts::Ignore,
        };
        let ask = Ask {
            host: &goal.alias,
            user: &goal.user,
            port: goal.port,
            key_path: key,
            known_hosts: known_hosts.word(),
            jump: &jump,
        };
        self.route(fleet, &ask).is_ok_and(|now| now.key() == route.key())
    }

    fn hop(&self, fleet: &Fleet, meant: &Meant<'_>, ask: &Ask<'_>) -> Result<Hop, RouteError> {
        let (alias, listed) = match meant {
            Meant::Listed(host) => (host.alias.clone(), Some(*host)),
            Meant::Other(name) => (name.clone(), None),
        };
        let asked_user = Some(ask.user).filter(|user| !user.is_empty());
        let described = match listed {
            Some(_) => None,
            None => fleet.by_pattern(&alias, asked_user).map_err(RouteError::Refused)?,
        };
        let address = listed.and_then(|host| host.address.as_ref());
        let address = address.map_or_else(|| alias.clone(), |address| address.value.clone());
        let own = |setting: fn(&Host) -> Option<&Setting<String>>| listed.and_then(setting);
        let user = self.set(&alias, ("user", "user"), own(|host| host.user.as_ref()), ask.user)?;
        let user = user.or_else(|| described.as_ref().and_then(|described| described.user.clone()));
        let user = user.or_else(|| self.account.user.clone()).ok_or(RouteError::NoUser)?;
        let key =
            self.set(&alias, ("key", "key_path"), own(|host| host.key.as_ref()), ask.key_path)?;
        if key.as_ref().is_some_and(|key| !key.starts_with(['/', '~'])) {
            return Err(RouteError::RelativeKey);
        }
        let port = listed.and_then(|host| u16::try_from(host.port.value).ok());
        let port = port.or(described.as_ref().and_then(|described| described.port));
        let port = port.unwrap_or(PORT);
        let is_set = listed.is_some_and(|host| host.port.at.is_some());
        let port = match ask.port {
            0 => port,
            asked if asked == port => port,
            _ if is_set => {
                return Err(RouteError::Set { what: "port", argument: "port", alias });
            }
            asked => asked,
        };
        let all = fleet.hosts();
        let check = listed.and_then(|host| host.known_hosts.as_ref()).map(|check| check.value);
        let may_weaken = all.is_none_or(|all| all.weaken.value);
        let check = check.unwrap_or_else(|| {
            let of_all = all.map_or(KnownHosts::AcceptNew, |all| all.known_hosts.value);
            let by_pattern = described.as_ref().and_then(|described| described.known_hosts);
            by_pattern.map_or(of_all, |own| if may_weaken { own } else { own.max(of_all) })
        });
        let mode = mode(check, ask.known_hosts, may_weaken)?;
        let pins = listed.map_or(&[][..], |host| &host.pins);
        let login = fleet.login(&alias).filter(|_| listed.is_some());
        let login = login.or(described.as_ref().map(|described| &described.login));
        let known_as = login.and_then(|login| login.known_as.clone());
        // A name of its own counts as one of port 22, as for ssh(1).
        let (known_as, known_port) =
            known_as.map_or_else(|| (address.clone(), port), |known_as| (known_as, PORT));
        let trust = Arc::new(self.trust(&known_as, known_port, pins)?);
        let keys = self.keys(key, login);
        Ok(Hop {
            alias,
            known_as,
            address,
            port,
            user,
            identities: keys.identities,
            identities_only: keys.is_only,
            agent: keys.agent,
            trust,
            mode,
        })
    }

    /// Returns the keys for a host: the one that is named, else those of its login, else those of the account.
    fn keys(&self, named: Option<String>, login: Option<&Login>) -> Keys {
        let plain = |key: PathBuf| Identity { key, certificate: None };
        let agent = match login.and_then(|login| login.agent.as_ref()) {
            None | Some(IdentityAgent::Environment) => self.account.agent.clone(),
            Some(IdentityAgent::None) => None,
            Some(IdentityAgent::Socket(path)) => Some(path.clone()),
        };
        if let Some(named) = named {
            let identities = vec![plain(self.account.path(&named))];
            return Keys { identities, is_only: true, agent };
        }
        let own = login.and_then(|login| login.identities.clone());
        let default = || self.account.default_keys().into_iter().map(plain).collect();
        let is_only = login.is_some_and(|login| login.identities_only);
        Keys { identities: own.unwrap_or_else(default), is_only, agent }
    }

    /// Returns a setting of a host: that of the project, else that of the call.
    fn set(
        &self,
        alias: &str,
        (what, argument): (&'static str, &'static str),
        own: Option<&Setting<String>>,
        asked: &str,
    ) -> Result<Option<String>, RouteError> {
        match own {
            Some(own) if !asked.is_empty() && own.value != asked => {
                Err(RouteError::Set { what, argument, alias: alias.to_owned() })
            }
            Some(own) => Ok(Some(own.value.clone())),
            None => Ok(Some(asked.to_owned()).filter(|asked| !asked.is_empty())),
        }
    }

    fn trust(&self, name: &str, port: u16, pins: &[Setting<String>]) -> Result<Trust, RouteError> {
        let (known, times) = self.known.current()?;
        let learning = self.known.learning().map(PathBuf::from);
        let mut keys = KnownKeys::default();
        for pin in pins {
            let place = pin.at.as_ref();
            let at = Place {
                file: place.map_or("project", |place| &place.file).into(),
                line: place.map_or(0, |place| place.line as usize),
            };
            keys.pin(name, port, at, &pin.value)?;
        }
        let text: Vec<&str> = pins.iter().map(|pin| pin.value.as_str()).collect();
        let pinned = (!pins.is_empty()).then(|| Pinned { keys, text: text.join("\n") });
        Ok(Trust { known, times, pinned, name: name.to_owned(), port, learning })
    }
}

/// Returns the host that a name means.
fn meant<'h>(fleet: &'h Fleet, name: &str) -> Result<Meant<'h>, RouteError> {
    let name = canonical_host(name);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    let is_host = !name.is_empty()
        && name.len() <= 255
        && !name.starts_with(['-', '.'])
        && name.bytes().all(is_plain)
        && (!name.contains(':') || name.parse::<std::net::Ipv6Addr>().is_ok());
    if !is_host {
        return Err(RouteError::NoHost);
    }
    if let Some(reason) = fleet.refusal(&name) {
        return Err(RouteError::Refused(reason.to_owned()));
    }
    let all = fleet.hosts().map_or(&[][..], |hosts| &hosts.hosts);
    if let Some(host) = all.iter().find(|host| host.alias == name) {
        return Ok(Meant::Listed(host));
    }
    let has_address = |host: &&Host| host.address.as_ref().is_some_and(|it| it.value == name);
    let found: Vec<&Host> = all.iter().filter(has_address).collect();
    match found.as_slice() {
        [host] => Ok(Meant::Listed(host)),
        [] if fleet.hosts().is_some_and(|hosts| hosts.outside.value == Outside::Refuse) => {
            Err(RouteError::Outside)
        }
        [] => Ok(Meant::Other(name.into_owned())),
        several => {
            let aliases =
                several.iter().map(|host| host.alias.chars().take(SHOWN_CHARS_MAX).collect());
            Err(RouteError::Ambiguous { aliases: aliases.collect() })
        }
    }
}

/// Refuses a text that names no user.
fn check_user(user: &str) -> Result<(), RouteError> {
    // A reader of addresses takes what precedes a `/` for the host.
    match user.is_empty() || (user_name::is_plain(user) && !user.contains('/')) {
        true => Ok(()),
        false => Err(RouteError::BadUser),
    }
}

/// Returns the host through which another one is reached, and the settings of the call for it.
fn jump<'h, 'a>(
    fleet: &'h Fleet,
    host: &Meant<'_>,
    ask: &Ask<'a>,
) -> Result<Option<(Meant<'h>, Ask<'a>)>, RouteError> {
    let asked = Some(ask.jump).filter(|jump| !jump.is_empty()).map(jump_ask).transpose()?;
    let own = match host {
        Meant::Listed(host) => host.jump.as_ref().map(|own| (own, &host.alias)),
        Meant::Other(_) => None,
    };
    match (own, asked) {
        (Some((own, _)), None) => Ok(Some((meant(fleet, &own.value)?, Ask::default()))),
        (Some((own, _)), Some(asked)) if asked == Ask { host: &own.value, ..Ask::default() } => {
            Ok(Some((meant(fleet, &own.value)?, Ask::default())))
        }
        (Some((_, alias)), Some(_)) => {
            Err(RouteError::Set { what: "jump", argument: "jump", alias: alias.clone() })
        }
        (None, Some(asked)) => Ok(Some((meant(fleet, asked.host)?, asked))),
        (None, None) => Ok(None),
    }
}

/// Reads a jump of a call: a host, `USER@HOST` or `USER@HOST:PORT`; an IPv6 address with a port is written in
/// brackets.
fn jump_ask(written: &str) -> Result<Ask<'_>, RouteError> {
    let (user, rest) = written.rsplit_once('@').unwrap_or(("", written));
    check_user(user)?;
    let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, after)) => (host, after.strip_prefix(':')),
        None if rest.matches(':').count() > 1 => (rest, None),
        None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
    };
    let is_number = |port: &&str| port.bytes().all(|byte| byte.is_ascii_digit());
    let port = match port {
        None => 0,
        Some(port) => {
            let port = Some(port).filter(is_number).and_then(|port| port.parse().ok());
            port.filter(|port| *port > 0).ok_or(RouteError::BadJump)?
        }
    };
    Ok(Ask { host, user, port, ..Ask::default() })
}

/// Returns the check of a host key: that of the project, or the stricter one that a call asks for.
fn mode(own: KnownHosts, asked: &str, may_weaken: bool) -> Result<HostKeyMode, RouteError> {
    let all = [KnownHosts::Strict, KnownHosts::AcceptNew, KnownHosts::Ignore];
    let check = match asked {
        "" => own,
        asked => {
            let found = all.into_iter().find(|check| check.word() == asked);
            let found = found.ok_or(RouteError::NoCheck)?;
            if found < own && !may_weaken {
                return Err(RouteError::Weaker { word: own.word() });
            }
            found
        }
    };
    Ok(match check {
        KnownHosts::Strict => HostKeyMode::Strict,
        KnownHosts::AcceptNew => HostKeyMode::AcceptNew,
        KnownHosts::Ignore => HostKeyMode::Ignore,
    })
}
