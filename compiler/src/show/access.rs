//! Tenants, roles, users, and who sees what.

use super::node::{EffectiveNode, Scalar};
use super::renderer::Renderer;
use crate::ast::Who;
use crate::model::{Access, Readers, Role, User};

impl Renderer<'_, '_> {
    /// Returns the nodes that say who there is.
    pub(super) fn access(&self, access: &Access) -> Vec<EffectiveNode> {
        let Access { tenants, roles, users } = access;
        let tenants = tenants.iter().map(|name| EffectiveNode {
            name: "tenant",
            arguments: vec![Scalar::Text(name.value.clone())],
            at: self.at(name.at),
            ..EffectiveNode::default()
        });
        let roles = roles.iter().map(|role| self.role(role, access));
        let users = users.iter().map(|user| self.user(user, access));
        [("tenants", tenants.collect()), ("roles", roles.collect()), ("users", users.collect())]
            .into_iter()
            .filter(|(_, children): &(_, Vec<_>)| !children.is_empty())
            .map(|(name, children)| EffectiveNode { name, children, ..EffectiveNode::default() })
            .collect()
    }

    fn role(&self, role: &Role, access: &Access) -> EffectiveNode {
        let mut node = EffectiveNode {
            name: "role",
            arguments: vec![Scalar::Text(role.name.value.clone())],
            at: self.at(role.name.at),
            ..EffectiveNode::default()
        };
        node.setting("tier", &role.tier, |tier| Scalar::Number(tier.number().into()));
        let parent = role.parent.as_ref().map(|parent| parent.value);
        node.properties.extend(name_of_role(access, "parent", parent));
        if let Some(tools) = role.tools.as_ref().filter(|_| role.has_own_tools) {
            node.children.push(EffectiveNode {
                name: "tools",
                arguments: tools.iter().map(|tool| Scalar::Text(tool.value.clone())).collect(),
                ..EffectiveNode::default()
            });
        }
        node
    }

    fn user(&self, user: &User, access: &Access) -> EffectiveNode {
        let tenant = user.tenant.as_ref().map(|tenant| tenant.value);
        let mut node = EffectiveNode {
            name: user.who.word(),
            at: self.at(user.at),
            ..EffectiveNode::default()
        };
        if user.who != Who::Anyone {
            node.arguments.push(Scalar::Text(user.id.clone()));
        }
        node.properties.extend(name_of_tenant(access, tenant));
        node.properties.extend(name_of_role(access, "role", Some(user.role.value)));
        node
    }

    /// Returns the `for`s of a node.
    pub(super) fn readers(&self, readers: &Readers, access: &Access) -> Vec<EffectiveNode> {
        let one = |each: &crate::model::For| {
            let mut node = EffectiveNode { name: "for", ..EffectiveNode::default() };
            node.properties.extend(name_of_tenant(access, each.tenant));
            node.properties.extend(name_of_role(access, "role", each.role));
            node
        };
        readers.0.iter().map(one).collect()
    }
}

fn name_of_tenant(access: &Access, tenant: Option<usize>) -> Option<(&'static str, Scalar)> {
    let name = access.tenants.get(tenant?)?;
    Some(("tenant", Scalar::Text(name.value.clone())))
}

fn name_of_role(
    access: &Access,
    property: &'static str,
    role: Option<usize>,
) -> Option<(&'static str, Scalar)> {
    let role = access.roles.get(role?)?;
    Some((property, Scalar::Text(role.name.value.clone())))
}
