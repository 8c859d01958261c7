//! The processes of this machine.

use std::fs;

/// Returns the ids of the processes that run and have this argument. A zombie has none.
pub(super) fn with_argument(argument: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes())
    };
    ids.filter(has).collect()
}
