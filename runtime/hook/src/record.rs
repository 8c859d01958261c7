//! The record of an event, in the format of the server's records.

use relay_bundle::{Digest, Tier};
use relay_engine::audit_record::{
    self, Action, AuditRecord, HookRecord, OutputHash, call_arguments, truncated,
};
use relay_engine::decide::Outcome;
use relay_engine::tool::reach;
use relay_machine::clock;

use crate::answer::{Answer, Output};
use crate::client::Client;
use crate::event::{Event, Moment};
use crate::judge::Judged;
use crate::machine_file::Machine;
use crate::request::Requests;

/// The label of an unknown tool.
const UNKNOWN_TOOL: &str = "tool:unknown";
/// The most bytes of the name of a tool in a record.
const NAME_BYTES_MAX: usize = 128;
/// The digits of the hash of a session.
const SESSION_CHARS: usize = 16;
/// The most rules that a record names.
const OBSERVED_MAX: usize = 64;

/// Everything that a record is made of.
pub(crate) struct Entry<'e> {
    pub(crate) event: &'e Event<'e>,
    pub(crate) installed: &'static Client,
    pub(crate) machine: &'e Machine,
    /// The digest of the bundle, if it could be used.
    pub(crate) bundle: Option<Digest>,
    pub(crate) tenant: Option<&'e str>,
    pub(crate) role: Option<&'e str>,
    pub(crate) requests: Option<&'e Requests>,
    pub(crate) judged: Option<&'e Judged>,
    /// The reason of a refusal that precedes the decision.
    pub(crate) refusal: Option<&'e str>,
    /// Whether a person approved the call.
    pub(crate) approved: bool,
    pub(crate) skills: &'e [String],
    pub(crate) answer: &'e Answer,
    pub(crate) output: &'e Output,
    pub(crate) latency_us: u64,
}

impl Entry<'_> {
    /// Returns the record.
    pub(crate) fn record(&self) -> AuditRecord<'_> {
        let Self { event, machine, judged, answer, output, .. } = *self;
        let mut hash = OutputHash::default();
        hash.update(&output.out);
        let (output_sha256, output_len) = hash.finish();
        let call = match &event.moment {
            Moment::BeforeTool(call) | Moment::Permission(call) | Moment::AfterTool(call) => {
                Some(call)
            }
            Moment::SessionStart | Moment::Settings { .. } | Moment::Other => None,
        };
        let denied = matches!(answer, Answer::Deny { .. });
        let effects = judged.and_then(|judged| judged.decision.verdict.as_deref());
        let (effects, effects_omitted) = effects.map(audit_record::effects).unwrap_or_default();
        let observed = judged.map(|judged| judged.decision.observed.as_slice()).unwrap_or_default();
        let observed = observed.iter().take(OBSERVED_MAX);
        let observed =
            observed.map(|it| format!("policy.{} ({}:{})", it.name, it.at.file, it.at.line));
        let rule = match (judged, self.refusal) {
            (_, Some(refusal)) => refusal.to_owned(),
            (Some(judged), None) if self.approved => {
                format!("{}, approved once by a person", judged.recorded())
            }
            (Some(judged), None) => judged.recorded(),
            (None, None) => String::new(),
        };
        let args = self.requests.and_then(|requests| requests.all.first()).map(|request| {
            let names: Vec<&str> = match reach(&request.tool) {
                Some(reach) => reach.argument_names().collect(),
                None => Vec::new(),
            };
            call_arguments(&request.arguments, &names)
        });
        AuditRecord {
            ts: clock::timestamp(),
            tool: self.label(),
            tier: judged.map_or(Tier::ReadOnly, |judged| judged.decision.tier),
            denied,
            args: args.unwrap_or_default(),
            output_sha256,
            output_len,
            exit_code: Some(output.code.into()),
            request_id: String::new(),
            principal: &machine.principal,
            issuer: None,
            tenant: self.tenant,
            role: self.role,
            bundle: self.bundle.map(|digest| digest.to_string()).unwrap_or_default(),
            rule: truncated(&rule),
            action: if denied { Action::Refused } else { Action::Served },
            prompts: Vec::new(),
            skills: self.skills.to_vec(),
            observed: observed.collect(),
            effects,
            effects_omitted,
            approval: self.approved.then_some("approved"),
            traceparent: None,
            hook: Some(HookRecord {
                client: event.client.name,
                via: Some(self.installed.name).filter(|name| *name != event.client.name),
                client_version: event.version.map(truncated),
                event: truncated(event.name),
                client_tool: call.and_then(|call| plain(call.name)).map(str::to_owned),
                session: event.session.map(hashed),
                tool_use_id: event.call_id.map(truncated),
                mode: event.mode.map(truncated),
                decision: match (judged, self.refusal) {
                    (_, Some(_)) => Outcome::Deny.word(),
                    (Some(judged), None) => judged.outcome.word(),
                    (None, None) => Outcome::Allow.word(),
                },
                answered: answer.word(),
                latency_us: self.latency_us,
            }),
            port: None,
        }
    }

    /// Returns the tool as rules name it, or the event.
    fn label(&self) -> String {
        let tool = match (self.judged, self.requests) {
            (Some(judged), Some(requests)) if requests.known.is_some() || requests.is_of_server => {
                plain(&judged.tool)
            }
            (Some(_), _) => None,
            (None, _) => return "hook".to_owned(),
        };
        tool.unwrap_or(UNKNOWN_TOOL).to_owned()
    }
}

/// Returns the hash of an id of a session: the beginning, which tells sessions apart.
pub(crate) fn hashed(session: &str) -> String {
    let hex = Digest::of(session.as_bytes()).hex();
    hex.get(..SESSION_CHARS).unwrap_or_default().to_owned()
}

/// Returns the name of a tool, if it is one that a program gives its tools.
fn plain(name: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:?".contains(letter);
    (name.len() <= NAME_BYTES_MAX && name.chars().all(is_plain)).then_some(name)
}
