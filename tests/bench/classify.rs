//! The classifier: commands, long texts, the table of facts, and the process; beside a list of patterns.

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

use harness::{Process, command, run};
use regex::bytes::{Regex, RegexBuilder};
use relay_policy::classify::{Rules, Verdict, classify};
use relay_policy::facts::Facts;

use crate::allocation::allocated;
use crate::{Result, Setting, generate, median, quantile, row};

/// Labelled commands: the command, its tier, and further columns.
const CORPORA: &[&str] = &[
    include_str!("../policy/corpus/system.tsv"),
    include_str!("../policy/corpus/development.tsv"),
    include_str!("../policy/corpus/operations.tsv"),
    include_str!("../policy/corpus/bypasses.tsv"),
    include_str!("../policy/corpus/lookalikes.tsv"),
    include_str!("../policy/corpus/examples.tsv"),
];

/// The largest text that is read, and a quarter of it.
const SIZES: [usize; 2] = [64 * 1024, 16 * 1024];

/// Texts that grow: what begins them, what is repeated with `#` as its number, what ends them.
const SHAPES: &[(&str, &str, &str, &str)] = &[
    ("eval", "", "eval 'x';", ""),
    ("eval of a long text", "eval '", "ls;", "'"),
    ("ssh", "", "ssh h x;", ""),
    ("sh -c", "", "sh -c 'ls';", ""),
    ("nested backticks", "", "`\\`a\\``;", ""),
    ("functions", "", "f#(){ ls;};", ""),
    ("functions with here-documents", "", "f#(){ cat <<E\nE\n};", ""),
    ("calls of a function", "f(){ ls;};", "f;", ""),
    ("a function that calls itself", "f(){ f;", "f;", "};f"),
    ("arithmetic", "echo ", "$((1)) ", ""),
    ("arithmetic that assigns", "echo $((", "a = ", "1))"),
    ("operands", "ls", " a", ""),
    ("removed operands", "rm", " a", ""),
    ("redirections", "ls", " >a", ""),
    ("assignments", "", "a#=1;", ""),
    ("assignments that double", "a=x;", "b=$a$a;a=$b$b;", ""),
    ("values that are added to", "", "x+=aaaaaaaa;", ""),
    ("variables of many values", "a=1;a=2;b=1;b=2;c=1;c=2;", "ls $a $b $c;", ""),
    ("unknown programs", "", "a;", ""),
    ("known programs", "", "ls;", ""),
    ("aliases", "", "alias a#=b;", ""),
    ("file patterns", "ls", " *", ""),
    ("brackets", "ls ", "[", ""),
    ("braces", "echo ", "{a,b} ", ""),
    ("jobs", "", "ls&", ""),
    ("traps", "", "trap 'ls' 0;", ""),
    ("xargs", "", "xargs ls;", ""),
    ("find -exec", "", "find . -exec ls \\;;", ""),
    ("find with many commands", "find a", " -exec ls {} +", ""),
    ("pipeline", "ls", "|ls", ""),
    ("folders", "", "cd a;", ""),
    ("decoders", "echo 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "|rev", ""),
    ("shortened options", "git", " --n#", ""),
];

/// How many blanks follow each unit: a denser text is given up sooner, so the slowest lies somewhere between.
const PADDINGS: [usize; 4] = [0, 4, 8, 16];

/// The same, with a first half that the second one uses again and again.
const HALVES: &[(&str, &str, &str, &str, &str)] = &[
    ("a list after many parameters", "set --", " a", ";", "ls;"),
    ("branches after many parameters", "set --", " a", ";", "if a;then b;fi;"),
    ("many parameters expanded", "set --", " a", ";", "ls $*;"),
    ("a long value printed", "x='", "a", "';", "echo \"$x\";"),
    ("a long value split", "x='", "a ", "';", "ls $x;"),
    ("a long folder", "cd '", "a/", "';", "ls>a;"),
    ("calls of a long function", "f(){ ", "ls;", "};", "f;"),
];

/// A classifier of the naive kind: what it looks for, and the tier if it is there.
const PATTERNS: &[(u8, &[&str])] = &[
    (
        3,
        &[
            r"\brm\s+(-\w+\s+)*-\w*r",
            r"\brm\s+--recursive\b",
            r"\brm\s.*\*",
            r"\bmkfs(\.\w+)?\b",
            r"\bdd\b.*\bof=/dev/",
            r">\s*/dev/(sd|nvme|vd)\w+",
            r"\bshred\b",
            r"\bwipefs\b",
            r":\(\)\s*\{.*\};",
            r"\b(shutdown|reboot|halt|poweroff)\b",
            r"\bgit\s+push\b.*(--force|\s-f\b)",
            r"\bgit\s+reset\s+--hard\b",
            r"\bgit\s+clean\s+-\w*f",
            r"\bgit\s+branch\s+-D\b",
            r"\bgit\s+filter-branch\b",
            r"(?i)\bdrop\s+(table|database|schema)\b",
            r"(?i)\btruncate\s+table\b",
            r"(?i)\bdelete\s+from\b",
            r"\bterraform\s+destroy\b",
            r"\bkubectl\s+delete\b",
            r"\bhelm\s+(uninstall|delete)\b",
            r"\bdocker\s+(system|volume|image)\s+prune\b",
            r"\bdocker\s+volume\s+rm\b",
            r"\baws\s+s3\s+(rb|rm)\b",
            r"\baws\b.*\b(delete|terminate)-",
            r"\bgcloud\b.*\bdelete\b",
            r"\baz\b.*\bdelete\b",
            r"\bcurl\b.*\|\s*(sudo\s+)?(ba)?sh\b",
            r"\bwget\b.*\|\s*(sudo\s+)?(ba)?sh\b",
            r"\bbase64\s+(-d|--decode)\b.*\|\s*(ba)?sh\b",
            r"\bfind\b.*-delete\b",
            r"\bfind\b.*-exec\s+rm\b",
            r"\bxargs\s+(-\S+\s+)*rm\b",
            r"\bchmod\s+-R\s+\d+\s+/",
            r"\bchown\s+-R\s+\S+\s+/",
            r"\bkill\s+-9\s+-1\b",
            r"\bcrontab\s+-r\b",
            r"\buserdel\b",
            r"\blv(remove|reduce)\b",
            r"\bzfs\s+destroy\b",
        ],
    ),
    (
        2,
        &[
            r"\bsudo\b",
            r"\bsu\s+-",
            r"\brm\b",
            r"\bmv\b.*\s/etc/",
            r">\s*/etc/",
            r"\btee\s+(-a\s+)?/etc/",
            r"\bsystemctl\s+(start|stop|restart|enable|disable|mask)\b",
            r"\bservice\s+\S+\s+(start|stop|restart)\b",
            r"\b(apt|apt-get|yum|dnf|zypper)\s+(-\S+\s+)*(install|remove|purge|upgrade)\b",
            r"\b(npm|pnpm|yarn)\s+(install|publish|add)\b",
            r"\bpip3?\s+(un)?install\b",
            r"\bgit\s+push\b",
            r"\bdocker\s+(run|stop|rm|kill|push)\b",
            r"\bkubectl\s+(apply|scale|rollout|edit|patch)\b",
            r"\bterraform\s+apply\b",
            r"\b(kill|pkill|killall)\b",
            r"\biptables\b",
            r"\bmount\b",
            r"\b(useradd|usermod|passwd)\b",
            r"\bssh\b",
            r"\beval\b",
            r"\bcurl\b.*(-X\s*(POST|PUT|DELETE|PATCH)|--data|-d\s)",
        ],
    ),
    (1, &[r"\b(cp|mv|mkdir|touch|ln|tee)\b", r">", r"\bgit\s+(add|commit|checkout|merge|pull)\b"]),
];

struct Labelled {
    command: String,
    tier: u8,
}

fn labelled() -> Vec<Labelled> {
    let read = |line: &str| {
        let mut columns = line.split('\t');
        let command = columns.next()?.replace('␤', "\n");
        Some(Labelled { command, tier: columns.next()?.parse().ok()? })
    };
    CORPORA.iter().flat_map(|corpus| corpus.lines()).filter_map(read).collect()
}

/// Commands of usual length of the corpora.
pub(crate) fn usual_commands() -> Vec<String> {
    let commands = labelled().into_iter().map(|row| row.command);
    commands.filter(|command| (80..=120).contains(&command.len())).collect()
}

/// The classifier in this process.
pub(crate) fn in_process(_: &Setting) -> Result<()> {
    let table = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../compiler/facts/table.bin"))?;
    let facts = Facts::open(&table)?;
    let rules = Rules::default();
    let all = labelled();
    let usual = usual_commands();
    let usual: Vec<&str> = usual.iter().map(String::as_str).collect();
    commands(&usual, |command| classify(command, &facts, &rules));
    naive(&all, &usual, |command| classify(command, &facts, &rules))?;
    long_texts(|text| classify(text, &facts, &rules));
    // The limit was 560,000 bytes until 260 programs of everyday work came: some 170 bytes each.
    row("table of the shipped facts", &format!("{} bytes", table.len()), "≤ 640,000");
    let mut open = Vec::new();
    for _ in 0..51 {
        let start = Instant::now();
        black_box(Facts::open(black_box(&table))?);
        open.push(start.elapsed().as_secs_f64() * 1e3);
    }
    row("open that table, every row checked", &format!("{:.2} ms", median(&mut open)), "none");
    Ok(())
}

/// Measures commands of usual length.
fn commands(usual: &[&str], judge: impl Fn(&str) -> Verdict) {
    let mut figures = times(usual, &judge);
    let (half, most) = (quantile(&mut figures, 0.5), quantile(&mut figures, 0.99));
    let memory: Vec<_> = usual.iter().map(|command| allocated(|| judge(command)).1).collect();
    let peak = memory.iter().map(|memory| memory.peak).max().unwrap_or_default();
    let total = memory.iter().map(|memory| memory.total).sum::<usize>() / usual.len().max(1);
    let work = format!("classify a command of 80–120 bytes, {} of the open corpus", usual.len());
    let figures = format!(
        "{half:.2} µs p50, {most:.1} µs p99; {peak} bytes of memory at most, {total} asked for"
    );
    row(&work, &figures, "≤ 5 µs p50, ≤ 50 µs p99, ≤ 32 KiB");
}

/// The median time of each command, in microseconds.
fn times<T>(commands: &[&str], judge: impl Fn(&str) -> T) -> Vec<f64> {
    let mut figures = vec![Vec::new(); commands.len()];
    for _ in 0..101 {
        for (command, times) in commands.iter().zip(&mut figures) {
            let start = Instant::now();
            black_box(judge(black_box(command)));
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    figures.iter_mut().map(|times| median(times)).collect()
}

/// A list of patterns over the text: what it costs, and what it takes for harmless.
fn naive(all: &[Labelled], usual: &[&str], judge: impl Fn(&str) -> Verdict) -> Result<()> {
    let mut patterns: Vec<(Regex, u8)> = Vec::new();
    for (tier, texts) in PATTERNS {
        for text in *texts {
            let regex =
                RegexBuilder::new(text).unicode(false).dot_matches_new_line(true).build()?;
            patterns.push((regex, *tier));
        }
    }
    let guess = |command: &str| {
        let found = patterns.iter().find(|(regex, _)| regex.is_match(command.as_bytes()));
        found.map_or(0, |(_, tier)| *tier)
    };
    let own = |command: &str| judge(command).tier.number();
    let lost = |tier: &dyn Fn(&str) -> u8| {
        all.iter().filter(|row| row.tier >= 2 && tier(&row.command) < 2).count()
    };
    let over = |tier: &dyn Fn(&str) -> u8| {
        all.iter().filter(|row| row.tier == 0 && tier(&row.command) >= 2).count()
    };
    let dangerous = all.iter().filter(|row| row.tier >= 2).count();
    let harmless = all.iter().filter(|row| row.tier == 0).count();
    let patterned = median(&mut times(usual, guess));
    let classified = median(&mut times(usual, own));
    let work = format!("the same by {} patterns, and by the classifier", patterns.len());
    row(&work, &format!("{patterned:.2} and {classified:.2} µs p50"), "none");
    let work = format!("of {dangerous} commands of tier 2 and 3, reported lower than 2");
    let measured = format!("{} by patterns, {} by the classifier", lost(&guess), lost(&own));
    row(&work, &measured, "≤ 1 %");
    let work = format!("of {harmless} commands of tier 0, reported as 2 or 3");
    let measured = format!("{} by patterns, {} by the classifier", over(&guess), over(&own));
    row(&work, &measured, "≤ 4 %");
    Ok(())
}

/// Texts as long as they may be.
fn long_texts(judge: impl Fn(&str) -> Verdict) {
    let mut slowest = Vec::new();
    let (mut steepest, mut steepest_name) = (0.0, "");
    let shapes = SHAPES.iter().flat_map(|(name, head, unit, tail)| {
        PADDINGS.map(|padding| {
            let unit = unit.to_string() + &" ".repeat(padding);
            (*name, SIZES.map(|size| grown(head, &unit, tail, size)))
        })
    });
    let halves = HALVES.iter().map(|(name, head, unit, middle, repeated)| {
        let text =
            |size: usize| grown(head, unit, middle, size / 2) + &grown("", repeated, "", size / 2);
        (*name, SIZES.map(text))
    });
    for (name, texts) in shapes.chain(halves) {
        let [large, small] = texts.map(|text| {
            let mut times = Vec::new();
            for _ in 0..7 {
                let start = Instant::now();
                black_box(judge(black_box(&text)));
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            median(&mut times)
        });
        if large / small > steepest {
            (steepest, steepest_name) = (large / small, name);
        }
        slowest.push((large, name));
    }
    slowest.sort_by(|left, right| right.0.total_cmp(&left.0));
    let within = slowest.iter().filter(|(time, _)| *time <= 5.0).count();
    let worst: Vec<String> =
        slowest.iter().take(5).map(|(time, name)| format!("{time:.1} ms ({name})")).collect();
    let work = format!("classify 64 KiB, {} texts that grow", slowest.len());
    row(&work, &format!("{}; {within} within 5 ms", worst.join(", ")), "≤ 5 ms");
    let measured = format!("{steepest:.1} × ({steepest_name})");
    row("64 KiB beside 16 KiB, the steepest of these", &measured, "4 ×: linear");
}

/// Returns a text of about this size.
fn grown(head: &str, unit: &str, tail: &str, size: usize) -> String {
    let mut text = head.to_owned();
    for number in 0.. {
        let next = unit.replace('#', &format!("{number}"));
        if text.len() + next.len() + tail.len() > size {
            break;
        }
        text.push_str(&next);
    }
    text + tail
}

/// `relay classify` as a process, and `relay build`, which needs no facts.
pub(crate) fn process(setting: &Setting) -> Result<()> {
    let all = labelled();
    let lines: Vec<String> = all
        .iter()
        .map(|row| serde_json::json!({ "command": row.command }).to_string() + "\n")
        .collect();
    let mut first = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        let mut process = start_classify(setting);
        let mut to = process.stdin().ok_or("no stdin")?;
        let mut from = BufReader::new(process.stdout());
        to.write_all(lines.first().ok_or("no line")?.as_bytes())?;
        read_answers(&mut from, 1)?;
        first.push(start.elapsed().as_secs_f64() * 1e3);
    }
    row(
        "relay classify: exec to first answer",
        &format!("{:.1} ms wall", median(&mut first)),
        "≤ 20 ms",
    );

    let mut process = start_classify(setting);
    let mut to = process.stdin().ok_or("no stdin")?;
    let mut from = BufReader::new(process.stdout());
    to.write_all(lines.first().ok_or("no line")?.as_bytes())?;
    read_answers(&mut from, 1)?;
    let rounds = 100;
    let count = lines.len() * rounds;
    let text = lines.concat();
    let start = Instant::now();
    let writer =
        std::thread::spawn(move || (0..rounds).try_for_each(|_| to.write_all(text.as_bytes())));
    read_answers(&mut from, count)?;
    let seconds = start.elapsed().as_secs_f64();
    writer.join().map_err(|_| "the writer ended by a panic")??;
    let measured = format!("{:.0} commands a second", count as f64 / seconds);
    row(&format!("relay classify --json: {count} commands after that"), &measured, "≥ 100,000");

    let project = setting.folder.join("small");
    generate::project(&project, 10)?;
    let wall = |arguments: &[&str]| -> Result<f64> {
        let mut times = Vec::new();
        for _ in 0..21 {
            let mut relay = command(&setting.relay, &setting.folder);
            relay.args(arguments);
            let start = Instant::now();
            let ended = run(relay);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            if ended.code != Some(0) {
                return Err(format!("relay {arguments:?} failed: {}", ended.stderr).into());
            }
        }
        Ok(median(&mut times))
    };
    let version = wall(&["--version"])?;
    let build = wall(&["build", "small/project.kdl", "--unsigned", "-q", "-o", "small.relay"])?;
    let opened = wall(&["classify", "ls"])?;
    let measured = format!(
        "{build:.1} ms; `relay --version` {version:.1} ms, with the facts opened {opened:.1} ms"
    );
    row("build 10 prompt files, which opens no facts", &measured, "none");
    Ok(())
}

fn start_classify(setting: &Setting) -> Process {
    let mut classify = command(&setting.relay, &setting.folder);
    classify.args(["classify", "--json"]);
    Process::start(classify)
}

/// Reads that many lines.
fn read_answers(from: &mut impl BufRead, count: usize) -> Result<()> {
    let mut line = Vec::new();
    for _ in 0..count {
        line.clear();
        from.read_until(b'\n', &mut line)?;
        if !line.starts_with(b"{\"format_version\"") || !line.ends_with(b"}\n") {
            return Err(format!("relay classify said: {}", String::from_utf8_lossy(&line)).into());
        }
    }
    Ok(())
}
