//! `relay export CLIENT`: a policy as static rules of a client.

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::args::{AnswerFormat, CallerArgs, Client, ExportArgs, ProjectArgs, ReportFormat};
use crate::caller;
use crate::disk::{self, Access};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::judge;
use crate::output::Output;
use crate::permissions::{self, For, RuleRow};
use crate::subject::{self, Opened};
use crate::text::shown_path;

/// The output of `relay export CLIENT --json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ExportedPermissions {
    /// The version of this JSON format.
    format_version: u32,
    /// The client.
    client: &'static str,
    /// The file that was written; `null` if it is only in `text`.
    file: Option<String>,
    /// The text of the file.
    text: String,
    /// The fate of each rule.
    report: Vec<RuleRow>,
}

pub(super) fn run(
    arguments: &ExportArgs,
    client: Client,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let ExportArgs { form: _, subject: path, output: file, name, tenant, role, format, project } =
        arguments;
    if !name.is_empty() {
        return Err(Failure::error("`--name` selects prompts and skills")
            .help("omit it: all rules in force for the caller are exported"));
    }
    let report_format = match format.chosen() {
        AnswerFormat::Human => ReportFormat::Human,
        AnswerFormat::Json => ReportFormat::Json,
    };
    // Here `--strict` is about the rules.
    let ProjectArgs { env, strict } = project;
    let project = ProjectArgs { env: env.clone(), strict: false };
    let bundle = match subject::open_path(path, &project, report_format, output)? {
        Opened::Subject(subject) => subject.bundle,
        Opened::Ended(exit) => return Ok(exit),
    };
    bundle.check_all()?;
    if bundle.policy().is_none() {
        return Err(judge::no_policy(path).help("add `policy` to the project"));
    }
    let caller =
        CallerArgs { tenant: tenant.clone(), role: role.clone(), user: None, group: Vec::new() };
    let asker = caller::view(&bundle, &caller)?;
    let shown = file.as_ref().map(shown_path);
    let place = shown.clone().unwrap_or_else(|| "standard output".to_owned());
    let asked_by = For { asker: &asker, tenant: tenant.as_deref(), is_strict: *strict };
    let exported = permissions::export(client, &bundle, &asked_by, &place)?;
    if let Some(path) = file.as_ref().filter(|_| exported.has_rules)
        && !disk::create(path, exported.text.as_bytes(), Access::AllUsers)?
    {
        return Err(Failure::error(format!("`{}` already exists", shown_path(path)))
            .help("an export replaces nothing: give another file with -o, and merge it by hand"));
    }
    let exit = if exported.has_rules { Exit::Yes } else { Exit::No };
    if format.chosen() == AnswerFormat::Json {
        output.json(&ExportedPermissions {
            format_version: FORMAT_VERSION,
            client: client.title(),
            file: shown.filter(|_| exported.has_rules),
            text: exported.text,
            report: exported.rows,
        })?;
        return Ok(exit);
    }
    let drawn = permissions::draw(&exported.rows, output.result_look().width);
    match file {
        None => {
            if exported.has_rules {
                output.verbatim(&exported.text)?;
            }
            output.message(drawn);
        }
        Some(path) if exported.has_rules => {
            let lines = exported.text.lines().count();
            output.result(format_args!("{} ({lines} lines)\n\n{drawn}", shown_path(path)))?;
        }
        Some(_) => output.result(drawn)?,
    }
    if !exported.has_rules {
        output.note("no rule can be said by the client, so nothing was written: the hook decides");
    }
    Ok(exit)
}
