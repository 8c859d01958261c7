//! Prompts of a bundle with all their renderings.

use std::collections::BTreeMap;

use relay_bundle::{ArgumentKind, ArgumentView, Corrupt, PromptView, RenderingView};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::message::{self, Message};

/// A prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Prompt {
    /// The name for `prompts/get`.
    pub(crate) name: String,
    /// The title for people.
    pub(crate) title: Option<String>,
    /// The description in `prompts/list`.
    pub(crate) description: Option<String>,
    /// 1 (reference) to 10 (always sent).
    pub(crate) priority: u8,
    /// Whether briefings may send it.
    pub(crate) briefing: bool,
    /// Its topic, in one line.
    pub(crate) summary: Option<String>,
    /// Its topics.
    pub(crate) chapters: Vec<String>,
    /// Which of these two the compiler generated because the author left them out.
    pub(crate) generated: Vec<Generated>,
    /// Further facts, as they are in `_meta`.
    pub(crate) meta: Option<Value>,
    /// The size in bytes of the text that a briefing sends.
    pub(crate) bytes: usize,
    /// Its arguments.
    pub(crate) arguments: Vec<Argument>,
    /// Its messages, for every combination of the arguments that select a variant.
    pub(crate) variants: Vec<Variant>,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

/// A field that the compiler generates from a prompt's text if its author leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Generated {
    /// The summary.
    Summary,
    /// The chapters.
    Chapters,
}

/// An argument of a prompt or of a resource with variables.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Argument {
    /// The name callers use.
    pub(crate) name: String,
    /// The description.
    pub(crate) description: Option<String>,
    /// Whether every request must give it.
    pub(crate) required: bool,
    /// Its value if a request leaves it out.
    pub(crate) default: Option<String>,
    /// The values that it accepts; absent if it accepts any text.
    pub(crate) one_of: Option<Vec<String>>,
    /// The maximum number of characters of its text; a longer text is truncated and marked.
    pub(crate) chars_max: Option<u32>,
}

/// The messages for one combination of arguments.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Variant {
    /// The arguments that select it, with their values: `null` is absent, `true` is any value.
    pub(crate) when: When,
    /// Its size in bytes, before a call fills in arguments.
    pub(crate) bytes: usize,
    /// Its messages.
    pub(crate) messages: Vec<Message>,
}

impl Prompt {
    /// Reads a prompt of a bundle.
    pub(crate) fn of(view: &PromptView<'_>) -> Result<Self, Corrupt> {
        let rendering = view.rendering();
        let variants = variants(rendering)?;
        let meta = view.meta()?.map(|meta| {
            // The compiler writes JSON; other text is still worth showing.
            serde_json::from_str(meta).unwrap_or_else(|_| Value::String(meta.into()))
        });
        Ok(Self {
            name: view.name()?.into(),
            title: view.title()?.map(Into::into),
            description: view.description()?.map(Into::into),
            priority: view.priority(),
            briefing: view.is_briefed(),
            summary: view.summary()?.map(Into::into),
            chapters: view.chapters()?.into_iter().map(Into::into).collect(),
            generated: Generated::of(view)?,
            meta,
            bytes: view.body_bytes(),
            arguments: rendering.arguments()?.iter().map(Argument::of).collect(),
            variants,
            at: view.at()?.to_string(),
        })
    }
}

impl Generated {
    fn of(view: &PromptView<'_>) -> Result<Vec<Self>, Corrupt> {
        let each = [
            (view.has_generated_summary(), Self::Summary),
            (view.has_generated_chapters()?, Self::Chapters),
        ];
        Ok(each.into_iter().filter(|(made, _)| *made).map(|(_, which)| which).collect())
    }
}

impl Argument {
    /// Reads an argument of a bundle.
    pub(crate) fn of(view: &ArgumentView<'_>) -> Self {
        let (one_of, chars_max) = match &view.kind {
            ArgumentKind::Choice(choices) => {
                (Some(choices.iter().map(|choice| (*choice).into()).collect()), None)
            }
            ArgumentKind::Text { chars_max: 0 } => (None, None),
            ArgumentKind::Text { chars_max } => (None, Some(*chars_max)),
        };
        Self {
            name: view.name.into(),
            description: view.description.map(Into::into),
            required: view.required,
            default: view.default.map(Into::into),
            one_of,
            chars_max,
        }
    }

    /// Returns its short form: `service`, `[environment=staging]`.
    pub(crate) fn short(&self) -> String {
        match (self.required, &self.default) {
            (true, _) => self.name.clone(),
            (false, Some(default)) => format!("[{}={default}]", self.name),
            (false, None) => format!("[{}]", self.name),
        }
    }
}

/// The argument values that select a variant: `null` is absent, `true` is any value.
pub(crate) type When = BTreeMap<String, Value>;

/// Returns the arguments that select a variant, as human output; empty for a single variant.
pub(crate) fn condition(when: &When) -> String {
    let each = when.iter().map(|(name, value)| match value {
        Value::Null => format!("no {name}"),
        Value::String(value) => format!("{name}={value}"),
        _ => format!("{name} given"),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Returns the arguments that select the variant with this number.
pub(crate) fn when(rendering: RenderingView<'_>, number: usize) -> Result<When, Corrupt> {
    let arguments = rendering.arguments()?;
    let steps = steps(&arguments, rendering.variant_count());
    Ok(steps.iter().map(|step| step.value(number)).collect())
}

/// Reads all variants of a rendering.
pub(crate) fn variants(rendering: RenderingView<'_>) -> Result<Vec<Variant>, Corrupt> {
    let arguments = rendering.arguments()?;
    let steps = steps(&arguments, rendering.variant_count());
    (0..rendering.variant_count())
        .map(|number| {
            let views = rendering.messages(number)?;
            Ok(Variant {
                when: steps.iter().map(|step| step.value(number)).collect(),
                bytes: views.iter().map(message::view_bytes).sum(),
                messages: views.iter().map(|view| Message::of_view(view, &arguments)).collect(),
            })
        })
        .collect()
}

/// The contribution of one argument to the number of a variant.
struct Step<'a, 'b> {
    argument: &'a ArgumentView<'b>,
    stride: usize,
    states: usize,
}

/// Returns the arguments that select one of `count` variants: the number of an argument's states is
/// the next larger stride divided by its own.
fn steps<'a, 'b>(arguments: &'a [ArgumentView<'b>], count: usize) -> Vec<Step<'a, 'b>> {
    let mut strides: Vec<usize> =
        arguments.iter().map(|argument| argument.stride as usize).collect();
    strides.push(count);
    strides.sort_unstable();
    let step = |argument: &'a ArgumentView<'b>| {
        let stride = argument.stride as usize;
        let next = strides.iter().copied().find(|other| *other > stride)?;
        (stride > 0).then(|| Step { argument, stride, states: next / stride })
    };
    arguments.iter().filter_map(step).collect()
}

impl Step<'_, '_> {
    fn value(&self, variant: usize) -> (String, Value) {
        let state = (variant / self.stride) % self.states;
        let value = match &self.argument.kind {
            ArgumentKind::Choice(choices) if !self.argument.only_printed => {
                choices.get(state).map_or(Value::Null, |choice| Value::String((*choice).into()))
            }
            _ if state == 0 => Value::Bool(true),
            _ => Value::Null,
        };
        (self.argument.name.into(), value)
    }
}
