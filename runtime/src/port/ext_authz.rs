//! Questions and answers of a proxy's external authorization over HTTP, as Envoy asks them: the
//! proxy sends the headers of a request, and its body if it is told to. 200 lets the request pass.
//!
//! The body is a message of MCP. Without one, headers stand for it.

use axum::http::{HeaderMap, header};
use serde_json::{Map, Value};

use super::json;
use super::method::{self, Method, Names};
use super::question::{Question, Read, Target, Unasked};
use super::subject::{self, Parts};

/// The beginning of the names of the headers that say who asks for what.
const PREFIX: &str = "x-relay-";
/// Those that say who asks.
const SUBJECT: &str = "x-relay-subject";
const TENANT: &str = "x-relay-tenant";
const GROUPS: &str = "x-relay-groups";
const ROLE: &str = "x-relay-role";
/// The name of the server that the proxy forwards to; it precedes the name of a tool, and the prompts
/// and resources of another server are unknown.
const SERVER: &str = "x-relay-server";
/// Those that stand for a body.
const METHOD: &str = "x-relay-method";
const TOOL: &str = "x-relay-tool";
const ARGUMENTS: &str = "x-relay-arguments";
const PROMPT: &str = "x-relay-prompt";
const RESOURCE: &str = "x-relay-resource";
const INSTEAD_OF_BODY: [&str; 5] = [METHOD, TOOL, ARGUMENTS, PROMPT, RESOURCE];
const KNOWN: [&str; 5] = [SUBJECT, TENANT, GROUPS, ROLE, SERVER];

/// Envoy says with it whether it cut the body.
const PARTIAL: &str = "x-envoy-auth-partial-body";
/// The method, as modern clients repeat it.
const MCP_METHOD: &str = "mcp-method";

const NO_METHOD: Unasked = Unasked::Malformed("the message has no method");

/// Reads a question, and the id of the message.
pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> (Read, Value) {
    let mut read = Read::nothing(Unasked::Malformed(""));
    let mut id = Value::Null;
    read.question = question(headers, body, &mut read, &mut id);
    (read, id)
}

fn question(
    headers: &HeaderMap,
    body: &[u8],
    read: &mut Read,
    id: &mut Value,
) -> Result<Question, Unasked> {
    check(headers)?;
    let subject = subject(headers)?;
    read.subject = Some(subject.id.clone());
    let target = match body.is_empty() {
        true => by_headers(headers, &mut read.method)?,
        false => by_body(headers, body, &mut read.method, id)?,
    };
    Ok(Question { subject, target })
}

/// Refuses headers that are unknown, and a body that is not the whole one.
fn check(headers: &HeaderMap) -> Result<(), Unasked> {
    let is_known = |name: &str| KNOWN.contains(&name) || INSTEAD_OF_BODY.contains(&name);
    if headers.keys().any(|name| name.as_str().starts_with(PREFIX) && !is_known(name.as_str())) {
        return Err(Unasked::Malformed("a header that begins with `x-relay-` is unknown"));
    }
    if one(headers, PARTIAL)?.is_some_and(|partial| partial != "false") {
        return Err(Unasked::Malformed("the proxy cut the body: let it forward more bytes"));
    }
    let encoding = one(headers, header::CONTENT_ENCODING.as_str())?;
    if encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(Unasked::Malformed("the body is encoded"));
    }
    Ok(())
}

/// Returns the value of a header; a doubled one has none that can be believed.
fn one<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Unasked> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Unasked::Malformed("a header is doubled"));
    }
    // HTTP leaves the encoding of a value open.
    let text = str::from_utf8(value.as_bytes());
    text.map(Some).map_err(|_| Unasked::Malformed("a header is not UTF-8"))
}

fn subject(headers: &HeaderMap) -> Result<crate::caller::principal::Principal, Unasked> {
    let owned = |name| Ok(one(headers, name)?.map(ToOwned::to_owned));
    let id = owned(SUBJECT)?.ok_or(Unasked::Malformed("the header x-relay-subject is missing"))?;
    let groups = match one(headers, GROUPS)? {
        None | Some("") => Vec::new(),
        Some(list) if list.starts_with('[') => {
            subject::groups(&serde_json::from_str(list).unwrap_or_default())?
        }
        Some(list) => list.split(',').map(|group| group.trim().to_owned()).collect(),
    };
    Parts { id, tenant: owned(TENANT)?, groups, role: owned(ROLE)? }.check()
}

fn by_headers(headers: &HeaderMap, read: &mut Option<&'static Method>) -> Result<Target, Unasked> {
    let name = one(headers, METHOD)?;
    let name = name.ok_or(Unasked::Malformed("neither a body nor x-relay-method is there"))?;
    let method = method::find(name).ok_or(Unasked::Denied("the method is unknown"))?;
    *read = Some(method);
    let [tool, arguments, prompt, resource] =
        [TOOL, ARGUMENTS, PROMPT, RESOURCE].map(|name| one(headers, name));
    Ok(match (method.names, tool?, arguments?, prompt?, resource?) {
        (Names::Tool, Some(tool), Some(arguments), None, None) if !tool.is_empty() => {
            let wrong = Unasked::Malformed("x-relay-arguments is no JSON object");
            // As deep as the arguments of a message.
            let arguments = json::object(arguments.as_bytes()).ok_or(wrong)?;
            Target::Tool(named(headers, tool)?, arguments)
        }
        (Names::Prompt | Names::PromptOrResource, None, None, Some(prompt), None) => {
            Target::Prompt(named(headers, prompt)?)
        }
        (Names::Resource | Names::PromptOrResource, None, None, None, Some(resource)) => {
            Target::Resource(named(headers, resource)?)
        }
        (Names::Server | Names::Notification, None, None, None, None) => Target::Server,
        _ => return Err(Unasked::Malformed("the x-relay- headers do not fit the method")),
    })
}

fn by_body(
    headers: &HeaderMap,
    body: &[u8],
    read: &mut Option<&'static Method>,
    id: &mut Value,
) -> Result<Target, Unasked> {
    if INSTEAD_OF_BODY.iter().any(|name| headers.contains_key(*name)) {
        return Err(Unasked::Malformed("both a body and headers in place of one are there"));
    }
    let wrong = "the body is no JSON object, or has a member twice";
    let message = json::object(body).ok_or(Unasked::Malformed(wrong))?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(Unasked::Malformed("the body is no message of JSON-RPC 2.0"));
    }
    match message.get("id") {
        None => {}
        Some(given @ (Value::String(_) | Value::Number(_))) => *id = given.clone(),
        Some(_) => return Err(Unasked::Malformed("the id of the message is no text or number")),
    }
    let name = message.get("method").and_then(Value::as_str).ok_or(NO_METHOD)?;
    if one(headers, MCP_METHOD)?.is_some_and(|header| header != name) {
        return Err(Unasked::Malformed("the header mcp-method is not the method of the body"));
    }
    let method = method::find(name).ok_or(Unasked::Denied("the method is unknown"))?;
    *read = Some(method);
    if (method.names == Names::Notification) == message.contains_key("id") {
        return Err(Unasked::Malformed("a request needs an id, and a notification has none"));
    }
    let params = match message.get("params") {
        None => &Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(Unasked::Malformed("the params are no object")),
    };
    Ok(match method.names {
        Names::Tool => {
            let arguments = match params.get("arguments") {
                None => Map::new(),
                Some(Value::Object(arguments)) => arguments.clone(),
                Some(_) => return Err(Unasked::Malformed("the arguments are no object")),
            };
            Target::Tool(named(headers, text(params, "name")?)?, arguments)
        }
        Names::Prompt => Target::Prompt(named(headers, text(params, "name")?)?),
        Names::Resource => Target::Resource(named(headers, text(params, "uri")?)?),
        Names::PromptOrResource => reference(headers, params)?,
        Names::Server | Names::Notification => Target::Server,
    })
}

/// Returns the target of a completion.
fn reference(headers: &HeaderMap, params: &Map<String, Value>) -> Result<Target, Unasked> {
    let reference = params.get("ref").and_then(Value::as_object);
    let reference = reference.ok_or(Unasked::Malformed("the params have no `ref`"))?;
    match text(reference, "type")? {
        "ref/prompt" => Ok(Target::Prompt(named(headers, text(reference, "name")?)?)),
        "ref/resource" => Ok(Target::Resource(named(headers, text(reference, "uri")?)?)),
        _ => Err(Unasked::Malformed("the type of `ref` is unknown")),
    }
}

fn text<'m>(object: &'m Map<String, Value>, name: &str) -> Result<&'m str, Unasked> {
    let text = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or(Unasked::Malformed("the params do not name their subject"))
}

/// Returns a name for rules: that of its server precedes it, if the proxy says it.
fn named(headers: &HeaderMap, name: &str) -> Result<String, Unasked> {
    match one(headers, SERVER)? {
        None => Ok(name.to_owned()),
        Some("") => Err(Unasked::Malformed("x-relay-server is empty")),
        Some(server) => Ok(format!("{server}/{name}")),
    }
}
