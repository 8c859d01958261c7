//! The check that the bundle has the tenants and roles that flags and `server.toml` name.
//!
//! A mistyped role admits no one, and lines for a mistyped tenant are idle.

use std::fmt;
use std::sync::Arc;

use relay_bundle::Corrupt;
use relay_engine::nearest::nearest;
use relay_engine::place::NoPlace;
use thiserror::Error;

use super::loaded::{Loaded, OpenRow};
use super::placed::Placed;
use crate::settings::Settings;
use crate::settings::config;

/// The most logged rows of `users`.
const OPEN_ROWS_MAX: usize = 10;

/// The reason for which the server refuses to start with this bundle.
#[derive(Debug, Error)]
pub(crate) enum NameError {
    #[error("{origin}: the project has no {kind} `{name}`{help}")]
    Unknown { origin: String, kind: Kind, name: String, help: String },
    #[error(
        "the caller `{id}` has no place in the project: {reason}; `users` of the project admits \
         callers, and --principal, --tenant, --group and --role say who this one is"
    )]
    NoPlace { id: String, reason: NoPlace },
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tenant,
    Role,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tenant => "tenant",
            Self::Role => "role",
        })
    }
}

/// Checks that the principal of the settings has a place in the project, where requests are its
/// own.
///
/// # Errors
///
/// It has no place.
pub(crate) fn check_own_caller(settings: &Settings, loaded: &Arc<Loaded>) -> Result<(), NameError> {
    if settings.authenticates() {
        return Ok(());
    }
    let principal = &settings.principal;
    let placed = Placed::new(loaded.clone(), principal)?;
    match placed.refusal().cloned() {
        Some(reason) => Err(NameError::NoPlace { id: principal.id.clone(), reason }),
        None => Ok(()),
    }
}

/// Logs the rows of `users` that name a user or a group for every tenant, if there are several
/// issuers: each of them can name that caller, which gets the role.
///
/// # Errors
///
/// The bundle is damaged.
pub(crate) fn warn_of_open_rows(settings: &Settings, loaded: &Loaded) -> Result<(), NameError> {
    let issuers = settings.auth.iter().flat_map(|auth| &auth.jwt).count();
    if issuers < 2 || !settings.authenticates() {
        return Ok(());
    }
    let rows = loaded.rows_for_every_tenant()?;
    for OpenRow { who, id, role, at } in rows.iter().take(OPEN_ROWS_MAX) {
        let who = who.word();
        tracing::warn!(
            "`{who} {id}` ({at}) has no tenant, so each of the {issuers} issuers can name a caller that has the role `{role}`: add `tenant=` to the line"
        );
    }
    let more = rows.len().saturating_sub(OPEN_ROWS_MAX);
    if more > 0 {
        tracing::warn!("{more} more lines of `users` name a user or a group without a tenant");
    }
    Ok(())
}

/// Checks every tenant and role that the settings name.
///
/// # Errors
///
/// The first one missing in the bundle.
pub(crate) fn check(settings: &Settings, loaded: &Loaded) -> Result<(), NameError> {
    let local = &settings.principal;
    let mut named = vec![
        ("the principal of this server".to_owned(), Kind::Tenant, local.tenant.as_deref()),
        ("the principal of this server".to_owned(), Kind::Role, local.role.as_deref()),
    ];
    if let Some(config::Auth { api_keys, jwt }) = &settings.auth {
        for key in api_keys {
            let origin = format!("auth.api-keys, key `{}`", key.id);
            named.push((origin.clone(), Kind::Tenant, key.tenant.as_deref()));
            named.push((origin, Kind::Role, key.role.as_deref()));
        }
        for issuer in jwt {
            let origin = format!("auth.jwt, issuer `{}`", issuer.issuer);
            for tenant in issuer.tenants.iter().flatten() {
                named.push((origin.clone(), Kind::Tenant, Some(tenant)));
            }
        }
    }
    for (origin, kind, name) in named {
        let Some(name) = name else { continue };
        let known = match kind {
            Kind::Tenant => loaded.tenant_names()?,
            Kind::Role => loaded.role_names(),
        };
        // If the project has no tenants, a caller's tenant only distinguishes callers.
        if known.contains(&name) || kind == Kind::Tenant && known.is_empty() {
            continue;
        }
        let help = match (nearest(name, known.iter().copied()), known.as_slice()) {
            (Some(near), _) => format!(": did you mean `{near}`?"),
            (None, []) => ": it has no roles, so leave it out".to_owned(),
            (None, _) => format!(": relay inspect lists its {kind}s"),
        };
        return Err(NameError::Unknown { origin, kind, name: name.to_owned(), help });
    }
    Ok(())
}
