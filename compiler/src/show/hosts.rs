//! The hosts that the project knows.

use super::node::EffectiveNode;
use super::renderer::{Renderer, list};
use crate::language::hosts::{GROUPS, HOST, HOSTS};
use crate::model::{Host, Hosts};

impl Renderer<'_, '_> {
    /// Returns the node of the hosts.
    pub(super) fn hosts(&self, hosts: &Hosts) -> EffectiveNode {
        let mut node = EffectiveNode { at: self.at(hosts.at), ..EffectiveNode::of(&HOSTS) };
        node.settings(&HOSTS, &hosts.settings);
        if !hosts.groups.is_empty() {
            node.children.push(list(GROUPS.name, &hosts.groups));
        }
        node.children.extend(hosts.hosts.iter().map(|host| self.host(host)));
        node
    }

    fn host(&self, Host { alias, settings }: &Host) -> EffectiveNode {
        let mut node = self.named(&HOST, alias);
        node.settings(&HOST, settings);
        node.nodes(&HOST, settings);
        node
    }
}
