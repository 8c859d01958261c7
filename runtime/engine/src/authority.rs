//! The floors, paths and facts of a bundle, read once for all decisions.

use std::sync::{Arc, OnceLock};

use relay_bundle::{Bundle, Corrupt, Hosts, Rule};
use relay_policy::classify::{Rules, RulesError};
use relay_policy::facts::Facts;
use relay_policy::inventory::Inventory;
use thiserror::Error;

/// The parts of a policy that decisions read again and again.
#[derive(Debug, Clone)]
pub struct Authority {
    /// Absent without a policy.
    rules: Option<Rules>,
    /// Whether the facts can be read; they are read at the first decision on a text.
    is_readable: OnceLock<bool>,
}

/// The reason why the policy of a bundle cannot be used.
#[derive(Debug, Error)]
pub enum AuthorityError {
    /// A rule is invalid.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

impl Authority {
    /// Reads the policy of a bundle.
    ///
    /// # Errors
    ///
    /// The policy cannot be used. No compiler writes such a policy.
    pub fn of(bundle: &Bundle) -> Result<Self, AuthorityError> {
        Ok(Self { rules: Rules::of(bundle)?, is_readable: OnceLock::new() })
    }

    /// Returns the floors, the paths and the rules that raise or lower; `None` without a policy.
    #[must_use]
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// Takes these hosts for those that calls name, in place of the hosts of the bundle alone.
    pub fn know_hosts(&mut self, hosts: Option<&Hosts>) {
        if let Some(rules) = &mut self.rules {
            rules.inventory = Inventory::of(hosts);
        }
    }

    /// Returns the same with another rule in place of the one of this name that raises or lowers;
    /// `None` without it.
    #[must_use]
    pub fn adjusted(&self, name: &str, rule: Option<&Rule>) -> Self {
        let mut changed = self.clone();
        if let Some(rules) = &mut changed.rules {
            let place = rules.adjust.iter().position(|rule| rule.name == name);
            match (place, rule) {
                (Some(place), None) => _ = rules.adjust.remove(place),
                (Some(place), Some(rule)) => {
                    rules.adjust.splice(place..=place, [Arc::new(rule.clone())]);
                }
                (None, _) => {}
            }
        }
        changed
    }

    /// Checks the facts of the bundle that this was made for, all of them.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn check_facts(&self, bundle: &Bundle) -> Result<(), Corrupt> {
        if self.rules.is_none() {
            return Ok(());
        }
        self.facts(bundle).map(|_| ())
    }

    /// Takes the facts for checked, as those of a bundle whose bytes passed [`Self::check_facts`] in
    /// another process.
    pub fn facts_were_checked(&self) {
        // A check of this process counts.
        self.is_readable.get_or_init(|| true);
    }

    /// Returns the facts of the bundle that this was made for.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn facts<'b>(&self, bundle: &'b Bundle) -> Result<Facts<'b>, Corrupt> {
        let damaged = Corrupt::Record { section: "facts", what: "table of facts" };
        let table = bundle.facts()?;
        let is_readable = self.is_readable.get_or_init(|| Facts::open(table).is_ok());
        match is_readable {
            true => Facts::reopen(table).map_err(|_| damaged),
            false => Err(damaged),
        }
    }
}
