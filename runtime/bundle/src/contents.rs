//! What a bundle holds, as owned values: the last form of a project before it becomes bytes.
//!
//! Order matters: [`encode`](crate::encode()) writes lists as they stand here, and a reader
//! answers in the same order. Everything must therefore be sorted by whoever fills this in.

use std::sync::Arc;

/// All that one bundle holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Who and what the bundle is.
    pub manifest: Manifest,
    /// The prompts, sorted by name (code points), names unique.
    pub prompts: Vec<Prompt>,
    /// The resources with a fixed URI, sorted by URI, URIs unique.
    pub resources: Vec<Resource>,
    /// The resources whose URI has variables, sorted by URI template.
    pub templates: Vec<ResourceTemplate>,
    /// How sessions are gated; absent if they are not.
    pub gate: Option<Gate>,
    /// The tools, in the order of the list, names unique.
    pub tools: Vec<Tool>,
    /// Prebuilt pages of `tools/list`.
    pub tool_pages: Vec<Page>,
    /// Prebuilt pages of `prompts/list`.
    pub prompt_pages: Vec<Page>,
    /// Prebuilt pages of `resources/list`.
    pub resource_pages: Vec<Page>,
    /// Prebuilt pages of `resources/templates/list`.
    pub template_pages: Vec<Page>,
    /// The effective project as canonical KDL, every default written out.
    pub canonical: String,
    /// The build's provenance as JSON: compiler, source digests and what was asked for.
    pub provenance: String,
}

/// Who and what a bundle is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The project's name.
    pub project: String,
    /// The project's version, as its author wrote it.
    pub version: Option<String>,
    /// The project's title for people.
    pub title: Option<String>,
    /// Who answers for the project.
    pub owner: Option<String>,
    /// The environment that `--env` chose.
    pub environment: Option<String>,
    /// The version of the compiler that wrote the bundle.
    pub compiler: String,
    /// A number that only rises from release to release; servers refuse to go back.
    pub epoch: u64,
    /// The instructions that a client gets when it connects, ready to send.
    pub instructions: String,
    /// The names of the prompts that the instructions list, in their order.
    pub index: Vec<String>,
}

/// One prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The name that `prompts/get` takes.
    pub name: String,
    /// The title for people.
    pub title: Option<String>,
    /// The description that lists show.
    pub description: Option<String>,
    /// What the prompt is about, in one line; tags are searched in it.
    pub summary: Option<String>,
    /// The topics of the prompt; tags are searched in them.
    pub chapters: Vec<String>,
    /// Which of the two its author did not write.
    pub generated: Generated,
    /// 1 (reference) to 10 (always sent).
    pub priority: u8,
    /// A JSON object of further facts for the prompt's `_meta`.
    pub meta: Option<String>,
    /// The text that a briefing sends; `None` if it is the one literal of the one variant.
    pub body: Option<String>,
    /// Its arguments and its text for each combination of them.
    pub rendering: Rendering,
    /// Where the prompt was declared.
    pub at: Place,
}

/// What the compiler made of a prompt's text because its author did not write it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Generated {
    /// The summary.
    pub summary: bool,
    /// The chapters.
    pub chapters: bool,
}

/// Arguments, and the messages for every combination of the finite ones.
///
/// The variant for a call is `sum(state(argument) * stride)`, where the state of a choice is its
/// index (one past the last choice if the argument is absent), and that of a free text is 0 if it
/// is present and 1 if it is absent. Arguments that no text depends on have stride 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendering {
    /// The arguments in the order in which they were declared.
    pub arguments: Vec<Argument>,
    /// The variants: the messages of each.
    pub variants: Vec<Vec<Message>>,
}

/// One argument of a prompt or of a URI template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The name callers use.
    pub name: String,
    /// What the argument means, for people and models.
    pub description: Option<String>,
    /// Whether a call without it is refused.
    pub required: bool,
    /// The value of a call without it.
    pub default: Option<String>,
    /// Which values it takes.
    pub kind: ArgumentKind,
    /// The weight of its state in the variant's number; see [`Rendering`].
    pub stride: u32,
}

/// Which values an argument takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentKind {
    /// One of these values.
    Choice(Vec<String>),
    /// Any text.
    Text {
        /// Beyond this many characters the text is cut and the cut is told; 0 means no limit of
        /// its own.
        chars_max: u32,
    },
}

/// One message of a rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it says.
    pub parts: Vec<Part>,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(Vec<Segment>),
    /// A picture.
    Image {
        /// Its media type.
        mime: String,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// A sound.
    Audio {
        /// Its media type.
        mime: String,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// A resource that travels inside the message.
    Resource {
        /// Its URI, which may hold slots.
        uri: Vec<Segment>,
        /// Its media type.
        mime: Option<String>,
        /// What it holds.
        content: Content,
    },
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, perhaps with slots.
    Text(Vec<Segment>),
    /// Any bytes.
    Blob(Arc<[u8]>),
}

/// A piece of rendered text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Text as it is.
    Literal(String),
    /// The value of the argument with this index.
    Slot(u32),
}

/// How sessions are gated: what a client gets that begins one, and what one gets that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// What happens to a gated call without a briefing.
    pub unlock: Unlock,
    /// Whether clients with a session see no tool but `begin_session` until they called it.
    pub hide_tools: bool,
    /// How many tags are asked for in words.
    pub tags_ask: u32,
    /// How many tags are accepted.
    pub tags_max: u32,
    /// Bytes of bodies in one briefing; prompts of priority 10 come whatever it is.
    pub budget_bytes: u32,
    /// The same, where a client without a session gets a briefing with each call.
    pub repeat_bytes: u32,
    /// Bytes of the index entries and names in one answer.
    pub remaining_bytes: u32,
    /// Characters of one entry of an index.
    pub entry_chars: u32,
    /// What follows a briefing.
    pub encouragement: Vec<MessagePiece>,
    /// What follows the prompts that `read_prompts` gives.
    pub reminder: Vec<MessagePiece>,
    /// What precedes a briefing that nobody asked for.
    pub preamble: Vec<MessagePiece>,
    /// Where the gate was declared.
    pub at: Place,
}

/// What happens to a gated call without a briefing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlock {
    /// It runs, and a briefing is put before its result.
    Intercept,
    /// It is refused with the way to a briefing.
    Refuse,
}

/// A piece of a message that is completed when it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePiece {
    /// Text as it is.
    Literal(String),
    /// The prompts that are sent in full.
    Matched,
    /// The index entries and names of the others.
    Remaining,
}

/// One tool. What clients see of it stands in the pages of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name that `tools/call` takes.
    pub name: String,
    /// Whether a briefing must precede it.
    pub gated: bool,
    /// Its tier, 0 (reads) to 3 (cannot be undone).
    pub tier: u8,
    /// Where the tool was declared.
    pub at: Place,
}

/// A resource with a fixed URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its title for people.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// What it holds; text without slots, or bytes.
    pub content: Content,
    /// Where it was declared.
    pub at: Place,
}

/// A resource whose URI has variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The URI template (RFC 6570, level 1).
    pub uri_template: String,
    /// The same, taken apart.
    pub pieces: Vec<UriPiece>,
    /// Its name.
    pub name: String,
    /// Its title for people.
    pub title: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its media type.
    pub mime: Option<String>,
    /// Its arguments and texts: each variant is one message of one text part.
    pub rendering: Rendering,
    /// Where it was declared.
    pub at: Place,
}

/// A piece of a URI template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UriPiece {
    /// Text as it is.
    Literal(String),
    /// The variable that fills the argument with this index.
    Variable(u32),
}

/// A prebuilt page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The index of its first entry.
    pub first: u32,
    /// How many entries it has.
    pub count: u32,
    /// The entries as the JSON array that MCP sends.
    pub json: String,
}

/// A place in the project's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the project's folder.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}
