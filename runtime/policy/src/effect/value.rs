//! Names, paths and hosts of calls and effects.

/// A text of a call or effect, kept by its [`Effects`](super::Effects). Whether it is exact or has parts that are
/// not known, its `Effects` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    pub(super) start: u32,
    pub(super) end: u32,
}
