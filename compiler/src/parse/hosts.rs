//! `hosts { groups …; host ALIAS … }`: the other hosts that a server of the project reaches.

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{Host, HostSettings, Hosts, HostsSettings};
use crate::diagnostic::Diagnostics;
use crate::language::hosts::{HOST, HOSTS};

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Hosts {
    empty::check(node, out);
    let mut reader = Reader::new(node, &HOSTS, out);
    let mut settings = HostsSettings::default();
    reader.settings(&mut settings, out);
    let hosts = reader.children(HOST.name).map(|child| host(child, out)).collect();
    reader.finish(out);
    Hosts { at: node.name.at, settings, hosts }
}

fn host(node: &Node, out: &mut Diagnostics) -> Host {
    let mut reader = Reader::new(node, &HOST, out);
    let alias = reader.name(out);
    let mut settings = HostSettings::default();
    reader.settings(&mut settings, out);
    let host = Host { alias, new: reader.is_new(out), settings };
    reader.finish(out);
    host
}
