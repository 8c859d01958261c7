//! Agent skills: 1,000 of them with 40,000 files.

use std::fs;
use std::path::Path;
use std::time::Instant;

use harness::{command, run};
use relay_bundle::Bundle;
use serde_json::{Value, json};

use crate::stdio::Session;
use crate::{Result, Setting, cost, generate, median, quantile, row};

const SKILLS: usize = 1000;
const FILES: usize = 40;
/// Requests of each kind that are timed, after as many to warm up.
const ROUNDS: usize = 500;

/// Builds a bundle of agent skills, and asks a server for its pages and entries.
pub(crate) fn skills(setting: &Setting) -> Result<()> {
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
    let work = format!("build {SKILLS} agent skills with {} files", SKILLS * FILES);
    row(&work, &format!("{built:.2} s CPU, {size:.0} MB"), "–");

    let path = setting.bundle("skills-signed.relay", &bundle.contents()?)?;
    let mut session = Session::start(crate::stdio::serve(setting, &path))?;
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
    let measured = format!("{:.0} µs p50, {p99:.0} µs p99 (wall)", median(&mut pages));
    row("the first page of skills/list over stdio", &measured, "≤ 100 µs");
    let measured = format!("{:.0} µs p50 (wall)", median(&mut entries));
    row("skills/get of one of 40 files over stdio, with audit", &measured, "–");
    let (after, _) = cost::resident_mb(session.process())?;
    row(
        "resident memory idle / after the first page / after 1,000 of each",
        &format!("{idle:.1} / {listed:.1} / {after:.1} MB"),
        "nothing read that is not asked for",
    );
    Ok(())
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
