//! `explain_context`: the text that the project's skills give a call, and the reasons.
//!
//! Answers disclose neither other tenants nor tools that the caller's role does not admit: a
//! refusal has the same words for hidden and unknown names. Where something may be hidden, places
//! are files without lines.

use relay_bundle::Corrupt;
use relay_engine::cascade::{Explained, Miss, Question, Selector};
use relay_engine::tool::Arguments;
use serde_json::json;

use super::call::Call;
use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use crate::caller::rejection::Rejection;
use crate::trust::placed::Placed;

/// The most near misses of one answer.
const NEAR_MISSES_MAX: usize = 100;

/// `explain_context`.
pub(super) struct ExplainContext;

impl Tool for ExplainContext {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(explain(permit, run))
    }
}

async fn explain(_: &Permit, run: Run<'_>) -> Result<Outcome, CallError> {
    let Some(slot) = run.call.server.calls.long_read(&run.call.caller.principal) else {
        let text = "another explain_context of yours is running: wait for its answer";
        return Err(CallError::Failed(text.to_owned()));
    };
    let asker = Asker::of(run.call).map_err(Rejection::from)?;
    let asked = asker.asked(&run.arguments)?;
    // All skills are read, while other requests of this thread go on.
    let read = move || {
        let answer = asker.answer(&asked);
        // The slot is held until the read ends, even if the call was cancelled meanwhile.
        drop(slot);
        answer
    };
    let read = tokio::task::spawn_blocking(read).await;
    let text = read.map_err(|_| Rejection::Internal("the skills were not read"))?;
    Ok(Outcome::of_text(text.map_err(Rejection::from)?))
}

/// A question with owned names.
struct Asked {
    tenant: Option<String>,
    tool: Option<String>,
    user: String,
}

/// The caller, and its permissions to ask.
struct Asker {
    placed: Placed,
    id: String,
    /// Whether it may ask for every tenant and user.
    for_all: bool,
}

impl Asker {
    fn of(call: &Call) -> Result<Self, Corrupt> {
        let placed = call.placed.clone();
        // Credentials that name no tenant are insufficient: `users` must name the caller for all of
        // them.
        let for_all = placed.tenant().is_none()
            && (!placed.has_tenants()
                || !call.is_authenticated()
                || placed.is_user_of_all_tenants()?);
        Ok(Self { id: call.caller.principal.id.clone(), placed, for_all })
    }

    /// Reads the question. An empty text counts as absent: models fill in optional arguments.
    fn asked(&self, arguments: &Arguments<'_>) -> Result<Asked, CallError> {
        let given = |name| arguments.text(name).map(str::trim).filter(|text| !text.is_empty());
        let refused = |text: &str| Err(CallError::Failed(text.to_owned()));
        let own = self.placed.tenant();
        let tenant = given("tenant").or(own);
        if tenant != own && !self.for_all {
            return refused("you may ask about your own tenant alone: leave `tenant` out");
        }
        let user = given("user").unwrap_or(&self.id);
        if !self.may_name(user).map_err(Rejection::from)? {
            return refused(
                "you may ask about yourself, and about users that the project names for your tenant or \
                 for all: leave `user` out",
            );
        }
        let tool = given("tool");
        if let Some(tool) = tool
            && !self.placed.admits_tool(tool).map_err(Rejection::from)?
        {
            return refused("you may ask about tools that your role admits");
        }
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        Ok(Asked { tenant: owned(tenant), tool: owned(tool), user: user.to_owned() })
    }

    fn may_name(&self, user: &str) -> Result<bool, Corrupt> {
        Ok(self.for_all || user == self.id || self.placed.is_user_of_own_tenant(user)?)
    }

    fn answer(&self, asked: &Asked) -> Result<String, Corrupt> {
        let Asked { tenant, tool, user } = asked;
        let question =
            Question { tenant: tenant.as_deref(), tool: tool.as_deref(), user: Some(user) };
        let mut explained = self.placed.explain(question)?;
        // Notes say whether a name exists, and which one is near: they would disclose hidden names.
        let sees_all = self.for_all && self.placed.role().is_none();
        if sees_all {
            explained.notes = self.placed.notes(question)?;
        }
        let omitted = self.keep_misses(&mut explained)?;
        let places = explained.trace.iter_mut().filter_map(|row| row.at.as_mut());
        for at in places.chain(explained.near_misses.iter_mut().map(|miss| &mut miss.at)) {
            if !sees_all {
                *at = self.placed.shown_place(at).to_owned();
            }
        }
        let mut answer = json!(explained);
        if let (Some(answer), true) = (answer.as_object_mut(), omitted > 0) {
            answer.insert("near_misses_omitted".to_owned(), json!(omitted));
        }
        Ok(format!("{answer:#}"))
    }

    /// Keeps the near misses that the caller may know, up to the limit; returns the number of
    /// others that it may know.
    fn keep_misses(&self, explained: &mut Explained) -> Result<usize, Corrupt> {
        let mut kept = Vec::new();
        let mut omitted = 0;
        for miss in std::mem::take(&mut explained.near_misses) {
            if !self.may_know(&miss)? {
                continue;
            }
            if kept.len() < NEAR_MISSES_MAX {
                kept.push(miss);
            } else {
                omitted += 1;
            }
        }
        explained.near_misses = kept;
        Ok(omitted)
    }

    fn may_know(&self, miss: &Miss) -> Result<bool, Corrupt> {
        let is_of = |selector: Selector| miss.failed.selector == selector.word();
        for wanted in &miss.failed.wants {
            let may = match () {
                () if is_of(Selector::Tenant) => self.for_all,
                () if is_of(Selector::User) => self.may_name(wanted)?,
                // A pattern that the role admits as a name is at most as wide as the role's own.
                () => self.placed.admits_tool(wanted)?,
            };
            if !may {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
