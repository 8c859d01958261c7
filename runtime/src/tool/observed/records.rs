//! Audit records of system calls. They have the caller and the request of the call that started the
//! processes.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use relay_bundle::Digest;
use relay_engine::audit_record::OutputHash;
use relay_keeper::{Observation, Observations, SystemCall};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::record::audit::Entry;
use crate::server::Server;
use crate::tool::call::Call;

/// The label of a record of one system call.
const CALL: &str = "syscall_notify";
/// The label of the record that ends those of a job which makes more.
const OVERFLOW: &str = "syscall_notify_overflow";
/// The label of the record of a job that runs unobserved.
const UNOBSERVED: &str = "syscall_notify_unobserved";

/// Writes a record for each observation, until the job was dropped; returns the end of it.
pub(super) fn write(
    call: &Call,
    calls_max: NonZeroU32,
    mut observations: Observations,
) -> oneshot::Receiver<()> {
    let (done, recorded) = oneshot::channel();
    let server = call.server.clone();
    let records = Records {
        server: server.clone(),
        caller: call.caller.clone(),
        bundle: call.placed.loaded.digest(),
        calls_max,
    };
    server.processes.keep_observer(async move {
        while let Some(observation) = observations.next().await {
            records.write(observation);
        }
        // The call may be over.
        _ = done.send(());
    });
    recorded
}

struct Records {
    server: Arc<Server>,
    caller: Caller,
    bundle: Digest,
    calls_max: NonZeroU32,
}

impl Records {
    fn write(&self, observation: Observation) {
        self.server.metrics.count_observation(&observation);
        let (label, args, rule) = match observation {
            Observation::Call(call) => (CALL, of_call(&call), "observed; the call ran".to_owned()),
            Observation::Overflow { pid, reported } => {
                let args = [("pid", pid.to_string()), ("cap", self.calls_max.to_string())];
                let rule = format!("{reported} calls are recorded; later ones ran unrecorded");
                (OVERFLOW, args.into(), rule)
            }
            Observation::Unobserved(reason) => (UNOBSERVED, BTreeMap::new(), reason.to_string()),
        };
        let entry = Entry::served(label.to_owned(), args, OutputHash::default(), rule);
        self.server.audit.record(&self.caller, self.bundle, entry);
    }
}

fn of_call(call: &SystemCall) -> BTreeMap<&'static str, String> {
    let arguments = call.arguments.map(|argument| format!("{argument:#x}"));
    BTreeMap::from([
        ("pid", call.pid.to_string()),
        ("syscall", call.name().unwrap_or("unknown").to_owned()),
        ("nr", call.number.to_string()),
        ("architecture", call.architecture().to_owned()),
        ("syscall_args", arguments.join(" ")),
    ])
}
