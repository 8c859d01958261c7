//! The skills of a call, the winning ones, and those that it misses by one selector.

use relay_bundle::Bundle;
use relay_engine::cascade::{self, Explained, Failed, Question, Row};
use relay_engine::decide::{Call, Door, Outcome, Rule, decide};
use relay_engine::nearest::nearest;
use relay_engine::place::{self, Identity, NoPlace};
use relay_engine::view::View;
use relay_policy::location::Location;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::{Size, grouped};
use crate::answer::table::{self, number, text};
use crate::args::{AnswerFormat, CallerArgs};
use crate::caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::authority;
use crate::output::{Output, bad, bold, doubtful};
use crate::text::{indented, printable};

/// The output of `relay explain --tenant T --tool X --user U --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CascadeExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// Why a server would reject or deny the call, or refuse the caller, so that it gives no skills;
    /// then the rest describes the call as if it were admitted.
    refused: Option<String>,
    /// The text that the call is given, and why.
    #[serde(flatten)]
    explained: Explained,
}

pub(super) fn explain(
    bundle: &Bundle,
    caller: &CallerArgs,
    tool: Option<&str>,
    format: AnswerFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Asked { tenant, mut notes, refused } = Asked::of(bundle, caller, tool)?;
    let question = Question { tenant: tenant.as_deref(), tool, user: caller.user.as_deref() };
    let mut explained = cascade::explain(bundle, question)?;
    notes.extend(cascade::notes(bundle, question)?);
    explained.notes = notes;
    let exit = if refused.is_some() { Exit::No } else { Exit::Yes };
    let answer = CascadeExplained { format_version: FORMAT_VERSION, refused, explained };
    match format {
        AnswerFormat::Json => output.json(&answer)?,
        AnswerFormat::Human => output.result(render(&answer, output.result_look().width))?,
    }
    Ok(exit)
}

/// Returns whether the project has a list of tenants that lacks the caller's.
fn is_unknown_tenant(bundle: &Bundle, caller: &CallerArgs) -> Result<bool, Failure> {
    match &caller.tenant {
        Some(name) if bundle.tenants().count() > 0 => Ok(bundle.tenants().find(name)?.is_none()),
        _ => Ok(false),
    }
}

/// The question of a server for the caller.
struct Asked {
    tenant: Option<String>,
    /// The assumptions of the answer.
    notes: Vec<String>,
    /// The reason for which a server would keep skills from the call.
    refused: Option<String>,
}

impl Asked {
    /// Places the caller, as a server does: the lines of `users` may give it a tenant.
    fn of(bundle: &Bundle, caller: &CallerArgs, tool: Option<&str>) -> Result<Self, Failure> {
        let CallerArgs { tenant, role, user, group } = caller;
        let mut asked = Self { tenant: tenant.clone(), notes: Vec::new(), refused: None };
        if let (Some(name), true) = (tenant, is_unknown_tenant(bundle, caller)?) {
            let reason = NoPlace::UnknownTenant(name.clone());
            let tenants = bundle.tenants().list()?;
            let near = nearest(name, tenants.iter().map(|tenant| tenant.name.as_str()));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            asked.refused = Some(format!("a server refuses this caller: {reason}{near}"));
            return Ok(asked);
        }
        let identity = Identity {
            id: user.as_deref().unwrap_or_default(),
            tenant: tenant.as_deref(),
            groups: group,
            role: role.as_deref(),
        };
        if bundle.roles().is_empty() || !identity.names_who() && role.is_none() {
            return Ok(asked);
        }
        caller::check_role(bundle, role.as_deref())?;
        let placement = match place::preview(bundle, &identity)? {
            Ok(placement) => placement,
            Err(reason) => {
                asked.refused = Some(format!("a server refuses this caller: {reason}"));
                return Ok(asked);
            }
        };
        if let (None, Some(number)) = (tenant, placement.tenant) {
            let name = bundle.tenants().name(number)?;
            asked.notes.push(format!("`users` gives this caller the tenant `{name}`"));
            asked.tenant = Some(name.to_owned());
        }
        let view = View::of(bundle, &placement)?;
        let Some(tool) = tool else { return Ok(asked) };
        let (arguments, location) = (Map::new(), Location::default());
        let call = Call {
            tool,
            arguments: &arguments,
            client: None,
            location: &location,
            door: Door::Server,
        };
        let authority = authority(bundle)?;
        let decision = decide(&view, &authority, &call)?;
        match (decision.rule, decision.outcome) {
            (Rule::NotSeen, _) => {
                let reason =
                    format!("this caller does not see `{tool}`: a server rejects the call");
                asked.refused = Some(reason);
            }
            (_, Outcome::Deny | Outcome::Approve) => {
                let (tier, reason) = (decision.tier.number(), decision.reason());
                asked.refused = Some(format!(
                    "a server denies this call of `{tool}`, and gives it no skills: tier {tier}, {reason}"
                ));
            }
            _ => {}
        }
        Ok(asked)
    }
}

fn render(answer: &CascadeExplained, width: usize) -> String {
    let Explained { resolved_context, trace, near_misses, notes } = &answer.explained;
    let mut page = String::new();
    if let Some(reason) = &answer.refused {
        page.push_str(&format!("{} {}\n", bad("refused:"), printable(reason)));
    }
    let refused = answer.refused.as_deref().unwrap_or_default();
    // A refusal for an unknown tenant says it already.
    let is_said = |note: &str| note.starts_with("the tenant `") && refused.contains("the tenant `");
    for note in notes.iter().filter(|note| !is_said(note)) {
        page.push_str(&format!("{} {}\n", doubtful("note:"), printable(note)));
    }
    let size = Size::of(resolved_context.len());
    page.push_str(&format!(
        "{} {} bytes, about {} tokens\n",
        bold(if answer.refused.is_some() { "skills otherwise:" } else { "skills:" }),
        grouped(size.bytes),
        grouped(size.tokens_estimated)
    ));
    page.push_str(&indented(resolved_context, "  | "));
    page.push('\n');
    let rows = trace.iter().map(|row| {
        let Row { level, skill, priority, matched: _, overridden_by, at } = row;
        let result = match (skill, overridden_by) {
            (None, _) => "nothing matches".into(),
            (Some(_), None) => "applied".into(),
            (Some(_), Some(winner)) => format!("overridden by {winner}"),
        };
        vec![
            level.word().to_owned(),
            skill.clone().unwrap_or_default(),
            priority.map(|priority| priority.to_string()).unwrap_or_default(),
            result,
            at.clone().unwrap_or_default(),
        ]
    });
    let columns =
        [text("level"), text("skill"), number("priority"), text("result"), text("declared at")];
    page.push_str(&table::draw(&columns, rows.collect(), width));
    if !near_misses.is_empty() {
        page.push('\n');
        let rows = near_misses.iter().map(|miss| {
            let Failed { selector, wants, got } = &miss.failed;
            vec![
                miss.level.word().to_owned(),
                miss.skill.clone(),
                format!("{selector} {}", wants.join(" or ")),
                got.clone().unwrap_or_else(|| "none".into()),
                miss.at.clone(),
            ]
        });
        let columns =
            [text("level"), text("near miss"), text("wants"), text("got"), text("declared at")];
        page.push_str(&table::draw(&columns, rows.collect(), width));
    }
    page
}
