//! The hosts that a project knows.

use crate::language::hosts::{HostSettings, HostsSettings};
use crate::source::{Span, Spanned};

/// The hosts that a project knows.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) at: Span,
    pub(crate) settings: HostsSettings,
    /// Their groups, sorted by name.
    pub(crate) groups: Vec<Spanned<String>>,
    /// Sorted by alias.
    pub(crate) hosts: Vec<Host>,
}

/// A host.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) alias: Spanned<String>,
    pub(crate) settings: HostSettings,
}
