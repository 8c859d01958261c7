//! The skills that match, and the text that they make.

use relay_bundle::{Bundle, Corrupt};

/// A skill that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matched {
    /// Its number in the order of the cascade.
    pub skill: u32,
    /// The number of the skill of the same topic that wins over it.
    pub overridden_by: Option<u32>,
}

/// The skills of a call, in the order of their texts.
#[derive(Clone)]
pub struct Resolution<'b> {
    pub(super) bundle: &'b Bundle,
    /// The skills that match, in the order of the cascade.
    pub matched: Vec<Matched>,
}

impl Resolution<'_> {
    /// Returns the text that a call is given: the texts of the skills that match and win, in the
    /// order of the cascade, one line feed between. White space at the end of a text is dropped, and
    /// an empty text adds nothing.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed.
    pub fn text(&self) -> Result<String, Corrupt> {
        let mut resolved = String::new();
        for Matched { skill, overridden_by } in &self.matched {
            if overridden_by.is_some() {
                continue;
            }
            let text = self.bundle.skill(*skill as usize)?.text()?.trim_end();
            if text.is_empty() {
                continue;
            }
            if !resolved.is_empty() {
                resolved.push('\n');
            }
            resolved.push_str(text);
        }
        Ok(resolved)
    }
}
