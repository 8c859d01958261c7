//! The one door to effects: every call of a tool passes it, and no tool can be reached around it.
//!
//! A call is admitted (the tool is offered, the arguments are its own and not too large), passes
//! the gate, is decided (policy, role, approval), gets its skill context, runs, is clamped and is
//! recorded, in this order. Every tool of this version only reads, so the decision is the tier of
//! the bundle; policy, roles, approval and skill context stand at the marked place in [`decide`].

mod arguments;
mod audit_tail;
mod server_info;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use relay_bundle::{Bundle, Corrupt, GateView, Unlock};
use relay_engine::audit_record::{Action, OutputHash};
use relay_engine::briefing::Occasion;
use relay_engine::handle::HandleError;
use relay_engine::keywords;
use relay_engine::select::{TagError, Tags};
use relay_engine::sent::Sent;
use relay_engine::tool::Tool;
use serde_json::{Map, Value};
use thiserror::Error;

use self::arguments::Arguments;
use self::audit_tail::Owner;
use crate::caller::{Caller, Outcome, shown};
use crate::gate::{self, Briefing, Entry, Memory};
use crate::load::Loaded;
use crate::server::Server;

/// Bytes of texts in the arguments of one call.
const INPUT_BYTES_MAX: usize = 2 << 20;
/// Bytes of one result; beyond them it is cut, and the cut is told.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Seconds until a call of a tool that has no time of its own must have its result.
const RUN_S_MAX: u64 = 30;
/// Names of prompts that one record holds.
const RECORDED_PROMPTS_MAX: usize = 64;
/// The highest tier of a tool that needs no policy: it only reads.
const UNDECIDED_TIER_MAX: u8 = 0;
/// The names of the tiers, as a refusal says them.
const TIER_NAMES: [&str; 4] = ["READ_ONLY", "REVERSIBLE", "STATEFUL", "IRREVERSIBLE"];

/// A tool that a bundle offers.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) tool: Tool,
    gated: bool,
    tier: u8,
    /// Where the project declares it.
    place: String,
}

/// Why the tools of a bundle cannot be offered.
#[derive(Debug, Error)]
pub(crate) enum OfferError {
    #[error("its tool `{name}` is unknown here: use a newer relay-serve")]
    UnknownTool { name: String },
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// What came of a call that reached its tool, or of one that was refused with a text for the
/// model.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Texts, in order.
    pub(crate) blocks: Vec<String>,
    pub(crate) is_error: bool,
    /// The briefing that was given, if one was.
    pub(crate) briefing: Option<Briefing>,
}

/// Why a call is a fault of the protocol's, and no answer of a tool.
#[derive(Debug)]
pub(crate) enum Rejected {
    /// The request is at fault. The text is for the caller.
    Invalid(String),
    /// The bundle is not what was signed.
    Damaged(Corrupt),
}

/// The leave to run a tool. Only [`decide`] makes one, and every tool takes one.
#[derive(Clone)]
struct Permit {
    _decided: (),
}

/// Why a call ends before its tool, or in it.
enum Fault {
    Rejected(Rejected),
    /// A text for the model.
    Error(String),
    /// The call is over what its caller may do.
    Denied {
        tier: u8,
        reason: &'static str,
    },
    Timeout,
}

/// What a tool, or the gate in front of it, gave.
#[derive(Default)]
struct Done {
    blocks: Vec<String>,
    briefing: Option<Briefing>,
}

impl Offered {
    /// Reads what `bundle` offers; a tool that this server does not have is an error.
    pub(crate) fn all(bundle: &Bundle) -> Result<Vec<Self>, OfferError> {
        let offer = |view: Result<relay_bundle::ToolView<'_>, Corrupt>| {
            let view = view?;
            let unknown = || OfferError::UnknownTool { name: shown(view.name) };
            Ok(Self {
                tool: Tool::from_name(view.name).ok_or_else(unknown)?,
                gated: view.gated,
                tier: view.tier,
                place: view.place.to_string(),
            })
        };
        bundle.tools().map(offer).collect()
    }
}

/// Answers one call. Whatever comes of it, it leaves one record.
///
/// `memory` is what a session of the older era remembers; callers without a session have none.
pub(crate) async fn run(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    memory: Option<&Memory>,
    name: &str,
    given: Map<String, Value>,
) -> Result<Answer, Rejected> {
    let offered = loaded.tools.iter().find(|offered| offered.tool.name() == name);
    let recorded = arguments::recorded(&given);
    let done = match offered {
        None => Err(Fault::invalid(format!(
            "unknown tool `{}`: tools/list names those there are",
            shown(name)
        ))),
        Some(offered) => {
            let time = Duration::from_secs(RUN_S_MAX);
            let answer = answer(server, loaded, caller, memory, offered, given);
            tokio::time::timeout(time, answer).await.unwrap_or(Err(Fault::Timeout))
        }
    };
    let tier = offered.map_or(0, |offered| offered.tier);
    let rule = match (&done, offered) {
        (Ok(_), Some(offered)) => offered.place.clone(),
        (Err(fault), _) => fault.reason(),
        (Ok(_), None) => String::new(),
    };
    let (answer, action) = match done {
        Ok(Done { blocks, briefing }) => {
            (Ok(Answer { blocks, is_error: false, briefing }), Action::Served)
        }
        Err(fault) => (fault.into_answer(), Action::Refused),
    };
    let mut output = OutputHash::default();
    let mut prompts = Vec::new();
    if let Ok(Answer { blocks, briefing, .. }) = &answer {
        blocks.iter().for_each(|block| output.update(block.as_bytes()));
        prompts.extend(briefing.iter().flat_map(|briefing| &briefing.full).cloned());
        prompts.truncate(RECORDED_PROMPTS_MAX);
    }
    let args: BTreeMap<&str, String> =
        recorded.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let outcome = Outcome { tool: shown(name), tier, args, output, rule, action, prompts };
    caller.record(server, loaded, outcome);
    answer
}

async fn answer(
    server: &Server,
    loaded: &Loaded,
    caller: &Caller,
    memory: Option<&Memory>,
    offered: &Offered,
    given: Map<String, Value>,
) -> Result<Done, Fault> {
    admit(&given)?;
    let door = Door { server, loaded, caller, memory, gate: loaded.bundle.gate()? };
    match offered.tool {
        Tool::BeginSession => door.begin_session(offered, Arguments::new(given)),
        Tool::ReadPrompts => door.read_prompts(offered, Arguments::new(given)),
        Tool::ServerInfo | Tool::AuditTail => door.gated(offered, given).await,
    }
}

/// Refuses arguments that are too large for any tool.
fn admit(given: &Map<String, Value>) -> Result<(), Fault> {
    let bytes: usize = given.values().map(text_bytes).sum();
    if bytes > INPUT_BYTES_MAX {
        let text = format!(
            "the arguments hold {bytes} bytes of text, over the limit of {INPUT_BYTES_MAX}: send less"
        );
        return Err(Fault::Error(text));
    }
    Ok(())
}

/// The parser that read the request bounds how deep a value goes.
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

/// Decides whether a call may run.
///
/// Here stand, in this order: deny, role and mode, approval, and then the skill context that the
/// call gets. No bundle of this version holds any of them, and none offers a tool that changes
/// something; one that says otherwise is refused, since nothing would decide about it.
fn decide(offered: &Offered) -> Result<Permit, Fault> {
    if offered.tier > UNDECIDED_TIER_MAX {
        return Err(Fault::Denied { tier: offered.tier, reason: "no policy allows it" });
    }
    Ok(Permit { _decided: () })
}

/// One call on its way through the door.
struct Door<'a> {
    server: &'a Server,
    loaded: &'a Loaded,
    caller: &'a Caller,
    memory: Option<&'a Memory>,
    gate: Option<GateView<'a>>,
}

impl Door<'_> {
    fn begin_session(&self, offered: &Offered, mut arguments: Arguments) -> Result<Done, Fault> {
        let tags = arguments.texts("tags").map_err(Fault::Error)?;
        arguments.finish().map_err(Fault::Error)?;
        let tags = self.tags(&tags)?;
        let permit = decide(offered)?;
        self.brief(&permit, Occasion::Begin, &tags, Sent::default())
    }

    fn read_prompts(&self, offered: &Offered, mut arguments: Arguments) -> Result<Done, Fault> {
        let handle = arguments.text("briefing").map_err(Fault::Error)?;
        let tags = arguments.texts("tags").map_err(Fault::Error)?;
        arguments.finish().map_err(Fault::Error)?;
        let tags = self.tags(&tags)?;
        let (occasion, sent) = match self.enter(handle.as_deref())? {
            Some(sent) => (Occasion::Read, sent),
            // Whoever asks for prompts has tags: this is as good as `begin_session`.
            None => (Occasion::Begin, Sent::default()),
        };
        let permit = decide(offered)?;
        self.brief(&permit, occasion, &tags, sent)
    }

    /// Runs a tool that stands behind the gate, if there is one.
    async fn gated(&self, offered: &Offered, mut given: Map<String, Value>) -> Result<Done, Fault> {
        let handle = match given.remove("briefing") {
            _ if self.gate.is_none() || !offered.gated => None,
            Some(Value::String(handle)) => Some(handle),
            None | Some(Value::Null) => None,
            Some(_) => return Err(Fault::Error("`briefing` must be a string".to_owned())),
        };
        let is_briefed =
            self.gate.is_none() || !offered.gated || self.enter(handle.as_deref())?.is_some();
        let name = offered.tool.name();
        let tags = if is_briefed { Tags::default() } else { keywords::tags(name, &given) };
        let permit = decide(offered)?;
        let result = self.execute(&permit, offered.tool, given).await?;
        let mut done = Done::default();
        if !is_briefed {
            done = self.brief(&permit, Occasion::Intercept, &tags, Sent::default())?;
        }
        done.blocks.push(clamp(result, OUTPUT_BYTES_MAX, keep(offered.tool)));
        Ok(done)
    }

    /// Returns what a caller was sent already; `None` if it had no briefing and may go on without.
    fn enter(&self, handle: Option<&str>) -> Result<Option<Sent>, Fault> {
        let Some(gate) = &self.gate else { return Ok(None) };
        let Self { server, loaded, caller, memory, .. } = *self;
        match gate::enter(server, loaded, caller, memory, handle) {
            Entry::Briefed(sent) => Ok(Some(sent)),
            Entry::Ended(fault) => Err(Fault::Error(fault.to_string())),
            Entry::Unbriefed | Entry::Outdated if gate.unlock == Unlock::Intercept => Ok(None),
            Entry::Outdated => Err(Fault::Error(HandleError::OtherBundle.to_string())),
            Entry::Unbriefed => Err(Fault::Error(format!(
                "no briefing yet: call begin_session with {} keywords that describe your task, \
                 then make this call again with the `briefing` that it returns",
                gate.tags_ask
            ))),
        }
    }

    fn tags(&self, given: &[String]) -> Result<Tags, Fault> {
        let max = self.gate.as_ref().map_or(0, |gate| gate.tags_max);
        Tags::new(given, max).map_err(|error| match error {
            TagError::TooMany { .. } => Fault::invalid(error.to_string()),
            TagError::TooLong { .. } => Fault::Error(error.to_string()),
        })
    }

    fn brief(
        &self,
        _: &Permit,
        occasion: Occasion,
        tags: &Tags,
        sent: Sent,
    ) -> Result<Done, Fault> {
        let Self { server, loaded, caller, memory, gate } = self;
        // A bundle that lists these tools has a gate.
        let Some(gate) = gate else {
            return Err(Fault::invalid("this project has no gate".to_owned()));
        };
        let briefing = (occasion, tags, sent);
        let (text, briefing) = gate::brief(server, loaded, caller, *memory, gate, briefing)?;
        Ok(Done { blocks: vec![text], briefing: Some(briefing) })
    }

    async fn execute(
        &self,
        permit: &Permit,
        tool: Tool,
        given: Map<String, Value>,
    ) -> Result<String, Fault> {
        let mut arguments = Arguments::new(given);
        match tool {
            Tool::ServerInfo => {
                arguments.finish().map_err(Fault::Error)?;
                Ok(server_info::run(permit, self.server, self.loaded)?)
            }
            Tool::AuditTail => {
                let query = audit_tail::Query::take(&mut arguments).map_err(Fault::Error)?;
                arguments.finish().map_err(Fault::Error)?;
                let path = audit_tail::path_of(self.server.audit.path()).map_err(Fault::Error)?;
                let owner = self.server.settings.auth.is_some().then(|| Owner {
                    principal: self.caller.principal.id.clone(),
                    tenant: self.caller.principal.tenant.clone(),
                });
                // A disk may take its time; the other requests of this thread shall not.
                let permit = permit.clone();
                let read = move || audit_tail::run(&permit, &path, &query, owner.as_ref());
                let read = tokio::task::spawn_blocking(read).await.map_err(io::Error::other);
                read.and_then(|records| records)
                    .map_err(|error| Fault::Error(format!("cannot read the audit file: {error}")))
            }
            Tool::BeginSession | Tool::ReadPrompts => {
                Err(Fault::Error(format!("`{}` is no tool behind the gate", tool.name())))
            }
        }
    }
}

/// Which end of a result matters more.
enum Keep {
    Start,
    /// Whole lines of it.
    End,
}

fn keep(tool: Tool) -> Keep {
    match tool {
        Tool::AuditTail => Keep::End,
        Tool::BeginSession | Tool::ReadPrompts | Tool::ServerInfo => Keep::Start,
    }
}

/// Cuts a result that is too long, between two characters, and says so.
fn clamp(mut result: String, bytes_max: usize, keep: Keep) -> String {
    let total = result.len();
    let Some(over) = total.checked_sub(bytes_max).filter(|over| *over > 0) else { return result };
    match keep {
        Keep::Start => result.truncate(result.floor_char_boundary(bytes_max)),
        Keep::End => {
            let cut = result.ceil_char_boundary(over);
            let line = result.get(cut..).and_then(|rest| rest.find('\n')).map_or(0, |end| end + 1);
            result.drain(..cut + line);
        }
    }
    let kept = result.len();
    result + &format!("\n\n[TRUNCATED - {total} bytes total, {kept} shown]")
}

impl Fault {
    fn invalid(reason: String) -> Self {
        Self::Rejected(Rejected::Invalid(reason))
    }

    fn reason(&self) -> String {
        match self {
            Self::Rejected(Rejected::Invalid(reason)) | Self::Error(reason) => shown(reason),
            Self::Rejected(Rejected::Damaged(damage)) => damage.to_string(),
            Self::Denied { reason, .. } => (*reason).to_owned(),
            Self::Timeout => "timeout".to_owned(),
        }
    }

    fn into_answer(self) -> Result<Answer, Rejected> {
        let text = match self {
            Self::Rejected(rejected) => return Err(rejected),
            Self::Error(reason) => format!("[ERROR: {reason}]"),
            Self::Denied { tier, reason } => {
                let name = TIER_NAMES.get(usize::from(tier)).copied().unwrap_or("UNKNOWN");
                format!("[DENIED tier {tier} ({name}): {reason}]")
            }
            Self::Timeout => format!("[TIMEOUT after {RUN_S_MAX}s]"),
        };
        Ok(Answer { blocks: vec![text], is_error: true, briefing: None })
    }
}

impl From<Corrupt> for Fault {
    fn from(damage: Corrupt) -> Self {
        Self::Rejected(Rejected::Damaged(damage))
    }
}
