//! The output of a terminal: the part that waits to be received, and its last line.

use std::sync::Mutex;

use relay_machine::lock::lock;

use super::buffer::{Buffer, Counts};
use super::last_line::LastLine;

/// The output of a terminal.
#[derive(Debug, Default)]
pub(crate) struct Screen(Mutex<Output>);

#[derive(Debug, Default)]
struct Output {
    buffer: Buffer,
    last_line: LastLine,
}

impl Screen {
    /// Adds output; the oldest makes room for it.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut output = lock(&self.0);
        output.buffer.add(bytes);
        output.last_line.add(bytes);
    }

    /// Counts bytes of output that were dropped on their way.
    #[cfg(feature = "ssh")]
    pub(crate) fn count_dropped(&self, bytes: u64) {
        lock(&self.0).buffer.count_dropped(bytes);
    }

    /// Takes at most `bytes_max` bytes; see [`Buffer::take`].
    pub(super) fn take(&self, bytes_max: usize, is_complete: bool) -> String {
        lock(&self.0).buffer.take(bytes_max, is_complete)
    }

    pub(super) fn counts(&self) -> Counts {
        lock(&self.0).buffer.counts()
    }

    /// Returns whether its last line looks like a question for a secret.
    pub(super) fn asks_for_secret(&self) -> bool {
        lock(&self.0).last_line.asks_for_secret()
    }
}
