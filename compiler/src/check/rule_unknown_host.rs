//! A rule or a scope for a host outside the project.

use miette::Diagnostic;
use relay_bundle::{Outside, Selector};
use relay_engine::nearest::nearest;
use relay_policy::host::canonical_host;
use relay_policy::rule::{Fit, glob_fit};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::{Span, Spanned};

/// The name is mistyped, or the rule is left over. It still holds where a command itself names such a host.
#[derive(Debug, Error, Diagnostic)]
#[error("no host of the project is `{name}`")]
#[diagnostic(code(rule::unknown_host), severity(Warning))]
struct UnknownHost {
    name: String,
    #[help]
    help: String,
    #[label(primary, "no alias, group or address")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let (Some((policy, _)), Some(hosts)) = (&model.policy, &model.hosts) else { return };
    // Where others may be reached, a rule may well be about one.
    if hosts.settings.outside.value == Outside::Permit {
        return;
    }
    let addresses = hosts.hosts.iter().filter_map(|host| host.settings.address.as_ref());
    let groups = hosts.groups.iter().map(|group| group.value.as_str());
    let aliases = hosts.hosts.iter().map(|host| host.alias.value.as_str());
    let mut known: Vec<String> = aliases.chain(groups).map(ToOwned::to_owned).collect();
    known.extend(addresses.map(|address| canonical_host(&address.value).into_owned()));
    let of_rules = policy.rules.iter().flat_map(|rule| &rule.conditions);
    let of_rules = of_rules
        .filter(|condition| condition.selector == Selector::Host)
        .flat_map(|condition| condition.values.iter().chain(&condition.except));
    let of_scopes = policy.scopes.iter().filter_map(|scope| scope.host.as_ref());
    for Spanned { value, at } in of_rules.chain(of_scopes) {
        let pattern = canonical_host(value);
        if known.iter().any(|known| glob_fit(&pattern, known) == Fit::Surely) {
            continue;
        }
        let help = match nearest(value, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name an alias, a group or an address of `hosts`".to_owned(),
        };
        out.report(*at, UnknownHost { name: value.clone(), help, at: *at });
    }
}
