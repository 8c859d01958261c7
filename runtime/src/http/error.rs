//! Errors of serving HTTP.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use relay_engine::system_error::reason;
use thiserror::Error;

use crate::settings::config::AuthError;

/// An error of serving HTTP.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    #[error("cannot listen on {address}: {}", listening(*address, source))]
    Listen { address: SocketAddr, source: io::Error },
    #[error("cannot read `{}`: {}", path.display(), reason(source))]
    Read { path: PathBuf, source: io::Error },
    #[error("{reason}")]
    Tls { reason: String },
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error("the key set `{}` cannot be used: {reason}", path.display())]
    Keys { path: PathBuf, reason: String },
    #[error("the key set at `{url}` cannot be fetched: {reason}")]
    KeyUrl { url: String, reason: String },
    #[error("the certificates of authorities in `{}` cannot be used: {reason}", path.display())]
    Authorities { path: PathBuf, reason: String },
    #[error(
        "allowed-origins holds `{origin}`: write an origin as https://app.example.com, with a port if it has one (`*` for any)"
    )]
    Origin { origin: String },
    #[error("cannot start the thread for large requests: {}", reason(.0))]
    Lane(io::Error),
    #[error("cannot listen for signals: {}", reason(.0))]
    Signals(io::Error),
}

/// Returns the reason for a failed listen, and the remedy.
fn listening(address: SocketAddr, source: &io::Error) -> String {
    let port = address.port();
    match source.kind() {
        io::ErrorKind::AddrInUse => format!(
            "another program listens there (`ss -ltnp sport = :{port}` names it); end it, or choose another port, as in --http {}",
            SocketAddr::new(address.ip(), port.checked_add(1).unwrap_or(8700))
        ),
        io::ErrorKind::AddrNotAvailable => format!(
            "this machine does not have the address {}; listen on 127.0.0.1:{port}, or on 0.0.0.0:{port} for every address",
            address.ip()
        ),
        io::ErrorKind::PermissionDenied if port < 1024 => {
            "ports below 1024 need privileges; choose a higher one, such as 8700".to_owned()
        }
        _ => reason(source),
    }
}
