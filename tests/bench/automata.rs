//! Regexes of rules as automata, beside a `RegexSet` of the same patterns.

use std::hint::black_box;
use std::time::Instant;

use regex::bytes::RegexSetBuilder;
use relay_bundle::{Automata, AutomataWriter};
use relay_compiler::automaton::compile;

use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};
use crate::{Result, Setting};

pub(crate) const FIGURES: &[Figure] = &[COMPILE, OPEN, SEARCH];

const COMPILE: Figure = Figure {
    id: "automata/compile",
    work: "compile regexes of rules, once, at build",
    parts: &[
        of("10 regexes", "ms"),
        of("100 regexes", "ms"),
        of("1,000 regexes", "ms"),
        of("table of 1,000", "bytes"),
    ],
    note: "",
};
const OPEN: Figure = Figure {
    id: "automata/open",
    work: "open them at load",
    parts: &[
        of("10 regexes", "ms"),
        of("100 regexes", "ms"),
        of("1,000 regexes", "ms").at_most(1.0),
        beside("build a `RegexSet` of 10", "ms"),
        beside("of 100", "ms"),
        beside("of 1,000", "ms"),
    ],
    note: "",
};
const SEARCH: Figure = Figure {
    id: "automata/search",
    work: "search a text of 100 bytes: a usual one, and one that many rules are about",
    parts: &[
        of("usual, 10 regexes", "µs"),
        of("usual, 100 regexes", "µs"),
        of("usual, 1,000 regexes", "µs").at_most(5.0),
        of("many, 10 regexes", "µs"),
        of("many, 100 regexes", "µs"),
        of("many, 1,000 regexes", "µs").at_most(5.0),
        beside("`RegexSet`, usual, 1,000", "µs"),
        beside("`RegexSet`, many, 1,000", "µs"),
    ],
    note: "",
};

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
pub(crate) fn automata(_: &Setting, report: &mut Report) -> Result<()> {
    for (count, words, set_words) in [
        (10, "10 regexes", "build a `RegexSet` of 10"),
        (100, "100 regexes", "of 100"),
        (1_000, "1,000 regexes", "of 1,000"),
    ] {
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
        report.put(&COMPILE, words, compiled)?;
        report.put(&OPEN, words, open)?;
        report.put(&OPEN, set_words, built)?;
        if count == 1_000 {
            report.put(&COMPILE, "table of 1,000", table.len() as f64)?;
        }

        let automata = Automata::open(&table)?;
        let set = build()?;
        for (text, kind) in TEXTS.into_iter().zip(["usual", "many"]) {
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
            report.put(&SEARCH, &format!("{kind}, {words}"), own)?;
            if count == 1_000 {
                report.put(&SEARCH, &format!("`RegexSet`, {kind}, 1,000"), other)?;
            }
            report.detail(&SEARCH, format!("{kind}: {found} of {count} match, {ran} run"));
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
