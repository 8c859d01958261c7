//! Clients over HTTP: API key, audit, connections that stay open.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use harness::Process;
use serde_json::json;
use sha2::Digest as _;

use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting, cost, generate};

pub(crate) const FIGURES: &[Figure] = &[PROMPTS_GET, BARE];

const PROMPTS_GET: Figure = Figure {
    id: "http/prompts-get",
    work: "`prompts/get` of 4 KB over HTTP, API key, audit",
    parts: &[of("", "a CPU-second").at_least(8_000.0).next(17_000.0), of("wall", "a second")],
    note: "",
};
const BARE: Figure = Figure {
    id: "http/bare-rmcp",
    work: "the same requests a CPU-second, beside a bare server of rmcp, in turn",
    parts: &[
        of("", "×").at_least(0.8),
        beside("the bare server", "a CPU-second"),
        beside("wall", "a second"),
    ],
    note: "the bare server has one prompt of 4 KB in memory, knows no caller and keeps no audit.",
};

const ADDRESS: &str = "127.0.0.1:39418";
/// The address of the bare server of rmcp.
const BARE_ADDRESS: &str = "127.0.0.1:39420";
const CLIENTS: usize = 4;
/// The requests of each client in a round.
const REQUESTS: usize = 2_500;
/// The rounds of each server; their medians count.
const ROUNDS: usize = 5;
pub(crate) const SECRET: &str = "a-key-for-figures-that-opens-nothing-else";

/// The table of the key of a caller.
pub(crate) fn key_table(id: &str) -> String {
    let hash: String =
        sha2::Sha256::digest(SECRET).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{hash}\"\nprincipal = \"{id}\"\n")
}

/// Starts a server that knows two callers, `bench` and `other`, at this address.
pub(crate) fn start(setting: &Setting, address: &str) -> Result<Process> {
    let bundle = setting.bundle("1000.relay", &generate::contents(1000))?;
    let path = setting.folder.join("server.toml");
    fs::write(&path, key_table("bench") + &key_table("other"))?;
    let mut command = harness::command(&setting.relay_serve, &setting.folder);
    command.arg(&bundle).args(["--http", address, "--config"]).arg(path);
    command.arg("--trust").arg(setting.trust_file());
    command.arg("--audit").arg(setting.folder.join("audit-http.jsonl"));
    let server = Process::start(command);
    server.hear("/mcp\n");
    Ok(server)
}

/// The server and a bare server of rmcp, round by round in turn, so that both meet the same machine.
pub(crate) fn prompts_get(setting: &Setting, report: &mut Report) -> Result<()> {
    let server = start(setting, ADDRESS)?;
    let bare = start_bare(setting)?;
    let (mut own, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        own.push(round(&server, ADDRESS)?);
        if let Some(bare) = &bare {
            beside.push(round(bare, BARE_ADDRESS)?);
        }
    }
    report.put_all(&PROMPTS_GET, &medians(&own))?;
    if bare.is_none() {
        report.not_run(&BARE, "built without `--features relay-tests/bare-rmcp`");
        return Ok(());
    }
    let mut ratios: Vec<f64> = own.iter().zip(&beside).map(|(own, bare)| own.0 / bare.0).collect();
    let [cpu, wall] = medians(&beside);
    report.put_all(&BARE, &[median(&mut ratios), cpu, wall])
}

/// Starts a bare server of rmcp, if it was built.
fn start_bare(setting: &Setting) -> Result<Option<Process>> {
    let program = setting.relay_serve.with_file_name("bare-rmcp");
    if !program.exists() {
        return Ok(None);
    }
    let mut command = harness::command(program, &setting.folder);
    command.arg(BARE_ADDRESS);
    let server = Process::start(command);
    server.hear("/mcp\n");
    Ok(Some(server))
}

/// Returns the requests that a server answers in a second of CPU time, and of wall time.
fn round(server: &Process, address: &'static str) -> Result<(f64, f64)> {
    let (before, start) = (cost::cpu_ns(server)?, Instant::now());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            thread::spawn(move || drive(address, client).map_err(|error| error.to_string()))
        })
        .collect();
    for client in clients {
        client.join().map_err(|_| "a client panicked")??;
    }
    let cpu = (cost::cpu_ns(server)? - before) as f64 / 1e9;
    let requests = (CLIENTS * REQUESTS) as f64;
    Ok((requests / cpu, requests / start.elapsed().as_secs_f64()))
}

fn medians(rounds: &[(f64, f64)]) -> [f64; 2] {
    let (mut cpu, mut wall): (Vec<_>, Vec<_>) = rounds.iter().copied().unzip();
    [median(&mut cpu), median(&mut wall)]
}

fn drive(address: &str, client: usize) -> Result<()> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    for number in 0..REQUESTS {
        to.write_all(&request(address, "bench", (client * 250 + number) % 1000))?;
        expect_prompt(&mut from)?;
    }
    Ok(())
}

/// Returns a request of a caller for the prompt of this number.
pub(crate) fn request(address: &str, caller: &str, number: usize) -> Vec<u8> {
    let name = generate::name(number);
    let body = json!({
        "jsonrpc": "2.0", "id": number, "method": "prompts/get",
        "params": {
            "name": name,
            "arguments": { "arguments": "the kitchen light" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            },
        },
    })
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer rk_{caller}_{SECRET}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: prompts/get\r\nMcp-Name: {name}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    (head + &body).into_bytes()
}

/// Reads the answer to such a request.
pub(crate) fn expect_prompt(from: &mut impl BufRead) -> Result<()> {
    let answer = answer(from)?;
    if answer.contains("\"messages\"") {
        Ok(())
    } else {
        Err(format!("the server said: {answer}").into())
    }
}

/// Reads one answer: a body of known length, or chunks.
pub(crate) fn answer(from: &mut impl BufRead) -> Result<String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = Some(value.trim().parse::<usize>()?);
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) => {
            body.resize(length, 0);
            from.read_exact(&mut body)?;
        }
        None => loop {
            let mut size = String::new();
            from.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16)?;
            let mut chunk = vec![0; size + 2];
            from.read_exact(&mut chunk)?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(chunk.get(..size).unwrap_or_default());
        },
    }
    Ok(String::from_utf8(body)?)
}
