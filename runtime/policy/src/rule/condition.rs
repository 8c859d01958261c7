//! One condition of a rule.

use relay_bundle::{Automaton, Selector, Setting, ValuesView};

use super::fit::Fit;

/// A condition: any of its values, and none of its exceptions.
#[derive(Clone, Copy)]
pub(super) struct Condition<'r> {
    pub(super) selector: Selector,
    /// The name of an argument of a tool.
    pub(super) argument: Option<&'r str>,
    pub(super) values: Values<'r>,
    pub(super) except: Values<'r>,
    /// The automaton of its regex.
    pub(super) regex: Option<Automaton<'r>>,
}

/// Values where they are: a decision reads some of many rules.
#[derive(Clone, Copy)]
pub(super) enum Values<'r> {
    /// Those of a bundle.
    InPlace(ValuesView<'r>),
    /// Those of a rule that is not in a bundle.
    Settings(&'r [Setting<String>]),
    Patterns(&'r [String]),
    /// The word for every value.
    Every,
}

impl Values<'_> {
    /// Returns whether any value fits. One that cannot be read may fit.
    fn any(self, fit: impl Fn(&str) -> Fit) -> Fit {
        match self {
            Self::InPlace(values) => match values.iter() {
                Ok(values) => Fit::any(values.map(|value| value.map_or(Fit::Maybe, &fit))),
                Err(_) => Fit::Maybe,
            },
            Self::Settings(values) => Fit::any(values.iter().map(|value| fit(&value.value))),
            Self::Patterns(values) => Fit::any(values.iter().map(|value| fit(value))),
            Self::Every => fit("*"),
        }
    }

    /// Returns whether a test holds for any value.
    pub(super) fn has(self, test: impl Fn(&str) -> bool) -> bool {
        self.any(|value| Fit::known(test(value))) == Fit::Surely
    }

    fn is_empty(self) -> bool {
        match self {
            Self::InPlace(values) => values.is_empty(),
            Self::Settings(values) => values.is_empty(),
            Self::Patterns(values) => values.is_empty(),
            Self::Every => false,
        }
    }
}

impl Condition<'_> {
    /// Returns whether any value fits and no exception does.
    pub(super) fn any(&self, fit: impl Fn(&str) -> Fit) -> Fit {
        let meant = self.values.any(&fit);
        if meant == Fit::No || self.except.is_empty() {
            return meant;
        }
        meant.without(self.except.any(&fit))
    }

    /// Returns whether the regex is found in a text. A regex without its automaton may be found.
    pub(super) fn searched(&self, text: &[u8]) -> Fit {
        self.regex.as_ref().map_or(Fit::Maybe, |regex| Fit::known(regex.matches(text)))
    }
}
