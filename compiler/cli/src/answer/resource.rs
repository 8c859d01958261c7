//! Resources of a bundle: with a fixed URI, and with variables in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::{Content, Corrupt, Digest, ResourceView, TemplateView};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::prompt::{self, Argument, Variant};

/// A resource with a fixed URI.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Resource {
    /// Its URI.
    pub(crate) uri: String,
    /// Its name.
    pub(crate) name: String,
    /// Its title for people.
    pub(crate) title: Option<String>,
    /// Its description.
    pub(crate) description: Option<String>,
    /// Its media type.
    pub(crate) mime: String,
    /// The size of its content in bytes.
    pub(crate) bytes: u32,
    /// The SHA-256 of its content.
    pub(crate) digest: String,
    /// Its content, if that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Its content in base64, for binary content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<String>,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

/// A resource whose URI has variables.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Template {
    /// The URI template.
    pub(crate) uri_template: String,
    /// Its name.
    pub(crate) name: String,
    /// Its title for people.
    pub(crate) title: Option<String>,
    /// Its description.
    pub(crate) description: Option<String>,
    /// Its media type.
    pub(crate) mime: String,
    /// Its variables.
    pub(crate) arguments: Vec<Argument>,
    /// Its content, for every combination of the variables that select a variant.
    pub(crate) variants: Vec<Variant>,
    /// Where it was declared: `file:line`.
    pub(crate) at: String,
}

impl Resource {
    /// Reads a resource of a bundle.
    pub(crate) fn of(view: &ResourceView<'_>) -> Result<Self, Corrupt> {
        let (digest, text, blob) = match view.content()? {
            Content::Text(text) => (Digest::of(text.as_bytes()), Some(text.into()), None),
            Content::Blob(bytes) => (Digest::of(bytes), None, Some(STANDARD.encode(bytes))),
        };
        Ok(Self {
            uri: view.uri()?.into(),
            name: view.name()?.into(),
            title: view.title()?.map(Into::into),
            description: view.description()?.map(Into::into),
            mime: view.mime()?.into(),
            bytes: view.size(),
            digest: digest.to_string(),
            text,
            blob,
            at: view.at()?.to_string(),
        })
    }
}

impl Template {
    /// Reads a URI template of a bundle.
    pub(crate) fn of(view: &TemplateView<'_>) -> Result<Self, Corrupt> {
        let rendering = view.rendering();
        Ok(Self {
            uri_template: view.uri_template()?.into(),
            name: view.name()?.into(),
            title: view.title()?.map(Into::into),
            description: view.description()?.map(Into::into),
            mime: view.mime()?.into(),
            arguments: rendering.arguments()?.iter().map(Argument::of).collect(),
            variants: prompt::variants(rendering)?,
            at: view.at()?.to_string(),
        })
    }
}
