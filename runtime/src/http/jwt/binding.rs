//! The claim `cnf` of a token: the key of the caller that it is bound to (RFC 7800, RFC 9449).

use serde_json::Value;

use super::claims::Claims;
use super::error::TokenError;
use crate::settings::config::Dpop;

/// Returns the thumbprint of the key that a token is bound to. A token with another kind of binding
/// is rejected: unchecked, it would serve any holder.
pub(super) fn key(claims: &Claims) -> Result<Option<String>, TokenError> {
    let Claims(claims) = claims;
    let reject = |reason: &'static str| Err(TokenError::new(reason, String::new()));
    let members = match claims.get("cnf") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(members)) => members,
        Some(_) => return reject("the token's claim `cnf` is not an object"),
    };
    if members.contains_key("x5t#S256") {
        return reject(
            "the token is bound to a client certificate (`cnf`, `x5t#S256`), which this server does not check",
        );
    }
    match (members.get("jkt"), members.len()) {
        (Some(Value::String(thumbprint)), 1) => Ok(Some(thumbprint.clone())),
        (Some(Value::String(_)) | None, _) => {
            reject("the token is bound in a way (`cnf`) that this server does not check")
        }
        (Some(_), _) => reject("the token's claim `cnf` has a `jkt` that is not a text"),
    }
}

/// Checks whether the issuer accepts a bound token, or an unbound one.
pub(super) fn check(dpop: Dpop, bound_to: Option<&str>) -> Result<(), TokenError> {
    let reason = match (dpop, bound_to) {
        (Dpop::Off, Some(_)) => {
            "the token is bound to a key, which this server does not check (DPoP)"
        }
        (Dpop::Require, None) => {
            "the token is not bound to a key, which this server requires (DPoP)"
        }
        (Dpop::Off, None) | (Dpop::Accept, _) | (Dpop::Require, Some(_)) => return Ok(()),
    };
    Err(TokenError::new(reason, String::new()))
}
