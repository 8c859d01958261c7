//! `explain_context`: what a call is given by the skills of the project, and why.

use std::future::ready;

use relay_bundle::Corrupt;
use relay_engine::cascade::{Question, Selector};
use serde_json::json;

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use crate::rejection::Rejection;

/// The most near misses of one answer.
const NEAR_MISSES_MAX: usize = 100;

/// `explain_context`.
pub(super) struct ExplainContext;

impl Tool for ExplainContext {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(ready(explain(permit, &run)))
    }
}

fn explain(_: &Permit, run: &Run<'_>) -> Result<Outcome, CallError> {
    let placed = &run.call.placed;
    let id = run.call.caller.principal.id.as_str();
    // Whoever is of a tenant learns nothing of the others.
    let own = placed.tenant();
    let tenant = match (own, run.arguments.text("tenant")) {
        (own, None) => own,
        (None, Some(asked)) => Some(asked),
        (Some(own), Some(asked)) if own == asked => Some(own),
        (Some(_), Some(_)) => {
            let text = "a caller of a tenant asks for its own tenant alone: leave `tenant` out";
            return Err(CallError::Failed(text.to_owned()));
        }
    };
    let may_name = |user: &str| -> Result<bool, Corrupt> {
        Ok(own.is_none() || user == id || placed.is_user_of_own_tenant(user)?)
    };
    let user = run.arguments.text("user").unwrap_or(id);
    // The same for a user of another tenant as for one that nobody knows.
    if !user.is_empty() && !may_name(user).map_err(Rejection::from)? {
        let text = "a caller of a tenant asks for itself, and for users that the project names for its \
                    tenant: leave `user` out";
        return Err(CallError::Failed(text.to_owned()));
    }
    let named = |name: &'_ str| !name.is_empty();
    let question = Question {
        tenant: tenant.filter(|tenant| named(tenant)),
        tool: run.arguments.text("tool").filter(|tool| named(tool)),
        user: Some(user).filter(|user| named(user)),
    };
    let mut explained = placed.explain(question).map_err(Rejection::from)?;
    if own.is_some() {
        let mut kept = Vec::new();
        for miss in explained.near_misses {
            let wants = |of: Selector| miss.failed.selector == of.word();
            let is_foreign = match miss.failed.wants.as_slice() {
                _ if wants(Selector::Tenant) => true,
                [user] if wants(Selector::User) => !may_name(user).map_err(Rejection::from)?,
                _ => false,
            };
            if !is_foreign {
                kept.push(miss);
            }
        }
        explained.near_misses = kept;
    }
    // Whether a name is known, and which one is near, would tell of tools and users that are hidden.
    if own.is_some() || placed.role().is_some() {
        explained.notes.clear();
    }
    let omitted = explained.near_misses.len().saturating_sub(NEAR_MISSES_MAX);
    explained.near_misses.truncate(NEAR_MISSES_MAX);
    let mut answer = json!(explained);
    if let (Some(answer), true) = (answer.as_object_mut(), omitted > 0) {
        answer.insert("near_misses_omitted".to_owned(), json!(omitted));
    }
    Ok(Outcome::of_text(format!("{answer:#}")))
}
