//! A spinner for work that takes long enough for a person to wonder.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::output::Output;

/// Work that is over sooner shows nothing.
const SILENT: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(80);

/// Work in progress; the spinner goes when this is dropped.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to show that `what` is going on, if a person watches.
    pub(crate) fn start(output: &Output, what: &'static str) -> Self {
        if !output.is_watched() {
            return Self { running: None };
        }
        let (done, wait) = mpsc::channel();
        let thread = thread::spawn(move || {
            if wait.recv_timeout(SILENT) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            spinner.set_message(what);
            spinner.enable_steady_tick(TICK);
            // Nothing is ever sent: the channel closes when the work is done.
            let _ = wait.recv();
            spinner.finish_and_clear();
        });
        Self { running: Some((done, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.running.take() {
            drop(done);
            // Waits until the line is cleared; a thread that failed leaves nothing to clear.
            let _ = thread.join();
        }
    }
}
