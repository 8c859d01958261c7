//! The permission to run a tool.

use std::sync::Arc;

use relay_engine::tool::ToolSpec;

use crate::caller::principal::Principal;
use crate::process::Folder;

/// The permission to run a tool. Only `decide` creates one, and every tool requires one.
#[derive(Debug, Clone)]
pub(in crate::tool) struct Permit {
    spec: &'static ToolSpec,
    principal: Arc<Principal>,
    at: String,
    place: Place,
    is_approved: bool,
}

/// The place that a call was decided for.
#[derive(Debug, Clone, Default)]
pub(in crate::tool::decide) struct Place {
    /// The folder of the process, for tools that start one.
    pub(in crate::tool::decide) folder: Option<Folder>,
    /// The line of a session that typed text goes on with.
    pub(in crate::tool::decide) pending: String,
}

impl Permit {
    pub(in crate::tool::decide) fn new(
        (spec, at): (&'static ToolSpec, String),
        principal: Arc<Principal>,
        place: Place,
    ) -> Self {
        Self { spec, principal, at, place, is_approved: false }
    }

    /// Returns the permit of a call that a person approved.
    pub(in crate::tool::decide) fn approved(self) -> Self {
        Self { is_approved: true, ..self }
    }

    /// Returns whether a person approved the call.
    pub(in crate::tool) fn is_approved(&self) -> bool {
        self.is_approved
    }

    /// Returns the tool that may run.
    pub(in crate::tool) fn spec(&self) -> &'static ToolSpec {
        self.spec
    }

    /// Returns the principal of the call.
    pub(in crate::tool) fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the folder of the process that was decided on, for tools that start one.
    pub(in crate::tool) fn folder(&self) -> Option<&Folder> {
        self.place.folder.as_ref()
    }

    /// Returns the line of the session that was decided on, for the tool that types into one.
    pub(in crate::tool) fn pending(&self) -> &str {
        &self.place.pending
    }

    /// Returns the place in the project of the rule that allows the call.
    pub(in crate::tool) fn at(&self) -> &str {
        &self.at
    }
}
