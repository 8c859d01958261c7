//! Placing equals a model that goes over every row.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use relay_bundle::{Contents, User, Who, encode};
use relay_engine::place::{Identity, NoPlace, Placement, place};

use crate::bundle::{random, sample};

/// Whom the model places where, and the reason where it refuses.
#[derive(Debug, PartialEq, Eq)]
enum Placed {
    There { tenant: Option<usize>, role: Option<usize>, row: Option<usize> },
    UnknownTenant,
    NotAdmitted,
    NotItsRole,
    SeveralTenants,
    RolesApart,
}

fn model(contents: &Contents, identity: &Identity<'_>) -> Placed {
    let tenant = match identity.tenant.filter(|_| !contents.tenants.is_empty()) {
        Some(name) => match contents.tenants.iter().position(|tenant| tenant.name == name) {
            None => return Placed::UnknownTenant,
            found => found,
        },
        None => None,
    };
    if contents.roles.is_empty() {
        return Placed::There { tenant, role: None, row: None };
    }
    let names_caller = |user: &User, who| match who {
        Who::User => user.id == identity.id,
        Who::Group => identity.groups.contains(&user.id),
        Who::Anyone => user.id.is_empty(),
    };
    let applies = |user: &User| match (tenant, user.tenant) {
        (Some(own), Some(other)) => own == other as usize,
        (None, _) | (_, None) => true,
    };
    // A row for the tenant hides the one of the same name for every tenant.
    let hidden = |user: &User| {
        let twin = |other: &User| {
            (other.who, &other.id) == (user.who, &user.id)
                && other.tenant.is_some()
                && applies(other)
        };
        tenant.is_some() && user.tenant.is_none() && contents.users.iter().any(twin)
    };
    let rows = |who| -> Vec<(usize, &User)> {
        let users = contents.users.iter().enumerate();
        let named = users.filter(|(_, user)| user.who == who && names_caller(user, who));
        named.filter(|(_, user)| applies(user) && !hidden(user)).collect()
    };
    let mut found = [Who::User, Who::Group, Who::Anyone].map(rows).into_iter();
    let Some(mut rows) = found.find(|rows| !rows.is_empty()) else { return Placed::NotAdmitted };
    if let Some(role) = identity.role {
        rows.retain(|(_, user)| contents.roles[user.role as usize].name == role);
        if rows.is_empty() {
            return Placed::NotItsRole;
        }
    }
    let tenants: BTreeSet<_> = rows.iter().map(|(_, user)| user.tenant).collect();
    if tenant.is_none() && tenants.len() > 1 {
        return Placed::SeveralTenants;
    }
    let ancestors = |role: u32| {
        let mut all = vec![role];
        while let Some(parent) = contents.roles[*all.last().unwrap() as usize]
            .parent
            .filter(|parent| !all.contains(parent))
        {
            all.push(parent);
        }
        all
    };
    let contains = |wide: u32, role: u32| ancestors(role).contains(&wide);
    let widest =
        |(_, user): &&(usize, &User)| rows.iter().all(|(_, other)| contains(user.role, other.role));
    match rows.iter().find(widest) {
        None => Placed::RolesApart,
        Some((row, user)) => Placed::There {
            tenant: tenant.or(user.tenant.map(|tenant| tenant as usize)),
            role: Some(user.role as usize),
            row: Some(*row),
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anyone_is_placed_as_the_model_does(
        contents in random::contents(),
        id in random::name(),
        groups in vec(random::name(), 0..4),
        tenant in option::of(any::<Index>()),
        role in option::of(any::<Index>()),
    ) {
        let bundle = sample::open(&encode(&contents).unwrap()).unwrap();
        let pick = |index: Option<Index>, names: Vec<&str>| -> Option<String> {
            let names: Vec<&str> = names.into_iter().chain(["nowhere"]).collect();
            index.map(|index| names[index.index(names.len())].to_owned())
        };
        let tenant = pick(tenant, contents.tenants.iter().map(|it| it.name.as_str()).collect());
        let role = pick(role, contents.roles.iter().map(|it| it.name.as_str()).collect());
        let identity = Identity {
            id: &id,
            tenant: tenant.as_deref(),
            groups: &groups,
            role: role.as_deref(),
        };
        let found = match place(&bundle, &identity).unwrap() {
            Ok(Placement { tenant, role, row }) => Placed::There { tenant, role, row },
            Err(NoPlace::UnknownTenant(_)) => Placed::UnknownTenant,
            Err(NoPlace::NotAdmitted) => Placed::NotAdmitted,
            Err(NoPlace::NotItsRole(_)) => Placed::NotItsRole,
            Err(NoPlace::SeveralTenants) => Placed::SeveralTenants,
            Err(NoPlace::RolesApart(_)) => Placed::RolesApart,
        };
        prop_assert_eq!(found, model(&contents, &identity));
    }
}
