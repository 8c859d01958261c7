//! The `Host` and `Origin` checks, which keep pages in a user's browser from reaching the server
//! (DNS rebinding, cross-site requests).

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderValue, header};
use thiserror::Error;

use super::error::HttpError;
use crate::settings::Settings;

/// The allowed names and origins.
pub(super) struct Origins {
    hosts: Vec<Name>,
    origins: Vec<Origin>,
}

/// Why a request is rejected.
#[derive(Debug, Error)]
pub(super) enum Rejected {
    #[error("the request names no host")]
    NoHost,
    #[error(
        "host `{host}` is not allowed here: the operator of this server can add it to allowed-hosts"
    )]
    Host { host: String },
    #[error(
        "pages of this origin are not allowed here: the operator of this server can add it to allowed-origins"
    )]
    Origin,
    #[error("the request has more than one Origin header")]
    TwoOrigins,
}

impl Rejected {
    /// Returns the reason for a record, without text of the caller.
    pub(super) fn rule(&self) -> &'static str {
        match self {
            Self::NoHost => "the request names no host",
            Self::Host { .. } => "the host is not in allowed-hosts",
            Self::Origin => "the origin is not in allowed-origins",
            Self::TwoOrigins => "the request has more than one Origin header",
        }
    }
}

/// A host by name or address, in lower case, and its port if only one is allowed.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    host: String,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    name: Name,
}

const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Origins {
    pub(super) fn new(settings: &Settings, bound: SocketAddr) -> Result<Self, HttpError> {
        let hosts = match &settings.allowed_hosts {
            Some(hosts) => hosts.iter().map(|host| Name::parse(host)).collect(),
            None => default_hosts(bound.ip()),
        };
        let origins = match &settings.allowed_origins {
            Some(origins) => origins
                .iter()
                .map(|text| {
                    Origin::parse(text).ok_or_else(|| HttpError::Origin { origin: text.clone() })
                })
                .collect::<Result<_, _>>()?,
            None => default_origins(),
        };
        Ok(Self { hosts, origins })
    }

    /// Checks that a request is for this server; pages of foreign origins are rejected. Returns the
    /// origin of its page, if it has one.
    pub(super) fn check(&self, request: &Request) -> Result<Option<HeaderValue>, Rejected> {
        for host in hosts(request).ok_or(Rejected::NoHost)? {
            if !self.hosts.iter().any(|allowed| allowed.covers(&host)) {
                return Err(Rejected::Host { host: host.host });
            }
        }
        let mut origins = request.headers().get_all(header::ORIGIN).iter();
        let origin = match (origins.next(), origins.next()) {
            (None, _) => return Ok(None),
            (Some(origin), None) => origin,
            // As with hosts, either one may count.
            (Some(_), Some(_)) => return Err(Rejected::TwoOrigins),
        };
        match origin.to_str().ok().and_then(Origin::parse) {
            Some(from) if self.origins.iter().any(|allowed| allowed.covers(&from)) => {
                Ok(Some(origin.clone()))
            }
            _ => Err(Rejected::Origin),
        }
    }
}

fn default_hosts(bound: IpAddr) -> Vec<Name> {
    let own = (!bound.is_unspecified()).then(|| match bound {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    });
    let names = LOOPBACK_NAMES.into_iter().map(ToOwned::to_owned).chain(own);
    names.map(|host| Name { host, port: None }).collect()
}

fn default_origins() -> Vec<Origin> {
    let schemes = ["http", "https"].into_iter();
    let loopback = |scheme: &'static str| {
        LOOPBACK_NAMES.map(|host| Origin {
            scheme: scheme.to_owned(),
            name: Name { host: host.to_owned(), port: None },
        })
    };
    schemes.flat_map(loopback).collect()
}

/// Returns the hosts that a request names: the authority of its target, which counts if present
/// (RFC 9112, section 3.2.2), and its `Host` header, which a proxy may have checked.
fn hosts(request: &Request) -> Option<Vec<Name>> {
    let mut headers = request.headers().get_all(header::HOST).iter();
    let header = match (headers.next(), headers.next()) {
        (Some(host), None) => Some(host.to_str().ok()?.parse::<Authority>().ok()?),
        (None, None) => None,
        // Two headers are rejected: a proxy may have checked the other one.
        _ => return None,
    };
    let target = request.uri().authority().cloned();
    let name = |authority: Authority| Name {
        host: authority.host().to_ascii_lowercase(),
        port: authority.port_u16(),
    };
    let hosts: Vec<_> = target.into_iter().chain(header).map(name).collect();
    (!hosts.is_empty()).then_some(hosts)
}

impl Name {
    /// Reads `example.com` or `example.com:8700`. An IPv6 address is in brackets, or bare if the
    /// port is left out.
    fn parse(text: &str) -> Self {
        let text = text.trim().to_ascii_lowercase();
        if text.parse::<std::net::Ipv6Addr>().is_ok() {
            return Self { host: format!("[{text}]"), port: None };
        }
        match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
            Some((host, Ok(port))) => Self { host: host.to_owned(), port: Some(port) },
            _ => Self { host: text, port: None },
        }
    }

    fn covers(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

impl Origin {
    /// Reads `https://app.example.com`, with a port or `:*` for any; `None` for anything else.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let (text, any_port) = match text.strip_suffix(":*") {
            Some(text) => (text.to_owned(), true),
            None => (text, false),
        };
        let uri: Uri = text.parse().ok()?;
        let (scheme, authority) = (uri.scheme_str()?.to_owned(), uri.authority()?);
        // An origin has only scheme, host and port; path, query and user are errors.
        if uri.path_and_query().is_some_and(|rest| rest != "/") || authority.as_str().contains('@')
        {
            return None;
        }
        let usual = match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        let port = if any_port { None } else { authority.port_u16().or(usual) };
        Some(Self { scheme, name: Name { host: authority.host().to_owned(), port } })
    }

    fn covers(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.name.covers(&other.name)
    }
}
