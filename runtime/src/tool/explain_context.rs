//! `explain_context`: what a call is given by the skills of the project, and why.

use std::future::ready;

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
    let text = |name| run.arguments.text(name).filter(|text| !text.is_empty());
    let placed = &run.call.placed;
    // Whoever is of a tenant learns nothing of the others.
    let own = placed.tenant();
    let tenant = match (own, text("tenant")) {
        (Some(own), Some(asked)) if own != asked => {
            let text = "a caller of a tenant asks for its own tenant alone: leave `tenant` out";
            return Err(CallError::Failed(text.to_owned()));
        }
        (own, asked) => own.or(asked),
    };
    let question = Question { tenant, tool: text("tool"), user: text("user") };
    let mut explained = placed.explain(question).map_err(Rejection::from)?;
    if own.is_some() {
        let of_others = Selector::Tenant.word();
        explained.near_misses.retain(|miss| miss.failed.selector != of_others);
    }
    let omitted = explained.near_misses.len().saturating_sub(NEAR_MISSES_MAX);
    explained.near_misses.truncate(NEAR_MISSES_MAX);
    let mut answer = json!(explained);
    if let (Some(answer), true) = (answer.as_object_mut(), omitted > 0) {
        answer.insert("near_misses_omitted".to_owned(), json!(omitted));
    }
    Ok(Outcome::of_text(format!("{answer:#}")))
}
