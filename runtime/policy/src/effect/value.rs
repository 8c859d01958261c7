//! Names, paths and hosts of calls and effects.

/// A text of a call or effect, kept by its [`Effects`](super::Effects), which also know whether it
/// is exact or has unknown parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value {
    pub(super) start: u32,
    pub(super) end: u32,
}
