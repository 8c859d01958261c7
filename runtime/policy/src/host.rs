//! One spelling for each host.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns a host in one spelling: lower case, without the dot at the end, and an address as the
/// system prints it. `0x7f.1`, `2130706433` and `127.0.0.1` are one host.
#[must_use]
pub fn canonical_host(host: &str) -> Cow<'_, str> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    // An address with a zone is that address, on one interface.
    let bare = bare.split_once('%').map_or(bare, |(address, _)| address);
    if let Ok(address) = bare.parse::<Ipv6Addr>() {
        return match address.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string().into(),
            None => address.to_string().into(),
        };
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    if let Some(address) = ipv4(name) {
        return address.to_string().into();
    }
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return name.to_ascii_lowercase().into();
    }
    name.into()
}

/// Returns the host of an address: `host`, `user@host:port`, perhaps with a scheme and a path. An IPv6 address
/// loses its brackets.
#[must_use]
pub fn host_of_address(written: &str) -> &str {
    let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or(rest);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((address, _)) = bracketed {
        return address;
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => {
            name
        }
        _ => host,
    }
}

/// Returns the host of `user@host`.
pub(crate) fn host_name(written: &str) -> &str {
    written.rsplit_once('@').map_or(written, |(_, host)| host)
}

/// Reads an IPv4 address as `inet_aton` does: one to four parts, each decimal, octal or hexadecimal;
/// the last part fills the rest.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = name.split('.').map(part).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last()?;
    if leading.len() > 3 || leading.iter().any(|part| *part > 0xff) {
        return None;
    }
    let free = 32 - 8 * u32::try_from(leading.len()).ok()?;
    if free < 32 && u64::from(*last) >= 1 << free {
        return None;
    }
    let mut address = *last;
    for (index, part) in leading.iter().enumerate() {
        address |= part << (24 - 8 * u32::try_from(index).ok()?);
    }
    Some(address.into())
}

fn part(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let is_number = |digits: &str| !digits.is_empty() && !digits.starts_with('+');
    match lower.strip_prefix("0x") {
        Some(digits) if is_number(digits) => u32::from_str_radix(digits, 16).ok(),
        Some(_) => None,
        None if !is_number(&lower) => None,
        None if lower.len() > 1 && lower.starts_with('0') => u32::from_str_radix(&lower, 8).ok(),
        None => lower.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical_host, host_of_address};

    #[test]
    fn the_host_of_an_address_is_found() {
        for (written, host) in [
            ("db", "db"),
            ("me@db:22", "db"),
            ("ssh://me@db:22/x", "db"),
            ("http://a@b@db/?x@y", "db"),
            ("[::1]", "::1"),
            ("me@[::1]:22", "::1"),
            ("https://[fe80::1]:8443/x", "fe80::1"),
            ("fe80::1", "fe80::1"),
            ("db:x", "db:x"),
            ("", ""),
        ] {
            assert_eq!(host_of_address(written), host, "{written}");
        }
    }

    #[test]
    fn every_spelling_of_an_address_is_one_host() {
        for spelled in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1"] {
            assert_eq!(canonical_host(spelled), "127.0.0.1", "{spelled}");
        }
        assert_eq!(canonical_host("[::ffff:127.0.0.1]"), "127.0.0.1");
        assert_eq!(canonical_host("[0:0::1]"), "::1");
        assert_eq!(canonical_host("fe80::1%eth0"), "fe80::1");
        assert_eq!(canonical_host("[fe80::1%25eth0]"), "fe80::1");
        assert_eq!(canonical_host("DB-1.Corp.example."), "db-1.corp.example");
        for other in ["", "1.2.3.4.5", "256.1.1.1", "0x", "1.2.3.256", "a.1", "08"] {
            assert_eq!(canonical_host(other), other, "{other}");
        }
    }
}
