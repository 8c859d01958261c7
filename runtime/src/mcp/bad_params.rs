//! Requests of a known method with malformed parameters.
//!
//! rmcp passes these on as requests of an unknown method. They are answered with -32602, and get a
//! record if well-formed requests of the method get one.

use std::collections::BTreeMap;

use relay_bundle::Corrupt;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, CompleteRequestParams, CustomRequest,
    GetPromptRequestParams, GetSkillRequestParams, Implementation, InitializeRequestParams,
    ProtocolVersion, ReadResourceDirectoryRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::subscriptions;
use crate::caller::{Caller, truncate};
use crate::record::audit::Entry;
use crate::record::verb;
use crate::server::Server;
use crate::trust::placed::Placed;

/// A known method with parameters. rmcp ignores a cursor of another type.
struct Method {
    name: &'static str,
    protocols: Protocols,
    /// Returns the reason why parameters are malformed.
    reason: fn(&Value) -> Option<String>,
    /// The subject of its record.
    subject: Option<Subject>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocols {
    Both,
    Legacy,
    Modern,
}

#[derive(Clone, Copy)]
enum Subject {
    Prompt,
    Resource,
    Tool,
    /// Another thing, by the label of its records; its name stays unread.
    Other(&'static str),
}

/// The reason for missing parameters, or parameters of another type.
const NO_OBJECT: &str = "an object is expected";

const METHODS: &[Method] = &[
    method::<GetPromptRequestParams>("prompts/get", Protocols::Both, Some(Subject::Prompt)),
    method::<ReadResourceRequestParams>("resources/read", Protocols::Both, Some(Subject::Resource)),
    method::<GetSkillRequestParams>(
        "skills/get",
        Protocols::Both,
        Some(Subject::Other(verb::MANIFEST)),
    ),
    method::<ReadResourceDirectoryRequestParams>(
        "resources/directory/read",
        Protocols::Both,
        Some(Subject::Other(verb::DIRECTORY)),
    ),
    method::<CallToolRequestParams>("tools/call", Protocols::Both, Some(Subject::Tool)),
    method::<CompleteRequestParams>(
        "completion/complete",
        Protocols::Both,
        Some(Subject::Other(verb::COMPLETE)),
    ),
    Method {
        name: "initialize",
        protocols: Protocols::Legacy,
        reason: initialize_reason,
        subject: None,
    },
    method::<SubscribeRequestParams>(
        "resources/subscribe",
        Protocols::Legacy,
        Some(Subject::Other(verb::SUBSCRIBE)),
    ),
    method::<UnsubscribeRequestParams>(
        "resources/unsubscribe",
        Protocols::Legacy,
        Some(Subject::Other(verb::UNSUBSCRIBE)),
    ),
    method::<SubscriptionsListenRequestParams>(
        "subscriptions/listen",
        Protocols::Modern,
        Some(Subject::Other(subscriptions::LISTEN)),
    ),
];

const fn method<P: DeserializeOwned>(
    name: &'static str,
    protocols: Protocols,
    subject: Option<Subject>,
) -> Method {
    Method { name, protocols, reason: reason::<P>, subject }
}

fn reason<P: DeserializeOwned>(params: &Value) -> Option<String> {
    if !params.is_object() {
        return Some(NO_OBJECT.to_owned());
    }
    P::deserialize(params).err().map(|error| error.to_string())
}

/// Returns the reason why the parameters of `initialize` are malformed, with the member.
fn initialize_reason(params: &Value) -> Option<String> {
    fn member<T: DeserializeOwned>(name: &str, value: &Value) -> Option<String> {
        Some(format!("`{name}`: {}", T::deserialize(value).err()?))
    }
    let all = InitializeRequestParams::deserialize(params).err()?;
    if !params.is_object() {
        return Some(NO_OBJECT.to_owned());
    }
    let given = |name| params.get(name);
    let mut capabilities = given("capabilities").and_then(Value::as_object).into_iter().flatten();
    let capability = capabilities.find_map(|(name, value)| {
        let alone = json!({ name: value });
        member::<ClientCapabilities>(&format!("capabilities.{name}"), &alone)
    });
    let member = capability
        .or_else(|| member::<ClientCapabilities>("capabilities", given("capabilities")?))
        .or_else(|| member::<Implementation>("clientInfo", given("clientInfo")?))
        .or_else(|| member::<ProtocolVersion>("protocolVersion", given("protocolVersion")?));
    Some(member.unwrap_or_else(|| all.to_string()))
}

/// Returns the error for an `initialize` with malformed parameters.
pub(super) fn wrong_initialize(params: &Value) -> Option<ErrorData> {
    let reason = initialize_reason(params)?;
    let text = format!("the parameters of initialize are not valid: {reason}");
    Some(ErrorData::invalid_params(truncate(&text), None))
}

/// Returns the label of a request's subject in records, if its method has one.
pub(super) fn label(placed: &Placed, method: &str, params: &Value) -> Option<String> {
    let known = METHODS.iter().find(|known| known.name == method)?;
    Some(known.subject?.label(placed, params))
}

/// Returns the error for a request of a type that rmcp lacks, and records it if its method is
/// recorded.
pub(super) fn reject(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    is_modern: bool,
    request: CustomRequest,
) -> ErrorData {
    let CustomRequest { method, params, .. } = request;
    let other = if is_modern { Protocols::Legacy } else { Protocols::Modern };
    let mut known = METHODS.iter().filter(|known| known.protocols != other);
    let Some(known) = known.find(|known| known.name == method) else {
        let code = rmcp::model::ErrorCode::METHOD_NOT_FOUND;
        return ErrorData::new(code, truncate(&method), None);
    };
    let params = params.unwrap_or(Value::Null);
    let reason = (known.reason)(&params);
    let reason = reason.as_deref().unwrap_or("they do not have the form that the protocol gives");
    if let Some(subject) = known.subject {
        let label = subject.label(placed, &params);
        // The reason may repeat text of the caller.
        let rule = format!("the parameters of {} are not valid", known.name);
        let entry = Entry::refused(label, BTreeMap::new(), rule);
        server.audit.record(caller, placed.loaded.digest(), entry);
    }
    let text = format!("the parameters of {} are not valid: {reason}", known.name);
    ErrorData::invalid_params(truncate(&text), None)
}

impl Subject {
    /// Returns the label of a record: a name only if the bundle has it, since others are free text.
    fn label(self, placed: &Placed, params: &Value) -> String {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let view = placed.view().inspect_err(|damage| placed.loaded.note_damage(damage)).ok();
        let exists = |found: Result<bool, Corrupt>| {
            found.unwrap_or_else(|damage| {
                placed.loaded.note_damage(&damage);
                false
            })
        };
        let (kind, known) = match self {
            Self::Other(label) => (label, None),
            Self::Prompt => {
                let is_known = |name: &&str| {
                    view.as_ref().is_some_and(|view| {
                        exists(view.find_prompt(name).map(|found| found.is_some()))
                            || view.hides_prompt(name)
                    })
                };
                ("prompt", text("name").filter(is_known))
            }
            Self::Resource => {
                // The values of a URI template are free text.
                let is_known = |uri: &&str| {
                    view.as_ref().is_some_and(|view| {
                        exists(view.find_resource(uri).map(|found| found.is_some()))
                            || view.hides_resource(uri)
                    })
                };
                ("resource", text("uri").filter(is_known))
            }
            Self::Tool => {
                let tools = &placed.loaded.tools;
                let offered = |name: &&str| tools.iter().any(|it| it.spec.name == *name);
                match text("name").filter(offered) {
                    // The label of a tool is its name.
                    Some(name) => return name.to_owned(),
                    None => ("tool", None),
                }
            }
        };
        format!("{kind}:{}", known.unwrap_or("unknown"))
    }
}
