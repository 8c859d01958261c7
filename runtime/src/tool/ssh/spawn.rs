//! `ssh_spawn`: a program in a terminal of a host.

use relay_keeper::Size;
use relay_policy::location::Location;
use relay_ssh::TerminalRequest;

use super::order::route;
use crate::process::{Origin, Program};
use crate::remote::RemoteTerminal;
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::{Run, Running, Tool};
use crate::tool::session::{Room, TERM, size};

/// `ssh_spawn`.
pub(in crate::tool) struct SshSpawn;

impl Tool for SshSpawn {
    fn run<'a>(&'a self, permit: &'a Permit, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            let text = |name: &str| run.arguments.text(name).unwrap_or_default();
            let (host, command) = (text("host"), text("command").trim());
            let route = route(&run, host)?;
            let room = Room::take(&run)?;
            let size = size(&run.arguments);
            let Size { columns, rows } = size;
            let command = (!command.is_empty()).then_some(command);
            let request = TerminalRequest {
                command: command.map(|command| command.as_bytes().to_vec()),
                name: TERM.1.to_owned(),
                columns,
                rows,
            };
            let opened = run.call.server.remote.pool.terminal(&route, request).await;
            let terminal = opened.map_err(|error| CallError::Failed(error.to_string()))?;
            room.begin(Program {
                title: format!("{host}: {}", command.unwrap_or("login shell")),
                terminal: Box::new(RemoteTerminal(terminal)),
                size,
                origin: Origin {
                    tool: permit.spec().name,
                    arguments: run.given.clone(),
                    location: Location::default().on(host),
                    is_approved: permit.is_approved(),
                },
            })
        })
    }
}
