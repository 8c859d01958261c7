//! Questions and answers of the AuthZEN Authorization API 1.0, in the default mapping of COAZ-MCP:
//! the action is the method, the resource the tool, prompt or resource, `context.arguments` the
//! arguments of the call.

use relay_engine::decide::Outcome;
use serde_json::{Map, Value, json};

use super::method::{self, Names};
use super::question::{Question, Read, Target, Unasked};
use super::ruling::Ruling;
use super::subject;

/// The most questions in one request.
pub(super) const EVALUATIONS_MAX: usize = 128;

/// The end of several questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Semantic {
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

/// The questions of one request.
#[derive(Debug)]
pub(super) enum Asked<'r> {
    One,
    /// Entries, to which the members of the request are defaults.
    Several(&'r [Value], Semantic),
}

/// Reads the number of questions of a request, and their end.
pub(super) fn asked(request: &Map<String, Value>) -> Result<Asked<'_>, Unasked> {
    let entries = match request.get("evaluations") {
        None => return Ok(Asked::One),
        Some(Value::Array(entries)) if entries.is_empty() => return Ok(Asked::One),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(Unasked::Malformed("`evaluations` is no list")),
    };
    if entries.len() > EVALUATIONS_MAX {
        return Err(Unasked::Malformed("`evaluations` has more than 128 entries"));
    }
    let semantic = match request.get("options") {
        None => None,
        Some(Value::Object(options)) => options.get("evaluations_semantic"),
        Some(_) => return Err(Unasked::Malformed("`options` is no object")),
    };
    let semantic = match semantic.map(Value::as_str) {
        None | Some(Some("execute_all")) => Semantic::ExecuteAll,
        Some(Some("deny_on_first_deny")) => Semantic::DenyOnFirstDeny,
        Some(Some("permit_on_first_permit")) => Semantic::PermitOnFirstPermit,
        Some(_) => return Err(Unasked::Malformed("`evaluations_semantic` is unknown")),
    };
    Ok(Asked::Several(entries, semantic))
}

/// Reads one question of a request.
pub(super) fn read(entry: &Map<String, Value>, defaults: &Map<String, Value>) -> Read {
    let mut read = Read::nothing(Unasked::Malformed(""));
    read.question = question(entry, defaults, &mut read.subject, &mut read.method);
    read
}

fn question(
    entry: &Map<String, Value>,
    defaults: &Map<String, Value>,
    read_subject: &mut Option<String>,
    read_method: &mut Option<&'static method::Method>,
) -> Result<Question, Unasked> {
    let member = |name: &str| entry.get(name).or_else(|| defaults.get(name));
    let required = |name: &str, missing| {
        member(name).and_then(Value::as_object).ok_or(Unasked::Malformed(missing))
    };
    let subject = subject::of_json(required("subject", "`subject` is missing or no object")?)?;
    *read_subject = Some(subject.id.clone());
    let action = required("action", "`action` is missing or no object")?;
    let name = text(action, "name", "`action.name` is missing or no text")?;
    let resource = required("resource", "`resource` is missing or no object")?;
    let kind = text(resource, "type", "`resource.type` is missing or no text")?;
    let id = text(resource, "id", "`resource.id` is missing or no text")?;
    let properties = optional(resource.get("properties"), "`resource.properties` is no object")?;
    let context = optional(member("context"), "`context` is no object")?;
    let method = method::find(name).ok_or(Unasked::Denied("the method is unknown"))?;
    *read_method = Some(method);
    let id = named(properties.and_then(|it| it.get("server")), id)?;
    let target = match (method.names, kind) {
        (Names::Tool, "tool") => Target::Tool(id, arguments(context, properties)?.clone()),
        (Names::Prompt | Names::PromptOrResource, "prompt") => Target::Prompt(id),
        (Names::Resource | Names::PromptOrResource, "resource") => Target::Resource(id),
        (Names::Server | Names::Notification, "mcp_server") => Target::Server,
        _ => return Err(Unasked::Denied("the method does not name a resource of this type")),
    };
    Ok(Question { subject, target })
}

/// Returns the arguments of a call. Without them, a decision would be on another call.
fn arguments<'r>(
    context: Option<&'r Map<String, Value>>,
    properties: Option<&'r Map<String, Value>>,
) -> Result<&'r Map<String, Value>, Unasked> {
    if properties.is_some_and(|it| it.contains_key("arguments")) {
        return Err(Unasked::Denied("the arguments of a call belong in `context.arguments`"));
    }
    let arguments = context.and_then(|context| context.get("arguments"));
    arguments.and_then(Value::as_object).ok_or(Unasked::Denied(
        "the arguments of the call are missing: send them as `context.arguments`, {} for none",
    ))
}

/// Returns a name for rules: that of its server precedes it, if the gateway says it.
fn named(server: Option<&Value>, name: &str) -> Result<String, Unasked> {
    match server {
        None => Ok(name.to_owned()),
        Some(Value::String(server)) if !server.is_empty() => Ok(format!("{server}/{name}")),
        Some(_) => Err(Unasked::Malformed("the name of the server is no text")),
    }
}

fn text<'r>(
    object: &'r Map<String, Value>,
    name: &str,
    missing: &'static str,
) -> Result<&'r str, Unasked> {
    let text = object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or(Unasked::Malformed(missing))
}

fn optional<'r>(
    value: Option<&'r Value>,
    wrong: &'static str,
) -> Result<Option<&'r Map<String, Value>>, Unasked> {
    match value {
        None => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(Unasked::Malformed(wrong)),
    }
}

/// Returns the answer to a question.
pub(super) fn answer(ruling: &Ruling) -> Value {
    let Ruling { outcome, tier, reason, rule, at, .. } = ruling;
    let mut context = Map::from_iter([
        ("outcome".to_owned(), outcome.word().into()),
        ("reason".to_owned(), reason.as_str().into()),
        ("tier".to_owned(), tier.number().into()),
    ]);
    let status = ruling.error.map(|status| json!({ "status": status, "message": reason }));
    let further = [
        ("rule", rule.as_deref().map(Value::from)),
        ("at", at.as_deref().map(Value::from)),
        ("error", status),
    ];
    let known = further.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    context.extend(known);
    json!({ "decision": *outcome == Outcome::Allow, "context": context })
}
