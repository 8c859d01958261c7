//! The way to a host: sockets, channels through jump hosts, key exchanges, logins.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, Handle};
use russh::keys::Algorithm;
use russh::{AlgorithmKind, Preferred, SshId, cipher};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::error::ConnectFailure;
use super::handler::{Check, Client, Forwarded};
use super::login;
use super::proof::Proof;
use super::stream::{Carrier, Stream, Switch};
use crate::limits::Limits;
use crate::route::Hop;

/// The name of this client to servers (RFC 4253, 4.2).
const CLIENT_ID: &str = concat!("SSH-2.0-relay_", env!("CARGO_PKG_VERSION"));

/// The bytes that a host may send on a channel before we read them.
const WINDOW_BYTES: u32 = 1 << 20;

/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;

/// The longest time for one of several addresses of a name, so that a dead one leaves time for the next.
const ADDRESS_TIME_MAX: Duration = Duration::from_secs(5);

/// Makes a given-up connect free its socket: cuts at once, unless the connection came into being.
pub(super) struct Attempt(pub(super) Vec<Switch>);

impl Drop for Attempt {
    fn drop(&mut self) {
        self.0.iter().rev().for_each(Switch::cut);
    }
}

/// A connection to one hop, logged in.
pub(super) struct Reached {
    pub(super) handle: Handle<Client>,
    /// The host's key in wire form.
    pub(super) host_key: Vec<u8>,
    pub(super) forwarded: Forwarded,
    /// Cancelled when the connection has ended, or must end.
    pub(super) gone: CancellationToken,
}

/// Logs in to each hop through the one before. Returns the connection to the last.
pub(super) async fn reach(
    hops: &[Hop],
    limits: &Limits,
    at: &mut String,
    attempt: &mut Attempt,
) -> Result<Option<Reached>, ConnectFailure> {
    let mut reached: Option<Reached> = None;
    for hop in hops {
        *at = hop.place();
        let carrier = open_carrier(reached.as_ref().map(|before| &before.handle), hop).await?;
        let switch = Switch::default();
        attempt.0.push(switch.clone());
        // The handle before is dropped; its connection lives as long as the channel that carries this one.
        reached = Some(shake_hands(hop, carrier, switch, limits).await?);
    }
    Ok(reached)
}

/// Opens what carries the connection to `hop`.
pub(super) async fn open_carrier(
    before: Option<&Handle<Client>>,
    hop: &Hop,
) -> Result<Carrier, ConnectFailure> {
    match before {
        None => Ok(Carrier::Socket(open_socket(hop).await?)),
        Some(before) => open_through(before, hop).await,
    }
}

async fn open_socket(hop: &Hop) -> Result<TcpStream, ConnectFailure> {
    let found = tokio::net::lookup_host((hop.address.as_str(), hop.port)).await;
    let addresses: Vec<SocketAddr> = match found {
        Ok(addresses) => addresses.take(ADDRESSES_MAX).collect(),
        Err(error) => return Err(ConnectFailure::Name { reason: error.to_string() }),
    };
    let mut reason = "the name has no address".to_owned();
    let last = addresses.last().copied();
    for address in addresses {
        let opening = TcpStream::connect(address);
        // The whole connect has a limit of its own.
        let limit = if Some(address) == last { Duration::MAX } else { ADDRESS_TIME_MAX };
        match timeout(limit, opening).await {
            Ok(Ok(socket)) => {
                // Nagle's algorithm would delay small exchanges by 40 ms.
                let _ = socket.set_nodelay(true);
                return Ok(socket);
            }
            Ok(Err(error)) => reason = format!("{address}: {error}"),
            Err(_) => reason = format!("{address}: no answer in {} s", ADDRESS_TIME_MAX.as_secs()),
        }
    }
    Err(ConnectFailure::Unreachable { reason })
}

async fn open_through(before: &Handle<Client>, hop: &Hop) -> Result<Carrier, ConnectFailure> {
    let opening =
        before.channel_open_direct_tcpip(hop.address.as_str(), hop.port.into(), "127.0.0.1", 0);
    match opening.await {
        Ok(channel) => Ok(Carrier::Channel(Box::new(channel.into_stream()))),
        Err(russh::Error::ChannelOpenFailure(failure)) => {
            let reason = format!("the jump host says: {}", failure.description().to_lowercase());
            Err(ConnectFailure::Unreachable { reason })
        }
        Err(error) => Err(ConnectFailure::Protocol { reason: lost_text(&error) }),
    }
}

/// Exchanges keys, checks the host and logs in.
async fn shake_hands(
    hop: &Hop,
    carrier: Carrier,
    switch: Switch,
    limits: &Limits,
) -> Result<Reached, ConnectFailure> {
    let proof = Arc::new(Proof::new(hop));
    let (keys, certificates) = proof.offer();
    let config = Arc::new(config(keys, certificates, limits));
    let stream = Stream::new(carrier, &switch, limits.silence());
    let (forwarded, gone) = (Forwarded::default(), CancellationToken::new());
    let handler = Client {
        check: Check::Prove(Arc::clone(&proof)),
        forwarded: forwarded.clone(),
        _gone: Some(gone.clone().drop_guard()),
    };
    let mut handle = match client::connect_stream(config, stream, handler).await {
        Ok(handle) => handle,
        Err(error) => {
            return Err(proof.refusal().unwrap_or_else(|| exchange_failure(error, &switch)));
        }
    };
    let (host_key, new) = proof.accepted().unwrap_or_default();
    if new {
        let trust = Arc::clone(&hop.trust);
        let key = host_key.clone();
        let learned = tokio::task::spawn_blocking(move || trust.learn(&key)).await;
        if let Ok(Err(error)) = learned {
            return Err(ConnectFailure::HostKeyNotRecorded { reason: error.to_string() });
        }
    }
    login::log_in(&mut handle, hop).await?;
    Ok(Reached { handle, host_key, forwarded, gone })
}

/// Returns the cause of a failed key exchange in words for the caller.
pub(super) fn exchange_failure(error: russh::Error, switch: &Switch) -> ConnectFailure {
    match error {
        russh::Error::NoCommonAlgo { kind: AlgorithmKind::Key, ours, theirs } => {
            let known =
                if ours.is_empty() { "types without support".to_owned() } else { ours.join(", ") };
            ConnectFailure::HostKeyTypes { known, theirs: theirs.join(", ") }
        }
        russh::Error::NoCommonAlgo { kind, ours: _, theirs } => {
            let kind = format!("{kind:?}").to_lowercase();
            ConnectFailure::Algorithms { kind, theirs: theirs.join(", ") }
        }
        russh::Error::Version => ConnectFailure::NotSsh,
        error if !switch.heard() => {
            let said = switch.first_line().map(|line| format!("it says: {line}"));
            ConnectFailure::Turned { reason: said.unwrap_or_else(|| lost_text(&error)) }
        }
        error => ConnectFailure::Protocol { reason: lost_text(&error) },
    }
}

/// Returns the text of an error of russh, which has several for a lost connection.
fn lost_text(error: &russh::Error) -> String {
    match error {
        russh::Error::Disconnect
        | russh::Error::HUP
        | russh::Error::SendError
        | russh::Error::RecvError => "the host closed the connection".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the configuration of a connection that offers these host key algorithms.
pub(super) fn config(
    keys: Vec<Algorithm>,
    certificates: Vec<Algorithm>,
    limits: &Limits,
) -> client::Config {
    client::Config {
        client_id: SshId::Standard(Cow::Borrowed(CLIENT_ID)),
        window_size: WINDOW_BYTES,
        keepalive_interval: Some(limits.keepalive),
        keepalive_max: limits.keepalive_misses,
        nodelay: true,
        preferred: Preferred {
            key: Cow::Owned(keys),
            host_key_certificates: Cow::Owned(certificates),
            cipher: Cow::Borrowed(ciphers()),
            ..Preferred::DEFAULT
        },
        ..client::Config::default()
    }
}

/// Returns the ciphers, the fastest for this processor first: with AES instructions, AES-GCM has nearly
/// twice the throughput of ChaCha20.
fn ciphers() -> &'static [cipher::Name] {
    const AES: &[cipher::Name] = &[
        cipher::AES_256_GCM,
        cipher::AES_128_GCM,
        cipher::CHACHA20_POLY1305,
        cipher::AES_256_CTR,
        cipher::AES_192_CTR,
        cipher::AES_128_CTR,
    ];
    const CHACHA: &[cipher::Name] = &[
        cipher::CHACHA20_POLY1305,
        cipher::AES_256_GCM,
        cipher::AES_128_GCM,
        cipher::AES_256_CTR,
        cipher::AES_192_CTR,
        cipher::AES_128_CTR,
    ];
    #[cfg(target_arch = "x86_64")]
    let aes = std::arch::is_x86_feature_detected!("aes");
    #[cfg(target_arch = "aarch64")]
    let aes = std::arch::is_aarch64_feature_detected!("aes");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let aes = false;
    if aes { AES } else { CHACHA }
}
