//! The part of a bundle for reviewers, which answers ignore: disabled names, suppressions, the
//! settings of the index of prompts, the reasons of facts, and the claims proved by the build.
//!
//! Only reviewers read it, so a reader may ignore the section.

use serde::{Deserialize, Serialize};

use crate::bundle::Bundle;
use crate::error::Corrupt;
use crate::part::Part;
use crate::place::Place;
use crate::section::Kind;
use crate::setting::Setting;
use crate::writer::Writer;

/// Statements of a project for reviewers, invisible in answers of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// The names of the prompts with `enabled=#false`, sorted.
    pub switched_off: Vec<Setting<String>>,
    /// The skills with `enabled=#false`, in the order of the cascade: block and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switched_off_skills: Vec<Setting<String>>,
    /// All `allow-secret`, `allow-invisible` and `allow-mark`, in the order of their places.
    pub suppressions: Vec<Suppression>,
    /// All `because` of facts, in the order of their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The settings of the index of prompts, if sessions are gated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexSettings>,
    /// All `expect`, in the order of the text: the build proved them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Expectation>,
}

/// An `expect`: a claim about the answers to callers, proved by every build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The question: `visible role=reader`.
    pub question: String,
    /// The claims: `not-tool audit_tail`.
    pub claims: Vec<String>,
    /// Its place in the project.
    pub at: Place,
}

/// The settings of the index of prompts. A server sends the finished index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// The most prompts in the index.
    pub cap: u32,
    /// The lowest priority in the index if there are more prompts than `cap`.
    pub over_cap_priority: u8,
    /// The most characters of an entry.
    pub entry_chars: u32,
    /// The most characters of the instructions.
    pub instructions_chars: u32,
}

/// A `because`: the reason why something lowers the tier of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The kind of its subject: `floor`, `program` or `variable`.
    pub kind: String,
    /// The name of its subject.
    pub name: String,
    /// The row of a program, in words; empty for the whole program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// The reason from its author.
    pub because: String,
    /// Its place in the project.
    pub at: Place,
}

/// The search that a suppression limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suppressed {
    /// `allow-secret`: a text only looks like a secret.
    #[default]
    Secret,
    /// `allow-invisible`: a text needs invisible characters.
    Invisible,
    /// `allow-mark`: agents get the marks of other programs as text.
    Mark,
}

/// An `allow-secret`, `allow-invisible` or `allow-mark`: texts that pass despite a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// The search.
    #[serde(default, skip_serializing_if = "is_secret")]
    pub of: Suppressed,
    /// The suppressed rule.
    pub rule: String,
    /// The reason from its author.
    pub because: String,
    /// The prompts without this rule, sorted.
    pub prompts: Vec<String>,
    /// The URIs and URI templates of the resources without this rule, sorted.
    pub resources: Vec<String>,
    /// The skills without this rule, block and name, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Its place in the project.
    pub at: Place,
}

impl Suppressed {
    /// Returns the name of its node.
    #[must_use]
    pub const fn node(self) -> &'static str {
        match self {
            Self::Secret => "allow-secret",
            Self::Invisible => "allow-invisible",
            Self::Mark => "allow-mark",
        }
    }
}

/// Returns whether a suppression has the default search, which its JSON omits: most are of secrets.
fn is_secret(of: &Suppressed) -> bool {
    *of == Suppressed::Secret
}

impl Review {
    /// Returns whether all lists are empty.
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
    /// Returns the data for reviewers; empty if the section is absent.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt, or the section is malformed.
    pub fn review(&self) -> Result<Review, Corrupt> {
        let text = self.reader.whole_text(Kind::Review)?;
        if text.is_empty() {
            return Ok(Review::default());
        }
        let section = Kind::Review.name();
        serde_json::from_str(text).map_err(|_| Corrupt::Record { section, what: "field" })
    }
}

/// An empty review is left out of the file.
impl Part for Review {
    fn read(bundle: &Bundle, _: Kind) -> Result<Self, Corrupt> {
        bundle.review()
    }

    fn write(&self, kind: Kind, out: &mut Writer<'_>) -> Result<(), serde_json::Error> {
        if self.is_empty() { Ok(()) } else { out.settings(kind, self) }
    }
}
