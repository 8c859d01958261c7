//! `relay hook test`: events of each kind through an installed command line, started as the client
//! starts it.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use relay_bundle::Digest;
use relay_hook::{Machine, OsUser, read_machine_file};
use serde::Deserialize;

use crate::args::HookTestArgs;
use crate::environment;
use crate::exit::Exit;
use crate::failure::{Failure, reason};
use crate::hook::{
    Answered, Found, Kind, PROGRAM, Part, Place, Reading, SESSION, Sample, Scope, Setup, Start,
    Target, read, target,
};
use crate::output::{Output, bad, good};
use crate::process::{self, Ending};
use crate::text::{padded, printable, shown_path};

/// The time for which clients wait for a hook.
const LIMIT: Duration = Duration::from_secs(10);
/// The most bytes of the records of one event.
const RECORDS_BYTES_MAX: u64 = 1 << 20;
/// The script that loads OpenCode's plugin.
const PLUGIN_TRIAL: &str = include_str!("../../hook/opencode_trial.js");
/// The digits of the hash of a session in a record.
const SESSION_CHARS: usize = 16;

/// The part of a record that is compared with the answer.
#[derive(Debug, Deserialize)]
struct Record {
    client: String,
    session: Option<String>,
    answered: String,
    rule: String,
}

/// An installation that is tried.
struct Trial<'t> {
    target: &'static Target,
    part: &'t Part,
    text: &'t str,
    machine: &'t Machine,
    cwd: &'t str,
}

/// Returns the hash by which records of trials are known.
pub(super) fn session_hash() -> String {
    let hex = Digest::of(SESSION.as_bytes()).hex();
    hex.get(..SESSION_CHARS).unwrap_or_default().to_owned()
}

pub(super) fn run(arguments: &HookTestArgs, output: &mut Output) -> Result<Exit, Failure> {
    let target = target(&arguments.client)?;
    let place = Place::find(arguments.place.root.as_deref())?;
    let installed = installed(target, &place)?;
    if installed.is_empty() {
        return Err(Failure::no(format!("relay is not installed in {}", target.title()))
            .help(format!("`relay hook install {}` installs it", target.name)));
    }
    let cwd = place.project("");
    let cwd = cwd.to_string_lossy();
    let mut failures = 0_usize;
    let mut checks = 0_usize;
    for (scope, part, text) in &installed {
        output.result(format_args!("{} ({})\n", shown_path(&part.path), scope.word()))?;
        let machine = match machine_of(part, text, target)? {
            Ok(machine) => machine,
            Err(fault) => {
                failures += 1;
                print(false, "machine file", &fault, output)?;
                continue;
            }
        };
        let trial = Trial { target, part, text, machine: &machine, cwd: &cwd };
        for kind in Kind::ALL {
            for is_forbidden in [true, false] {
                let Some(checked) = trial.play(kind, is_forbidden)? else { continue };
                let word = if is_forbidden { "forbidden" } else { "harmless" };
                let name = format!("{} {word}", kind.word());
                checks += 1;
                match checked {
                    Ok(text) => print(true, &name, &text, output)?,
                    Err(fault) => {
                        failures += 1;
                        print(false, &name, &fault, output)?;
                    }
                }
            }
        }
    }
    let outcome = if failures == 0 { "every check passed" } else { "a check failed" };
    output.result(format_args!("{outcome}: {checks} events, {failures} failures\n"))?;
    Ok(if failures == 0 { Exit::Yes } else { Exit::No })
}

fn print(passed: bool, name: &str, text: &str, output: &mut Output) -> Result<(), Failure> {
    let mark = if passed { good("ok  ").to_string() } else { bad("FAIL").to_string() };
    output.result(format_args!("  {mark} {} {}\n", padded(name, 16), printable(text)))
}

/// Returns the files of a client in which relay is installed, with their texts.
fn installed(target: &Target, place: &Place) -> Result<Vec<(Scope, Part, String)>, Failure> {
    let mut installed = Vec::new();
    for scope in [Scope::User, Scope::Project, Scope::Managed] {
        let (program, config) = (PathBuf::from(PROGRAM), PathBuf::new());
        let setup = Setup { place, scope, program, config, grants: false, version: None };
        for part in target.parts(&setup) {
            let Some(text) = read(&part.path)? else { continue };
            let own = part.own(&text).map_err(|fault| {
                Failure::error(format!("`{}`: {fault}", shown_path(&part.path)))
            })?;
            if !own.is_empty() {
                installed.push((scope, part, text));
            }
        }
    }
    Ok(installed)
}

/// Returns the machine file that an installation names, or why `relay-hook` refuses it.
fn machine_of(
    part: &Part,
    text: &str,
    target: &Target,
) -> Result<Result<Machine, String>, Failure> {
    let own = part.own(text).map_err(Failure::error)?;
    let config = own.iter().find_map(|(_, found)| found.config());
    let user = OsUser::current();
    let found = relay_hook::find_machine_file(config.as_deref(), &user)
        .and_then(|path| read_machine_file(&path, &user));
    match found {
        Ok(machine) => Ok(Ok(machine)),
        Err(error) => Ok(Err(format!("{} cannot use its machine file: {error}", target.name))),
    }
}

impl Trial<'_> {
    /// Plays an event: its outcome, or why it failed; `None` if the client has no such tool.
    fn play(
        &self,
        kind: Kind,
        is_forbidden: bool,
    ) -> Result<Option<Result<String, String>>, Failure> {
        let own = self.machine.path.to_string_lossy();
        let sample = Sample { kind, is_forbidden, cwd: self.cwd, own: &own };
        let Some((event, payload)) = (self.target.event)(&sample) else { return Ok(None) };
        let start = self.part.start(self.text, event).map_err(Failure::error)?;
        let Some(start) = start else {
            return Ok(Some(Err(format!("the file runs relay at no `{event}`"))));
        };
        let Some(line) = line_of(&start) else {
            return Err(Failure::error("cannot find `node` in PATH, which loads the plugin")
                .help("install Node.js, or try the plugin in OpenCode itself"));
        };
        let audit = &self.machine.audit;
        let before = length(audit)?;
        let (program, arguments) = &line;
        let ending = process::run_limited(program, arguments, &payload.to_string(), LIMIT);
        let ending = match ending {
            Ok(ending) => ending,
            Err(error) => {
                let program = shown_path(program);
                return Ok(Some(Err(format!("`{program}` did not answer: {}", reason(&error)))));
            }
        };
        let Ending { code, stdout, stderr } = ending;
        let answered = Answered { code, stdout, stderr };
        let reading = (self.target.reading)(&answered);
        let record = self.record(before)?;
        Ok(Some(judged(kind, is_forbidden, reading, record.as_ref()).map_err(|fault| {
            format!(
                "{fault}; exit code {code:?}, stdout {:?}, stderr {:?}",
                shortened(&answered.stdout),
                shortened(&answered.stderr)
            )
        })))
    }

    /// Returns the record of a trial that was written after this many bytes of the audit file.
    fn record(&self, before: u64) -> Result<Option<Record>, Failure> {
        let path = &self.machine.audit;
        let failed = |error: io::Error| Failure::file("read", path, &error);
        let mut file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        file.seek(SeekFrom::Start(before)).map_err(failed)?;
        let hash = session_hash();
        for line in BufReader::new(file.take(RECORDS_BYTES_MAX)).split(b'\n') {
            let line = line.map_err(failed)?;
            let Ok(record) = serde_json::from_slice::<Record>(&line) else { continue };
            // Other events of this machine may be recorded at the same time.
            let is_own =
                record.client == self.target.name && record.session.as_deref() == Some(&hash);
            if is_own {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

/// Judges an answer: it must be one that the client understands, agree with its record, and deny or ask
/// if the event is forbidden.
fn judged(
    kind: Kind,
    is_forbidden: bool,
    reading: Reading,
    record: Option<&Record>,
) -> Result<String, String> {
    if reading == Reading::Unclear {
        return Err("the client would take the answer for a hook that failed".to_owned());
    }
    let is_held = matches!(reading, Reading::Deny | Reading::Ask);
    if is_forbidden && !is_held {
        return Err(format!("the call would run: the answer is `{}`", reading.word()));
    }
    let Some(record) = record else {
        return match is_forbidden && !kind.is_recorded() {
            true => Ok(format!("{}, as its arguments are not readable", reading.word())),
            false => Err("the event has no record in the audit file".to_owned()),
        };
    };
    if record.answered != reading.word() {
        return Err(format!(
            "the record says `{}`, and the client reads `{}`",
            record.answered,
            reading.word()
        ));
    }
    // Whether other tools may run depends on the project.
    let must_run = !is_forbidden && matches!(kind, Kind::Shell | Kind::File);
    if must_run && is_held {
        return Err(format!("a harmless call is held: {}", record.rule));
    }
    let rule = if record.rule.is_empty() { String::new() } else { format!(": {}", record.rule) };
    Ok(format!("{}{rule}", reading.word()))
}

/// Returns the program and the arguments by which a client starts a hook.
fn line_of(start: &Start) -> Option<(PathBuf, Vec<String>)> {
    match start {
        Start::Line(Found::Exec(words)) => {
            let (program, arguments) = words.split_first()?;
            Some((PathBuf::from(program), arguments.to_vec()))
        }
        Start::Line(Found::Shell(text)) => {
            Some((PathBuf::from("/bin/sh"), vec!["-c".to_owned(), text.clone()]))
        }
        Start::Script(path) => Some((path.clone(), Vec::new())),
        Start::Plugin(path) => {
            let words = ["--input-type=module", "-e", PLUGIN_TRIAL].map(str::to_owned);
            let path = path.to_string_lossy().into_owned();
            Some((environment::in_path("node")?, words.into_iter().chain([path]).collect()))
        }
    }
}

fn length(path: &Path) -> Result<u64, Failure> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(Failure::file("read", path, &error)),
    }
}

fn shortened(text: &str) -> String {
    crate::text::shortened(text.trim(), 200)
}
