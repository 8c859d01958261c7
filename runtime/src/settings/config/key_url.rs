//! The URL of a key set.

use std::net::IpAddr;

use hyper::Uri;
use thiserror::Error;

/// The URL of a key set: `https`, or `http` to this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyUrl {
    pub(crate) uri: Uri,
    /// The name or address; that of IPv6 is bare.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_encrypted: bool,
}

/// The reason for rejecting the URL of a key set.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum KeyUrlError {
    #[error("it is not a URL such as https://login.example.com/jwks.json")]
    Form,
    #[error("it has a user before the host: the request for a key set has no credentials")]
    User,
    #[error(
        "it is not encrypted, so others could replace the keys: write https (http is for a loopback host)"
    )]
    NotEncrypted,
}

impl KeyUrl {
    /// Reads a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, KeyUrlError> {
        let uri: Uri = text.parse().map_err(|_| KeyUrlError::Form)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(KeyUrlError::Form);
        };
        if authority.as_str().contains('@') {
            return Err(KeyUrlError::User);
        }
        let host = authority.host();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_encrypted = match scheme {
            "https" => true,
            "http" if is_loopback(host) => false,
            "http" => return Err(KeyUrlError::NotEncrypted),
            _ => return Err(KeyUrlError::Form),
        };
        let (host, usual) = (host.to_owned(), if is_encrypted { 443 } else { 80 });
        // `port_u16` returns `None` for an empty or too large port.
        let port = match authority.port_u16() {
            Some(port) => port,
            None if authority.as_str().ends_with(authority.host()) => usual,
            None => return Err(KeyUrlError::Form),
        };
        if host.is_empty() || port == 0 {
            return Err(KeyUrlError::Form);
        }
        Ok(Self { uri, host, port, is_encrypted })
    }
}

/// Returns whether a host is this machine. Other addresses of `localhost` are ignored.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encrypted_urls_and_those_of_this_machine_are_accepted() {
        for (url, host, port) in [
            ("https://login.example/keys?tenant=a", "login.example", 443),
            ("HTTPS://login.example:8443/", "login.example", 8443),
            ("http://localhost/jwks", "localhost", 80),
            ("http://127.0.0.1:9000/jwks", "127.0.0.1", 9000),
            ("http://[::1]:9000/jwks", "::1", 9000),
        ] {
            let parsed = KeyUrl::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!((parsed.host.as_str(), parsed.port), (host, port), "{url}");
        }
        for (url, error) in [
            ("http://login.example/jwks", KeyUrlError::NotEncrypted),
            ("http://127.0.0.1.evil.example/jwks", KeyUrlError::NotEncrypted),
            ("http://192.168.0.1/jwks", KeyUrlError::NotEncrypted),
            ("https://ann:secret@login.example/", KeyUrlError::User),
            ("http://localhost@evil.example/", KeyUrlError::User),
            ("login.example/jwks", KeyUrlError::Form),
            ("/jwks.json", KeyUrlError::Form),
            ("file:///jwks.json", KeyUrlError::Form),
            ("ftp://login.example/", KeyUrlError::Form),
            ("https://login.example:99999/", KeyUrlError::Form),
            ("https://login.example:0/", KeyUrlError::Form),
            ("https://", KeyUrlError::Form),
            ("", KeyUrlError::Form),
        ] {
            assert_eq!(KeyUrl::parse(url), Err(error), "{url}");
        }
    }
}
