//! What would be sent for a prompt, and why.

use std::collections::BTreeMap;

use relay_bundle::{Bundle, PromptView};
use relay_engine::prompt::{self as engine, FillError, Filled, Origin, Value};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::message::Message;
use crate::answer::prompt::{self, When};
use crate::answer::size::{Size, counted, grouped};
use crate::command::explain::nearest::nearest;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bad, bold, dim};
use crate::schema::FORMAT_VERSION;
use crate::text::{indented, printable};

/// What `relay explain --prompt NAME --json` prints.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PromptExplained {
    /// The version of this form.
    format_version: u32,
    /// The prompt.
    prompt: String,
    /// Why the server would refuse the call; then nothing below is there.
    refused: Option<String>,
    /// What it would send.
    #[serde(flatten)]
    sent: Option<Sent>,
}

/// What would be sent for a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Sent {
    /// Where the prompt was declared: `file:line`.
    at: String,
    /// The number of the variant that the arguments choose.
    variant: usize,
    /// How many variants there are.
    variants: usize,
    /// The arguments that choose it.
    when: When,
    /// The value in force of every argument.
    arguments: Vec<InForce>,
    /// How large the messages are.
    #[serde(flatten)]
    size: Size,
    /// The messages.
    messages: Vec<Message>,
}

/// The value in force of an argument.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct InForce {
    /// The argument.
    name: String,
    /// Its value.
    value: Option<String>,
    /// Where the value comes from.
    origin: ValueOrigin,
    /// How many characters came and were kept, if the text was over its limit.
    cut: Option<Cut>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ValueOrigin {
    /// The caller gave it.
    Given,
    /// The project's default.
    Default,
    /// Neither.
    Absent,
}

/// That a text was over its limit.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
struct Cut {
    /// Characters that came.
    chars: usize,
    /// Characters that were kept.
    kept: usize,
}

/// Reads `--arguments`.
pub(crate) fn given(json: Option<&str>) -> Result<BTreeMap<String, String>, Failure> {
    let Some(json) = json else { return Ok(BTreeMap::new()) };
    serde_json::from_str(json).map_err(|error| {
        Failure::unknown(format!("--arguments is not a JSON object of texts: {error}"))
            .help("as in --arguments '{\"service\":\"grafana\"}'; MCP sends every argument as text")
    })
}

pub(crate) fn explain(
    bundle: &Bundle,
    name: &str,
    given: &BTreeMap<String, String>,
    json: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let answer = answer(bundle, name, given)?;
    if json {
        output.json(&answer)?;
    } else {
        output.result(render(&answer))?;
    }
    Ok(if answer.sent.is_some() { Exit::Yes } else { Exit::No })
}

fn answer(
    bundle: &Bundle,
    name: &str,
    given: &BTreeMap<String, String>,
) -> Result<PromptExplained, Failure> {
    let (refused, sent) = match bundle.find_prompt(name)? {
        None => (Some(unknown(bundle, name)?), None),
        Some(prompt) => match engine::fill(prompt.rendering(), given) {
            Ok(filled) => (None, Some(Sent::of(&prompt, &filled)?)),
            Err(FillError::Corrupt(error)) => return Err(error.into()),
            Err(error) => (Some(error.to_string()), None),
        },
    };
    Ok(PromptExplained { format_version: FORMAT_VERSION, prompt: name.into(), refused, sent })
}

impl Sent {
    fn of(view: &PromptView<'_>, filled: &Filled<'_>) -> Result<Self, Failure> {
        let messages: Vec<Message> = filled.messages.iter().map(Message::of_filled).collect();
        Ok(Self {
            at: view.at()?.to_string(),
            variant: filled.variant,
            variants: view.rendering().variant_count(),
            when: prompt::when(view.rendering(), filled.variant)?,
            arguments: filled.values.iter().map(InForce::of).collect(),
            size: Size::of(messages.iter().map(Message::bytes).sum()),
            messages,
        })
    }
}

impl InForce {
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
            cut: truncation.map(|engine::Truncation { chars, kept }| Cut { chars, kept }),
        }
    }

    fn render(&self) -> String {
        let value = match (&self.value, self.origin) {
            (Some(value), ValueOrigin::Default) => format!("{value:?} (default)"),
            (Some(value), _) => format!("{value:?}"),
            (None, _) => dim("absent").to_string(),
        };
        let cut = match self.cut {
            Some(Cut { chars, kept }) => format!(", cut from {chars} characters to {kept}"),
            None => String::new(),
        };
        format!("  {} = {value}{cut}\n", printable(&self.name))
    }
}

fn unknown(bundle: &Bundle, name: &str) -> Result<String, Failure> {
    let hint = nearest(bundle, name)?.map(|known| format!("; there is `{known}`"));
    Ok(format!("there is no prompt `{name}`{}", hint.unwrap_or_default()))
}

fn render(answer: &PromptExplained) -> String {
    let name = bold(format!("prompt {}", printable(&answer.prompt)));
    let Some(sent) = &answer.sent else {
        let refused = answer.refused.as_deref().unwrap_or_default();
        return format!("{name}: {} {}\n", bad("refused:"), printable(refused));
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
        text.push_str(&format!("\n{}\n", bold(message.role.word())));
        text.push_str(&indented(&message.shown(), "  | "));
    }
    text
}
