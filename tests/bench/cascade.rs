//! The cascade of 10,000 skills: what a call costs, and what the build does.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use harness::command;
use relay_bundle::{Bundle, Kind};
use relay_engine::cascade::{Question, locate};

use crate::cost::cost;
use crate::{Result, Setting, median, row};

const SKILLS: usize = 10_000;
const TOOLS: usize = 1_000;
const TENANTS: usize = 500;
const USERS: usize = 1_000;
const SERVICES: [&str; 5] = ["api", "db", "git", "ssh", "k8s"];
const VERBS: [&str; 5] = ["create", "delete", "list", "get", "exec"];
/// So many questions are asked in one round.
const QUESTIONS: usize = 5_000;

/// Builds the project, then asks for known tools, by numbers and by names, and for unknown ones.
pub(crate) fn cascade(setting: &Setting) -> Result<()> {
    for (topics, goal) in [(false, "≤ 200 ns + 1 ns a skill"), (true, "≤ 200 ns + 2 ns a skill")]
    {
        let path = setting.folder.join("skills.kdl");
        fs::write(&path, project(topics)?)?;
        let mut build = command(&setting.relay, &setting.folder);
        build.args(["build", "skills.kdl", "--unsigned", "-q", "-o", "skills.relay"]);
        let built = cost(build, 0)?;
        let with = if topics { "with topics" } else { "without topics" };
        let of = format!("{SKILLS} skills, {TOOLS} tools, {USERS} users, {with}");
        let figures = format!("{:.2} s CPU, {:.0} MB", built.cpu_s, built.peak / 1e6);
        row(&format!("build of {of}"), &figures, "≤ 2 s CPU, ≤ 300 MB");
        let bundle = Bundle::open(Box::new(fs::read(setting.folder.join("skills.relay"))?))?;
        lookups(&bundle, &of, goal)?;
        let index = bundle.sections().iter().filter(|section| {
            (Kind::SkillPatterns.number()..=Kind::KnownToolPatterns.number())
                .contains(&section.number)
        });
        let bytes: u64 = index.map(|section| section.length).sum();
        let figures = format!("{:.1} bytes a skill", bytes as f64 / SKILLS as f64);
        row(&format!("index of {of}"), &figures, "≤ 100 bytes a skill");
    }
    Ok(())
}

fn lookups(bundle: &Bundle, of: &str, goal: &str) -> Result<()> {
    let names: Vec<[String; 3]> = (0..QUESTIONS)
        .map(|n| [tenant(n * 7 % TENANTS), tool(n * 13 % TOOLS), user(n * 11 % USERS)])
        .collect();
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
    row(
        &format!("skills of a call by numbers, {of}"),
        &format!("{by_number:.0} ns for {each:.1} skills"),
        goal,
    );
    row(&format!("finding three names, {of}"), &format!("{by_name:.0} ns"), "≤ 400 ns");
    let strange: Vec<String> = (0..QUESTIONS).map(|n| format!("api-create-x{n}")).collect();
    let unknown = round(|| {
        for tool in &strange {
            black_box(locate(bundle, Question { tool: Some(tool), ..Question::default() })?);
        }
        Ok(())
    })?;
    let patterns = bundle.skill_patterns().count();
    let figures = format!("{:.1} µs with {patterns} patterns", unknown / 1e3);
    row(&format!("an unknown tool, {of}"), &figures, "≤ 15 µs with 500 patterns");
    Ok(())
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

fn question([tenant, tool, user]: &[String; 3]) -> Question<'_> {
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
