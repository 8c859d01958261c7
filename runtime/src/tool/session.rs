//! `shell_spawn` and the `session_` tools: programs in a terminal, which their owner types into.

use std::sync::Arc;
use std::time::Duration;

use relay_bundle::SessionSettings;
use relay_engine::tool::{Arguments, plain_words};
use relay_keeper::{Job, Signal, Size, StartError, Streams};
use serde_json::{Value, json};

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use super::observed;
use crate::caller::principal::CallerKey;
use crate::caller::slots::Slot;
use crate::process::{
    Counts, End, Ends, Folder, LocalTerminal, NoSession, Origin, Program, Received, Session, Shown,
    SignalError, locate,
};

/// The terminal of every session.
pub(super) const TERM: (&str, &str) = ("TERM", "xterm-256color");
/// The note on a session whose program did not surely end.
const MAY_RUN: &str = "; its program did not report its end, so it may still run";
/// The longest title of a session in characters.
const TITLE_CHARS_MAX: usize = 80;

/// `shell_spawn`.
pub(super) struct ShellSpawn;
/// `session_send`.
pub(super) struct SessionSend;
/// `session_recv`.
pub(super) struct SessionRecv;
/// `session_resize`.
pub(super) struct SessionResize;
/// `session_kill`.
pub(super) struct SessionKill;
/// `session_list`.
pub(super) struct SessionList;

impl Tool for ShellSpawn {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let text = run.arguments.text("command").unwrap_or_default();
            if let Some(words) = plain_words(text) {
                match spawn(permit, &run, words).await {
                    Err(CallError::NotStarted) => {}
                    done => return done,
                }
            }
            let bash = ["bash", "--norc", "--noprofile", "-p"].map(ToOwned::to_owned);
            let read = ["-c".to_owned(), text.to_owned()].into_iter();
            let words = bash.into_iter().chain(read.filter(|_| !text.trim().is_empty()));
            spawn(permit, &run, words.collect()).await
        })
    }
}

async fn spawn(permit: &Permit, run: &Run<'_>, words: Vec<String>) -> Result<Outcome, CallError> {
    let failed = |error: &dyn ToString| CallError::Failed(error.to_string());
    let (processes, loaded) = (&run.call.server.processes, &run.call.placed.loaded);
    let Some(Folder { path: cwd, location }) = permit.folder().cloned() else {
        return Err(CallError::Failed("the folder of the call is unknown".to_owned()));
    };
    let json = run.arguments.text("env_json").unwrap_or_default();
    let mut environment =
        processes.variables(&loaded.shell(), json).map_err(|error| failed(&error))?;
    if !environment.iter().any(|(name, _)| name == TERM.0 && !json.is_empty()) {
        environment.retain(|(name, _)| name != TERM.0);
        environment.push((TERM.0.into(), TERM.1.into()));
    }
    let name = words.first().map(String::as_str).unwrap_or_default();
    let program = locate(name, &cwd, &environment).ok_or(CallError::NotStarted)?;
    let room = Room::take(run)?;
    let keeper = processes.keeper().await.map_err(|error| failed(&error))?;
    let size = size(&run.arguments);
    let title = words.join(" ");
    let argv = words.into_iter().map(Into::into).collect();
    let job = Job { program, argv, environment, cwd, streams: Streams::Terminal(size) };
    // Its system calls are recorded as long as it runs.
    let (running, _) = match observed::spawn(run.call, keeper, job).await {
        Ok(started) => started,
        Err(StartError::Exec(_)) => return Err(CallError::NotStarted),
        Err(error) => return Err(failed(&error)),
    };
    let terminal = Box::new(LocalTerminal::new(running).map_err(|error| failed(&error))?);
    let origin = Origin {
        tool: permit.spec().name,
        arguments: run.given.clone(),
        location,
        is_approved: permit.is_approved(),
    };
    room.begin(Program { title, terminal, size, origin })
}

/// The room for one more session of a caller, taken before its program starts.
pub(super) struct Room<'r> {
    run: &'r Run<'r>,
    slot: Slot<CallerKey>,
}

impl<'r> Room<'r> {
    /// Takes it, unless the caller or the server has as many sessions as they may.
    pub(super) fn take(run: &'r Run<'r>) -> Result<Self, CallError> {
        let sessions_max = run.call.limits().sessions_max as usize;
        let slot = run.call.server.processes.session_room(&run.call.caller.principal, sessions_max);
        Ok(Self { run, slot: slot.map_err(unbegun)? })
    }

    /// Makes a program that runs a session, and answers with its id.
    pub(super) fn begin(self, mut program: Program) -> Result<Outcome, CallError> {
        let Self { run, slot } = self;
        program.title = program.title.chars().take(TITLE_CHARS_MAX).collect();
        let owner = run.call.caller.principal.clone();
        let ends = ends(run.call.placed.loaded.sessions());
        let begun = run.call.server.processes.add_session((owner, slot), program, ends);
        let begun = begun.map_err(unbegun)?;
        let Session { id, title, .. } = &*begun;
        let text = format!(
            "session {id} started ({title}); use session_send and session_recv with this id"
        );
        Ok(Outcome { began: Some(("session_id", id.clone())), ..Outcome::of_text(text) })
    }
}

fn unbegun(error: NoSession) -> CallError {
    CallError::Failed(error.to_string())
}

fn ends(settings: Option<&SessionSettings>) -> Ends {
    let seconds = |number: Option<u32>| Duration::from_secs(number.unwrap_or_default().into());
    Ends {
        idle: seconds(settings.map(|settings| settings.idle_s.value)),
        lifetime: seconds(settings.map(|settings| settings.lifetime_s.value)),
    }
}

/// Returns the size of a terminal that a call asks for.
pub(super) fn size(arguments: &Arguments<'_>) -> Size {
    let number = |name: &str| {
        let number = arguments.integer(name).and_then(|number| u16::try_from(number).ok());
        number.unwrap_or(1)
    };
    Size { columns: number("cols"), rows: number("rows") }
}

/// Returns the caller's session that a call names.
fn session(permit: &Permit, run: &Run<'_>) -> Result<Arc<Session>, CallError> {
    let id = run.arguments.text("session_id").unwrap_or_default();
    let found = run.call.server.processes.session(id, permit.principal());
    found.ok_or_else(|| CallError::Failed("unknown session; session_list names yours".to_owned()))
}

impl Tool for SessionSend {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let session = session(permit, &run)?;
            let text = typed(&run.arguments);
            if session.shown().ended.is_some() {
                return Err(CallError::Failed("the session has ended".to_owned()));
            }
            let sent = session.send(&text, permit.pending()).await;
            sent.map_err(|error| CallError::Failed(error.to_string()))?;
            Ok(Outcome::of_text(format!("sent {} bytes to {}", text.len(), session.id)))
        })
    }
}

/// Returns the text that a call types.
fn typed(arguments: &Arguments<'_>) -> String {
    let data = arguments.text("data").unwrap_or_default();
    let enter = if arguments.boolean("enter").unwrap_or(true) { "\n" } else { "" };
    format!("{data}{enter}")
}

impl Tool for SessionRecv {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let session = session(permit, &run)?;
            let number = |name: &str| run.arguments.integer(name).unwrap_or_default();
            let wait = Duration::from_millis(u64::try_from(number("timeout")).unwrap_or_default());
            let bytes_max = usize::try_from(number("max_bytes")).unwrap_or_default();
            Ok(match session.receive(wait, bytes_max).await {
                Received::Output(text) => Outcome::of_text(text),
                Received::End(end) => {
                    let mut text = match end.exit_code() {
                        Some(code) => format!("[session {} ended, exit={code}]", session.id),
                        None => format!("[session {} ended, exit=unknown]", session.id),
                    };
                    if let End::Unknown(reason) = end {
                        text.push_str(&format!("\n[ERROR: {reason}]"));
                    }
                    Outcome { exit_code: end.exit_code(), ..Outcome::of_text(text) }
                }
            })
        })
    }
}

impl Tool for SessionResize {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let session = session(permit, &run)?;
            let size = size(&run.arguments);
            session.resize(size).await.map_err(|error| CallError::Failed(error.to_string()))?;
            let Size { columns, rows } = size;
            Ok(Outcome::of_text(format!("resized {} to {columns}x{rows}", session.id)))
        })
    }
}

impl Tool for SessionKill {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let session = session(permit, &run)?;
            let name = run.arguments.text("signal_name").unwrap_or("TERM");
            let (name, signal) = signal(name).ok_or_else(|| {
                CallError::Failed(format!("unknown signal; there are {}", names().join(", ")))
            })?;
            let is_closed = run.arguments.boolean("close") != Some(false);
            match session.signal(signal).await {
                Ok(()) | Err(SignalError::Ended) => {}
                // Its end needs no signal.
                #[cfg(feature = "ssh")]
                Err(SignalError::Blocked) if is_closed => {}
                #[cfg(feature = "ssh")]
                Err(error) => return Err(CallError::Failed(error.to_string())),
            }
            if !is_closed {
                return Ok(Outcome::of_text(format!("sent SIG{name} to {}", session.id)));
            }
            let has_ended = session.end().await;
            run.call.server.processes.forget_session(&session.id);
            let note = if has_ended { "" } else { MAY_RUN };
            Ok(Outcome::of_text(format!("killed and closed {}{note}", session.id)))
        })
    }
}

/// The signals that a caller may send.
const SIGNALS: [(&str, Signal); 12] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("WINCH", Signal::WINCH),
];

fn names() -> Vec<&'static str> {
    SIGNALS.iter().map(|(name, _)| *name).collect()
}

/// Returns the signal of a name, with or without `SIG`.
fn signal(name: &str) -> Option<(&'static str, Signal)> {
    let name = name.to_ascii_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    SIGNALS.into_iter().find(|(known, _)| *known == name)
}

impl Tool for SessionList {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let sessions = run.call.server.processes.sessions_of(permit.principal());
            let list: Vec<Value> = sessions.iter().map(|session| listed(session)).collect();
            Ok(Outcome::of_text(format!("{:#}", Value::from(list))))
        })
    }
}

fn listed(session: &Session) -> Value {
    let Shown { size, age, idle, counts, ended } = session.shown();
    let Counts { buffered, produced, dropped } = counts;
    json!({
        "id": session.id,
        "kind": session.kind().word(),
        "title": session.title,
        "size": format!("{}x{}", size.columns, size.rows),
        "age_s": age.as_secs(),
        "idle_s": idle.as_secs(),
        "buffered": buffered,
        "produced": produced,
        "dropped": dropped,
        "closed": ended.is_some(),
        "exit_code": ended.and_then(End::exit_code),
    })
}
