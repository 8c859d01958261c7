//! A spinner for slow work.

use std::io::{self, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::output::Output;

/// The delay before the spinner appears.
const SILENT: Duration = Duration::from_millis(300);
const TICK: Duration = Duration::from_millis(80);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Returns to the start of the line and erases it.
const CLEAR: &str = "\r\u{1b}[K";

/// Work in progress; the spinner disappears when this is dropped.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the spinner with the label `what`, if standard error is a terminal.
    pub(crate) fn start(output: &Output, what: &'static str) -> Self {
        if !output.is_watched() {
            return Self { running: None };
        }
        let (done, wait) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            // Nothing is sent: the channel closes when the work is done.
            let goes_on = |time| wait.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !goes_on(SILENT) {
                return;
            }
            let draw = |text: String| _ = io::stderr().write_all(text.as_bytes());
            for frame in FRAMES.iter().cycle() {
                draw(format!("{CLEAR}{frame} {what}"));
                if !goes_on(TICK) {
                    break;
                }
            }
            draw(CLEAR.to_owned());
        });
        Self { running: Some((done, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.running.take() {
            drop(done);
            // Waits until the line is cleared; after a failed thread, nothing is to clear.
            let _ = thread.join();
        }
    }
}
