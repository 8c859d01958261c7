//! A pattern of hosts that no host matches: an address, a port or a network.

use std::net::Ipv6Addr;

use miette::Diagnostic;
use relay_bundle::Selector;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::{Span, Spanned};

/// A request names its host alone, so such a pattern would be a rule without an effect.
#[derive(Debug, Error, Diagnostic)]
#[error("`{value}` is not a host: {fault}")]
#[diagnostic(code(rule::no_host))]
struct NoHost {
    value: String,
    fault: &'static str,
    #[help]
    help: String,
    #[label(primary, "matches nothing")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    let is_of_hosts = |selector: Selector| matches!(selector, Selector::Connects | Selector::Host);
    let of_rules = policy.rules.iter().flat_map(|rule| &rule.conditions);
    let of_rules = of_rules
        .filter(|condition| is_of_hosts(condition.selector))
        .flat_map(|condition| condition.values.iter().chain(&condition.except));
    let of_scopes = policy.scopes.iter().filter_map(|scope| scope.host.as_ref());
    for Spanned { value, at } in of_rules.chain(of_scopes) {
        if let Some(fault) = fault(value) {
            let help = match bare(value) {
                Some(host) => format!("write the host alone: {host:?}"),
                None => "a host is a name or an address; `*` is any run of letters: \
                         `*.corp.example`, `10.1.*`"
                    .to_owned(),
            };
            out.report(*at, NoHost { value: value.clone(), fault, help, at: *at });
        }
    }
}

/// Returns why no host matches a pattern.
fn fault(pattern: &str) -> Option<&'static str> {
    let bare = pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if bare.unwrap_or(pattern).parse::<Ipv6Addr>().is_ok() {
        return None;
    }
    Some(match pattern {
        _ if pattern.contains("://") => "it is an address with a scheme",
        _ if pattern.contains('@') => "it names a user",
        _ if pattern.contains('/') => "it has a path or the length of a network",
        // Parts of IPv6 addresses have several.
        _ if pattern.matches(':').count() == 1 => "it names a port",
        _ if pattern.starts_with('.') => "a name begins with a letter, a digit or `*`",
        _ if !pattern.is_ascii() => "a request has it in its ASCII form, `xn--…`",
        _ if pattern.contains([' ', '[', ']', '{', '}', ',']) => "it has a sign that no host has",
        _ => return None,
    })
}

/// Returns the host that a pattern was meant to be, if it is one.
fn bare(pattern: &str) -> Option<String> {
    let rest = pattern.split_once("://").map_or(pattern, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    // A network has no pattern that means exactly it.
    let is_network = !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_digit());
    let host = host.strip_prefix('.').map_or_else(|| host.to_owned(), |rest| format!("*.{rest}"));
    (!is_network && !host.is_empty() && fault(&host).is_none()).then_some(host)
}
