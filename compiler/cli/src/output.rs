//! The one value through which `relay` prints: results to standard output, all else to standard
//! error.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::environment;
use crate::failure::Failure;
use crate::text::printable;

/// The width of what is written to something that has none: a pipe, a file.
pub(crate) const PIPE_WIDTH: usize = 100;
/// No line is drawn wider than this, however wide the terminal is.
const WIDTH_MAX: usize = 120;

const BOLD: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();

/// Where `relay` prints.
///
/// Both streams drop styles where they are not wanted: in a pipe, under `NO_COLOR`.
pub(crate) struct Output {
    stdout: AutoStream<io::Stdout>,
    stderr: AutoStream<io::Stderr>,
}

/// How something may be drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Whether colours are wanted.
    pub(crate) colour: bool,
    /// Characters in a line.
    pub(crate) width: usize,
}

impl Output {
    /// Takes the streams of the process.
    pub(crate) fn new() -> Self {
        Self { stdout: AutoStream::auto(io::stdout()), stderr: AutoStream::auto(io::stderr()) }
    }

    /// Writes a result.
    pub(crate) fn result(&mut self, text: impl fmt::Display) -> Result<(), Failure> {
        written(write!(self.stdout, "{text}").and_then(|()| self.stdout.flush()))
    }

    /// Writes a result for programs, as it is: where styles are dropped, control characters that
    /// belong to the text would go with them.
    pub(crate) fn verbatim(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = self.stdout.as_inner();
        written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
    }

    /// Writes a text that an agent gets and a line end: as it is, save that a terminal shows
    /// characters that would change it.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        let text = format!("{text}\n");
        if io::stdout().is_terminal() {
            self.result(printable(&text))
        } else {
            self.verbatim(&text)
        }
    }

    /// Writes a result as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.verbatim(&text)
    }

    /// Writes something that is not a result. That no one reads it is no failure.
    pub(crate) fn message(&mut self, text: impl fmt::Display) {
        let _ = write!(self.stderr, "{text}").and_then(|()| self.stderr.flush());
    }

    /// Writes one line that is neither error nor result.
    pub(crate) fn note(&mut self, text: impl fmt::Display) {
        self.message(format_args!("{} {text}\n", bold("note:")));
    }

    /// Warns of something that someone will regret.
    pub(crate) fn warn(&mut self, message: &str, help: &str) {
        self.message(format_args!("{} {}\n", styled(WARNING, "warning:"), bold(message)));
        self.message(format_args!("  {} {help}\n", styled(HELP, "help:")));
    }

    /// Says why a command stopped.
    pub(crate) fn fail(&mut self, message: &str, help: Option<&str>) {
        self.message(format_args!("{} {}\n", styled(ERROR, "error:"), bold(message)));
        if let Some(help) = help {
            self.message(format_args!("  {} {help}\n", styled(HELP, "help:")));
        }
    }

    /// Returns how results may be drawn.
    pub(crate) fn result_look(&self) -> Look {
        look(&io::stdout())
    }

    /// Returns how everything else may be drawn.
    pub(crate) fn message_look(&self) -> Look {
        look(&io::stderr())
    }

    /// Returns whether a person watches standard error, so that progress means something.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && !environment::is_terminal_dumb()
    }
}

fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::unknown(format!(
            "cannot write to standard output: {}",
            crate::failure::reason(&error)
        )),
    })
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

/// Returns `text` in bold.
pub(crate) fn bold(text: impl fmt::Display) -> impl fmt::Display {
    styled(BOLD, text)
}

/// Returns `text` dimmed: what is there for reference.
pub(crate) fn dim(text: impl fmt::Display) -> impl fmt::Display {
    styled(DIM, text)
}

/// Returns `text` in the colour of a yes.
pub(crate) fn good(text: impl fmt::Display) -> impl fmt::Display {
    styled(GOOD, text)
}

/// Returns `text` in the colour of a no.
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
