//! The answer to `skills/list`, of the JSON that the bundle has.
//!
//! The types of rmcp would read each list of files into texts, to write them again: three quarters of the
//! time of an answer.

use std::borrow::Cow;

use relay_bundle::{AgentSkillView, Corrupt};
use rmcp::model::{CacheScope, JsonRpcVersion2_0, MetaObject, RequestId, ResultType};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::mcp::agent_skills::in_one_line;
use crate::mcp::lists::{Page, TTL_MS};

/// A `ListSkillsResult` with its envelope; the members have the order of rmcp's.
#[derive(Serialize)]
pub(super) struct Answer<'a> {
    jsonrpc: JsonRpcVersion2_0,
    id: &'a RequestId,
    result: Listed<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<MetaObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    ttl_ms: u64,
    cache_scope: CacheScope,
    skills: Vec<Entry<'a>>,
}

/// An agent skill.
#[derive(Serialize)]
pub(super) struct Entry<'a> {
    uri: &'a str,
    frontmatter: &'a RawValue,
    resources: &'a RawValue,
}

/// The keys that each front matter has, as texts.
#[derive(Deserialize)]
struct Keys<'a> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    #[serde(borrow, rename = "description")]
    _description: Cow<'a, str>,
}

/// Returns the answer with a page. `meta` is there in the stateless protocol alone.
pub(super) fn answer<'a>(
    id: &'a RequestId,
    page: Page<Entry<'a>>,
    meta: Option<MetaObject>,
    cache_scope: CacheScope,
) -> Answer<'a> {
    let result = Listed {
        // Older protocols lack it.
        result_type: meta.is_some().then_some(ResultType::COMPLETE),
        meta,
        next_cursor: page.next_cursor,
        ttl_ms: TTL_MS,
        cache_scope,
        skills: page.items,
    };
    Answer { jsonrpc: JsonRpcVersion2_0, id, result }
}

/// Returns the entry of an agent skill.
pub(super) fn entry<'b>(skill: &AgentSkillView<'b>) -> Result<Entry<'b>, Corrupt> {
    let malformed = |_| Corrupt::Record { section: "agent-skills", what: "JSON" };
    let frontmatter = in_one_line(skill.frontmatter()?)?;
    serde_json::from_str::<Keys<'_>>(frontmatter).map_err(malformed)?;
    Ok(Entry {
        uri: skill.uri()?,
        frontmatter: serde_json::from_str(frontmatter).map_err(malformed)?,
        resources: serde_json::from_str(in_one_line(skill.manifest()?)?).map_err(malformed)?,
    })
}
