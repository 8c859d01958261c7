//! A command on a host: its input, its output, its end.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use russh::ChannelMsg;
use tokio::time::sleep;

use crate::channel::{Gone, Reader, Writer};
use course::{Course, Why};
use output::Kept;

pub(crate) use course::signal_text;
pub use output::{End, Fate, Finished};

mod course;
mod output;

/// The terminal of a command that asks for one.
const TERMINAL: (&str, u32, u32) = ("xterm-256color", 80, 24);

/// A command for the login shell of the user.
#[derive(Clone)]
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

/// Leaves out the text and the input, which may hold secrets.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, input, merge: _, output_bytes_max: _, timeout, terminal } = self;
        f.debug_struct("Command")
            .field("text_bytes", &text.len())
            .field("input_bytes", &input.len())
            .field("timeout", timeout)
            .field("terminal", terminal)
            .finish_non_exhaustive()
    }
}

/// Control-D.
const END_OF_TRANSMISSION: u8 = 4;

/// Runs a command on an open channel. Each outcome, failures included, is an [`End`].
pub(crate) async fn run(
    channel: (Reader, Arc<Writer>),
    command: Command,
    stop: impl Future<Output = ()>,
) -> Finished {
    let (mut reader, writer) = channel;
    let mut kept = Kept::new(command.output_bytes_max, command.merge);
    let mut clock = pin!(sleep(command.timeout));
    let mut stop = pin!(stop);
    if command.terminal {
        // The command follows the grant: where the terminal is refused, it would run all the same.
        let granted = tokio::select! {
            granted = grant(&mut reader, &writer) => granted,
            () = &mut clock => Err(End::TimedOut(Fate::NotBegun)),
            () = &mut stop => Err(End::Stopped(Fate::NotBegun)),
        };
        if let Err(end) = granted {
            return kept.finish(end);
        }
    }
    let mut course = Course::default();
    let sent = AtomicBool::new(false);
    let mut feed = pin!(feed(&writer, command, &sent));
    let mut fed = false;
    while !course.is_over() {
        tokio::select! {
            message = reader.next() => {
                course.take(message, &mut kept);
                if course.has_status() {
                    course.set_rest(clock.as_mut());
                }
            }
            result = &mut feed, if !fed => {
                fed = true;
                // A lost connection also ends the reader, after what has arrived.
                let _ = result;
            }
            () = &mut clock => {
                course.run_out(Why::Timeout, sent.load(Ordering::Relaxed));
                course.urge(&writer, clock.as_mut());
            }
            () = &mut stop, if course.may_stop() => {
                course.run_out(Why::Stop, sent.load(Ordering::Relaxed));
                course.urge(&writer, clock.as_mut());
            }
        }
    }
    kept.finish(course.end())
}

/// Asks for a terminal.
async fn grant(reader: &mut Reader, writer: &Writer) -> Result<(), End> {
    let (name, columns, rows) = TERMINAL;
    writer.terminal(name, columns, rows).await.map_err(|_| End::Lost)?;
    loop {
        match reader.next().await {
            Some(ChannelMsg::Success) => return Ok(()),
            Some(ChannelMsg::Failure | ChannelMsg::Close) => return Err(End::Refused),
            Some(_) => {}
            None => return Err(End::Lost),
        }
    }
}

/// Sends the command and its input.
async fn feed(writer: &Writer, command: Command, sent: &AtomicBool) -> Result<(), Gone> {
    let Command { text, input, terminal, .. } = command;
    writer.exec(&text).await?;
    sent.store(true, Ordering::Relaxed);
    let ends_in_line = !input.is_empty() && !input.ends_with(b"\n");
    if !input.is_empty() {
        writer.send(input).await?;
    }
    if terminal {
        // The end of input of a terminal is a character, since the line stays open. After an unfinished
        // line it takes two: the first hands the line over.
        let marks = if ends_in_line { 2 } else { 1 };
        writer.send(vec![END_OF_TRANSMISSION; marks]).await?;
    }
    writer.end_input().await
}
