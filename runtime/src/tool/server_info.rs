//! `server_info`: which bundle is served, by which limits, and how the audit is.

use std::future::ready;

use relay_bundle::{Corrupt, Unlock};
use serde_json::{Map, Value, json};

use super::decide::Permit;
use super::error::CallError;
use super::implementation::{Outcome, Run, Running, Tool};
use crate::args::Transport;
use crate::audit::Health;
use crate::config::Limits;
use crate::load::Loaded;
use crate::rejection::Rejection;
use crate::server::Server;

/// `server_info`.
pub(super) struct ServerInfo;

impl Tool for ServerInfo {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        let info = info(permit, &run.call.server, &run.call.loaded);
        let failed = |damage| CallError::from(Rejection::Damaged(damage));
        Box::pin(ready(info.map(|info| Outcome::of_text(format!("{info:#}"))).map_err(failed)))
    }
}

/// Describes the server. What it does not have has no key.
fn info(_: &Permit, server: &Server, loaded: &Loaded) -> Result<Value, Corrupt> {
    let settings = &server.settings;
    let manifest = loaded.bundle.manifest()?;
    let user = rustix::process::getuid();
    let effective_user = rustix::process::geteuid();
    let mut bundle = Map::new();
    bundle.insert("project".to_owned(), json!(manifest.project));
    bundle.extend(manifest.version.map(|version| ("version".to_owned(), json!(version))));
    bundle.insert("epoch".to_owned(), json!(manifest.epoch));
    bundle.insert("digest".to_owned(), json!(loaded.bundle.digest().to_string()));
    bundle.insert("compiler".to_owned(), json!(manifest.compiler));
    bundle.insert("prompts".to_owned(), json!(loaded.bundle.prompt_count()));
    let mut info = json!({
        "name": manifest.project,
        "version": env!("CARGO_PKG_VERSION"),
        "transport": match settings.transport {
            Transport::Stdio => "stdio",
            Transport::Http(_) => "http",
        },
        "warnings": warnings(server, loaded),
        "bundle": bundle,
        "runtime": {
            "uid": user.as_raw(),
            "euid": effective_user.as_raw(),
            "is_root": effective_user.is_root(),
        },
        "limits": limits(&settings.limits),
    });
    let mut add =
        |key: &str, value| info.as_object_mut().map(|info| info.insert(key.to_owned(), value));
    if let Some(gate) = gate(loaded)? {
        add("gate", gate);
    }
    if let Some(path) = server.audit.path() {
        let is_failing = server.audit.health() == Health::Failing;
        add("audit", json!({ "path": path, "format": "jsonl", "degraded": is_failing }));
    }
    Ok(info)
}

fn gate(loaded: &Loaded) -> Result<Option<Value>, Corrupt> {
    let Some(gate) = loaded.bundle.gate()? else { return Ok(None) };
    Ok(Some(json!({
        "unlock": match gate.unlock {
            Unlock::Intercept => "intercept",
            Unlock::Refuse => "refuse",
        },
        "hide_tools": gate.hide_tools,
        "tags_ask": gate.tags_ask,
        "tags_max": gate.tags_max,
        "budget_bytes": gate.budget_bytes,
        "remaining_bytes": gate.remaining_bytes,
    })))
}

fn warnings(server: &Server, loaded: &Loaded) -> Vec<String> {
    let mut warnings = Vec::new();
    if server.audit.health() == Health::Off {
        warnings.push("nothing is recorded".to_owned());
    }
    if loaded.is_damaged() {
        warnings.push("the bundle is damaged".to_owned());
    }
    warnings.extend(server.last_reload_error());
    warnings
}

fn limits(limits: &Limits) -> Value {
    let Limits {
        bundle_bytes_max,
        body_bytes_max,
        line_bytes_max,
        head_bytes_max,
        head_s_max,
        request_s_max,
        connections_max,
        sessions_max,
        session_idle_s_max,
        listeners_max,
        subscriptions_max,
        principal_calls_max,
        drain_s_max,
    } = limits;
    json!({
        "bundle_bytes_max": bundle_bytes_max,
        "body_bytes_max": body_bytes_max,
        "line_bytes_max": line_bytes_max,
        "head_bytes_max": head_bytes_max,
        "head_s_max": head_s_max,
        "request_s_max": request_s_max,
        "connections_max": connections_max,
        "sessions_max": sessions_max,
        "session_idle_s_max": session_idle_s_max,
        "listeners_max": listeners_max,
        "subscriptions_max": subscriptions_max,
        "principal_calls_max": principal_calls_max,
        "drain_s_max": drain_s_max,
    })
}
