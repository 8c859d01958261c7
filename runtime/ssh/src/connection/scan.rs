//! The host keys of an unknown host.

use std::sync::{Arc, OnceLock};

use russh::AlgorithmKind;
use russh::client::{self, Handle};
use russh::keys::{HashAlg, PublicKey};
use tokio::time::timeout;

use super::error::{ConnectError, ConnectFailure};
use super::handler::{Check, Client, Forwarded};
use super::proof::algorithms_named;
use super::reach::{Attempt, config, exchange_failure, open_carrier, reach};
use super::stream::{Stream, Switch};
use crate::limits::Limits;
use crate::route::{HOPS_MAX, Hop, Route};

/// The key types that are asked for.
const KEY_TYPES: [&str; 5] =
    ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"];

/// The answer of a host to one key type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ScannedKey {
    /// The key type in the names of RFC 4253.
    pub algorithm: String,
    /// The key, if the host has one of this type.
    pub found: Option<FoundKey>,
}

/// A key of a host. Nothing proves that it is the right host's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundKey {
    /// The fingerprint as `ssh-keygen -l` writes it.
    pub fingerprint: String,
    /// The line for `known_hosts`.
    pub line: String,
}

/// Asks the last host of a route for its keys, one connection for each type. Logs in to the jump hosts
/// alone.
///
/// An impostor may answer as well: a person has to compare the fingerprints.
///
/// # Errors
///
/// The host is out of reach, speaks another protocol, or takes longer than the limit of a connect.
pub async fn keyscan(route: &Route, limits: &Limits) -> Result<Vec<ScannedKey>, ConnectError> {
    let Some((host, jumps)) = route.hops.split_last().filter(|_| route.hops.len() <= HOPS_MAX)
    else {
        let hops = route.hops.len();
        return Err(ConnectError {
            place: "route".to_owned(),
            cause: ConnectFailure::Route { hops },
        });
    };
    let mut at = host.place();
    match timeout(limits.connect, scan(host, jumps, limits, &mut at)).await {
        Ok(Ok(keys)) => Ok(keys),
        Ok(Err(cause)) => Err(ConnectError { place: at, cause }),
        Err(_) => {
            let cause = ConnectFailure::Timeout { limit: limits.connect };
            Err(ConnectError { place: at, cause })
        }
    }
}

async fn scan(
    host: &Hop,
    jumps: &[Hop],
    limits: &Limits,
    at: &mut String,
) -> Result<Vec<ScannedKey>, ConnectFailure> {
    let mut attempt = Attempt(Vec::new());
    let before = reach(jumps, limits, at, &mut attempt).await?;
    *at = host.place();
    let mut keys = Vec::new();
    for name in KEY_TYPES {
        let key = ask(host, before.as_ref().map(|before| &before.handle), name, limits).await?;
        let found = key.map(|key| found(host, &key));
        keys.push(ScannedKey { algorithm: name.to_owned(), found });
    }
    Ok(keys)
}

/// Asks for the key of one type. `None`: the host lacks it.
async fn ask(
    host: &Hop,
    before: Option<&Handle<Client>>,
    name: &str,
    limits: &Limits,
) -> Result<Option<PublicKey>, ConnectFailure> {
    let carrier = open_carrier(before, host).await?;
    let switch = Switch::default();
    let _attempt = Attempt(vec![switch.clone()]);
    let stream = Stream::new(carrier, &switch, limits.silence());
    let config = Arc::new(config(algorithms_named(name), Vec::new(), limits));
    let noted = Arc::new(OnceLock::new());
    let handler = Client {
        check: Check::Note(Arc::clone(&noted)),
        forwarded: Forwarded::default(),
        _gone: None,
    };
    match client::connect_stream(config, stream, handler).await {
        // The handler refuses every key, after it noted it.
        Ok(_) | Err(russh::Error::UnknownKey) => Ok(noted.get().cloned()),
        Err(russh::Error::NoCommonAlgo { kind: AlgorithmKind::Key, .. }) => Ok(None),
        Err(error) => Err(exchange_failure(error, &switch)),
    }
}

fn found(host: &Hop, key: &PublicKey) -> FoundKey {
    let name = if host.port == 22 {
        host.known_as.clone()
    } else {
        format!("[{}]:{}", host.known_as, host.port)
    };
    let key = PublicKey::from(key.key_data().clone());
    let text = key.to_openssh().unwrap_or_default();
    FoundKey {
        fingerprint: key.fingerprint(HashAlg::Sha256).to_string(),
        line: format!("{name} {}", text.trim()),
    }
}
