//! Every way to write a command has at least its tier.

use super::corpus::{Row, open_rows};
use super::{reasons, tier, verdict};

/// Ways to run a command, with `{}` for it and `{q}` for it in single quotes.
const WRAPPINGS: &[&str] = &[
    "( {}\n)",
    "{ {}\n}",
    "if true; then {}\nfi",
    "if false; then :; else {}\nfi",
    "while {}\ndo break; done",
    "for i in 1; do {}\ndone",
    "case x in x) {}\n;; esac",
    "f() { {}\n}; f",
    "function f { {}\n}; f",
    "echo \"$({}\n)\"",
    "cat <({}\n)",
    "true && { {}\n}",
    "false || { {}\n}",
    "{ {}\n} | cat",
    "{ {}\n} &",
    "coproc { {}\n}",
    "bash -c {q}",
    "eval {q}",
    "sudo bash -c {q}",
    "env A=1 sh -ec {q}",
    "timeout 5 bash -c {q}",
    "nohup nice -n 5 bash -c {q} &",
    "ssh web1 {q}",
    "find . -name x -exec sh -c {q} \\;",
    "echo a | xargs -I% sh -c {q}",
    "trap {q} EXIT",
    "bash <<'RELAY_END'\n{}\nRELAY_END",
    "echo {q} | bash",
    "bash <<< {q}",
    "RELAY_CODE={q}; eval \"$RELAY_CODE\"",
];

/// Rows whose meaning is the same for all parameters, which a wrapping would set.
fn plain_rows() -> Vec<Row> {
    let depends = |command: &str| {
        let bytes = command.as_bytes();
        bytes
            .windows(2)
            .any(|pair| pair[0] == b'$' && matches!(pair[1], b'@' | b'*' | b'0'..=b'9' | b'#'))
            || command.contains("${")
            || command.contains("shift")
            || command.contains("RELAY_END")
    };
    open_rows().into_iter().filter(|row| !depends(&row.command)).collect()
}

#[test]
fn no_wrapping_lowers_a_tier() {
    let mut wrong = String::new();
    for row in plain_rows() {
        let before = tier(&row.command);
        let quoted = format!("'{}'", row.command.replace('\'', "'\\''"));
        for wrapping in WRAPPINGS {
            // `find` puts what it found in the place of each `{}`.
            if wrapping.starts_with("find") && row.command.contains("{}") {
                continue;
            }
            let pieces = wrapping.split("{q}").map(|piece| piece.replace("{}", &row.command));
            let wrapped = pieces.collect::<Vec<_>>().join(&quoted);
            let after = tier(&wrapped);
            if after < before {
                wrong.push_str(&format!("{before} -> {after}: {wrapped}\n{}", reasons(&wrapped)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn quoting_every_letter_lowers_no_tier() {
    let mut count = 0;
    for row in open_rows() {
        let is_plain = row
            .command
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" ./_:@%+,-".contains(&byte));
        let first = row.command.split(' ').next().unwrap_or("");
        let is_keyword =
            matches!(first, "if" | "for" | "while" | "time" | "coproc" | "function" | "case");
        if !is_plain || is_keyword {
            continue;
        }
        let quoted: String = row
            .command
            .chars()
            .map(|letter| if letter == ' ' { " ".to_owned() } else { format!("'{letter}'") })
            .collect();
        assert!(tier(&quoted) >= tier(&row.command), "{}\n{}", row.command, reasons(&quoted));
        count += 1;
    }
    assert!(count > 400, "{count}");
}

#[test]
fn no_padding_lowers_a_tier() {
    let no_ops = "true; ".repeat(60);
    let comments = "# nothing here\n".repeat(700);
    let words = format!(": {}\n", "padding ".repeat(1_300));
    for row in open_rows() {
        let before = tier(&row.command);
        for padding in [&no_ops, &comments, &words] {
            let padded = format!("{padding}{}", row.command);
            assert!(tier(&padded) >= before, "{}\n{}", row.command, reasons(&padded));
        }
    }
}

#[test]
fn an_unknown_name_is_never_below_stateful() {
    for row in open_rows() {
        let Some((first, rest)) = row.command.split_once(' ') else { continue };
        let is_name = first.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let is_keyword = matches!(
            first,
            "if" | "for" | "while" | "time" | "coproc" | "function" | "case" | "until" | "select"
        );
        if !is_name || is_keyword || tier(&row.command) < 2 {
            continue;
        }
        let renamed = format!("zz-{first} {rest}");
        assert!(tier(&renamed) >= 2, "{renamed}\n{}", reasons(&renamed));
    }
}

#[test]
fn every_raised_tier_names_its_words_and_its_rule() {
    for row in open_rows() {
        let verdict = verdict(&row.command);
        assert_eq!(verdict.tier.number() > 0, !verdict.hits.is_empty(), "{}", row.command);
        for hit in &verdict.hits {
            assert!(hit.tier <= verdict.tier, "{}", row.command);
            assert!(!hit.rule(&super::FACTS).is_empty(), "{}", row.command);
            assert!(!hit.message(&super::FACTS).is_empty(), "{}", row.command);
            assert!(row.command.get(hit.span.start as usize..hit.span.end as usize).is_some());
        }
    }
}
