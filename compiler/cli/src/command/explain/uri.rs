//! The answer to `resources/read`, and the resource or template that gives it.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::{Content, List};
use relay_engine::prompt::{self as engine, FillError};
use relay_engine::resource::{self, Found};
use relay_engine::view::View;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::audience::Names;
use crate::answer::message::Message;
use crate::answer::size::{Size, grouped};
use crate::args::AnswerFormat;
use crate::caller::Asker;
use crate::command::explain::hidden::Hidden;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold};
use crate::text::{indented, printable};

/// The output of `relay explain --uri URI --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct UriExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The requested URI.
    uri: String,
    /// Why the server would reject the request; then the answer is absent.
    refused: Option<String>,
    /// Who sees the resource, if the project has it and the caller does not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<Hidden>,
    /// The answer.
    #[serde(flatten)]
    sent: Option<Sent>,
}

/// The answer for a URI.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Sent {
    /// Whether a resource of exactly this URI answers, or a template.
    answered_by: AnsweredBy,
    /// The name of that resource or template.
    name: String,
    /// Its URI or URI template.
    pattern: String,
    /// Where it was declared: `file:line`.
    at: String,
    /// The variables that the URI fills.
    variables: BTreeMap<String, String>,
    /// The media type.
    mime: String,
    /// The size of the content.
    #[serde(flatten)]
    size: Size,
    /// The content, if it is text.
    text: Option<String>,
    /// The content in base64, for binary content.
    blob: Option<String>,
}

/// The kind of declaration that answers a URI.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AnsweredBy {
    /// A resource of exactly this URI.
    Resource,
    /// A resource with variables in its URI.
    Template,
}

pub(crate) fn explain(
    asker: &Asker<'_>,
    uri: &str,
    format: AnswerFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (refused, sent) = match answer(&asker.view, uri)? {
        Ok(sent) => (None, Some(sent)),
        Err(reason) => (Some(reason), None),
    };
    let is_found = resource::find(&asker.view, uri)?.is_some();
    let hidden = if is_found { None } else { hidden(asker, uri)? };
    let exit = if sent.is_some() { Exit::Yes } else { Exit::No };
    let answer =
        UriExplained { format_version: FORMAT_VERSION, uri: uri.into(), refused, hidden, sent };
    match format {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => output.result(render(&answer))?,
    }
    Ok(exit)
}

/// Returns the readers of the resource with this URI; `None` if the project lacks it.
fn hidden(asker: &Asker<'_>, uri: &str) -> Result<Option<Hidden>, Failure> {
    let names = Names::of(asker.bundle)?;
    for number in names.numbers() {
        let (list, row, at) = match resource::find(&names.view(number)?, uri)? {
            Some(Found::Resource(found)) => (List::Resources, found.index(), found.at()?),
            Some(Found::Template(found, _)) => (List::Templates, found.index(), found.at()?),
            None => continue,
        };
        return Hidden::of(asker, list, row, at).map(Some);
    }
    Ok(None)
}

/// Returns the answer, or the reason for which the server would reject the request.
fn answer(view: &View<'_>, uri: &str) -> Result<Result<Sent, String>, Failure> {
    match resource::find(view, uri)? {
        None => Ok(Err("no resource or template has this URI".into())),
        Some(Found::Resource(view)) => {
            let (text, blob) = match view.content()? {
                Content::Text(text) => (Some(text.to_owned()), None),
                Content::Blob(bytes) => (None, Some(STANDARD.encode(bytes))),
            };
            Ok(Ok(Sent {
                answered_by: AnsweredBy::Resource,
                name: view.name()?.into(),
                pattern: view.uri()?.into(),
                at: view.at()?.to_string(),
                variables: BTreeMap::new(),
                mime: view.mime()?.into(),
                size: Size::of(usize::try_from(view.size()).unwrap_or(usize::MAX)),
                text,
                blob,
            }))
        }
        Some(Found::Template(view, variables)) => {
            let filled = match engine::fill(view.rendering(), &variables) {
                Ok(filled) => filled,
                Err(FillError::Corrupt(error)) => return Err(error.into()),
                Err(error) => {
                    let (pattern, at) = (view.uri_template()?, view.at()?);
                    return Ok(Err(format!("template `{pattern}` ({at}) matches, but {error}")));
                }
            };
            let messages = filled.messages.iter().map(Message::of_filled);
            let text = messages.map(|message| message.text()).collect::<String>();
            Ok(Ok(Sent {
                answered_by: AnsweredBy::Template,
                name: view.name()?.into(),
                pattern: view.uri_template()?.into(),
                at: view.at()?.to_string(),
                variables,
                mime: view.mime()?.into(),
                size: Size::of(text.len()),
                text: Some(text),
                blob: None,
            }))
        }
    }
}

fn render(answer: &UriExplained) -> String {
    let uri = bold(printable(&answer.uri));
    let Some(sent) = &answer.sent else {
        let refused = answer.refused.as_deref().unwrap_or_default();
        let hidden = answer.hidden.as_ref().map(Hidden::render).unwrap_or_default();
        return format!("{uri}: {} {}\n{hidden}", bad("rejected:"), printable(refused));
    };
    let kind = match sent.answered_by {
        AnsweredBy::Resource => "resource",
        AnsweredBy::Template => "template",
    };
    let mut text = format!(
        "{uri}\n  answered by {kind} {} ({}), declared at {}\n",
        printable(&sent.pattern),
        printable(&sent.name),
        printable(&sent.at),
    );
    for (name, value) in &sent.variables {
        text.push_str(&format!("  {} = {value:?}\n", printable(name)));
    }
    text.push_str(&format!("  {}, {} bytes\n", printable(&sent.mime), grouped(sent.size.bytes)));
    if let Some(held) = &sent.text {
        text.push('\n');
        text.push_str(&indented(held, "  | "));
    }
    text
}
