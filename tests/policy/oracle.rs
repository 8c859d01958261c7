//! bash itself says whether a text is valid, and which programs it looks up.

#![expect(clippy::disallowed_methods, reason = "asks bash")]

use std::fs;
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::corpus::open_rows;
use super::verdict;
use crate::random::Random;
use relay_policy::parse::parse;

/// How many mutated texts are compared in a run.
const TEXTS: usize = 10_000;

/// Pieces of shell that mutations insert.
const PIECES: &[&str] = &[
    "$(",
    "`",
    "${",
    "}",
    "\"",
    "'",
    "((",
    "))",
    "[[",
    "]]",
    "<<EOF\n",
    "EOF\n",
    "\nEOF\n",
    "<(",
    ">(",
    ")",
    "(",
    ";;",
    "&&",
    "||",
    "|",
    "&",
    ";",
    "\n",
    " if ",
    " then ",
    " fi ",
    " do ",
    " done ",
    " case x in ",
    " esac ",
    "{ ",
    " }",
    "\\",
    "\\\n",
    "#",
    " # ",
    "$",
    "$'",
    "$\"",
    "x=",
    "x=(",
    "a[",
    "=",
    " !",
    " ! ",
    "time ",
    "coproc ",
    "function f ",
    "f() ",
    "*",
    "@(",
    "~",
    "<<-E\n",
    "\tE\n",
    "\r",
    "<<<",
    ">&",
    "2>&1",
    "&>",
    "{x}>",
    "$((",
    "$[",
    "]",
    "${x:-",
    "${x#",
    "${!x",
    "\t",
    "for i in ",
    "for ((",
    "select x in ",
    "é",
    "%",
    "^",
    ",",
];

fn mutated(random: &mut Random, texts: &[String]) -> String {
    let mut text = texts[random.below(texts.len())].clone();
    for _ in 0..=random.below(4) {
        let at = text.floor_char_boundary(random.below(text.len() + 1));
        match random.below(4) {
            0 | 1 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
            2 => {
                let end = text.floor_char_boundary((at + 1 + random.below(5)).min(text.len()));
                text.replace_range(at..end.max(at), "");
            }
            _ => {
                let other = &texts[random.below(texts.len())];
                let start = other.floor_char_boundary(random.below(other.len() + 1));
                let end = other.floor_char_boundary((start + random.below(20)).min(other.len()));
                text.insert_str(at, &other[start..end.max(start)]);
            }
        }
    }
    text
}

#[test]
fn bash_accepts_what_the_parser_accepts() {
    let texts: Vec<String> = open_rows().into_iter().map(|row| row.command).collect();
    let mut random = Random(0x5eed_0011);
    let inputs: Vec<String> = (0..TEXTS).map(|_| mutated(&mut random, &texts)).collect();
    let (invalid, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for part in inputs.chunks(TEXTS.div_ceil(4)) {
            let (invalid, refused) = (&invalid, &refused);
            scope.spawn(move || {
                for input in part {
                    let accepts = parse(input).is_ok();
                    let valid = is_valid(input);
                    invalid.fetch_add(usize::from(accepts && !valid), Ordering::Relaxed);
                    refused.fetch_add(usize::from(!accepts && valid), Ordering::Relaxed);
                }
            });
        }
    });
    let (invalid, refused) = (invalid.into_inner(), refused.into_inner());
    say(&format!(
        "{TEXTS} texts: {invalid} accepted that bash refuses, {refused} refused that it accepts"
    ));
    // A text that bash refuses runs nothing; one that the parser refuses is tier 3. Both are safe,
    // and many of either would be a sign that the two read texts differently.
    assert!(invalid * 100 <= TEXTS, "{invalid} accepted that bash refuses");
    assert!(refused * 50 <= TEXTS, "{refused} refused that bash accepts");
}

/// Writes a line that is seen even if the test passes.
fn say(line: &str) {
    std::io::stderr().write_all(format!("oracle: {line}\n").as_bytes()).expect("standard error");
}

fn is_valid(text: &str) -> bool {
    // By its path, as in `harness::command`: ten thousand lookups of a name took three times the system's time.
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-n", "-c", "--", text])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.expect("bash runs").success()
}

/// The script that runs a command so that every name that it looks up is written to a file, and nothing is found.
///
/// Functions nest at most five deep: one that starts itself twice would take every process that the machine can have from
/// the tests beside it, since root is free of limits of processes.
const DRIVER: &str = r#"
ulimit -t 2; ulimit -f 2000
FUNCNEST=5
exec 9>>"$2"
command_not_found_handle() { builtin printf '%s\0' "$1" >&9; return 127; }
PATH=/none
relay_text=$1
shift 2
eval "$relay_text"
"#;

/// How many commands run at once: namespaces are made and ended in a time in which they wait for the kernel.
const CAGES: usize = 8;

/// A root with bash and nothing else, for commands that run in namespaces of their own.
struct Cage {
    root: tempfile::TempDir,
    runs: AtomicUsize,
}

impl Cage {
    /// Makes the root, if this machine has namespaces for it.
    fn new() -> Option<Self> {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["bin", "tmp", "dev", "etc", "home"] {
            fs::create_dir(root.path().join(folder)).expect("a folder");
        }
        fs::write(root.path().join("dev/null"), "").expect("a file");
        let bash = fs::canonicalize("/bin/bash").ok()?;
        let listed = Command::new("ldd").arg(&bash).output().ok()?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        let libraries = listed.split_whitespace().filter(|word| word.starts_with('/'));
        // By other processes: one that is started here meanwhile would keep a copy open for writing, and so unable to run.
        let mut bash_copy = Command::new("/bin/cp");
        bash_copy.arg(&bash).arg(root.path().join("bin/bash"));
        let mut library_copies = Command::new("/bin/cp");
        library_copies.args(["--dereference", "--parents"]).args(libraries).arg(root.path());
        for mut copies in [bash_copy, library_copies] {
            copies.status().ok().filter(ExitStatus::success)?;
        }
        let cage = Self { root, runs: AtomicUsize::new(0) };
        (cage.names("zq-probe x") == Some(vec!["zq-probe".to_owned()])).then_some(cage)
    }

    /// Returns the names that bash looks up when it runs a command, if it came to an end.
    fn names(&self, command: &str) -> Option<Vec<String>> {
        // A process of the command before may still be ending: each has a log of its own.
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let log = self.root.path().join(format!("log-{number}"));
        fs::write(&log, "").ok()?;
        let mut child = Command::new("/usr/bin/unshare")
            .args([
                "--user",
                "--map-root-user",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount",
                "--net",
            ])
            .args(["--ipc", "--uts"])
            .arg("--root")
            .arg(self.root.path())
            .args(["--wd=/", "/bin/bash", "--norc", "--noprofile", "-c", DRIVER, "bash", command])
            .arg(format!("/log-{number}"))
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // The clock has no say in a test: an endless command is left out, and counted.
        for _ in 0..400 {
            if child.try_wait().ok()?.is_some() {
                let log = fs::read(&log).ok()?;
                let names = log.split(|byte| *byte == 0).filter(|name| !name.is_empty());
                return Some(
                    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
                );
            }
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().ok()?;
        child.wait().ok()?;
        None
    }
}

#[test]
fn every_name_that_bash_looks_up_was_predicted() {
    let Some(_) = Cage::new() else {
        say("names that bash looks up: not run, since this machine has no namespaces of users");
        return;
    };
    let rows = open_rows();
    let (names, endless) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = Mutex::new(String::new());
    thread::scope(|scope| {
        for part in rows.chunks(rows.len().div_ceil(CAGES)) {
            let (names, endless, wrong) = (&names, &endless, &wrong);
            scope.spawn(move || {
                let cage = Cage::new().expect("a further root");
                for row in part.iter().filter(|row| !row.command.contains('\0')) {
                    let Some(looked_up) = cage.names(&row.command) else {
                        endless.fetch_add(1, Ordering::Relaxed);
                        continue;
                    };
                    names.fetch_add(looked_up.len(), Ordering::Relaxed);
                    let verdict = verdict(&row.command);
                    let is_doubtful = verdict.tier.number() == 3;
                    for name in looked_up {
                        let is_called = verdict.effects.programs().any(|program| program == name);
                        if !is_doubtful && !is_called {
                            let line = format!("`{name}` in: {}\n", row.command);
                            wrong.lock().expect("no panic").push_str(&line);
                        }
                    }
                }
            });
        }
    });
    let (names, endless) = (names.into_inner(), endless.into_inner());
    let count = rows.len();
    say(&format!("{count} commands, {names} names looked up, {endless} did not end"));
    assert!(names > 500, "{names}");
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{wrong}");
}
