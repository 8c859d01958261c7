//! Agent skills: 1,000 of them with 40,000 files.

use std::fs;
use std::path::Path;
use std::time::Instant;

use harness::{command, run};
use relay_bundle::Bundle;
use serde_json::{Value, json};

use crate::figures::number::{median, quantile};
use crate::figures::{Figure, Report, of};
use crate::limit::{self, ECHO};
use crate::stdio::{self, Session};
use crate::{Result, Setting, cost, generate};

pub(crate) const FIGURES: &[Figure] = &[BUILT, LIST, GET, RESIDENT];

const BUILT: Figure = Figure {
    id: "agent-skills/build",
    work: "build 1,000 agent skills with 40,000 files",
    parts: &[of("CPU", "s"), of("bundle", "MB")],
    note: "",
};
const LIST: Figure = Figure {
    id: "agent-skills/list",
    work: "the first page (16 KiB) of `skills/list` of these, over stdio",
    parts: &[of("p50", "µs").at_most(100.0), of("p99", "µs"), stdio::ON_ONE_CORE, ECHO],
    note: "",
};
const GET: Figure = Figure {
    id: "agent-skills/get",
    work: "`skills/get` of one of 40 files over stdio, with audit",
    parts: &[of("p50", "µs")],
    note: "",
};
const RESIDENT: Figure = Figure {
    id: "agent-skills/resident",
    work: "resident memory of that server",
    parts: &[
        of("idle", "MB"),
        of("after the first page", "MB"),
        of("after 1,000 pages and entries", "MB"),
        of("after / idle", "×").at_most(1.05),
    ],
    note: "the check at load reads each file of the bundle once; requests read what they answer.",
};

const SKILLS: usize = 1000;
const FILES: usize = 40;
/// Requests of each kind that are timed, after as many to warm up.
const ROUNDS: usize = 500;

/// Builds a bundle of agent skills, and asks a server for its pages and entries.
pub(crate) fn skills(setting: &Setting, report: &mut Report) -> Result<()> {
    let folder = setting.folder.join("agent-skills");
    write(&folder)?;
    let before = cost::children_cpu_s()?;
    let mut build = command(&setting.relay, &setting.folder);
    build.args(["build", "agent-skills/project.kdl", "--unsigned", "-q", "-o", "skills.relay"]);
    let ended = run(build);
    if ended.code != Some(0) {
        return Err(format!("relay build failed: {}", ended.stderr).into());
    }
    let built = cost::children_cpu_s()? - before;
    let bundle = Bundle::open(Box::new(fs::read(setting.folder.join("skills.relay"))?))?;
    let size = bundle.content_bytes().len() as f64 / 1e6;
    report.put_all(&BUILT, &[built, size])?;

    let path = setting.bundle("skills-signed.relay", &bundle.contents()?)?;
    let mut session = Session::start(stdio::serve(setting, &path))?;
    session.initialize()?;
    let (idle, _) = cost::resident_mb(session.process())?;
    let page = |session: &mut Session, params: &Value| time(session, "skills/list", params);
    page(&mut session, &json!({}))?;
    let (listed, _) = cost::resident_mb(session.process())?;
    let mut pages = Vec::new();
    let mut entries = Vec::new();
    for number in 0..2 * ROUNDS {
        let took = page(&mut session, &json!({}))?;
        let uri = format!("skill://skill-{:04}/SKILL.md", number * 7 % SKILLS);
        let got = time(&mut session, "skills/get", &json!({ "uri": uri }))?;
        if number >= ROUNDS {
            pages.push(took);
            entries.push(got);
        }
    }
    let p99 = quantile(&mut pages, 0.99);
    let mut alone = stdio::on_one_core(|| {
        let mut session = Session::start(stdio::serve(setting, &path))?;
        session.initialize()?;
        (0..2 * ROUNDS)
            .map(|_| page(&mut session, &json!({})))
            .skip(ROUNDS)
            .collect::<Result<Vec<_>>>()
    })?;
    page(&mut session, &json!({}))?;
    let echo = limit::echo_us(setting, session.answer())?;
    report.put_all(&LIST, &[median(&mut pages), p99, median(&mut alone), echo])?;
    report.put_all(&GET, &[median(&mut entries)])?;
    let (after, _) = cost::resident_mb(session.process())?;
    report.put_all(&RESIDENT, &[idle, listed, after, after / idle])
}

/// Asks once; returns the time to the answer in microseconds.
fn time(session: &mut Session, method: &str, params: &Value) -> Result<f64> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = format!("{request}\n");
    let start = Instant::now();
    session.ask(&request)?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

fn write(folder: &Path) -> Result<()> {
    for number in 0..SKILLS {
        let name = format!("skill-{number:04}");
        let files = folder.join("skills").join(&name).join("references");
        fs::create_dir_all(&files)?;
        let text = generate::text(number);
        let skill = format!("---\nname: {name}\ndescription: About part {number}.\n---\n{text}");
        fs::write(folder.join("skills").join(&name).join("SKILL.md"), skill)?;
        for file in 1..FILES {
            fs::write(files.join(format!("{file}.md")), format!("Reference {file} of {name}.\n"))?;
        }
    }
    let project = "project skills epoch=1\nprompts { agent-skills \"skills\" }\n";
    fs::write(folder.join("project.kdl"), project)?;
    Ok(())
}
