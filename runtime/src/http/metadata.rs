//! The metadata of this server as a protected resource (RFC 9728): where clients get tokens.

use std::collections::BTreeSet;
use std::ops::Not;

use serde::Serialize;

use super::jwt::PROOF_ALGORITHMS;
use crate::settings::config::{Dpop, Jwt, UrlParts};

/// The path of the metadata document, for clients that look for an authorization server.
pub(super) const METADATA_PATH: &str = "/.well-known/oauth-protected-resource";

/// The path of this server's endpoint, unless a proxy gives it another.
const DIRECT_PATH: &str = "/mcp";

/// The metadata document.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Metadata {
    resource: String,
    authorization_servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
    /// The algorithms of proofs for tokens bound to a key (RFC 9449).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dpop_signing_alg_values_supported: Vec<&'static str>,
    #[serde(skip_serializing_if = "Not::not")]
    dpop_bound_access_tokens_required: bool,
}

impl Metadata {
    /// Returns the metadata for tokens of these issuers, if there are any.
    ///
    /// All of them have the same resource.
    pub(super) fn new(issuers: &[Jwt]) -> Option<Self> {
        let resource = issuers.first()?.resource().to_owned();
        let servers = |jwt: &Jwt| match jwt.authorization_servers.as_slice() {
            [] => vec![jwt.issuer.clone()],
            servers => servers.to_vec(),
        };
        Some(Self {
            resource,
            authorization_servers: unique(issuers.iter().flat_map(servers)),
            scopes_supported: unique(issuers.iter().flat_map(|jwt| jwt.scopes.iter().cloned())),
            bearer_methods_supported: ["header"],
            dpop_signing_alg_values_supported: match issuers.iter().all(|jwt| jwt.dpop == Dpop::Off)
            {
                true => Vec::new(),
                false => PROOF_ALGORITHMS.iter().map(|(name, _)| *name).collect(),
            },
            dpop_bound_access_tokens_required: issuers.iter().all(|jwt| jwt.dpop == Dpop::Require),
        })
    }

    /// Returns the URL by which clients reach this server's endpoint.
    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns whether the document is at this path: its own, or the one for clients that know only
    /// the address of the server.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let resource = UrlParts::of(&self.resource).map_or("", |parts| parts.path);
        path.strip_prefix(METADATA_PATH)
            .is_some_and(|rest| ["", DIRECT_PATH, resource].contains(&rest.trim_end_matches('/')))
    }

    /// Returns the URL of the document: the path of the resource follows the well-known one.
    pub(super) fn url(&self) -> Option<String> {
        let UrlParts { origin, path } = UrlParts::of(&self.resource)?;
        Some(format!("{origin}{METADATA_PATH}{path}"))
    }
}

/// Returns the scopes that the tokens of all issuers need. An authorization server may refuse a
/// scope that only another one knows.
pub(super) fn common_scopes(issuers: &[Jwt]) -> Vec<String> {
    let Some((first, others)) = issuers.split_first() else { return Vec::new() };
    let everywhere = |scope: &&String| others.iter().all(|jwt| jwt.scopes.contains(scope));
    first.scopes.iter().filter(everywhere).cloned().collect()
}

/// Returns the texts in their order, each once.
fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
