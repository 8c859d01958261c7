//! A few thousand random inputs of the fuzz targets in every run.

use super::entry::{classifier, fact_table, seeds, shell};
use crate::random::Random;

/// Inputs of each target.
const INPUTS: usize = 3_000;

fn edited(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(5) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => {
                let piece = bytes[at..].to_vec().repeat(1 + random.below(20));
                bytes.splice(at..at, piece.into_iter().take(4_000));
            }
            _ => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                bytes.splice(at..at, other[from..].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn no_text_breaks_parser_or_classifier() {
    let seeds = seeds();
    let mut random = Random(0x5eed_0012);
    for _ in 0..INPUTS {
        let bytes = edited(&mut random, &seeds);
        shell(&bytes);
        classifier(&bytes);
    }
}

#[test]
fn no_altered_table_breaks_the_classifier() {
    let mut random = Random(0x5eed_0013);
    for _ in 0..60 {
        let count = 5 * (1 + random.below(4));
        let bytes: Vec<u8> = (0..count).map(|_| random.below(256) as u8).collect();
        fact_table(&bytes);
    }
}

/// Texts that are as long as they may be, and repeat what costs most.
#[test]
fn long_texts_come_to_an_end() {
    let pieces = [
        "(",
        "$(",
        "$((",
        "${x:-",
        "\"$(",
        "`",
        "{a,b}",
        "{a,",
        "a=1;",
        "$x ",
        "x=$x$x; ",
        "f(){ f;};f;",
        "<<E ",
        "<<E\n",
        "eval ",
        "bash -c '",
        "[[ ",
        "case x in ",
        "if ",
        "while ",
        "rm x; ",
        "ls | ",
        "a[",
        "*",
        "\\",
        "'",
        "\n",
        "! ",
        "sudo ",
        "xargs ",
        "env ",
        "timeout 1 ",
        "git ",
        "-",
        "x+=a; ",
        "echo $x; ",
        "for i in a b; do ",
        "{1..16}",
        "alias a=b; ",
        "$'\\x41' ",
        "~",
        "=",
        "# ",
        "&& ",
        "coproc ",
        "function f ",
        "let ",
        "((",
        "awk '",
        "sed '",
    ];
    for piece in pieces {
        let text = piece.repeat(64 * 1024 / piece.len());
        classifier(text.as_bytes());
    }
}
