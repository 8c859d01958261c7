//! `relay hook`: relay in clients, in a home and a system of the tests' own.

mod files;
mod guard;
mod managed;
mod merge;
mod passes;
mod status;
mod trial;
mod versions;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::{Run, Sandbox, project};

/// All clients.
const CLIENTS: [&str; 9] = [
    "claude-code",
    "codex",
    "cursor",
    "gemini",
    "copilot",
    "vscode",
    "opencode",
    "cline",
    "windsurf",
];

/// A machine of one user, without any client.
struct Machine {
    sandbox: Sandbox,
    /// The home, below the root of the tests.
    home: PathBuf,
}

impl Machine {
    /// A machine with a signed bundle of the shipped policy.
    fn new() -> Self {
        Self::of("policy use=workstation\n")
    }

    /// A machine with a signed bundle of a project.
    fn of(rest: &str) -> Self {
        let sandbox = Sandbox::of(&[("project.kdl", &project(rest))]);
        let trust = sandbox.relay("keygen -o team").ends(0).stdout;
        sandbox.write("trust.toml", &trust);
        sandbox.relay("build . --key team.key -o team.relay -q").ends(0);
        let own = relay_hook::OsUser::current().home.expect("this user has a home");
        let home = sandbox.path("root").join(own.strip_prefix("/").expect("an absolute path"));
        fs::create_dir_all(&home).expect("a folder");
        Self { sandbox, home }
    }

    /// A machine whose records and state are in the folder of the test, too.
    fn with_audit() -> Self {
        let machine = Self::new();
        let path = |name: &str| machine.sandbox.path(name).to_string_lossy().into_owned();
        let text = format!(
            "bundle = \"{}\"\ntrust = \"{}\"\naudit = \"{}\"\nstate = \"{}\"\n",
            path("team.relay"),
            path("trust.toml"),
            path("hook.jsonl"),
            path("state"),
        );
        machine.write(".config/relay/hook.toml", &text);
        machine
    }

    /// A file of the home.
    fn path(&self, file: &str) -> PathBuf {
        self.home.join(file)
    }

    /// A file of the system.
    fn system(&self, file: &str) -> PathBuf {
        self.sandbox.path("root").join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn read(&self, file: &str) -> String {
        text(&self.path(file))
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// Runs `relay hook` with programs of clients that say these versions.
    fn hook_with(&self, versions: &[(&str, &str)], line: &str) -> Run {
        let folder = self.sandbox.path("bin");
        fs::create_dir_all(&folder).expect("a folder");
        for (name, version) in versions {
            let path = folder.join(name);
            fs::write(&path, format!("#!/bin/sh\necho '{version}'\n")).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        let path = format!("{}:/usr/bin:/bin", folder.to_string_lossy());
        self.sandbox
            .relay_with(&[("PATH", &path)], &format!("hook {line} --root root --any-program"))
    }

    /// Runs `relay hook` without any client.
    fn hook(&self, line: &str) -> Run {
        self.hook_with(&[], line)
    }

    /// Installs relay in a client.
    fn install(&self, client: &str) -> Run {
        self.hook(&format!("install {client} --bundle team.relay --trust trust.toml"))
    }

    /// The files of a folder and below, without folders, sorted.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list(&self.sandbox.path("root"), &mut files);
        let root = self.sandbox.path("root");
        let name = |path: &PathBuf| {
            path.strip_prefix(&root).expect("below").to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = files.iter().map(name).collect();
        names.sort();
        names
    }
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
