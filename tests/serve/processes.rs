//! The processes of this machine: which run, and what they may write.

use std::fs;

use harness::Process;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// Returns the ids of the processes that run and have this argument. A zombie has none.
pub(super) fn with_argument(argument: &str) -> Vec<u32> {
    with_text("cmdline", argument)
}

/// Returns the ids of the processes that began with this variable, as `NAME=value`. A zombie has none.
pub(super) fn with_variable(variable: &str) -> Vec<u32> {
    with_text("environ", variable)
}

/// Returns the ids of the processes that have this text among those of a file in `/proc/ID`.
fn with_text(file: &str, text: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |id: &u32| {
        let texts = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        texts.split(|byte| *byte == 0).any(|each| each == text.as_bytes())
    };
    ids.filter(has).collect()
}

/// Limits the size of files that a server can write, as a full disk does; `None` lifts the limit.
pub(super) fn limit_files(server: &Process, bytes: Option<u64>) {
    let pid = Pid::from_raw(server.id().cast_signed()).expect("a process");
    let maximum = getrlimit(Resource::Fsize).maximum;
    let limit = Rlimit { current: bytes.or(maximum), maximum };
    prlimit(Some(pid), Resource::Fsize, limit).expect("a limit");
}
