//! The tools offered by a bundle -> rows of the table.

use relay_bundle::{Bundle, Tier, Tool};
use thiserror::Error;

use super::spec::ToolSpec;
use super::table;

/// The most characters of the name of an offered tool in messages.
const NAME_CHARS_MAX: usize = 64;

/// A tool offered by a bundle.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Its row of the table.
    pub spec: &'static ToolSpec,
    /// Whether a briefing must precede it.
    pub gated: bool,
    /// The tier that the project gives it.
    pub tier: Tier,
    /// Where the project declares it.
    pub place: String,
}

/// A tool of a bundle is missing in the table.
#[derive(Debug, Error)]
#[error("its tool `{name}` is unknown here: use a newer relay-serve")]
pub struct UnknownTool {
    /// Its name, truncated.
    pub name: String,
}

impl Offered {
    /// Returns the tools that `bundle` offers, in its order.
    ///
    /// # Errors
    ///
    /// An offered tool is missing from the table.
    pub fn all(bundle: &Bundle) -> Result<Vec<Self>, UnknownTool> {
        bundle.tools().iter().map(Self::new).collect()
    }

    fn new(Tool { name, gated, tier, at }: &Tool) -> Result<Self, UnknownTool> {
        let unknown = || UnknownTool { name: name.chars().take(NAME_CHARS_MAX).collect() };
        Ok(Self {
            spec: table::find(name).ok_or_else(unknown)?,
            gated: *gated,
            tier: *tier,
            place: at.to_string(),
        })
    }
}
