//! Authentication: the `Authorization` header -> the principal.

use std::borrow::Cow;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use relay_bundle::Digest;
use relay_bundle::trust::Time;
use relay_machine::clock;
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;

use super::error::HttpError;
use super::jwt::{
    Asked, Checked, KeySetStatus, PROOF_ALGORITHMS, Replays, Shared, TokenError, TokenErrorKind,
    Tokens, check_proof,
};
use super::metadata::{Metadata, common_scopes};
use crate::caller::principal::Principal;
use crate::server::Server;
use crate::settings::config::{self, Dpop};

/// The prefix of an API key.
const API_KEY_PREFIX: &str = "rk_";

/// The form of an API key in a request.
const SEND_KEY: &str = "send the text of the .api-key file as `Authorization: Bearer rk_ID_SECRET`";

/// Identifies callers by API keys and tokens.
pub(super) struct Authenticator {
    keys: ArcSwap<Vec<ApiKey>>,
    issuers: ArcSwap<Issuers>,
    shared: Shared,
    replays: Replays,
}

/// The sender of a request, and the end of its credentials.
pub(super) struct Identity {
    pub(super) principal: Arc<Principal>,
    /// The time at which they end, if known.
    pub(super) until: Option<Time>,
}

struct ApiKey {
    id: String,
    secret: Digest,
    principal: Arc<Principal>,
    not_after: Option<Time>,
}

/// The authorization servers of accepted tokens, and their description for clients.
struct Issuers {
    tokens: Tokens,
    metadata: Option<Metadata>,
    metadata_url: Option<String>,
    /// The scopes that a token of any of them needs.
    scopes: Vec<String>,
    /// Whether unbound credentials are accepted.
    takes_bearer: bool,
    /// Whether tokens with a bound key are accepted.
    takes_dpop: bool,
}

/// Why a request is rejected, and which credentials it needs (RFC 6750, RFC 9449, RFC 9728).
pub(super) struct Challenge {
    status: StatusCode,
    /// The error code of RFC 6750 or RFC 9449, if the request had credentials.
    error: Option<&'static str>,
    reason: Cow<'static, str>,
    /// The credentials to send, for the body of the answer.
    help: Option<&'static str>,
    /// The issuers as they were when the request was rejected.
    issuers: Arc<Issuers>,
    claimed: Option<Claimed>,
    /// The scheme of the presented credential.
    scheme: Scheme,
}

/// How a credential is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Bearer,
    /// With a proof of the key that the token is bound to (RFC 9449).
    Dpop,
}

/// The credential of a request.
struct Credential<'r> {
    scheme: Scheme,
    token: &'r str,
}

/// The known owner or issuer of a presented credential.
enum Claimed {
    /// The API key of this id.
    Key(String),
    /// A token that names this issuer.
    Issuer(Arc<config::Jwt>),
}

impl Challenge {
    /// Returns why the request is rejected.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the kind and the name of the presented credential, if it is a known one.
    pub(super) fn claimed(&self) -> Option<(&'static str, &str)> {
        Some(match self.claimed.as_ref()? {
            Claimed::Key(id) => ("api-key", id),
            Claimed::Issuer(jwt) => ("issuer", &jwt.issuer),
        })
    }

    /// Returns the scopes that a token needs: of the named issuer, or else of all.
    fn scopes(&self) -> &[String] {
        match &self.claimed {
            Some(Claimed::Issuer(jwt)) => &jwt.scopes,
            Some(Claimed::Key(_)) | None => &self.issuers.scopes,
        }
    }
}

impl Authenticator {
    /// Reads the keys; those of URLs arrive later.
    pub(super) fn new(auth: &config::Auth, server: &Arc<Server>) -> Result<Self, HttpError> {
        let config::Auth { api_keys, jwt } = auth;
        let shared = Shared { server: server.clone(), changes: watch::Sender::default() };
        Ok(Self {
            keys: ArcSwap::from_pointee(api_keys.iter().map(ApiKey::new).collect()),
            issuers: ArcSwap::from_pointee(Issuers::new(Tokens::read(jwt, &shared)?, auth)),
            shared,
            replays: Replays::default(),
        })
    }

    /// Replaces the API keys and the issuers, whose keys are read again. If those of an issuer are
    /// missing or invalid, its old ones stay in force.
    pub(super) fn reload(&self, auth: &config::Auth) {
        let config::Auth { api_keys, jwt } = auth;
        self.keys.store(Arc::new(api_keys.iter().map(ApiKey::new).collect()));
        let tokens = self.issuers.load().tokens.read_again(jwt, &self.shared);
        self.issuers.store(Arc::new(Issuers::new(tokens, auth)));
        self.shared.changes.send_replace(());
    }

    /// Waits until each key set from a URL was tried once, which has a limit of time.
    pub(super) async fn first_fetches(&self) {
        self.issuers.load_full().tokens.first_fetches().await;
    }

    /// Returns a receiver that changes with the keys from here on.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.shared.changes.subscribe()
    }

    /// Returns the key sets from URLs, as they are now.
    pub(super) fn key_sets(&self) -> Vec<KeySetStatus> {
        self.issuers.load().tokens.key_sets()
    }

    /// Returns whether any credentials can be checked.
    pub(super) fn can_authenticate(&self) -> bool {
        !self.keys.load().is_empty() || self.issuers.load().tokens.has_keys()
    }

    /// Returns the metadata document, if an authorization server is configured.
    pub(super) fn metadata(&self) -> Option<Metadata> {
        self.issuers.load().metadata.clone()
    }

    /// Returns the sender of a request. The proof of a request counts once.
    pub(super) fn authenticate(&self, asked: &Asked<'_>) -> Result<Identity, Challenge> {
        let credential = credential(asked.headers).map_err(|reason| self.no_credential(reason))?;
        let (identity, checked) = self.identify(&credential)?;
        if let Some(checked) = checked {
            check_proof(asked, credential.token, &checked, &self.replays)
                .map_err(|error| self.rejected(error, credential.scheme))?;
        }
        Ok(identity)
    }

    /// Returns the present owner of the credentials in these headers. The proof was checked with
    /// the request itself.
    pub(super) fn identify_again(&self, headers: &HeaderMap) -> Result<Identity, Challenge> {
        let credential = credential(headers).map_err(|reason| self.no_credential(reason))?;
        self.identify(&credential).map(|(identity, _)| identity)
    }

    /// Returns the owner of a credential; with a token, also its checked parts.
    fn identify(
        &self,
        credential: &Credential<'_>,
    ) -> Result<(Identity, Option<Checked>), Challenge> {
        let Credential { scheme, token } = *credential;
        if let Some(key) = token.strip_prefix(API_KEY_PREFIX) {
            if scheme == Scheme::Dpop {
                return Err(self.invalid("an API key is not bound to a key: send it as `Bearer`"));
            }
            return Ok((self.api_key(key)?, None));
        }
        let issuers = self.issuers.load();
        if issuers.metadata.is_none() {
            return Err(self.invalid("this server takes API keys (rk_ID_SECRET) only"));
        }
        let checked = issuers.tokens.check(token).map_err(|error| self.rejected(error, scheme))?;
        let wrong_scheme = match (scheme, &checked.bound_to) {
            (Scheme::Bearer, Some(_)) => {
                Some("the token is bound to a key: send it as `DPoP`, with a proof")
            }
            (Scheme::Dpop, None) => Some("the token is not bound to a key: send it as `Bearer`"),
            (Scheme::Bearer, None) | (Scheme::Dpop, Some(_)) => None,
        };
        if let Some(reason) = wrong_scheme {
            let claimed = Some(Claimed::Issuer(checked.issuer.clone()));
            return Err(Challenge { claimed, scheme, ..self.invalid(reason) });
        }
        let (principal, until) = (checked.principal.clone(), Some(Time(checked.expires)));
        Ok((Identity { principal, until }, Some(checked)))
    }

    /// Returns the challenge for a request with a missing or malformed credential.
    fn no_credential(&self, malformed: Option<&'static str>) -> Challenge {
        match malformed {
            None => Challenge {
                help: Some(self.wanted()),
                ..self.challenge(StatusCode::UNAUTHORIZED, None, "authentication is required")
            },
            Some(reason) => Challenge { help: Some(self.wanted()), ..self.invalid(reason) },
        }
    }

    /// Returns the form of the credentials that the server takes.
    fn wanted(&self) -> &'static str {
        match (self.keys.load().is_empty(), self.issuers.load().metadata.is_some()) {
            (false, false) => SEND_KEY,
            (true, _) => {
                "send `Authorization: Bearer TOKEN`, with a token of the authorization server"
            }
            (false, true) => {
                "send `Authorization: Bearer rk_ID_SECRET`, the text of an .api-key file, or a token in its place"
            }
        }
    }

    fn rejected(&self, error: TokenError, scheme: Scheme) -> Challenge {
        let TokenError { reason, detail, kind, issuer } = error;
        // The detail may repeat text of the caller.
        tracing::trace!("rejected a token: {reason}: {detail}");
        let (status, code) = match kind {
            TokenErrorKind::LacksScope => (StatusCode::FORBIDDEN, Some("insufficient_scope")),
            TokenErrorKind::Invalid => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
            TokenErrorKind::BadProof => (StatusCode::UNAUTHORIZED, Some("invalid_dpop_proof")),
            // The token may be valid, so its client should keep it.
            TokenErrorKind::NoKeys => (StatusCode::SERVICE_UNAVAILABLE, None),
            TokenErrorKind::TooManyProofs => (StatusCode::TOO_MANY_REQUESTS, None),
        };
        let claimed = issuer.map(Claimed::Issuer);
        Challenge { claimed, scheme, ..self.challenge(status, code, reason) }
    }

    /// Compares in constant time, and takes as long for an unknown id as for a known one.
    fn api_key(&self, key: &str) -> Result<Identity, Challenge> {
        let (id, secret) = key.split_once('_').unwrap_or((key, ""));
        let keys = self.keys.load();
        let known = keys.iter().find(|known| known.id == id);
        let Digest(expected) = known.map_or(Digest([0; 32]), |known| known.secret);
        let Digest(found) = Digest::of(secret.as_bytes());
        let same: bool = expected.ct_eq(&found).into();
        let now = clock::unix_seconds();
        let reason = match known {
            Some(known) if same && known.not_after.is_none_or(|Time(end)| now < end) => {
                return Ok(Identity { principal: known.principal.clone(), until: known.not_after });
            }
            // Only a caller that has the secret learns that the key exists.
            Some(_) if same => "the API key has expired",
            _ => "the API key is not valid",
        };
        // An unknown id gets the same words as a wrong secret.
        let help = (!same || known.is_none()).then_some(SEND_KEY);
        let claimed = known.map(|known| Claimed::Key(known.id.clone()));
        Err(Challenge { claimed, help, ..self.invalid(reason) })
    }

    fn invalid(&self, reason: &'static str) -> Challenge {
        self.challenge(StatusCode::UNAUTHORIZED, Some("invalid_token"), reason)
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&'static str>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Challenge {
        let issuers = self.issuers.load_full();
        let scheme = Scheme::Bearer;
        let (reason, help, claimed) = (reason.into(), None, None);
        Challenge { status, error, reason, help, issuers, claimed, scheme }
    }
}

impl ApiKey {
    fn new(key: &config::ApiKey) -> Self {
        let config::ApiKey { id, sha256, principal, tenant, groups, role, not_after } = key;
        Self {
            id: id.clone(),
            secret: *sha256,
            principal: Arc::new(Principal {
                id: principal.clone(),
                issuer: None,
                tenant: tenant.clone(),
                groups: groups.clone(),
                role: role.clone(),
            }),
            not_after: *not_after,
        }
    }
}

impl Issuers {
    fn new(tokens: Tokens, auth: &config::Auth) -> Self {
        let config::Auth { api_keys, jwt: configs } = auth;
        let takes_bearer =
            !api_keys.is_empty() || configs.iter().any(|jwt| jwt.dpop != Dpop::Require);
        let metadata = Metadata::new(configs);
        let metadata_url = metadata.as_ref().and_then(Metadata::url);
        let scopes = common_scopes(configs);
        let takes_dpop = configs.iter().any(|jwt| jwt.dpop != Dpop::Off);
        Self { tokens, metadata, metadata_url, scopes, takes_bearer, takes_dpop }
    }
}

/// Returns the credential in the headers; the error says how it is malformed, `None` if it is
/// missing.
fn credential(headers: &HeaderMap) -> Result<Credential<'_>, Option<&'static str>> {
    if !headers.contains_key(header::AUTHORIZATION) {
        return Err(None);
    }
    let value = single(headers, header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    value.and_then(parse_credential).ok_or(Some("the Authorization header is not `Bearer TOKEN`"))
}

/// Returns the value of a header that must appear only once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&HeaderValue> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

fn parse_credential(header: &str) -> Option<Credential<'_>> {
    let (scheme, token) = header.split_once(' ')?;
    let scheme = match scheme {
        _ if scheme.eq_ignore_ascii_case("bearer") => Scheme::Bearer,
        _ if scheme.eq_ignore_ascii_case("dpop") => Scheme::Dpop,
        _ => return None,
    };
    let token = token.trim();
    (!token.is_empty()).then_some(Credential { scheme, token })
}

impl IntoResponse for Challenge {
    fn into_response(self) -> Response {
        let help = self.help.map(|help| format!(": {help}")).unwrap_or_default();
        let body = format!("{}{help}\n", self.reason);
        let retry = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => Some("30"),
            StatusCode::TOO_MANY_REQUESTS => Some("60"),
            _ => None,
        };
        if let Some(seconds) = retry {
            return (self.status, [(header::RETRY_AFTER, seconds)], body).into_response();
        }
        let Issuers { takes_bearer, takes_dpop, .. } = *self.issuers;
        let of_dpop = takes_dpop && (self.scheme == Scheme::Dpop || !takes_bearer);
        let mut response = (self.status, body).into_response();
        let bearer = takes_bearer.then(|| self.parameters("Bearer realm=\"relay\"", !of_dpop));
        let algorithms = PROOF_ALGORITHMS.map(|(name, _)| name).join(" ");
        let dpop = format!("DPoP realm=\"relay\", algs=\"{algorithms}\"");
        let dpop = takes_dpop.then(|| self.parameters(&dpop, of_dpop));
        for challenge in bearer.into_iter().chain(dpop) {
            // It has only printable characters.
            if let Ok(challenge) = HeaderValue::from_str(&challenge) {
                response.headers_mut().append(header::WWW_AUTHENTICATE, challenge);
            }
        }
        response
    }
}

impl Challenge {
    /// Returns a challenge of one scheme, with the error if the credential was of this one.
    fn parameters(&self, scheme: &str, with_error: bool) -> String {
        let scope = Some(self.scopes().join(" ")).filter(|scope| !scope.is_empty());
        let error = self.error.filter(|_| with_error);
        let quoted = [
            ("error", error),
            ("error_description", error.map(|_| &*self.reason)),
            ("resource_metadata", self.issuers.metadata_url.as_deref()),
            ("scope", scope.as_deref()),
        ];
        let mut challenge = scheme.to_owned();
        for (name, value) in quoted {
            // Characters that end the quotes or are invalid in a header are left out; only odd
            // names of claims have them.
            let plain = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
            let value = value.map(|value| value.chars().filter(plain).collect::<String>());
            challenge.extend(value.map(|value| format!(", {name}=\"{value}\"")));
        }
        challenge
    }
}
