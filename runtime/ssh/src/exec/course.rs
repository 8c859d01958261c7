//! The course of a command, from its start to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use russh::{ChannelMsg, Sig};
use tokio::time::{Instant, Sleep, timeout};

use super::output::{End, Fate, Kept};
use crate::channel::Writer;

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// The time in which the end of a killed program is awaited.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// The silence after the exit status that ends a call, where a child in the background keeps the output
/// open.
const QUIET: Duration = Duration::from_secs(1);

/// The longest time for the rest of the output after the exit status.
const REST_MAX: Duration = Duration::from_secs(10);

/// The longest time for one message to enter the connection.
const SEND_MAX: Duration = Duration::from_secs(2);

/// The code of standard error in SSH.
const STANDARD_ERROR: u32 = 1;

/// The reason why a command is ended early.
#[derive(Clone, Copy)]
pub(super) enum Why {
    Timeout,
    Stop,
}

/// The course of one command.
#[derive(Default)]
pub(super) struct Course {
    step: Step,
    why: Option<Why>,
    status: Option<End>,
    /// The time when the status came.
    status_at: Option<Instant>,
    /// Whether the host has accepted the command.
    begun: bool,
    outcome: Option<End>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Step {
    #[default]
    Running,
    Terminated,
    Killed,
    Over,
}

impl Course {
    pub(super) fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    pub(super) fn has_status(&self) -> bool {
        self.status.is_some()
    }

    pub(super) fn may_stop(&self) -> bool {
        self.why.is_none() && self.status.is_none()
    }

    pub(super) fn take(&mut self, message: Option<ChannelMsg>, kept: &mut Kept) {
        match message {
            Some(ChannelMsg::Data { data }) => kept.stdout(&data),
            Some(ChannelMsg::ExtendedData { data, ext: STANDARD_ERROR }) => kept.stderr(&data),
            Some(ChannelMsg::ExitStatus { exit_status }) => self.note(End::Exited(exit_status)),
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                self.note(End::Signalled(signal_text(&signal_name)));
            }
            Some(ChannelMsg::Success) => self.begun = true,
            // A refused request leaves the channel open.
            Some(ChannelMsg::Failure) if !self.begun => self.finish(End::Refused),
            Some(ChannelMsg::Close) => self.finish(End::NoStatus),
            None => self.finish(End::Lost),
            Some(_) => {}
        }
    }

    pub(super) fn note(&mut self, end: End) {
        self.status = Some(end);
        self.status_at = Some(Instant::now());
    }

    pub(super) fn finish(&mut self, without_status: End) {
        self.step = Step::Over;
        self.outcome = Some(without_status);
    }

    /// Waits for the rest of the output, once the status is known.
    pub(super) fn set_rest(&self, clock: Pin<&mut Sleep>) {
        let now = Instant::now();
        let last = self.status_at.unwrap_or(now) + REST_MAX;
        clock.reset(last.min(now + QUIET));
    }

    /// Takes the next step towards the end of the command, which may have been `sent`.
    pub(super) fn run_out(&mut self, why: Why, sent: bool) {
        if self.has_status() {
            self.finish(End::NoStatus);
            return;
        }
        self.why.get_or_insert(why);
        self.step = match self.step {
            Step::Running if sent => Step::Terminated,
            Step::Terminated => Step::Killed,
            Step::Running | Step::Killed | Step::Over => Step::Over,
        };
        if !sent {
            self.outcome = Some(End::Refused);
        }
    }

    /// Sends the signal of the current step and sets the time until the next.
    pub(super) fn urge(&self, writer: &Arc<Writer>, clock: Pin<&mut Sleep>) {
        let (signal, wait) = match self.step {
            Step::Terminated => (Sig::TERM, GRACE),
            Step::Killed => (Sig::KILL, KILL_WAIT),
            Step::Running | Step::Over => return,
        };
        let writer = Arc::clone(writer);
        // A task of its own: while a signal waits, the channel must be read on.
        tokio::spawn(async move {
            let _ = timeout(SEND_MAX, writer.signal(signal)).await;
        });
        clock.reset(Instant::now() + wait);
    }

    /// Returns the end, once the course is over.
    pub(super) fn end(self) -> End {
        let Some(why) = self.why else {
            return self.status.or(self.outcome).unwrap_or(End::NoStatus);
        };
        let fate = match (self.status, self.outcome) {
            // A closed channel says that the host has ended the command.
            (Some(_), _) | (None, Some(End::NoStatus)) => Fate::Ended,
            (None, Some(End::Refused)) => Fate::NotBegun,
            // A lost connection says nothing.
            (None, _) => Fate::MayStillRun,
        };
        match why {
            Why::Timeout => End::TimedOut(fate),
            Why::Stop => End::Stopped(fate),
        }
    }
}

/// Returns the name of a signal without `SIG`.
pub(crate) fn signal_text(signal: &Sig) -> String {
    match signal {
        Sig::Custom(name) => name.chars().filter(|c| c.is_ascii_alphanumeric()).take(16).collect(),
        known => format!("{known:?}"),
    }
}
