//! `relay facts`: the known facts about programs, and their files.

use std::collections::BTreeSet;
use std::fs;

use relay_policy::facts::{
    Arity, Facts, Flag, Form, Knowledge, Node, Operand, Output as Written, Place, Role, Value,
};
use relay_policy::tier::Tier;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, FactTableArgs, FactsArgs};
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::ProjectFiles;
use crate::judge::{self, Chosen};
use crate::output::{Output, bold, dim};
use crate::text::wrapped;

/// The output of `relay facts --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Known {
    /// The version of this JSON format.
    format_version: u32,
    /// The names of all programs, sorted; absent if one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    programs: Option<Vec<String>>,
    /// The first names of the programs whose facts were not checked against a manual page or help text, sorted;
    /// absent if a program was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unchecked: Option<Vec<String>>,
    /// The facts of the program or sub-command.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<KnownCommand>,
}

/// The facts of a program or sub-command.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct KnownCommand {
    /// Its names.
    names: Vec<String>,
    /// Its tier with any options; absent for unreviewed facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<Tier>,
    /// Its action, as the end of a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    says: String,
    /// Where that is written, as `file:line`.
    at: String,
    /// The source against which the facts of the program were checked, if they were.
    #[serde(skip_serializing_if = "String::is_empty")]
    checked: String,
    /// Its options.
    options: Vec<KnownOption>,
    /// Its operands, in order.
    operands: Vec<String>,
    /// The names of its sub-commands.
    sub_commands: Vec<String>,
}

/// The facts of one or more options.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct KnownOption {
    /// How they are written.
    names: Vec<String>,
    /// The tier that they raise the command to.
    tier: Tier,
    /// The most that the command itself is with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<Tier>,
    /// The role of their value; absent if they take none.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'static str>,
    /// Their action, as the end of a sentence.
    #[serde(skip_serializing_if = "String::is_empty")]
    says: String,
    /// Where that is written, as `file:line`.
    at: String,
}

pub(crate) fn run(arguments: &FactsArgs, output: &mut Output) -> Result<Exit, Failure> {
    let judge = match judge::choose(arguments.policy.as_deref(), output)? {
        Chosen::Judge(judge) => judge,
        Chosen::Ended(exit) => return Ok(exit),
    };
    let facts = judge.facts()?;
    let format = arguments.format.chosen();
    let Some((program, subs)) = arguments.program.split_first() else {
        list(&facts, format, output)?;
        return Ok(Exit::Yes);
    };
    let node = find(&facts, program, subs)?;
    let files = facts.files();
    match format {
        AnswerFormat::Json => output.json(&Known {
            format_version: FORMAT_VERSION,
            programs: None,
            unchecked: None,
            command: Some(known(&node, &files)),
        })?,
        AnswerFormat::Human => {
            let width = output.result_look().width;
            output.result(page(&node, &files, width))?;
        }
    }
    Ok(Exit::Yes)
}

/// Prints the names of all programs, and marks the unchecked ones.
fn list(facts: &Facts<'_>, format: AnswerFormat, output: &mut Output) -> Result<(), Failure> {
    let programs: Vec<String> = facts.program_names();
    let nodes = programs.iter().filter_map(|name| facts.program(name.as_bytes()));
    let nodes: BTreeSet<_> = nodes.collect();
    let known = nodes.iter().filter_map(|id| facts.program_facts(*id));
    let unchecked = known.filter(|node| node.checked.is_empty());
    let mut unchecked: Vec<String> =
        unchecked.filter_map(|node| node.names.into_iter().next()).collect();
    unchecked.sort();
    match format {
        AnswerFormat::Json => output.json(&Known {
            format_version: FORMAT_VERSION,
            programs: Some(programs),
            unchecked: Some(unchecked),
            command: None,
        }),
        AnswerFormat::Human => {
            let width = output.result_look().width;
            let mut text = wrapped(&programs.join("  "), "", width);
            if !unchecked.is_empty() {
                text.push_str("\nNot checked against a manual page or help text:\n");
                text.push_str(&wrapped(&unchecked.join("  "), "  ", width));
            }
            output.result(text)?;
            output.note(format_args!(
                "{} programs with {} names, {} of them checked against a manual page or help text; `relay facts \
                 PROGRAM` says what is known of one",
                nodes.len(),
                programs.len(),
                nodes.len() - unchecked.len()
            ));
            Ok(())
        }
    }
}

/// Writes the table that the binary embeds.
pub(crate) fn write_table(arguments: &FactTableArgs, output: &mut Output) -> Result<Exit, Failure> {
    let folder = &arguments.folder;
    let listed = fs::read_dir(folder).map_err(|error| Failure::file("list", folder, &error))?;
    let mut names: Vec<String> = listed
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".kdl"))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(Failure::no("the folder holds no fact file: no name ends with `.kdl`"));
    }
    let files =
        ProjectFiles::open(folder).map_err(|error| Failure::file("list", folder, &error))?;
    let first = names.first().map_or("", String::as_str);
    let sources = relay_compiler::Sources::new(&files, first);
    let (knowledge, mut diagnostics) = relay_compiler::facts::read(&sources, &names);
    relay_compiler::facts::check_complete(&knowledge, &sources, &names, &mut diagnostics);
    if !diagnostics.is_clean() {
        output.message(crate::report::findings(&sources, &diagnostics));
    }
    if diagnostics.has_errors() {
        return Ok(Exit::No);
    }
    let table = relay_compiler::facts::table(&knowledge)
        .map_err(|error| Failure::error(error.to_string()))?;
    disk::replace(&arguments.out, &table)?;
    let Knowledge { programs, files, .. } = &knowledge;
    output.note(format_args!(
        "{} programs of {} files, {} bytes",
        programs.len(),
        files.len(),
        table.len()
    ));
    Ok(Exit::Yes)
}

fn find(facts: &Facts<'_>, program: &str, subs: &[String]) -> Result<Node, Failure> {
    let unknown = |what: &str, name: &str, known: Vec<String>| {
        let nearest = relay_compiler::nearest(name, known.iter().map(String::as_str));
        let help = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "it counts as tier 2; `relay facts` lists what is known".to_owned(),
        };
        Failure::no(format!("no fact describes the {what} `{name}`")).help(help)
    };
    let id = facts.program(program.as_bytes());
    let node = id.and_then(|id| facts.program_facts(id));
    let mut node = node.ok_or_else(|| unknown("program", program, facts.program_names()))?;
    for sub in subs {
        let known = node.subs.iter().flat_map(|node| &node.names);
        let known: Vec<String> = known.cloned().collect();
        let found = node.subs.into_iter().find(|node| node.names.contains(sub));
        let checked = node.checked;
        node = found.ok_or_else(|| unknown("sub-command", sub, known))?;
        node.checked = checked;
    }
    Ok(node)
}

fn at(place: Place, files: &[&str]) -> String {
    let file = files.get(usize::from(place.file)).copied().unwrap_or("");
    format!("{file}:{}", place.line)
}

fn known(node: &Node, files: &[&str]) -> KnownCommand {
    let option = |flag: &Flag| KnownOption {
        names: flag.names.clone(),
        tier: flag.tier,
        cap: flag.cap,
        value: (flag.arity != Arity::None).then(|| flag.role.word()),
        says: flag.says.clone(),
        at: at(flag.place, files),
    };
    let operand =
        |operand: &Operand| format!("{} {}", operand.position.word(), operand.role.word());
    KnownCommand {
        names: node.names.clone(),
        tier: node.tier,
        says: node.says.clone(),
        at: at(node.place, files),
        checked: node.checked.clone(),
        options: node.flags.iter().map(option).collect(),
        operands: node.operands.iter().map(operand).collect(),
        sub_commands: node.subs.iter().flat_map(|sub| sub.names.clone()).collect(),
    }
}

fn page(node: &Node, files: &[&str], width: usize) -> String {
    let tier =
        node.tier.map_or("not read yet, counts as unknown".to_owned(), |tier| tier.to_string());
    let mut text = format!("{}  tier {tier}", bold(node.names.join(", ")));
    if !node.says.is_empty() {
        text.push_str(&format!(": {}", node.says));
    }
    text.push_str(&format!("  {}\n", dim(at(node.place, files))));
    let checked = match node.checked.as_str() {
        "" => "not checked against a manual page or help text".to_owned(),
        checked => format!("checked: {checked}"),
    };
    text.push_str(&format!("  {}\n", dim(checked)));
    for flag in &node.flags {
        let mut line = flag.names.join(" ");
        if flag.arity != Arity::None {
            line.push_str(&format!(" <{}>", flag.role.word()));
        }
        let mut facts = Vec::new();
        if flag.tier > Tier::ReadOnly {
            facts.push(format!("tier {}", flag.tier.number()));
        }
        if let Some(cap) = flag.cap {
            facts.push(format!("at most tier {}", cap.number()));
        }
        if !flag.says.is_empty() {
            facts.push(flag.says.clone());
        }
        text.push_str(&wrapped(&line, "  ", width));
        if !facts.is_empty() {
            text.push_str(&format!("      {}", facts.join(": ")));
            text.push_str(&format!("  {}\n", dim(at(flag.place, files))));
        }
        values(&flag.values, files, &mut text);
    }
    for operand in &node.operands {
        text.push_str(&format!("  {} <{}>\n", operand.position.word(), operand.role.word()));
        values(&operand.values, files, &mut text);
    }
    for form in &node.forms {
        text.push_str(&format!("  {}  {}\n", condition(form), dim(at(form.place, files))));
    }
    if node.stdin != Role::Text {
        text.push_str(&format!("  standard input is {}\n", node.stdin.word()));
    }
    if node.output != Written::Opaque {
        text.push_str(&format!("  standard output is {}\n", node.output.word()));
    }
    if !node.subs.is_empty() {
        let subs: Vec<_> = node.subs.iter().flat_map(|sub| sub.names.clone()).collect();
        text.push_str("\nSub-commands:\n");
        text.push_str(&wrapped(&subs.join("  "), "  ", width));
    }
    text
}

fn values(values: &[Value], files: &[&str], text: &mut String) {
    for value in values {
        let mut line = format!("      `{}`: tier {}", value.pattern, value.tier.number());
        if let Some(cap) = value.cap {
            line.push_str(&format!(", at most {}", cap.number()));
        }
        if value.role != Role::Text {
            line.push_str(&format!(", is {}", value.role.word()));
        }
        if !value.says.is_empty() {
            line.push_str(&format!(": {}", value.says));
        }
        text.push_str(&format!("{line}  {}\n", dim(at(value.place, files))));
    }
}

fn condition(form: &Form) -> String {
    let mut parts = Vec::new();
    if !form.has.is_empty() {
        parts.push(format!("with {}", form.has.join(" or ")));
    }
    if !form.without.is_empty() {
        parts.push(format!("without {}", form.without.join(", ")));
    }
    match (form.least, form.most) {
        (0, u8::MAX) => {}
        (least, u8::MAX) => parts.push(format!("with {least} operands or more")),
        (least, most) if least == most => parts.push(format!("with {least} operands")),
        (least, most) => parts.push(format!("with {least} to {most} operands")),
    }
    if !form.matching.is_empty() {
        parts.push(format!("if all operands are {}", form.matching.join(" or ")));
    }
    let says = if form.says.is_empty() { String::new() } else { format!(": {}", form.says) };
    format!("{}: tier {}{says}", parts.join(", "), form.tier.number())
}
