//! Joins: what holds after either of two branches, readings or processes.

/// A value that may be either of two.
///
/// INVARIANT: a join is commutative and idempotent, and it is never less doubtful than either side, so the order in
/// which branches are read decides nothing and no branch hides another one (property tests beside each type).
pub(crate) trait Join {
    /// Returns the value that stands for both.
    #[must_use]
    fn join(self, other: Self) -> Self;
}

/// `None` stands for no branch.
impl<T: Join> Join for Option<T> {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Some(one), Some(other)) => Some(one.join(other)),
            (one, other) => one.or(other),
        }
    }
}
