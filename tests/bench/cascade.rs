//! The cascade of 10,000 skills: what a call costs, and what the build does.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use harness::command;
use relay_bundle::{Bundle, Kind};
use relay_engine::cascade::{Question, locate};

use crate::cost::{Cost, cost};
use crate::figures::number::median;
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[BUILD, BUILD_PEAK, BY_NUMBER, BY_NAME, UNKNOWN, INDEX];

/// The names of the parts.
const WITHOUT: &str = "without topics";
const WITH: &str = "with topics";

const BUILD: Figure = Figure {
    id: "cascade/build",
    work: "build 10,000 skills, 1,000 tools, 1,000 users",
    parts: &[of(WITHOUT, "s CPU").at_most(2.0), of(WITH, "s CPU").at_most(2.0)],
    note: "half of the skills that match are overridden by their topics.",
};
const BUILD_PEAK: Figure = Figure {
    id: "cascade/build-memory",
    work: "memory of that build",
    parts: &[of(WITHOUT, "MB").at_most(300.0), of(WITH, "MB").at_most(300.0)],
    note: "",
};
const BY_NUMBER: Figure = Figure {
    id: "cascade/matched",
    work: "the skills of a call, by numbers, of those",
    parts: &[of(WITHOUT, "ns").at_most(307.0), of(WITH, "ns").at_most(415.0)],
    note: "a call has 107 skills; the goals are 200 ns, and 1 ns a skill or 2 ns with topics.",
};
const BY_NAME: Figure = Figure {
    id: "cascade/names",
    work: "a tenant, a tool and a user found by name",
    parts: &[of(WITHOUT, "ns").at_most(400.0), of(WITH, "ns").at_most(400.0)],
    note: "",
};
const UNKNOWN: Figure = Figure {
    id: "cascade/unknown",
    work: "an unknown tool, compared with 730 patterns",
    parts: &[of(WITHOUT, "µs").at_most(15.0), of(WITH, "µs").at_most(15.0)],
    note: "the goal was set for 500 patterns.",
};
const INDEX: Figure = Figure {
    id: "cascade/index",
    work: "index of the skills",
    parts: &[of(WITHOUT, "bytes a skill").at_most(100.0), of(WITH, "bytes a skill").at_most(100.0)],
    note: "",
};

const SKILLS: usize = 10_000;
const TOOLS: usize = 1_000;
const TENANTS: usize = 500;
const USERS: usize = 1_000;
const SERVICES: [&str; 5] = ["api", "db", "git", "ssh", "k8s"];
const VERBS: [&str; 5] = ["create", "delete", "list", "get", "exec"];
/// So many questions are asked in one round.
const QUESTIONS: usize = 5_000;

/// Builds the project, then asks for known tools, by numbers and by names, and for unknown ones.
pub(crate) fn cascade(setting: &Setting, report: &mut Report) -> Result<()> {
    for (topics, part) in [(false, WITHOUT), (true, WITH)] {
        let built = build(setting, topics)?;
        report.put(&BUILD, part, built.cpu_s)?;
        report.put(&BUILD_PEAK, part, built.peak / 1e6)?;
        let bundle = Bundle::open(Box::new(fs::read(setting.folder.join(BUNDLE))?))?;
        lookups(&bundle, part, report)?;
        let index = bundle.sections().iter().filter(|section| {
            (Kind::SkillPatterns.number()..=Kind::KnownToolPatterns.number())
                .contains(&section.number)
        });
        let bytes: u64 = index.map(|section| section.length).sum();
        report.put(&INDEX, part, bytes as f64 / SKILLS as f64)?;
    }
    Ok(())
}

/// The file of the bundle.
pub(crate) const BUNDLE: &str = "skills.relay";

/// Builds the bundle of 10,000 skills.
pub(crate) fn build(setting: &Setting, topics: bool) -> Result<Cost> {
    fs::write(setting.folder.join("skills.kdl"), project(topics)?)?;
    let mut build = command(&setting.relay, &setting.folder);
    build.args(["build", "skills.kdl", "--unsigned", "-q", "-o", BUNDLE]);
    cost(build, 0)
}

/// Returns what the questions of a round ask: a tenant, a tool and a user each.
pub(crate) fn names() -> Vec<[String; 3]> {
    let names = |n: usize| [tenant(n * 7 % TENANTS), tool(n * 13 % TOOLS), user(n * 11 % USERS)];
    (0..QUESTIONS).map(names).collect()
}

fn lookups(bundle: &Bundle, part: &str, report: &mut Report) -> Result<()> {
    let names = names();
    let questions: Vec<Question<'_>> = names.iter().map(question).collect();
    let mut located = Vec::with_capacity(QUESTIONS);
    for question in &questions {
        located.push(locate(bundle, *question)?.ok_or("no skills")?);
    }
    let skills: usize = located.iter().map(|located| located.matched().len()).sum();
    let by_number = round(|| {
        located.iter().for_each(|located| drop(black_box(located.matched())));
        Ok(())
    })?;
    let by_name = round(|| {
        for question in &questions {
            black_box(locate(bundle, *question)?);
        }
        Ok(())
    })?;
    let each = skills as f64 / QUESTIONS as f64;
    report.put(&BY_NUMBER, part, by_number)?;
    report.detail(&BY_NUMBER, format!("{part}: {each:.1} skills"));
    report.put(&BY_NAME, part, by_name)?;
    let strange: Vec<String> = (0..QUESTIONS).map(|n| format!("api-create-x{n}")).collect();
    let unknown = round(|| {
        for tool in &strange {
            black_box(locate(bundle, Question { tool: Some(tool), ..Question::default() })?);
        }
        Ok(())
    })?;
    let patterns = bundle.skill_patterns().count();
    report.detail(&UNKNOWN, format!("{part}: {patterns} patterns"));
    report.put(&UNKNOWN, part, unknown / 1e3)
}

/// The median nanoseconds of one question in a round of all.
fn round(mut ask: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut rounds = Vec::new();
    for _ in 0..21 {
        let start = Instant::now();
        ask()?;
        rounds.push(start.elapsed().as_secs_f64() * 1e9 / QUESTIONS as f64);
    }
    Ok(median(&mut rounds))
}

/// Returns the question of three names.
pub(crate) fn question([tenant, tool, user]: &[String; 3]) -> Question<'_> {
    Question { tenant: Some(tenant), tool: Some(tool), user: Some(user) }
}

/// 1% of the skills for every call, 59% for a tenant, 20% for tools, 20% for a user.
fn project(topics: bool) -> Result<String> {
    let mut text = String::from("project skills version=\"1.0.0\" epoch=1\ntenants {\n");
    for number in 0..TENANTS {
        writeln!(text, "    tenant {}", tenant(number))?;
    }
    text.push_str("}\ntools { other");
    for number in 0..TOOLS {
        write!(text, " {:?}", tool(number))?;
    }
    text.push_str(" }\nskills merged=(bytes)\"1MiB\" {\n");
    for number in 0..SKILLS {
        let priority = number % 101;
        // Half of the skills that match are overridden.
        let topic =
            if topics { format!(" topic=t{}", number % (SKILLS / 2)) } else { String::new() };
        let tools = match number % 2 {
            0 => String::new(),
            _ => format!(" tools={:?}", pattern(number)),
        };
        let of_tenant = tenant(number * 17 % TENANTS);
        let (block, tools) = match number % 100 {
            0 => ("global".to_owned(), tools),
            1..60 => (format!("tenant {of_tenant}"), tools),
            60..80 => (format!("tool {:?}", pattern(number)), format!(" tenant={of_tenant}")),
            _ => (format!("user {:?}", user(number * 19 % USERS)), tools),
        };
        writeln!(
            text,
            "    {block} {{ skill s{number} priority={priority}{topic}{tools} \"What skill {number} says.\" }}"
        )?;
    }
    text.push_str("}\n");
    Ok(text)
}

/// Some 500 patterns, most of them with a run.
fn pattern(number: usize) -> String {
    let service = pick(&SERVICES, number);
    let verb = pick(&VERBS, number / 5);
    match number % 7 {
        0 => format!("{service}-*"),
        1 => format!("*-{verb}-*"),
        2 => tool(number % TOOLS),
        _ => format!("{service}-{verb}-?{}", number % 40),
    }
}

fn pick(words: &[&'static str; 5], number: usize) -> &'static str {
    words.iter().cycle().nth(number % 5).copied().unwrap_or_default()
}

fn tool(number: usize) -> String {
    format!("{}-{}-{number}", pick(&SERVICES, number), pick(&VERBS, number / 5))
}

fn tenant(number: usize) -> String {
    format!("tenant-{number}")
}

fn user(number: usize) -> String {
    format!("user-{number}@acme.example")
}
