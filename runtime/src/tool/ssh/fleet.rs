//! `ssh_hosts`, `ssh_check`, `ssh_fanout` and `ssh_keyscan`: the hosts of a project, and many at once.

use std::collections::BTreeSet;
use std::time::Duration;

use relay_bundle::Hosts;
use relay_engine::tool::{host_list, reach};
use relay_ssh::{Command, Limits, Route, ScannedKey, keyscan};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::answer::outcome;
use super::fitted::fitted;
use super::inventory;
use super::order::{number, place, route, stopped};
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

/// Returns the hosts that a call names, each name once. A tool for a fleet takes all of the project if it
/// names none: only for those tools do rules judge all of them.
fn hosts(permit: &Permit, run: &Run<'_>, max: usize) -> Result<Vec<String>, CallError> {
    let written = run.arguments.text("hosts").unwrap_or_default();
    let mut hosts: Vec<String> = host_list(written).map(ToOwned::to_owned).collect();
    let is_of_fleet = reach(permit.spec().name).is_some_and(|reach| reach.is_of_fleet);
    if hosts.is_empty() && !is_of_fleet {
        return Err(CallError::Failed("`hosts` names no host".to_owned()));
    }
    if hosts.is_empty() {
        let all =
            run.call.placed.loaded.fleet().hosts().map_or(&[][..], |hosts: &Hosts| &hosts.hosts);
        hosts.extend(all.iter().map(|host| host.alias.clone()));
    }
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    if hosts.len() > max {
        let count = hosts.len();
        return Err(CallError::Failed(format!(
            "a call takes {max} hosts at most, and these are {count}"
        )));
    }
    Ok(hosts)
}

/// Runs work for each host, some at once, and returns the answers in the order of the hosts.
async fn each<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    works: Vec<F>,
    at_once: usize,
) -> Vec<Option<T>> {
    let mut answers: Vec<Option<T>> = works.iter().map(|_| None).collect();
    let mut waiting = works.into_iter().enumerate();
    let mut running = JoinSet::new();
    loop {
        while running.len() < at_once {
            let Some((number, work)) = waiting.next() else { break };
            running.spawn(async move { (number, work.await) });
        }
        // Dropping the set ends what runs.
        match running.join_next().await {
            Some(Ok((number, answer))) => {
                if let Some(slot) = answers.get_mut(number) {
                    *slot = Some(answer);
                }
            }
            Some(Err(_)) => {}
            None => return answers,
        }
    }
}

impl Tool for SshCheck {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let names = hosts(permit, &run, run.call.limits().fanout_hosts_max as usize)?;
            if names.is_empty() {
                return Ok(Outcome::of_text("[no hosts configured; pass hosts]".to_owned()));
            }
            let _place = place(permit, &run).await?;
            let limit = Duration::from_secs(number(&run.arguments, "timeout"));
            let works = names.iter().map(|name| {
                let route = route(&run, name);
                let pool = run.call.server.remote.pool.clone();
                async move {
                    let route = route.map_err(|error| error.to_string())?;
                    match tokio::time::timeout(limit, pool.probe(&route)).await {
                        Ok(Ok(_)) => Ok(()),
                        Ok(Err(error)) => Err(error.to_string()),
                        Err(_) => Err(format!("no answer after {} s", limit.as_secs())),
                    }
                }
            });
            let answers = each(works.collect(), AT_ONCE).await;
            let lines = names.iter().zip(answers).map(|(name, answer)| match answer {
                Some(Ok(())) => format!("{name}: ok"),
                Some(Err(reason)) => format!("{name}: UNREACHABLE ({reason})"),
                None => format!("{name}: UNREACHABLE (the probe failed)"),
            });
            Ok(Outcome::of_text(lines.collect::<Vec<_>>().join("\n")))
        })
    }
}

impl Tool for SshFanout {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let names = hosts(permit, &run, run.call.limits().fanout_hosts_max as usize)?;
            if names.is_empty() {
                return Ok(Outcome::of_text("[no hosts configured; pass hosts]".to_owned()));
            }
            let _place = place(permit, &run).await?;
            let arguments = &run.arguments;
            let text = arguments.text("command").unwrap_or_default().to_owned();
            let timeout_s = number(arguments, "timeout");
            let concurrency = number(arguments, "concurrency");
            let works = names.iter().map(|name| {
                let route = route(&run, name);
                let command = Command {
                    text: text.clone().into_bytes(),
                    input: Vec::new(),
                    merge: true,
                    output_bytes_max: HOST_BYTES_MAX,
                    timeout: Duration::from_secs(timeout_s),
                    terminal: false,
                };
                let pool = run.call.server.remote.pool.clone();
                let stop = stopped(&run.stop);
                async move {
                    let ran = match route {
                        Ok(route) => match pool.run(&route, command, stop).await {
                            Ok(finished) => outcome(&finished, timeout_s),
                            Err(error) => Err(CallError::Failed(error.to_string())),
                        },
                        Err(error) => Err(error),
                    };
                    match ran {
                        Ok(Outcome { text, exit_code, .. }) => (exit_code, text),
                        Err(error) => (None, error.to_string()),
                    }
                }
            });
            let at_once = usize::try_from(concurrency).unwrap_or(1).max(1);
            let answers = each(works.collect(), at_once).await;
            let failed = || (None, "[ERROR: the command failed]".to_owned());
            let answers = answers.into_iter().map(|answer| answer.unwrap_or_else(failed));
            let (codes, outputs): (Vec<_>, Vec<_>) = answers.unzip();
            let outputs = fitted(outputs, OUTPUTS_BYTES_MAX.saturating_sub(text.len()));
            let results = names.iter().zip(codes).zip(outputs).map(|((host, exit_code), output)| {
                json!({ "host": host, "exit_code": exit_code, "output": output })
            });
            let results: Vec<Value> = results.collect();
            let all = json!({
                "command": text, "concurrency": concurrency, "timeout": timeout_s,
                "host_count": names.len(), "results": results,
            });
            Ok(Outcome::of_text(all.to_string()))
        })
    }
}

impl Tool for SshKeyscan {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let names = hosts(permit, &run, SCANNED_MAX)?;
            let wanted = kinds(run.arguments.text("key_types").unwrap_or_default())?;
            let _place = place(permit, &run).await?;
            let limit = Duration::from_secs(number(&run.arguments, "timeout"));
            let works = names.iter().map(|name| {
                let route = route(&run, name);
                let limits = Limits { connect: limit, ..run.call.server.remote.limits.clone() };
                async move {
                    let route: Route = route.map_err(|error| error.to_string())?;
                    keyscan(&route, &limits).await.map_err(|error| error.to_string())
                }
            });
            let answers = each(works.collect(), AT_ONCE).await;
            let mut lines = Vec::new();
            for (name, answer) in names.iter().zip(answers) {
                match answer {
                    Some(Ok(keys)) => lines.extend(scanned(name, keys, &wanted)),
                    Some(Err(reason)) => lines.push(format!("# {name}: {reason}")),
                    None => lines.push(format!("# {name}: the scan failed")),
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
