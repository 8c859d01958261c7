//! The tools that the MCP conformance suite calls by name.
//!
//! A bundle expresses prompts, resources and completion, so those of the suite are in
//! `examples/conformance`. These tools do things that a bundle cannot express (progress, logging,
//! sampling, elicitation, several rounds of input), so that the suite can test the server. They
//! have no effect outside the answer, so they bypass the door in `tool`. Only the feature
//! `conformance-tools` compiles them, and releases leave it off.
//!
//! Names, schemas and answers are data in `conformance_tools/fixtures.json`.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::LazyLock;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, Prompt, ResultType,
    ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde::Deserialize;

mod rounds;
mod talk;

use talk::text;

/// The notifications that the server sends for the two tools that change a list.
///
/// Both reach every listener, modern or legacy: open `subscriptions/listen` streams and legacy
/// sessions.
pub(crate) trait Listeners: Sync {
    /// Sends `notifications/tools/list_changed`.
    fn tools_changed(&self) -> impl Future<Output = ()> + Send;
    /// Sends `notifications/prompts/list_changed`.
    fn prompts_changed(&self) -> impl Future<Output = ()> + Send;
}

/// Returns the tools, in a fixed order, to be added to the server's own.
pub(crate) fn tools() -> &'static [Tool] {
    &FIXTURES.tools
}

/// Returns the one prompt that needs input, to be added to those of the bundle.
pub(crate) fn prompts() -> &'static [Prompt] {
    &FIXTURES.prompts
}

/// Declares the capabilities of the tools: list changes, and logging for the suite's legacy half.
///
/// The handler must then also accept `logging/setLevel`.
pub(crate) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.tools.get_or_insert_default().list_changed = Some(true);
    capabilities.prompts.get_or_insert_default().list_changed = Some(true);
    capabilities.logging.get_or_insert_default();
}

/// Answers a call of one of [`tools`], or `None` when the request names another tool.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    listeners: &impl Listeners,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = &*request.name;
    if let Some(result) = FIXTURES.results.get(name) {
        return Some(Ok(result.clone().into()));
    }
    if let Some(rounds) = FIXTURES.rounds.get(name) {
        return Some(rounds.call_tool(request, context));
    }
    if let Some(params) = FIXTURES.elicitations.get(name) {
        return Some(talk::elicit(params.clone(), request, context).await);
    }
    Some(match name {
        "test_tool_with_progress" => talk::progress(context).await,
        "test_tool_with_logging" | "test_logging_tool" => talk::log(context).await,
        "test_sampling" => talk::sample(request, context).await,
        "test_missing_capability" => missing_capability(context),
        "test_trigger_tool_change" => {
            listeners.tools_changed().await;
            Ok(text("listeners were notified"))
        }
        "test_trigger_prompt_change" => {
            listeners.prompts_changed().await;
            Ok(text("listeners were notified"))
        }
        _ => return None,
    })
}

/// Answers a request for one of [`prompts`], or `None` when it names another prompt.
pub(crate) fn get_prompt(
    request: &GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<GetPromptResponse, ErrorData>> {
    let rounds = FIXTURES.rounds.get(&request.name)?;
    Some(rounds.get_prompt(request, context))
}

fn missing_capability(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let declared = context.client_capabilities().unwrap_or_default();
    if declared.sampling.is_some() {
        return Ok(text("the client can sample"));
    }
    let mut required = ClientCapabilities::default();
    required.sampling.get_or_insert_default();
    Err(ErrorData::missing_required_client_capability(required))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixtures {
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    /// Tools that always answer the same.
    results: BTreeMap<String, CallToolResult>,
    /// Tools and prompts that answer after input was given.
    rounds: BTreeMap<String, rounds::Rounds>,
    /// Tools that ask the person by a request of their own, within a legacy session.
    elicitations: BTreeMap<String, ElicitRequestParams>,
}

static FIXTURES: LazyLock<Fixtures> = LazyLock::new(fixtures);

#[expect(
    clippy::expect_used,
    reason = "the file is compiled in, and the first test request reads it"
)]
fn fixtures() -> Fixtures {
    let mut fixtures: Fixtures =
        serde_json::from_str(include_str!("conformance_tools/fixtures.json"))
            .expect("the fixtures are well formed");
    for result in fixtures.results.values_mut() {
        // Only constructors set this, and the modern protocol requires it on the wire.
        result.result_type = Some(ResultType::COMPLETE);
    }
    fixtures
}
