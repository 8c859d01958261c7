//! Numbers for tests of random inputs.

/// Numbers that look random and are the same in every run, from a seed (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `bound`, and 0 for a bound of 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound.max(1)
    }
}
