//! `ssh_forward`, `ssh_forward_list` and `ssh_forward_close`: ports that lead through a host.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};

use relay_engine::audit_record::OutputHash;
use relay_engine::tool::{ForwardKind, ForwardSpec};
use relay_machine::lock::lock;
use relay_policy::location::Location;
use relay_ssh::{ForwardRequest, Target};
use serde_json::{Value, json};

use super::order::route;
use crate::caller::principal::Principal;
use crate::caller::{Caller, truncate};
use crate::process::Origin;
use crate::record::audit::Entry;
use crate::remote::{OpenForward, Opened};
use crate::server::Server;
use crate::tool::decide::Permit;
use crate::tool::ended::may_begin;
use crate::tool::error::CallError;
use crate::tool::implementation::{Outcome, Run, Running, Tool};

/// The address at a host on which it listens.
const FAR_LOOPBACK: &str = "localhost";
/// The most targets of a dynamic forward that are recorded, each once.
const TARGETS_MAX: usize = 256;

/// `ssh_forward`.
pub(in crate::tool) struct SshForward;
/// `ssh_forward_list`.
pub(in crate::tool) struct SshForwardList;
/// `ssh_forward_close`.
pub(in crate::tool) struct SshForwardClose;

impl Tool for SshForward {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let failed = |error: &dyn ToString| CallError::Failed(error.to_string());
            let text = |name: &str| run.arguments.text(name).unwrap_or_default();
            let host = text("host");
            let spec = ForwardSpec::parse(text("spec")).map_err(|error| failed(&error))?;
            let route = route(&run, host)?;
            let server = &run.call.server;
            let owner = run.call.caller.principal.clone();
            let forwards_max = run.call.limits().forwards_max as usize;
            let room = server.remote.forwards.room(&owner, forwards_max);
            let room = room.map_err(|error| failed(&error))?;
            let origin = Origin {
                tool: permit.spec().name,
                arguments: run.given.clone(),
                location: Location::default(),
                is_approved: permit.is_approved(),
            };
            let targets = Targets {
                server: Arc::downgrade(server),
                owner: owner.clone(),
                origin: origin.clone(),
                recorded: Mutex::default(),
            };
            let forward = server.remote.pool.forward(&route, request(&spec, targets)).await;
            let forward = forward.map_err(|error| failed(&error))?;
            let alias = route.hops.last().map(|hop| hop.alias.clone()).unwrap_or_default();
            let opened = Opened { origin, spec, host: host.to_owned(), alias, forward };
            let open = server.remote.forwards.add((owner, room), opened);
            let open = open.map_err(|error| failed(&error))?;
            let OpenForward { id, spec, forward, .. } = &*open;
            let text = format!(
                "forward {id} active: {} {spec} listening on port {}",
                spec.kind.letter(),
                forward.port()
            );
            let began = Some(("forward_id", id.clone()));
            tokio::spawn(follow(Arc::downgrade(server), open));
            Ok(Outcome { began, ..Outcome::of_text(text) })
        })
    }
}

/// Returns the forward for the connection to a host.
fn request(spec: &ForwardSpec, targets: Targets) -> ForwardRequest {
    let ForwardSpec { kind, port, target } = spec;
    let target = target.as_ref().map(|(host, port)| Target { host: host.clone(), port: *port });
    match (kind, target) {
        (ForwardKind::Local, Some(target)) => ForwardRequest::Local { listen: *port, target },
        (ForwardKind::Remote, Some(target)) => {
            ForwardRequest::Remote { bind: FAR_LOOPBACK.to_owned(), port: *port, target }
        }
        _ => ForwardRequest::Dynamic {
            listen: *port,
            allow: Arc::new(move |target| targets.may_reach(target)),
        },
    }
}

/// Forgets a forward when its connection is lost, and records it.
async fn follow(server: Weak<Server>, open: Arc<OpenForward>) {
    if !open.lost().await {
        return;
    }
    let Some(server) = server.upgrade() else { return };
    if server.remote.forwards.close(&open.id) {
        server.record_ended("forward", &open.owner, "the connection to the host ended".to_owned());
    }
}

/// The targets that the clients of a dynamic forward ask for.
struct Targets {
    server: Weak<Server>,
    owner: Arc<Principal>,
    /// The call that opened the forward.
    origin: Origin,
    /// The targets that are in the record, each with whether it was permitted.
    recorded: Mutex<BTreeSet<(Target, bool)>>,
}

impl Targets {
    /// Returns whether a target may be reached: by the bundle in force, as a forward to it alone.
    fn may_reach(&self, target: &Target) -> bool {
        let Some(server) = self.server.upgrade() else { return false };
        let Target { host, port } = target;
        let alone =
            ForwardSpec { kind: ForwardKind::Local, port: 0, target: Some((host.clone(), *port)) };
        let alone = alone.to_string();
        // A host that rules cannot read is out of reach.
        let ruling = match ForwardSpec::parse(&alone) {
            Err(_) => Err("its host is none that rules can read".to_owned()),
            Ok(_) => {
                // No one was asked about this target.
                let mut origin = Origin { is_approved: false, ..self.origin.clone() };
                origin.arguments.insert("spec".to_owned(), alone.into());
                may_begin(&server.loaded(), &self.owner, &origin)
            }
        };
        self.record(&server, target, ruling.as_ref().err());
        // As a call of its tier, it waits for its record.
        ruling.is_ok() && !server.audit.withholds()
    }

    /// Records a target, once for each ruling.
    fn record(&self, server: &Server, target: &Target, refusal: Option<&String>) {
        {
            let mut recorded = lock(&self.recorded);
            if recorded.len() > TARGETS_MAX || !recorded.insert((target.clone(), refusal.is_none()))
            {
                return;
            }
            if recorded.len() > TARGETS_MAX {
                let text = "more targets of this forward are decided, and not recorded".to_owned();
                let entry = Entry::refused("forward:targets".to_owned(), BTreeMap::new(), text);
                let caller = Caller::operator(self.owner.clone());
                server.audit.record(&caller, server.loaded().digest(), entry);
                return;
            }
        }
        let given = |name: &str| {
            let given = self.origin.arguments.get(name).and_then(Value::as_str);
            given.map(truncate).unwrap_or_default()
        };
        let args = BTreeMap::from([
            ("host", given("host")),
            ("target", truncate(&format!("{}:{}", target.host, target.port))),
        ]);
        let label = "forward:target".to_owned();
        let entry = match refusal {
            Some(reason) => Entry::refused(label, args, reason.clone()),
            None => Entry::served(label, args, OutputHash::default(), String::new()),
        };
        let caller = Caller::operator(self.owner.clone());
        server.audit.record(&caller, server.loaded().digest(), entry);
    }
}

impl Tool for SshForwardList {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let all = run.call.server.remote.forwards.of(permit.principal());
            let list: Vec<Value> = all.iter().map(|open| listed(open)).collect();
            Ok(Outcome::of_text(format!("{:#}", Value::from(list))))
        })
    }
}

fn listed(open: &OpenForward) -> Value {
    let OpenForward { id, spec, host, begun, forward, .. } = open;
    json!({
        "id": id,
        "kind": spec.kind.letter().to_string(),
        "spec": spec.to_string(),
        "host": host,
        "port": forward.port(),
        "age_s": begun.elapsed().as_secs(),
        "clients": forward.clients(),
        "served": forward.clients_served(),
    })
}

impl Tool for SshForwardClose {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let id = run.arguments.text("forward_id").unwrap_or_default();
            let forwards = &run.call.server.remote.forwards;
            let is_own = forwards.of(permit.principal()).iter().any(|open| open.id == id);
            if is_own && forwards.close(id) {
                return Ok(Outcome::of_text(format!("closed forward {id}")));
            }
            let id = truncate(id);
            Err(CallError::Failed(format!("unknown forward: {id}; ssh_forward_list names yours")))
        })
    }
}
