//! Tools and prompts that need input before they answer (multi round trip, MCP 2026-07-28).
//!
//! One round is a set of inputs. The next one begins when each input that this client can give was
//! given; a missing or malformed one is asked for again. For a `sealed` tool, the round travels in
//! a sealed state that the client must return unchanged, so the server keeps nothing between two
//! requests.

#![expect(deprecated, reason = "the suite still asks for sampling and roots")]

use std::sync::LazyLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, CreateMessageResult, ElicitResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ListRootsResult, PromptMessage, RequestStateCodec, Role,
    SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Deserialize;
use serde_json::Value;

use super::talk::text;

/// The rounds of one tool or prompt.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rounds {
    /// Whether the client must return the state.
    #[serde(default)]
    sealed: bool,
    /// The questions of each round, at least one.
    inputs: Vec<InputRequests>,
}

enum Outcome {
    Ask(InputRequiredResult),
    Done(String),
}

impl Rounds {
    pub(super) fn call_tool(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state = request.request_state.as_deref();
        Ok(match self.advance(&request.name, request.input_responses.as_ref(), state, context)? {
            Outcome::Ask(ask) => ask.into(),
            Outcome::Done(answer) => text(answer),
        })
    }

    pub(super) fn get_prompt(
        &self,
        request: &GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let state = request.request_state.as_deref();
        Ok(match self.advance(&request.name, request.input_responses.as_ref(), state, context)? {
            Outcome::Ask(ask) => ask.into(),
            Outcome::Done(answer) => {
                GetPromptResult::new(vec![PromptMessage::new_text(Role::User, answer)]).into()
            }
        })
    }

    fn advance(
        &self,
        name: &str,
        answers: Option<&InputResponses>,
        state: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Outcome, ErrorData> {
        let round = state.map_or(Ok(0), |state| unseal(name, state))?;
        // Answers whose state is missing are ignored.
        let answers = answers.filter(|_| state.is_some() || !self.sealed);
        let inputs = self.inputs(round, context)?;
        let complete = |answers: &&InputResponses| {
            inputs.iter().all(|(key, input)| is_answer(answers.get(key), input))
        };
        let Some(answers) = answers.filter(complete) else {
            return self.ask(name, round, inputs);
        };
        let next = round + 1;
        if next < self.inputs.len() {
            return self.ask(name, next, self.inputs(next, context)?);
        }
        let given = inputs.keys().filter_map(|key| Some(format!("{key}: {}", answers.get(key)?)));
        // The suite looks for this text if a state had to be returned.
        let state = self.sealed.then(|| "state-ok".to_owned());
        Ok(Outcome::Done(state.into_iter().chain(given).collect::<Vec<_>>().join(", ")))
    }

    fn ask(&self, name: &str, round: usize, inputs: InputRequests) -> Result<Outcome, ErrorData> {
        let state = if self.sealed { Some(seal(name, round)?) } else { None };
        Ok(Outcome::Ask(InputRequiredResult::new(Some(inputs), state)))
    }

    /// Returns the inputs of a round that this client can give; a client that can give none is
    /// rejected.
    fn inputs(
        &self,
        round: usize,
        context: &RequestContext<RoleServer>,
    ) -> Result<InputRequests, ErrorData> {
        let inputs = self
            .inputs
            .get(round)
            .ok_or_else(|| ErrorData::invalid_params("unknown round", None))?;
        let declared = context.client_capabilities().unwrap_or_default();
        let mut required = ClientCapabilities::default();
        let mut possible = InputRequests::new();
        for (key, input) in inputs {
            let can = match input {
                InputRequest::Elicitation(_) => {
                    required.elicitation.get_or_insert_default();
                    declared.elicitation.is_some()
                }
                InputRequest::CreateMessage(_) => {
                    required.sampling.get_or_insert_default();
                    declared.sampling.is_some()
                }
                InputRequest::ListRoots(_) => {
                    required.roots.get_or_insert_default();
                    declared.roots.is_some()
                }
                _ => false,
            };
            if can {
                possible.insert(key.clone(), input.clone());
            }
        }
        if possible.is_empty() {
            return Err(ErrorData::missing_required_client_capability(required));
        }
        Ok(possible)
    }
}

fn is_answer(answer: Option<&Value>, input: &InputRequest) -> bool {
    let Some(answer) = answer else { return false };
    match input {
        InputRequest::Elicitation(_) => ElicitResult::deserialize(answer).is_ok(),
        InputRequest::CreateMessage(_) => CreateMessageResult::deserialize(answer).is_ok(),
        InputRequest::ListRoots(_) => ListRootsResult::deserialize(answer).is_ok(),
        _ => false,
    }
}

/// Its key protects only these tools, so it may be in the source.
static CODEC: LazyLock<RequestStateCodec> =
    LazyLock::new(|| RequestStateCodec::new(*b"relay conformance tools, no secret"));

fn seal(name: &str, round: usize) -> Result<String, ErrorData> {
    CODEC
        .seal_json_with(&round, &SealOptions::new().associated_data(name.as_bytes()))
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn unseal(name: &str, state: &str) -> Result<usize, ErrorData> {
    CODEC
        .open_json_with(state, name.as_bytes())
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}
