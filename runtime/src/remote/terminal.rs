//! A program in a terminal of another host, as a session drives it.

use std::fmt;
use std::io;

use relay_keeper::{Signal, Size};
use relay_ssh::{Chunk, End as HostEnd, Terminal as Channel, TerminalError};

use super::signals::{signal_name, signal_number};
use crate::process::{Doing, End, Kind, Screen, SignalError, Terminal};

/// The keys that signal the jobs of a terminal: the host signals the first program alone, and none of root.
const KEYS: [(Signal, u8); 3] = [(Signal::INT, 3), (Signal::QUIT, 0x1c), (Signal::TSTP, 0x1a)];

/// A program in a terminal of another host.
pub(crate) struct RemoteTerminal(pub(crate) Channel);

impl Terminal for RemoteTerminal {
    fn kind(&self) -> Kind {
        Kind::Remote
    }

    fn next<'a>(&'a self, screen: &'a Screen) -> Doing<'a, Option<End>> {
        Box::pin(async move {
            match self.0.read().await {
                Some(Chunk { bytes, dropped }) => {
                    screen.count_dropped(dropped);
                    screen.add(&bytes);
                    None
                }
                None => Some(end(self.0.ended().await)),
            }
        })
    }

    fn write<'a>(&'a self, text: &'a str) -> Doing<'a, io::Result<()>> {
        Box::pin(async move { self.0.write(text.into()).await.map_err(failed) })
    }

    fn resize(&self, size: Size) -> Doing<'_, io::Result<()>> {
        let Size { columns, rows } = size;
        Box::pin(async move { self.0.resize(columns, rows).await.map_err(failed) })
    }

    fn signal(&self, signal: Signal) -> Doing<'_, Result<(), SignalError>> {
        Box::pin(async move {
            let key = KEYS.iter().find(|(known, _)| *known == signal);
            let sent = match (key, signal_name(signal.as_raw())) {
                (Some((_, key)), _) => self.0.write(vec![*key]).await,
                (None, Some(name)) => self.0.signal(name).await,
                (None, None) => return Err(SignalError::Unknown),
            };
            sent.map_err(|error| match error {
                TerminalError::Blocked => SignalError::Blocked,
                TerminalError::Ended | TerminalError::Refused => SignalError::Ended,
            })
        })
    }

    fn end(&self) -> Doing<'_, bool> {
        Box::pin(async move { self.0.end().is_some() || self.0.kill().await.is_some() })
    }

    /// A host does not show the modes of its terminals.
    fn hides_input(&self) -> bool {
        false
    }
}

fn end(end: HostEnd) -> End {
    let code = match &end {
        HostEnd::Exited(code) => i32::try_from(*code).ok(),
        HostEnd::Signalled(name) => signal_number(name).map(|number| -number),
        HostEnd::Lost => {
            return End::Unknown("the connection was lost, so the program may still run");
        }
        _ => None,
    };
    code.map_or(End::Unknown("the host closed the terminal without a status"), End::Exited)
}

fn failed(error: TerminalError) -> io::Error {
    let kind = match error {
        TerminalError::Blocked => io::ErrorKind::TimedOut,
        TerminalError::Ended | TerminalError::Refused => io::ErrorKind::BrokenPipe,
    };
    io::Error::new(kind, error)
}

impl fmt::Debug for RemoteTerminal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteTerminal").field("end", &self.0.end()).finish()
    }
}
