//! Tenants, roles, users, and the readers of nodes.

use super::node::{EffectiveNode, Scalar};
use super::renderer::{Renderer, block, list, said};
use crate::ast::Who;
use crate::grammar::Rule;
use crate::language::readers::FOR;
use crate::language::roles::{self, ROLE, ROLES};
use crate::language::tenants::{TENANT, TENANTS};
use crate::language::users::{USERS, user_rule};
use crate::model::{Access, For, Readers, Role, User};

impl Renderer<'_, '_> {
    /// Returns the nodes of tenants, roles and users.
    pub(super) fn access(&self, access: &Access) -> Vec<EffectiveNode> {
        let Access { tenants, roles, users } = access;
        let tenants = tenants.iter().map(|name| self.named(&TENANT, name));
        let roles = roles.iter().map(|role| self.role(role, access));
        let users = users.iter().map(|user| self.user(user, access));
        let blocks = [
            block(&TENANTS, tenants.collect()),
            block(&ROLES, roles.collect()),
            block(&USERS, users.collect()),
        ];
        blocks.into_iter().filter(|block| !block.children.is_empty()).collect()
    }

    fn role(&self, role: &Role, access: &Access) -> EffectiveNode {
        let mut node = self.named(&ROLE, &role.name);
        node.setting("tier", &role.tier, |tier| Scalar::Number(tier.number().into()));
        if let Some(approve) = &role.approve {
            node.put(&ROLE, "approve", Scalar::Boolean(approve.value));
        }
        if let Some(decides) = &role.decides {
            node.put(&ROLE, "decides", Scalar::Boolean(decides.value));
        }
        if let Some(parent) = &role.parent {
            node.role(&ROLE, "parent", Some(parent.value), access);
        }
        if let Some(tools) = role.tools.as_ref().filter(|_| role.has_own_tools) {
            node.children.push(list(roles::TOOLS.name, tools));
        }
        node
    }

    fn user(&self, user: &User, access: &Access) -> EffectiveNode {
        let rule = user_rule(user.who);
        let mut node = EffectiveNode { at: self.at(user.at), ..EffectiveNode::of(rule) };
        if user.who != Who::Anyone {
            node.arguments.push(Scalar::Text(user.id.clone()));
        }
        node.tenant(rule, user.tenant.as_ref().map(|tenant| tenant.value), access);
        node.role(rule, "role", Some(user.role.value), access);
        node
    }

    /// Returns the `for`s of a node.
    pub(super) fn readers(&self, readers: &Readers, access: &Access) -> Vec<EffectiveNode> {
        let one = |each: &For| {
            let mut node = EffectiveNode::of(&FOR);
            node.tenant(&FOR, each.tenant, access);
            node.role(&FOR, "role", each.role, access);
            node
        };
        readers.0.iter().map(one).collect()
    }
}

impl EffectiveNode {
    /// Adds the name of a tenant, if there is one.
    fn tenant(&mut self, rule: &'static Rule, tenant: Option<usize>, access: &Access) {
        if let Some(name) = tenant.and_then(|tenant| access.tenants.get(tenant)) {
            self.put(rule, "tenant", said(name));
        }
    }

    /// Adds the name of a role, if there is one.
    fn role(
        &mut self,
        rule: &'static Rule,
        property: &'static str,
        role: Option<usize>,
        access: &Access,
    ) {
        if let Some(role) = role.and_then(|role| access.roles.get(role)) {
            self.put(rule, property, said(&role.name));
        }
    }
}
