//! The command line as it was typed; files are opened and checked later.

use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use lexopt::prelude::{Long, Short, Value, ValueExt};
use thiserror::Error;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
Verifies a signed bundle and serves it over MCP.

Usage: relay-serve BUNDLE [OPTIONS]

Transport:
      --stdio           Serve one client on standard input and output (default)
      --http ADDR       Serve many clients on ADDR, such as 127.0.0.1:8700, at /mcp
      --end-with-stdin  Over HTTP too, stop when standard input ends: when the program that
                        started the server ends and held a pipe to it

Trust:
      --trust FILE      Whose signatures count (trust.toml); without it, only this user's
                        dev key, and only on stdio and loopback
      --state DIR       Folder for private copies of bundles and for the memory that
                        refuses an older bundle than was served before

Who and what is recorded:
      --principal NAME  The caller where no authentication names one [default: local]
      --tenant NAME     The tenant of this caller
      --group NAME      A group of this caller; may be repeated
      --role NAME       The role that is wanted for this caller
      --audit FILE      Append one JSON line to FILE for every tool call, prompt and resource
                        served or refused; `none` keeps no record
                        [default: relay/audit.jsonl in $XDG_STATE_HOME, or in
                        ~/.local/state]

      --config FILE     Server configuration (server.toml); options here take precedence
      --reference       Print every key of server.toml and trust.toml, with examples
  -h, --help            Print this help
  -V, --version         Print the version

Environment: RELAY_LOG is off, error, warn, info, debug or trace
[default: warn on stdio, info on HTTP]; the log goes to standard error, and at
trace it holds what callers typed.

Exit status: 0 ended as asked; 1 the bundle was refused; 2 wrong usage, or a file or
socket could not be used.";

/// The command to run.
#[derive(Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// Print the version.
    Version,
    /// Print the reference of the files.
    Reference,
    /// Serve a bundle.
    Serve(Box<Args>),
}

/// The options of `relay-serve`, as far as they were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Args {
    pub(crate) bundle: PathBuf,
    pub(crate) transport: Option<Transport>,
    pub(crate) config: Option<PathBuf>,
    pub(crate) trust: Option<PathBuf>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) audit: Option<PathBuf>,
    pub(crate) principal: Option<String>,
    pub(crate) tenant: Option<String>,
    pub(crate) groups: Vec<String>,
    pub(crate) role: Option<String>,
    /// Whether the server stops when standard input ends, which it always does on stdio.
    pub(crate) ends_with_stdin: bool,
}

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// One client, on standard input and output.
    Stdio,
    /// Many clients, over HTTP.
    Http(SocketAddr),
}

/// An error in the command line.
#[derive(Debug, Error)]
pub(crate) enum UsageError {
    #[error(
        "no bundle is named: write `relay-serve NAME.relay`, with a file that `relay build` wrote; --help lists the options"
    )]
    NoBundle,
    #[error("more than one bundle is named (`{}`): serve one a process", extra.display())]
    SecondBundle { extra: PathBuf },
    #[error("{option} is given twice")]
    Twice { option: &'static str },
    #[error("--stdio and --http exclude each other")]
    TwoTransports,
    #[error("`{text}` is not an address to listen on: write one as 127.0.0.1:{port}")]
    Address { text: String, port: u16 },
    #[error("{option} needs a value that is not empty")]
    Empty { option: &'static str },
    #[error("unknown option `{option}`: {help}")]
    Unknown { option: String, help: String },
    #[error("`{option}` needs a value: write `{option} {value}`")]
    NoValue { option: String, value: String },
    #[error("`{option}` takes no value: write it alone")]
    NeedlessValue { option: String },
    #[error("{0}; `relay-serve --help` lists the options")]
    Syntax(lexopt::Error),
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        match error {
            lexopt::Error::MissingValue { option: Some(option) } => {
                let mut words = HELP.split_whitespace().skip_while(|word| *word != option);
                let value = words.nth(1).unwrap_or("VALUE").to_owned();
                Self::NoValue { option, value }
            }
            lexopt::Error::UnexpectedValue { option, .. } => Self::NeedlessValue { option },
            error => Self::Syntax(error),
        }
    }
}

/// Reads the command line, after the program's name.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut args = Args::default();
    let mut bundle = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Short('V') | Long("version") => return Ok(Command::Version),
            Long("reference") => return Ok(Command::Reference),
            Long("stdio") => set_transport(&mut args, Transport::Stdio)?,
            Long("http") => {
                let address = address(&parser.value()?.string()?)?;
                set_transport(&mut args, Transport::Http(address))?;
            }
            Long("config") => set_path(&mut args.config, "--config", parser.value()?)?,
            Long("trust") => set_path(&mut args.trust, "--trust", parser.value()?)?,
            Long("state") => set_path(&mut args.state, "--state", parser.value()?)?,
            Long("audit") => set_path(&mut args.audit, "--audit", parser.value()?)?,
            Long("principal") => set_text(&mut args.principal, "--principal", parser.value()?)?,
            Long("tenant") => set_text(&mut args.tenant, "--tenant", parser.value()?)?,
            Long("group") => {
                let mut group = None;
                set_text(&mut group, "--group", parser.value()?)?;
                args.groups.extend(group);
            }
            Long("end-with-stdin") => args.ends_with_stdin = true,
            Long("role") => set_text(&mut args.role, "--role", parser.value()?)?,
            Value(path) if bundle.is_none() => bundle = Some(PathBuf::from(path)),
            Value(path) => return Err(UsageError::SecondBundle { extra: path.into() }),
            Long(option) => {
                let option = format!("--{option}");
                let value = parser.optional_value().or_else(|| parser.value().ok());
                return Err(unknown(option, value.and_then(|value| value.into_string().ok())));
            }
            Short(option) => return Err(unknown(format!("-{option}"), None)),
        }
    }
    args.bundle = bundle.ok_or(UsageError::NoBundle)?;
    Ok(Command::Serve(Box::new(args)))
}

/// Options of other servers, and those that were meant.
const MEANT: [(&str, &str); 7] = [
    ("--addr", "--http"),
    ("--address", "--http"),
    ("--bind", "--http"),
    ("--host", "--http"),
    ("--listen", "--http"),
    ("-p", "--http"),
    ("--port", "--http"),
];

/// Returns the error for an unknown option, with the meant one.
fn unknown(option: String, value: Option<String>) -> UsageError {
    let known: Vec<&str> = HELP
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([';', ',', '.']))
        .collect();
    let help = if MEANT.iter().any(|(other, _)| *other == option) {
        let value = value.unwrap_or_default();
        let host = value.parse().is_ok_and(|_: std::net::IpAddr| true).then_some(value.as_str());
        format!("write `--http {}:{}`", host.unwrap_or("127.0.0.1"), port_in(&value))
    } else {
        let near = known
            .iter()
            .map(|name| (strsim::osa_distance(&option, name), *name))
            .min()
            .filter(|(distance, name)| *distance * 3 <= name.len());
        match near {
            Some((_, name)) => format!("did you mean `{name}`?"),
            None => "`relay-serve --help` lists the options".to_owned(),
        }
    };
    UsageError::Unknown { option, help }
}

/// Returns the port of a text, alone or at its end, by default the usual one.
fn port_in(text: &str) -> u16 {
    text.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(8700)
}

fn set_transport(args: &mut Args, transport: Transport) -> Result<(), UsageError> {
    match args.transport.replace(transport) {
        None => Ok(()),
        Some(Transport::Stdio) if transport == Transport::Stdio => {
            Err(UsageError::Twice { option: "--stdio" })
        }
        Some(Transport::Http(_)) if transport != Transport::Stdio => {
            Err(UsageError::Twice { option: "--http" })
        }
        Some(_) => Err(UsageError::TwoTransports),
    }
}

fn set_path(
    slot: &mut Option<PathBuf>,
    option: &'static str,
    value: OsString,
) -> Result<(), UsageError> {
    set(slot, option, value.is_empty(), value.into())
}

fn set_text(
    slot: &mut Option<String>,
    option: &'static str,
    value: OsString,
) -> Result<(), UsageError> {
    let value = value.string()?;
    set(slot, option, value.is_empty(), value)
}

fn set<T>(
    slot: &mut Option<T>,
    option: &'static str,
    empty: bool,
    value: T,
) -> Result<(), UsageError> {
    if empty {
        return Err(UsageError::Empty { option });
    }
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(UsageError::Twice { option }),
    }
}

/// Reads `127.0.0.1:8700`, `[::1]:8700` or `localhost:8700`.
fn address(text: &str) -> Result<SocketAddr, UsageError> {
    text.to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| UsageError::Address { text: text.to_owned(), port: port_in(text) })
}
