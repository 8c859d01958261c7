//! An agent that uses the tools of a machine over standard input and output: of relay-serve, or of another
//! server that has them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stdio::Session;
use crate::{Result, Setting, cost};

/// A project that runs everything for one user.
const PROJECT: &str = "project ops epoch=1\n\
    tools { shell; sessions idle=(duration)\"1d\"; diagnostics }\n\
    roles { role operator tier=3 }\n\
    users { user op role=operator }\n\
    policy open\n";
/// The sessions that the server allows.
pub(crate) const SESSIONS: usize = 64;
/// The longest wait for a session.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent and its server.
pub(crate) struct Agent {
    session: Session,
}

/// The processes of a server: itself and the keeper, once it has started one.
pub(crate) struct Processes {
    pub(crate) server: u32,
    pub(crate) keeper: Option<u32>,
}

/// Writes the files of a server that runs commands, and returns its command: `audit` is the name of a file,
/// or `none`.
pub(crate) fn serve(setting: &Setting, audit: &str) -> Result<Command> {
    let bundle = setting.project("ops", PROJECT)?;
    let config = setting.folder.join("ops.toml");
    let limits = format!("sessions-max = {SESSIONS}\nprincipal-sessions-max = {SESSIONS}\n");
    fs::write(&config, format!("[processes]\n{limits}"))?;
    let mut command = harness::command(&setting.relay_serve, &setting.folder);
    command.arg(bundle).args(["--stdio", "--principal", "op", "--audit", audit]);
    command.arg("--config").arg(config).arg("--trust").arg(setting.trust_file());
    Ok(command)
}

impl Agent {
    /// Starts a server and initializes a session with it.
    pub(crate) fn start(command: Command) -> Result<Self> {
        let mut session = Session::start(command)?;
        session.initialize()?;
        Ok(Self { session })
    }

    /// Asks whether the server is there.
    pub(crate) fn ping(&mut self) -> Result<()> {
        self.session.result("ping", &json!({})).map(|_| ())
    }

    /// Calls a tool and returns its text.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.session.result("tools/call", &params)?;
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        Ok(text.ok_or_else(|| format!("{tool} has no text: {result}"))?.to_owned())
    }

    /// Runs a command, which must end with 0.
    pub(crate) fn run(&mut self, command: &str) -> Result<String> {
        let text = self.call("shell_exec", &json!({ "command": command }))?;
        if text.starts_with("[exit 0]") { Ok(text) } else { Err(text.into()) }
    }

    /// Begins a session and returns its id.
    pub(crate) fn spawn(&mut self, command: &str) -> Result<String> {
        let text = self.call("shell_spawn", &json!({ "command": command }))?;
        let id = text.strip_prefix("session ").and_then(|rest| rest.split(' ').next());
        Ok(id.ok_or_else(|| text.clone())?.to_owned())
    }

    /// Receives the output of a session until it contains a text; returns the bytes.
    pub(crate) fn hear(&mut self, id: &str, wanted: &str) -> Result<usize> {
        let (since, mut all) = (Instant::now(), String::new());
        let arguments = json!({ "session_id": id, "timeout": 5, "max_bytes": 262_144 });
        while !all.contains(wanted) {
            if since.elapsed() > PATIENCE {
                return Err(format!("{id} never said {wanted}").into());
            }
            all.push_str(&self.call("session_recv", &arguments)?);
        }
        Ok(all.len())
    }

    /// Returns the processes of the server.
    pub(crate) fn processes(&self) -> Result<Processes> {
        let server = self.session.process().id();
        let mut keeper = None;
        for task in fs::read_dir(format!("/proc/{server}/task"))? {
            let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
            keeper = keeper.or_else(|| children.split_whitespace().find_map(|id| id.parse().ok()));
        }
        Ok(Processes { server, keeper })
    }
}

impl Processes {
    fn ids(&self) -> impl Iterator<Item = u32> {
        [Some(self.server), self.keeper].into_iter().flatten()
    }

    /// Returns the CPU time of all of them so far, in microseconds.
    pub(crate) fn cpu_us(&self) -> Result<f64> {
        self.ids().map(|id| Ok(cost::cpu_ns_of(id)? as f64 / 1e3)).sum()
    }

    /// Returns the resident memory of all of them, in MB.
    pub(crate) fn resident_mb(&self) -> Result<f64> {
        self.ids().map(|id| Ok(cost::resident_mb_of(id)?.0)).sum()
    }

    /// Watches them do nothing for a while: the microseconds of CPU they used, and how often one woke up.
    pub(crate) fn rest(&self, time: Duration) -> Result<(f64, u64)> {
        let wakes = || self.ids().map(cost::wakes_of).sum::<Result<u64>>();
        let before = (self.cpu_us()?, wakes()?);
        thread::sleep(time);
        Ok((self.cpu_us()? - before.0, wakes()? - before.1))
    }
}

/// Returns whether a program is among those that the environment's `PATH` names.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::vars_os().find(|(name, _)| name == "PATH").map(|(_, path)| path);
    path.is_some_and(|path| std::env::split_paths(&path).any(|folder| is_file(&folder, program)))
}

fn is_file(folder: &Path, program: &str) -> bool {
    folder.join(program).is_file()
}
