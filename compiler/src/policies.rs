//! The shipped policies, and the automata of their regexes.
//!
//! The automata are in `compiler/policies/automata.bin`, so that a check reads them. `relay policy-automata`
//! writes the file anew, and a test compares the two.

use std::collections::BTreeSet;

use relay_bundle::Selector;

use crate::automaton::{self, RegexError};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Literal, Scalar};
use crate::parse;
use crate::shipped_policy::ShippedPolicy;
use crate::source::{Files, Listed, ReadError, Sources};

/// Returns the bytes of that file.
///
/// # Errors
///
/// A regex of a shipped policy is at fault.
pub fn automata() -> Result<Vec<u8>, RegexError> {
    let sources = Sources::new(&NoFiles, "");
    let mut out = Diagnostics::new(false);
    let mut patterns = BTreeSet::new();
    for word in ShippedPolicy::WORDS {
        let shipped = ShippedPolicy::decode(Literal::Word(word));
        let policy = shipped.and_then(|it| parse::shipped_policy(&sources, it, &mut out));
        let rules = policy.into_iter().flat_map(|policy| policy.rules);
        let conditions = rules.flat_map(|rule| rule.conditions);
        let regexes = conditions.filter(|condition| condition.selector == Selector::Text);
        patterns.extend(regexes.flat_map(|regex| regex.values).map(|text| text.value));
    }
    automaton::table(&patterns)
}

/// An empty folder: the documents of shipped policies are in the compiler.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }

    fn list(&self, _folder: &str) -> Result<Vec<Listed>, ReadError> {
        Err(ReadError::NotFound)
    }
}
