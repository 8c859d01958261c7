//! The lines of a text.

use memchr::memchr2_iter;

/// The beginnings of the lines of a text after the first.
#[derive(Debug)]
pub(super) struct LineStarts {
    starts: Vec<u32>,
    end: usize,
}

impl LineStarts {
    /// Finds them. A line ends with LF, CR or both.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let ends = memchr2_iter(b'\n', b'\r', bytes);
        let starts = ends.map(|end| end + 1).filter(|start| {
            // CR and LF end one line.
            bytes.get(start - 1) == Some(&b'\n') || bytes.get(*start) != Some(&b'\n')
        });
        // Files are below 4 GiB, see `Files`.
        let starts = starts.filter_map(|start| u32::try_from(start).ok()).collect();
        Self { starts, end: bytes.len() }
    }

    /// Returns the line, from 0, that holds the byte at `offset`.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start as usize <= offset)
    }

    /// Returns the beginning of a line, from 0; the end of the text if it has fewer.
    pub(super) fn start(&self, line: usize) -> usize {
        let Some(before) = line.checked_sub(1) else { return 0 };
        self.starts.get(before).map_or(self.end, |start| *start as usize)
    }
}
