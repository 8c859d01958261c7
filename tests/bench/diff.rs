//! `relay diff` of large projects and bundles, as whole processes.

use std::fs;
use std::time::Instant;

use harness::{command, run};

use crate::cost::{Cost, cost};
use crate::figures::number::median;
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting, generate};

pub(crate) const FIGURES: &[Figure] = &[BUNDLES, PROJECTS, EQUAL];

const BUNDLES: Figure = Figure {
    id: "diff/bundles",
    work: "diff two bundles of 10,000 prompts (49 MB), 304 changed",
    parts: &[of("CPU", "s").at_most(1.0), of("memory / the larger one", "×").at_most(3.0)],
    note: "",
};
const PROJECTS: Figure = Figure {
    id: "diff/projects",
    work: "diff the two projects of these",
    parts: &[of("CPU", "s"), of("CPU / their two builds", "×").at_most(1.5)],
    note: "",
};
const EQUAL: Figure = Figure {
    id: "diff/equal",
    work: "diff two equal bundles of that size",
    parts: &[of("wall", "ms").at_most(10.0)],
    note: "4 to 5 ms of it are the start of the process.",
};

const PROMPTS: usize = 10_000;
const ROUNDS: usize = 5;

/// Two projects of 10,000 prompts, 40 MB each, one prompt of 33 changed; and their bundles.
pub(crate) fn diff(setting: &Setting, report: &mut Report) -> Result<()> {
    let folder = &setting.folder;
    for name in ["a", "b"] {
        generate::project(&folder.join(name), PROMPTS)?;
    }
    generate::change(&folder.join("b"), PROMPTS)?;

    let build = |name: &str| {
        let out = format!("{name}.relay");
        measured(setting, &["build", name, "--unsigned", "--no-cache", "-q", "-o", &out], 0)
    };
    let (a, b) = (build("a")?, build("b")?);
    fs::copy(folder.join("a.relay"), folder.join("copy.relay"))?;
    let bytes = ["a.relay", "b.relay"].map(|name| fs::metadata(folder.join(name)));
    let [a_bytes, b_bytes] = bytes;
    let larger = a_bytes?.len().max(b_bytes?.len()) as f64;

    let bundles = measured(setting, &["diff", "a.relay", "b.relay", "--exit-code"], 1)?;
    report.put_all(&BUNDLES, &[bundles.cpu_s, bundles.peak / larger])?;

    let projects = measured(setting, &["diff", "a", "b", "--exit-code"], 1)?;
    let builds = a.cpu_s + b.cpu_s;
    report.put_all(&PROJECTS, &[projects.cpu_s, projects.cpu_s / builds])?;

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
    report.put_all(&EQUAL, &[median(&mut wall)])
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
