//! The arguments of a call about hosts -> ways, limits, and a place to run.

use std::future::Future;
use std::time::Duration;

use relay_engine::tool::Arguments;
use relay_ssh::Route;
use tokio_util::sync::CancellationToken;

use crate::process::Place;
use crate::remote::Ask;
use crate::tool::decide::Permit;
use crate::tool::error::CallError;
use crate::tool::implementation::Run;

/// Returns the way to the host that a call names, by its other arguments.
pub(super) fn route(run: &Run<'_>, host: &str) -> Result<Route, CallError> {
    way(run, host).map_err(CallError::Failed)
}

/// Returns the same, or why there is no way.
pub(super) fn way(run: &Run<'_>, host: &str) -> Result<Route, String> {
    let text = |name: &str| run.arguments.text(name).unwrap_or_default();
    let port = run.arguments.integer("port").and_then(|port| u16::try_from(port).ok());
    let ask = Ask {
        host,
        user: text("user"),
        port: port.unwrap_or_default(),
        key_path: text("key_path"),
        known_hosts: text("known_hosts"),
        jump: text("jump"),
    };
    let route = run.call.server.remote.ways.route(run.call.placed.loaded.fleet(), &ask);
    route.map_err(|error| error.to_string())
}

/// Waits for a place for one more command of the caller, as local ones do.
pub(super) async fn place(permit: &Permit, run: &Run<'_>) -> Result<Place, CallError> {
    let place = run.call.server.processes.place(permit.principal().caller_key()).await;
    place.map_err(|error| CallError::Failed(error.to_string()))
}

pub(super) fn number(arguments: &Arguments<'_>, name: &str) -> u64 {
    arguments.integer(name).and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
}

/// Returns the time that a command has.
pub(super) fn timeout(arguments: &Arguments<'_>) -> Duration {
    Duration::from_secs(number(arguments, "timeout"))
}

/// Waits until a call is over.
pub(super) fn stopped(stop: &CancellationToken) -> impl Future<Output = ()> + use<> {
    stop.clone().cancelled_owned()
}
