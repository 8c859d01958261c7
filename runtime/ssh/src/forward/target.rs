//! The far end of a forward.

/// A host and a port.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Target {
    /// A name or an IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}
