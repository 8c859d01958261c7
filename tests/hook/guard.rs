//! A machine with a bundle, a trust file and a machine file, on which a client runs the hook.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use harness::{Ended, Process};
use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::relay_hook;
use crate::bundle::sample;
use crate::serve::house::{SIGNER, trusted};
use crate::support::{self, Memory, compiled};

/// The policy of most tests.
pub(crate) const POLICY: &str = r#"
policy guarded {
    deny no-etc { writes "/etc/**"; because "SEC-1" }
    deny no-secrets { reads secret; because "SEC-2" }
    deny no-egress { connects "*.bad.example"; because "SEC-3" }
    deny no-drop { tool "notes/note-drop"; because "OPS-1" }
    approve sends { tool "notes/note-send"; because "OPS-2" }
    approve pushes { program git; sub push; because "OPS-3" }
    allow touch-tmp { program rm; removes "/tmp/scratch/**" }
}
tools { other "notes/*" { arg name reads } }
"#;

/// A machine on which a client runs the hook.
pub(crate) struct Guard {
    folder: TempDir,
}

impl Guard {
    /// A machine with the bundle of these nodes.
    pub(crate) fn of(nodes: &str) -> Self {
        let guard = Self { folder: TempDir::new().expect("a folder") };
        guard.put_bundle(1, nodes);
        guard.write("trust.toml", &format!("version = 1\n{}", trusted(SIGNER, "")));
        guard.configure("");
        fs::create_dir(guard.path("work")).expect("a work tree");
        guard
    }

    /// A machine with the usual policy.
    pub(crate) fn new() -> Self {
        Self::of(POLICY)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("it exists").join(name)
    }

    /// Returns the path of a file as a text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    pub(crate) fn write(&self, name: &str, contents: &str) {
        fs::write(self.path(name), contents).expect("the folder can be written");
    }

    /// Puts a bundle of these nodes in place.
    pub(crate) fn put_bundle(&self, epoch: u64, nodes: &str) {
        let text = format!("project guard epoch={epoch}\n{nodes}\n");
        let files = Memory::of(&[("project.kdl", &text)]);
        let (compiled, report) = compiled(&files, "project.kdl", &Default::default());
        let contents = support::contents(&compiled).unwrap_or_else(|| panic!("{report}"));
        let bytes = sample::sealed(&contents, &[SIGNER]);
        fs::write(self.path("new.relay"), bytes).expect("a bundle");
        fs::rename(self.path("new.relay"), self.path("guard.relay")).expect("a rename");
    }

    /// Writes the machine file, with further lines.
    pub(crate) fn configure(&self, more: &str) {
        let text = ["bundle = 'guard.relay'", "trust = 'trust.toml'"]
            .into_iter()
            .chain(["audit = 'audit.jsonl'", "state = 'state'", "principal = 'ann'"])
            .map(|line| match line.split_once(" = '") {
                Some(("principal", _)) | None => line.to_owned(),
                Some((key, name)) => {
                    format!("{key} = {:?}", self.text(name.trim_end_matches('\'')))
                }
            })
            .collect::<Vec<_>>()
            .join("\n");
        self.write("hook.toml", &format!("{text}\n{more}\n"));
    }

    /// Makes the command of the hook of a client.
    pub(crate) fn command(&self, client: &str) -> Command {
        let mut command = harness::command(relay_hook(), self.folder.path());
        command.args([client, "--config"]).arg(self.path("hook.toml"));
        command
    }

    /// Runs the hook of a client on these bytes.
    pub(crate) fn run(&self, client: &str, event: &[u8]) -> Ended {
        fed(self.command(client), event)
    }

    /// Runs the hook of a client on an event.
    pub(crate) fn hook(&self, client: &str, event: &Value) -> Ended {
        self.run(client, event.to_string().as_bytes())
    }

    /// Returns the records so far.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("audit.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }

    /// Returns the last record.
    pub(crate) fn last(&self) -> Value {
        self.records().pop().expect("a record")
    }
}

/// Runs a command on these bytes of standard input.
pub(crate) fn fed(command: Command, input: &[u8]) -> Ended {
    let mut process = Process::start(command);
    let mut stdin = process.stdin().expect("standard input is a pipe");
    let mut stdout = process.stdout();
    thread::scope(|scope| {
        // It may leave a part unread.
        scope.spawn(move || _ = stdin.write_all(input));
        let mut out = String::new();
        stdout.read_to_string(&mut out).expect("standard output is UTF-8");
        let ended = process.wait();
        Ended { stdout: out, ..ended }
    })
}
