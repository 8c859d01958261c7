//! One condition of a rule.

use relay_bundle::{Automaton, Selector};

use super::fit::Fit;

/// A condition: any of its values, and none of its exceptions.
#[derive(Clone)]
pub(super) struct Condition<'r> {
    pub(super) selector: Selector,
    /// The name of an argument of a tool.
    pub(super) argument: Option<&'r str>,
    pub(super) values: Vec<&'r str>,
    pub(super) except: Vec<&'r str>,
    /// The automaton of its regex.
    pub(super) regex: Option<Automaton<'r>>,
}

impl Condition<'_> {
    /// Returns whether any value fits and no exception does.
    pub(super) fn any(&self, fit: impl Fn(&str) -> Fit) -> Fit {
        let meant = Fit::any(self.values.iter().map(|value| fit(value)));
        if meant == Fit::No || self.except.is_empty() {
            return meant;
        }
        meant.without(Fit::any(self.except.iter().map(|value| fit(value))))
    }

    /// Returns whether the regex is found in a text. A regex without its automaton may be found.
    pub(super) fn searched(&self, text: &[u8]) -> Fit {
        self.regex.as_ref().map_or(Fit::Maybe, |regex| Fit::known(regex.matches(text)))
    }
}
