//! Decisions under many rules: beside the classification alone, and a `RegexSet` of as many patterns.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use harness::command;
use regex::bytes::RegexSetBuilder;
use relay_bundle::Bundle;
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Decision, Door, decide};
use relay_engine::place::{Identity, place, preview};
use relay_engine::tool::{SHELL, command_arguments};
use relay_engine::view::View;
use relay_policy::classify::classify;
use relay_policy::location::Location;

use crate::automata::patterns;
use crate::classify::usual_commands;
use crate::cost::cost;
use crate::figures::number::{median, quantile};
use crate::figures::{Figure, Report, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[HALF, MOST, BUILD, LOAD, REGEX_SET, SCOPES, MUTANTS];

// Each has a part for each row of `KINDS`.
const HALF: Figure = Figure {
    id: "decide/p50",
    work: "a decision under 1,000 rules, beside its classification, p50 of 106 commands",
    parts: &[
        of("of all kinds", "µs").at_most(5.0),
        of("over programs", "µs").at_most(5.0),
        of("over paths", "µs").at_most(5.0),
        of("over hosts", "µs").at_most(5.0),
        of("over texts", "µs").at_most(5.0),
        of("that allow", "µs").at_most(5.0),
    ],
    note: "",
};
const MOST: Figure = Figure {
    id: "decide/p99",
    work: "the same, p99",
    parts: &[
        of("of all kinds", "µs").at_most(5.0),
        of("over programs", "µs").at_most(5.0),
        of("over paths", "µs").at_most(5.0),
        of("over hosts", "µs").at_most(5.0),
        of("over texts", "µs").at_most(5.0),
        of("that allow", "µs").at_most(5.0),
    ],
    note: "",
};
const BUILD: Figure = Figure {
    id: "decide/build",
    work: "build 1,000 rules",
    parts: &[
        of("of all kinds", "s CPU").at_most(2.0),
        of("over programs", "s CPU").at_most(2.0),
        of("over paths", "s CPU").at_most(2.0),
        of("over hosts", "s CPU").at_most(2.0),
        of("over texts", "s CPU").at_most(2.0),
        of("that allow", "s CPU").at_most(2.0),
    ],
    note: "",
};
const LOAD: Figure = Figure {
    id: "decide/load",
    work: "read 1,000 rules at load, beside a policy without rules",
    parts: &[
        of("of all kinds", "ms").at_most(1.0),
        of("over programs", "ms").at_most(1.0),
        of("over paths", "ms").at_most(1.0),
        of("over hosts", "ms").at_most(1.0),
        of("over texts", "ms").at_most(1.0),
        of("that allow", "ms").at_most(1.0),
    ],
    note: "",
};
const REGEX_SET: Figure = Figure {
    id: "decide/regex-set",
    work: "search these commands by a `RegexSet` of 1,000 patterns",
    parts: &[of("", "µs")],
    note: "the peer of a naive policy: it finds texts, and knows no programs, paths or hosts.",
};
const SCOPES: Figure = Figure {
    id: "decide/scopes",
    work: "a decision under 256 scopes (64 tenants, each with a role and two hosts), beside none",
    parts: &[of("on the own host", "µs more"), of("on two hosts", "µs more")],
    note: "",
};
const MUTANTS: Figure = Figure {
    id: "decide/mutation-score",
    work: "`relay test`: mutation score of 1,000 rules with two texts each",
    parts: &[of("CPU", "s").at_most(10.0), of("wall", "s")],
    note: "",
};

const RULES: usize = 1_000;
/// Rounds of a measurement, of which the median is printed.
const ROUNDS: usize = 51;

/// Policies of one kind of rule each, and one of all kinds.
const KINDS: [(&str, &[Kind]); 6] = [
    ("of all kinds", &[Kind::Call, Kind::Path, Kind::Host, Kind::Text, Kind::Tool, Kind::Allow]),
    ("over programs", &[Kind::Call]),
    ("over paths", &[Kind::Path]),
    ("over hosts", &[Kind::Host]),
    ("over texts", &[Kind::Text]),
    ("that allow", &[Kind::Allow]),
];

#[derive(Clone, Copy)]
enum Kind {
    Call,
    Path,
    Host,
    Text,
    Tool,
    Allow,
}

impl Kind {
    /// Writes the rule with this number.
    fn rule(self, number: usize, regexes: &[String]) -> String {
        const PROGRAMS: [&str; 6] = ["git", "docker", "kubectl", "rm", "curl", "systemctl"];
        let program = PROGRAMS.get(number % PROGRAMS.len()).unwrap_or(&"rm");
        let touches = ["reads", "writes", "removes", "changes"];
        let touch = touches.get(number % touches.len()).unwrap_or(&"reads");
        match self {
            Self::Call => {
                format!("deny r{number} {{ program {program}; operands \"x-{number}\" }}")
            }
            Self::Path => format!("deny r{number} {{ {touch} \"/srv/app-{number}/**\" }}"),
            Self::Host => format!("deny r{number} {{ connects \"h{number}.corp.example\" }}"),
            Self::Text => {
                let regex = regexes.get(number).map_or("x", String::as_str);
                format!("deny r{number} {{ text (regex)#\"{regex}\"# }}")
            }
            Self::Tool => format!("deny r{number} {{ tool \"team-{number}/*\"; arg env prod }}"),
            Self::Allow => {
                format!("allow r{number} {{ program {program}; removes \"/srv/app-{number}/**\" }}")
            }
        }
    }
}

/// All of it.
pub(crate) fn decisions(setting: &Setting, report: &mut Report) -> Result<()> {
    let commands = usual_commands();
    let regexes = patterns(RULES);
    for (what, kinds) in KINDS {
        let Built { bundle, cpu_s } = build(setting, &rules_of(kinds, &regexes)?)?;
        let [half, most, all] = decided(&bundle, &commands)?;
        report.put(&BUILD, what, cpu_s)?;
        report.put(&HALF, what, half)?;
        report.put(&MOST, what, most)?;
        report.detail(&HALF, format!("{what} {all:.1} µs with it"));
        let mut load = times(ROUNDS, || Authority::of(black_box(&bundle)).is_ok(), 1e3);
        let none = build(setting, "")?.bundle;
        let mut bare = times(ROUNDS, || Authority::of(black_box(&none)).is_ok(), 1e3);
        let more = median(&mut load) - median(&mut bare);
        report.put(&LOAD, what, more)?;
    }
    let mut builder = RegexSetBuilder::new(&regexes);
    let set = builder.unicode(false).size_limit(1 << 30).build()?;
    let search = || commands.iter().filter(|text| set.is_match(text.as_bytes())).count();
    let mut figures = times(ROUNDS, search, 1e6 / commands.len() as f64);
    report.put_all(&REGEX_SET, &[median(&mut figures)])?;
    scopes(setting, report)?;
    mutants(setting, report)
}

/// The file of the bundle that was built last.
pub(crate) const BUNDLE: &str = "rules.relay";

/// Builds the bundle of 1,000 rules of all kinds.
pub(crate) fn of_all_kinds(setting: &Setting) -> Result<()> {
    let [(_, kinds), ..] = KINDS;
    build(setting, &rules_of(kinds, &patterns(RULES))?).map(|_| ())
}

fn rules_of(kinds: &[Kind], regexes: &[String]) -> Result<String> {
    let mut rules = String::new();
    for number in 0..RULES {
        let kind = kinds.get(number % kinds.len()).copied().unwrap_or(Kind::Call);
        writeln!(rules, "    {}", kind.rule(number, regexes))?;
    }
    Ok(rules)
}

/// Decisions under the most scopes, of tenants with a role and a host each, beside a policy without.
fn scopes(setting: &Setting, report: &mut Report) -> Result<()> {
    const TENANTS: usize = 64;
    let names =
        |prefix: &str| (0..TENANTS).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>();
    let mut head = "tenants {".to_owned();
    for tenant in names("t") {
        write!(head, " tenant {tenant};")?;
    }
    head.push_str(
        " }\nroles { role reader; role operator tier=3 }\nusers { anyone role=reader }\n",
    );
    let mut inside = String::new();
    for tenant in names("t") {
        writeln!(
            inside,
            "scope tenant={tenant} {{ deny a-{tenant} {{ program git }}
             scope role=operator {{ deny b-{tenant} {{ program rm }} }}
             scope host=\"db-*.{tenant}.example\" {{ deny c-{tenant} {{ program ls }} }} }}
             scope host=\"*.{tenant}.example\" {{ deny d-{tenant} {{ program cat }} }}"
        )?;
    }
    let mut figures = Vec::new();
    for rules in ["", inside.as_str()] {
        fs::write(setting.folder.join("rules.kdl"), format!("{}{head}", project(rules)))?;
        let Built { bundle, .. } = built(setting)?;
        let authority = Authority::of(&bundle)?;
        let identity =
            Identity { tenant: Some("t40"), role: Some("operator"), ..Identity::default() };
        let placement = preview(&bundle, &identity)?.map_err(|_| "no place")?;
        let view = View::of(&bundle, &placement)?;
        let location = Location::default();
        for arguments in [
            serde_json::json!({ "command": "echo a" }),
            serde_json::json!({ "hosts": "db-1.t40.example,web-1.t3.example", "command": "echo a" }),
        ] {
            let arguments = arguments.as_object().ok_or("no object")?.clone();
            let tool = if arguments.contains_key("hosts") { "ssh_fanout" } else { SHELL };
            let door = Door::Elsewhere;
            let call =
                Call { tool, arguments: &arguments, client: None, location: &location, door };
            let mut decides =
                times(2_001, || decide(&view, &authority, black_box(&call)).is_ok(), 1e6);
            figures.push(median(&mut decides));
        }
    }
    if let [own, remote, own_scoped, remote_scoped] = figures.as_slice() {
        report.put_all(&SCOPES, &[own_scoped - own, remote_scoped - remote])?;
    }
    Ok(())
}

/// A project of texts that rules are proved by, and the time to score them.
fn mutants(setting: &Setting, report: &mut Report) -> Result<()> {
    let mut rules = String::new();
    for number in 0..RULES {
        let (rule, text) = match number % 3 {
            0 => (
                format!("program git; sub push; operands \"b-{number}\""),
                format!("git push origin b-{number}"),
            ),
            1 => (format!("writes \"/srv/app-{number}/**\""), format!("tee /srv/app-{number}/x")),
            _ => (
                format!("connects \"h{number}.corp.example\""),
                format!("curl https://h{number}.corp.example/"),
            ),
        };
        writeln!(rules, "    deny r{number} {{ {rule}; match {text:?}; no-match \"ls\" }}")?;
    }
    fs::write(setting.folder.join("proved.kdl"), project(&rules))?;
    let mut test = command(&setting.relay, &setting.folder);
    test.args(["test", "proved.kdl"]);
    let scored = cost(test, 0)?;
    report.put_all(&MUTANTS, &[scored.cpu_s, scored.wall_s])
}

struct Built {
    bundle: Bundle,
    cpu_s: f64,
}

fn project(rules: &str) -> String {
    format!(
        "project rules version=\"1.0.0\" epoch=1\n\
         tools {{ diagnostics; other \"team-*\" {{ arg path writes }} }}\n\
         policy guarded {{\n{rules}}}\n"
    )
}

fn build(setting: &Setting, rules: &str) -> Result<Built> {
    fs::write(setting.folder.join("rules.kdl"), project(rules))?;
    built(setting)
}

fn built(setting: &Setting) -> Result<Built> {
    let mut build = command(&setting.relay, &setting.folder);
    build.args(["build", "rules.kdl", "--unsigned", "-q", "-o", BUNDLE]);
    let cpu_s = cost(build, 0)?.cpu_s;
    let bundle = Bundle::open(Box::new(fs::read(setting.folder.join(BUNDLE))?))?;
    Ok(Built { bundle, cpu_s })
}

/// Decides each command, and classifies it alone: the microseconds that a decision takes more, p50 and p99,
/// and what it takes in all.
fn decided(bundle: &Bundle, commands: &[String]) -> Result<[f64; 3]> {
    let authority = Authority::of(bundle)?;
    let facts = authority.facts(bundle)?;
    let rules = authority.rules().ok_or("no policy")?;
    let placement = place(bundle, &Identity::default())?.map_err(|_| "no place")?;
    let view = View::of(bundle, &placement)?;
    let location = Location::default();
    let mut more = Vec::new();
    let mut all = Vec::new();
    for text in commands {
        let arguments = command_arguments(SHELL, text, None).map_err(|_| "no command")?;
        let call = Call {
            tool: SHELL,
            arguments: &arguments,
            client: None,
            location: &location,
            door: Door::Elsewhere,
        };
        let decision: Decision = decide(&view, &authority, &call)?;
        black_box(decision);
        let mut decides =
            times(ROUNDS, || decide(&view, &authority, black_box(&call)).is_ok(), 1e6);
        let mut classifies = times(ROUNDS, || classify(black_box(text), &facts, rules).tier, 1e6);
        let decides = median(&mut decides);
        all.push(decides);
        more.push(decides - median(&mut classifies));
    }
    let (most, half) = (quantile(&mut more, 0.99), median(&mut more));
    Ok([half, most, median(&mut all)])
}

/// Returns the times of some runs, in seconds times `scale`.
fn times<T>(runs: usize, mut run: impl FnMut() -> T, scale: f64) -> Vec<f64> {
    let mut figures = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        black_box(run());
        figures.push(start.elapsed().as_secs_f64() * scale);
    }
    figures
}
