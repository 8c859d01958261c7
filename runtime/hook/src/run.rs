//! One event: read, decided, recorded, answered.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use relay_bundle::{Digest, Tier};
use relay_engine::cascade::Question;
use relay_engine::decide::Outcome;
use relay_engine::place::{Identity, place};
use relay_engine::view::View;
use relay_machine::audit::AuditFile;
use relay_machine::load::{Loader, Opened, Sources};

use crate::answer::{Answer, Output};
use crate::client::{Client, of_payload};
use crate::event::{Event, Moment, ToolCall};
use crate::json::{self, EVENT_BYTES_MAX};
use crate::judge::{Judge, Judged};
use crate::last_word;
use crate::machine_file::{self, Machine, OsUser};
use crate::path::Base;
use crate::record::Entry;
use crate::request::{Requests, requests};
use crate::settings;
use crate::texts::{self, Skills};

/// The time for the event and the machine file, which may set another for the rest.
const FIRST_DEADLINE: Duration = Duration::from_secs(4);
/// The most bytes of a bundle.
const BUNDLE_BYTES_MAX: u64 = 1 << 30;

/// Answers the event on standard input, and returns the exit code.
pub(crate) fn run(installed: &'static Client, config: Option<&Path>) -> u8 {
    let since = Instant::now();
    let unfinished = "[DENIED: relay could not finish its decision in time, or ended; try once more, and tell the person if it stays so]";
    last_word::prepare((installed.refusal)(unfinished), FIRST_DEADLINE);
    let output = answer(installed, config, since).unwrap_or_else(|fault| {
        let reason = format!("[DENIED: relay cannot decide this call: {fault}]");
        match Answer::deny(&reason) {
            Answer::Deny { reason } => (installed.refusal)(&reason),
            _ => (installed.refusal)(&reason),
        }
    });
    last_word::answer(&output)
}

/// Reads an event and answers it; the error is the reason for which it cannot be answered.
fn answer(
    installed: &'static Client,
    config: Option<&Path>,
    since: Instant,
) -> Result<Output, String> {
    let mut bytes = Vec::new();
    let most = EVENT_BYTES_MAX as u64 + 1;
    io::stdin()
        .lock()
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("the event cannot be read: {error}"))?;
    let payload = json::object(&bytes).map_err(|error| error.to_string())?;
    let client = of_payload(&payload, installed)
        .ok_or("the event has the form of no client that relay knows")?;
    let event = (client.read)(&payload).map_err(|error| error.to_string())?;
    if let Moment::Other = event.moment {
        return Ok((client.answer)(&event, &Answer::NoObjection { context: None }));
    }
    let user = OsUser::current();
    let machine = machine_file::find(config, &user)
        .and_then(|path| machine_file::read(&path, &user))
        .map_err(|error| error.to_string());
    let machine = match machine {
        Ok(machine) => machine,
        Err(fault) => return Ok(refused(&event, &fault)),
    };
    last_word::set_deadline(machine.file.budget.saturating_sub(since.elapsed()).max(MOMENT));
    let run = Run { event: &event, installed, machine: &machine, home: user.home, since };
    Ok(run.answered())
}

/// The shortest deadline: none at all would never come.
const MOMENT: Duration = Duration::from_millis(1);

/// Returns the denial of an event in its own dialect.
fn refused(event: &Event<'_>, fault: &str) -> Output {
    let answer = Answer::deny(&format!("[DENIED: relay cannot decide this call: {fault}]"));
    (event.client.answer)(event, &answer)
}

/// An event on a machine.
struct Run<'r> {
    event: &'r Event<'r>,
    installed: &'static Client,
    machine: &'r Machine,
    home: Option<PathBuf>,
    since: Instant,
}

/// What a run came to, for the record.
#[derive(Default)]
struct Found {
    bundle: Option<Digest>,
    tenant: Option<String>,
    role: Option<String>,
    requests: Option<Requests>,
    judged: Option<Judged>,
    refusal: Option<String>,
    skills: Vec<String>,
}

impl Run<'_> {
    /// Decides, records, and returns the answer.
    fn answered(&self) -> Output {
        let mut found = Found::default();
        let answer = match self.decided(&mut found) {
            Ok(answer) => answer,
            Err(fault) => {
                let answer =
                    Answer::deny(&format!("[DENIED: relay cannot decide this call: {fault}]"));
                found.refusal = Some(fault);
                answer
            }
        };
        let output = (self.event.client.answer)(self.event, &answer);
        match self.record(&found, &answer, &output) {
            Ok(()) => output,
            Err(fault) => self.unrecorded(&found, output, &fault),
        }
    }

    /// Returns the answer to an event that cannot be recorded: nothing of tier 2 or above runs without
    /// a record.
    fn unrecorded(&self, found: &Found, output: Output, fault: &str) -> Output {
        let tier = found.judged.as_ref().map_or(Tier::ReadOnly, |judged| judged.decision.tier);
        if tier < Tier::Stateful {
            let note = format!("relay: this event is not recorded: {fault}\n");
            return Output { err: [output.err, note.into_bytes()].concat(), ..output };
        }
        refused(self.event, &format!("its record cannot be written: {fault}"))
    }

    fn record(&self, found: &Found, answer: &Answer, output: &Output) -> Result<(), String> {
        let entry = Entry {
            event: self.event,
            installed: self.installed,
            machine: self.machine,
            bundle: found.bundle,
            tenant: found.tenant.as_deref(),
            role: found.role.as_deref(),
            requests: found.requests.as_ref(),
            judged: found.judged.as_ref(),
            refusal: found.refusal.as_deref(),
            skills: &found.skills,
            answer,
            output,
            latency_us: u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        let path = &self.machine.audit;
        let own = self.machine.file.audit.is_none();
        let mut file = if own { AuditFile::open_own(path) } else { AuditFile::open(path) }
            .map_err(|error| error.to_string())?;
        file.append(&entry.record()).map_err(|error| format!("`{}`: {error}", path.display()))
    }

    fn decided(&self, found: &mut Found) -> Result<Answer, String> {
        let Opened { bundle, authority, .. } = self.load()?;
        found.bundle = Some(bundle.digest());
        let corrupt = |error: relay_bundle::Corrupt| format!("the bundle is corrupt: {error}");
        let file = &self.machine.file;
        let identity = Identity {
            id: &self.machine.principal,
            tenant: file.tenant.as_deref(),
            groups: &file.groups,
            role: file.role.as_deref(),
        };
        let placement = place(&bundle, &identity).map_err(corrupt)?.map_err(|no| no.to_string())?;
        let view = View::of(&bundle, &placement).map_err(corrupt)?;
        let tenant = placement.tenant.map(|number| bundle.tenants().name(number)).transpose();
        found.tenant = tenant.map_err(corrupt)?.map(str::to_owned);
        let role = placement.role.and_then(|number| bundle.roles().get(number));
        found.role = role.map(|role| role.name.clone());
        let tenant = found.tenant.clone();
        let skills = |tool: &str| {
            let user = Some(self.machine.principal.as_str());
            let question = Question { tenant: tenant.as_deref(), tool: Some(tool), user };
            let skills = texts::of_call(&bundle, question, self.event.client.context_chars_max)?;
            Ok(skills.once(&bundle, self.event.session, &self.machine.state))
        };
        match &self.event.moment {
            Moment::SessionStart => {
                Ok(Answer::NoObjection { context: texts::at_start(&view).map_err(corrupt)? })
            }
            Moment::Settings { file, source } => {
                match settings::fault(*file, *source, self.installed.name) {
                    Some(fault) => {
                        let reason = format!("[DENIED: {fault}; the settings before it stay]");
                        found.refusal = Some(fault);
                        Ok(Answer::deny(&reason))
                    }
                    None => Ok(Answer::NoObjection { context: None }),
                }
            }
            Moment::AfterTool(call) => {
                let requests = self.requests(call);
                let tool = requests.all.first().map_or(call.name, |request| &request.tool);
                let Skills { text, names } = skills(tool).map_err(corrupt)?;
                found.skills = names;
                Ok(Answer::NoObjection { context: text })
            }
            Moment::BeforeTool(call) | Moment::Permission(call) => {
                let requests = self.requests(call);
                let judge = Judge {
                    view: &view,
                    authority: &authority,
                    machine: self.machine,
                    client: self.event.client,
                };
                let judged = judge.judge(&requests).map_err(|error| error.to_string())?;
                let answer =
                    self.answer_of(&judged, |tool| skills(tool).map_err(corrupt), found)?;
                found.judged = Some(judged);
                found.requests = Some(requests);
                Ok(answer)
            }
            Moment::Other => Ok(Answer::NoObjection { context: None }),
        }
    }

    /// Returns the answer of a decision.
    fn answer_of(
        &self,
        judged: &Judged,
        skills: impl FnOnce(&str) -> Result<Skills, String>,
        found: &mut Found,
    ) -> Result<Answer, String> {
        match judged.outcome {
            Outcome::Allow => {
                let Skills { text, names } = skills(&judged.tool)?;
                found.skills = names;
                let decision = &judged.decision;
                Ok(match self.machine.grants(decision.mode, decision.tier) {
                    true => Answer::Grant { context: text },
                    false => Answer::NoObjection { context: text },
                })
            }
            Outcome::Approve if (self.event.client.asks)(self.event) => {
                Ok(Answer::ask(&judged.refusal()))
            }
            Outcome::Approve | Outcome::Deny | Outcome::Reject => {
                Ok(Answer::deny(&judged.refusal()))
            }
        }
    }

    fn requests(&self, call: &ToolCall<'_>) -> Requests {
        let cwd = self.event.cwd.map(PathBuf::from);
        let base = Base { cwd, home: self.home.clone() };
        requests(self.event, call, self.machine, base)
    }

    fn load(&self) -> Result<Opened, String> {
        let file = &self.machine.file;
        let sources = Sources {
            bundle: file.bundle.clone(),
            trust: Some(file.trust.clone()),
            bytes_max: BUNDLE_BYTES_MAX,
            dev_key: None,
            state: Some(self.machine.state.clone()),
            remembers_time: true,
        };
        let loader = Loader::new(sources).map_err(|error| error.to_string())?;
        loader.load().map_err(|error| error.to_string())
    }
}
