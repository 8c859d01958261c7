//! The machine, the time and the build that a figure was measured with.

#![expect(clippy::disallowed_methods, reason = "it asks git for the commit")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;

/// What figures of one run of the recorder have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Circumstances {
    pub(crate) date: String,
    /// The commit, with `+` if files differed from it.
    pub(crate) commit: String,
    /// The profile of the build, and what the environment changed in it.
    pub(crate) profile: String,
    pub(crate) cpu: String,
    pub(crate) cores: String,
    pub(crate) memory: String,
    pub(crate) kernel: String,
}

/// The CPU time of all cores so far, in ticks of 10 ms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticks {
    /// Spent on any process or stolen by the host.
    busy: f64,
    all: f64,
}

impl Circumstances {
    /// Reads them. `binaries` is the folder of the build.
    pub(crate) fn now(repository: &Path, binaries: &Path) -> Result<Self> {
        let field = |file: &str, name: &str| -> Result<String> {
            let text = fs::read_to_string(file)?;
            let line = text.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line.split(':').nth(1)).map(str::trim);
            Ok(value.unwrap_or("unknown").to_owned())
        };
        let kilobytes = field("/proc/meminfo", "MemTotal")?;
        let kilobytes: f64 = kilobytes.split(' ').next().unwrap_or_default().parse().unwrap_or(0.0);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
        // The rest of the release names a distribution or a host.
        let kernel = kernel.trim().split('-').next().unwrap_or_default();
        let folder = binaries.file_name().unwrap_or_default().to_string_lossy();
        let changed = [
            ("lto", option_env!("CARGO_PROFILE_RELEASE_LTO")),
            ("codegen-units", option_env!("CARGO_PROFILE_RELEASE_CODEGEN_UNITS")),
        ];
        let changed =
            changed.iter().filter_map(|(key, value)| Some(format!(", {key}={}", (*value)?)));
        Ok(Self {
            date: date(),
            commit: commit(repository)?,
            profile: folder.into_owned() + &changed.collect::<String>(),
            cpu: field("/proc/cpuinfo", "model name")?,
            cores: std::thread::available_parallelism()?.to_string(),
            memory: format!("{:.0} GB", kilobytes * 1024.0 / 1e9),
            kernel: format!("Linux {kernel}"),
        })
    }
}

/// Returns the commit that is checked out, with `+` if sources differ from it.
fn commit(repository: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = Command::new("git").args(arguments).current_dir(repository).output()?;
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?.trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into())
        }
    };
    let commit = git(&["rev-parse", "--short=10", "HEAD"])?;
    // The files that a recording writes are left out.
    let changed =
        git(&["status", "--porcelain", "--", ".", ":!docs/figures", ":!docs/figures.md"])?;
    Ok(if changed.is_empty() { commit } else { commit + "+" })
}

/// Returns the day in UTC, as `2027-01-31`.
fn date() -> String {
    relay_machine::clock::timestamp().chars().take("2027-01-31".len()).collect()
}

/// Returns the mean number of processes that ran or waited for a core in the last minute.
pub(crate) fn load() -> Result<f64> {
    let text = fs::read_to_string("/proc/loadavg")?;
    Ok(text.split(' ').next().unwrap_or_default().parse()?)
}

impl Ticks {
    /// Reads them.
    pub(crate) fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/stat")?;
        let line = text.lines().next().unwrap_or_default();
        // user, nice, system, idle, iowait, irq, softirq, steal.
        let all: Vec<f64> =
            line.split_whitespace().skip(1).take(8).filter_map(|it| it.parse().ok()).collect();
        let idle: f64 = all.iter().skip(3).take(2).sum();
        let all: f64 = all.iter().sum();
        Ok(Self { busy: all - idle, all })
    }

    /// Returns the share of all cores' time since `before`, in percent, that was spent on other things than
    /// the `own` seconds: how much others disturbed.
    pub(crate) fn others(self, before: Self, own: f64) -> f64 {
        let (busy, all) = (self.busy - before.busy, self.all - before.all);
        if all > 0.0 { ((busy - own * 100.0) / all * 100.0).max(0.0) } else { 0.0 }
    }
}
