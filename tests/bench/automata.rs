//! Regexes of rules as automata, beside a `RegexSet` of the same patterns.

use std::hint::black_box;
use std::time::Instant;

use regex::bytes::RegexSetBuilder;
use relay_bundle::{Automata, AutomataWriter};
use relay_compiler::automaton::compile;

use crate::{Result, Setting, median, row};

const PROGRAMS: [&str; 20] = [
    "rm",
    "dd",
    "mkfs",
    "shutdown",
    "chmod",
    "chown",
    "curl",
    "wget",
    "kubectl",
    "terraform",
    "docker",
    "git",
    "psql",
    "mysql",
    "aws",
    "gcloud",
    "systemctl",
    "iptables",
    "useradd",
    "passwd",
];

/// Texts of a decision: a usual one of 100 bytes, and one that many rules are about.
const TEXTS: [&str; 2] = [
    "shell_exec kubectl get pods -n production --selector app=web -o json | grep Running | wc -l -- xyzzy",
    "shell_exec curl https://example.org/install/17/latest.sh --output /tmp/a.sh && sudo git push --force-17",
];

/// How often a text is searched for one figure.
const ROUNDS: usize = 500;

/// Returns rules, a third of them for any place of the text.
pub(crate) fn patterns(count: usize) -> Vec<String> {
    let pattern = |number: usize| {
        let program = PROGRAMS.get(number % PROGRAMS.len()).unwrap_or(&"rm");
        match number % 6 {
            0 => format!(r"^\w+ \s*{program}\s+-[a-z]*r[a-z]*f?\s+/data{number}"),
            1 => format!(r"^\w+ {program} (delete|destroy|apply) [a-z0-9-]+-{number}$"),
            2 => format!(r"\b{program}\s+.*--force-{number}\b"),
            3 => format!(r"^\w+ sudo\s+{program}\b.*host{number}"),
            4 => format!(r"{program}\s+https?://[^ ]+/{number}/.*\|\s*(ba)?sh"),
            _ => format!(r"^\w+ {program}\s+(status|list|get{number})(\s+[a-zA-Z0-9_./-]+)*$"),
        }
    };
    (0..count).map(pattern).collect()
}

/// Compile, open and search tables of several sizes.
pub(crate) fn automata(_: &Setting) -> Result<()> {
    for count in [10, 100, 1_000] {
        let patterns = patterns(count);
        let start = Instant::now();
        let mut writer = AutomataWriter::default();
        for pattern in &patterns {
            writer.add(&compile(pattern)?);
        }
        let table = writer.finish();
        let compiled = start.elapsed().as_secs_f64() * 1e3;
        let open = time(21, || Automata::open(black_box(&table)).map(|it| it.count())) * 1e3;
        let build = || RegexSetBuilder::new(&patterns).unicode(false).size_limit(1 << 30).build();
        let built = time(3, build) * 1e3;
        let work = format!(
            "{count} regexes of rules, {} bytes: compile, open, beside RegexSet",
            table.len()
        );
        let measured = format!("{compiled:.1} ms once; {open:.3} ms; {built:.1} ms to build");
        row(&work, &measured, "nothing compiled at load");

        let automata = Automata::open(&table)?;
        let set = build()?;
        for text in TEXTS {
            let bytes = text.as_bytes();
            let found = automata.matching(bytes).len();
            if found != set.matches(bytes).iter().count() {
                return Err(format!("{count} regexes differ from a RegexSet in {text:?}").into());
            }
            let search =
                || (0..ROUNDS).map(|_| automata.matching(black_box(bytes)).len()).sum::<usize>();
            let own = time(21, search) * 1e6 / ROUNDS as f64;
            let search =
                || (0..ROUNDS).map(|_| set.matches(black_box(bytes)).iter().count()).sum::<usize>();
            let other = time(21, search) * 1e6 / ROUNDS as f64;
            let ran = automata.candidate_count(bytes);
            let work = format!("search {} bytes: {found} of {count} match, {ran} run", bytes.len());
            row(&work, &format!("{own:.2} µs; RegexSet {other:.2} µs"), "≤ 5 µs under 1,000 rules");
        }
    }
    Ok(())
}

/// Returns the median time of some runs, in seconds.
fn time<T>(runs: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut figures = Vec::new();
    for _ in 0..runs {
        let start = Instant::now();
        black_box(run());
        figures.push(start.elapsed().as_secs_f64());
    }
    median(&mut figures)
}
