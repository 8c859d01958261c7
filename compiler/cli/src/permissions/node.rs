//! The nodes of a policy that an import writes.

/// Selectors of a rule or an exception, which hold together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selectors {
    /// Each selector with its values, of which any is meant.
    pub(crate) lists: Vec<(&'static str, Vec<String>)>,
    /// Values that a selector leaves out.
    pub(crate) except: Vec<(&'static str, Vec<String>)>,
    /// The name of an argument and its value.
    pub(crate) argument: Option<(String, String)>,
    /// A regex that is searched in the text.
    pub(crate) regex: Option<String>,
}

impl Selectors {
    /// Adds a selector.
    pub(crate) fn with(
        mut self,
        selector: &'static str,
        values: impl IntoIterator<Item = String>,
    ) -> Self {
        self.lists.push((selector, values.into_iter().collect()));
        self
    }

    /// Adds a regex.
    pub(crate) fn with_regex(mut self, regex: &str) -> Self {
        self.regex = Some(regex.to_owned());
        self
    }
}

/// The word of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `deny`
    Deny,
    /// `approve`
    Approve,
    /// `allow`
    Allow,
}

impl Kind {
    /// Returns its word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Approve => "approve",
            Self::Allow => "allow",
        }
    }
}

/// A rule of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleNode {
    /// Its word.
    pub(crate) kind: Kind,
    /// Its name.
    pub(crate) name: String,
    /// Its reason.
    pub(crate) because: String,
    /// Its selectors.
    pub(crate) selectors: Selectors,
}

/// A call for a test.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample {
    /// The tool; `None` for a command.
    pub(crate) tool: Option<String>,
    /// The command, or the arguments as JSON.
    pub(crate) text: String,
}
