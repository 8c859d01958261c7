//! The values that variables have in one reading of a command.

/// The values of variables in the current reading.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// The rest of the reading's number; each variable takes its share.
    rest: usize,
    /// The number of readings.
    pub(super) readings: usize,
    chosen: Vec<(String, usize)>,
}

impl Choice {
    /// Returns the choice of one reading.
    pub(super) fn of(reading: usize) -> Self {
        Self { rest: reading, readings: 1, chosen: Vec::new() }
    }

    /// Returns the index of the value that a variable has in this reading.
    pub(super) fn choose(&mut self, name: &str, count: usize) -> usize {
        if let Some((_, index)) = self.chosen.iter().find(|(chosen, _)| chosen == name) {
            return *index;
        }
        if count <= 1 {
            return 0;
        }
        let index = self.rest % count;
        self.rest /= count;
        self.readings = self.readings.saturating_mul(count);
        self.chosen.push((name.to_owned(), index));
        index
    }
}
