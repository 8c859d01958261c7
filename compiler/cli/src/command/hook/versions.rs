//! The versions of clients on this machine.

use std::thread;
use std::time::Duration;

use crate::environment;
use crate::hook::{Target, Version};
use crate::process;

/// The longest time for which a client is waited for: some take seconds to start.
const LIMIT: Duration = Duration::from_secs(15);

/// Returns the version of a client; `None` if it is not in `PATH` or does not say it.
pub(super) fn of(target: &Target) -> Option<Version> {
    let program = environment::in_path(target.program?)?;
    let ending = process::run_limited(&program, &["--version"], "", LIMIT).ok()?;
    (ending.code == Some(0)).then(|| Version::parse(&ending.stdout)).flatten()
}

/// Returns the versions of clients, asked at the same time.
pub(super) fn of_all(targets: &[&'static Target]) -> Vec<Option<Version>> {
    thread::scope(|scope| {
        let asked: Vec<_> = targets.iter().map(|target| scope.spawn(|| of(target))).collect();
        asked.into_iter().map(|asked| asked.join().ok().flatten()).collect()
    })
}
