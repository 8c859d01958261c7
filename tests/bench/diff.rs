//! `relay diff` of large projects and bundles, as whole processes.

use std::fs;
use std::time::Instant;

use harness::{command, run};

use crate::cost::{Cost, cost};
use crate::{Result, Setting, generate, median, row};

const PROMPTS: usize = 10_000;
const ROUNDS: usize = 5;

/// Two projects of 10,000 prompts, 40 MB each, one prompt of 33 changed; and their bundles.
pub(crate) fn diff(setting: &Setting) -> Result<()> {
    let folder = &setting.folder;
    for name in ["a", "b"] {
        generate::project(&folder.join(name), PROMPTS)?;
    }
    let changed = generate::change(&folder.join("b"), PROMPTS)?;
    let changed = format!("{changed} of {PROMPTS} prompts changed");

    let build = |name: &str| {
        let out = format!("{name}.relay");
        measured(setting, &["build", name, "--unsigned", "-q", "-o", &out], 0)
    };
    let (a, b) = (build("a")?, build("b")?);
    fs::copy(folder.join("a.relay"), folder.join("copy.relay"))?;
    let bytes = ["a.relay", "b.relay"].map(|name| fs::metadata(folder.join(name)));
    let [a_bytes, b_bytes] = bytes;
    let larger = a_bytes?.len().max(b_bytes?.len()) as f64;

    let bundles = measured(setting, &["diff", "a.relay", "b.relay", "--exit-code"], 1)?;
    let work = format!("diff two bundles of {:.0} MB, {changed}", larger / 1e6);
    let figures =
        format!("{:.2} s CPU, {:.1} × the larger resident", bundles.cpu_s, bundles.peak / larger);
    row(&work, &figures, "≤ 1 s CPU, ≤ 3 ×");

    let projects = measured(setting, &["diff", "a", "b", "--exit-code"], 1)?;
    let builds = a.cpu_s + b.cpu_s;
    let figures =
        format!("{:.2} s CPU, {:.2} × the builds", projects.cpu_s, projects.cpu_s / builds);
    row(&format!("diff two projects of 40 MB, {changed}"), &figures, "≤ 1.5 × their builds");

    let mut wall = Vec::new();
    for _ in 0..21 {
        let mut diff = command(&setting.relay, folder);
        diff.args(["diff", "a.relay", "copy.relay", "--exit-code"]);
        let start = Instant::now();
        let ended = run(diff);
        wall.push(start.elapsed().as_secs_f64() * 1e3);
        if ended.code != Some(0) {
            return Err(format!("relay diff failed: {}", ended.stderr).into());
        }
    }
    let work = format!("diff two equal bundles of {:.0} MB", larger / 1e6);
    row(&work, &format!("{:.1} ms wall", median(&mut wall)), "≤ 10 ms");
    Ok(())
}

/// The median costs of some runs of `relay`, which must end with this code.
fn measured(setting: &Setting, arguments: &[&str], code: i32) -> Result<Cost> {
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        let mut relay = command(&setting.relay, &setting.folder);
        relay.args(arguments);
        costs.push(cost(relay, code)?);
    }
    let of = |figure: fn(&Cost) -> f64| median(&mut costs.iter().map(figure).collect::<Vec<_>>());
    let (cpu_s, wall_s) = (of(|cost| cost.cpu_s), of(|cost| cost.wall_s));
    Ok(Cost { cpu_s, wall_s, peak: of(|cost| cost.peak) })
}
