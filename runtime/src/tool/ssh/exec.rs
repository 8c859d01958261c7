//! `ssh_exec`: one command on one host.

use relay_ssh::Command;

use super::answer::outcome;
use super::order::{number, place, route, stopped, timeout};
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::{Run, Running, Tool};

/// `ssh_exec`.
pub(in crate::tool) struct SshExec;

impl Tool for SshExec {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let arguments = &run.arguments;
            let host = arguments.text("host").unwrap_or_default();
            let route = route(&run, host)?;
            let _place = place(permit, &run).await?;
            let bytes_max = number(arguments, "max_output");
            let command = Command {
                text: arguments.text("command").unwrap_or_default().as_bytes().to_vec(),
                input: Vec::new(),
                merge: true,
                output_bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
                timeout: timeout(arguments),
                terminal: false,
            };
            let pool = &run.call.server.remote.pool;
            let finished = pool.run(&route, command, stopped(&run.stop)).await;
            let finished = finished.map_err(|error| CallError::Failed(error.to_string()))?;
            outcome(&finished, number(arguments, "timeout"))
        })
    }
}
