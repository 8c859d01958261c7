//! One call of a tool: its caller and its bundle.

use std::sync::Arc;

use relay_engine::tool::Limits;
use tokio_util::sync::CancellationToken;

use super::person::Person;
use crate::caller::Caller;
use crate::record::memory::Memory;
use crate::server::Server;
use crate::trust::placed::Placed;

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) server: Arc<Server>,
    /// The bundle that was in force when the call arrived, as its caller sees it. The whole call
    /// uses it.
    pub(crate) placed: Placed,
    pub(crate) caller: Caller,
    /// The memory of a legacy client's session, if it is one.
    pub(crate) memory: Option<Arc<Memory>>,
    /// The person behind the client, if the client can ask.
    pub(crate) person: Option<Box<dyn Person>>,
    /// Cancelled when the client cancels the call or disconnects.
    pub(crate) cancelled: CancellationToken,
}

impl Call {
    /// Returns the limits of calls: those of the bundle, lowered by the server.
    pub(crate) fn limits(&self) -> Limits {
        self.server.settings.processes.lower(self.placed.loaded.limits())
    }

    /// Returns whether credentials named the caller, rather than the settings of the server.
    pub(crate) fn is_authenticated(&self) -> bool {
        self.server.settings.authenticates()
    }
}
