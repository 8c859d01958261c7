//! The binary `relay` as its users see it: command lines, files, exit codes, both streams.
//!
//! Every run has its own environment and home folder, and a time limit. No run may print a secret
//! key, so the output of each is searched for the keys in its folder.

#![expect(clippy::disallowed_methods, reason = "these tests start the binaries")]

mod adopt;
mod audit;
mod audit_verify;
mod build;
mod callers;
mod canonical;
mod check;
mod classify;
mod commands;
mod describe;
mod determinism;
mod diff;
mod diff_inputs;
mod docs;
mod exit_codes;
mod explain;
mod export;
mod files;
mod fmt;
mod fmt_fix;
mod formats;
mod git_setup;
mod help;
mod hook;
mod hostile;
mod import;
mod inspect;
mod keys;
mod mistakes;
mod mutants;
mod permissions;
mod policy;
mod receipt;
mod rules;
mod schemas;
mod setup;
mod show;
mod slips;
mod test;
mod trust;
mod verify;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::Ended;
use serde_json::Value;

use crate::binaries;
use crate::support::root;

/// A folder to run `relay` in, with a home folder beside it. Both are removed after the test.
struct Sandbox {
    base: tempfile::TempDir,
}

/// The result of a run.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Sandbox {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(base.path().join("work")).expect("a new folder");
        Self { base }
    }

    /// A folder with these files.
    fn of(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        for (path, text) in files {
            sandbox.write(path, text);
        }
        sandbox
    }

    /// A folder with a copy of `examples/NAME` as `NAME`.
    fn example(name: &str) -> Self {
        let sandbox = Self::new();
        copy(&root().join("examples").join(name), &sandbox.path(name));
        sandbox
    }

    /// The path of a file in the folder.
    fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.base.path().join("work").join(file)
    }

    /// The path of this user's dev key.
    fn dev_key(&self) -> PathBuf {
        self.base.path().join("data/relay/dev.key")
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// The names of all files in the folder, sorted, hidden ones too, without the receipts of builds.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).expect("a folder");
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.retain(|name| name != ".relay-cache");
        names.sort();
        names
    }

    /// Replaces a text that occurs exactly once in a file.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "{file}: `{from}`");
        fs::write(self.path(file), text.replace(from, to)).expect("a file");
    }

    /// A command in the folder, with only `PATH` of the tests' own environment.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = harness::command(program, &self.path(""));
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.base.path().join("home"))
            .env("XDG_DATA_HOME", self.base.path().join("data"));
        command
    }

    /// Runs `relay` with the words of a line.
    fn relay(&self, line: &str) -> Run {
        self.relay_of(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs `relay` with arguments that may contain blanks.
    fn relay_of(&self, arguments: &[impl AsRef<OsStr>]) -> Run {
        let mut command = self.command(binaries::relay());
        command.args(arguments);
        self.run(command)
    }

    /// Runs `relay` with more environment variables.
    fn relay_with(&self, variables: &[(&str, &str)], line: &str) -> Run {
        let mut command = self.command(binaries::relay());
        command.args(line.split_whitespace()).envs(variables.iter().copied());
        self.run(command)
    }

    /// Runs a program to its end.
    fn run(&self, command: Command) -> Run {
        let run = run(command);
        for secret in self.secrets() {
            assert!(!run.stdout.contains(&secret), "a secret key was printed");
            assert!(!run.stderr.contains(&secret), "a secret key was printed");
        }
        run
    }

    /// Every secret key in the folder and the home folder, in each encoding that could be printed.
    fn secrets(&self) -> Vec<String> {
        use base64::Engine as _;
        use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
        let folders = [self.path(""), self.base.path().join("data/relay")];
        let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let mut secrets = Vec::new();
        for path in paths.filter(|path| path.extension() == Some(OsStr::new("key"))) {
            let pem = fs::read_to_string(path).unwrap_or_default();
            let lines = pem.lines().filter(|line| !line.is_empty() && !line.starts_with("--"));
            let body: String = lines.collect();
            let Ok(der) = STANDARD.decode(&body) else { continue };
            // PKCS#8 of Ed25519 (RFC 8410): 16 bytes of structure, then the 32 bytes of the seed.
            let Some(seed) = der.get(16..48) else { continue };
            let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
            secrets.extend([body, hex, STANDARD_NO_PAD.encode(seed), URL_SAFE_NO_PAD.encode(seed)]);
        }
        secrets
    }
}

impl Run {
    /// Asserts the exit code.
    #[track_caller]
    fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "\n{}{}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error contains `words`.
    #[track_caller]
    fn says(self, words: &str) -> Self {
        assert!(self.stderr.contains(words), "not said: {words}\n{}", self.stderr);
        self
    }

    /// Asserts that standard output contains `words`.
    #[track_caller]
    fn prints(self, words: &str) -> Self {
        assert!(self.stdout.contains(words), "not printed: {words}\n{}", self.stdout);
        self
    }

    /// Asserts that standard error is empty.
    #[track_caller]
    fn silent(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}{}", self.stdout, self.stderr))
    }
}

/// Runs a program to its end.
fn run(command: Command) -> Run {
    let program = format!("{command:?}");
    let Ended { code, stdout, stderr } = harness::run(command);
    let code = code.unwrap_or_else(|| panic!("a signal ended {program}:\n{stderr}"));
    Run { code, stdout, stderr }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, copy_) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copy_);
        } else if path.extension() != Some(OsStr::new("relay")) {
            fs::copy(&path, &copy_).expect("a copy");
        }
    }
}

/// The smallest valid project, followed by more nodes.
fn project(rest: &str) -> String {
    format!(
        "project small version=\"1.0.0\" epoch=1\n\
         prompts {{\n    prompt hello {{\n        summary \"Greets\"\n        text \"Hello.\"\n    }}\n}}\n{rest}"
    )
}

/// Asserts that a text equals the snapshot `cli/snapshots/NAME.snap`.
#[track_caller]
fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("tests/cli/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
