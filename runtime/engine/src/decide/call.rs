//! A call to decide.

use relay_policy::location::Location;
use serde_json::{Map, Value};

/// A call to decide.
#[derive(Debug, Clone, Copy)]
pub struct Call<'c> {
    /// The name of the tool, as sent by the caller.
    pub tool: &'c str,
    /// Its arguments.
    pub arguments: &'c Map<String, Value>,
    /// The client of the caller, if it is known.
    pub client: Option<&'c str>,
    /// Where its text begins, unless an argument says it.
    pub location: &'c Location,
    /// Who runs it.
    pub door: Door,
}

/// Who runs a call that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// A server of the project, which has the tools that the project offers.
    Server,
    /// A client or another server, with tools of its own.
    Elsewhere,
}
