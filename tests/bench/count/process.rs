//! Whole processes: of two sizes, whose difference is what each operation costs, or as they are.

use std::fmt::Write as _;
use std::fs;
use std::thread;

use harness::command;

use super::valgrind::Counter;
use crate::cost::REST;
use crate::stdio::{prompt_request, serve};
use crate::{Result, generate, hook};

/// A row.
pub(crate) struct Process {
    pub(crate) id: &'static str,
    pub(crate) work: &'static str,
    /// Returns the instructions with so many operations.
    pub(crate) count: fn(&Counter<'_>, usize) -> Result<u64>,
    /// Of the two counts that are compared; with 0 the other one counts as a whole.
    pub(crate) operations: [usize; 2],
}

/// All of them.
pub(crate) const PROCESSES: &[Process] = &[
    of("relay/version", "`relay --version`", version, [0, 1]),
    of("relay/classify", "`relay classify ls`", classify, [0, 1]),
    of("relay/check", "`relay check`, a declaration", check, [100, 600]),
    of(
        "relay/environment",
        "`relay check`, an environment of a project with own facts",
        environments,
        [1, 3],
    ),
    of("relay/facts", "`relay check` of a project with own facts", environments, [0, 0]),
    of(
        "relay/lines",
        "`relay check`, an inline text of 40 lines, with an umlaut",
        lines,
        [20, 120],
    ),
    of("relay/policy", "`relay check` of a project with a shipped policy", policy, [0, 1]),
    of(
        "relay/diff",
        "`relay diff`, an environment of projects with own facts",
        differences,
        [1, 3],
    ),
    of("relay/build", "`relay build`, a prompt file of 4 KB", build, [100, 600]),
    of("relay/unchanged", "`relay build`, an unchanged prompt file", unchanged, [100, 600]),
    of("relay/inspect", "`relay inspect` of a bundle with a shipped policy", inspect, [0, 1]),
    of("relay/explain", "`relay explain --tags` of the same bundle", explain, [0, 1]),
    of("hook/event", "a hook of a harmless command, 1,000 rules", event, [0, 1]),
    of("serve/start", "a server of 1,000 prompts, stdio, to its first answer", get, [0, 0]),
    of("serve/prompts-get", "`prompts/get` over stdio, with audit", get, [20, 420]),
];

const fn of(
    id: &'static str,
    work: &'static str,
    count: fn(&Counter<'_>, usize) -> Result<u64>,
    operations: [usize; 2],
) -> Process {
    Process { id, work, count, operations }
}

fn version(counter: &Counter<'_>, _: usize) -> Result<u64> {
    relay(counter, &["--version"])
}

fn classify(counter: &Counter<'_>, _: usize) -> Result<u64> {
    relay(counter, &["classify", "ls"])
}

fn check(counter: &Counter<'_>, declarations: usize) -> Result<u64> {
    let text = generate::declarations(declarations);
    fs::write(counter.setting.folder.join("counted.kdl"), text)?;
    relay(counter, &["check", "counted.kdl"])
}

fn lines(counter: &Counter<'_>, prompts: usize) -> Result<u64> {
    let line = "            Say what you would change, and wait für a yes.\n".repeat(40);
    let mut text = "project lines epoch=1\nprompts {\n".to_owned();
    for number in 0..prompts {
        writeln!(
            text,
            "    prompt p{number} {{\n        text \"\"\"\n{line}            \"\"\"\n    }}"
        )?;
    }
    text.push_str("}\n");
    fs::write(counter.setting.folder.join("lines.kdl"), text)?;
    relay(counter, &["check", "lines.kdl"])
}

fn policy(counter: &Counter<'_>, _: usize) -> Result<u64> {
    let text = "project judged epoch=1\npolicy guarded use=workstation\nprompts { prompt rules { text \"Ask.\" } }\n";
    fs::write(counter.setting.folder.join("policy.kdl"), text)?;
    relay(counter, &["check", "policy.kdl"])
}

fn environments(counter: &Counter<'_>, environments: usize) -> Result<u64> {
    own(counter, "environments.kdl", 2, environments)?;
    relay(counter, &["check", "environments.kdl"])
}

fn differences(counter: &Counter<'_>, environments: usize) -> Result<u64> {
    own(counter, "before.kdl", 2, environments)?;
    own(counter, "after.kdl", 3, environments)?;
    relay(counter, &["diff", "before.kdl", "after.kdl"])
}

/// Writes a project whose own facts are joined with those that are shipped.
fn own(counter: &Counter<'_>, path: &str, tier: u8, environments: usize) -> Result<()> {
    let mut text = format!(
        "project own epoch=1\npolicy guarded\nfacts {{ program our-deploy says=\"deploys\" tier={tier} }}\nprompts {{ prompt rules {{ summary \"Rules\"; text \"Ask.\" }} }}\n"
    );
    for number in 0..environments {
        writeln!(
            text,
            "when e{number} {{ prompts {{ prompt rules {{ summary \"{number}\" }} }} }}"
        )?;
    }
    fs::write(counter.setting.folder.join(path), text)?;
    Ok(())
}

fn build(counter: &Counter<'_>, files: usize) -> Result<u64> {
    let folder = counter.setting.folder.join("counted");
    // A receipt of the build before would count for this one.
    for left in [&folder, &counter.setting.folder.join(".relay-cache")] {
        _ = fs::remove_dir_all(left);
    }
    generate::project(&folder, files)?;
    relay(counter, BUILD)
}

const BUILD: &[&str] = &["build", "counted", "--unsigned", "-q", "-o", "counted.relay"];

fn unchanged(counter: &Counter<'_>, files: usize) -> Result<u64> {
    build(counter, files)?;
    thread::sleep(REST);
    // This one checks the pages of the bundle.
    relay(counter, BUILD)?;
    relay(counter, BUILD)
}

/// A gate, a policy with the shipped facts, and a prompt.
const JUDGED: &str = "project judged epoch=1\ngate on\npolicy guarded\nprompts { prompt rules { summary \"Rules\"; text \"Ask.\" } }\n";

fn inspect(counter: &Counter<'_>, _: usize) -> Result<u64> {
    counter.setting.project("judged", JUDGED)?;
    relay(counter, &["inspect", "judged.relay"])
}

fn explain(counter: &Counter<'_>, _: usize) -> Result<u64> {
    counter.setting.project("judged", JUDGED)?;
    relay(counter, &["explain", "judged.relay", "--tags", "rules"])
}

fn relay(counter: &Counter<'_>, arguments: &[&str]) -> Result<u64> {
    let mut relay = command(&counter.setting.relay, &counter.setting.folder);
    relay.args(arguments);
    Ok(counter.process(relay, b"", 0)?.0)
}

fn event(counter: &Counter<'_>, _: usize) -> Result<u64> {
    let setting = counter.setting;
    hook::configure(setting)?;
    let event = hook::event(setting, hook::HARMLESS_COMMAND);
    // The first event makes the private copy, which counts for the program that made it: that of valgrind.
    counter.process(hook::hook(setting), event.as_bytes(), 0)?;
    Ok(counter.process(hook::hook(setting), event.as_bytes(), 0)?.0)
}

/// A conversation of so many prompts.
fn get(counter: &Counter<'_>, prompts: usize) -> Result<u64> {
    let bundle = counter.setting.bundle("1000.relay", &generate::contents(1000))?;
    counter.conversation(serve(counter.setting, &bundle), |session| {
        session.initialize()?;
        for number in 0..prompts {
            session.ask(&prompt_request(number))?;
        }
        Ok(())
    })
}
