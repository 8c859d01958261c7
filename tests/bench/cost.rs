//! Whole processes: what they cost in CPU time and memory.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use harness::{Process, command, run};
use kdl::KdlDocument;
use nix::unistd::Pid;

use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting, generate, limit};

pub(crate) const CHECK: &[Figure] = &[DECLARATIONS, CHECK_FILES];
pub(crate) const BUILD: &[Figure] = &[FILES];

const DECLARATIONS: Figure = Figure {
    id: "check/declarations",
    work: "check 10,000 declarations (2 MB in one document)",
    parts: &[
        of("CPU", "s").at_most(0.3).next(0.15),
        of("wall", "s"),
        of("memory", "bytes a byte").at_most(100.0),
        beside("the crate `kdl` parses the document", "s"),
    ],
    note: "",
};
const CHECK_FILES: Figure = Figure {
    id: "check/files",
    work: "check 100 prompt files with a policy: exec to the end of its diagnostics",
    parts: &[
        of("wall", "ms").at_most(30.0),
        of("with facts of its own, wall", "ms"),
        beside("start `true`, read and hash the files", "ms"),
    ],
    note: "an editor asks at each key. Facts of its own are joined with the shipped ones.",
};
const FILES: Figure = Figure {
    id: "build/files",
    work: "build 10,000 prompt files (40 MB)",
    parts: &[
        of("CPU", "s").at_most(1.0).next(0.5),
        of("wall", "s"),
        of("CPU, unchanged", "s").at_most(0.1),
        of("wall, unchanged", "s").at_most(0.1),
        of("wall, one file changed", "s").at_most(0.15),
        beside("read and hash the files", "s"),
    ],
    note: "the first two are of builds with `--no-cache`. One changed file compiles everything again. Unchanged: the second look after a build, 4 s later; the first one reads the bundle once more.",
};

/// Nanoseconds of CPU that a process has used: all its threads together, also those that have ended.
pub(crate) fn cpu_ns(process: &Process) -> Result<u64> {
    cpu_ns_of(process.id())
}

/// The same by the id of the process.
pub(crate) fn cpu_ns_of(id: u32) -> Result<u64> {
    let clock = nix::time::clock_getcpuclockid(Pid::from_raw(id.try_into()?))?;
    let used = nix::time::clock_gettime(clock)?;
    Ok(u64::try_from(Duration::from(used).as_nanos())?)
}

/// Resident memory of a process in MB: all of it, and the part that is not mapped from files.
pub(crate) fn resident_mb(process: &Process) -> Result<(f64, f64)> {
    resident_mb_of(process.id())
}

/// The same by the id of the process.
pub(crate) fn resident_mb_of(id: u32) -> Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("0");
        number.parse::<f64>().map(|kilobytes| kilobytes / 1000.0)
    };
    Ok((field("VmRSS:")?, field("RssAnon:")?))
}

/// The resident pages of the bundle that a process maps, in MB.
pub(crate) fn bundle_mb(process: &Process) -> Result<f64> {
    let smaps = fs::read_to_string(format!("/proc/{}/smaps", process.id()))?;
    let mut is_bundle = false;
    let mut kilobytes = 0.0;
    for line in smaps.lines() {
        match line.strip_prefix("Rss:") {
            Some(rss) if is_bundle => {
                kilobytes += rss.trim().trim_end_matches(" kB").parse::<f64>()?;
            }
            Some(_) => {}
            // The line of a mapping begins with its addresses, and ends with its file.
            None if line.split_once(' ').is_some_and(|(range, _)| range.contains('-')) => {
                is_bundle = line.ends_with(".relay") || line.contains("/memfd:");
            }
            None => {}
        }
    }
    Ok(kilobytes / 1000.0)
}

/// The most resident memory of a process so far, in MB.
pub(crate) fn peak_mb(id: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    Ok(peak_kb(&status).ok_or("no peak")? / 1000.0)
}

/// How often all threads of a process waited for something and went on.
pub(crate) fn wakes_of(id: u32) -> Result<u64> {
    let mut total = 0;
    for task in fs::read_dir(format!("/proc/{id}/task"))? {
        let status = fs::read_to_string(task?.path().join("status")).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        total += number.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(total)
}

/// Seconds of CPU of all children that were waited for, in ticks of 10 ms.
pub(crate) fn children_cpu_s() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok());
    // cutime and cstime are fields 16 and 17 of the line; the state is field 3.
    Ok((ticks(13).unwrap_or(0.0) + ticks(14).unwrap_or(0.0)) / 100.0)
}

/// The cost of a process.
pub(crate) struct Cost {
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
    /// The most resident memory, in bytes.
    pub(crate) peak: f64,
}

/// Runs a process, which must end with this code.
pub(crate) fn cost(mut command: Command, code: i32) -> Result<Cost> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (before, start) = (children_cpu_s()?, Instant::now());
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    let ended = loop {
        // The peak is known only while the process lives; it is asked for until it ends.
        peak = fs::read_to_string(&status).ok().and_then(|s| peak_kb(&s)).unwrap_or(peak);
        match child.try_wait()? {
            Some(ended) => break ended,
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let wall_s = start.elapsed().as_secs_f64();
    if ended.code() != Some(code) {
        return Err(format!("{command:?} ended with {ended}").into());
    }
    Ok(Cost { cpu_s: children_cpu_s()? - before, wall_s, peak: peak * 1024.0 })
}

/// `relay check` of one document that declares 10,000 prompts.
pub(crate) fn check(setting: &Setting, report: &mut Report) -> Result<()> {
    let path = setting.folder.join("declarations.kdl");
    let document = generate::declarations(10_000);
    fs::write(&path, &document)?;
    let mut cpu = Vec::new();
    let mut wall = Vec::new();
    let mut memory = Vec::new();
    for _ in 0..9 {
        let mut check = command(&setting.relay, &setting.folder);
        check.arg("check").arg(&path);
        let cost = cost(check, 0)?;
        cpu.push(cost.cpu_s);
        wall.push(cost.wall_s);
        memory.push(cost.peak / document.len() as f64);
    }
    let start = Instant::now();
    KdlDocument::parse_v2(&document)?;
    let peer = start.elapsed().as_secs_f64();
    let parts = [median(&mut cpu), median(&mut wall), median(&mut memory), peer];
    report.put_all(&DECLARATIONS, &parts)?;
    check_files(setting, report)
}

fn check_files(setting: &Setting, report: &mut Report) -> Result<()> {
    let policy = "policy guarded use=\"workstation\"\n";
    let facts = "facts { program \"ours\" tier=1 }\n";
    let mut parts = Vec::new();
    for (name, more) in [("few", policy.to_owned()), ("facts", format!("{policy}{facts}"))] {
        let folder = setting.folder.join(name);
        generate::project(&folder, 100)?;
        let path = folder.join("project.kdl");
        let document = fs::read_to_string(&path)?;
        fs::write(&path, format!("{document}{more}"))?;
        let mut wall = Vec::new();
        for _ in 0..21 {
            let mut check = command(&setting.relay, &setting.folder);
            check.arg("check").arg(&path);
            wall.push(cost(check, 0)?.wall_s * 1e3);
        }
        parts.push(median(&mut wall));
    }
    let reading = limit::reading_s(&setting.folder.join("few/prompts"))?;
    parts.push((limit::process_s(setting)? + reading) * 1e3);
    report.put_all(&CHECK_FILES, &parts)
}

fn peak_kb(status: &str) -> Option<f64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The time after which a file rests: two ticks of the coarsest clock of a file system.
pub(crate) const REST: Duration = Duration::from_secs(4);

/// `relay build` of 10,000 markdown prompts, 40 MB.
pub(crate) fn build(setting: &Setting, report: &mut Report) -> Result<()> {
    let folder = setting.folder.join("project");
    generate::project(&folder, 10_000)?;
    let build = |arguments: &[&str]| -> Result<[f64; 2]> {
        let (before, start) = (children_cpu_s()?, Instant::now());
        let mut build = command(&setting.relay, &setting.folder);
        build.args(["build", "project/project.kdl", "--unsigned", "-q", "-o", "built.relay"]);
        build.args(arguments);
        let ended = run(build);
        if ended.code != Some(0) {
            return Err(format!("relay build failed: {}", ended.stderr).into());
        }
        Ok([children_cpu_s()? - before, start.elapsed().as_secs_f64()])
    };
    let changed = folder.join("prompts").join(format!("{}.md", generate::name(77)));
    let text = fs::read_to_string(&changed)?;
    let mut parts: [Vec<f64>; 5] = Default::default();
    for round in 0..3 {
        let cold = build(&["--no-cache"])?;
        fs::write(&changed, format!("{text}Round {round}.\n"))?;
        let one_changed = build(&[])?;
        let all = [cold[0], cold[1], one_changed[1]];
        parts.iter_mut().zip(all).for_each(|(part, value)| part.push(value));
    }
    // A look at files that were just written reads them, and the first one after they rest notes that.
    thread::sleep(REST);
    build(&[])?;
    for _ in 0..3 {
        let unchanged = build(&[])?;
        parts.iter_mut().skip(3).zip(unchanged).for_each(|(part, value)| part.push(value));
    }
    let [cpu, wall, one_changed, cpu_unchanged, wall_unchanged] =
        parts.map(|mut part| median(&mut part));
    let reading = limit::reading_s(&folder.join("prompts"))?;
    report.put_all(&FILES, &[cpu, wall, cpu_unchanged, wall_unchanged, one_changed, reading])
}

/// A server that starts on a large bundle, with its private copy in place: the milliseconds to its first
/// answer, wall and CPU, its resident memory in MB, and the part of that which is not mapped from files.
pub(crate) fn load(setting: &Setting, prompts: usize) -> Result<[f64; 4]> {
    let path = setting.bundle(&format!("{prompts}.relay"), &generate::contents(prompts))?;
    let state = setting.folder.join("state");
    let mut wall = Vec::new();
    let mut cpu = Vec::new();
    let mut anonymous = Vec::new();
    let mut resident = Vec::new();
    for round in 0..6 {
        let mut serve = command(&setting.relay_serve, &setting.folder);
        serve.arg(&path).arg("--stdio").arg("--trust").arg(setting.trust_file());
        serve.arg("--state").arg(&state).args(["--audit", "none"]);
        let start = Instant::now();
        let mut session = crate::stdio::Session::start(serve)?;
        session.initialize()?;
        // The first start makes the private copy.
        if round > 0 {
            wall.push(start.elapsed().as_secs_f64() * 1e3);
            cpu.push(cpu_ns(session.process())? as f64 / 1e6);
            let (all, anon) = resident_mb(session.process())?;
            resident.push(all);
            anonymous.push(anon);
        }
    }
    Ok([median(&mut wall), median(&mut cpu), median(&mut resident), median(&mut anonymous)])
}
