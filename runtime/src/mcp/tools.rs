//! `tools/list` and `tools/call`: answers of the door in `tool` -> values of MCP.

use std::sync::Arc;

use relay_engine::tool::find;
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, MetaObject,
    Role, TextContent, Tool,
};
use serde_json::json;

use super::lists::Page;
use super::surface::hides_tools;
use super::{person, rejection};
use crate::record::memory::Memory;
use crate::tool::call::Call;
use crate::tool::context::Context;
use crate::tool::{self, Answer, Ending};
use crate::trust::placed::Placed;

/// The `_meta` key of the handle and of the prompts that it covers. It is not structured content,
/// which some clients give to a model instead of the text.
const BRIEFING_META_KEY: &str = "dev.relay/briefing";

/// The `_meta` key of the names of the skills that made a text.
const CONTEXT_META_KEY: &str = "dev.relay/skill-context";

/// Returns the block of the skills' text: for the model alone.
fn context_block(Context { text, skills }: Context) -> ContentBlock {
    let mut meta = MetaObject::new();
    meta.insert(CONTEXT_META_KEY.to_owned(), json!({ "skills": skills }));
    let mut content = TextContent::new(text).with_meta(meta);
    let mut annotations = Annotations::default();
    annotations.audience = Some(vec![Role::Assistant]);
    content.annotations = Some(annotations);
    ContentBlock::Text(content)
}

/// Keeps the tools that a session sees, if the gate hides tools: only `begin_session` until its
/// briefing, and all other tools afterwards.
pub(super) fn hide(page: &mut Page<Tool>, placed: &Placed, memory: Option<&Arc<Memory>>) {
    let Some(memory) = memory.filter(|_| hides_tools(placed)) else { return };
    let is_briefed = memory.is_briefed(&placed.loaded);
    let begins = |tool: &Tool| find(&tool.name).is_some_and(|spec| !spec.takes_briefing());
    page.items.retain(|tool| begins(tool) != is_briefed);
    if !is_briefed {
        page.next_cursor = None;
    }
}

/// Answers a call; also returns whether the session's list of tools changed.
pub(super) async fn call(
    call: Call,
    request: CallToolRequestParams,
) -> Result<(CallToolResponse, bool), ErrorData> {
    let placed = call.placed.clone();
    let memory = call.memory.clone();
    let sees_more = || memory.as_ref().is_some_and(|memory| memory.is_briefed(&placed.loaded));
    let saw_more = sees_more();
    let given = request.arguments.unwrap_or_default();
    let ending = tool::run(call, request.name.into_owned(), given).await;
    let answer = match ending.map_err(|rejected| rejection::error(rejected, &placed.loaded))? {
        Ending::Answered(answer) => answer,
        Ending::Asks { question, state } => return Ok((person::required(&question, state), false)),
    };
    let Answer { context, blocks, is_error, briefing, .. } = answer;
    let context = context.map(context_block).into_iter();
    let blocks = context.chain(blocks.into_iter().map(ContentBlock::text)).collect();
    let mut result =
        if is_error { CallToolResult::error(blocks) } else { CallToolResult::success(blocks) };
    if let Some(briefing) = briefing {
        let meta = json!({ "briefing": briefing.handle, "full": briefing.full });
        result.meta.get_or_insert_default().insert(BRIEFING_META_KEY.to_owned(), meta);
    }
    Ok((result.into(), hides_tools(&placed) && sees_more() != saw_more))
}
