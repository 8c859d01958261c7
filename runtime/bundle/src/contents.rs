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
    /// 1 (reference) to 10 (always sent).
    pub priority: u8,
    /// A JSON object of further facts for the prompt's `_meta`.
    pub meta: Option<String>,
    /// Its arguments and its text for each combination of them.
    pub rendering: Rendering,
    /// Where the prompt was declared.
    pub at: Place,
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
