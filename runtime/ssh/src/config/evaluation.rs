//! The lines of a configuration, applied to one host: the first value wins.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use super::criteria::{Criterion, Test};
use super::directive::{Directive, HostPattern, Setting};
use super::document;
use super::expand::{self, Tokens};
use super::limits::IDENTITIES_MAX;
use super::settings::{HostSettings, IdentityAgent, Jump, Reason, Refused};
use crate::place::Place;
use crate::{host_name, name_pattern, user_name};

/// The user of the server itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalUser {
    /// The name: `localuser`, and the default of `user`.
    pub name: String,
    /// The absolute path of the home folder: `~`.
    pub home: String,
}

/// A value and its line.
type Line<T> = (Place, T);

/// The first value of each keyword, as written.
#[derive(Default)]
struct Found {
    settings: HostSettings,
    host_name: Option<Line<String>>,
    user: Option<Line<String>>,
    host_key_alias: Option<Line<String>>,
    identity_files: Vec<Line<String>>,
    certificate_files: Vec<Line<String>>,
    identity_agent: Option<Line<String>>,
    user_known_hosts_files: Option<Line<Vec<String>>>,
    global_known_hosts_files: Option<Line<Vec<String>>>,
    /// `ProxyJump` with hosts, or any `ProxyCommand`: the first of both is in force.
    proxy: Option<Line<Proxy>>,
    /// A `ProxyJump none`: it stops later jumps; a later command still counts.
    has_no_jump: bool,
    permits_local_command: Option<bool>,
    local_command: Option<Place>,
    refused: BTreeMap<&'static str, Line<Option<Reason>>>,
    ignored_unknown: Option<String>,
}

enum Proxy {
    Jump(Vec<Jump>),
    NoCommand,
    Command,
}

/// Returns the settings of `alias`; a given user comes before all lines.
///
/// # Errors
///
/// A line that is in force for the host refuses it.
pub(crate) fn settings(
    lines: &[Directive],
    alias: &str,
    user: Option<&str>,
    local: &LocalUser,
) -> Result<HostSettings, Refused> {
    let without_line =
        |keyword: &str, reason| Refused { at: None, keyword: keyword.to_owned(), reason };
    if !host_name::is_plain(alias) {
        return Err(without_line(alias, Reason::HostName));
    }
    if let Some(user) = user.filter(|user| !user_name::is_plain(user)) {
        return Err(without_line(user, Reason::User));
    }
    let mut run = Run {
        alias,
        given_user: user,
        local,
        host: alias.to_owned(),
        is_final: false,
        wants_final: false,
        found: Found::default(),
    };
    run.apply(lines, true, &mut true)?;
    let hostname = plain_case(&run.current_host()?);
    if run.wants_final {
        run.host.clone_from(&hostname);
        run.is_final = true;
        run.apply(lines, true, &mut true)?;
    }
    run.finish(hostname)
}

/// Returns a name in lower case, and an address as all write it.
fn plain_case(host: &str) -> String {
    host.parse::<IpAddr>().map_or_else(|_| host.to_ascii_lowercase(), |address| address.to_string())
}

/// One host, while lines are applied to it.
struct Run<'a> {
    alias: &'a str,
    given_user: Option<&'a str>,
    local: &'a LocalUser,
    /// The name that `Host` patterns are compared with.
    host: String,
    /// Whether this is the second pass, which a `Match final` asks for.
    is_final: bool,
    wants_final: bool,
    found: Found,
}

impl Run<'_> {
    /// Applies lines. Inside a block of other hosts, `may_match` is false for included files: their own
    /// blocks are off too.
    fn apply(
        &mut self,
        lines: &[Directive],
        may_match: bool,
        is_active: &mut bool,
    ) -> Result<(), Refused> {
        for line in lines {
            match &line.setting {
                Setting::Host(patterns) => *is_active = may_match && self.is_host(patterns),
                Setting::Match(criteria) => {
                    let matches = self.matches(criteria);
                    *is_active = may_match && matches.map_err(|name| refused(line, &name))?;
                }
                Setting::Include(files) => {
                    let before = *is_active;
                    for lines in files {
                        self.apply(lines, before, is_active)?;
                        *is_active = before;
                    }
                }
                Setting::Unknown(keyword) => {
                    let list = self.found.ignored_unknown.as_deref().unwrap_or_default();
                    if !document::is_listed(list, keyword) {
                        return Err(at(&line.at, keyword, Reason::Unknown));
                    }
                }
                _ if *is_active => self.found.take(line)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn is_host(&self, patterns: &[HostPattern]) -> bool {
        let mut is_found = false;
        for HostPattern { is_negated, pattern } in patterns {
            if name_pattern::matches(pattern.as_bytes(), self.host.as_bytes()) {
                if *is_negated {
                    return false;
                }
                is_found = true;
            }
        }
        is_found
    }

    /// Returns whether all criteria hold, or the one that only ssh can answer if all others hold.
    fn matches(&mut self, criteria: &[Criterion]) -> Result<bool, String> {
        let mut holds = true;
        let mut other = None;
        for Criterion { is_negated, test } in criteria {
            let is_true = match test {
                Test::All => true,
                // OpenSSH holds it in any second pass, also in one that only `final` asked for.
                Test::Canonical => self.is_final,
                Test::Final => {
                    self.wants_final |= !is_negated;
                    self.is_final
                }
                Test::Host(list) => {
                    // An unsupported token is refused at the end, where the name is needed.
                    let host = self.current_host().unwrap_or_default();
                    name_pattern::host_list_matches(list.as_bytes(), host.as_bytes())
                }
                Test::OriginalHost(list) => {
                    name_pattern::host_list_matches(list.as_bytes(), self.alias.as_bytes())
                }
                Test::User(list) => {
                    name_pattern::list_matches(list.as_bytes(), self.user().as_bytes())
                }
                Test::LocalUser(list) => {
                    name_pattern::list_matches(list.as_bytes(), self.local.name.as_bytes())
                }
                Test::Other(name) => {
                    other.get_or_insert(name);
                    continue;
                }
            };
            holds &= is_true != *is_negated;
        }
        match other.filter(|_| holds) {
            Some(name) => Err(format!("Match {name}")),
            None => Ok(holds),
        }
    }

    /// Returns the name to connect to, as far as it is known.
    fn current_host(&self) -> Result<String, Refused> {
        match &self.found.host_name {
            _ if self.is_final => Ok(self.host.clone()),
            None => Ok(self.host.clone()),
            Some((place, text)) => {
                expand::host_name(text, &self.host).map_err(|reason| at(place, "HostName", reason))
            }
        }
    }

    fn user(&self) -> &str {
        let found = self.found.user.as_ref().map(|(_, user)| user.as_str());
        self.given_user.or(found).unwrap_or(&self.local.name)
    }

    fn finish(mut self, hostname: String) -> Result<HostSettings, Refused> {
        self.found.check()?;
        let Found { settings, host_name, user, host_key_alias, .. } = &self.found;
        if !host_name::is_plain(&hostname) {
            let place = host_name.as_ref().map(|(place, _)| place.clone());
            let keyword = "HostName".to_owned();
            return Err(Refused { at: place, keyword, reason: Reason::HostName });
        }
        if let (None, Some((place, user))) = (self.given_user, user)
            && !user_name::is_plain(user)
        {
            return Err(at(place, "User", Reason::User));
        }
        if let Some((place, name)) = host_key_alias
            && !host_name::is_plain(name)
        {
            return Err(at(place, "HostKeyAlias", Reason::HostName));
        }
        let given = self.given_user.or(user.as_ref().map(|(_, user)| user.as_str()));
        let alias = host_key_alias.as_ref().map(|(_, name)| name.clone());
        let tokens = Tokens {
            home: &self.local.home,
            hostname: &hostname,
            host_key_alias: alias.as_deref().unwrap_or(&hostname),
            alias: self.alias,
            user: self.user(),
            local_user: &self.local.name,
        };
        let mut settings = HostSettings { user: given.map(str::to_owned), ..settings.clone() };
        self.found.files(&tokens, &mut settings)?;
        settings.host_key_alias = alias;
        settings.proxy_jump = match self.found.proxy.take() {
            Some((_, Proxy::Jump(jumps))) => Some(jumps),
            _ if self.found.has_no_jump => Some(Vec::new()),
            _ => None,
        };
        Ok(HostSettings { hostname, ..settings })
    }
}

impl Found {
    /// Takes the value of a line that is in force.
    fn take(&mut self, line: &Directive) -> Result<(), Refused> {
        let place = || line.at.clone();
        let settings = &mut self.settings;
        match &line.setting {
            Setting::HostName(text) => first(&mut self.host_name, || (place(), text.clone())),
            Setting::User(text) => first(&mut self.user, || (place(), text.clone())),
            Setting::Port(port) => first(&mut settings.port, || *port),
            Setting::IdentityFile(text) => add(&mut self.identity_files, line, text)?,
            Setting::CertificateFile(text) => add(&mut self.certificate_files, line, text)?,
            Setting::IdentitiesOnly(flag) => first(&mut settings.identities_only, || *flag),
            Setting::IdentityAgent(text) => {
                first(&mut self.identity_agent, || (place(), text.clone()));
            }
            Setting::ProxyJump(jumps) if jumps.is_empty() => {
                self.has_no_jump |= self.proxy.is_none();
            }
            Setting::ProxyJump(jumps) if !self.has_no_jump => {
                first(&mut self.proxy, || (place(), Proxy::Jump(jumps.clone())));
            }
            Setting::ProxyCommand { is_none } => first(&mut self.proxy, || {
                (place(), if *is_none { Proxy::NoCommand } else { Proxy::Command })
            }),
            Setting::LocalCommand => first(&mut self.local_command, place),
            Setting::PermitLocalCommand(flag) => first(&mut self.permits_local_command, || *flag),
            Setting::HostKeyAlias(name) => {
                first(&mut self.host_key_alias, || (place(), name.clone()));
            }
            Setting::UserKnownHostsFile(files) => {
                first(&mut self.user_known_hosts_files, || (place(), files.clone()));
            }
            Setting::GlobalKnownHostsFile(files) => {
                first(&mut self.global_known_hosts_files, || (place(), files.clone()));
            }
            Setting::StrictHostKeyChecking(checking) => {
                first(&mut settings.strict_host_key_checking, || *checking);
            }
            Setting::ConnectTimeout(time) => {
                settings.connect_timeout = settings.connect_timeout.or(*time);
            }
            Setting::ServerAliveInterval(time) => {
                settings.server_alive_interval = settings.server_alive_interval.or(*time);
            }
            Setting::ServerAliveCountMax(count) => {
                first(&mut settings.server_alive_count_max, || *count);
            }
            Setting::IgnoreUnknown(list) => first(&mut self.ignored_unknown, || list.clone()),
            Setting::Refused(reason) => {
                self.refused.entry(line.keyword).or_insert_with(|| (place(), *reason));
            }
            Setting::Ignored => _ = settings.ignored.insert(place(), line.keyword),
            Setting::ProxyJump(_)
            | Setting::Host(_)
            | Setting::Match(_)
            | Setting::Include(_)
            | Setting::Unknown(_) => {}
        }
        Ok(())
    }

    /// Refuses a host whose lines start a program or load a library.
    fn check(&self) -> Result<(), Refused> {
        if let Some((place, Proxy::Command)) = &self.proxy {
            return Err(at(place, "ProxyCommand", Reason::Program));
        }
        if let (Some(place), Some(true)) = (&self.local_command, self.permits_local_command) {
            return Err(at(place, "LocalCommand", Reason::LocalCommand));
        }
        let refusals = self.refused.iter();
        let mut refusals = refusals
            .filter_map(|(name, (place, reason))| reason.map(|reason| at(place, name, reason)));
        refusals.next().map_or(Ok(()), Err)
    }

    /// Expands the paths of files.
    fn files(&self, tokens: &Tokens<'_>, settings: &mut HostSettings) -> Result<(), Refused> {
        let all = |keyword: &str, place: &Place, texts: &[String]| {
            let paths = texts.iter().map(|text| expand::path(text, tokens));
            let paths: Result<Vec<PathBuf>, Reason> = paths.collect();
            paths.map_err(|reason| at(place, keyword, reason))
        };
        let each = |keyword: &str, lines: &[Line<String>]| {
            let is_file = |line: &&Line<String>| !line.1.eq_ignore_ascii_case("none");
            let files = lines.iter().filter(is_file);
            let paths = files.map(|(place, text)| {
                expand::path(text, tokens).map_err(|reason| at(place, keyword, reason))
            });
            paths.collect::<Result<Vec<PathBuf>, Refused>>()
        };
        if !self.identity_files.is_empty() {
            settings.identity_files = Some(each("IdentityFile", &self.identity_files)?);
        }
        settings.certificate_files = each("CertificateFile", &self.certificate_files)?;
        if let Some((place, files)) = &self.user_known_hosts_files {
            let files = all("UserKnownHostsFile", place, files)?;
            settings.user_known_hosts_files = Some(files);
        }
        if let Some((place, files)) = &self.global_known_hosts_files {
            // OpenSSH reads tokens in the files of the user alone.
            if files.iter().any(|file| file.contains('%')) {
                return Err(at(place, "GlobalKnownHostsFile", Reason::Token));
            }
            let files = all("GlobalKnownHostsFile", place, files)?;
            settings.global_known_hosts_files = Some(files);
        }
        if let Some((place, agent)) = &self.identity_agent {
            let fault = |reason| at(place, "IdentityAgent", reason);
            settings.identity_agent = Some(match agent.as_str() {
                agent if agent.eq_ignore_ascii_case("none") => IdentityAgent::None,
                "SSH_AUTH_SOCK" => IdentityAgent::Environment,
                agent if agent.starts_with('$') => return Err(fault(Reason::Variable)),
                agent => IdentityAgent::Socket(expand::path(agent, tokens).map_err(fault)?),
            });
        }
        Ok(())
    }
}

fn first<T>(slot: &mut Option<T>, value: impl FnOnce() -> T) {
    slot.get_or_insert_with(value);
}

/// Adds one more value of a keyword that accumulates; a repeated one counts once.
fn add(lines: &mut Vec<Line<String>>, line: &Directive, text: &str) -> Result<(), Refused> {
    if lines.iter().any(|(_, known)| known == text) {
        return Ok(());
    }
    if lines.len() >= IDENTITIES_MAX {
        return Err(at(&line.at, line.keyword, Reason::Many));
    }
    lines.push((line.at.clone(), text.to_owned()));
    Ok(())
}

fn refused(line: &Directive, criterion: &str) -> Refused {
    at(&line.at, criterion, Reason::Criterion)
}

fn at(place: &Place, keyword: &str, reason: Reason) -> Refused {
    Refused { at: Some(place.clone()), keyword: keyword.to_owned(), reason }
}
