//! Inputs of failed comparisons: each reason is printed with a remedy, and ends with exit code 2.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Repo, SAME, says};
use crate::cli::Run;

#[test]
fn what_does_not_exist() {
    let repo = Repo::of(&[("teams/alpha/project.kdl", &says("One.")), ("empty/.keep", "")]);
    for (line, words, help) in [
        ("diff nope:teams/alpha teams/alpha", "unknown revision `nope`", "`git fetch origin nope`"),
        ("diff origin/x:teams/alpha teams/alpha", "`origin/x`", "`git fetch origin x`"),
        ("diff v1^2:teams/alpha teams/alpha", "unknown revision `v1^2`", "`git fetch origin v1`"),
        ("diff -- -x:teams/alpha teams/alpha", "unknown revision `-x`", "`git fetch origin`"),
        ("diff -- --help:x teams/alpha", "unknown revision `--help`", "`git fetch origin`"),
        ("diff main^{tree}:x teams/alpha", "unknown revision", "git fetch"),
        ("diff /dev/null main:teams/alpah", "has no `teams/alpah`", "`main:teams/alpha`?"),
        ("diff /dev/null main:zzz", "has no `zzz`", "it has `main:teams/alpha/project.kdl`"),
        (
            "diff /dev/null main:empty",
            "has no `empty/project.kdl`",
            "`main:teams/alpha/project.kdl`",
        ),
        (
            "diff main teams/alpha",
            "cannot read `main`: the file or folder does not exist",
            "`main:project.kdl`",
        ),
        ("diff missing.kdl teams/alpha", "cannot read `missing.kdl`", "give the project's"),
        ("diff teams/alpha missing.kdl", "cannot read `missing.kdl`", "give the project's"),
        ("diff missing.relay teams/alpha", "cannot read `missing.relay`", "help"),
        ("diff missing.kdl", "cannot read `missing.kdl`", "give the project's"),
        ("diff empty teams/alpha", "cannot read `empty/project.kdl`", "give the project's"),
    ] {
        let run = repo.relay(line).ends(2).says(words).says(help);
        assert_eq!(run.stdout, "", "{line}");
    }
    // What A's revision lacks is empty, and the output says so.
    let run = repo.relay("diff main:teams/alpah teams/alpha --exit-code").ends(1);
    run.prints("has no `teams/alpah`: all of the other side is new")
        .prints("did you mean `main:teams/alpha`?");
    repo.relay("diff").ends(2).says("write `relay diff project.kdl`");
    repo.relay("diff a b c").ends(2).says("give A and B");
    repo.relay("diff --nope:x teams/alpha").ends(2).says("--nope");
}

#[test]
fn no_repository() {
    let repo = Repo { sandbox: crate::cli::Sandbox::of(&[("project.kdl", &says("One."))]) };
    for line in ["diff project.kdl", "diff main:project.kdl project.kdl"] {
        repo.relay_in(".", line).ends(2).says("not a git repository").says("help: run relay in");
    }
    repo.relay_in(".", "diff project.kdl .").ends(0).prints(SAME);
}

#[test]
fn no_commit() {
    let repo = Repo::empty();
    repo.write("project.kdl", &says("One."));
    repo.relay("diff .").ends(2).says("the repository has no commit yet");
    repo.relay("diff :project.kdl .").ends(0).prints("the index has no `project.kdl`");
}

#[test]
fn no_git() {
    let repo = Repo::of(&[("project.kdl", &says("One."))]);
    let run = |path: &str, line: &str| -> Run {
        let mut command = repo.command(crate::binaries::relay(), "repo");
        command.args(line.split_whitespace()).env("PATH", path);
        repo.sandbox.run(command)
    };
    for line in ["diff .", "diff main:project.kdl .", "diff :project.kdl ."] {
        run("", line).ends(2).says("cannot run `git`").says("help: install git");
    }
    run("", "diff project.kdl . --exit-code").ends(0).silent();
}

/// Runs `relay` with a program in place of git.
fn with_git(script: &str) -> Run {
    let repo = Repo::of(&[("project.kdl", &says("One."))]);
    let real = repo.sandbox.command("sh").args(["-c", "command -v git"]).output().expect("sh runs");
    let real = String::from_utf8(real.stdout).expect("UTF-8");
    let script = format!("#!/bin/sh\nreal={}\n{script}", real.trim());
    let program = repo.sandbox.path("bin/git");
    repo.sandbox.write("bin/git", &script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let mut command = repo.command(crate::binaries::relay(), "repo");
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = repo.sandbox.path("bin").display().to_string();
    command.args(["diff", "."]).env("PATH", format!("{bin}:{path}"));
    repo.sandbox.run(command)
}

#[test]
fn a_git_that_dies_or_lies() {
    with_git("exec $real \"$@\"").ends(0).prints(SAME);
    let on = |verb: &str, action: &str| {
        with_git(&format!("case \"$*\" in *{verb}*) {action};; *) exec $real \"$@\";; esac"))
    };
    on("rev-parse", "echo 'fatal: out of memory' >&2; exit 128").ends(2).says("out of memory");
    on("--verify", "echo nonsense").ends(2).says("the repository has no commit yet");
    on("ls-tree", "echo 'fatal: bad tree' >&2; exit 128").ends(2).says("bad tree");
    on("ls-tree", "printf 'nonsense'").ends(2).says("its answer is not complete");
    on("ls-tree", "printf 'nonsense\\0'").ends(2).says("unknown form");
    on("ls-tree", "printf '100644 blob 00\\t../x\\0'")
        .ends(2)
        .says("cannot be checked out: `../x`");
    on("ls-tree", "printf '100644 blob 00\\tx\\000100644 blob 00\\tx/y\\000'")
        .ends(2)
        .says("`x/y`");
    on("cat-file", "echo 'fatal: bad object' >&2; exit 128").ends(2).says("bad object");
    on("cat-file", "exit 0").ends(2).says("cannot read `HEAD:project.kdl`: git failed");
    on("cat-file", "read h; echo $h blob 99; echo short").ends(2).says("git failed");
    on("cat-file", "read h; echo $h blob").ends(2).says("git answered something else");
    on("cat-file", "read h; echo $h missing; cat").ends(2).says("does not hold its contents");
    on("cat-file", "read h; echo $h tree 0; echo; cat").ends(2).says("it is not a file");
    on("cat-file", "read h; echo $h blob 99999999999; cat").ends(2).says("over the limit");
    on("cat-file", "yes").ends(2).says("git answered something else");
    // Its child is silent for longer than git may be, and holds both outputs open.
    on("cat-file", "echo nonsense; sleep 1000").ends(2).says("git answered something else");
    on("cat-file", "echo fatal: lost >&2; echo nonsense; sleep 1000").ends(2).says("failed: lost");
}

#[test]
fn a_git_that_never_answers() {
    // Both at once: each takes as long as git may be silent.
    let stuck = |verb: &'static str| {
        std::thread::spawn(move || {
            let script =
                format!("case \"$*\" in *{verb}*) exec sleep 1000;; *) exec $real \"$@\";; esac");
            with_git(&script).ends(2).says("it wrote nothing for 20 seconds");
        })
    };
    for run in ["ls-tree", "cat-file"].map(stuck) {
        run.join().expect("git is not waited for");
    }
}
