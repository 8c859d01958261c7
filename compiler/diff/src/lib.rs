//! Compares two bundles: the effects of a change on the texts and the authority of agents.
//!
//! Findings are about meaning. Comments, layout, order and places are ignored here, and
//! consequences of a change (a line of an index, a page of a list, a summary) are reported under
//! their cause. No I/O, no clock, no randomness; the same bundles give the same findings.

#![forbid(unsafe_code)]

mod access;
mod agent_skill;
mod argument;
mod audience;
mod briefing;
mod callers;
mod calls;
mod candidates;
mod decided;
mod direction;
mod edits;
mod expectation;
pub mod facts;
mod finding;
mod flip;
mod gate;
mod host;
mod in_force;
mod index;
mod join;
mod known_facts;
mod manifest;
mod messages;
mod pairs;
mod policy;
mod prompt;
mod reasons;
mod rename;
mod rendering;
mod resource;
mod resource_template;
mod reversal;
mod review;
mod role;
mod rules;
mod scope;
mod server;
mod shown;
mod signer;
mod skill;
mod tables;
mod text;
mod tool;
mod tool_settings;
mod trust;
mod user;
mod witness;

use relay_bundle::{Bundle, Contents, Corrupt, OpenError, encode};

pub use direction::Direction;
pub use edits::{edit_groups, edits, lines};
pub use finding::{
    Area, Called, Change, Claim, Finding, Instructed, Kind, Lost, Places, Subject, TOKEN_BYTES,
};
pub use flip::{Decided, Flip};
pub use rules::selectors;
pub use scope::scope_name;
pub use server::{ServerSettings, compare_server};
pub use signer::{Signers, compare_signers};
pub use similar::DiffOp;
pub use tables::{compare_derived, named};
pub use text::{Hunk, Piece, PieceKind};
pub use trust::compare_trust;
pub use witness::Witness;

use crate::finding::Findings;
use crate::known_facts::KnownFacts;
use crate::pairs::Pairs;
use crate::review::SwitchedOff;
use crate::shown::Shown;

/// Compares the bundles of two sides in one environment after the other.
#[derive(Default)]
pub struct Comparer {
    facts: KnownFacts,
}

/// Compares the contents of two bundles, as [`Comparer::compare`].
///
/// # Errors
///
/// A bundle is damaged.
pub fn compare(a: &Bundle, b: &Bundle) -> Result<Vec<Finding>, Corrupt> {
    Comparer::default().compare(a, b)
}

impl Comparer {
    /// Compares the contents of two bundles: the findings, the most dangerous first. They are those of a new
    /// comparer, which would read all facts again.
    ///
    /// Parts of a bundle that contradict its contents are left out: for a bundle from an untrusted
    /// build, ask [`compare_derived`] about them too.
    ///
    /// # Errors
    ///
    /// A bundle is damaged.
    pub fn compare(&mut self, a: &Bundle, b: &Bundle) -> Result<Vec<Finding>, Corrupt> {
        let mut out = Findings::default();
        let (review_a, review_b) = (a.review()?, b.review()?);
        if says_the_same(a, b) && review_a == review_b {
            return Ok(Vec::new());
        }
        manifest::compare(a, b, &mut out);
        gate::compare(a.gate(), b.gate(), &mut out);
        self.facts.read([a, b])?;
        let shown = Shown::of([a, b], &self.facts)?;
        policy::compare(&shown, [&review_a, &review_b], &mut out)?;
        access::compare(&shown, &mut out)?;
        let moved = user::compare(&shown, &mut out)?;
        tool::compare(a, b, &mut out);
        tool_settings::compare(a, b, &mut out);
        host::compare(a, b, &mut out);
        review::compare(&review_a, &review_b, &mut out);
        review::compare_skills(&review_a, &review_b, &mut out);
        expectation::compare(&review_a, &review_b, &mut out);
        let switched_off = SwitchedOff::of(&review_a, &review_b);
        switched_off.compare(a, b, &mut out)?;
        messages::compare(a, b, &mut out)?;
        prompt::compare_all(a, b, &switched_off, &mut out)?;
        agent_skill::compare_all(a, b, &mut out)?;
        resource::compare_all(a, b, &mut out)?;
        resource_template::compare_all(a, b, &mut out)?;
        skill::compare_all(a, b, &mut out)?;
        calls::compare(a, b, &mut out)?;
        calls::compare_moved(a, b, &moved, &mut out)?;
        // Last, since audiences leave out the consequences of earlier findings, and the index and
        // briefings name the changed prompts that were found.
        let pairs = Pairs::of(a, b)?;
        audience::compare(a, b, &pairs, &mut out)?;
        index::compare(&pairs, &mut out)?;
        briefing::compare(a, b, &pairs, &mut out)?;
        Ok(out.sorted())
    }
}

/// Returns whether the signed digests of everything that servers answer from are equal.
fn says_the_same(a: &Bundle, b: &Bundle) -> bool {
    let digests = |bundle: &Bundle| {
        let sections = bundle.sections().iter().filter(|section| section.critical);
        sections.map(|section| (section.number, section.digest)).collect::<Vec<_>>()
    };
    a.epoch() == b.epoch() && digests(a) == digests(b)
}

/// Returns an empty bundle, to compare a new project with.
///
/// # Errors
///
/// Callers cannot cause any.
pub fn empty() -> Result<Bundle, OpenError> {
    let bytes = encode(&Contents::default()).unwrap_or_default();
    Bundle::open(Box::new(bytes))
}
