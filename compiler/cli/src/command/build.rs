//! `relay build`: project -> checked, signed bundle on disk.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use relay_bundle::{Bundle, MAGIC, envelope};
use relay_compiler::{Diagnostics, Git};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::answer::size::grouped;
use crate::answer::skill_text::LargestContext;
use crate::answer::summary::Summary;
use crate::args::{BuildArgs, ReportFormat};
use crate::crew::beside;
use crate::disk::{self, Draft};
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::keys::{self, Key};
use crate::output::{Output, Said, dim, doubtful};
use crate::process;
use crate::progress::Progress;
use crate::project::{self, Project, Request};
use crate::receipt::Desk;
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
    let (project, asked) = Project::open_recorded(&arguments.project)?;
    let folder = disk::folder_of(&project::document_at(&arguments.project));
    let git = if arguments.provenance { Some(process::git_state(&folder)?) } else { None };
    let desk = desk(arguments, &folder, git.as_ref(), output);
    let mut keys = None;
    if let Some(desk) = &desk
        && desk.is_kept()
    {
        let keys = keys.insert(signing_keys(arguments, output)?);
        let progress = Progress::start(output, "looking for changes");
        let unchanged = desk.unchanged(keys);
        drop(progress);
        if let Some(texts) = unchanged {
            texts.iter().try_for_each(|said| output.say(said))?;
            return Ok(Exit::Yes);
        }
    }
    let sources = project.sources();
    let request = Request { epoch: arguments.epoch, git, ..Request::of(&arguments.compiling) };
    let compiled = project.compile(&sources, request, output)?;
    let origin = project.origin(&sources);
    let report = Findings::of(&compiled.diagnostics, &origin);
    let findings = findings(arguments, &compiled.diagnostics, &origin, output)?;
    findings.iter().try_for_each(|said| output.say(said))?;
    let Some(unsigned) = compiled.bundle else {
        if let ReportFormat::Json = arguments.format.chosen() {
            output.json(&Built { format_version: FORMAT_VERSION, bundle: None, report })?;
        }
        return Ok(Exit::No);
    };
    let bundle = opened(unsigned)?;
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => default_path(&folder, &bundle.manifest().project.value),
    };
    refuse_other_files(&path)?;
    let keys = match keys {
        Some(keys) => keys,
        None => signing_keys(arguments, output)?,
    };
    let skill_texts = LargestContext::all(&compiled.skill_texts);
    let written = write(&path, &bundle, &keys, skill_texts, output)?;
    let built = Built { format_version: FORMAT_VERSION, bundle: Some(written), report };
    if let Some(said) = result(arguments, &built, "written", output)? {
        output.say(&said)?;
    }
    if let Some(desk) = desk {
        let said = result(arguments, &built, "unchanged", output)?;
        let said = findings.into_iter().chain(said).collect();
        let asked = asked.borrow().clone();
        desk.keep(asked, &sources, (&path, bundle.digest()), said).unwrap_or_else(|error| {
            let reason = reason(&error);
            output.warn(
                &format!("cannot keep a receipt of this build: {reason}"),
                "the bundle is written; the next build compiles all of the project again, as with `--no-cache`",
            );
        });
    }
    Ok(Exit::Yes)
}

/// Returns the place of this build's receipt; `None` if it has none.
fn desk(arguments: &BuildArgs, folder: &Path, git: Option<&Git>, output: &Output) -> Option<Desk> {
    if arguments.no_cache {
        return None;
    }
    let name = (arguments.project.file_name(), &arguments.compiling.env);
    // Texts that are printed again must fit this terminal.
    let looks = (output.result_look(), output.message_look());
    Desk::new(folder, arguments.output.as_deref(), &name, &(arguments, git, looks))
}

/// Returns the errors, warnings and notes of the compiler as they are printed before the result.
fn findings(
    arguments: &BuildArgs,
    diagnostics: &Diagnostics,
    origin: &Origin<'_>,
    output: &Output,
) -> Result<Vec<Said>, Failure> {
    let format = arguments.format.chosen();
    let draw = |look| report::draw(diagnostics, origin, format, look);
    let said = match format {
        ReportFormat::Json => None,
        // The report is the result here.
        ReportFormat::Sarif | ReportFormat::Github => {
            Some(Said::Verbatim(draw(output.result_look())?))
        }
        ReportFormat::Human | ReportFormat::Short => {
            let is_clean =
                diagnostics.is_clean() && (arguments.quiet || diagnostics.sorted().is_empty());
            (!is_clean).then(|| draw(output.message_look()).map(Said::Message)).transpose()?
        }
    };
    Ok(Vec::from_iter(said))
}

/// Returns the result of a build as it is printed. `done` is `written` or `unchanged`.
fn result(
    arguments: &BuildArgs,
    built: &Built,
    done: &str,
    output: &Output,
) -> Result<Option<Said>, Failure> {
    let Built { format_version: _, bundle: Some(written), report } = built else { return Ok(None) };
    let table = |width| table((written, done), report.warnings, arguments.verbose, width);
    Ok(match arguments.format.chosen() {
        ReportFormat::Json => Some(Said::json(built)?),
        _ if arguments.quiet => None,
        ReportFormat::Human | ReportFormat::Short => {
            Some(Said::Result(table(output.result_look().width)))
        }
        // The report is the result, so the table goes to standard error.
        ReportFormat::Sarif | ReportFormat::Github => {
            Some(Said::Message(table(output.message_look().width)))
        }
    })
}

/// Writes a bundle while it is verified by reading it back: only one that servers accept is put in its place.
fn write(
    path: &Path,
    bundle: &Bundle,
    keys: &[Key],
    skill_texts: Vec<LargestContext>,
    output: &mut Output,
) -> Result<Written, Failure> {
    let progress = Progress::start(output, "verifying and writing the bundle");
    let tail = envelope::tail(keys::envelope(bundle, keys)?.as_ref())?;
    let content = bundle.content_bytes();
    let parts = [content, &tail];
    let written = || {
        let draft = Draft::write(path, &parts);
        bundle.check_ahead();
        draft
    };
    let (draft, checked) = beside(written, || bundle.check_all());
    checked.map_err(unreadable)?;
    draft?.persist()?;
    drop(progress);
    let signers = keys.iter().map(|key| Signer { keyid: key.id(), name: key.name.clone() });
    Ok(Written {
        path: shown_path(path),
        bytes: content.len() + tail.len(),
        signers: signers.collect(),
        summary: Summary::of(bundle)?,
        skill_texts,
    })
}

/// Opens an encoded bundle as a server does.
fn opened(file: Vec<u8>) -> Result<Bundle, Failure> {
    Bundle::open(Box::new(file)).map_err(unreadable)
}

/// Verifies an encoded bundle by reading all of it back.
pub(crate) fn verified(file: Vec<u8>) -> Result<Bundle, Failure> {
    let bundle = opened(file)?;
    bundle.check_all().map_err(unreadable)?;
    Ok(bundle)
}

fn unreadable(error: impl Display) -> Failure {
    Failure::error(format!("the encoded bundle cannot be read back: {error}"))
        .help("this is a bug in relay: report it with the project that causes it")
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

fn table(
    (written, done): (&Written, &str),
    warnings: usize,
    verbose: bool,
    width: usize,
) -> String {
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
        "{}\n  {}\n\n{}{}{sections}\n  {done:<9} {path}, {} bytes\n  digest    {}\n  epoch     {}\n  signed by {signed}\n  {warned}\n",
        summary.heading(),
        summary.counts(),
        summary.texts(width),
        LargestContext::table(skill_texts, width),
        grouped(*bytes),
        summary.digest,
        summary.epoch,
    )
}
