//! `server_info`: the bundle in force, the limits, and the state of the audit.

mod account;

use std::future::ready;

use relay_bundle::{Corrupt, List};
use relay_engine::decide;
use relay_engine::tool::{Limits, Offered};
use serde_json::{Map, Value, json};

use self::account::account;
use super::call::Call;
use super::decide::{Permit, TTL};
use super::implementation::{Outcome, Run, Running, Tool};
use crate::caller::rejection::Rejection;
use crate::process::Observation;
use crate::record::audit::Health;
use crate::server::Server;
use crate::settings::args::Transport;
use crate::trust::loaded::Loaded;

/// `server_info`.
pub(super) struct ServerInfo;

impl Tool for ServerInfo {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        let info = info(permit, run.call).map_err(|damage| Rejection::from(damage).into());
        Box::pin(ready(info.map(|info| Outcome::of_text(format!("{info:#}")))))
    }
}

/// Describes the server. Absent values are left out.
fn info(permit: &Permit, call: &Call) -> Result<Value, Corrupt> {
    let Call { server, placed, .. } = call;
    let (loaded, view) = (&placed.loaded, placed.view()?);
    let settings = &server.settings;
    let manifest = loaded.manifest();
    let mut bundle = Map::new();
    bundle.insert("project".to_owned(), json!(manifest.project.value));
    let version = manifest.version.as_ref();
    bundle.extend(version.map(|version| ("version".to_owned(), json!(version.value))));
    bundle.insert("epoch".to_owned(), json!(loaded.epoch()));
    bundle.insert("digest".to_owned(), json!(loaded.digest().to_string()));
    bundle.insert("compiler".to_owned(), json!(manifest.compiler));
    for (name, list) in [
        ("prompts", List::Prompts),
        ("resources", List::Resources),
        ("templates", List::Templates),
        ("tools", List::Tools),
    ] {
        bundle.insert(name.to_owned(), json!(view.count(list)));
    }
    let principal = permit.principal();
    let mut you = Map::from_iter([("id".to_owned(), json!(principal.id))]);
    let tenant = placed.tenant().or(principal.tenant.as_deref());
    let at = placed.given_at().map(|at| placed.shown_place(&at.to_string()).to_owned());
    let facts = [
        ("issuer", principal.issuer.clone()),
        ("tenant", tenant.map(ToOwned::to_owned)),
        ("role", placed.role().map(ToOwned::to_owned)),
        ("role_given_at", at),
    ];
    for (name, value) in facts {
        you.extend(value.map(|value| (name.to_owned(), json!(value))));
    }
    let mut info = json!({
        "name": manifest.project.value,
        "version": env!("CARGO_PKG_VERSION"),
        "transport": match settings.transport {
            Transport::Stdio => "stdio",
            Transport::Http(_) => "http",
        },
        "warnings": warnings(server, loaded),
        "bundle": bundle,
        "caller": you,
        "runtime": account(settings),
        "limits": limits(call),
        "seccomp": seccomp(server),
    });
    let mut add =
        |key: &str, value| info.as_object_mut().map(|info| info.insert(key.to_owned(), value));
    if let Some(mode) = decide::mode(&view)? {
        add("policy_mode", json!(mode.word()));
        let asks = view.asks_before_tier_3();
        let (ttl, pending) = (TTL.as_secs(), server.calls.waiting(principal));
        add("confirm", json!({ "tier3": asks, "ttl": ttl, "pending": pending }));
    }
    if let Some(gate) = view.gate() {
        add("gate", json!(relay_bundle::values(gate)));
    }
    if let Some(audit) = server.audit.described() {
        add("audit", json!(audit));
    }
    Ok(info)
}

/// Returns the limits of the server, and those of calls that start processes if there are such tools.
fn limits(call: &Call) -> Value {
    let mut limits = json!(call.server.settings.limits);
    let starts = |offered: &Offered| offered.spec.starts_processes();
    if call.placed.loaded.tools.iter().any(starts)
        && let Some(limits) = limits.as_object_mut()
    {
        let Limits {
            timeout_s,
            timeout_s_max,
            output_bytes,
            output_bytes_max,
            input_bytes_max,
            sessions_max,
            forwards_max,
            fanout,
            fanout_hosts_max,
        } = call.limits();
        let numbers = [
            ("default_timeout", timeout_s),
            ("max_timeout", timeout_s_max),
            ("max_output", output_bytes),
            ("max_output_hard", output_bytes_max),
            ("max_input", input_bytes_max),
            ("max_sessions", sessions_max),
            ("max_forwards", forwards_max),
            ("fanout", fanout),
            ("max_fanout_hosts", fanout_hosts_max),
        ];
        limits.extend(numbers.map(|(name, number)| (name.to_owned(), json!(number))));
    }
    limits
}

/// Describes the observation of system calls.
fn seccomp(server: &Server) -> Value {
    let Observation { is_asked, supported, calls_max } = server.processes.observation();
    let mut seccomp = json!({ "notify": is_asked, "supported": supported.is_ok() });
    let facts = [
        ("reason", supported.as_ref().err().map(|reason| json!(reason))),
        ("cap", Some(json!(calls_max))),
        ("filter_version", Some(json!(relay_keeper::FILTER_VERSION))),
    ];
    for (name, value) in facts {
        if let (Some(seccomp), Some(value)) = (seccomp.as_object_mut(), value) {
            seccomp.insert(name.to_owned(), value);
        }
    }
    seccomp
}

fn warnings(server: &Server, loaded: &Loaded) -> Vec<String> {
    let mut warnings = Vec::new();
    if server.audit.health() == Health::Off {
        warnings.push("nothing is recorded".to_owned());
    }
    if loaded.is_damaged() {
        warnings.push("the bundle is damaged".to_owned());
    }
    let replaced = server.processes.keepers_replaced();
    if replaced > 0 {
        warnings.push(format!(
            "the keeper of processes ended {replaced} times: its processes were lost"
        ));
    }
    warnings.extend(server.doubt());
    warnings.extend(server.last_reload_error());
    warnings
}
