//! The owners of texts while they are searched, and the secrets found so far.

use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use thiserror::Error;

use super::place::Owner;
use crate::source::Span;

/// Every holder of a bundle can read its texts, and so can every agent.
#[derive(Debug, Error, Diagnostic)]
#[error("the text holds a secret ({rule})")]
#[diagnostic(code(secret::literal))]
pub(super) struct LiteralSecret {
    rule: &'static str,
    #[help]
    help: String,
    #[label(primary, "every holder of the bundle could read this")]
    at: Span,
}

impl LiteralSecret {
    pub(super) fn new(rule: &'static str, owner: Option<&Owner>, at: Span) -> Self {
        let mut help = "take it out and revoke it".to_owned();
        if owner.is_some_and(|owner| owner.may_allow) {
            let allowed = format!("`allow-secret {rule} because=\"…\"`");
            help.push_str(&format!("; if it is only an example, write {allowed}"));
        }
        Self { rule, help, at }
    }
}

/// The owners of texts, and the secrets found so far.
pub(crate) struct SecretSearch {
    pub(super) project: Owner,
    pub(super) prompts: BTreeMap<String, Owner>,
    pub(super) resources: BTreeMap<String, Owner>,
    pub(super) skills: BTreeMap<String, Owner>,
    /// The rule and the text of each secret that was found, without white space: what is made of a
    /// text is not reported again.
    pub(super) seen: BTreeSet<(&'static str, Vec<u8>)>,
    /// How many secrets were found so far.
    pub(super) found: usize,
    /// The suppressions that were used.
    pub(super) used: BTreeSet<Span>,
}

impl SecretSearch {
    /// Takes a secret that was found; returns whether it is to be reported.
    pub(super) fn take(
        &mut self,
        owner: Option<&Owner>,
        rule: &'static str,
        text: Vec<u8>,
    ) -> bool {
        self.seen.insert((rule, text));
        self.found += 1;
        let mut allowed = owner.into_iter().flat_map(|owner| &owner.allowed);
        let suppression = allowed.find(|allowed| allowed.rule.value == rule);
        self.used.extend(suppression.map(|allowed| allowed.rule.at));
        suppression.is_none()
    }
}
