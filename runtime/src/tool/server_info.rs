//! `server_info`: the bundle in force, the limits, and the state of the audit.

use std::future::ready;

use serde_json::{Map, Value, json};

use super::decide::Permit;
use super::implementation::{Outcome, Run, Running, Tool};
use crate::args::Transport;
use crate::audit::Health;
use crate::load::Loaded;
use crate::server::Server;

/// `server_info`.
pub(super) struct ServerInfo;

impl Tool for ServerInfo {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        let info = info(permit, &run.call.server, &run.call.loaded);
        Box::pin(ready(Ok(Outcome::of_text(format!("{info:#}")))))
    }
}

/// Describes the server. Absent values have no key.
fn info(_: &Permit, server: &Server, loaded: &Loaded) -> Value {
    let settings = &server.settings;
    let manifest = loaded.bundle.manifest();
    let user = rustix::process::getuid();
    let effective_user = rustix::process::geteuid();
    let mut bundle = Map::new();
    bundle.insert("project".to_owned(), json!(manifest.project.value));
    let version = manifest.version.as_ref();
    bundle.extend(version.map(|version| ("version".to_owned(), json!(version.value))));
    bundle.insert("epoch".to_owned(), json!(loaded.bundle.epoch()));
    bundle.insert("digest".to_owned(), json!(loaded.bundle.digest().to_string()));
    bundle.insert("compiler".to_owned(), json!(manifest.compiler));
    bundle.insert("prompts".to_owned(), json!(loaded.bundle.prompt_count()));
    let mut info = json!({
        "name": manifest.project.value,
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
        "limits": settings.limits,
    });
    let mut add =
        |key: &str, value| info.as_object_mut().map(|info| info.insert(key.to_owned(), value));
    if let Some(gate) = loaded.bundle.gate() {
        add("gate", json!(relay_bundle::values(gate)));
    }
    if let Some(path) = server.audit.path() {
        let is_failing = server.audit.health() == Health::Failing;
        add("audit", json!({ "path": path, "format": "jsonl", "degraded": is_failing }));
    }
    info
}

fn warnings(server: &Server, loaded: &Loaded) -> Vec<String> {
    let mut warnings = Vec::new();
    if server.audit.health() == Health::Off {
        warnings.push("nothing is recorded".to_owned());
    }
    if loaded.is_damaged() {
        warnings.push("the bundle is damaged".to_owned());
    }
    warnings.extend(server.doubt());
    warnings.extend(server.last_reload_error());
    warnings
}
