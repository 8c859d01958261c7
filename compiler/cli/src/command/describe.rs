//! `relay describe`: the instructions that an agent gets when it connects, the gate of its session,
//! and the tools and prompts that it can use.

use relay_bundle::{Bundle, Gate, List, PromptView};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::gate;
use crate::answer::policy::{self, ChangedFloor, Known};
use crate::answer::prompt::Argument;
use crate::answer::size::{Size, counted, grouped};
use crate::answer::summary::Summary;
use crate::answer::table::{self, number, text};
use crate::answer::tool::{self, Tool};
use crate::args::{DescribeArgs, ReportFormat};
use crate::caller::{self, Asker};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge::Judge;
use crate::output::{Output, bold, good};
use crate::subject::{self, Opened};
use crate::text::{indented, printable};

/// The output of `relay describe --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Described {
    /// The version of this JSON format.
    format_version: u32,
    /// The project's name.
    project: String,
    /// The tenant of the caller; `null` if it has none.
    tenant: Option<String>,
    /// The role of the caller; `null` if the project has no roles.
    role: Option<String>,
    /// The instructions that a client gets when it connects.
    instructions: String,
    /// The size of the instructions.
    instructions_size: Size,
    /// The gate; `null` if the project has none.
    gate: Option<Gate>,
    /// How the project changes what commands are judged by; `null` if it has no policy.
    policy: Option<Changed>,
    /// The tools, in the order of the list.
    tools: Vec<Tool>,
    /// The prompts, sorted by name.
    prompts: Vec<Row>,
}

/// How a project changes what commands are judged by.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Changed {
    /// The floors that differ from the shipped ones.
    floors: Vec<ChangedFloor>,
    /// How many programs the project describes.
    programs: usize,
}

/// A prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Row {
    /// Its name.
    name: String,
    /// 1 (reference) to 10 (always sent).
    priority: u8,
    /// `text`, or `template` if arguments change its text.
    kind: Kind,
    /// The number of its variants.
    variants: usize,
    /// The size of the text that a briefing sends.
    #[serde(flatten)]
    size: Size,
    /// Its arguments.
    arguments: Vec<Argument>,
}

/// Whether arguments change the text of a prompt.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// They differ.
    Text,
    /// They do.
    Template,
}

pub(crate) fn run(arguments: &DescribeArgs, output: &mut Output) -> Result<Exit, Failure> {
    let bundle = match subject::open(&arguments.subject, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    // A preview of a damaged bundle would differ from the built one.
    bundle.check_all()?;
    let caller = caller::view(&bundle, &arguments.caller)?;
    let described = Described::of(&bundle, &caller)?;
    if arguments.subject.format.chosen() == ReportFormat::Json {
        output.json(&described)?;
    } else {
        let heading = Summary::of(&bundle)?.heading();
        output.result(render(&heading, &described, output.result_look().width))?;
    }
    Ok(Exit::Yes)
}

impl Described {
    fn of(bundle: &Bundle, caller: &Asker<'_>) -> Result<Self, Failure> {
        let Asker { bundle: _, placement, view } = caller;
        let tenant = placement.tenant.map(|tenant| bundle.tenants().name(tenant)).transpose()?;
        let role = placement.role.and_then(|role| bundle.roles().get(role));
        let instructions = view.instructions()?;
        let prompts = view.rows(List::Prompts)?.map(|row| Row::of(&view.prompt(row)?));
        let mut tools = Vec::new();
        for (row, tool) in Tool::all(bundle)?.into_iter().enumerate() {
            if view.sees(List::Tools, row)? {
                tools.push(tool);
            }
        }
        Ok(Self {
            format_version: FORMAT_VERSION,
            project: bundle.manifest().project.value.clone(),
            tenant: tenant.map(Into::into),
            role: role.map(|role| role.name.clone()),
            instructions_size: Size::of(instructions.len()),
            instructions,
            gate: bundle.gate().cloned(),
            policy: Changed::of(bundle)?,
            tools,
            prompts: prompts.collect::<Result<_, Failure>>()?,
        })
    }
}

impl Changed {
    /// Reads the policy of a bundle, if it has one.
    fn of(bundle: &Bundle) -> Result<Option<Self>, Failure> {
        let Some(judge) = Judge::of(bundle)? else { return Ok(None) };
        let known = Known::of(&judge.facts()?, judge.facts_bytes());
        let floors = ChangedFloor::all(&judge.rules);
        Ok(Some(Self { floors, programs: known.described.len() }))
    }
}

impl Row {
    fn of(prompt: &PromptView<'_>) -> Result<Self, Failure> {
        let rendering = prompt.rendering();
        let arguments: Vec<Argument> = rendering.arguments()?.iter().map(Argument::of).collect();
        Ok(Self {
            name: prompt.name()?.into(),
            priority: prompt.priority(),
            kind: if arguments.is_empty() { Kind::Text } else { Kind::Template },
            variants: rendering.variant_count(),
            size: Size::of(prompt.body_bytes()),
            arguments,
        })
    }
}

fn render(heading: &str, described: &Described, width: usize) -> String {
    let Described {
        format_version: _,
        project: _,
        tenant,
        role,
        instructions,
        instructions_size,
        gate,
        policy,
        tools,
        prompts,
    } = described;
    let tenant = tenant.iter().map(|tenant| format!("tenant {}", printable(tenant)));
    let role = role.iter().map(|role| format!("role {}", printable(role)));
    let caller: Vec<String> = tenant.chain(role).collect();
    let caller = match caller.as_slice() {
        [] => String::new(),
        parts => format!("{} {}\n", bold("Caller:"), parts.join(", ")),
    };
    let mut page = format!("{heading}\n\n{caller}{}\n", gate_state(gate.as_ref()));
    if let Some(gate) = gate {
        page.push_str(&table::facts(&gate::facts(gate), width));
    }
    if let Some(Changed { floors, programs }) = policy {
        let changed = policy::in_short(floors, *programs);
        page.push_str(&format!("{} {changed}\n", bold("Policy:")));
    }
    page.push_str(&format!(
        "\n{} {}\n",
        bold("When an agent connects, it gets"),
        sized("these instructions", *instructions_size),
    ));
    if instructions.is_empty() {
        page.push_str("  (none)\n");
    }
    page.push_str(&indented(instructions, "  | "));
    page.push_str(&format!("\n{} {}\n", bold("It can call"), counted(tools.len(), "tool")));
    if !tools.is_empty() {
        page.push_str(&tool::draw(tools, &[], width));
    }
    page.push_str(&format!("\n{} {}\n", bold("It can request"), counted(prompts.len(), "prompt")));
    if !prompts.is_empty() {
        page.push_str(&prompt_table(prompts, width));
    }
    page
}

fn gate_state(gate: Option<&Gate>) -> String {
    match gate {
        Some(_) => format!("{} {}", bold("Gate:"), good("on")),
        None => format!("{} off", bold("Gate:")),
    }
}

fn prompt_table(prompts: &[Row], width: usize) -> String {
    let rows = prompts.iter().map(|row| {
        let kind = match row.kind {
            Kind::Text => "text".into(),
            Kind::Template => format!("template ×{}", row.variants),
        };
        let arguments: Vec<String> = row.arguments.iter().map(Argument::short).collect();
        vec![
            row.name.clone(),
            row.priority.to_string(),
            kind,
            grouped(row.size.bytes),
            grouped(row.size.tokens_estimated),
            arguments.join(" "),
        ]
    });
    let columns = [
        text("name"),
        number("priority"),
        text("type"),
        number("bytes"),
        number("tokens, estimated"),
        text("arguments"),
    ];
    table::draw(&columns, rows.collect(), width)
}

fn sized(what: &str, size: Size) -> String {
    let (bytes, tokens) = (grouped(size.bytes), grouped(size.tokens_estimated));
    format!("{what} ({bytes} bytes, about {tokens} tokens)")
}
