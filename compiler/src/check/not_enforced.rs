//! Settings that servers ignore so far.
//!
//! A server that offers no tool that starts processes has nothing to deny by a policy, and none calls
//! other servers. An author who reads them in a project could believe that agents are held to them;
//! they are where `relay-hook` is installed in the agents' own clients.

use miette::Diagnostic;
use relay_bundle::Tier;
use thiserror::Error;

use crate::ast::ToolChoice;
use crate::diagnostic::Diagnostics;
use crate::language::tools::ToolGroup;
use crate::model::{Model, Role};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("no server enforces this yet: {settings}")]
#[diagnostic(
    code(project::not_enforced),
    severity(Advice),
    help(
        "`relay-hook` enforces `policy` and `tier=` in agents' own clients (`relay hook install`); `relay classify`, `explain`, `expect` and `diff` go by it, and the door of a server for the tools that it offers"
    )
)]
struct NotEnforced {
    /// The kinds of settings, in the order of the text.
    settings: String,
    #[label(primary, "the first of them")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    // A server answers gateways by all of it, and they enforce the answers.
    let decides = |role: &Role| role.decides.as_ref().is_some_and(|decides| decides.value);
    if model.access.roles.iter().any(decides) {
        return;
    }
    let has_processes = model.starts_processes();
    let raised = |role: &&Role| role.tier.value > Tier::ReadOnly && !has_processes;
    let tiers = model.access.roles.iter().filter(raised).filter_map(|role| role.tier.at);
    let policy = model.policy.iter().filter(|_| !has_processes).map(|(policy, _)| policy.at);
    let is_ssh = |choice: &ToolChoice| choice.group.value == ToolGroup::Ssh;
    let reaches_hosts = model.tools.iter().any(is_ssh);
    let hosts = model.hosts.iter().filter(|_| !reaches_hosts).map(|hosts| hosts.at);
    let others = model.other_tools.iter().map(|pattern| pattern.at);
    let mut first: Vec<(Span, &str)> = [
        (tiers.min(), "the `tier=` of roles"),
        (policy.min(), "`policy` with its floors, paths and facts"),
        (hosts.min(), "how `hosts` are reached and their keys checked"),
        (others.min(), "what roles and skills say of tools of other servers"),
    ]
    .into_iter()
    .filter_map(|(at, settings)| Some((at?, settings)))
    .collect();
    first.sort_unstable();
    let Some(&(at, _)) = first.first() else { return };
    let settings = first.iter().map(|(_, settings)| *settings).collect::<Vec<_>>().join(", and ");
    out.report(at, NotEnforced { settings, at });
}
