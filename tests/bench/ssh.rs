//! Other hosts, beside the programs of OpenSSH: a reused command, files, a fleet, and idle connections.

#![expect(clippy::disallowed_methods, reason = "it times other programs")]

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agent::{Agent, is_installed};
use crate::figures::number::median;
use crate::figures::{Figure, Part, Report, beside, of};
use crate::{Result, Setting, cost};

pub(crate) const FIGURES: &[Figure] = &[EXEC, UPLOAD, DOWNLOAD, FANOUT, IDLE];

const EXEC: Figure = Figure {
    id: "ssh/exec",
    work: "a reused `ssh_exec true`, stdio, with audit, beside ssh(1) with ControlMaster, in turn",
    parts: &[of("as fast", "×").at_least(2.0), of("p50, wall", "ms"), beside("ssh(1)", "ms")],
    note: "",
};
const UPLOAD: Figure = Figure {
    id: "ssh/upload",
    work: "`ssh_upload` of 100 MB, beside sftp(1), in turn",
    parts: FILES,
    note: "",
};
const DOWNLOAD: Figure = Figure {
    id: "ssh/download",
    work: "`ssh_download` of 100 MB, beside sftp(1), in turn",
    parts: FILES,
    note: "",
};
const FILES: &[Part] =
    &[of("as fast", "×").at_least(1.0), of("p50, wall", "MB/s"), beside("sftp(1)", "MB/s")];
const FANOUT: Figure = Figure {
    id: "ssh/fanout",
    work: "a fan-out over 100 hosts, of the time of its slowest one (2 s)",
    parts: &[of("connected", "×").at_most(1.5), of("with 100 logins here", "×").at_most(1.5)],
    note: "the hosts are servers of this machine, which does their part of the logins too.",
};
const IDLE: Figure = Figure {
    id: "ssh/idle",
    work: "100 idle connections to hosts: resident memory",
    parts: &[of("more", "MB")],
    note: "",
};

/// The hosts of the fleet.
const HOSTS: u8 = 100;
/// The addresses on which one sshd listens, which has room for 16.
const LISTENED: u8 = 15;
const PORT: u16 = 22_122;
const SSHD: &str = "/usr/sbin/sshd";
const CALLS: usize = 200;
/// Calls before those that are timed.
const WARM_UP: usize = 20;
const FILE_BYTES: usize = 100_000_000;
const FILE_RUNS: usize = 7;
/// The time that the slowest host of the fleet takes.
const SLOWEST: Duration = Duration::from_secs(2);
const FLEET_RUNS: usize = 3;
/// The longest wait for a host to come up.
const PATIENCE: Duration = Duration::from_secs(20);

/// All of it, where OpenSSH is installed.
pub(crate) fn hosts(setting: &Setting, report: &mut Report) -> Result<()> {
    let has_client = ["ssh", "sftp", "ssh-keygen"].iter().all(|program| is_installed(program));
    if !has_client || !Path::new(SSHD).is_file() {
        for figure in FIGURES {
            report.not_run(figure, "OpenSSH with its server is not installed");
        }
        return Ok(());
    }
    let fleet = Fleet::start(&setting.folder.join("fleet"))?;
    commands(setting, &fleet, report)?;
    files(setting, &fleet, report)?;
    fleet_of(setting, &fleet, report)
}

/// Servers on many addresses of the loopback interface.
struct Fleet {
    folder: PathBuf,
    servers: Vec<Child>,
    user: String,
    pin: String,
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for server in &mut self.servers {
            _ = server.kill();
            _ = server.wait();
        }
    }
}

fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 77, number)
}

impl Fleet {
    fn start(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder.join("home"))?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        // Of a server that runs as root.
        _ = fs::create_dir_all("/run/sshd");
        for name in ["host", "user"] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", ""])
                .arg("-f")
                .arg(folder.join(name)))?;
        }
        let public = fs::read_to_string(folder.join("host.pub"))?;
        let pin = public.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let user = run(Command::new("id").arg("-un"))?.trim().to_owned();
        fs::write(folder.join("known_hosts"), format!("[127.0.77.*]:{PORT} {pin}\n"))?;
        let mut fleet = Self { folder: folder.to_owned(), servers: Vec::new(), user, pin };
        for first in (1..=HOSTS).step_by(LISTENED.into()) {
            let all = first..=HOSTS.min(first + LISTENED - 1);
            let listened: String =
                all.map(|it| format!("ListenAddress {}\n", address(it))).collect();
            let path = |name: &str| folder.join(name).display().to_string();
            let config = folder.join(format!("sshd-{first}"));
            fs::write(
                &config,
                format!(
                    "Port {PORT}\n{listened}HostKey {}\nAuthorizedKeysFile {}\nSetEnv HOME={}\n\
                     UsePAM no\nStrictModes no\nPidFile none\nLogLevel ERROR\nMaxStartups 200\n\
                     PermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\n",
                    path("host"),
                    path("user.pub"),
                    path("home"),
                ),
            )?;
            let mut command = Command::new(SSHD);
            command.args(["-D", "-e", "-f"]).arg(&config);
            fleet.servers.push(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?);
        }
        let since = Instant::now();
        while (1..=HOSTS).any(|it| TcpStream::connect((address(it), PORT)).is_err()) {
            if since.elapsed() > PATIENCE {
                return Err("the SSH servers did not start".into());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(fleet)
    }

    /// A server whose project knows all hosts.
    fn agent(&self, setting: &Setting) -> Result<Agent> {
        let key = self.folder.join("user");
        let hosts: String = (1..=HOSTS)
            .map(|it| format!(
                "host h{it} address=\"{}\" port={PORT} user={} key=(file)\"{}\" {{ pin \"{}\" }}\n",
                address(it), self.user, key.display(), self.pin,
            ))
            .collect();
        let project = format!(
            "project fleet epoch=1\ntools {{ ssh; diagnostics }}\nroles {{ role operator tier=3 }}\n\
             users {{ user op role=operator }}\nhosts {{ {hosts} }}\npolicy open\n"
        );
        let bundle = setting.project("fleet", &project)?;
        let mut command = harness::command(&setting.relay_serve, &setting.folder);
        command.arg(bundle).args(["--stdio", "--principal", "op", "--audit", "fleet.jsonl"]);
        command.arg("--trust").arg(setting.trust_file());
        Agent::start(command)
    }

    /// A program of OpenSSH with the keys of the fleet, that shares a connection.
    fn openssh(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let options = [
            format!("ControlPath={}", self.folder.join("control").display()),
            "ControlMaster=auto".to_owned(),
            "ControlPersist=60".to_owned(),
            format!("UserKnownHostsFile={}", self.folder.join("known_hosts").display()),
            format!("IdentityFile={}", self.folder.join("user").display()),
            "IdentitiesOnly=yes".to_owned(),
        ];
        options.iter().for_each(|option| _ = command.args(["-o", option]));
        let port = if program == "ssh" { "-p" } else { "-P" };
        command.args(["-F", "none", "-q", port, &PORT.to_string()]);
        command
    }

    fn goal(&self) -> String {
        format!("{}@{}", self.user, address(1))
    }
}

/// A command on a connection that is open, in turn with one of ssh(1) that shares a connection.
fn commands(setting: &Setting, fleet: &Fleet, report: &mut Report) -> Result<()> {
    let mut agent = fleet.agent(setting)?;
    let (mut calls, mut peers) = (Vec::new(), Vec::new());
    for number in 0..WARM_UP + CALLS {
        let call = time(|| exec(&mut agent, "h1", "true"))?;
        let peer = time(|| run(fleet.openssh("ssh").arg(fleet.goal()).arg("true")).map(|_| ()))?;
        if number >= WARM_UP {
            calls.push(call);
            peers.push(peer);
        }
    }
    let (call, peer) = (median(&mut calls), median(&mut peers));
    report.put_all(&EXEC, &[peer / call, call * 1e3, peer * 1e3])
}

/// A file of 100 MB, in turn with sftp(1), each on a connection that is open.
fn files(setting: &Setting, fleet: &Fleet, report: &mut Report) -> Result<()> {
    let mut agent = fleet.agent(setting)?;
    let path = |name: &str| fleet.folder.join(name).display().to_string();
    fs::write(path("from"), vec![7; FILE_BYTES])?;
    let is_whole = |name: &str| -> Result<()> {
        let length = fs::metadata(path(name))?.len();
        if length == FILE_BYTES as u64 {
            Ok(())
        } else {
            Err(format!("{name}: {length} bytes").into())
        }
    };
    exec(&mut agent, "h1", "true")?;
    for (tool, figure) in [("ssh_upload", &UPLOAD), ("ssh_download", &DOWNLOAD)] {
        let (mut calls, mut peers) = (Vec::new(), Vec::new());
        for _ in 0..FILE_RUNS {
            let arguments = match tool {
                "ssh_upload" => {
                    json!({ "host": "h1", "local_path": path("from"), "remote_path": path("to") })
                }
                _ => json!({ "host": "h1", "remote_path": path("from"), "local_path": path("to") }),
            };
            calls.push(time(|| {
                let text = agent.call(tool, &arguments)?;
                if text.contains("(100000000 bytes)") { Ok(()) } else { Err(text.into()) }
            })?);
            is_whole("to")?;
            let goal = fleet.goal();
            peers.push(time(|| match tool {
                "ssh_upload" => {
                    fs::write(path("batch"), format!("put {} {}\n", path("from"), path("peer")))?;
                    run(fleet.openssh("sftp").args(["-b", &path("batch"), &goal])).map(|_| ())
                }
                _ => run(fleet
                    .openssh("sftp")
                    .args([format!("{goal}:{}", path("from")), path("peer")]))
                .map(|_| ()),
            })?);
            is_whole("peer")?;
            fs::remove_file(path("to"))?;
            fs::remove_file(path("peer"))?;
        }
        let (call, peer) = (median(&mut calls), median(&mut peers));
        let rate = |seconds: f64| FILE_BYTES as f64 / 1e6 / seconds;
        report.put_all(figure, &[peer / call, rate(call), rate(peer)])?;
    }
    Ok(())
}

/// One command on all hosts, one of which is slow; and the memory of their connections.
fn fleet_of(setting: &Setting, fleet: &Fleet, report: &mut Report) -> Result<()> {
    let mut agent = fleet.agent(setting)?;
    let server = agent.processes()?.server;
    exec(&mut agent, "h1", "true")?;
    let before = cost::resident_mb_of(server)?.0;
    let command =
        format!("case $SSH_CONNECTION in *' {} '*) sleep {};; esac", address(1), SLOWEST.as_secs());
    let arguments = json!({ "command": command, "concurrency": 32 });
    let mut fan = || {
        time(|| {
            let all: Value = serde_json::from_str(&agent.call("ssh_fanout", &arguments)?)?;
            let results = all.get("results").and_then(Value::as_array).ok_or("no results")?;
            let is_ok = |it: &&Value| it.get("exit_code") == Some(&Value::from(0));
            match results.iter().filter(is_ok).count() {
                count if count == usize::from(HOSTS) => Ok(()),
                count => Err(format!("{count} hosts answered: {all}").into()),
            }
        })
    };
    let cold = fan()?;
    let mut warm = (0..FLEET_RUNS).map(|_| fan()).collect::<Result<Vec<_>>>()?;
    let warm = median(&mut warm);
    let slowest = SLOWEST.as_secs_f64();
    report.put_all(&FANOUT, &[warm / slowest, cold / slowest])?;
    let after = cost::resident_mb_of(server)?.0;
    report.put_all(&IDLE, &[after - before])
}

fn exec(agent: &mut Agent, host: &str, command: &str) -> Result<()> {
    let text = agent.call("ssh_exec", &json!({ "host": host, "command": command }))?;
    if text.starts_with("[exit 0]") { Ok(()) } else { Err(text.into()) }
}

/// Runs a program that must succeed, and returns its output.
fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}: {text}", output.status).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the seconds that work takes.
fn time(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64())
}
