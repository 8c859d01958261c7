//! The one door to effects: every call of a tool passes it, and it is the only way to a tool.
//!
//! A call is a task of its own, with the time limit of its tool. It is recorded even if its client
//! disconnects. Its steps, in order:
//!
//! 1. [`admit`]: the bundle is unrevoked, the caller has room for another call, and the arguments
//!    are within their limit.
//! 2. [`decide()`]: the caller sees the tool, and its role and tier allow the call. The [`Permit`] that
//!    it gives is required by every implementation.
//! 3. [`decode()`]: the arguments are those that the table declares. This error comes before a denial:
//!    the caller sees the tool, and so its schema.
//! 4. [`gate::pass`]: the caller was briefed, gets a briefing, or is referred to `begin_session`.
//! 5. [`approved`]: where the policy says so, a person is asked first, through the client.
//! 6. [`begun::begin`], [`execute`]: a call of tier 2 or 3 is recorded; the tool runs, until it is
//!    done, is cancelled or reaches its time limit.
//! 7. [`clamp()`]: a long result is truncated, with a note. The text of the project's skills for
//!    the call precedes it ([`context::context`]); a refused call goes without it.
//! 8. [`record`]: one audit record, for any outcome of the call.

mod approval;
mod audit_tail;
mod begun;
mod briefing;
pub(crate) mod call;
pub(crate) mod clamp;
pub(crate) mod context;
mod decide;
mod ended;
mod error;
mod explain_context;
mod gate;
mod implementation;
mod observed;
mod own_record;
pub(crate) mod person;
mod server_info;
mod session;
mod shell;
#[cfg(feature = "ssh")]
mod ssh;

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use relay_bundle::Tier;
use relay_engine::audit_record::{self, Action, OutputHash, Subject};
use relay_engine::briefing::Occasion;
use relay_engine::keywords;
use relay_engine::sent::Sent;
use relay_engine::tool::{Arguments, BRIEFING, Output, Time, ToolSpec, decode};
use serde_json::{Map, Value};

use self::approval::approved;
use self::audit_tail::AuditTail;
use self::briefing::{BeginSession, ReadPrompts};
use self::call::Call;
use self::clamp::clamp;
use self::context::Context;
use self::decide::{Decided, Permit, Ruling, SESSION_SEND, Unanswered, decide, offered};
pub(crate) use self::decide::{judged, recorded_reason};
pub(crate) use self::ended::end_refused;
use self::error::CallError;
use self::explain_context::ExplainContext;
use self::gate::{Briefing, Passage};
use self::implementation::{Outcome, Run, Tool};
use self::person::Question;
use self::server_info::ServerInfo;
use self::session::{
    SessionKill, SessionList, SessionRecv, SessionResize, SessionSend, ShellSpawn,
};
use self::shell::{ShellExec, ShellScript};
#[cfg(feature = "ssh")]
pub(crate) use self::ssh::inventory;
#[cfg(feature = "ssh")]
use self::ssh::{
    SshCheck, SshDownload, SshExec, SshFanout, SshForward, SshForwardClose, SshForwardList,
    SshHosts, SshKeyscan, SshSpawn, SshUpload,
};
use crate::caller::calls::Room;
use crate::caller::rejection::Rejection;
use crate::caller::truncate;
use crate::process::Session;
use crate::record::audit::{Entry, Judged, NAMES_MAX};

/// The implementation of each tool of the table.
const IMPLEMENTATIONS: &[(&str, &dyn Tool)] = &[
    ("begin_session", &BeginSession),
    ("read_prompts", &ReadPrompts),
    ("shell_exec", &ShellExec),
    ("shell_script", &ShellScript),
    ("shell_spawn", &ShellSpawn),
    ("session_send", &SessionSend),
    ("session_recv", &SessionRecv),
    ("session_resize", &SessionResize),
    ("session_kill", &SessionKill),
    ("session_list", &SessionList),
    #[cfg(feature = "ssh")]
    ("ssh_exec", &SshExec),
    #[cfg(feature = "ssh")]
    ("ssh_spawn", &SshSpawn),
    #[cfg(feature = "ssh")]
    ("ssh_upload", &SshUpload),
    #[cfg(feature = "ssh")]
    ("ssh_download", &SshDownload),
    #[cfg(feature = "ssh")]
    ("ssh_forward", &SshForward),
    #[cfg(feature = "ssh")]
    ("ssh_forward_list", &SshForwardList),
    #[cfg(feature = "ssh")]
    ("ssh_forward_close", &SshForwardClose),
    #[cfg(feature = "ssh")]
    ("ssh_check", &SshCheck),
    #[cfg(feature = "ssh")]
    ("ssh_fanout", &SshFanout),
    #[cfg(feature = "ssh")]
    ("ssh_keyscan", &SshKeyscan),
    #[cfg(feature = "ssh")]
    ("ssh_hosts", &SshHosts),
    ("server_info", &ServerInfo),
    ("audit_tail", &AuditTail),
    ("explain_context", &ExplainContext),
];

/// The argument with the id of a session.
const SESSION_ID: &str = "session_id";
/// The name in records of the host of a session.
const HOST: &str = "host";
/// The word in records for a person's yes.
const APPROVED: &str = "approved";

/// The answer to a call that reached its tool, or was denied with a text for the model.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The text of the project's skills for the call; it comes first.
    pub(crate) context: Option<Context>,
    /// Texts, in order.
    pub(crate) blocks: Vec<String>,
    pub(crate) is_error: bool,
    /// The briefing of the answer.
    pub(crate) briefing: Option<Briefing>,
    exit_code: Option<i32>,
    timed_out: bool,
    /// The session or the forward that the call began, for its record.
    began: Option<(&'static str, String)>,
}

/// The end of a request for a call.
#[derive(Debug)]
pub(crate) enum Ending {
    Answered(Answer),
    /// A person must approve it: the client asks, and repeats the call with this state.
    Asks {
        question: Question,
        state: String,
    },
}

impl Answer {
    fn of_error(text: String) -> Self {
        Self {
            context: None,
            blocks: vec![text],
            is_error: true,
            briefing: None,
            exit_code: None,
            timed_out: false,
            began: None,
        }
    }
}

/// Answers one call. Every call gets one record, even if its client has left.
pub(crate) async fn run(
    call: Call,
    name: String,
    given: Map<String, Value>,
) -> Result<Ending, Rejection> {
    let mut room = call.server.calls.room(&call.caller.principal);
    let task = tokio::spawn(async move {
        let mut decided = None;
        let withheld = withheld(&call, &name, &given);
        let session = session_of(&call, &given);
        let done = answer(&call, &mut room, &name, &given, &mut decided).await;
        // The question may have come while the text was typed.
        let withheld = [withheld, self::withheld(&call, &name, &given)].concat();
        let mut args = arguments(&call, &name, &given, &withheld);
        // A session that the call ended is forgotten by now.
        args.extend(session.as_deref().and_then(host_of));
        record(&call, &name, args, Ran { done, decided })
    });
    task.await.unwrap_or_else(|error| {
        tracing::error!("a call did not end: {error}");
        Err(Rejection::Internal("the call did not end"))
    })
}

async fn answer(
    call: &Call,
    room: &mut Option<Room>,
    name: &str,
    given: &Map<String, Value>,
    decided: &mut Option<(Tier, Judged)>,
) -> Result<(Answer, Permit), Unanswered> {
    admit(call, room.as_ref(), given)?;
    let Decided { offered, ruling, tier, judged } = decide(call, name, given)?;
    // Recorded however the call ends.
    let (_, judged) = decided.insert((tier, judged));
    let decoded = decode(offered.spec, given, &call.limits()).map_err(CallError::from)?;
    // Only after `decode`: a malformed call is reported before a denial.
    let ruling = ruling?;
    let passage =
        gate::pass(call, offered, decoded.text(BRIEFING.name)).map_err(CallError::from)?;
    let permit = match ruling {
        Ruling::Permitted(permit) => permit,
        Ruling::Asks(unapproved) => {
            let again = || match decide(call, name, given)?.ruling {
                Ok(Ruling::Asks(unapproved)) => Ok(Some(unapproved)),
                Ok(Ruling::Permitted(_)) | Err(_) => Ok(None),
            };
            let permit = approved(call, room, unapproved, again).await?;
            judged.approval = Some(APPROVED);
            permit
        }
    };
    let is_unbriefed = matches!(passage, Passage::Unbriefed);
    let handle = decoded.text(BRIEFING.name).map(ToOwned::to_owned);
    let work = Work { arguments: decoded, given, passage };
    let recorded = || arguments(call, name, given, withheld(call, name, given));
    begun::begin(call, &permit, recorded, decided.as_ref()).await?;
    let outcome = execute(call, &permit, work).await?;
    let Outcome { text, exit_code, is_error, timed_out, began, mut briefing } = outcome;
    let mut blocks = Vec::new();
    if is_unbriefed && briefing.is_none() {
        let mut given = intercept(call, name, given)?;
        blocks.push(mem::take(&mut given.text));
        briefing = Some(given);
    }
    // Tools with an argument for it count their output themselves.
    blocks.push(match permit.spec().output {
        Output::Bytes(bytes_max) => clamp(text, bytes_max, permit.spec().keep),
        Output::ByGate | Output::Argument(_) => text,
    });
    let context = context::context(call, name, handle.as_deref()).map_err(Rejection::from)?;
    let answer = Answer { context, blocks, is_error, briefing, exit_code, timed_out, began };
    Ok((answer, permit))
}

/// Denies every call while the bundle in force is revoked, and a call over the caller's limit of
/// concurrent calls; rejects arguments over the limit of all tools.
fn admit(call: &Call, room: Option<&Room>, given: &Map<String, Value>) -> Result<(), CallError> {
    call.placed.loaded.in_force().map_err(|revoked| CallError::Failed(revoked.to_string()))?;
    if room.is_none() {
        let max = call.server.calls.principal_calls_max();
        let text = format!(
            "the limit of {max} concurrent calls is reached: wait for one to end, then call again"
        );
        return Err(CallError::Failed(text));
    }
    match oversize(given, call.limits().input_bytes_max as usize) {
        Some(text) => Err(CallError::Failed(text)),
        None => Ok(()),
    }
}

/// Returns why arguments are over the limit of all tools.
pub(crate) fn oversize(given: &Map<String, Value>, bytes_max: usize) -> Option<String> {
    let bytes: usize = given.values().map(text_bytes).sum();
    (bytes > bytes_max).then(|| {
        format!(
            "the arguments hold {bytes} bytes of text, over the limit of {bytes_max}: send less"
        )
    })
}

/// The recursion is bounded: the parser of requests limits the depth of values.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(object) => {
            object.iter().map(|(name, value)| name.len() + text_bytes(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The input of a tool, before it runs.
struct Work<'w> {
    arguments: Arguments<'w>,
    given: &'w Map<String, Value>,
    passage: Passage,
}

async fn execute(call: &Call, permit: &Permit, work: Work<'_>) -> Result<Outcome, CallError> {
    let Work { arguments, given, passage } = work;
    let spec = permit.spec();
    let tool = implementation(spec.name)?;
    let run_s_max = match spec.time {
        Time::Seconds(seconds) => seconds,
        Time::Argument(name) => named_s(&arguments, name)?,
        Time::Within(name, more_s) => named_s(&arguments, name)?.saturating_add(more_s),
    };
    let run = |stop| tool.run(permit, Run { call, arguments, given, passage, stop });
    call.server.calls.run(run_s_max, &call.cancelled, run).await?
}

/// Returns the seconds that an argument names.
fn named_s(arguments: &Arguments<'_>, name: &str) -> Result<u32, Rejection> {
    let named = arguments.integer(name).and_then(|seconds| u32::try_from(seconds).ok());
    named.ok_or(Rejection::Internal("the time limit of the call is unknown"))
}

fn implementation(name: &str) -> Result<&'static dyn Tool, Rejection> {
    let tool = IMPLEMENTATIONS.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool);
    tool.ok_or(Rejection::Internal("the tool has no implementation"))
}

/// Briefs an unbriefed caller, by the keywords of its call.
fn intercept(call: &Call, name: &str, given: &Map<String, Value>) -> Result<Briefing, CallError> {
    let tags = keywords::tags(name, given);
    Ok(gate::brief(call, Occasion::Intercept, &tags, Sent::default())?)
}

/// How a call ended.
struct Ran {
    done: Result<(Answer, Permit), Unanswered>,
    /// Its tier and the parts of its decision, if there was one.
    decided: Option<(Tier, Judged)>,
}

/// Returns the names of the arguments whose text stays out of the record: a line that a program asks for
/// as for a password.
fn withheld(call: &Call, name: &str, given: &Map<String, Value>) -> &'static [&'static str] {
    let session = session_of(call, given).filter(|_| name == SESSION_SEND);
    if session.is_some_and(|session| session.asks_for_secret()) { &["data"] } else { &[] }
}

/// Returns the arguments of a call for its record.
fn arguments<'g>(
    call: &Call,
    name: &str,
    given: &'g Map<String, Value>,
    withheld: &[&str],
) -> BTreeMap<&'g str, String> {
    let spec = offered(call, name).map(|offered| offered.spec);
    let declared: Vec<_> = spec.iter().flat_map(|spec| spec.argument_names()).collect();
    if !spec.is_some_and(ToolSpec::starts_processes) {
        return audit_record::call_arguments(given, &declared);
    }
    let mut recorded = audit_record::command_arguments(given, &declared, withheld);
    recorded.extend(session_of(call, given).as_deref().and_then(host_of));
    recorded
}

/// Returns the host of a session for a record, if it is on another one.
fn host_of(session: &Session) -> Option<(&'static str, String)> {
    session.origin.location.host().map(|host| (HOST, truncate(host)))
}

/// Returns the session that a call names, if it is the caller's.
fn session_of(call: &Call, given: &Map<String, Value>) -> Option<Arc<Session>> {
    let id = given.get(SESSION_ID).and_then(Value::as_str)?;
    call.server.processes.session(id, &call.caller.principal)
}

fn record(
    call: &Call,
    name: &str,
    mut args: BTreeMap<&str, String>,
    Ran { done, mut decided }: Ran,
) -> Result<Ending, Rejection> {
    let (ending, rule, action) = match done {
        Ok((mut answer, permit)) => {
            // Later records name it by its id alone.
            args.extend(answer.began.take());
            let action = if answer.timed_out { Action::TimedOut } else { Action::Served };
            (Ok(Ending::Answered(answer)), permit.at().to_owned(), action)
        }
        Err(Unanswered::Later { question, state, reason }) => {
            (Ok(Ending::Asks { question, state }), reason, Action::Asked)
        }
        Err(Unanswered::Over(error)) => {
            let (rule, action) = (error.reason(), error.action());
            if let (Some((_, judged)), Some(word)) = (&mut decided, error.approval()) {
                judged.approval = Some(word);
            }
            let ending = match error {
                CallError::Rejected(rejection) => Err(rejection),
                error => Ok(Ending::Answered(Answer::of_error(error.to_string()))),
            };
            (ending, rule, action)
        }
    };
    let spec = offered(call, name).map(|offered| offered.spec);
    let subject = spec.map_or(Subject::UnknownTool, |spec| Subject::Tool(spec.name));
    let mut entry = Entry::served(subject.to_string(), args, OutputHash::default(), rule);
    // A call that ended before a decision has the tier of its tool.
    let own_tier = || offered(call, name).map_or(Tier::ReadOnly, |offered| offered.tier);
    (entry.tier, entry.judged) = decided.unwrap_or_else(|| (own_tier(), Judged::default()));
    entry.action = action;
    if let Ok(Ending::Answered(answer)) = &ending {
        let Answer { context, blocks, briefing, exit_code, .. } = answer;
        if let Some(Context { text, skills }) = context {
            entry.output.update(text.as_bytes());
            entry.skills = skills.iter().take(NAMES_MAX).cloned().collect();
        }
        blocks.iter().for_each(|block| entry.output.update(block.as_bytes()));
        let full = briefing.iter().flat_map(|briefing| &briefing.full);
        entry.prompts = full.take(NAMES_MAX).cloned().collect();
        entry.exit_code = *exit_code;
    }
    call.server.audit.record(&call.caller, call.placed.loaded.digest(), entry);
    ending
}

#[cfg(test)]
mod tests {
    use relay_engine::tool::TOOLS;

    use super::*;

    #[test]
    fn every_tool_of_the_table_has_one_implementation_and_there_is_no_other() {
        let declared: Vec<_> = TOOLS.iter().map(|spec| spec.name).collect();
        let implemented: Vec<_> = IMPLEMENTATIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(implemented, declared);
    }
}
