//! `prompts/get`: a name and arguments -> messages.

use std::collections::BTreeMap;

use relay_engine::audit_record::{self, OutputHash, Subject};
use relay_engine::prompt::{self, Filled};
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject};
use serde_json::{Value, json};

use super::convert;
use super::rejection;
use crate::caller::rejection::{Rejection, unknown};
use crate::caller::{Caller, truncate};
use crate::record::audit::Entry;
use crate::server::Server;
use crate::trust::placed::Placed;

/// The `_meta` key that names the truncated arguments.
const CUT_META_KEY: &str = "dev.relay/arguments-cut";

/// Answers a prompt with its arguments filled in. Served or rejected, the request gets one record.
pub(super) fn get(
    server: &Server,
    placed: &Placed,
    caller: &Caller,
    wanted: &str,
    arguments: Option<JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let loaded = &placed.loaded;
    let record = |entry| server.audit.record(caller, loaded.digest(), entry);
    let given = strings(arguments.unwrap_or_default());
    let filled = match &given {
        Ok(given) => fill(placed, wanted, given),
        Err(text) => {
            let rule = "an argument is not a string".to_owned();
            Err(Rejection::Wrong { text: text.clone(), rule })
        }
    };
    match filled {
        Ok(Found { name, description, place, filled }) => {
            let args = audit_record::arguments(&filled.values);
            let mut output = OutputHash::default();
            let mut result = GetPromptResult::new(convert::messages(filled.messages, &mut output));
            result.description = description.map(ToOwned::to_owned);
            let cut = cut_arguments(&filled.values);
            if !cut.is_empty() {
                let names: Vec<_> = cut.keys().map(String::as_str).collect();
                tracing::warn!("prompt `{}`: truncated: {}", wanted, names.join(", "));
                result.meta.get_or_insert_default().insert(CUT_META_KEY.to_owned(), cut.into());
            }
            let subject = Subject::Prompt(name).to_string();
            record(Entry::served(subject, args, output, place));
            Ok(result)
        }
        Err(rejected) => {
            let empty = BTreeMap::new();
            let declared = declared(placed, wanted);
            let subject = match declared {
                Some(_) => Subject::Prompt(wanted),
                None if hides(placed, wanted) => Subject::Prompt(wanted),
                None => Subject::UnknownPrompt,
            };
            let args = audit_record::typed_arguments(
                given.as_ref().unwrap_or(&empty),
                &declared.unwrap_or_default(),
            );
            record(Entry::refused(subject.to_string(), args, rejected.rule()));
            Err(rejection::error(rejected, loaded))
        }
    }
}

/// Returns whether an existing prompt is hidden from the caller.
fn hides(placed: &Placed, name: &str) -> bool {
    placed.view().is_ok_and(|view| view.hides_prompt(name))
}

/// Returns the arguments that a prompt declares, if it exists.
fn declared<'b>(placed: &'b Placed, name: &str) -> Option<Vec<&'b str>> {
    let prompt = placed.view().ok()?.find_prompt(name).ok()??;
    let arguments = prompt.rendering().arguments().unwrap_or_default();
    Some(arguments.iter().map(|argument| argument.name).collect())
}

struct Found<'b> {
    name: &'b str,
    description: Option<&'b str>,
    place: String,
    filled: Filled<'b>,
}

fn fill<'b>(
    placed: &'b Placed,
    name: &str,
    given: &BTreeMap<String, String>,
) -> Result<Found<'b>, Rejection> {
    placed.loaded.in_force()?;
    let view = placed.view()?;
    let prompt = view.find_prompt(name)?.ok_or_else(|| Rejection::Wrong {
        text: format!("unknown prompt `{}`", truncate(name)),
        rule: unknown("prompt", view.hides_prompt(name)),
    })?;
    Ok(Found {
        name: prompt.name()?,
        description: prompt.description()?,
        place: prompt.at()?.to_string(),
        filled: prompt::fill(prompt.rendering(), given)?,
    })
}

/// Returns the arguments as texts. In MCP, arguments of prompts are strings; a request with any
/// other value is malformed. Null counts as absent.
fn strings(arguments: JsonObject) -> Result<BTreeMap<String, String>, String> {
    arguments
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name, text)),
            _ => Err(format!("argument `{}` must be a string", truncate(&name))),
        })
        .collect()
}

fn cut_arguments(values: &[prompt::Value<'_>]) -> JsonObject {
    let cut = values.iter().filter_map(|value| {
        let prompt::Truncation { chars, kept } = value.truncation?;
        Some((value.name.to_owned(), json!({ "characters": chars, "kept": kept })))
    });
    cut.collect()
}
