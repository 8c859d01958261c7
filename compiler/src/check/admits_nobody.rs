//! A `for` that no caller meets.
//!
//! A prompt or resource with only this `for` would never be served. Beside other `for`s, it shows
//! that the author expects impossible callers.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::model::audience::Callers;
use crate::model::{For, Model, Readers};
use crate::source::Span;

#[derive(Debug, Error, Diagnostic)]
#[error("this `for` admits no caller: {reason}")]
#[diagnostic(
    code(readers::nobody),
    help("give the role to someone in `users`, or name another role or tenant here")
)]
struct AdmitsNobody {
    reason: String,
    #[label(primary, "no caller is admitted by it")]
    at: Span,
}

pub(super) fn check(model: &Model, out: &mut Diagnostics) {
    let callers = Callers::of(&model.access);
    let prompts = model.prompts.iter().map(|prompt| &prompt.readers);
    let resources = model.resources.iter().map(|resource| &resource.about.readers);
    let templates = model.templates.iter().map(|template| &template.about.readers);
    let all = prompts.chain(resources).chain(templates);
    // The `for` of a folder is in all of its prompts.
    let mut fors: Vec<&For> = all.flat_map(|Readers(readers)| readers).collect();
    fors.sort_by_key(|each| each.at);
    fors.dedup_by_key(|each| each.at);
    for each in fors {
        if callers.are_admitted(each) {
            continue;
        }
        let role = each.role.and_then(|role| model.access.roles.get(role));
        let tenant = each.tenant.and_then(|tenant| model.access.tenants.get(tenant));
        let reason = match (role, tenant) {
            (Some(role), Some(tenant)) => format!(
                "`users` gives the role `{}` to no caller of tenant `{}`",
                role.name.value, tenant.value
            ),
            (Some(role), None) => {
                format!("`users` gives the role `{}` to no caller", role.name.value)
            }
            (None, Some(tenant)) => {
                format!("`users` gives no role to anybody of tenant `{}`", tenant.value)
            }
            (None, None) => "there are no users".into(),
        };
        out.report(each.at, AdmitsNobody { reason, at: each.at });
    }
}
