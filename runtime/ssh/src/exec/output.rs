//! The output of a command: the first bytes are kept, the rest is counted. And its end.

/// The output and the end of a command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finished {
    /// The kept part of the standard output.
    pub stdout: Vec<u8>,
    /// The kept part of the standard error.
    pub stderr: Vec<u8>,
    /// The bytes of standard output in all.
    pub stdout_bytes: u64,
    /// The bytes of standard error in all. Zero if merged.
    pub stderr_bytes: u64,
    /// The end of the command.
    pub end: End,
}

/// The end of a command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// It ended with this code.
    Exited(u32),
    /// A signal ended it, such as `KILL`.
    Signalled(String),
    /// The host refused to run it, or to give it a terminal.
    Refused,
    /// The host closed the channel and kept the status to itself. Whether the command ended well is unknown.
    NoStatus,
    /// The connection was lost. Whether the command ran, runs or ended is unknown.
    Lost,
    /// It took longer than its timeout.
    TimedOut(Fate),
    /// The caller stopped it.
    Stopped(Fate),
}

/// The state of a command that was ended early, with SIGTERM and SIGKILL.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It was left unsent, or the host refused it.
    NotBegun,
    /// The host reported its end.
    Ended,
    /// The host reported nothing: it may still run there.
    MayStillRun,
}

/// The kept part of both outputs.
pub(super) struct Kept {
    finished: Finished,
    room: usize,
    merge: bool,
}

impl Kept {
    pub(super) fn new(room: usize, merge: bool) -> Self {
        let finished = Finished {
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_bytes: 0,
            stderr_bytes: 0,
            end: End::NoStatus,
        };
        Self { finished, room, merge }
    }

    pub(super) fn stdout(&mut self, bytes: &[u8]) {
        let Finished { stdout, stdout_bytes, .. } = &mut self.finished;
        keep(bytes, stdout, stdout_bytes, &mut self.room);
    }

    pub(super) fn stderr(&mut self, bytes: &[u8]) {
        if self.merge {
            return self.stdout(bytes);
        }
        let Finished { stderr, stderr_bytes, .. } = &mut self.finished;
        keep(bytes, stderr, stderr_bytes, &mut self.room);
    }

    pub(super) fn finish(self, end: End) -> Finished {
        Finished { end, ..self.finished }
    }
}

fn keep(bytes: &[u8], kept: &mut Vec<u8>, total: &mut u64, room: &mut usize) {
    let (first, _) = bytes.split_at(bytes.len().min(*room));
    kept.extend_from_slice(first);
    *room -= first.len();
    *total = total.saturating_add(bytes.len() as u64);
}
