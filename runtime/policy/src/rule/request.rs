//! A request, and the conditions on it as a whole.

use relay_bundle::{Corrupt, Selector, Tier};

use super::condition::{Condition, Values};
use super::fit::Fit;
use super::glob::glob_fit;
use super::host::{host_fit, open_host_fit};
use super::seen::Seen;
use crate::effect::{Effects, Value};
use crate::facts::Facts;
use crate::inventory::Inventory;
use crate::location::Location;
use crate::path_rules::{PathClasses, PathRules};
use crate::paths::Ground;

/// An argument of a tool, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument<'r> {
    /// Its name.
    pub name: &'r str,
    /// Its value; JSON, unless it is a text.
    pub value: &'r str,
}

/// A request that rules are asked about.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// Its calls and effects.
    pub effects: &'r Effects,
    /// The facts about programs that its calls refer to.
    pub facts: &'r Facts<'r>,
    /// The project's rules for paths.
    pub paths: &'r PathRules,
    /// The classes of paths that the project names.
    pub classes: &'r PathClasses,
    /// The hosts that the project knows.
    pub inventory: &'r Inventory,
    /// Where it runs.
    pub location: &'r Location,
    /// The name of the tool.
    pub tool: &'r str,
    /// The arguments of the tool.
    pub arguments: &'r [Argument<'r>],
    /// The hosts that the arguments name; empty for the own host.
    pub hosts: &'r [&'r str],
    /// The client of the caller, if it is known.
    pub client: Option<&'r str>,
    /// The tier of the request.
    pub tier: Tier,
    /// The text for a shell; empty for other tools.
    pub text: &'r str,
    /// Its paths and hosts that rules were asked about; empty at first.
    pub seen: &'r Seen,
}

impl Request<'_> {
    /// Returns the context of its paths.
    pub(super) fn ground(&self) -> Ground<'_> {
        Ground { rules: self.paths, location: self.location, variables: &[] }
    }

    /// Returns whether a condition on the request holds; `true` for `is_permit` if the rule permits.
    pub(super) fn fit(&self, condition: &Condition<'_>, is_permit: bool) -> Result<Fit, Corrupt> {
        let fit = match condition.selector {
            Selector::Tool => condition.any(|pattern| glob_fit(pattern, self.tool)),
            Selector::Arg => {
                let name = condition.argument.unwrap_or_default();
                let mut given = self.arguments.iter().filter(|argument| argument.name == name);
                given.next().map_or(Fit::No, |argument| {
                    condition.any(|pattern| glob_fit(pattern, argument.value))
                })
            }
            Selector::Client => self
                .client
                .map_or(Fit::No, |client| condition.any(|pattern| glob_fit(pattern, client))),
            Selector::Host => self.runs_on_fit(condition, is_permit),
            Selector::TierMin => {
                condition.any(|tier| Fit::known(self.tier.number() >= number(tier, 0)))
            }
            Selector::TierMax => {
                condition.any(|tier| Fit::known(self.tier.number() <= number(tier, u8::MAX)))
            }
            Selector::Text if is_permit => Fit::No,
            Selector::Text => condition.searched(&searched(self.tool, self.text)),
            // INVARIANT: the others are about calls and effects.
            _ => Fit::No,
        };
        Ok(fit)
    }

    /// Returns whether the request runs on a host of these patterns; a permission needs all of its
    /// hosts to be.
    #[must_use]
    pub fn runs_on(&self, patterns: &[String], is_permit: bool) -> Fit {
        let condition = Condition {
            selector: Selector::Host,
            argument: None,
            values: Values::Patterns(patterns),
            except: Values::Patterns(&[]),
            regex: None,
        };
        self.runs_on_fit(&condition, is_permit)
    }

    /// Returns whether a condition means the host that a value names.
    pub(super) fn value_host_fit(&self, condition: &Condition<'_>, host: Value) -> Fit {
        let effects = self.effects;
        if effects.is_exact(host) {
            return host_fit(self.inventory, condition, &self.seen.host(effects, host));
        }
        open_host_fit(self.inventory, condition, effects.bytes_of(host))
    }

    /// Returns whether the request runs on a host: a rule that restricts means any of its hosts, one
    /// that permits all of them.
    fn runs_on_fit(&self, condition: &Condition<'_>, is_permit: bool) -> Fit {
        let named = self.seen.named(self.hosts).iter();
        let named = named.map(|host| host_fit(self.inventory, condition, host));
        let effects = self.effects;
        let called = effects.calls().iter().filter_map(|call| effects.host(call));
        let called = called.map(|host| self.value_host_fit(condition, host));
        let mut fits = named.chain(called).peekable();
        match (fits.peek().is_some(), is_permit) {
            // Without a host it runs on the own one, which no pattern means.
            (false, _) => Fit::No,
            (true, true) => Fit::all(fits),
            (true, false) => Fit::any(fits),
        }
    }
}

/// Returns the bytes in which regexes are searched: the tool, a blank and the text.
#[must_use]
pub fn searched(tool: &str, text: &str) -> Vec<u8> {
    [tool.as_bytes(), b" ", text.as_bytes()].concat()
}

/// Reads the number of a tier; compilers write only numbers.
fn number(text: &str, otherwise: u8) -> u8 {
    text.parse().unwrap_or(otherwise)
}
