//! The texts of the server's own answers: the author's or the built-in ones.

use miette::Diagnostic;
use thiserror::Error;

use super::file;
use crate::ast::{MessageName, SystemMessage};
use crate::diagnostic::Diagnostics;
use crate::model::{Gate, SystemText, SystemTexts};
use crate::source::{Sources, Span};

/// The greeting of ungated projects.
const GREETING: &str = "This server provides the reviewed and signed prompts and resources of \
{{project_name}}. Before you work on a topic that one of them covers, read it first: it may hold a \
rule that you cannot know otherwise.

Prompts:
{{prompt_index}}";

/// The greeting of projects with a gate, whose own text has the instructions and lists the prompts.
const GATED_GREETING: &str = "This server provides the reviewed and signed rules and knowledge of \
{{project_name}}. Some of these rules cannot be guessed.";

/// The built-in text after a briefing.
const ENCOURAGEMENT: &str = "More is on file for {{project_name}}:
{{remaining_prompts}}

If one of these concerns your task, now or later, call `read_prompts` with keywords for it before \
you act.";

/// The built-in text after the prompts that `read_prompts` returns.
const REMINDER: &str = "Not read yet:
{{remaining_prompts}}

When your task turns to something new, call `read_prompts` again with keywords for it.";

/// Resolves all messages; a missing or faulty one gets its built-in text, which for the tools is
/// `guidance`.
pub(super) fn messages(
    sources: &Sources<'_>,
    written: Vec<SystemMessage>,
    gate: &Gate,
    guidance: &str,
    out: &mut Diagnostics,
) -> SystemTexts {
    let mut written = Written(written);
    let mut message = |name: MessageName| {
        let written = written.take(name, out).and_then(|message| text(sources, message, out));
        written.unwrap_or_else(|| SystemText {
            name,
            text: built_in(name, gate, guidance),
            at: None,
            file: None,
        })
    };
    SystemTexts {
        session_greeting: message(MessageName::SessionGreeting),
        tool_guidance: message(MessageName::ToolGuidance),
        gate_instructions: message(MessageName::GateInstructions),
        gate_encouragement: message(MessageName::GateEncouragement),
        read_prompts_reminder: message(MessageName::ReadPromptsReminder),
        gate_intercept_preamble: message(MessageName::GateInterceptPreamble),
    }
}

fn built_in(name: MessageName, gate: &Gate, guidance: &str) -> String {
    let keywords = match gate.tags_ask.value {
        1 => "1 keyword".to_owned(),
        number => format!("{number} keywords"),
    };
    match name {
        MessageName::SessionGreeting if gate.on.value => GATED_GREETING.into(),
        MessageName::SessionGreeting => GREETING.into(),
        MessageName::ToolGuidance => guidance.into(),
        MessageName::GateInstructions => format!(
            "Call `begin_session` first, with {keywords} for your task: systems, files, actions. \
It returns the prompts that always apply, those that match your keywords, and a list of the rest. \
Whenever your task turns to something new, call `read_prompts` with keywords for it.

Prompts:
{{{{prompt_index}}}}"
        ),
        MessageName::GateEncouragement => ENCOURAGEMENT.into(),
        MessageName::ReadPromptsReminder => REMINDER.into(),
        MessageName::GateInterceptPreamble => format!(
            "Your call ran; its result is at the end. You have had no briefing yet, so prompts of \
{{{{project_name}}}} that match the words of the call come before it. Call `begin_session` with \
{keywords} for your task to get those that match the task."
        ),
    }
}

struct Written(Vec<SystemMessage>);

impl Written {
    /// Takes the message of a name; reports the others of that name.
    fn take(&mut self, name: MessageName, out: &mut Diagnostics) -> Option<SystemMessage> {
        let mut named = self.0.extract_if(.., |message| message.name.value == name);
        let first = named.next()?;
        for again in named {
            let (first_at, at) = (first.name.at, again.name.at);
            out.report(at, Duplicate { name: name.word(), first_at, at });
        }
        Some(first)
    }
}

/// Returns the text of a message; `None` if it is missing, which is reported.
fn text(
    sources: &Sources<'_>,
    message: SystemMessage,
    out: &mut Diagnostics,
) -> Option<SystemText> {
    let name = message.name.value;
    let (text, at, file) = match (message.body.text, message.body.file) {
        (Some(text), Some(file)) => {
            out.report(file.at, TwoTexts { first_at: text.at, at: file.at });
            return None;
        }
        (Some(text), None) => (text.value, text.at, None),
        (None, Some(path)) => {
            let (id, read) = file::read_text(sources, &path, out)?;
            let text = read.text().map(file::normalized).unwrap_or_default();
            (text.trim_end().to_owned(), path.at, Some(id))
        }
        (None, None) => {
            let at = message.name.at;
            if !message.body.broken {
                out.report(at, NoText { name: name.word(), at });
            }
            return None;
        }
    };
    if text.trim().is_empty() && !name.may_be_empty() {
        out.report(at, NoText { name: name.word(), at });
        return None;
    }
    Some(SystemText { name, text, at: Some(at), file })
}

/// The server sends one text for each message, so one of the two would be lost.
#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` is written twice")]
#[diagnostic(code(message::duplicate), help("keep one of them"))]
struct Duplicate {
    name: &'static str,
    #[label("first here")]
    first_at: Span,
    #[label(primary, "again here")]
    at: Span,
}

/// A message is one text, so the choice between the two would be unclear.
#[derive(Debug, Error, Diagnostic)]
#[error("the message has both a text and a file")]
#[diagnostic(code(message::two_texts), help("keep one of them"))]
struct TwoTexts {
    #[label("the text")]
    first_at: Span,
    #[label(primary, "the file")]
    at: Span,
}

/// A node `messages` replaces built-in texts. Agents need each of them, so all of them must stay.
#[derive(Debug, Error, Diagnostic)]
#[error("message `{name}` has no text")]
#[diagnostic(
    code(message::no_text),
    help(
        "write the text after the name, or `file=\"…\"`; a message can be changed, never removed"
    )
)]
struct NoText {
    name: &'static str,
    #[label(primary, "says nothing")]
    at: Span,
}
