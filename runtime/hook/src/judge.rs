//! Requests -> one decision, by the same `decide` as the server's door.

use std::path::{Path, PathBuf};

use relay_bundle::{Bundle, Corrupt, Selector};
use relay_engine::authority::Authority;
use relay_engine::decide::{self, Call, ClientTool, Decision, Door, Outcome, Rule};
use relay_engine::glob;
use relay_engine::view::View;
use relay_policy::effect::{Hidden, TYPED, Touch, What};
use relay_policy::location::{Location, LocationError};

use crate::client::Client;
use crate::machine_file::Machine;
use crate::path::{Base, resolved};
use crate::request::{Request, Requests};

/// The most paths of a text that are resolved.
const RESOLVED_MAX: usize = 256;

/// The decision on a call.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The decision of the policy.
    pub(crate) decision: Decision,
    /// The tool that it is about, as rules name it.
    pub(crate) tool: String,
    /// The outcome: that of the decision, or a stricter one.
    pub(crate) outcome: Outcome,
    /// The reason of a stricter outcome.
    pub(crate) own_reason: Option<&'static str>,
}

/// An error of a decision.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JudgeError {
    #[error("the bundle is corrupt: {0}")]
    Corrupt(#[from] Corrupt),
    #[error("the folder of the call cannot be used: {0}")]
    Location(#[from] LocationError),
    #[error("the event does not say in which folder the command runs")]
    NoFolder,
    #[error("the call has more than {RESOLVED_MAX} paths that lead elsewhere")]
    TooManyPaths,
}

/// The policy of one caller on this machine.
pub(crate) struct Judge<'j> {
    pub(crate) bundle: &'j Bundle,
    pub(crate) view: &'j View<'j>,
    pub(crate) authority: &'j Authority,
    pub(crate) machine: &'j Machine,
    pub(crate) client: &'static Client,
}

impl Judge<'_> {
    /// Decides a call.
    ///
    /// # Errors
    ///
    /// See [`JudgeError`]: the call is refused.
    pub(crate) fn judge(&self, requests: &Requests) -> Result<Judged, JudgeError> {
        let mut worst: Option<Judged> = None;
        let is_declared = |request: &Request| self.declares(&request.tool);
        let has_declared = requests.all.iter().any(is_declared);
        for request in &requests.all {
            // Of the readings of a name, those count that the project declares; the rules that restrict
            // count for all.
            let is_reading = has_declared && !is_declared(request);
            for cwd in folders(&requests.base)? {
                let base = Base { cwd, home: requests.base.home.clone() };
                let mut judged = self.decide(request, &base)?;
                if is_reading && !matches!(judged.decision.rule, Rule::Deny | Rule::Approve) {
                    continue;
                }
                if judged.outcome <= Outcome::Approve {
                    judged = self.restrict(judged, requests, &base);
                }
                if worst.as_ref().is_none_or(|worst| is_stricter(&judged, worst)) {
                    worst = Some(judged);
                }
            }
        }
        // INVARIANT: a call has a request, and a base has a folder.
        worst.ok_or(JudgeError::NoFolder)
    }

    /// Returns whether the project declares a tool of another server.
    fn declares(&self, tool: &str) -> bool {
        let rows = self.bundle.policy().map(|policy| policy.tools.as_slice()).unwrap_or_default();
        let mut patterns = rows.iter().flat_map(|row| &row.patterns);
        patterns.any(|pattern| glob::matches(pattern, tool))
    }

    /// Decides a request in one folder: as it is, and with the places to which its paths lead.
    fn decide(&self, request: &Request, base: &Base) -> Result<Judged, JudgeError> {
        let cwd = base.cwd.as_deref().map(Path::to_string_lossy);
        let home = base.home.as_deref().map(Path::to_string_lossy);
        if cwd.is_none() && request.tool == relay_engine::tool::SHELL {
            return Err(JudgeError::NoFolder);
        }
        let location = Location::new(cwd.as_deref(), home.as_deref())?;
        let ask = |door| {
            let call = Call {
                tool: &request.tool,
                arguments: &request.arguments,
                client: Some(self.client.name),
                location: &location,
                door,
            };
            decide::decide(self.view, self.authority, &call)
        };
        let door = request.own.as_ref().map_or(Door::Elsewhere, Door::Client);
        let mut decision = ask(door)?;
        if decision.outcome <= Outcome::Approve
            && let Some(own) = &request.own
        {
            let more = links(&decision, base)?;
            if !more.is_empty() {
                let mut own = ClientTool::clone(own);
                own.effects.extend(more);
                decision = ask(Door::Client(&own))?;
            }
        }
        let outcome = decision.outcome;
        Ok(Judged { decision, tool: request.tool.clone(), outcome, own_reason: None })
    }

    /// Returns the decision, stricter where the client or relay's own files demand it.
    fn restrict(&self, judged: Judged, requests: &Requests, base: &Base) -> Judged {
        let Judged { decision, tool, outcome, .. } = judged;
        let is_unknown = requests.known.is_none() && !requests.is_of_server;
        let is_ruled = decision.rule == Rule::Allow;
        let stricter = if self.client.name == "codex" && takes_input(&decision) {
            // Codex sends no event for text that is typed into a program.
            Some((
                Outcome::Deny,
                "this client hides what is typed into a running program: give the command in one call",
            ))
        } else if outcome == Outcome::Allow && self.changes_own(&decision, base) {
            Some((
                Outcome::Approve,
                "it may change relay's own files, which decide what agents may do; a person must approve it",
            ))
        } else if outcome == Outcome::Allow && is_unknown && !is_ruled {
            Some((
                Outcome::Approve,
                "relay does not know this tool of the client; a person must approve it",
            ))
        } else {
            None
        };
        let (outcome, own_reason) = match stricter {
            Some((outcome, reason)) => (outcome, Some(reason)),
            None => (outcome, None),
        };
        Judged { decision, tool, outcome, own_reason }
    }

    /// Returns whether a call may change one of the files that decide about the agent.
    fn changes_own(&self, decision: &Decision, base: &Base) -> bool {
        let protected = self.machine.protected();
        let is_own = |path: &str| {
            let path = Path::new(path);
            protected.iter().any(|own| {
                let real = resolved(own);
                path.starts_with(own)
                    || own.starts_with(path)
                    || path.starts_with(&real)
                    || Path::new(&real).starts_with(path)
            })
        };
        touched(decision, |touch| touch != Touch::Read)
            .any(|path| base.forms(&path).iter().any(|form| is_own(form)))
    }
}

impl Judged {
    /// Returns the text for the model and the person: the reason, and what may be done instead.
    pub(crate) fn refusal(&self) -> String {
        let Decision { tier, nearest, .. } = &self.decision;
        if let Some(reason) = self.own_reason {
            let word = if self.outcome == Outcome::Approve { "CONFIRM REQUIRED" } else { "DENIED" };
            return format!("[{word} tier {} ({}): {reason}]", tier.number(), tier.name());
        }
        let mut text = self.decision.denial();
        if let Some(nearest) = nearest {
            text.push_str(&format!(
                " The nearest rule that allows is {} ({}:{}), and it fails on {}.",
                nearest.name,
                nearest.at.file,
                nearest.at.line,
                nearest.fails_on.join(", ")
            ));
        }
        text
    }

    /// Returns the reason for the record.
    pub(crate) fn recorded(&self) -> String {
        let decision = &self.decision;
        match (&decision.at, self.own_reason) {
            (_, Some(reason)) => reason.to_owned(),
            (Some(at), None) => {
                format!("{}: {} ({}:{})", decision.rule_name(), decision.reason(), at.file, at.line)
            }
            (None, None) => format!("{}: {}", decision.rule_name(), decision.reason()),
        }
    }
}

fn is_stricter(one: &Judged, other: &Judged) -> bool {
    (one.outcome, one.decision.tier) > (other.outcome, other.decision.tier)
}

/// Returns the folders in which a request is decided: as the client names it, and as it resolves.
fn folders(base: &Base) -> Result<Vec<Option<PathBuf>>, JudgeError> {
    let Some(cwd) = &base.cwd else { return Ok(vec![None]) };
    if !cwd.is_absolute() {
        return Err(LocationError::Relative.into());
    }
    let real = PathBuf::from(resolved(cwd));
    Ok(if real == *cwd { vec![Some(real)] } else { vec![Some(cwd.clone()), Some(real)] })
}

/// Returns the known paths of a call, from the root, the home or the folder.
fn touched(decision: &Decision, is_wanted: impl Fn(Touch) -> bool) -> impl Iterator<Item = String> {
    let effects = decision.verdict.as_deref().map(|verdict| &verdict.effects);
    effects
        .into_iter()
        .flat_map(|effects| effects.all().iter().map(move |it| (effects, it)))
        .filter_map(move |(effects, effect)| match effect.what {
            What::Path { touch, path, .. } if is_wanted(touch) && effects.is_exact(path) => {
                Some(effects.display(path).into_owned())
            }
            _ => None,
        })
}

/// Returns the effects on the places to which the paths of a call lead by links.
fn links(decision: &Decision, base: &Base) -> Result<Vec<(Selector, Option<String>)>, JudgeError> {
    let mut more = Vec::new();
    let all = [
        (Selector::Reads, &[Touch::Read, Touch::Take][..]),
        (Selector::Writes, &[Touch::Write, Touch::Append, Touch::Empty]),
        (Selector::Removes, &[Touch::Remove, Touch::Take]),
        (Selector::Changes, &[Touch::Change, Touch::ChangeTree]),
    ];
    for (selector, touches) in all {
        for path in touched(decision, |touch| touches.contains(&touch)) {
            let forms = base.forms(&path);
            if is_by_folder(&forms, base) {
                continue;
            }
            for form in forms.into_iter().skip(1) {
                let effect = (selector, Some(form));
                if !more.contains(&effect) {
                    more.push(effect);
                }
                if more.len() > RESOLVED_MAX {
                    return Err(JudgeError::TooManyPaths);
                }
            }
        }
    }
    Ok(more)
}

/// Returns whether a path leads elsewhere only because its folder does, in which it is decided too.
fn is_by_folder(forms: &[String], base: &Base) -> bool {
    let ([named, real], Some(cwd)) = (forms, &base.cwd) else { return false };
    let below = Path::new(named).strip_prefix(cwd).ok();
    below.is_some_and(|below| Path::new(&resolved(cwd)).join(below) == Path::new(real))
}

/// Returns whether a program takes its commands from text that is typed later.
fn takes_input(decision: &Decision) -> bool {
    let effects = decision.verdict.as_deref().map(|verdict| verdict.effects.all());
    let mut all = effects.unwrap_or_default().iter();
    all.any(|effect| matches!(effect.what, What::Runs(Hidden::Opaque, TYPED)))
}
