//! A command on a host: its input, its output, its end.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use russh::{ChannelMsg, Sig};
use tokio::time::{Instant, Sleep, sleep, timeout};

use crate::channel::{Reader, Writer};
use output::Kept;

pub use output::{End, Fate, Finished};

mod output;

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

/// The terminal of a command that asks for one.
const TERMINAL: (&str, u32, u32) = ("xterm-256color", 80, 24);

/// The code of standard error in SSH.
const STANDARD_ERROR: u32 = 1;

/// A command for the login shell of the user.
#[derive(Clone, Debug)]
pub struct Command {
    /// The text, which the login shell reads.
    pub text: Vec<u8>,
    /// The standard input. Its end is sent in any case.
    pub input: Vec<u8>,
    /// Whether standard error goes into the standard output, in the order of arrival.
    pub merge: bool,
    /// The first bytes of both outputs together that are kept. More is read and counted.
    pub output_bytes_max: usize,
    /// The longest time from the request to the end.
    pub timeout: Duration,
    /// Whether the command gets a terminal. OpenSSH then ends it when the channel closes, also for root,
    /// which it does not signal.
    pub terminal: bool,
}

/// Runs a command on an open channel. Does not fail: each outcome is an [`End`].
pub(crate) async fn run(
    channel: (Reader, Arc<Writer>),
    command: Command,
    stop: impl Future<Output = ()>,
) -> Finished {
    let (mut reader, writer) = channel;
    let mut kept = Kept::new(command.output_bytes_max, command.merge);
    let mut course = Course::new(command.terminal);
    let mut clock = pin!(sleep(command.timeout));
    let mut stop = pin!(stop);
    let mut feed = pin!(feed(&writer, command));
    let mut fed = false;
    while !course.is_over() {
        tokio::select! {
            message = reader.next() => {
                course.take(message, &mut kept);
                if course.has_status() {
                    course.set_rest(clock.as_mut());
                }
            }
            sent = &mut feed, if !fed => {
                fed = true;
                // A lost connection also ends the reader, after what has arrived.
                let _ = sent;
            }
            () = &mut clock => course.run_out(&writer, clock.as_mut(), Why::Timeout).await,
            () = &mut stop, if course.may_stop() => {
                course.run_out(&writer, clock.as_mut(), Why::Stop).await;
            }
        }
    }
    kept.finish(course.end())
}

/// Sends the command and its input.
async fn feed(writer: &Writer, command: Command) -> Result<(), crate::channel::Gone> {
    let Command { text, input, terminal, .. } = command;
    if terminal {
        let (name, columns, rows) = TERMINAL;
        writer.terminal(name, columns, rows).await?;
    }
    writer.exec(&text).await?;
    if !input.is_empty() {
        writer.send(input).await?;
    }
    if terminal {
        // The end of input of a terminal is a character, since the line stays open.
        writer.send(vec![END_OF_TRANSMISSION]).await?;
    }
    writer.end_input().await
}

/// Control-D.
const END_OF_TRANSMISSION: u8 = 4;

/// The reason why a command is ended early.
#[derive(Clone, Copy)]
enum Why {
    Timeout,
    Stop,
}

/// The course of one command.
struct Course {
    step: Step,
    why: Option<Why>,
    status: Option<End>,
    /// The time when the status came.
    status_at: Option<Instant>,
    /// The requests that the host has yet to answer.
    unanswered: u32,
    outcome: Option<End>,
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    Running,
    Terminated,
    Killed,
    Over,
}

impl Course {
    fn new(terminal: bool) -> Self {
        let unanswered = if terminal { 2 } else { 1 };
        Self {
            step: Step::Running,
            why: None,
            status: None,
            status_at: None,
            unanswered,
            outcome: None,
        }
    }

    fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    fn has_status(&self) -> bool {
        self.status.is_some()
    }

    fn may_stop(&self) -> bool {
        self.why.is_none() && self.status.is_none()
    }

    fn take(&mut self, message: Option<ChannelMsg>, kept: &mut Kept) {
        match message {
            Some(ChannelMsg::Data { data }) => kept.stdout(&data),
            Some(ChannelMsg::ExtendedData { data, ext: STANDARD_ERROR }) => kept.stderr(&data),
            Some(ChannelMsg::ExitStatus { exit_status }) => self.note(End::Exited(exit_status)),
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                self.note(End::Signalled(signal_text(&signal_name)));
            }
            Some(ChannelMsg::Success) => self.unanswered = self.unanswered.saturating_sub(1),
            // No close follows a refused request.
            Some(ChannelMsg::Failure) if self.unanswered > 0 => self.finish(End::Refused),
            Some(ChannelMsg::Close) => self.finish(End::NoStatus),
            None => self.finish(End::Lost),
            Some(_) => {}
        }
    }

    fn note(&mut self, end: End) {
        self.status = Some(end);
        self.status_at = Some(Instant::now());
    }

    fn finish(&mut self, without_status: End) {
        self.step = Step::Over;
        self.outcome = Some(without_status);
    }

    /// Waits for the rest of the output, once the status is known.
    fn set_rest(&self, clock: Pin<&mut Sleep>) {
        let now = Instant::now();
        let last = self.status_at.unwrap_or(now) + REST_MAX;
        clock.reset(last.min(now + QUIET));
    }

    /// Takes the next step to end the command.
    async fn run_out(&mut self, writer: &Writer, clock: Pin<&mut Sleep>, why: Why) {
        if self.has_status() {
            self.finish(End::NoStatus);
            return;
        }
        self.why.get_or_insert(why);
        let (signal, next, wait) = match self.step {
            Step::Running => (Sig::TERM, Step::Terminated, GRACE),
            Step::Terminated => (Sig::KILL, Step::Killed, KILL_WAIT),
            Step::Killed | Step::Over => {
                self.step = Step::Over;
                return;
            }
        };
        let _ = timeout(SEND_MAX, writer.signal(signal)).await;
        self.step = next;
        clock.reset(Instant::now() + wait);
    }

    fn end(self) -> End {
        let Some(why) = self.why else {
            return self.status.or(self.outcome).unwrap_or(End::NoStatus);
        };
        // A closed channel says that the host has ended the command, a lost connection says nothing.
        let closed = self.outcome == Some(End::NoStatus);
        let fate = if self.status.is_some() || closed { Fate::Ended } else { Fate::MayStillRun };
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
