//! The reasons why a host is out of reach.

use std::path::PathBuf;
use std::time::Duration;

/// A failure to connect or to open a channel. The command was left unsent, unless the cause says that it
/// may run.
///
/// The text names the host, the cause and the remedy. It is free of secrets.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct ConnectError {
    /// The host at which it failed, as [`Hop::place`](crate::Hop::place) returns it.
    pub place: String,
    /// The cause.
    pub cause: ConnectFailure,
}

/// The cause of a [`ConnectError`].
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The number of hops is zero or above the limit.
    #[error("a route has 1 to {} hosts, this one has {hops}", crate::route::HOPS_MAX)]
    Route {
        /// The hops of the route.
        hops: usize,
    },
    /// A hop has more key files than the limit.
    #[error("{count} identities are set, at most {} are used", crate::route::IDENTITIES_MAX)]
    Identities {
        /// The identities of the hop.
        count: usize,
    },
    /// The resolver fails.
    #[error("the name does not resolve: {reason}")]
    Name {
        /// The text of the resolver.
        reason: String,
    },
    /// The TCP connection, or the channel through the jump host, fails.
    #[error("cannot connect: {reason}")]
    Unreachable {
        /// The text of the system or the jump host.
        reason: String,
    },
    /// The host closed the connection before it spoke.
    #[error(
        "the host closes new connections at once ({reason}): it may have too many logins in progress \
         (MaxStartups) or block this address; try again later"
    )]
    Turned {
        /// The text of the last attempt.
        reason: String,
    },
    /// The limit of a connect has passed.
    #[error("no connection after {} s: check the address and the network", limit.as_secs())]
    Timeout {
        /// The limit.
        limit: Duration,
    },
    /// The peer speaks another protocol.
    #[error("the peer does not speak SSH: check the port")]
    NotSsh,
    /// The lists of algorithms are disjoint.
    #[error("no common {kind} algorithm: the host offers {theirs}")]
    Algorithms {
        /// The kind of algorithm.
        kind: String,
        /// The host's list.
        theirs: String,
    },
    /// The exchange failed in another way.
    #[error("the connection failed: {reason}")]
    Protocol {
        /// The text of the protocol error.
        reason: String,
    },
    /// An entry for the host is missing.
    #[error(
        "the host key is unknown: {fingerprint} ({algorithm}). Compare the fingerprint with one that the \
         administrator of the host gives you, then add the key to known_hosts (ssh_keyscan prints the line)"
    )]
    HostKeyUnknown {
        /// The fingerprint of the key.
        fingerprint: String,
        /// The type of the key.
        algorithm: String,
    },
    /// The host has another key than before.
    #[error(
        "the host key has CHANGED: {fingerprint} ({algorithm}) does not match {at}. Someone may intercept \
         the connection. If the host was set up anew, replace that entry"
    )]
    HostKeyChanged {
        /// The fingerprint of the key.
        fingerprint: String,
        /// The type of the key.
        algorithm: String,
        /// The place of the entry.
        at: String,
    },
    /// The key, or the authority of its certificate, is revoked.
    #[error(
        "the host key is REVOKED by {at}: {fingerprint} ({algorithm}). Do not connect to this host"
    )]
    HostKeyRevoked {
        /// The fingerprint of the key.
        fingerprint: String,
        /// The type of the key.
        algorithm: String,
        /// The place of the entry.
        at: String,
    },
    /// The host lacks every key type with an entry.
    #[error(
        "the host has no key of a known type: known_hosts has {known}, the host offers {theirs}. Add its \
         key to known_hosts after you compared the fingerprint"
    )]
    HostKeyTypes {
        /// The types with an entry.
        known: String,
        /// The types of the host.
        theirs: String,
    },
    /// The certificate of the host is invalid.
    #[error("the certificate of the host is refused: {reason}")]
    HostCertificate {
        /// The rule that it breaks.
        reason: String,
    },
    /// Recording the key of a new host fails.
    #[error("the key of the new host cannot be recorded: {reason}")]
    HostKeyNotRecorded {
        /// The text of the system.
        reason: String,
    },
    /// The host refuses every identity.
    #[error("the host accepts none of the keys for user `{user}`{}", tried_text(.tried))]
    Login {
        /// The user.
        user: String,
        /// One line for each key that was tried or passed over.
        tried: Vec<String>,
    },
    /// The host wants a second factor.
    #[error("the key is accepted, but the host also asks for {methods}, which relay does not do")]
    SecondFactor {
        /// The methods that remain.
        methods: String,
    },
    /// The host refuses a session on a connection that works.
    #[error("the host refuses a session: {reason}")]
    Session {
        /// The reason of the host.
        reason: String,
    },
    /// The host refuses a terminal, or the command for it.
    #[error("the host refuses the terminal or the command")]
    TerminalRefused,
    /// The connection was lost while the terminal opened.
    #[error("the connection was lost while the terminal opened: the command may run on the host")]
    TerminalLost,
    /// Every connection of the pool is in use.
    #[error("all {limit} connections are in use: try again when a command has ended")]
    Busy {
        /// The limit of the pool.
        limit: usize,
    },
    /// Too many other connects to the same address came first.
    #[error("other connections to the same address took {} s: try again", limit.as_secs())]
    Queued {
        /// The longest wait.
        limit: Duration,
    },
    /// The caller stopped the call before anything was sent.
    #[error("stopped before the command was sent")]
    Stopped,
}

/// The reason why a private key is unusable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: has a passphrase; add the key to the agent", path.display())]
    Encrypted { path: PathBuf },
    #[error(
        "{path}: readable by others (mode {mode:03o}); run `chmod 600 {path}`",
        path = path.display()
    )]
    Mode { path: PathBuf, mode: u32 },
    #[error("{}: belongs to user {owner}, not to the user of this server", path.display())]
    Owner { path: PathBuf, owner: u32 },
    #[error("{}: longer than {limit} bytes", path.display())]
    Length { path: PathBuf, limit: u64 },
    #[error("{}: not a private key in a known format", path.display())]
    Format { path: PathBuf },
    #[error("{}: not a certificate in OpenSSH format", path.display())]
    Certificate { path: PathBuf },
    #[error("{}: the certificate is for another key", path.display())]
    Foreign { path: PathBuf },
}

fn tried_text(tried: &[String]) -> String {
    if tried.is_empty() {
        ": no key file and no agent is set".to_owned()
    } else {
        format!(": {}", tried.join("; "))
    }
}
