//! Messages between server and keeper, and their bytes.
//!
//! Both sides are one program, so an unreadable message ends the connection.

use std::ffi::CString;
use std::time::Duration;

use crate::job::{Ended, Reach, STRINGS_MAX, Size, Step};
#[cfg(feature = "seccomp")]
use crate::observation::Observation;
use crate::wire::{Malformed, Reader, Writer};

/// The version of the messages. The server refuses a keeper of another one.
pub(crate) const VERSION: u32 = 2;

/// The most bytes of a body that travel inside a message; a larger body is an attached file.
pub(crate) const INLINE_BYTES_MAX: usize = 32 << 10;

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Start a job. Three descriptors come with it unless it has a terminal, then the file of an
    /// attached body. So many observed calls are reported; with 0 the job runs unobserved.
    Start { number: u64, terminal: Option<Size>, observed_max: u32, body: Place },
    /// Signal a job; answered.
    Signal { token: u64, number: u64, reach: Reach, signal: i32 },
    /// End a job and keep its leader as a zombie; answered with the number of processes left.
    End { token: u64, number: u64, grace: Duration },
    /// End a job and forget it.
    Release { number: u64 },
    /// End every process that carries the mark of an earlier keeper.
    Sweep { keeper: u64 },
}

/// Where the body of a start is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the message.
    Inline(Vec<u8>),
    /// In an attached file of so many bytes.
    Attached(u32),
}

/// Everything that `posix_spawn` is given as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) program: CString,
    pub(crate) cwd: CString,
    pub(crate) argv: Vec<CString>,
    /// Entries of the form `NAME=value`.
    pub(crate) environment: Vec<CString>,
}

/// A message of the keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The keeper takes requests; the number is in the marks of its jobs.
    Ready { version: u32, keeper: u64 },
    /// The keeper failed to set itself up, and exits.
    Failed { errno: i32 },
    /// A job runs. The terminal's descriptor comes with it.
    Started { number: u64, pid: i32 },
    /// The start of a job failed.
    Refused { number: u64, step: Step, errno: i32 },
    /// The leader of a job ended.
    Exited { number: u64, ended: Ended },
    /// The system calls of a job.
    #[cfg(feature = "seccomp")]
    Observed { number: u64, observation: Observation },
    /// The answer to a request with a token: a count, or the error number.
    Answer { token: u64, outcome: Result<u32, i32> },
}

impl Request {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Start { number, terminal, observed_max, body } => {
                out.u8(1).u64(*number).u32(*observed_max);
                match terminal {
                    None => out.u8(0),
                    Some(Size { columns, rows }) => out.u8(1).u16(*columns).u16(*rows),
                };
                match body {
                    Place::Inline(bytes) => out.u8(0).raw(bytes),
                    Place::Attached(length) => out.u8(1).u32(*length),
                };
            }
            Self::Signal { token, number, reach, signal } => {
                let reach = u8::from(*reach == Reach::Session);
                out.u8(2).u64(*token).u64(*number).u8(reach).i32(*signal);
            }
            Self::End { token, number, grace } => {
                let milliseconds = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
                out.u8(3).u64(*token).u64(*number).u32(milliseconds);
            }
            Self::Release { number } => _ = out.u8(4).u64(*number),
            Self::Sweep { keeper } => _ = out.u8(5).u64(*keeper),
        }
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader(bytes);
        let request = match from.u8()? {
            1 => Self::Start {
                number: from.u64()?,
                observed_max: from.u32()?,
                terminal: terminal(&mut from)?,
                body: place(&mut from)?,
            },
            2 => Self::Signal {
                token: from.u64()?,
                number: from.u64()?,
                reach: if from.u8()? == 0 { Reach::Group } else { Reach::Session },
                signal: from.i32()?,
            },
            3 => Self::End {
                token: from.u64()?,
                number: from.u64()?,
                grace: Duration::from_millis(from.u32()?.into()),
            },
            4 => Self::Release { number: from.u64()? },
            5 => Self::Sweep { keeper: from.u64()? },
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(request)
    }
}

fn terminal(from: &mut Reader<'_>) -> Result<Option<Size>, Malformed> {
    match from.u8()? {
        0 => Ok(None),
        1 => Ok(Some(Size { columns: from.u16()?, rows: from.u16()? })),
        _ => Err(Malformed),
    }
}

fn place(from: &mut Reader<'_>) -> Result<Place, Malformed> {
    match from.u8()? {
        0 => from.bytes(from.0.len()).map(|bytes| Place::Inline(bytes.to_vec())),
        1 => from.u32().map(Place::Attached),
        _ => Err(Malformed),
    }
}

impl Body {
    /// Returns the bytes of a body with these variables.
    #[cfg(feature = "seccomp")]
    pub(crate) fn encode_with(&self, environment: &[CString]) -> Vec<u8> {
        let mut out = Writer::default();
        for count in [self.argv.len(), environment.len()] {
            out.u32(u32::try_from(count).unwrap_or(u32::MAX));
        }
        for text in [&self.program, &self.cwd].into_iter().chain(&self.argv).chain(environment) {
            out.text(&[text.as_bytes()]);
        }
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader(bytes);
        let [arguments, variables] = [from.u32()?, from.u32()?].map(usize::try_from);
        let (arguments, variables) =
            (arguments.map_err(|_| Malformed)?, variables.map_err(|_| Malformed)?);
        if arguments == 0 || arguments.saturating_add(variables) > STRINGS_MAX {
            return Err(Malformed);
        }
        let body = Self {
            program: from.text()?,
            cwd: from.text()?,
            argv: from.texts(arguments)?,
            environment: from.texts(variables)?,
        };
        from.end()?;
        Ok(body)
    }
}

impl Event {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Ready { version, keeper } => out.u8(1).u32(*version).u64(*keeper),
            Self::Failed { errno } => out.u8(2).i32(*errno),
            Self::Started { number, pid } => out.u8(3).u64(*number).i32(*pid),
            Self::Refused { number, step, errno } => {
                out.u8(4).u64(*number).u8(*step as u8).i32(*errno)
            }
            Self::Exited { number, ended } => match ended {
                Ended::Code(code) => out.u8(5).u64(*number).u8(0).i32(*code),
                Ended::Signal(signal) => out.u8(5).u64(*number).u8(1).i32(*signal),
                Ended::Lost => out.u8(5).u64(*number).u8(2).i32(0),
            },
            #[cfg(feature = "seccomp")]
            Self::Observed { number, observation } => {
                observation.encode(out.u8(7).u64(*number));
                &mut out
            }
            Self::Answer { token, outcome } => match outcome {
                Ok(count) => out.u8(6).u64(*token).u8(0).u32(*count),
                Err(errno) => out.u8(6).u64(*token).u8(1).i32(*errno),
            },
        };
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader(bytes);
        let event = match from.u8()? {
            1 => Self::Ready { version: from.u32()?, keeper: from.u64()? },
            2 => Self::Failed { errno: from.i32()? },
            3 => Self::Started { number: from.u64()?, pid: from.i32()? },
            4 => Self::Refused { number: from.u64()?, step: step(from.u8()?)?, errno: from.i32()? },
            5 => Self::Exited { number: from.u64()?, ended: ended(&mut from)? },
            6 => Self::Answer { token: from.u64()?, outcome: outcome(&mut from)? },
            #[cfg(feature = "seccomp")]
            7 => {
                Self::Observed { number: from.u64()?, observation: Observation::decode(&mut from)? }
            }
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(event)
    }
}

fn step(byte: u8) -> Result<Step, Malformed> {
    let steps = [Step::Admit, Step::Cwd, Step::Terminal, Step::Exec];
    steps.into_iter().find(|step| *step as u8 == byte).ok_or(Malformed)
}

fn ended(from: &mut Reader<'_>) -> Result<Ended, Malformed> {
    match (from.u8()?, from.i32()?) {
        (0, code) => Ok(Ended::Code(code)),
        (1, signal) => Ok(Ended::Signal(signal)),
        (2, _) => Ok(Ended::Lost),
        _ => Err(Malformed),
    }
}

fn outcome(from: &mut Reader<'_>) -> Result<Result<u32, i32>, Malformed> {
    match from.u8()? {
        0 => from.u32().map(Ok),
        1 => from.i32().map(Err),
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(request) = Request::decode(&bytes) {
                if let Request::Start { body: Place::Inline(body), .. } = &request {
                    let _ = Body::decode(body);
                }
                prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
            }
            if let Ok(event) = Event::decode(&bytes) {
                prop_assert_eq!(Event::decode(&event.encode()), Ok(event));
            }
            let _ = Body::decode(&bytes);
        }

        /// Most random bytes fail at the first one: these are messages with a few bytes changed.
        #[test]
        fn damaged_messages_are_messages_or_errors(
            request in requests(),
            cut in any::<prop::sample::Index>(),
            change in any::<(prop::sample::Index, u8)>(),
        ) {
            prop_assert_eq!(Request::decode(&request.encode()), Ok(request.clone()));
            let mut bytes = request.encode();
            let at = change.0.index(bytes.len());
            bytes[at] = change.1;
            bytes.truncate(cut.index(bytes.len()) + 1);
            if let Ok(Request::Start { body: Place::Inline(body), .. }) = Request::decode(&bytes) {
                let _ = Body::decode(&body);
            }
        }
    }

    fn requests() -> impl Strategy<Value = Request> {
        let body =
            (any::<Vec<Vec<u8>>>(), any::<Vec<Vec<u8>>>()).prop_map(|(argv, environment)| {
                let mut out = Writer::default();
                out.u32(argv.len() as u32).u32(environment.len() as u32);
                out.text(&[b"/bin/true"]).text(&[b"/"]);
                for text in argv.iter().chain(&environment) {
                    out.text(&[text]);
                }
                out.0
            });
        let terminal = proptest::option::of(any::<(u16, u16)>());
        prop_oneof![
            (any::<(u64, u32)>(), terminal, body).prop_map(
                |((number, observed_max), size, body)| {
                    let terminal = size.map(|(columns, rows)| Size { columns, rows });
                    Request::Start { number, terminal, observed_max, body: Place::Inline(body) }
                }
            ),
            any::<(u64, u64, bool, i32)>().prop_map(|(token, number, all, signal)| {
                let reach = if all { Reach::Session } else { Reach::Group };
                Request::Signal { token, number, reach, signal }
            }),
            any::<(u64, u64, u32)>().prop_map(|(token, number, milliseconds)| Request::End {
                token,
                number,
                grace: Duration::from_millis(milliseconds.into()),
            }),
            any::<u64>().prop_map(|number| Request::Release { number }),
            any::<u64>().prop_map(|keeper| Request::Sweep { keeper }),
        ]
    }
}
