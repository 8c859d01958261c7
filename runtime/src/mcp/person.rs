//! The person behind an MCP client, asked with a form.
//!
//! A modern client (2026-07-28) gets the question as the result of its call, and repeats the call with
//! the answer and a sealed state. A legacy client is asked while its call waits.
//!
//! A yes proves the consent of the client. Some clients accept forms by themselves, so the form has a
//! required choice, whose default is the no: a form that comes back empty is a no.

use std::fmt;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, ErrorCode, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, PrimitiveSchemaDefinition, RequestStateCodec, SealOptions,
};
use rmcp::service::{Peer, RequestContext, ServiceError};
use serde::Deserialize as _;
use serde_json::Value;

use super::caller::is_modern;
use crate::caller::approvals::Asked;
use crate::caller::principal::Principal;
use crate::server::Server;
use crate::tool::person::{Asking, No, Person, Question, Reply};

/// The name of the question among the inputs of a call.
const INPUT: &str = "approve";
/// The name of the choice in the form.
const CHOICE: &str = "decision";
/// The choices.
const NO: &str = "do not run";
const YES: &str = "run once";

/// The person behind a client that repeats its call.
struct Repeating {
    server: Arc<Server>,
    principal: Arc<Principal>,
    /// The state of the question, if the call is repeated.
    state: Option<String>,
    /// The answers of the client, by the names of the questions.
    answers: Option<InputResponses>,
}

/// The person behind a client with a session.
#[derive(Debug)]
struct InSession(Peer<RoleServer>);

/// Returns the person behind the client of a call, if the client can show a form. The answer of a
/// repeated call is taken out of `request`.
pub(super) fn behind(
    server: &Arc<Server>,
    principal: &Arc<Principal>,
    context: &RequestContext<RoleServer>,
    request: &mut CallToolRequestParams,
) -> Option<Box<dyn Person>> {
    let declared = context.client_capabilities()?.elicitation?;
    // Without a list of kinds, forms are meant.
    if declared.form.is_none() && declared.url.is_some() {
        return None;
    }
    if !is_modern(context) {
        return Some(Box::new(InSession(context.peer.clone())));
    }
    let (state, answers) = (request.request_state.take(), request.input_responses.take());
    let (server, principal) = (server.clone(), principal.clone());
    Some(Box::new(Repeating { server, principal, state, answers }))
}

/// Returns the result of a call that has the client ask.
pub(super) fn required(question: &Question, state: String) -> CallToolResponse {
    let inputs = form(question).map(|form| {
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        InputRequests::from_iter([(INPUT.to_owned(), request)])
    });
    InputRequiredResult::new(inputs, Some(state)).into()
}

/// Returns the form of a question; `None` is impossible, since the default is one of the choices.
fn form(question: &Question) -> Option<ElicitRequestParams> {
    let choices = EnumSchema::builder(vec![NO.to_owned(), YES.to_owned()])
        .title("Decision")
        .with_default(NO)
        .ok()?
        .build();
    let requested_schema = ElicitationSchema::builder()
        .required_property(CHOICE, PrimitiveSchemaDefinition::Enum(choices))
        .build()
        .ok()?;
    let message = question.text.clone();
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Returns the reply in the answer of a client.
fn reply(answer: &ElicitResult) -> Reply {
    let choice = answer.content.as_ref().and_then(|content| content.get(CHOICE));
    match (&answer.action, choice.and_then(Value::as_str)) {
        (ElicitationAction::Accept, Some(YES)) => Reply::Yes,
        (ElicitationAction::Accept, Some(NO)) | (ElicitationAction::Decline, _) => {
            Reply::No(No::Declined)
        }
        (ElicitationAction::Accept, _) => Reply::No(No::Undecided),
        (ElicitationAction::Cancel, _) => Reply::No(No::Cancelled),
        // A further action of a later version is something else than a yes.
        (_, _) => Reply::No(No::Undecided),
    }
}

impl fmt::Debug for Repeating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repeating")
            .field("is_repeated", &self.state.is_some())
            .finish_non_exhaustive()
    }
}

impl Repeating {
    fn answered(&self, question: &Question) -> Reply {
        let approvals = &self.server.approvals;
        let Ok(codec) = RequestStateCodec::try_new(approvals.key()) else { return Reply::Unable };
        let bound = question.bound.0;
        let Some(state) = &self.state else {
            let Ok(asked) = approvals.asked() else { return Reply::Unable };
            let options = SealOptions::new().associated_data(&bound);
            return Reply::Later { state: codec.seal_with(&asked.bytes(), &options) };
        };
        let opened = codec.open_with(state, &bound).ok();
        let Some(asked) = opened.and_then(|bytes| Asked::read(&bytes)) else {
            return Reply::No(No::Altered);
        };
        let answer = self.answers.as_ref().and_then(|answers| answers.get(INPUT));
        let answer = answer.and_then(|answer| ElicitResult::deserialize(answer).ok());
        // Each answer uses it, so the first one counts.
        match (approvals.take(&self.principal, asked, question.ttl), answer) {
            (Err(spent), _) => Reply::No(No::Spent(spent)),
            (Ok(()), Some(answer)) => reply(&answer),
            (Ok(()), None) => Reply::No(No::Undecided),
        }
    }
}

impl Person for Repeating {
    fn ask<'a>(&'a self, question: &'a Question) -> Asking<'a> {
        Box::pin(std::future::ready(self.answered(question)))
    }
}

impl Person for InSession {
    fn ask<'a>(&'a self, question: &'a Question) -> Asking<'a> {
        Box::pin(async move {
            let Some(form) = form(question) else { return Reply::Unable };
            // After this time rmcp tells the client that the question is withdrawn.
            let wait_max = Some(question.wait_max());
            match self.0.create_elicitation_with_timeout(form, wait_max).await {
                Ok(answer) => reply(&answer),
                Err(ServiceError::Timeout { .. }) => Reply::No(No::Silent),
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                    Reply::Unable
                }
                Err(error) => {
                    tracing::info!("a client cannot ask its person: {error}");
                    Reply::Unable
                }
            }
        })
    }
}
