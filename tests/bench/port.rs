//! Gateways that ask for decisions over HTTP: API key, policy, audit.

use std::fs;
use std::io::{BufReader, Write as _};
use std::net::TcpStream;
use std::thread;

use harness::{Process, command, run};
use relay_bundle::Bundle;
use serde_json::json;

use crate::figures::{Figure, Report, of};
use crate::http::{SECRET, answer, key_table};
use crate::{Result, Setting, cost};

pub(crate) const FIGURES: &[Figure] = &[EVALUATION];

const EVALUATION: Figure = Figure {
    id: "port/evaluation",
    work: "a decision on a command for a gateway: AuthZEN, API key, audit",
    parts: &[of("", "a CPU-second")],
    note: "",
};

const CLIENTS: usize = 4;
const REQUESTS: usize = 2_500;

const PROJECT: &str = "project gateway version=\"1.0.0\" epoch=1
tools { other \"fs_*\" { arg path writes } }
roles { role gateway decides=#true; role operator tier=2 }
users { user bench role=gateway; user ann role=operator }
policy guarded use=\"workstation\" { deny no-etc { writes \"/etc/**\" } }
";

/// Questions about a command of a shell, each on a connection that stays open.
pub(crate) fn evaluations(setting: &Setting, report: &mut Report) -> Result<()> {
    fs::write(setting.folder.join("gateway.kdl"), PROJECT)?;
    let mut build = command(&setting.relay, &setting.folder);
    build.args(["build", "gateway.kdl", "--unsigned", "-q", "-o", "unsigned.relay"]);
    let built = run(build);
    if built.code != Some(0) {
        return Err(built.stderr.into());
    }
    let bundle = Bundle::open(Box::new(fs::read(setting.folder.join("unsigned.relay"))?))?;
    let path = setting.folder.join("gateway.relay");
    fs::write(&path, setting.sealed(&bundle)?)?;
    let config = setting.folder.join("gateway.toml");
    fs::write(&config, key_table("bench"))?;
    let address = "127.0.0.1:39419";
    let mut serve = command(&setting.relay_serve, &setting.folder);
    serve.arg(&path).args(["--http", address, "--config"]).arg(config);
    serve.arg("--trust").arg(setting.trust_file());
    serve.arg("--audit").arg(setting.folder.join("audit-port.jsonl"));
    let server = Process::start(serve);
    server.hear("/mcp\n");
    let before = cost::cpu_ns(&server)?;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| thread::spawn(move || drive(address).map_err(|error| error.to_string())))
        .collect();
    for client in clients {
        client.join().map_err(|_| "a client panicked")??;
    }
    let cpu = (cost::cpu_ns(&server)? - before) as f64 / 1e9;
    report.put_all(&EVALUATION, &[(CLIENTS * REQUESTS) as f64 / cpu])
}

fn drive(address: &str) -> Result<()> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    let body = json!({
        "subject": { "type": "identity", "id": "ann" },
        "action": { "name": "tools/call" },
        "resource": { "type": "tool", "id": "shell_exec" },
        "context": { "arguments": { "command": "git -C /home/ann/work log --oneline -n 20 | head -5" } },
    })
    .to_string();
    let head = format!(
        "POST /access/v1/evaluation HTTP/1.1\r\nHost: {address}\r\n\
         Authorization: Bearer rk_bench_{SECRET}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let request = (head + &body).into_bytes();
    for _ in 0..REQUESTS {
        to.write_all(&request)?;
        let answer = answer(&mut from)?;
        if !answer.starts_with("{\"decision\":true") {
            return Err(format!("the server said: {answer}").into());
        }
    }
    Ok(())
}
