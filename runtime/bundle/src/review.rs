//! The part of a bundle that is for reviewers and decides no answer: names that are switched off,
//! suppressions, the settings that the index of prompts was made with, the reasons of facts, and what
//! the build proved.
//!
//! A server never reads it, so a reader may ignore the section.

use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::section::Kind;
use crate::setting::Setting;
use crate::writer::Writer;

/// Statements of a project that no answer of a server shows, for reviewers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The names of the prompts with `enabled=#false`, sorted.
    pub switched_off: Vec<Setting<String>>,
    /// The skills with `enabled=#false`, in the order of the cascade: block and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off_skills: Vec<Setting<String>>,
    /// Each `allow-secret` and `allow-invisible`, in the order of the places.
    pub suppressions: Vec<Suppression>,
    /// Each `because` of facts, in the order of the places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The settings that the index of prompts was made with; absent if sessions are not gated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexSettings>,
    /// Each `expect`, in the order of the text: the build proved them all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
}

/// An `expect`: what callers get, and every build proves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The question: `visible role=reader`.
    pub question: String,
    /// The claims: `not-tool audit_tail`.
    pub claims: Vec<String>,
    /// Where it is written.
    pub at: Place,
}

/// The settings that the index of prompts was made with. A server sends what was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// The most prompts that it lists.
    pub cap: u32,
    /// The lowest priority that it lists if there are more.
    pub over_cap_priority: u8,
    /// The most characters of an entry.
    pub entry_chars: u32,
    /// The most characters of the instructions.
    pub instructions_chars: u32,
}

/// A `because`: why something lowers what commands are judged to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The kind of thing that it is for: `floor`, `program` or `variable`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The row of a program, in words; empty for all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The reason that its author gave.
    pub because: String,
    /// Where it is written.
    pub at: Place,
}

/// The search that a suppression is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suppressed {
    /// `allow-secret`: a text that looks like a secret is trusted to be none.
    #[default]
    Secret,
    /// `allow-invisible`: a text needs characters that people do not see.
    Invisible,
}

/// An `allow-secret` or `allow-invisible`: texts that pass in spite of what they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// The search.
    #[serde(default, skip_serializing_if = "is_secret")]
    pub of: Suppressed,
    /// The rule that does not apply.
    pub rule: String,
    /// The reason that its author gave.
    pub because: String,
    /// The prompts in which it does not apply, sorted.
    pub prompts: Vec<String>,
    /// The URIs and URI templates of the resources in which it does not apply, sorted.
    pub resources: Vec<String>,
    /// The skills in which it does not apply, block and name, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Where it is written.
    pub at: Place,
}

/// Most suppressions are of secrets: bundles say so by leaving it out.
fn is_secret(of: &Suppressed) -> bool {
    *of == Suppressed::Secret
}

impl Review {
    /// Returns whether there is nothing to review.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { switched_off, switched_off_skills, suppressions, reasons, index, expectations } =
            self;
        let lists = [switched_off.is_empty(), switched_off_skills.is_empty()];
        lists.into_iter().all(|is_empty| is_empty)
            && suppressions.is_empty()
            && reasons.is_empty()
            && index.is_none()
            && expectations.is_empty()
    }
}

impl Bundle {
    /// Returns what reviewers must see beside the answers; empty if the bundle does not say.
    ///
    /// # Errors
    ///
    /// The bundle is not what was signed, or the section is malformed.
    pub fn review(&self) -> Result<Review, Corrupt> {
        let text = self.reader.whole_text(Kind::Review)?;
        if text.is_empty() {
            return Ok(Review::default());
        }
        let section = Kind::Review.name();
        serde_json::from_str(text).map_err(|_| Corrupt::Record { section, what: "field" })
    }
}

/// If there is nothing to review, there is no section.
impl Part for Review {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.review()
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        if self.is_empty() { Ok(()) } else { out.settings(kind, self) }
    }
}
