//! The kernel's filter that reports system calls of a job, and lets every one of them run.
//!
//! `table.rs` lists the system calls, `filter.rs` makes the filter's program of it, and `system.rs`
//! speaks with the kernel. The crates for filters were left out: `seccompiler` lacks the action that
//! reports and always sets `no_new_privs`, under which `sudo` stops working, and `libseccomp` needs a C
//! library. `libc` has the structs and numbers.

pub(crate) mod filter;
pub(crate) mod system;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::fs;

use rustix::thread::{CapabilitySet, capabilities};

use self::table::Architecture;

/// The oldest kernel, as major and minor version. Older ones stay silent about a filter without
/// processes, so its descriptor would be kept for ever.
const KERNEL_MIN: (u32, u32) = (5, 9);

/// Returns whether this process may observe the system calls of its jobs, or the reason against it.
pub(crate) fn support() -> Result<(), String> {
    if Architecture::OWN.is_none() {
        return Err("system calls are observed on x86-64 and aarch64 alone".to_owned());
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if version(&release).is_none_or(|version| version < KERNEL_MIN) {
        let (major, minor) = KERNEL_MIN;
        return Err(format!("the kernel is `{}`; {major}.{minor} is needed", release.trim()));
    }
    let has_capability =
        capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    if !has_capability {
        return Err("the server lacks the capability CAP_SYS_ADMIN".to_owned());
    }
    system::check().map_err(|errno| format!("the kernel refuses to report system calls: {errno}"))
}

/// Returns the major and minor version of a kernel's release.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
