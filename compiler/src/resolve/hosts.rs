//! The one `hosts` node of a project: aliases, groups, jumps, addresses, keys and pins.

mod report;

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hashbrown::{HashMap, HashSet};
use relay_engine::nearest::nearest;
use relay_policy::host::canonical_host;

use self::report::{
    AddressIsAlias, BadAddress, BadAlias, BadKey, BadPin, BadUser, EmptyGroup, JumpCycle,
    JumpTooDeep, SameName, SecondHosts, TooMany, UnknownGroup, UnknownJump,
};
use super::name;
use crate::ast;
use crate::diagnostic::Diagnostics;
use crate::model::{Host, Hosts};
use crate::source::{Span, Spanned};

/// The most hosts of a project.
const HOSTS_MAX: usize = 4096;
/// The most hosts through which another one is reached.
const JUMPS_MAX: usize = 8;
/// The kinds of host keys that servers of today have.
const KEY_KINDS: [&str; 7] = [
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "ssh-rsa",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// Resolves the hosts of a project. Faulty ones are reported.
pub(super) fn hosts(nodes: Vec<ast::Hosts>, out: &mut Diagnostics) -> Option<Hosts> {
    let mut nodes = nodes.into_iter();
    let ast::Hosts { at, mut settings, hosts } = nodes.next()?;
    for again in nodes {
        out.report(again.at, SecondHosts { first_at: at, at: again.at });
    }
    if let Some(over) = hosts.get(HOSTS_MAX).and_then(|host| host.alias.as_ref()) {
        out.report(over.at, TooMany { count: hosts.len(), max: HOSTS_MAX, at: over.at });
    }
    let named = hosts.into_iter().filter_map(|ast::Host { alias, new: _, settings }| {
        alias.map(|alias| Host { alias, settings })
    });
    let named: Vec<Host> =
        named.filter(|host| check_alias(&host.alias, "alias of a host", out)).collect();
    let hosts = name::unique(named, "host", |host| &host.alias, out);
    let declared = settings.groups.take().unwrap_or_default();
    let declared: Vec<_> =
        declared.into_iter().filter(|name| check_alias(name, "name of a group", out)).collect();
    let declared = name::unique(declared, "group", |name| name, out);
    let resolved = Hosts { at, settings, groups: declared, hosts };
    check_groups(&resolved, out);
    check_jumps(&resolved, out);
    resolved.hosts.iter().for_each(|host| check_settings(&resolved, host, out));
    Some(resolved)
}

/// Returns whether a text may be the alias of a host or the name of a group, or else reports it.
fn check_alias(name: &Spanned<String>, what: &'static str, out: &mut Diagnostics) -> bool {
    let Spanned { value, at } = name;
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fault = if value.len() > name::NAME_CHARS_MAX {
        "it is too long"
    } else if value.bytes().any(|byte| byte.is_ascii_uppercase()) {
        "it has capital letters, which names of hosts do not tell apart"
    } else if !value.bytes().all(|byte| is_letter(byte) || b"-_.".contains(&byte)) {
        "it has a sign that no name of a host has"
    } else if !value.bytes().next().is_some_and(is_letter) {
        "it does not begin with a letter or a digit"
    } else if canonical_host(value) != value.as_str() {
        "it is another spelling of an address, or ends with a dot"
    } else {
        return true;
    };
    out.report(*at, BadAlias { what, name: value.clone(), fault, at: *at });
    false
}

/// Reports groups that are undeclared, empty, or named like a host.
fn check_groups(hosts: &Hosts, out: &mut Diagnostics) {
    let Hosts { groups, hosts, .. } = hosts;
    let known: BTreeMap<&str, Span> =
        groups.iter().map(|group| (group.value.as_str(), group.at)).collect();
    let mut used = HashSet::new();
    for host in hosts {
        if let Some(group_at) = known.get(host.alias.value.as_str()) {
            let name = host.alias.value.clone();
            out.report(host.alias.at, SameName { name, group_at: *group_at, at: host.alias.at });
        }
        for Spanned { value, at } in host.settings.groups.iter().flatten() {
            used.insert(value.as_str());
            if known.contains_key(value.as_str()) {
                continue;
            }
            let help = match nearest(value, known.keys().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it: `groups {value}` in `hosts`"),
            };
            out.report(*at, UnknownGroup { name: value.clone(), help, at: *at });
        }
    }
    for (name, at) in known.into_iter().filter(|(name, _)| !used.contains(name)) {
        out.report(at, EmptyGroup { name: name.to_owned(), at });
    }
}

/// Reports jumps to unknown hosts, in a circle, and through too many hosts.
fn check_jumps(hosts: &Hosts, out: &mut Diagnostics) {
    let by_alias: HashMap<&str, &Host> =
        hosts.hosts.iter().map(|host| (host.alias.value.as_str(), host)).collect();
    for host in &hosts.hosts {
        let Some(Spanned { value, at }) = &host.settings.jump else { continue };
        if !by_alias.contains_key(value.as_str()) {
            let help = match nearest(value, by_alias.keys().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a jump goes through a host of this list, by its alias".to_owned(),
            };
            out.report(*at, UnknownJump { name: value.clone(), help, at: *at });
            continue;
        }
        let mut next = Some(value.as_str());
        let mut passed = Vec::new();
        while let Some(alias) = next {
            if alias == host.alias.value {
                let own = [alias].into_iter();
                let path: Vec<&str> = own.clone().chain(passed).chain(own).collect();
                let path = path.join(" → ");
                out.report(*at, JumpCycle { alias: alias.to_owned(), path, at: *at });
                break;
            }
            if passed.len() == JUMPS_MAX {
                // A circle of others is theirs.
                if !passed.contains(&alias) {
                    out.report(*at, JumpTooDeep { max: JUMPS_MAX, at: *at });
                }
                break;
            }
            passed.push(alias);
            let jump = by_alias.get(alias).and_then(|host| host.settings.jump.as_ref());
            next = jump.map(|jump| jump.value.as_str());
        }
    }
}

/// Reports values of a host that are useless for a connection.
fn check_settings(hosts: &Hosts, host: &Host, out: &mut Diagnostics) {
    let ast::HostSettings { address, user, port: _, jump: _, key, known_hosts: _, groups: _, pins } =
        &host.settings;
    if let Some(Spanned { value, at }) = address {
        if let Some(fault) = address_fault(value) {
            out.report(*at, BadAddress { value: value.clone(), fault, at: *at });
        }
        let canonical = canonical_host(value);
        let mut others = hosts.hosts.iter().filter(|other| other.alias.value != host.alias.value);
        if let Some(other) = others.find(|other| other.alias.value == canonical) {
            let alias_at = other.alias.at;
            out.report(*at, AddressIsAlias { value: value.clone(), alias_at, at: *at });
        }
    }
    if let Some(Spanned { value, at }) = user
        && (value.starts_with('-')
            || value.contains(|sign: char| sign.is_whitespace() || sign.is_control())
            || value.contains(['@', ':', '/']))
    {
        out.report(*at, BadUser { at: *at });
    }
    if let Some(Spanned { value, at }) = key
        && let Some(fault) = key_fault(value)
    {
        out.report(*at, BadKey { fault, at: *at });
    }
    for Spanned { value, at } in pins.iter().flatten() {
        if let Some(fault) = pin_fault(value) {
            out.report(*at, BadPin { fault, at: *at });
        }
    }
}

/// Returns the fault of an address.
fn address_fault(address: &str) -> Option<&'static str> {
    if address.parse::<Ipv6Addr>().is_ok() {
        return None;
    }
    Some(match address {
        _ if address.contains("://") => "it has a scheme",
        _ if address.contains('@') => "it names a user, which is `user=`",
        _ if address.contains('/') => "it has a path or the length of a network",
        _ if address.contains(['[', ']']) => "an IPv6 address is written without brackets",
        _ if address.contains(':') => "it names a port, which is `port=`",
        _ if !address.is_ascii() => "a name is written in its ASCII form, `xn--…`",
        _ if address.starts_with(['.', '-']) => "a name begins with a letter or a digit",
        _ if !address
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) =>
        {
            "it has a sign that no host has"
        }
        _ => return None,
    })
}

/// Returns the fault of the path of a key file.
fn key_fault(path: &str) -> Option<&'static str> {
    if path.contains("PRIVATE KEY") || path.contains('\n') {
        return Some("the key itself is written here; a project and its bundle hold no secrets");
    }
    let is_whole = path.starts_with('/') || path.starts_with("~/");
    (!is_whole).then_some("the path begins with neither `/` nor `~/`")
}

/// Returns the fault of a public key.
fn pin_fault(pin: &str) -> Option<&'static str> {
    let mut words = pin.split_ascii_whitespace();
    let (Some(kind), Some(key)) = (words.next(), words.next()) else {
        return Some("it has fewer than two words");
    };
    if !KEY_KINDS.contains(&kind) {
        return Some("its first word is no kind of key that servers have today");
    }
    let Ok(blob) = BASE64_STANDARD.decode(key) else {
        return Some("its second word is not base64");
    };
    // RFC 4253, section 6.6: a key begins with the length of its kind, and the kind.
    let length = u32::try_from(kind.len()).unwrap_or_default().to_be_bytes();
    let head = [&length[..], kind.as_bytes()].concat();
    match blob.starts_with(&head) && blob.len() > head.len() {
        true => None,
        false => Some("its second word is a key of another kind, or is cut"),
    }
}
