//! The decisions of a policy for one caller.

use relay_bundle::{Bundle, Mode};
use relay_engine::authority::Authority;
use relay_engine::decide::{self, Call, Door, Outcome, decide};
use relay_engine::tool::SHELL;
use relay_engine::view::View;
use relay_policy::location::Location;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::judge;

/// Decides commands for a caller.
pub(crate) struct Decider<'b> {
    view: &'b View<'b>,
    authority: Authority,
    location: Location,
}

impl<'b> Decider<'b> {
    /// Takes the policy of a bundle.
    pub(crate) fn of(bundle: &Bundle, view: &'b View<'b>) -> Result<Self, Failure> {
        Ok(Self { view, authority: judge::authority(bundle)?, location: Location::default() })
    }

    /// Returns the mode for the caller on the own host.
    pub(crate) fn mode(&self) -> Option<Mode> {
        decide::mode(self.view).ok().flatten()
    }

    /// Returns whether a command runs unasked.
    pub(crate) fn allows(&self, command: &str) -> Result<bool, Failure> {
        let arguments = Map::from_iter([("command".to_owned(), Value::from(command))]);
        let call = Call {
            tool: SHELL,
            arguments: &arguments,
            client: None,
            location: &self.location,
            door: Door::Elsewhere,
        };
        Ok(decide(self.view, &self.authority, &call)?.outcome == Outcome::Allow)
    }
}
