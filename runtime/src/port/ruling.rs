//! A question -> its ruling: the decision that the door of this server would make for the subject.

use std::sync::Arc;

use relay_bundle::{Corrupt, Tier};
use relay_engine::audit_record::Subject;
use relay_engine::decide::{self, Call, Decision, Door, Outcome};
use relay_engine::place::NoPlace;
use relay_engine::resource;
use relay_engine::tool::{decode, reach};
use relay_engine::view::View;
use relay_engine::{glob, tool as tools};
use relay_policy::location::Location;
use serde_json::{Map, Value};

use super::question::{Question, Target, Unasked};
use crate::caller::principal::Principal;
use crate::caller::rejection;
use crate::record::audit::Judged;
use crate::tool::{judged, oversize, recorded_reason};
use crate::trust::loaded::Loaded;
use crate::trust::placed::Placed;

/// The decision on a question, for the gateway and for the record.
#[derive(Debug)]
pub(super) struct Ruling {
    pub(super) outcome: Outcome,
    pub(super) tier: Tier,
    /// The reason, for the gateway.
    pub(super) reason: String,
    /// The name of the rule that decided.
    pub(super) rule: Option<String>,
    /// The place of that rule.
    pub(super) at: Option<String>,
    /// The refusal, for the caller of the gateway.
    pub(super) refusal: String,
    /// The rule or the reason for the record, free of texts of callers.
    pub(super) recorded: String,
    /// The status of HTTP that says why there was nothing to decide.
    pub(super) error: Option<u16>,
    pub(super) judged: Judged,
    /// Whether the prompt or resource exists, for the subject or for others.
    pub(super) exists: bool,
    /// The place of the subject, if it was placed.
    pub(super) placed: Option<Placed>,
}

impl Ruling {
    fn new(outcome: Outcome, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            outcome,
            tier: Tier::ReadOnly,
            refusal: format!("[DENIED: {reason}]"),
            recorded: reason.clone(),
            reason,
            rule: None,
            at: None,
            error: None,
            judged: Judged::default(),
            exists: false,
            placed: None,
        }
    }

    /// Returns the denial of a request without a question.
    pub(super) fn unasked(unasked: Unasked) -> Self {
        let error = match unasked {
            Unasked::Malformed(_) => Some(400),
            Unasked::Denied(_) => None,
        };
        Self { error, ..Self::new(Outcome::Deny, unasked.to_string()) }
    }

    /// Returns the denial while the bundle in force cannot be asked.
    fn damaged(loaded: &Loaded, damage: &Corrupt) -> Self {
        loaded.note_damage(damage);
        Self { error: Some(500), ..Self::new(Outcome::Deny, damage.to_string()) }
    }

    /// Returns the same answer for a thing that does not exist and for one that is hidden; the
    /// record says which.
    fn unknown(what: &str, is_hidden: bool) -> Self {
        let mut ruling = Self::new(Outcome::Reject, format!("the subject has no such {what}"));
        ruling.refusal = format!("unknown {what}");
        ruling.recorded = rejection::unknown(what, is_hidden);
        ruling.exists = is_hidden;
        ruling
    }

    /// Returns the permission for a declaration at a place.
    fn declared(at: &str, reason: &str) -> Self {
        let mut ruling = Self::new(Outcome::Allow, reason);
        at.clone_into(&mut ruling.recorded);
        ruling.exists = true;
        ruling.at = Some(at.to_owned());
        ruling
    }

    fn decided(decision: &Decision) -> Self {
        let mut ruling = Self::new(decision.outcome, decision.reason());
        ruling.tier = decision.tier;
        ruling.rule = Some(decision.rule_name());
        ruling.at = decision.at.as_ref().map(|at| format!("{}:{}", at.file, at.line));
        ruling.refusal = decision.denial();
        ruling.recorded = match (decision.outcome, &decision.at) {
            (Outcome::Allow, Some(at)) => at.to_string(),
            _ => recorded_reason(decision),
        };
        ruling.judged = judged(decision);
        ruling
    }
}

/// Decides a question of a gateway in its place.
pub(super) fn rule(gateway: &Placed, question: &Question) -> Ruling {
    let loaded = &gateway.loaded;
    if let Err(revoked) = loaded.in_force() {
        return Ruling { error: Some(503), ..Ruling::new(Outcome::Deny, revoked.to_string()) };
    }
    let subject = match subject_for(gateway, &question.subject) {
        Ok(subject) => subject,
        Err(reason) => return Ruling::new(Outcome::Deny, reason),
    };
    let ruled = place(loaded, &subject).and_then(|placed| match placed {
        Ok(placed) => {
            let ruling = of_target(&placed, &question.target)?;
            Ok(Ruling { placed: Some(placed), ..ruling })
        }
        Err(refusal) => {
            let mut ruling = Ruling::new(Outcome::Deny, refusal.to_string());
            without_place(&refusal).clone_into(&mut ruling.recorded);
            ruling.rule = Some("no-place".to_owned());
            Ok(ruling)
        }
    });
    ruled.unwrap_or_else(|damage| Ruling::damaged(loaded, &damage))
}

/// Returns the subject, of the gateway's own tenant if it has one.
fn subject_for(gateway: &Placed, subject: &Principal) -> Result<Principal, &'static str> {
    let mut subject = subject.clone();
    if let Some(own) = gateway.tenant() {
        let tenant = subject.tenant.get_or_insert_with(|| own.to_owned());
        if tenant != own {
            return Err("the gateway asks for the callers of its own tenant alone");
        }
    }
    Ok(subject)
}

fn place(loaded: &Arc<Loaded>, subject: &Principal) -> Result<Result<Placed, NoPlace>, Corrupt> {
    let placed = Placed::new(loaded.clone(), subject)?;
    Ok(match placed.refusal() {
        Some(refusal) => Err(refusal.clone()),
        None => Ok(placed),
    })
}

/// Returns the reason for a record, free of the names that a gateway sent.
fn without_place(refusal: &NoPlace) -> &'static str {
    match refusal {
        NoPlace::UnknownTenant(_) => "the tenant of the subject is unknown",
        NoPlace::NotAdmitted => "no line of `users` admits the subject",
        NoPlace::NotItsRole(_) => "the subject does not have the role that the gateway names",
        NoPlace::SeveralTenants => "the subject has roles in several tenants",
        NoPlace::RolesApart(_) => "the groups of the subject give it roles that are apart",
    }
}

fn of_target(placed: &Placed, target: &Target) -> Result<Ruling, Corrupt> {
    let view = placed.view()?;
    match target {
        Target::Server => {
            let mut ruling = Ruling::new(Outcome::Allow, "every caller with a place may send it");
            ruling.rule = Some("protocol".to_owned());
            Ok(ruling)
        }
        Target::Prompt(name) => Ok(match view.find_prompt(name)? {
            Some(prompt) => Ruling::declared(&prompt.at()?.to_string(), "the subject sees it"),
            None => Ruling::unknown("prompt", view.hides_prompt(name)),
        }),
        Target::Resource(uri) => Ok(match resource::find(&view, uri)? {
            Some(resource::Found::Resource(found)) => {
                Ruling::declared(&found.at()?.to_string(), "the subject sees it")
            }
            Some(resource::Found::Template(found, _)) => {
                Ruling::declared(&found.at()?.to_string(), "the subject sees it")
            }
            None => Ruling::unknown("resource", view.hides_resource(uri)),
        }),
        Target::Tool(name, arguments) => of_tool(placed, &view, name, arguments),
    }
}

fn of_tool(
    placed: &Placed,
    view: &View<'_>,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Ruling, Corrupt> {
    if let Some(reason) = oversize(arguments, placed.loaded.limits().input_bytes_max as usize) {
        return Ok(Ruling { error: Some(400), ..Ruling::new(Outcome::Deny, reason) });
    }
    let location = Location::default();
    let call =
        Call { tool: name, arguments, client: None, location: &location, door: Door::Elsewhere };
    let decision = decide::decide(view, &placed.loaded.authority, &call)?;
    if decision.outcome == Outcome::Reject {
        let is_hidden = placed.loaded.tools.iter().any(|offered| offered.spec.name == name);
        return Ok(Ruling::unknown("tool", is_hidden));
    }
    // After the decision, so that the schema of a hidden tool stays hidden.
    if let Some(reason) = malformed(placed, name, arguments) {
        let tier = decision.tier;
        return Ok(Ruling { tier, error: Some(400), ..Ruling::new(Outcome::Deny, reason) });
    }
    Ok(Ruling::decided(&decision))
}

/// Returns the fault of the arguments of a tool that this server knows: a decision on a call that
/// lacks its command would be on another call.
fn malformed(placed: &Placed, name: &str, arguments: &Map<String, Value>) -> Option<String> {
    if let Some(offered) = placed.loaded.tools.iter().find(|offered| offered.spec.name == name) {
        let limits = placed.loaded.limits();
        return decode(offered.spec, arguments, &limits).err().map(|error| error.rule());
    }
    let known = reach(name)?;
    let effects = known.effects.iter().map(|(name, _)| name);
    let mut needed = known.text.iter().chain(&known.host).chain(effects);
    let is_text = |name: &&&str| arguments.get(**name).is_some_and(Value::is_string);
    let missing = needed.find(|name| !is_text(name))?;
    Some(format!("the argument `{missing}` is missing or no text"))
}

/// The label of a tool in records, and the names of its arguments: those of tables and of the
/// project, never a name that a gateway sent.
pub(super) fn tool_label<'l>(loaded: &'l Loaded, name: &str) -> (Subject<'l>, Vec<&'l str>) {
    if let Some(offered) = loaded.tools.iter().find(|offered| offered.spec.name == name) {
        return (Subject::Tool(offered.spec.name), offered.spec.argument_names().collect());
    }
    if let Some(known) = reach(name) {
        return (Subject::Tool(known.tool), known.argument_names().collect());
    }
    if let Some(spec) = tools::find(name) {
        return (Subject::Tool(spec.name), spec.argument_names().collect());
    }
    let matching = loaded.tools_of_others().iter().find_map(|row| {
        let pattern = row.patterns.iter().find(|pattern| glob::matches(pattern, name))?;
        Some((pattern, row))
    });
    match matching {
        Some((pattern, row)) => {
            let names = row.arguments.iter().map(|argument| argument.name.as_str());
            (Subject::Tool(pattern), names.collect())
        }
        None => (Subject::UnknownTool, Vec::new()),
    }
}
