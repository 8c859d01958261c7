//! The caller of a question, and its view of a bundle.

use relay_bundle::Bundle;
use relay_engine::nearest::nearest;
use relay_engine::place::{self, Identity, NoPlace, Placement};
use relay_engine::view::View;

use crate::args::CallerArgs;
use crate::failure::Failure;

/// A caller in the project, and its view.
pub(crate) struct Asker<'b> {
    /// The whole bundle, to explain hidden things.
    pub(crate) bundle: &'b Bundle,
    /// The tenant and the role.
    pub(crate) placement: Placement,
    /// The part of the bundle that it sees.
    pub(crate) view: View<'b>,
}

/// Places the caller of a question. A role alone is taken as it is; with an id or groups, `users`
/// must give the role, as on a server.
///
/// # Errors
///
/// A name is unknown, or its callers are refused.
pub(crate) fn view<'b>(bundle: &'b Bundle, caller: &CallerArgs) -> Result<Asker<'b>, Failure> {
    check_names(bundle, caller)?;
    let CallerArgs { tenant, role, user, group } = caller;
    let identity = Identity {
        id: user.as_deref().unwrap_or_default(),
        tenant: tenant.as_deref(),
        groups: group,
        role: role.as_deref(),
    };
    let placement = place::preview(bundle, &identity)?
        .map_err(|reason| refused(bundle, &reason, identity.names_who()))?;
    Ok(Asker { bundle, placement, view: View::of(bundle, &placement)? })
}

/// Refuses names missing in the project: the answer would be for impossible callers.
fn check_names(bundle: &Bundle, caller: &CallerArgs) -> Result<(), Failure> {
    if let Some(name) = &caller.tenant
        && bundle.tenants().find(name)?.is_none()
    {
        let tenants = bundle.tenants().list()?;
        let known: Vec<&str> = tenants.iter().map(|tenant| tenant.name.as_str()).collect();
        let failure = unknown("tenant", name, &known);
        // A server refuses a caller of an unlisted tenant; in a project that lists none, tenants
        // are ignored.
        return Err(if known.is_empty() { failure } else { failure.into_no() });
    }
    check_role(bundle, caller.role.as_deref())
}

/// Refuses a role missing in the project.
pub(crate) fn check_role(bundle: &Bundle, role: Option<&str>) -> Result<(), Failure> {
    match role {
        Some(name) if place::number_of(bundle.roles(), name).is_none() => {
            Err(unknown("role", name, &role_names(bundle)))
        }
        _ => Ok(()),
    }
}

fn role_names(bundle: &Bundle) -> Vec<&str> {
    bundle.roles().iter().map(|role| role.name.as_str()).collect()
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Failure {
    let help = match (nearest(name, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => format!("the project has no {what}s; leave `--{what}` out"),
        (None, known) => format!("known names: {}", known.join(", ")),
    };
    Failure::error(format!("unknown {what} `{name}`")).help(help)
}

fn refused(bundle: &Bundle, reason: &NoPlace, names_who: bool) -> Failure {
    if names_who {
        return Failure::no(format!("the server refuses this caller: {reason}"))
            .help("`users` of the project says who is admitted");
    }
    let roles = role_names(bundle).join(", ");
    Failure::error("the answer depends on who asks, and `users` admits no caller without a name")
        .help(format!("say who asks with --role or --user; the roles are: {roles}"))
}
