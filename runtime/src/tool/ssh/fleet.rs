//! `ssh_hosts`, `ssh_check`, `ssh_fanout` and `ssh_keyscan`: the hosts of a project, and many at once.

use std::time::Duration;

use relay_engine::tool::host_list;
use relay_ssh::{Command, Limits, Route, ScannedKey, keyscan};
use serde_json::{Value, json};

use super::answer::outcome;
use super::fitted::fitted;
use super::inventory;
use super::many::Many;
use super::order::{number, place, stopped};
use crate::caller::rejection::Rejection;
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::{Outcome, Run, Running, Tool};

/// The most hosts of a call that reads keys.
const SCANNED_MAX: usize = 32;
/// How many hosts are probed or read at once.
const AT_ONCE: usize = 8;
/// The most bytes of the outputs of all hosts as JSON: with the names of the hosts the answer stays within
/// the limit of a result, so that it is whole.
const OUTPUTS_BYTES_MAX: usize = 40 << 10;
/// The most bytes of output of each host.
const HOST_BYTES_MAX: usize = 4 << 10;

/// `ssh_hosts`.
pub(in crate::tool) struct SshHosts;
/// `ssh_check`.
pub(in crate::tool) struct SshCheck;
/// `ssh_fanout`.
pub(in crate::tool) struct SshFanout;
/// `ssh_keyscan`.
pub(in crate::tool) struct SshKeyscan;

impl Tool for SshHosts {
    fn run<'a>(&'a self, _permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let hosts = inventory::all(&run.call.placed).map_err(Rejection::from)?;
            let shown: Vec<Value> = hosts.into_iter().map(inventory::shown).collect();
            if shown.is_empty() {
                return Ok(Outcome::of_text("[no hosts configured]".to_owned()));
            }
            Ok(Outcome::of_text(format!("{:#}", Value::from(shown))))
        })
    }
}

impl Tool for SshCheck {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let many = Many::of(permit, &run, run.call.limits().fanout_hosts_max as usize)?;
            if many.names.is_empty() {
                return Ok(Outcome::of_text("[no hosts configured; pass hosts]".to_owned()));
            }
            let _place = place(permit, &run).await?;
            let limit = Duration::from_secs(number(&run.arguments, "timeout"));
            let probe = |route: Route| {
                let pool = run.call.server.remote.pool.clone();
                async move {
                    match tokio::time::timeout(limit, pool.probe(&route)).await {
                        Ok(Ok(_)) => Ok(()),
                        Ok(Err(error)) => Err(error.to_string()),
                        Err(_) => Err(format!("no answer after {} s", limit.as_secs())),
                    }
                }
            };
            let answers = many.each(AT_ONCE, probe).await;
            let lines =
                many.names.iter().zip(answers).map(|(name, answer)| match answer.flatten() {
                    Ok(()) => format!("{name}: ok"),
                    Err(reason) => format!("{name}: UNREACHABLE ({reason})"),
                });
            Ok(Outcome::of_text(lines.collect::<Vec<_>>().join("\n")))
        })
    }
}

impl Tool for SshFanout {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let many = Many::of(permit, &run, run.call.limits().fanout_hosts_max as usize)?;
            if many.names.is_empty() {
                return Ok(Outcome::of_text("[no hosts configured; pass hosts]".to_owned()));
            }
            let _place = place(permit, &run).await?;
            let arguments = &run.arguments;
            let text = arguments.text("command").unwrap_or_default();
            let timeout_s = number(arguments, "timeout");
            let concurrency = number(arguments, "concurrency");
            let command = |route: Route| {
                let command = Command {
                    text: text.as_bytes().to_vec(),
                    input: Vec::new(),
                    merge: true,
                    output_bytes_max: HOST_BYTES_MAX,
                    timeout: Duration::from_secs(timeout_s),
                    terminal: false,
                };
                let pool = run.call.server.remote.pool.clone();
                let stop = stopped(&run.stop);
                async move {
                    let finished = pool.run(&route, command, stop).await;
                    let finished =
                        finished.map_err(|error| CallError::Failed(error.to_string()))?;
                    outcome(&finished, timeout_s)
                }
            };
            let answers = many.each(usize::try_from(concurrency).unwrap_or(1), command).await;
            let answers = answers.into_iter().map(|answer| {
                match answer.map_err(CallError::Failed).flatten() {
                    Ok(Outcome { text, exit_code, .. }) => (exit_code, text),
                    Err(error) => (None, error.to_string()),
                }
            });
            let (codes, outputs): (Vec<_>, Vec<_>) = answers.unzip();
            let outputs = fitted(outputs, OUTPUTS_BYTES_MAX.saturating_sub(text.len()));
            let each = many.names.iter().zip(codes).zip(outputs);
            let results: Vec<Value> = each
                .map(|((host, exit_code), output)| {
                    json!({ "host": host, "exit_code": exit_code, "output": output })
                })
                .collect();
            let all = json!({
                "command": text, "concurrency": concurrency, "timeout": timeout_s,
                "host_count": many.names.len(), "results": results,
            });
            Ok(Outcome::of_text(all.to_string()))
        })
    }
}

impl Tool for SshKeyscan {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let many = Many::of(permit, &run, SCANNED_MAX)?;
            let wanted = kinds(run.arguments.text("key_types").unwrap_or_default())?;
            let _place = place(permit, &run).await?;
            let limit = Duration::from_secs(number(&run.arguments, "timeout"));
            let scan = |route: Route| {
                let limits = Limits { connect: limit, ..run.call.server.remote.limits.clone() };
                async move { keyscan(&route, &limits).await.map_err(|error| error.to_string()) }
            };
            let answers = many.each(AT_ONCE, scan).await;
            let mut lines = Vec::new();
            for (name, answer) in many.names.iter().zip(answers) {
                match answer.flatten() {
                    Ok(keys) => lines.extend(scanned(name, keys, &wanted)),
                    Err(reason) => lines.push(format!("# {name}: {reason}")),
                }
            }
            Ok(Outcome::of_text(lines.join("\n")))
        })
    }
}

/// Returns the beginnings of the kinds of keys that a call asks for.
fn kinds(written: &str) -> Result<Vec<&'static str>, CallError> {
    let known = [("rsa", "ssh-rsa"), ("ecdsa", "ecdsa-"), ("ed25519", "ssh-ed25519")];
    let kind = |word: &str| {
        let found = known.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
        found.ok_or_else(|| {
            CallError::Failed(
                "`key_types` takes rsa, ecdsa and ed25519, separated by commas".to_owned(),
            )
        })
    };
    host_list(written).map(kind).collect()
}

fn scanned(name: &str, keys: Vec<ScannedKey>, wanted: &[&str]) -> Vec<String> {
    let is_wanted = |key: &ScannedKey| wanted.iter().any(|kind| key.algorithm.starts_with(kind));
    let each = keys.into_iter().filter(is_wanted).filter_map(|ScannedKey { found, .. }| found);
    let mut lines: Vec<String> =
        each.flat_map(|key| [format!("# {name} {}", key.fingerprint), key.line]).collect();
    if lines.is_empty() {
        lines.push(format!("# {name}: none of these kinds is offered"));
    }
    lines
}
