//! `words`: a command as it is written, certain only in a plain list of commands.

use super::{Judged, Who};

const ANYONE: Who<'_> = ("", "");

/// A policy that asks about every command but those that are listed.
const LISTED: &str = r#"policy open {
    approve unlisted { tool "*"; except { tool shell_exec; words "git status" "git log *" "make" { except "git log *--output*" } } }
}"#;

#[test]
fn a_list_of_listed_commands_runs_as_it_is_written() {
    let judged = Judged::of(LISTED);
    for (command, outcome) in [
        ("git status", "allow"),
        ("git status && make", "allow"),
        ("git log --oneline 'a b' | git log x; make &", "allow"),
        ("make\nmake\n", "allow"),
        // Another command, or other words.
        ("git statusx", "approve"),
        ("git status x", "approve"),
        ("git  status", "approve"),
        ("git log", "approve"),
        ("git log --output=x", "approve"),
        ("git -C x status", "approve"),
        ("/usr/bin/git status", "approve"),
        ("git \"status\"", "approve"),
        ("git status; id", "approve"),
        // A text that is more than its commands.
        ("git status > x", "approve"),
        ("X=1 git status", "approve"),
        ("X=1", "approve"),
        ("> x", "approve"),
        ("git log $(id)", "approve"),
        ("git log $X", "approve"),
        ("sudo git status", "approve"),
        ("sh -c 'git status'", "approve"),
        ("for i in 1 2\ndo\ngit status\ndone", "approve"),
        ("(git status)", "approve"),
        ("git status # x", "approve"),
        ("cat <<E\ngit status\nE", "approve"),
        ("", "approve"),
    ] {
        assert_eq!(judged.command(ANYONE, command).outcome.word(), outcome, "{command:?}");
    }
    let long = format!("git log {}", "x".repeat(10_000));
    assert_eq!(judged.command(ANYONE, &long).outcome.word(), "approve");
}

#[test]
fn a_deny_means_the_words_and_every_text_that_may_be_spelled_so() {
    let judged = Judged::of(r#"policy open { deny a { words "git push *" } }"#);
    for (command, outcome) in [
        ("git push origin", "deny"),
        ("id; git push origin", "deny"),
        ("git push \"$X\"", "deny"),
        ("git $X", "deny"),
        ("$X push origin", "deny"),
        ("git pull", "allow"),
        ("echo $X", "allow"),
    ] {
        assert_eq!(judged.command(ANYONE, command).outcome.word(), outcome, "{command:?}");
    }
}
