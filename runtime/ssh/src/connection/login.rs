//! The login with keys of files and of an agent.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use russh::MethodKind;
use russh::client::{AuthResult, Handle};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::AgentClient;
use russh::keys::{Algorithm, HashAlg, PrivateKeyWithHashAlg, PublicKey};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::error::ConnectFailure;
use super::handler::Client;
use super::key_file::{self, Loaded};
use crate::route::{Hop, IDENTITIES_MAX};

/// The longest time that an agent takes to list its keys or to sign. A person may have to confirm it.
const AGENT_TIME_MAX: Duration = Duration::from_secs(15);

/// The most keys of an agent that are offered. OpenSSH accepts six attempts by default.
const AGENT_KEYS_MAX: usize = 16;

type Agent = AgentClient<UnixStream>;

/// The state of one login.
struct Login<'a> {
    handle: &'a mut Handle<Client>,
    hop: &'a Hop,
    /// One line for each key, for the error.
    tried: Vec<String>,
    /// The public keys that were offered.
    offered: Vec<PublicKey>,
    /// Whether the host takes further keys.
    open: bool,
}

/// The result of one offer.
enum Offer {
    Accepted,
    Refused,
    Partial(String),
}

/// Logs in to the host of `hop`.
///
/// The order is: keys of the agent that belong to an identity, then key files, then the other keys of
/// the agent. Signing with RSA happens in the agent wherever the agent has the key.
pub(super) async fn log_in(handle: &mut Handle<Client>, hop: &Hop) -> Result<(), ConnectFailure> {
    let identities = hop.identities.clone();
    if identities.len() > IDENTITIES_MAX {
        return Err(ConnectFailure::Identities { count: identities.len() });
    }
    let wanted =
        blocking(move || identities.iter().filter_map(key_file::public_key).collect::<Vec<_>>())
            .await;
    let wanted = wanted.unwrap_or_default();
    let mut login = Login { handle, hop, tried: Vec::new(), offered: Vec::new(), open: true };
    let mut agent = None;
    if let Some(socket) = &hop.agent {
        match login.open_agent(socket).await {
            Ok(opened) => agent = Some(opened),
            Err(reason) => login.tried.push(format!("agent {}: {reason}", socket.display())),
        }
    }
    let belongs = |held: &AgentIdentity| {
        wanted.iter().any(|key| key.key_data() == held.public_key().key_data())
    };
    if let Some((agent, held)) = &mut agent {
        let mine = held.iter().filter(|held| belongs(held)).take(AGENT_KEYS_MAX);
        if login.try_agent(agent, mine).await? {
            return Ok(());
        }
    }
    if login.try_files().await? {
        return Ok(());
    }
    if let Some((agent, held)) = &mut agent
        && !hop.identities_only
    {
        let others = held.iter().filter(|held| !belongs(held)).take(AGENT_KEYS_MAX);
        if login.try_agent(agent, others).await? {
            return Ok(());
        }
    }
    Err(ConnectFailure::Login { user: hop.user.clone(), tried: login.tried })
}

impl Login<'_> {
    async fn open_agent(&self, socket: &Path) -> Result<(Agent, Vec<AgentIdentity>), String> {
        let binding = self.handle.agent_session_binding().cloned();
        let opened = timeout(AGENT_TIME_MAX, async {
            let mut agent = AgentClient::connect_uds(socket).await?;
            if let Some(binding) = binding {
                // Tells the agent the destination. Old agents refuse it.
                let _ = agent.bind_session(&binding, false).await;
            }
            let held = agent.request_identities().await?;
            Ok::<_, russh::keys::Error>((agent, held))
        });
        match opened.await {
            Ok(Ok(opened)) => Ok(opened),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer in {} s", AGENT_TIME_MAX.as_secs())),
        }
    }

    /// Offers the keys of an agent. True: the login is complete.
    async fn try_agent<'a>(
        &mut self,
        agent: &mut Agent,
        held: impl Iterator<Item = &'a AgentIdentity>,
    ) -> Result<bool, ConnectFailure> {
        for identity in held {
            if !self.open {
                return Ok(false);
            }
            let key = identity.public_key().into_owned();
            let name = format!("agent key {}", key.fingerprint(HashAlg::Sha256));
            let user = self.hop.user.clone();
            let hash = match self.hash(&key.algorithm()).await {
                Ok(hash) => hash,
                Err(reason) => {
                    self.tried.push(format!("{name}: {reason}"));
                    continue;
                }
            };
            let asked = async {
                match identity {
                    AgentIdentity::PublicKey { key, .. } => {
                        self.handle
                            .authenticate_publickey_with(user, key.clone(), hash, agent)
                            .await
                    }
                    AgentIdentity::Certificate { certificate, .. } => {
                        let certificate = certificate.clone();
                        self.handle
                            .authenticate_certificate_with(user, certificate, hash, agent)
                            .await
                    }
                }
            };
            let result = timeout(AGENT_TIME_MAX, asked).await;
            self.offered.push(key);
            match result {
                Ok(Ok(result)) => {
                    if self.settle(&name, result)? {
                        return Ok(true);
                    }
                }
                Ok(Err(error)) => self.tried.push(format!("{name}: {error}")),
                Err(_) => {
                    // The answer may still come and would be taken for that to the next key.
                    self.open = false;
                    self.tried.push(format!("{name}: the agent gave no signature in time"));
                }
            }
        }
        Ok(false)
    }

    /// Offers the keys of the files. True: the login is complete.
    async fn try_files(&mut self) -> Result<bool, ConnectFailure> {
        for identity in &self.hop.identities {
            if !self.open {
                return Ok(false);
            }
            let name = format!("key {}", identity.key.display());
            let read = identity.clone();
            let loaded = match blocking(move || key_file::load(&read)).await {
                Some(Ok(loaded)) => loaded,
                Some(Err(error)) => {
                    self.tried.push(format!("key {error}"));
                    continue;
                }
                None => continue,
            };
            if loaded.certificate.is_none() && self.was_offered(loaded.key.public_key()) {
                continue;
            }
            let result = match self.hash(&loaded.key.algorithm()).await {
                Ok(hash) => self.offer(loaded, hash).await,
                Err(reason) => Err(reason),
            };
            match result {
                Ok(result) => {
                    if self.settle(&name, result)? {
                        return Ok(true);
                    }
                }
                Err(reason) => self.tried.push(format!("{name}: {reason}")),
            }
        }
        Ok(false)
    }

    async fn offer(&mut self, loaded: Loaded, hash: Option<HashAlg>) -> Result<AuthResult, String> {
        let user = self.hop.user.clone();
        let Loaded { key, certificate } = loaded;
        let result = match certificate {
            Some(certificate) if key.algorithm().is_rsa() => {
                let mut signer = super::signer::Signing { key };
                let signed =
                    self.handle.authenticate_certificate_with(user, certificate, hash, &mut signer);
                return signed.await.map_err(|error| error.to_string());
            }
            Some(certificate) => {
                self.handle.authenticate_openssh_cert(user, Arc::new(key), certificate).await
            }
            None => {
                let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
                self.handle.authenticate_publickey(user, key).await
            }
        };
        result.map_err(|error| error.to_string())
    }

    fn was_offered(&self, key: &PublicKey) -> bool {
        self.offered.iter().any(|offered| offered.key_data() == key.key_data())
    }

    /// Returns the hash for a signature with RSA, and `None` for other keys.
    async fn hash(&self, algorithm: &Algorithm) -> Result<Option<HashAlg>, String> {
        if !algorithm.clone().is_rsa() {
            return Ok(None);
        }
        match self.handle.best_supported_rsa_hash().await {
            Ok(Some(Some(hash))) => Ok(Some(hash)),
            // The host says nothing; of the two hashes, more servers know this one.
            Ok(None) => Ok(Some(HashAlg::Sha256)),
            Ok(Some(None)) => Err("the host takes RSA with SHA-1 only, which is broken".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Notes the answer to an offer. True: the login is complete.
    fn settle(&mut self, name: &str, result: AuthResult) -> Result<bool, ConnectFailure> {
        match offer_of(result, &mut self.open) {
            Offer::Accepted => Ok(true),
            Offer::Partial(methods) => Err(ConnectFailure::SecondFactor { methods }),
            Offer::Refused => {
                let rest = if self.open { "" } else { ", and the host takes no further key" };
                self.tried.push(format!("{name}: refused{rest}"));
                Ok(false)
            }
        }
    }
}

fn offer_of(result: AuthResult, open: &mut bool) -> Offer {
    match result {
        AuthResult::Success => Offer::Accepted,
        AuthResult::Failure { remaining_methods, partial_success: true } => {
            let names: Vec<String> =
                remaining_methods.iter().map(|method| String::from(<&str>::from(method))).collect();
            Offer::Partial(names.join(", "))
        }
        AuthResult::Failure { remaining_methods, partial_success: false } => {
            *open = remaining_methods.contains(&MethodKind::PublicKey);
            Offer::Refused
        }
    }
}

/// Runs work that blocks on a thread of its own. `None`: it was abandoned at the end of the runtime.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
