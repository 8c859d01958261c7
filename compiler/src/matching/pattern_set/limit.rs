//! The limits of the work on patterns.

/// The most states that are tried.
pub(super) const TRIED_STATES_MAX: usize = 20_000;
/// The most steps: how often a place in a pattern meets a class of characters.
pub(super) const TRIED_STEPS_MAX: usize = 20_000_000;

/// The patterns have more combinations than are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;
