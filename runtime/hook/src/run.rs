//! One event: read, decided, recorded, answered.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use relay_bundle::{Digest, Tier};
use relay_engine::approval::Bound;
use relay_engine::cascade::Question;
use relay_engine::decide::Outcome;
use relay_engine::place::{Identity, place};
use relay_engine::view::View;
use relay_machine::audit::AuditFile;
use relay_machine::clock;
use relay_machine::load::{Loader, Opened, Sources};

use crate::answer::{Answer, shortened};
use crate::approval::{self, Waiting};
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

/// The bytes of an answer and its exit code.
pub use crate::answer::Output;

/// Answers the event on standard input, and returns the exit code.
pub(crate) fn run(installed: &'static Client, config: Option<&Path>) -> u8 {
    let since = Instant::now();
    let unfinished = "[DENIED: relay could not finish its decision in time, or ended; try once more, and tell the person if it stays so]";
    last_word::prepare((installed.refusal)(unfinished), FIRST_DEADLINE);
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(EVENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    let output = match read {
        Ok(_) => respond(installed, config, &bytes, |budget| {
            last_word::set_deadline(budget.saturating_sub(since.elapsed()).max(MOMENT));
        }),
        Err(error) => unread(installed, &format!("the event cannot be read: {error}")),
    };
    last_word::answer(&output)
}

/// Answers the event in `bytes`, for a hook that is installed for a client. `begin` is called with the
/// time within which the machine file wants the answer, before anything that takes long.
///
/// Every event gets an answer: one that is unreadable is denied.
#[must_use]
pub fn respond(
    installed: &'static Client,
    config: Option<&Path>,
    bytes: &[u8],
    begin: impl FnOnce(Duration),
) -> Output {
    let since = Instant::now();
    let payload = match json::object(bytes) {
        Ok(payload) => payload,
        Err(error) => return unread(installed, &error.to_string()),
    };
    let Some(client) = of_payload(&payload, installed) else {
        return unread(installed, "the event has the form of no client that relay knows");
    };
    let event = match (client.read)(&payload) {
        Ok(event) => event,
        Err(error) => return unread(client, &error.to_string()),
    };
    if let Moment::Other = event.moment {
        return (client.answer)(&event, &Answer::NoObjection { context: None });
    }
    let user = OsUser::current();
    let machine =
        machine_file::find(config, &user).and_then(|path| machine_file::read(&path, &user));
    let machine = match machine {
        Ok(machine) => machine,
        Err(fault) => return refused(&event, &fault.to_string()),
    };
    begin(machine.file.budget);
    Run { event: &event, installed, machine: &machine, home: user.home, since }.answered()
}

/// Returns the denial of an unread event.
fn unread(client: &'static Client, fault: &str) -> Output {
    (client.refusal)(&shortened(&format!("[DENIED: relay cannot decide this call: {fault}]")))
}

/// The shortest deadline.
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

/// The findings of a run, for the record.
#[derive(Default)]
struct Found {
    bundle: Option<Digest>,
    tenant: Option<String>,
    role: Option<String>,
    requests: Option<Requests>,
    judged: Option<Judged>,
    refusal: Option<String>,
    /// Whether a person approved the call.
    approved: bool,
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
            approved: found.approved,
            skills: &found.skills,
            answer,
            output,
            latency_us: u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX),
        };
        let path = &self.machine.audit;
        let own = self.machine.file.audit.is_none();
        let mut file = if own { AuditFile::open_own(path) } else { AuditFile::open(path) }
            .map_err(|error| error.to_string())?;
        match file.append(&entry.record()) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("`{}`: {error}", path.display())),
        }
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
                    bundle: &bundle,
                    view: &view,
                    authority: &authority,
                    machine: self.machine,
                    client: self.event.client,
                };
                let judged = judge.judge(&requests).map_err(|error| error.to_string())?;
                found.judged = Some(judged);
                found.requests = Some(requests);
                self.answer_of(|tool| skills(tool).map_err(corrupt), found)
            }
            Moment::Other => Ok(Answer::NoObjection { context: None }),
        }
    }

    /// Returns the answer of the decision that was found.
    fn answer_of(
        &self,
        skills: impl FnOnce(&str) -> Result<Skills, String>,
        found: &mut Found,
    ) -> Result<Answer, String> {
        let (Some(judged), Some(requests)) = (&found.judged, &found.requests) else {
            return Err("nothing was decided".to_owned());
        };
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
            Outcome::Approve => {
                let bound = Bound {
                    requests: &requests.text(),
                    cwd: self.event.cwd.unwrap_or_default(),
                    caller: &[
                        &self.machine.principal,
                        found.tenant.as_deref().unwrap_or_default(),
                        found.role.as_deref().unwrap_or_default(),
                    ],
                    bundle: found.bundle.ok_or("there is no bundle")?,
                };
                let key = bound.key();
                if approval::take(&self.machine.state, &key) {
                    found.approved = true;
                    return Ok(Answer::NoObjection { context: None });
                }
                Ok(Answer::deny(&self.waits(judged, requests, (&bound, &key))))
            }
            Outcome::Deny | Outcome::Reject => Ok(Answer::deny(&judged.refusal())),
        }
    }

    /// Lets a call wait for a person, and returns the reason with the code.
    fn waits(
        &self,
        judged: &Judged,
        requests: &Requests,
        (bound, key): (&Bound<'_>, &Digest),
    ) -> String {
        let reason = judged.refusal();
        let text = match judged.decision.text.as_str() {
            "" => requests.all.first().map(|it| json_text(&it.arguments)).unwrap_or_default(),
            text => text.to_owned(),
        };
        let ttl_s = judged.decision.named.as_ref().and_then(|named| named.ttl_s);
        let waiting = Waiting {
            key: key.hex(),
            tool: judged.tool.clone(),
            text,
            cwd: bound.cwd.to_owned(),
            principal: self.machine.principal.clone(),
            client: self.event.client.name.to_owned(),
            tier: judged.decision.tier.number(),
            reason: reason.clone(),
            bundle: bound.bundle.to_string(),
            asked: clock::unix_seconds(),
            ttl_s: approval::ttl_s(ttl_s),
        };
        match approval::wait(&self.machine.state, key, &waiting) {
            Ok(Some(code)) => format!(
                "{reason} This client cannot ask. A person can approve this call once, in a terminal of their own: `relay approve {code}`; then make the same call again."
            ),
            Ok(None) => format!(
                "{reason} This client cannot ask, and the call is too long to be approved by its code."
            ),
            Err(error) => format!(
                "{reason} This client cannot ask, and the call cannot wait for a person: {error}."
            ),
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
            cache: None,
            // A hook reads few pages of it. Where the file is cut short meanwhile, the signal of the
            // system ends in the last word.
            read_bytes_max: 0,
            remembers_time: true,
            lacks: &[],
        };
        let loader = Loader::new(sources).map_err(|error| error.to_string())?;
        loader.load().map_err(|error| error.to_string())
    }
}

/// Returns arguments as JSON, a member a line.
fn json_text(arguments: &serde_json::Map<String, serde_json::Value>) -> String {
    serde_json::to_string_pretty(arguments).unwrap_or_default()
}
