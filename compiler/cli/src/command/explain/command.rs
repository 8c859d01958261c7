//! The tier of a command by the policy of the bundle, and the decision on it.

use relay_bundle::Bundle;
use relay_engine::decide::{Call, Decision, Door, Outcome, decide};
use relay_engine::tool::{self, NoCommand};
use relay_policy::location::Location;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::FORMAT_VERSION;
use crate::answer::decision::DecisionExplained;
use crate::answer::hit::{Raised, is_zero};
use crate::answer::verdict;
use crate::args::{AnswerFormat, ExplainArgs};
use crate::caller;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::{self, authority};
use crate::output::Output;

/// The output of `relay explain --command TEXT --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CommandExplained {
    /// The version of this JSON format.
    format_version: u32,
    /// The difficulty of undoing the worst effect: 0 to 3.
    tier: u8,
    /// The tier's name.
    name: &'static str,
    /// The decision, its rule and its reason.
    #[serde(flatten)]
    decided: DecisionExplained,
    /// The parts that raise it, the highest first; empty exactly for tier 0.
    hits: Vec<Raised>,
    /// The number of further hits.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: usize,
}

/// Decides `command`, run at `location` by the caller of the question, as a server or a hook does.
pub(super) fn explain(
    bundle: &Bundle,
    command: &str,
    arguments: &ExplainArgs,
    location: &Location,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if bundle.policy().is_none() {
        let help = "add `policy` to the project; `relay classify` judges by what is shipped";
        return Err(judge::no_policy(&arguments.subject.subject).help(help));
    }
    let asker = caller::view(bundle, &arguments.caller)?;
    let authority = authority(bundle)?;
    let tool = arguments.tool.as_deref().unwrap_or(tool::SHELL);
    let given = given(tool, command, arguments.host.as_deref())?;
    let call = Call {
        tool,
        arguments: &given,
        client: arguments.client.as_deref(),
        location,
        door: Door::Elsewhere,
    };
    let decision = decide(&asker.view, &authority, &call)?;
    let facts = authority.facts(bundle)?;
    let Decision { outcome, tier, verdict: ref judged, .. } = decision;
    let decided = DecisionExplained::of(&decision);
    match arguments.subject.format.chosen().of_answer() {
        AnswerFormat::Json => output.json(&CommandExplained {
            format_version: FORMAT_VERSION,
            tier: tier.number(),
            name: tier.name(),
            decided,
            hits: judged.as_ref().map_or_else(Vec::new, |verdict| Raised::all(verdict, &facts)),
            omitted: judged.as_ref().map_or(0, |verdict| verdict.omitted),
        })?,
        AnswerFormat::Human => {
            let width = output.result_look().width;
            let mut page = match judged {
                Some(judged) => verdict::drawn(command, judged, &facts, width),
                None => String::new(),
            };
            page.push_str(&decided.drawn(command, decision.span, width));
            output.result(page)?;
        }
    }
    Ok(if outcome == Outcome::Allow { Exit::Yes } else { Exit::No })
}

/// Returns the arguments of a tool that runs a command.
pub(super) fn given(
    tool: &str,
    command: &str,
    host: Option<&str>,
) -> Result<Map<String, Value>, Failure> {
    tool::command_arguments(tool, command, host).map_err(|fault| match fault {
        NoCommand::NoText => {
            let running = tool::REACH.iter().filter(|reach| reach.text.is_some());
            let known: Vec<&str> = running.map(|reach| reach.tool).collect();
            let help = format!("tools that run commands: {}", known.join(", "));
            Failure::error(format!("`{tool}` runs no command")).help(help)
        }
        NoCommand::OwnHost => {
            let message = format!("`{tool}` runs on the own host, so --host means nothing");
            Failure::error(message).help("add `--tool ssh_exec`")
        }
        NoCommand::NoHost => {
            Failure::error(format!("`{tool}` runs on another host")).help("name it with `--host`")
        }
    })
}
