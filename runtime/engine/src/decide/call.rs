//! A call to decide.

use relay_bundle::Selector;
use relay_policy::location::Location;
use relay_policy::tier::Floor;
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
    pub door: Door<'c>,
}

/// Who runs a call that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door<'c> {
    /// A server of the project, which has the tools that the project offers.
    Server,
    /// Another server, with tools of its own.
    Elsewhere,
    /// A client, by a tool of its own.
    Client(&'c ClientTool),
}

/// The effects of a call of a client's own tool, in addition to those of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTool {
    /// The effects of its arguments, each with the value; any value without one.
    pub effects: Vec<(Selector, Option<String>)>,
    /// The doubts about it, each with a sentence.
    pub doubts: Vec<(Floor, &'static str)>,
}
