//! A rule or a scope for a tenant or a role that the project does not have.

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::{Span, Spanned};

/// The name is mistyped, or the rule is left over: it would hold for no one.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown {what} `{name}`")]
#[diagnostic(code(rule::unknown_caller))]
struct UnknownCaller {
    what: &'static str,
    name: String,
    #[help]
    help: String,
    #[label(primary, "no caller has it")]
    at: Span,
}

/// Two scopes in each other that no caller has both of.
#[derive(Debug, Error, Diagnostic)]
#[error("no caller has both `{what}={name}` and `{what}={around}`")]
#[diagnostic(
    code(rule::contradicting_scopes),
    help("move the inner scope out, or leave out what the outer one says already")
)]
struct Contradiction {
    what: &'static str,
    name: String,
    around: String,
    #[label(primary, "for these")]
    at: Span,
    #[label("among these")]
    around_at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let Some((policy, _)) = &model.policy else { return };
    let tenants: Vec<&str> =
        model.access.tenants.iter().map(|tenant| tenant.value.as_str()).collect();
    let roles: Vec<&str> = model.access.roles.iter().map(|role| role.name.value.as_str()).collect();
    let mut known = |what: &'static str, names: &[&str], written: &Option<Spanned<String>>| {
        let Some(Spanned { value: name, at }) = written else { return };
        if names.contains(&name.as_str()) {
            return;
        }
        let help = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("the project has no {what}s"),
            None => format!("declare it in `{what}s`"),
        };
        out.report(*at, UnknownCaller { what, name: name.clone(), help, at: *at });
    };
    for rule in &policy.rules {
        known("tenant", &tenants, &rule.tenant);
        known("role", &roles, &rule.role);
    }
    for scope in &policy.scopes {
        known("tenant", &tenants, &scope.tenant);
        known("role", &roles, &scope.role);
    }
    let own = policy.rules.iter().map(|rule| (&rule.tenant, &rule.role, rule.scope));
    let scopes = policy.scopes.iter();
    let scopes = scopes.map(|scope| (&scope.tenant, &scope.role, scope.parent));
    for (tenant, role, around) in own.chain(scopes) {
        let mut next = around;
        while let Some(scope) = next.and_then(|number| policy.scopes.get(number)) {
            let pairs = [("tenant", tenant, &scope.tenant), ("role", role, &scope.role)];
            for (what, own, around) in pairs {
                let (Some(own), Some(around)) = (own, around) else { continue };
                if own.value != around.value {
                    let (name, at, around_at) = (own.value.clone(), own.at, around.at);
                    let around = around.value.clone();
                    out.report(at, Contradiction { what, name, around, at, around_at });
                }
            }
            next = scope.parent;
        }
    }
}
