//! The server's own messages.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// The name of the message that is for callers with certain tools: [`Messages::guided_tools`].
pub const TOOL_GUIDANCE: &str = "tool-guidance";

/// The texts of the server's own messages; a message that is never sent is empty.
///
/// Variables whose values are known when the bundle is built are filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Messages {
    /// The text for a client that connects.
    pub session_greeting: Setting<Vec<MessagePiece>>,
    /// How to use some of the tools; it follows the greeting, for callers who see all of them.
    pub tool_guidance: Setting<Vec<MessagePiece>>,
    /// The names of the tools that the guidance is about.
    pub guided_tools: Vec<String>,
    /// The instructions for the gate; they come last.
    pub gate_instructions: Setting<Vec<MessagePiece>>,
    /// The text after a briefing.
    pub gate_encouragement: Setting<Vec<MessagePiece>>,
    /// The text after the prompts that `read_prompts` returns.
    pub read_prompts_reminder: Setting<Vec<MessagePiece>>,
    /// The text before a briefing that the server sends unasked.
    pub gate_intercept_preamble: Setting<Vec<MessagePiece>>,
    /// The names of the prompts that the instructions list, in their order; empty if each audience
    /// has its own.
    pub prompt_index: Vec<String>,
}

/// A piece of a message that is completed when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MessagePiece {
    /// Text as it is.
    #[serde(rename = "text")]
    Literal(String),
    /// The prompts that are sent in full.
    #[serde(rename = "matched_prompts")]
    Matched,
    /// The index of prompts, where each audience has its own.
    #[serde(rename = "prompt_index")]
    Index,
    /// The index entries and names of the other prompts.
    #[serde(rename = "remaining_prompts")]
    Remaining,
}

impl Messages {
    /// Returns all messages, each with its name in the language.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &Setting<Vec<MessagePiece>>); 6] {
        let Self {
            session_greeting,
            tool_guidance,
            guided_tools: _,
            gate_instructions,
            gate_encouragement,
            read_prompts_reminder,
            gate_intercept_preamble,
            prompt_index: _,
        } = self;
        [
            ("session-greeting", session_greeting),
            (TOOL_GUIDANCE, tool_guidance),
            ("gate-instructions", gate_instructions),
            ("gate-encouragement", gate_encouragement),
            ("read-prompts-reminder", read_prompts_reminder),
            ("gate-intercept-preamble", gate_intercept_preamble),
        ]
    }

    /// Returns the instructions for a connecting client: the greeting, how to use the tools (for a
    /// client that is `guided`) and the instructions for the gate, with blank lines between them.
    /// `index` is the index of an audience; without audiences it is part of the texts.
    #[must_use]
    pub fn instructions(&self, index: &str, guided: bool) -> String {
        let guidance = Some(&self.tool_guidance).filter(|_| guided);
        let said = [Some(&self.session_greeting), guidance, Some(&self.gate_instructions)];
        let texts = said.into_iter().flatten();
        let texts = texts.map(|message| MessagePiece::with_index(&message.value, index));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl MessagePiece {
    /// Returns a message as written by its author, but with an index in place of its variable.
    fn with_index(pieces: &[Self], index: &str) -> String {
        let texts = pieces.iter().map(|piece| match piece {
            Self::Index => index,
            piece => piece.written(),
        });
        texts.collect()
    }

    /// Returns a piece as written by the author.
    fn written(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Index => "{{prompt_index}}",
            Self::Matched => "{{matched_prompts}}",
            Self::Remaining => "{{remaining_prompts}}",
        }
    }

    /// Returns a message as written by its author, with variables for inserted prompts.
    #[must_use]
    pub fn source(pieces: &[Self]) -> String {
        pieces.iter().map(Self::written).collect()
    }
}
