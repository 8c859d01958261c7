//! What a bundle offers -> the tools of the table.

use relay_bundle::{Bundle, Corrupt, ToolView};
use thiserror::Error;

use super::spec::ToolSpec;
use super::table;

/// Names of tools that a bundle offers are printed up to this many characters.
const NAME_CHARS_MAX: usize = 64;

/// A tool that a bundle offers.
#[derive(Debug, Clone)]
pub struct Offered {
    /// What it is.
    pub spec: &'static ToolSpec,
    /// Whether a briefing must precede it.
    pub gated: bool,
    /// The tier that the project gives it.
    pub tier: u8,
    /// Where the project declares it.
    pub place: String,
}

/// Why the tools of a bundle cannot be offered.
#[derive(Debug, Error)]
pub enum UnknownTool {
    /// A tool is not in the table.
    #[error("its tool `{0}` is unknown here: use a newer relay-serve")]
    Name(String),
    /// The bundle is not what was signed.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

impl Offered {
    /// Returns what `bundle` offers, in its order.
    ///
    /// # Errors
    ///
    /// The bundle offers a tool that is not in the table.
    pub fn all(bundle: &Bundle) -> Result<Vec<Self>, UnknownTool> {
        bundle.tools().map(|view| Self::new(&view?)).collect()
    }

    fn new(view: &ToolView<'_>) -> Result<Self, UnknownTool> {
        let unknown = || UnknownTool::Name(view.name.chars().take(NAME_CHARS_MAX).collect());
        Ok(Self {
            spec: table::find(view.name).ok_or_else(unknown)?,
            gated: view.gated,
            tier: view.tier,
            place: view.place.to_string(),
        })
    }
}
