//! The owners of texts while they are searched, and the findings so far.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::finding::Forbidden;
use super::invisible::InvisibleText;
use super::place::{Owner, dense};
use super::secret::LiteralSecret;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// An earlier finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen {
    pub(super) of: Forbidden,
    pub(super) rule: &'static str,
    /// Stripped of white space, which differs between the forms of a text.
    pub(super) text: Vec<u8>,
    /// The place of its owner: an exception is for one owner alone.
    pub(super) owner: Option<Span>,
}

/// The owners of texts, and the findings so far.
pub(crate) struct TextSearch {
    pub(super) project: Owner,
    pub(super) prompts: HashMap<String, Owner>,
    pub(super) resources: HashMap<String, Owner>,
    pub(super) skills: HashMap<String, Owner>,
    /// The findings so far: texts made of them are reported only once.
    pub(super) seen: BTreeSet<Seen>,
    /// The number of findings so far.
    pub(super) found: usize,
    /// The suppressions that were used.
    pub(super) used: BTreeSet<Span>,
}

impl TextSearch {
    /// Takes a finding at `at`, and reports it unless it is allowed there.
    pub(super) fn take(
        &mut self,
        owner: Option<&Owner>,
        (of, rule): (Forbidden, &'static str),
        text: &[u8],
        at: Span,
        out: &mut Diagnostics,
    ) {
        let declared = owner.map(|owner| owner.at);
        // Also if it is allowed here: parts of the bundle that repeat the text lack an owner.
        self.seen.insert(Seen { of, rule, text: dense(text), owner: declared });
        self.found += 1;
        let mut allowed = owner.into_iter().flat_map(|owner| &owner.allowed);
        let suppression = allowed
            .find(|allowed| Forbidden::of(allowed.of) == Some(of) && allowed.rule.value == rule);
        self.used.extend(suppression.map(|allowed| allowed.rule.at));
        if suppression.is_some() {
            return;
        }
        match of {
            Forbidden::Secret => out.report(at, LiteralSecret::new(rule, owner, at)),
            Forbidden::Invisible => {
                let text = String::from_utf8_lossy(text);
                out.report(at, InvisibleText::new(rule, &text, owner, at));
            }
        }
    }
}
