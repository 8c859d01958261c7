//! Texts as long as they may be, in shapes that grow.

use std::hint::black_box;
use std::time::Instant;

use relay_policy::classify::Verdict;

use crate::Result;
use crate::figures::number::median;
use crate::figures::{Figure, Report, of};

pub(crate) const FIGURE: Figure = Figure {
    id: "classify/long",
    work: "classify 64 KiB: 139 texts that grow",
    parts: &[
        of("the slowest", "ms").at_most(5.0),
        of("over 5 ms", "texts").at_most(0.0),
        of("64 KiB / 16 KiB, the steepest", "×"),
    ],
    note: "a text that runs more than some 14,000 words and commands is given up; linear is 4 ×.",
};

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

/// Measures all of them.
pub(crate) fn long_texts(judge: impl Fn(&str) -> Verdict, report: &mut Report) -> Result<()> {
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
    let over = slowest.iter().filter(|(time, _)| *time > 5.0).count();
    let most = slowest.first().map_or(0.0, |(time, _)| *time);
    let worst: Vec<String> =
        slowest.iter().take(5).map(|(time, name)| format!("{time:.1} ms ({name})")).collect();
    report.put_all(&FIGURE, &[most, over as f64, steepest])?;
    report.detail(&FIGURE, format!("{}; steepest {steepest_name}", worst.join(", ")));
    Ok(())
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
