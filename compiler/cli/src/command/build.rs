//! `relay build`: project -> checked, signed bundle on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use relay_bundle::{Bundle, MAGIC, envelope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::grouped;
use crate::answer::skill_text::LargestContext;
use crate::answer::summary::Summary;
use crate::args::{BuildArgs, ReportFormat};
use crate::command::sign;
use crate::disk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::keys::{self, Key};
use crate::output::{Output, dim, doubtful};
use crate::process;
use crate::progress::Progress;
use crate::project::{self, Project, Request};
use crate::report::{self, Findings, Origin};
use crate::text::shown_path;

/// The output of `relay build --format json`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Built {
    /// The version of this JSON format.
    format_version: u32,
    /// The bundle; absent if the project has errors.
    bundle: Option<Written>,
    /// The errors and warnings of the compiler.
    report: Findings,
}

/// A bundle that was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Written {
    /// Its path.
    path: String,
    /// The size of the file in bytes.
    bytes: usize,
    /// The keys that signed it.
    signers: Vec<Signer>,
    /// Its contents, counted and measured.
    #[serde(flatten)]
    summary: Summary,
    /// The largest text of skills that a call of each tenant is given, the largest first; of 64
    /// tenants at most.
    skill_texts: Vec<LargestContext>,
}

/// A key that signed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Signer {
    /// The key's id.
    keyid: String,
    /// The name of the key's file.
    name: String,
}

pub(crate) fn run(arguments: &BuildArgs, output: &mut Output) -> Result<Exit, Failure> {
    let format = arguments.format.chosen();
    let project = Project::open(&arguments.project)?;
    let folder = disk::folder_of(&project::document_at(&arguments.project));
    let sources = project.sources();
    let git = if arguments.provenance { Some(process::git_state(&folder)?) } else { None };
    let request = Request { epoch: arguments.epoch, git, ..Request::of(&arguments.compiling) };
    let compiled = project.compile(&sources, request, output)?;
    let origin = project.origin(&sources);
    let report = Findings::of(&compiled.diagnostics, &origin);
    if matches!(format, ReportFormat::Human | ReportFormat::Short) {
        project::report_findings(&compiled.diagnostics, &origin, format, output)?;
        if compiled.diagnostics.is_clean() && report.notes > 0 && !arguments.quiet {
            let look = output.message_look();
            output.message(report::draw(&compiled.diagnostics, &origin, format, look)?);
        }
    }
    let built = match compiled.bundle {
        Some(unsigned) => {
            let skill_texts = LargestContext::all(&compiled.skill_texts);
            Some(write(arguments, &folder, unsigned.into(), skill_texts, output)?)
        }
        None => None,
    };
    let exit = if built.is_some() { Exit::Yes } else { Exit::No };
    match format {
        ReportFormat::Json => {
            output.json(&Built { format_version: FORMAT_VERSION, bundle: built, report })?;
        }
        ReportFormat::Human | ReportFormat::Short => {
            if let Some(written) = built.filter(|_| !arguments.quiet) {
                let warnings = report.warnings;
                let width = output.result_look().width;
                output.result(table(&written, warnings, arguments.verbose, width))?;
            }
        }
        ReportFormat::Sarif | ReportFormat::Github => {
            // The report is the result here, so the table goes to standard error.
            print_report(&compiled.diagnostics, &origin, format, output)?;
            if let Some(written) = built.filter(|_| !arguments.quiet) {
                let width = output.message_look().width;
                output.message(table(&written, report.warnings, arguments.verbose, width));
            }
        }
    }
    Ok(exit)
}

fn print_report(
    diagnostics: &relay_compiler::Diagnostics,
    origin: &Origin<'_>,
    format: ReportFormat,
    output: &mut Output,
) -> Result<(), Failure> {
    output.verbatim(&report::draw(diagnostics, origin, format, output.result_look())?)
}

fn write(
    arguments: &BuildArgs,
    folder: &Path,
    unsigned: Arc<[u8]>,
    skill_texts: Vec<LargestContext>,
    output: &mut Output,
) -> Result<Written, Failure> {
    let progress = Progress::start(output, "verifying the bundle");
    let bundle = verified(Arc::clone(&unsigned))?;
    drop(progress);
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => default_path(folder, &bundle.manifest().project.value),
    };
    refuse_other_files(&path)?;
    let keys = signing_keys(arguments, output)?;
    let progress = Progress::start(output, "writing the bundle");
    let file = if keys.is_empty() { unsigned } else { signed_file(&bundle, &keys)?.into() };
    disk::replace(&path, &file)?;
    drop(progress);
    let signers = keys.iter().map(|key| Signer { keyid: key.id(), name: key.name.clone() });
    Ok(Written {
        path: shown_path(&path),
        bytes: file.len(),
        signers: signers.collect(),
        summary: Summary::of(&bundle)?,
        skill_texts,
    })
}

/// Verifies an encoded bundle by reading it back: only bundles that servers accept are written.
pub(crate) fn verified(file: Arc<[u8]>) -> Result<Bundle, Failure> {
    let internal_error = |reason: String| {
        Failure::error(format!("the encoded bundle cannot be read back: {reason}"))
            .help("this is a bug in relay: report it with the project that causes it")
    };
    let bundle = Bundle::open(Box::new(file)).map_err(|error| internal_error(error.to_string()))?;
    bundle.check_all().map_err(|error| internal_error(error.to_string()))?;
    Ok(bundle)
}

/// Returns the file of a bundle with the signatures of `keys`.
pub(crate) fn signed_file(bundle: &Bundle, keys: &[Key]) -> Result<Vec<u8>, Failure> {
    Ok(envelope::attach(bundle, &sign::signed(bundle, keys)?)?)
}

fn signing_keys(arguments: &BuildArgs, output: &mut Output) -> Result<Vec<Key>, Failure> {
    if arguments.unsigned {
        return Ok(Vec::new());
    }
    if arguments.key.is_empty() {
        return Ok(vec![keys::dev_key(output)?]);
    }
    arguments.key.iter().map(|file| Key::read(file, output)).collect()
}

fn default_path(folder: &Path, name: &str) -> PathBuf {
    // A separator in a project's name must stay harmless: it would lead to another folder.
    let name = name.replace(['/', '\\'], "-");
    let file = format!("{name}.relay");
    if folder == Path::new(".") { file.into() } else { folder.join(file) }
}

/// Fails if `path` is another file than a bundle: a mistyped `-o` could overwrite a source file.
fn refuse_other_files(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::error(format!("cannot write `{}`: it is a folder", shown_path(path)))
            .help(format!("name a file in it, as in `{}`", shown_path(path.join("NAME.relay")))));
    }
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if metadata.is_file() && metadata.len() > 0 && !disk::begins_with(path, &MAGIC)? {
        return Err(Failure::error(format!("`{}` exists and is not a bundle", shown_path(path)))
            .help("choose another file with -o, or remove this one"));
    }
    Ok(())
}

fn table(written: &Written, warnings: usize, verbose: bool, width: usize) -> String {
    let Written { path, bytes, signers, summary, skill_texts } = written;
    let signed: Vec<String> =
        signers.iter().map(|signer| format!("{} `{}`", signer.keyid, signer.name)).collect();
    let signed = if signed.is_empty() {
        doubtful("no one: servers refuse it until `relay sign`").to_string()
    } else {
        signed.join(", ")
    };
    let warned = match report::counted(0, warnings) {
        none if none.is_empty() => dim("no warnings").to_string(),
        some => doubtful(some).to_string(),
    };
    let sections = if verbose { format!("\n{}", summary.sections(width)) } else { String::new() };
    format!(
        "{}\n  {}\n\n{}{}{sections}\n  written   {path}, {} bytes\n  digest    {}\n  epoch     {}\n  signed by {signed}\n  {warned}\n",
        summary.heading(),
        summary.counts(),
        summary.texts(width),
        LargestContext::table(skill_texts, width),
        grouped(*bytes),
        summary.digest,
        summary.epoch,
    )
}
