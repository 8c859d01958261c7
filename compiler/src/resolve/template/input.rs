//! The texts of a prompt before they are rendered, and the arguments as they see them.

use relay_bundle::SharedText;

use super::source::TextPlace;
use crate::source::{FileId, Span};

/// A template.
pub(crate) struct TemplateText<'a> {
    /// The text as its author wrote it.
    pub(crate) text: &'a str,
    /// The place of the text.
    pub(crate) at: TextPlace,
}

/// The templates of one prompt.
pub(crate) struct Templates<'t> {
    pub(crate) texts: &'t [TemplateText<'t>],
    pub(crate) arguments: &'t [TemplateArgument<'t>],
    /// The place of the prompt's name, for errors of the templates as a whole.
    pub(crate) at: Span,
}

/// An argument as templates see it: by its name with `_` for `-`.
#[derive(Clone, Copy)]
pub(crate) struct TemplateArgument<'a> {
    /// The name callers use.
    pub(crate) name: &'a str,
    /// The values that it takes.
    pub(crate) kind: TemplateArgumentKind<'a>,
    /// Whether every call must give it.
    pub(crate) required: bool,
    /// The value of a call that leaves it out.
    pub(crate) default: Option<&'a str>,
    /// The place of its name.
    pub(crate) at: Span,
}

/// The values of an argument.
#[derive(Clone, Copy)]
pub(crate) enum TemplateArgumentKind<'a> {
    /// One of these.
    Choice(&'a [String]),
    /// A truth value in templates, the choices `true` and `false` for callers.
    Boolean,
    /// Any text.
    Text,
}

impl TemplateArgument<'_> {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, TemplateArgumentKind::Text)
    }

    pub(super) fn may_be_absent(&self) -> bool {
        !self.required && self.default.is_none()
    }
}

/// Finds a text file by its path from the folder of another file.
pub(crate) type Include<'i> = dyn Fn(FileId, &str) -> Option<(FileId, SharedText)> + 'i;
