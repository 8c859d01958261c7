//! The limits of the work on patterns.

/// The most states to explore.
pub(super) const TRIED_STATES_MAX: usize = 20_000;
/// The most steps: a place in a pattern meets a class of characters.
pub(super) const TRIED_STEPS_MAX: usize = 20_000_000;

/// The patterns have more combinations than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;
