//! Runs a target on mutations of its corpus: `mutate TARGET RUNS [SEED]`.
//!
//! Blind, but many times faster than libFuzzer with its instrumentation; run it after that has grown
//! a corpus. An input that panics or takes longer than `relay check` may is written to `artifacts/`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, panic};

/// The longest that one input may take.
const RUN_MAX: Duration = Duration::from_secs(5);
const INPUT_BYTES_MAX: usize = 16 << 10;
/// Words that readers of KDL, templates, front matter, shell code and the files of ssh look for.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "/-",
    "/*",
    "*/",
    "//",
    "\"",
    "\"\"\"",
    "#\"",
    "\"#",
    "\\\n",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "#true",
    "#null",
    "#inf",
    "(bytes)",
    "=",
    ";",
    "\0",
    "---\n",
    ": ",
    "- ",
    "&a ",
    "*a ",
    "|",
    "|length",
    "loop.",
    "if ",
    "for x in ",
    "endif",
    "endfor",
    "set ",
    "macro ",
    "range(",
    "[::-1]",
    "18446744073709551615",
    "\nHost * !a",
    "\nMatch final host a,!b ",
    "\nInclude x*\n",
    "\nIgnoreUnknown *\n",
    "%h",
    "@revoked * ",
    "@cert-authority *,!a ",
    "|1|",
    "-9223372036854775808",
    "$ARGUMENTS",
    "$(",
    "$((",
    "${x:-",
    "<<EOF\n",
    "\nEOF\n",
    "'",
    "`",
    " && ",
    " | sh",
    "; do ",
    "; done",
    "$'\\x",
    "bash -c '",
    "eval ",
    "xargs ",
    "sudo ",
    "x=",
    "[[ ",
    " ]]",
    "f() { ",
    "é",
    "😴",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, runs, seed @ ..] = arguments.as_slice() else {
        return Err("mutate TARGET RUNS [SEED]".into());
    };
    let run = match target.as_str() {
        "project" => relay_fuzz::project,
        "template" => relay_fuzz::template,
        "front_matter" => relay_fuzz::front_matter,
        "guard" => relay_fuzz::guard,
        "automata" => relay_fuzz::automata,
        "regex" => relay_fuzz::regex,
        "bundle_reader" => relay_fuzz::bundle_reader,
        "bundle_structure" => relay_fuzz::bundle_structure,
        "envelope" => relay_fuzz::envelope,
        "uri_template" => relay_fuzz::uri_template,
        "audit" => relay_fuzz::audit,
        "handle" => relay_fuzz::handle,
        "hook_event" => relay_fuzz::hook_event,
        "glob" => relay_fuzz::glob,
        "redact" => relay_fuzz::redact,
        "shell" => relay_fuzz::shell,
        "classifier" => relay_fuzz::classifier,
        "fact_table" => relay_fuzz::fact_table,
        "ssh_known_hosts" => relay_fuzz::ssh_known_hosts,
        "ssh_config" => relay_fuzz::ssh_config,
        "ssh_inventory" => relay_fuzz::ssh_inventory,
        _ => return Err(format!("unknown target `{target}`").into()),
    };
    let runs: u64 = runs.parse()?;
    let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = corpus(&here.join("corpus").join(target), target);
    let mut random = Random(seed);
    let mut slowest = Duration::ZERO;
    let begun = Instant::now();
    for number in 0..runs {
        let input = mutated(&corpus, &mut random);
        let start = cpu_time();
        let ended = panic::catch_unwind(|| run(&input));
        let took = cpu_time() - start;
        slowest = slowest.max(took);
        if ended.is_err() || took > RUN_MAX {
            let file = here.join("artifacts").join(format!("{target}-{seed}-{number}"));
            fs::create_dir_all(here.join("artifacts"))?;
            fs::write(&file, &input)?;
            return Err(
                format!("run {number} took {took:?} of CPU time: see {}", file.display()).into()
            );
        }
    }
    println!(
        "{target}: {runs} mutations of {} inputs in {:.0?}, the slowest {slowest:.1?}, at most {}",
        corpus.len(),
        begun.elapsed(),
        peak_memory(),
    );
    Ok(())
}

/// Returns the good inputs, and those that a fuzzer has found.
fn corpus(folder: &Path, target: &str) -> Vec<Vec<u8>> {
    let seeds = relay_fuzz::seeds().into_iter().filter(|(name, _)| *name == target);
    let mut corpus: Vec<Vec<u8>> = seeds.flat_map(|(_, inputs)| inputs).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    // The order of a folder differs from machine to machine.
    files.sort();
    corpus.extend(files.into_iter().filter_map(|file| fs::read(file).ok()));
    corpus
}

fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(6) {
        let at = random.below(input.len() + 1);
        let end = (at + 1 + random.below(24)).min(input.len());
        match random.below(7) {
            0 if at < input.len() => input[at] = random.below(256) as u8,
            1 if at < input.len() => input[at] ^= 1 << random.below(8),
            2 => drop(input.drain(at.min(end)..end)),
            3 => {
                let piece = input[at.min(end)..end].repeat(1 + random.below(40));
                input.splice(at..at, piece);
            }
            4 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())].repeat(1 + random.below(3));
                input.splice(at..at, token.bytes());
            }
        }
        input.truncate(INPUT_BYTES_MAX);
    }
    input
}

/// The time that this thread has used: on a busy machine an input waits longer than it takes.
fn cpu_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap_or("unknown").trim().to_owned()
}

/// Numbers that follow from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}
