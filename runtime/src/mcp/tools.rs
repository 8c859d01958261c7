//! `tools/list` and `tools/call`: what the door in `tool` says, as MCP sends it.

use relay_engine::tool::Tool as Known;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock, Tool};
use serde_json::json;

use super::lists::Page;
use super::refusal::Refusal;
use crate::caller::Caller;
use crate::gate::Memory;
use crate::load::Loaded;
use crate::server::Server;
use crate::tool::{self, Answer, Rejected};

/// The `_meta` key of the handle and of what it stands for. It is no structured content: some
/// clients show a model that instead of the text.
const BRIEFING_META_KEY: &str = "dev.relay/briefing";

/// Returns a page of the list.
///
/// It never depends on earlier calls, unless the gate hides tools: then a session of the older
/// era sees `begin_session` alone until it was briefed, and everything else afterwards.
pub(super) fn page(
    loaded: &Loaded,
    memory: Option<&Memory>,
    cursor: Option<&str>,
) -> Result<Page<Tool>, ErrorData> {
    let mut page = loaded.surface.tools.page(loaded, cursor)?;
    if let Some(memory) = memory.filter(|_| loaded.surface.hide_tools) {
        let is_briefed = memory.is_briefed(loaded);
        let begin = Known::BeginSession.name();
        page.items.retain(|tool| (tool.name == begin) != is_briefed);
        if !is_briefed {
            page.next_cursor = None;
        }
    }
    Ok(page)
}

/// Answers a call; returns also whether the session now sees other tools than before.
pub(super) async fn call(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    memory: Option<&Memory>,
    request: CallToolRequestParams,
) -> Result<(CallToolResult, bool), ErrorData> {
    let sees_more = || memory.is_some_and(|memory| memory.is_briefed(loaded));
    let saw_more = sees_more();
    let given = request.arguments.unwrap_or_default();
    let answer = tool::run(server, loaded, caller, memory, &request.name, given).await;
    let Answer { blocks, is_error, briefing } = answer.map_err(|rejected| match rejected {
        Rejected::Invalid(reason) => Refusal::Invalid(reason).into_error(loaded),
        Rejected::Damaged(damage) => Refusal::Damaged(damage).into_error(loaded),
    })?;
    let blocks = blocks.into_iter().map(ContentBlock::text).collect();
    let mut result =
        if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    if let Some(briefing) = briefing {
        let meta = json!({ "briefing": briefing.handle, "full": briefing.full });
        result.meta.get_or_insert_default().insert(BRIEFING_META_KEY.to_owned(), meta);
    }
    Ok((result, loaded.surface.hide_tools && sees_more() != saw_more))
}
