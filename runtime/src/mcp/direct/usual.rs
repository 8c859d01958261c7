//! The usual form of a request.

use rmcp::model::{JsonObject, JsonRpcVersion2_0, RequestId, RequestMetaObject};
use serde::Deserialize;

const PROMPTS_GET: &str = "prompts/get";
const SKILLS_LIST: &str = "skills/list";

/// A request in the usual form.
pub(in crate::mcp) struct Request {
    pub(in crate::mcp) id: RequestId,
    pub(super) asked: Asked,
    /// Requests of the stateless protocol alone have it. Their answers carry the server's identity.
    pub(super) meta: Option<RequestMetaObject>,
}

/// The methods that are answered here, with their parameters.
pub(super) enum Asked {
    Prompt { name: String, arguments: Option<JsonObject> },
    Skills { cursor: Option<String> },
}

impl Asked {
    /// The names of the methods.
    pub(super) const METHODS: [&str; 2] = [PROMPTS_GET, SKILLS_LIST];

    /// Returns the name of the method.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => PROMPTS_GET,
            Self::Skills { .. } => SKILLS_LIST,
        }
    }

    /// Returns the name that the method has a header for.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Prompt { name, .. } => Some(name),
            Self::Skills { .. } => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    method: Wanted,
    #[serde(default)]
    params: Params,
}

/// Reading ends at the name of any other method.
#[derive(Deserialize)]
enum Wanted {
    #[serde(rename = "prompts/get")]
    PromptsGet,
    #[serde(rename = "skills/list")]
    SkillsList,
}

/// The parameters of all methods that are answered here.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Params {
    name: Option<String>,
    arguments: Option<JsonObject>,
    cursor: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<RequestMetaObject>,
}

/// Returns the request in `bytes`, if it has the usual form.
pub(super) fn read(bytes: &[u8]) -> Option<Request> {
    // The prompts of the conformance suite are the handler's.
    if cfg!(feature = "conformance-tools") {
        return None;
    }
    let Message { id, method, params, .. } = serde_json::from_slice(bytes).ok()?;
    let Params { name, arguments, cursor, meta } = params;
    let asked = match (method, name, arguments, cursor) {
        (Wanted::PromptsGet, Some(name), arguments, None) => Asked::Prompt { name, arguments },
        (Wanted::SkillsList, None, None, cursor) => Asked::Skills { cursor },
        _ => return None,
    };
    Some(Request { id, asked, meta })
}
