//! `server_info`: which bundle is served, by which limits, and how the audit is.

use relay_bundle::{Corrupt, Unlock};
use serde_json::{Value, json};

use super::Permit;
use crate::args::Transport;
use crate::audit::Health;
use crate::load::Loaded;
use crate::server::Server;

/// Describes the server as a JSON object.
pub(super) fn run(_: &Permit, server: &Server, loaded: &Loaded) -> Result<String, Corrupt> {
    let settings = &server.settings;
    let manifest = loaded.bundle.manifest();
    let health = server.audit.health();
    let user = rustix::process::getuid();
    let effective_user = rustix::process::geteuid();
    let info = json!({
        "name": manifest.project.value,
        "version": env!("CARGO_PKG_VERSION"),
        "transport": match settings.transport {
            Transport::Stdio => "stdio",
            Transport::Http(_) => "http",
        },
        // No tool of this version changes anything, so there is no policy to be in a mode.
        "policy_mode": null,
        "warnings": warnings(server, loaded),
        "bundle": {
            "project": manifest.project.value,
            "version": manifest.version.as_ref().map(|version| &version.value),
            "epoch": loaded.bundle.epoch(),
            "digest": loaded.bundle.digest().to_string(),
            "compiler": manifest.compiler,
            "prompts": loaded.bundle.prompt_count(),
        },
        "gate": gate(loaded)?,
        "runtime": {
            "uid": user.as_raw(),
            "euid": effective_user.as_raw(),
            "is_root": effective_user.is_root(),
        },
        "limits": settings.limits,
        "audit": {
            "path": server.audit.path(),
            "degraded": health == Health::Failing,
            "format": (health != Health::Off).then_some("jsonl"),
            "chain": { "enabled": false },
        },
        "seccomp": {
            "notify": false,
            "supported": false,
            "reason": "this version has no seccomp channel",
        },
        "ssh": { "inventory_hosts": 0 },
    });
    Ok(format!("{info:#}"))
}

fn gate(loaded: &Loaded) -> Result<Value, Corrupt> {
    let Some(gate) = loaded.bundle.gate() else { return Ok(Value::Null) };
    Ok(json!({
        "unlock": match gate.unlock.value {
            Unlock::Intercept => "intercept",
            Unlock::Refuse => "refuse",
        },
        "hide_tools": gate.hide_tools.value,
        "tags_ask": gate.tags_ask.value,
        "tags_max": gate.tags_max.value,
        "budget_bytes": gate.budget_bytes.value,
        "remaining_bytes": gate.remaining_bytes.value,
    }))
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
