//! Joins: the state after either of two branches, readings or processes.

/// A value that may be either of two.
///
/// INVARIANT: a join is commutative and idempotent, and at least as doubtful as either side, so the
/// order in which branches are read decides nothing and no branch hides another one (property tests
/// beside each type).
pub(crate) trait Join {
    /// Returns the value that represents both.
    #[must_use]
    fn join(self, other: Self) -> Self;
}

/// `None` is an absent branch.
impl<T: Join> Join for Option<T> {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Some(one), Some(other)) => Some(one.join(other)),
            (one, other) => one.or(other),
        }
    }
}

impl<A: Join, B: Join> Join for (A, B) {
    fn join(self, other: Self) -> Self {
        (self.0.join(other.0), self.1.join(other.1))
    }
}

/// Checks the laws of a join over every pair of `values`: `is_same` compares two values, `doubt`
/// returns the amount of doubt in one.
#[cfg(test)]
pub(crate) fn assert_laws<T: Join + Clone + std::fmt::Debug>(
    values: &[T],
    is_same: impl Fn(&T, &T) -> bool,
    doubt: impl Fn(&T) -> u8,
) {
    for one in values {
        let twice = one.clone().join(one.clone());
        assert!(is_same(&twice, one), "idempotent: {one:?} gives {twice:?}");
        for other in values {
            let joined = one.clone().join(other.clone());
            let reversed = other.clone().join(one.clone());
            assert!(is_same(&joined, &reversed), "commutative: {one:?} and {other:?}");
            let most = doubt(one).max(doubt(other));
            assert!(doubt(&joined) >= most, "never lower: {one:?} and {other:?} give {joined:?}");
        }
    }
}
