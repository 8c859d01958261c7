//! A request in the usual form -> its answer.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{MetaObject, RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerResult};
use serde::Serialize;

use super::skills;
use super::usual::{Asked, Request};
use crate::caller::principal::Principal;
use crate::mcp::caller::of_request;
use crate::mcp::service::Service;
use crate::mcp::{agent_skills, prompts};
use crate::record::metrics::{Method, Outcome};

/// The room for an answer at first: most are shorter.
const ANSWER_BYTES: usize = 8 << 10;

/// Returns the answer to a request of `principal`, as JSON.
pub(super) fn answer(
    service: &Service,
    principal: &Arc<Principal>,
    request: Request,
) -> serde_json::Result<Vec<u8>> {
    let Request { id, asked, meta } = request;
    let method = match &asked {
        Asked::Prompt { .. } => Method::PromptsGet,
        Asked::Skills { .. } => Method::SkillsList,
    };
    let mut timer = service.server.metrics.time(method);
    let result = result(service, principal, &id, asked, meta.as_ref());
    if result.is_ok() {
        timer.outcome = Outcome::Answered;
    }
    drop(timer);
    result.unwrap_or_else(|error| json(&ServerJsonRpcMessage::error(error, Some(id))))
}

fn result(
    service: &Service,
    principal: &Arc<Principal>,
    id: &RequestId,
    asked: Asked,
    meta: Option<&RequestMetaObject>,
) -> Result<serde_json::Result<Vec<u8>>, ErrorData> {
    let served = service.served();
    let none = RequestMetaObject::default();
    let (placed, caller) =
        of_request(&served.loaded, principal.clone(), id, meta.unwrap_or(&none))?;
    let stamp = |to: &mut Option<MetaObject>| {
        if meta.is_some() {
            served.surface.stamp(to);
        }
    };
    Ok(match asked {
        Asked::Prompt { name, arguments } => {
            let mut result = prompts::get(&service.server, &placed, &caller, &name, arguments)?;
            stamp(&mut result.meta);
            if meta.is_none() {
                // Older protocols lack it.
                result.result_type = None;
            }
            let result = ServerResult::GetPromptResult(result);
            json(&ServerJsonRpcMessage::response(result, id.clone()))
        }
        Asked::Skills { cursor } => {
            let page = agent_skills::list(&placed, cursor.as_deref(), skills::entry)?;
            let mut meta = None;
            stamp(&mut meta);
            json(&skills::answer(id, page, meta, service.cache_scope()))
        }
    })
}

fn json(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(ANSWER_BYTES);
    serde_json::to_writer(&mut bytes, message)?;
    Ok(bytes)
}
