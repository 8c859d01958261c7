//! The only value through which `relay` prints: results to standard output, everything else to
//! standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};
use relay_engine::invisible::visible_json;
use serde::{Deserialize, Serialize};

use crate::environment;
use crate::failure::Failure;
use crate::text::{page, printable_lines, without_commands};

/// The line width for a pipe or a file.
pub(crate) const PIPE_WIDTH: usize = 100;
/// The maximum line width, for wide terminals.
const WIDTH_MAX: usize = 120;

const BOLD: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// The two outputs of `relay`.
///
/// Both streams drop unwanted styles: in a pipe, or with `NO_COLOR`.
///
/// A reader that closes standard output early, such as `head`, gets no more; the exit code is still
/// that of the whole answer, since otherwise `verify | head -1` would pass an untrusted bundle.
pub(crate) struct Output {
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
    is_closed: bool,
}

/// A text to print, perhaps more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// See [`Output::result`].
    Result(String),
    /// See [`Output::verbatim`].
    Verbatim(String),
    /// See [`Output::message`].
    Message(String),
}

/// The width and colours to render with.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Look {
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// The number of columns in a line.
    pub(crate) width: usize,
}

impl Output {
    /// Opens the standard streams of the process.
    pub(crate) fn new() -> Self {
        let (stdout, stderr) = (AutoStream::auto(io::stdout()), AutoStream::auto(io::stderr()));
        Self { stdout, stderr, is_closed: false }
    }

    /// Writes a result.
    pub(crate) fn result(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        let text = page(&text.to_string());
        let written = write!(self.stdout, "{text}").and_then(|()| self.stdout.flush());
        self.note_written(written)
    }

    /// Writes a result for programs, unchanged: dropping styles would also drop control characters
    /// of the text.
    pub(crate) fn verbatim(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = self.stdout.as_inner();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        self.note_written(written)
    }

    /// Writes a text for an agent, and a line end. It is unchanged, except invisible characters and
    /// commands of a CI.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        let text = without_commands(&printable_lines(&format!("{text}\n")));
        self.verbatim(&text)
    }

    /// Writes a result as JSON. Invisible characters are escaped, and mean the same.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        self.say(&Said::json(value)?)
    }

    /// Writes a text.
    pub(crate) fn say(&mut self, said: &Said) -> Result<(), Failure> {
        match said {
            Said::Result(text) => self.result(text),
            Said::Verbatim(text) => self.verbatim(text),
            Said::Message(text) => {
                self.message(text);
                Ok(())
            }
        }
    }

    /// Writes a message besides the result. A closed standard error is ignored.
    pub(crate) fn message(&mut self, text: impl fmt::Display) {
        let text = page(&text.to_string());
        let _ = write!(self.stderr, "{text}").and_then(|()| self.stderr.flush());
    }

    /// Writes a message for programs besides the result, unchanged.
    pub(crate) fn machine_message(&mut self, text: &str) {
        let mut stderr = self.stderr.as_inner();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Writes a note on one line.
    pub(crate) fn note(&mut self, text: impl fmt::Display) {
        self.message(format_args!("{} {}\n", bold("note:"), hanging(&text.to_string())));
    }

    /// Writes a warning.
    pub(crate) fn warn(&mut self, message: &str, help: &str) {
        self.message(format_args!("{} {}\n", styled(WARNING, "warning:"), bold(hanging(message))));
        self.message(format_args!("  {} {}\n", styled(HELP, "help:"), hanging(help)));
    }

    /// Writes the reason why a command stopped.
    pub(crate) fn fail(&mut self, message: &str, help: Option<&str>) {
        self.message(format_args!("{} {}\n", styled(ERROR, "error:"), bold(hanging(message))));
        if let Some(help) = help {
            self.message(format_args!("  {} {}\n", styled(HELP, "help:"), hanging(help)));
        }
    }

    /// Returns the width and colours for results.
    pub(crate) fn result_look(&self) -> Look {
        look(&io::stdout())
    }

    /// Returns the columns of the terminal that shows results; `None` if they go elsewhere.
    pub(crate) fn result_columns(&self) -> Option<usize> {
        io::stdout().is_terminal().then(|| self.result_look().width)
    }

    /// Returns the width and colours for everything else.
    pub(crate) fn message_look(&self) -> Look {
        look(&io::stderr())
    }

    /// Returns whether the reader of standard output closed it.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn note_written(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_closed = true,
            Err(error) => {
                let reason = crate::failure::reason(&error);
                return Err(Failure::error(format!("cannot write to standard output: {reason}")));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Returns whether standard error is a terminal that can show progress.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && !environment::is_terminal_dumb()
    }
}

impl Said {
    /// Returns a result as JSON. Invisible characters are escaped, and mean the same.
    pub(crate) fn json(value: &impl Serialize) -> Result<Self, Failure> {
        let text = serde_json::to_string_pretty(value)?;
        Ok(Self::Verbatim(format!("{}\n", visible_json(&text))))
    }
}

fn look<S: anstream::stream::RawStream>(stream: &S) -> Look {
    let width = if stream.is_terminal() {
        terminal_size::terminal_size().map_or(PIPE_WIDTH, |(width, _)| usize::from(width.0))
    } else {
        PIPE_WIDTH
    };
    Look {
        colour: AutoStream::choice(stream) != ColorChoice::Never,
        width: width.clamp(40, WIDTH_MAX),
    }
}

/// Returns `text` with its lines but the first indented, so that only the first looks like a line
/// of its own.
fn hanging(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// Returns `text` in bold.
pub(crate) fn bold(text: impl fmt::Display) -> impl fmt::Display {
    styled(BOLD, text)
}

/// Returns `text` dimmed, for details.
pub(crate) fn dim(text: impl fmt::Display) -> impl fmt::Display {
    styled(DIM, text)
}

/// Returns `text` in the colour of success.
pub(crate) fn good(text: impl fmt::Display) -> impl fmt::Display {
    styled(GOOD, text)
}

/// Returns `text` in the colour of failure.
pub(crate) fn bad(text: impl fmt::Display) -> impl fmt::Display {
    styled(ERROR, text)
}

/// Returns `text` in the colour of a warning.
pub(crate) fn doubtful(text: impl fmt::Display) -> impl fmt::Display {
    styled(WARNING, text)
}

fn styled(style: Style, text: impl fmt::Display) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, "{style}{text}{style:#}"))
}
