//! Measures areas several times, each in a process of its own, and keeps what they report.
//!
//! An area that fails or panics costs its own figures alone: they are recorded as not run, with the reason.

#![expect(clippy::disallowed_methods, reason = "it runs itself")]

use std::fs;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::areas::{Area, chosen, sections};
use crate::figures::machine::{Circumstances, Ticks, load};
use crate::figures::release::{Record, Release};
use crate::figures::{Report, document};
use crate::setting::folder_of;
use crate::{Result, areas, binaries, cost, repository};

/// The runs of an area.
pub(crate) const RUNS: usize = 3;
const RUNS_MAX: usize = 100;
/// The option by which a run of one area is started.
pub(crate) const MEASURE: &str = "--measure";
/// The longest that one run of an area may take.
const RUN_TIME_MAX: Duration = Duration::from_secs(1200);
/// The longest reason that is kept, in characters.
const REASON_CHARS_MAX: usize = 200;
/// The most bytes that are kept of what a run prints.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// The profile of the programs that ship, whose figures are kept.
const PROFILE: &str = "dist";

/// Measures areas, or single figures, and keeps them in the file of this release.
///
/// # Errors
///
/// If these programs are of another profile than [`PROFILE`], an area is unknown, or a file cannot be written.
pub(crate) fn record(names: &[&str], runs: usize) -> Result<()> {
    if !(1..=RUNS_MAX).contains(&runs) {
        return Err(format!("runs are 1 to {RUNS_MAX}").into());
    }
    let chosen = chosen(names)?;
    let circumstances = Circumstances::now(&repository()?, &binaries()?)?;
    if circumstances.profile != PROFILE {
        let Circumstances { profile, .. } = circumstances;
        return Err(format!(
            "figures are of the programs that ship, and these are of the profile `{profile}`: \
             `cargo build --profile {PROFILE} --workspace --features relay-tests/bare-rmcp`, \
             then `target/{PROFILE}/bench --record`"
        )
        .into());
    }
    let folder = repository()?.join("docs/figures");
    fs::create_dir_all(&folder)?;
    let version = env!("CARGO_PKG_VERSION");
    let mut release = Release::read(&folder, version)?;
    release.records.retain(|id, _| {
        let is_declared = areas::AREAS.iter().flat_map(|area| area.figures).any(|it| it.id == id);
        if !is_declared {
            eprintln!("`{id}` is no longer declared: its record is removed");
        }
        is_declared
    });
    for (area, ids) in chosen {
        let measured = Measured::of(area, runs)?;
        for figure in area.figures.iter().filter(|figure| ids.contains(&figure.id)) {
            let values = figure
                .parts
                .iter()
                .map(|part| (part.name.to_owned(), measured.report.values(figure, part).to_vec()));
            let values = values.filter(|(_, values)| !values.is_empty()).collect();
            let reason = measured.report.reason(figure).map(str::to_owned);
            let has_all =
                figure.parts.iter().all(|it| measured.report.values(figure, it).len() >= runs);
            let not_run = match (has_all, reason) {
                (true, _) => None,
                (false, Some(reason)) => Some(reason),
                (false, None) => Some(measured.failed.clone().unwrap_or("no value".into())),
            };
            let circumstances = circumstances.clone();
            let Measured { load, others, .. } = measured;
            let record = Record { circumstances, load, others, values, not_run };
            release.records.insert(figure.id.to_owned(), record);
        }
        // After each area, so that an interruption loses one.
        fs::write(Release::path(&folder, version), release.text())?;
    }
    write()
}

/// Writes the document of the files of all releases.
pub(crate) fn write() -> Result<()> {
    let path = repository()?.join("docs/figures.md");
    fs::write(&path, document()?)?;
    eprintln!("{} is written", path.display());
    Ok(())
}

/// Returns the document of the files of all releases.
pub(crate) fn document() -> Result<String> {
    let releases = Release::all(&repository()?.join("docs/figures"))?;
    document::document(&sections(), &releases)
}

/// What the runs of an area reported.
struct Measured {
    report: Report,
    load: f64,
    others: f64,
    /// Why the last run that failed did.
    failed: Option<String>,
}

impl Measured {
    fn of(area: &Area, runs: usize) -> Result<Self> {
        let (load, before, own) = (load()?, Ticks::now()?, cost::children_cpu_s()?);
        let (mut report, mut failed) = (Report::default(), None);
        for run in 1..=runs {
            let since = Instant::now();
            eprint!("{}, run {run} of {runs}: ", area.name);
            match one_run(area, &mut report) {
                Ok(()) => eprintln!("{:.0} s", since.elapsed().as_secs_f64()),
                Err(error) => {
                    let reason = one_line(&error.to_string());
                    eprintln!("{reason}");
                    failed = Some(reason);
                }
            }
        }
        let others = Ticks::now()?.others(before, cost::children_cpu_s()? - own);
        Ok(Self { report, load, others, failed })
    }
}

/// Runs an area in another process, and adds what it reports.
fn one_run(area: &Area, report: &mut Report) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([MEASURE, area.name]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let stdout = child.stdout.take().map(read);
    let stderr = child.stderr.take().map(read);
    let status = wait(&mut child);
    clean_up(&child);
    let status = status?;
    let text = |thread: Option<thread::JoinHandle<String>>| {
        thread.and_then(|thread| thread.join().ok()).unwrap_or_default()
    };
    report.read(&text(stdout), area.figures)?;
    if status.success() {
        return Ok(());
    }
    let said = text(stderr);
    let said = said.trim().strip_prefix("bench: ").unwrap_or(said.trim());
    if said.is_empty() { Err(status.to_string().into()) } else { Err(said.into()) }
}

/// Ends the servers and removes the files that a run left behind, because it panicked or was ended.
fn clean_up(child: &Child) {
    _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    _ = fs::remove_dir_all(folder_of(child.id()));
}

/// Reads a stream to its end in the background; what is too long is dropped.
fn read(mut stream: impl std::io::Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        _ = stream.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        _ = std::io::copy(&mut stream, &mut std::io::sink());
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> Result<std::process::ExitStatus> {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if since.elapsed() > RUN_TIME_MAX {
            child.kill()?;
            child.wait()?;
            return Err(format!("over {} s", RUN_TIME_MAX.as_secs()).into());
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns a reason that fits a row: without line ends, tabs, or the names of temporary folders.
fn one_line(text: &str) -> String {
    let temporary = std::env::temp_dir().display().to_string();
    let words = text
        .split_whitespace()
        .map(|word| if word.contains(&temporary) { "(a temporary file)" } else { word });
    words.collect::<Vec<_>>().join(" ").chars().take(REASON_CHARS_MAX).collect()
}
