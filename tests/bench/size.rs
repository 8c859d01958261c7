//! The sizes of the programs that ship.

use std::fs;
use std::path::PathBuf;

use crate::figures::{Figure, Report, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[HOOK, SERVER];

const HOOK: Figure = Figure {
    id: "size/relay-hook",
    work: "`relay-hook`, stripped",
    parts: &[of("", "MB").at_most(4.0)],
    note: "",
};
const SERVER: Figure = Figure {
    id: "size/relay-serve",
    work: "`relay-serve` as it ships: profile `dist`, stripped, static",
    parts: &[of("", "MB").at_most(12.0)],
    note: "the step `deploy` of `.ci/run` builds it, and fails over the goal. Profile `release` has 17.4 MB, and serves a \
           fifth fewer requests a CPU-second over HTTP.",
};

/// All of them.
pub(crate) fn sizes(setting: &Setting, report: &mut Report) -> Result<()> {
    let megabytes = |path: &PathBuf| -> Result<f64> { Ok(fs::metadata(path)?.len() as f64 / 1e6) };
    report.put_all(&HOOK, &[megabytes(&setting.relay_hook)?])?;
    let target = setting.relay_hook.ancestors().nth(2).ok_or("no target folder")?;
    let mut built = None;
    // One folder for each host that `--target` named.
    for entry in fs::read_dir(target)? {
        let path = entry?.path().join("dist/relay-serve");
        built = built.or_else(|| path.is_file().then_some(path));
    }
    match built {
        Some(path) => report.put_all(&SERVER, &[megabytes(&path)?]),
        None => {
            report.not_run(&SERVER, "the step `deploy` of `.ci/run` did not build it");
            Ok(())
        }
    }
}
