//! The matching skills, and their text.

use relay_bundle::{Bundle, Corrupt};

/// A matching skill.
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
    /// The matching skills, in the order of the cascade.
    pub matched: Vec<Matched>,
}

impl Resolution<'_> {
    /// Returns the text for a call: the texts of the winning skills in the order of the cascade,
    /// separated by one line feed. White space at the end of a text is dropped, and an empty text
    /// adds nothing.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
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
