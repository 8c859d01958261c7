//! Tenants, roles, users and audiences.

use relay_bundle::{Audience, Audiences, CallerRole, Mask, Page, Setting, Tenant, User, Visible};
use relay_engine::derived::pages;

use super::places::Places;
use crate::instructions::{self, Instructions};
use crate::model::audience;
use crate::model::{Access, Model};

/// Lowers the tenants.
pub(super) fn tenants(access: &Access, places: &Places<'_>) -> Vec<Tenant> {
    let tenants = access.tenants.iter();
    tenants.map(|name| Tenant { name: name.value.clone(), at: places.of(name.at) }).collect()
}

/// Lowers the roles.
pub(super) fn roles(access: &Access, places: &Places<'_>) -> Vec<CallerRole> {
    let role = |role: &crate::model::Role| CallerRole {
        name: role.name.value.clone(),
        tier: Setting { value: role.tier.value, at: role.tier.at.map(|at| places.of(at)) },
        approve: places.optional(role.approve.clone()),
        decides: places.optional(role.decides.clone()),
        parent: role.parent.as_ref().map(|parent| number(parent.value)),
        tools: role
            .tools
            .as_ref()
            .map(|tools| tools.iter().map(|pattern| places.written(pattern.clone())).collect()),
        at: places.of(role.name.at),
    };
    access.roles.iter().map(role).collect()
}

/// Lowers the users.
pub(super) fn users(access: &Access, places: &Places<'_>) -> Vec<User> {
    let user = |user: &crate::model::User| User {
        who: user.who,
        id: user.id.clone(),
        tenant: user.tenant.as_ref().map(|tenant| number(tenant.value)),
        role: number(user.role.value),
        at: places.of(user.at),
    };
    access.users.iter().map(user).collect()
}

/// Composes the instructions of each audience; `None` if everyone sees everything.
pub(super) fn indexes(model: &Model) -> Option<Vec<Instructions>> {
    let audiences = model.audiences.list.iter();
    (!model.is_one_audience())
        .then(|| audiences.map(|audience| instructions::compose(model, audience)).collect())
}

/// Lowers the audiences, given the instructions of each and the pages of the lists, in the order of
/// [`List::ALL`](relay_bundle::List::ALL).
pub(super) fn audiences(
    audiences: audience::Audiences,
    composed: Vec<Instructions>,
    pages: [&[Page]; 4],
) -> Audiences {
    let audience::Audiences { tenant_classes, table, list } = audiences;
    let [prompts, resources, templates, tools] = pages.map(pages::entry_bytes);
    let visible =
        |rows: Mask, bytes: &[usize]| Visible { pages: pages::starts(&rows, bytes), rows };
    let lowered = list.into_iter().zip(composed).map(|(audience, composed)| Audience {
        prompts: visible(audience.prompts, &prompts),
        resources: visible(audience.resources, &resources),
        templates: visible(audience.templates, &templates),
        tools: visible(audience.tools, &tools),
        index: composed.index,
        listed: composed.listed.into_iter().map(number).collect(),
    });
    Audiences {
        tenant_classes: tenant_classes.into_iter().map(number).collect(),
        table: table.into_iter().map(number).collect(),
        list: lowered.collect(),
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
