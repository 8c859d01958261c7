//! The policies that the compiler ships, in the language itself: a project starts from one with `use=`.

use crate::grammar::words;

/// A shipped policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShippedPolicy {
    /// Agents on the machine of a developer.
    Workstation,
    /// Runners that are thrown away.
    Ci,
    /// Agents of operators on servers.
    Server,
    /// Agents that only look.
    Readonly,
}

words!(ShippedPolicy {
    "workstation" = ShippedPolicy::Workstation,
    "ci" = ShippedPolicy::Ci,
    "server" = ShippedPolicy::Server,
    "readonly" = ShippedPolicy::Readonly,
});

/// The folder of the shipped documents in reports.
const FOLDER: &str = "relay:policies/";

/// Returns whether a path of a report is that of a document that the compiler ships, and not of a file of the project.
#[must_use]
pub fn is_shipped(path: &str) -> bool {
    path.starts_with(FOLDER)
}

impl ShippedPolicy {
    /// Returns its name, its version and its document. The version rises when a decision changes.
    fn parts(self) -> (&'static str, u32, &'static str) {
        match self {
            Self::Workstation => ("workstation", 1, include_str!("../policies/workstation.kdl")),
            Self::Ci => ("ci", 1, include_str!("../policies/ci.kdl")),
            Self::Server => ("server", 1, include_str!("../policies/server.kdl")),
            Self::Readonly => ("readonly", 1, include_str!("../policies/readonly.kdl")),
        }
    }

    /// Returns its document.
    pub(crate) fn text(self) -> &'static str {
        self.parts().2
    }

    /// Returns the path of its document in reports. No file of a project is below a folder with this name.
    pub(crate) fn path(self) -> String {
        format!("{FOLDER}{}.kdl", self.parts().0)
    }

    /// Returns its name and version: the origin of its rules.
    pub(crate) fn origin(self) -> String {
        let (name, version, _) = self.parts();
        format!("{name} {version}")
    }
}
