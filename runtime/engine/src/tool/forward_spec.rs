//! The forward that a call asks for.

use std::fmt;
use std::net::IpAddr;

use relay_policy::host::canonical_host;
use thiserror::Error;

/// A forward that a call asks for: `L:PORT:HOST:PORT`, `R:PORT:HOST:PORT` or `D:PORT`. An IPv6 address
/// is written in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardSpec {
    /// The kind.
    pub kind: ForwardKind,
    /// The port that is opened; 0 for any free one.
    pub port: u16,
    /// The host and the port that it leads to; absent for a dynamic forward, whose clients name it.
    pub target: Option<(String, u16)>,
}

/// The kind of a forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardKind {
    /// A port of this server leads to a target as the host sees it.
    Local,
    /// A port of the host leads to a target as this server sees it.
    Remote,
    /// A port of this server is a SOCKS5 proxy, whose targets the host connects to.
    Dynamic,
}

/// A malformed forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("`spec` is L:PORT:HOST:PORT, R:PORT:HOST:PORT or D:PORT, with an IPv6 address in brackets")]
pub struct NotAForward;

impl ForwardKind {
    /// Returns its letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Local => 'L',
            Self::Remote => 'R',
            Self::Dynamic => 'D',
        }
    }
}

impl ForwardSpec {
    /// Reads a forward.
    ///
    /// # Errors
    ///
    /// The text has another form; see [`NotAForward`].
    pub fn parse(text: &str) -> Result<Self, NotAForward> {
        let (kind, rest) = text.split_once(':').ok_or(NotAForward)?;
        let kind = match kind {
            "L" => ForwardKind::Local,
            "R" => ForwardKind::Remote,
            "D" => ForwardKind::Dynamic,
            _ => return Err(NotAForward),
        };
        let (own, target) = match (kind, rest.split_once(':')) {
            (ForwardKind::Dynamic, None) => (rest, None),
            (ForwardKind::Local | ForwardKind::Remote, Some((own, target))) => (own, Some(target)),
            _ => return Err(NotAForward),
        };
        let target = target.map(parse_target).transpose()?;
        Ok(Self { kind, port: parse_port(own)?, target })
    }

    /// Returns the host that it leads to, unless that is the end of the forward itself.
    #[must_use]
    pub fn other_host(&self) -> Option<&str> {
        let (host, _) = self.target.as_ref()?;
        let canonical = canonical_host(host);
        let is_loopback = canonical == "localhost"
            || canonical.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        (!is_loopback).then_some(host)
    }
}

fn parse_port(text: &str) -> Result<u16, NotAForward> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number).ok_or(NotAForward)
}

fn parse_target(text: &str) -> Result<(String, u16), NotAForward> {
    let (written, port) = text.rsplit_once(':').ok_or(NotAForward)?;
    let port = parse_port(port)?;
    let address = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !written.starts_with(['-', '.']) && written.bytes().all(is_plain)
        }
    };
    let host = address.unwrap_or(written);
    if host.is_empty() || host.len() > 255 || !is_host || port == 0 {
        return Err(NotAForward);
    }
    Ok((host.to_owned(), port))
}

impl fmt::Display for ForwardSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, port, target } = self;
        write!(out, "{}:{port}", kind.letter())?;
        match target {
            Some((host, port)) if host.contains(':') => write!(out, ":[{host}]:{port}"),
            Some((host, port)) => write!(out, ":{host}:{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forward_is_read_and_written_alike() {
        for text in
            ["L:8080:db:5432", "R:0:localhost:80", "D:1080", "L:1:[fe80::1]:2", "L:1:10.0.0.1:2"]
        {
            assert_eq!(ForwardSpec::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "D",
            "D:",
            "D:x",
            "D:70000",
            "D:1:db:2",
            "L:1",
            "L:1:db",
            "L:1:db:0",
            "L:1::2",
            "X:1:db:2",
            "l:1:db:2",
            "L:1:-db:2",
            "L:1:d b:2",
            "L:1:fe80::1:2",
            "L:1:[db]:2",
            "L:+1:db:2",
            "L:*:1:db:2",
            "L:1:db/x:2",
            "L:1:u@db:2",
        ] {
            assert_eq!(ForwardSpec::parse(text), Err(NotAForward), "{text}");
        }
    }

    #[test]
    fn loopback_is_the_end_of_the_forward_itself() {
        let other = |text: &str| ForwardSpec::parse(text).unwrap().other_host().map(str::to_owned);
        for own in [
            "L:1:localhost:2",
            "L:1:LOCALHOST.:2",
            "L:1:127.0.0.1:2",
            "L:1:127.1:2",
            "L:1:[::1]:2",
            "L:1:2130706433:2",
            "D:1",
        ] {
            assert_eq!(other(own), None, "{own}");
        }
        for host in ["db", "0.0.0.0", "10.0.0.1", "localhost.example"] {
            assert_eq!(other(&format!("L:1:{host}:2")).as_deref(), Some(host));
        }
    }
}
