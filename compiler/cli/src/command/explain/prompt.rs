//! The answer to `prompts/get`, and the effect of the arguments on it.

use std::collections::BTreeMap;

use relay_bundle::{List, PromptView};
use relay_engine::prompt::{self as engine, FillError, Filled, Origin, Value};
use relay_engine::view::View;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::message::Message;
use crate::answer::prompt::{self, When};
use crate::answer::size::{Size, counted, grouped};
use crate::args::AnswerFormat;
use crate::caller::Asker;
use crate::command::explain::hidden::Hidden;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, dim};
use crate::shell;
use crate::text::{indented, printable};

/// The output of `relay explain --prompt NAME --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PromptExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The prompt.
    prompt: String,
    /// Why the server would reject the request; then the answer is absent.
    refused: Option<String>,
    /// Who sees the prompt, if the project has it and the caller does not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<Hidden>,
    /// The answer.
    #[serde(flatten)]
    sent: Option<Sent>,
}

/// The answer for a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Sent {
    /// Where the prompt was declared: `file:line`.
    at: String,
    /// The number of the variant that the arguments select.
    variant: usize,
    /// The number of variants.
    variants: usize,
    /// The arguments that select it.
    when: When,
    /// The effective value of every argument.
    arguments: Vec<EffectiveArgument>,
    /// The size of the messages.
    #[serde(flatten)]
    size: Size,
    /// The messages.
    messages: Vec<Message>,
}

/// The effective value of an argument.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct EffectiveArgument {
    /// The argument.
    name: String,
    /// Its value.
    value: Option<String>,
    /// The origin of the value.
    origin: ValueOrigin,
    /// How far the text was truncated, if it was over its limit.
    cut: Option<Truncation>,
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ValueOrigin {
    /// The caller gave it.
    Given,
    /// The project's default.
    Default,
    /// No value was given, and the default is absent.
    Absent,
}

/// A truncation: the text was over its limit.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Truncation {
    /// The number of characters of the given text.
    chars: usize,
    /// The number of characters that were kept.
    kept: usize,
}

/// Reads `--arguments`.
pub(crate) fn given(json: Option<&str>) -> Result<BTreeMap<String, String>, Failure> {
    let Some(json) = json else { return Ok(BTreeMap::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::error(format!("--arguments is not a JSON object of strings: {error}"))
            .help("write --arguments '{\"service\":\"grafana\"}'; MCP sends every argument as text")
    })
}

pub(crate) fn explain(
    asker: &Asker<'_>,
    name: &str,
    given: &BTreeMap<String, String>,
    format: AnswerFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = answer(asker, name, given)?;
    match format {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => output.result(render(&answer))?,
    }
    Ok(if answer.sent.is_some() { Exit::Yes } else { Exit::No })
}

fn answer(
    asker: &Asker<'_>,
    name: &str,
    given: &BTreeMap<String, String>,
) -> Result<PromptExplained, Failure> {
    let (view, bundle) = (&asker.view, asker.bundle);
    let mut hidden = None;
    let (refused, sent) = match view.find_prompt(name)? {
        None => {
            if let Some(prompt) = bundle.find_prompt(name)? {
                hidden = Some(Hidden::of(asker, List::Prompts, prompt.index(), prompt.at()?)?);
            }
            // For this caller, it is like any unknown name.
            let refused = match &hidden {
                Some(_) => format!("unknown prompt `{name}`"),
                None => unknown(view, name)?,
            };
            (Some(refused), None)
        }
        Some(prompt) => match engine::fill(prompt.rendering(), given) {
            Ok(filled) => (None, Some(Sent::of(&prompt, &filled)?)),
            Err(FillError::Corrupt(error)) => return Err(error.into()),
            Err(error) => {
                let remedy = match &error {
                    FillError::MissingArgument { name } => {
                        let object = serde_json::json!({ name.as_str(): "…" });
                        format!("; write --arguments {}", shell::word(&object.to_string()))
                    }
                    _ => String::new(),
                };
                (Some(format!("{error}{remedy}")), None)
            }
        },
    };
    Ok(PromptExplained {
        format_version: FORMAT_VERSION,
        prompt: name.into(),
        refused,
        hidden,
        sent,
    })
}

impl Sent {
    fn of(view: &PromptView<'_>, filled: &Filled<'_>) -> Result<Self, Failure> {
        let messages: Vec<Message> = filled.messages.iter().map(Message::of_filled).collect();
        Ok(Self {
            at: view.at()?.to_string(),
            variant: filled.variant,
            variants: view.rendering().variant_count(),
            when: prompt::when(view.rendering(), filled.variant)?,
            arguments: filled.values.iter().map(EffectiveArgument::of).collect(),
            size: Size::of(messages.iter().map(Message::bytes).sum()),
            messages,
        })
    }
}

impl EffectiveArgument {
    fn of(value: &Value<'_>) -> Self {
        let Value { name, text, origin, finite: _, truncation } = value;
        Self {
            name: (*name).into(),
            value: text.clone(),
            origin: match origin {
                Origin::Given => ValueOrigin::Given,
                Origin::Default => ValueOrigin::Default,
                Origin::Absent => ValueOrigin::Absent,
            },
            cut: truncation.map(|engine::Truncation { chars, kept }| Truncation { chars, kept }),
        }
    }

    fn render(&self) -> String {
        let value = match (&self.value, self.origin) {
            (Some(value), ValueOrigin::Default) => format!("{value:?} (default)"),
            (Some(value), _) => format!("{value:?}"),
            (None, _) => dim("absent").to_string(),
        };
        let cut = match self.cut {
            Some(Truncation { chars, kept }) => {
                format!(", truncated from {chars} to {kept} characters")
            }
            None => String::new(),
        };
        format!("  {} = {value}{cut}\n", printable(&self.name))
    }
}

fn unknown(view: &View<'_>, name: &str) -> Result<String, Failure> {
    let hint = nearest_prompt(view, name)?.map(|known| format!("; did you mean `{known}`?"));
    Ok(format!("unknown prompt `{name}`{}", hint.unwrap_or_default()))
}

fn render(answer: &PromptExplained) -> String {
    let name = bold(format!("prompt {}", printable(&answer.prompt)));
    let Some(sent) = &answer.sent else {
        let refused = answer.refused.as_deref().unwrap_or_default();
        let hidden = answer.hidden.as_ref().map(Hidden::render).unwrap_or_default();
        return format!("{name}: {} {}\n{hidden}", bad("rejected:"), printable(refused));
    };
    let mut text = format!("{name}, declared at {}\n", printable(&sent.at));
    for argument in &sent.arguments {
        text.push_str(&argument.render());
    }
    if sent.variants > 1 {
        let condition = prompt::condition(&sent.when);
        let number = sent.variant + 1;
        text.push_str(&format!(
            "  variant {number} of {}: {}\n",
            sent.variants,
            printable(&condition)
        ));
    }
    text.push_str(&format!(
        "  {}, {} bytes, about {} tokens\n",
        counted(sent.messages.len(), "message"),
        grouped(sent.size.bytes),
        grouped(sent.size.tokens_estimated)
    ));
    for message in &sent.messages {
        text.push_str(&format!("\n{}\n", bold(message.role.as_str())));
        text.push_str(&indented(&message.human(), "  | "));
    }
    text
}

/// Returns the name of the prompt nearest to `name`, if one is near.
pub(super) fn nearest_prompt<'b>(view: &View<'b>, name: &str) -> Result<Option<&'b str>, Failure> {
    let rows = view.rows(List::Prompts)?;
    let names: Vec<&str> =
        rows.map(|row| Ok(view.prompt(row)?.name()?)).collect::<Result<_, Failure>>()?;
    Ok(relay_compiler::nearest(name, names))
}
