//! `relay hook stats`: the questions, grants and denials of the hook, and the shortest rule that would
//! stop each question.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use relay_hook::{OsUser, find_machine_file, read_machine_file};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, HookStatsArgs};
use crate::command::audit::since_text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, bold, dim};

use crate::text::{printable, shown_path};

/// The most bytes of a line; records are far shorter.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The most rules that people see.
const ROWS_MAX: usize = 12;

/// The part of a record that is counted.
#[derive(Debug, Deserialize)]
struct Record {
    ts: String,
    tier: u8,
    rule: String,
    client: String,
    #[serde(default)]
    client_tool: Option<String>,
    decision: String,
    answered: String,
}

/// The output of `relay hook stats --json`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct HookStats {
    /// The version of this JSON format.
    format_version: u32,
    /// The decided calls.
    calls: u64,
    /// Those that were left to the client's own rules.
    no_objection: u64,
    /// Those that were granted, and ran unasked.
    granted: u64,
    /// Those that a person was asked about, in the client.
    asked: u64,
    /// Those that waited for `relay approve`.
    waited: u64,
    /// Those that a person approved so.
    approved: u64,
    /// Those that were denied.
    denied: u64,
    /// Those that relay failed to decide, which are denied too.
    undecided: u64,
    /// The calls that were left to the client by their tier: `allow = "grant"` grants those up to a tier.
    no_objection_by_tier: [u64; 4],
    /// The calls by client.
    clients: BTreeMap<String, u64>,
    /// The rules that asked, those that asked most first.
    asking: Vec<RuleCount>,
    /// The rules that denied, those that denied most first.
    denying: Vec<RuleCount>,
}

/// A rule and its calls.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct RuleCount {
    /// The name of the rule, or the kind of decision.
    rule: String,
    /// The place of the rule, `FILE:LINE`, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The client's tool, if the decision is about the tool itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// The number of calls.
    calls: u64,
    /// The change that would stop it: lines of a project, or who must decide.
    remedy: String,
}

/// A decision that is counted: the rule, its place, and the tool if the decision is about it.
type Counted = (String, Option<String>, Option<String>);

pub(super) fn run(arguments: &HookStatsArgs, output: &mut Output) -> Result<Exit, Failure> {
    let files = match arguments.files.as_slice() {
        [] => vec![own_file(arguments)?],
        files => files.to_vec(),
    };
    let since = arguments.since.as_deref().map(since_text).transpose()?;
    let mut counts = Counts::default();
    for path in &files {
        counts.read(path, since.as_deref())?;
    }
    if counts.stats.calls == 0 {
        let names: Vec<String> = files.iter().map(shown_path).collect();
        return Err(Failure::no(format!("no record of a hook is in {}", names.join(", ")))
            .help("`relay hook status` says whether clients run the hook"));
    }
    let stats = counts.finish();
    match arguments.format.chosen() {
        AnswerFormat::Json => output.json(&stats)?,
        AnswerFormat::Human => output.result(stats.human())?,
    }
    Ok(Exit::Yes)
}

/// Returns the audit file of the machine file.
fn own_file(arguments: &HookStatsArgs) -> Result<PathBuf, Failure> {
    let user = OsUser::current();
    let machine = find_machine_file(arguments.config.as_deref(), &user)
        .and_then(|path| read_machine_file(&path, &user))
        .map_err(|error| {
            Failure::error(error.to_string()).help("name the audit file: `relay hook stats FILE`")
        })?;
    Ok(machine.audit)
}

#[derive(Default)]
struct Counts {
    stats: HookStats,
    asking: BTreeMap<Counted, u64>,
    denying: BTreeMap<Counted, u64>,
}

impl Counts {
    fn read(&mut self, path: &Path, since: Option<&str>) -> Result<(), Failure> {
        let failed = |error| Failure::file("read", path, &error);
        let mut reader = BufReader::new(File::open(path).map_err(failed)?);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut limited = reader.by_ref().take(LINE_BYTES_MAX);
            if limited.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                return Ok(());
            }
            // Other lines are records of servers, or parts of lines.
            let Ok(record) = serde_json::from_slice::<Record>(&line) else { continue };
            if since.is_none_or(|since| record.ts.as_str() >= since) {
                self.add(record);
            }
        }
    }

    fn add(&mut self, record: Record) {
        if record.rule.is_empty() && record.decision == "allow" {
            // The beginning of a session, and what follows a tool.
            return;
        }
        let stats = &mut self.stats;
        stats.calls += 1;
        *stats.clients.entry(record.client.clone()).or_default() += 1;
        let counted = counted(&record);
        let is_denied = record.answered == "deny";
        match (record.decision.as_str(), record.answered.as_str()) {
            ("approve", "none") => stats.approved += 1,
            ("approve", "deny") => stats.waited += 1,
            (_, "ask") => stats.asked += 1,
            (_, "allow") => stats.granted += 1,
            (_, "none") => {
                stats.no_objection += 1;
                if let Some(count) = stats.no_objection_by_tier.get_mut(usize::from(record.tier)) {
                    *count += 1;
                }
            }
            _ if counted.1.is_none() && !record.rule.contains(": ") => stats.undecided += 1,
            _ => stats.denied += 1,
        }
        if record.decision == "approve" {
            *self.asking.entry(counted).or_default() += 1;
        } else if is_denied {
            *self.denying.entry(counted).or_default() += 1;
        }
    }

    fn finish(self) -> HookStats {
        let rows = |counts: BTreeMap<Counted, u64>, is_asking: bool| {
            let mut rows: Vec<RuleCount> = counts
                .into_iter()
                .map(|((rule, at, tool), calls)| {
                    let remedy = remedy(&rule, at.as_deref(), tool.as_deref(), is_asking);
                    RuleCount { rule, at, tool, calls, remedy }
                })
                .collect();
            rows.sort_by(|one, other| other.calls.cmp(&one.calls).then(one.rule.cmp(&other.rule)));
            rows
        };
        HookStats {
            format_version: FORMAT_VERSION,
            asking: rows(self.asking, true),
            denying: rows(self.denying, false),
            ..self.stats
        }
    }
}

/// Returns the decision of a record: its rule, the place in its last brackets, and its tool.
fn counted(record: &Record) -> Counted {
    let rule = record.rule.strip_suffix(", approved once by a person").unwrap_or(&record.rule);
    let at = rule
        .rsplit_once(" (")
        .and_then(|(_, at)| at.strip_suffix(')'))
        .filter(|at| at.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok()));
    let name = rule.split(": ").next().unwrap_or(rule);
    let is_of_tool = rule.contains("this tool of the client");
    let tool = record.client_tool.clone().filter(|_| is_of_tool);
    let name = if is_of_tool { "unknown-tool" } else { name };
    let name = if name.len() > 120 { "other" } else { name };
    (name.to_owned(), at.map(str::to_owned), tool)
}

/// Returns what would stop a question or a denial.
fn remedy(rule: &str, at: Option<&str>, tool: Option<&str>, is_asking: bool) -> String {
    let own = rule.strip_prefix("policy.");
    match (rule, own, at, tool) {
        (_, Some(name), Some(at), _) if at.starts_with("relay:policies/") => {
            format!("drop {name:?} because=\"…\"   in your policy, then a rule of your own")
        }
        (_, Some(name), Some(at), _) => {
            format!("except {{ … }}   in `{name}`, {at}, for the calls that are harmless")
        }
        ("unknown-tool", _, _, Some(tool)) => format!(
            "tools {{ other {tool:?} {{ arg NAME reads }} }}   and: allow {} {{ tool {tool:?} }}",
            tool.to_lowercase()
        ),
        ("agent-config", ..) => "none: a person decides about the agent's own settings".to_owned(),
        ("role-approves", ..) => "approve=#false   at the role".to_owned(),
        ("role-tier", ..) => "tier=N   at the role".to_owned(),
        ("mode-guarded", ..) => {
            "allow NAME { program P; sub S }   `relay explain --command TEXT` names the nearest rule"
                .to_owned()
        }
        _ if is_asking => "none: only a person can say yes".to_owned(),
        _ => "see its reason: `relay audit show`".to_owned(),
    }
}

impl HookStats {
    fn human(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, count: u64, note: &str| {
            if count > 0 || note.is_empty() {
                text.push_str(&format!("{count:>8}  {name}{}\n", dim(note)));
            }
        };
        row("calls", self.calls, "");
        row("no objection", self.no_objection, "  the client's own rules went on");
        row("granted", self.granted, "  the client did not ask");
        row("asked", self.asked, "  in the client");
        row("waited for `relay approve`", self.waited, "  since the client cannot ask");
        row("approved by `relay approve`", self.approved, " ");
        row("denied", self.denied, " ");
        row("not decided", self.undecided, "  denied, since relay could not decide");
        let [zero, one, ..] = self.no_objection_by_tier;
        if self.granted == 0 && zero + one > 0 {
            text.push_str(&format!(
                "\nOf those without an objection, {zero} are tier 0 and {one} tier 1: with `allow = \"grant\"` in the machine file \
                 the client asks about none of them.\n"
            ));
        }
        for (title, rows) in [("Rules that ask", &self.asking), ("Rules that deny", &self.denying)]
        {
            if rows.is_empty() {
                continue;
            }
            text.push_str(&format!("\n{}\n", bold(title)));
            for RuleCount { rule, at, tool, calls, remedy } in rows.iter().take(ROWS_MAX) {
                let at = at.as_ref().or(tool.as_ref()).map(|at| format!("  ({at})"));
                let name = printable(&format!("{rule}{}", at.unwrap_or_default()));
                text.push_str(&format!(
                    "{calls:>8}  {name}\n          {}\n",
                    dim(printable(remedy))
                ));
            }
            let more = rows.len().saturating_sub(ROWS_MAX);
            if more > 0 {
                text.push_str(&format!("          and {more} more: --json has all\n"));
            }
        }
        text
    }
}
