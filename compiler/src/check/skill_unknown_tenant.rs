//! A skill for an undeclared tenant.

use std::collections::BTreeSet;

use miette::Diagnostic;
use relay_engine::nearest::nearest;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Span;

/// Callers of an undeclared tenant are refused, so the skill would reach no call.
#[derive(Debug, Error, Diagnostic)]
#[error("tenant `{tenant}` is not declared")]
#[diagnostic(code(skill::unknown_tenant))]
struct UnknownTenant {
    tenant: String,
    #[help]
    help: String,
    #[label(primary, "not declared")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let known: Vec<&str> =
        model.access.tenants.iter().map(|tenant| tenant.value.as_str()).collect();
    // The skills of a block share its place.
    let mut reported = BTreeSet::new();
    for skill in model.skills.list.iter().chain(&model.skills.disabled) {
        let Some(tenant) = &skill.tenant else { continue };
        if known.binary_search(&tenant.value.as_str()).is_ok() || !reported.insert(tenant.at) {
            continue;
        }
        let help = match nearest(&tenant.value, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("declare it: `tenants {{ tenant {} }}`", tenant.value),
        };
        out.report(tenant.at, UnknownTenant { tenant: tenant.value.clone(), help, at: tenant.at });
    }
}
