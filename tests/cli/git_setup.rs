//! `relay git-setup`: what it writes, and git with the settings that it prints.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::diff_inputs::Repo;
use crate::binaries;
use crate::cli::{Run, Sandbox, project};

const LINE: &str = "*.relay diff=relay\n";

/// Runs a line of a shell in the repository, where `relay` is in the path.
fn shell(repo: &Repo, line: &str) -> Run {
    let relay = binaries::relay();
    let folder = relay.parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = repo.command("sh", "repo");
    command.args(["-c", line]).env("PATH", format!("{folder}:{path}"));
    repo.sandbox.run(command)
}

#[test]
fn git_shows_bundles_as_text_after_the_printed_commands() {
    let repo = Repo::of(&[("team/project.kdl", &project(""))]);
    let setup = repo.relay_in("repo/team", "git-setup").ends(0);
    setup.says("wrote `*.relay diff=relay`");
    assert_eq!(repo.git("status --porcelain"), "?? .gitattributes\n", "at the root");
    assert_eq!(repo.git("config --local --list").matches("diff.").count(), 0, "printed only");
    shell(&repo, "relay git-setup | sh").ends(0).says("already has");
    let settings = repo.git("config --local --get-regexp ^diff");
    assert_eq!(
        settings,
        "diff.relay.textconv relay inspect --canonical --keep-going\n\
         diff.relay.xfuncname ^== (.*)\n"
    );
    let build = "build team --unsigned -q -o team/small.relay";
    repo.relay(build).ends(0);
    repo.commit();
    repo.sandbox.edit("repo/team/project.kdl", "Hello.", "Good day.");
    repo.relay(build).ends(0);
    let hunk = "prompt hello\n in briefings: yes\n summary: Greets\n message: user\n\
                -    Hello.\n+    Good day.\n";
    let shows = |line: &str| shell(&repo, line).ends(0).silent().prints(hunk);
    shows("git diff");
    repo.commit();
    for line in
        ["git diff HEAD~1", "git log -p -1", "git show", "git show HEAD -- team/small.relay"]
    {
        shows(line);
    }
    shell(&repo, "git log -p").ends(0).prints("+== prompt hello");
    // One damaged bundle leaves the rest of the history visible.
    repo.write("team/small.relay", "relay bundle\r\n");
    repo.commit();
    let log = shell(&repo, "git log -p").ends(0).silent().prints("+cannot be read: ");
    log.prints(hunk);
}

#[test]
fn the_file_is_extended_once() {
    for (before, after) in [
        ("", LINE.to_owned()),
        ("*.md text\n", format!("*.md text\n{LINE}")),
        ("*.md text", format!("*.md text\n{LINE}")),
        ("*.md text\r\n*.kdl text\r\n", "*.md text\r\n*.kdl text\r\n*.relay diff=relay\r\n".into()),
        ("*.relay binary\n", format!("*.relay binary\n{LINE}")),
        (
            "*.relay diff=relay\n*.relay -diff\n",
            format!("*.relay diff=relay\n*.relay -diff\n{LINE}"),
        ),
        ("# *.relay diff=relay\n", format!("# *.relay diff=relay\n{LINE}")),
        ("x.relay diff=relay\n", format!("x.relay diff=relay\n{LINE}")),
        ("*.relay diff=relay", "*.relay diff=relay".into()),
        (
            "*.relay binary\n\t*.relay   -text\tdiff=relay\r\n",
            "*.relay binary\n\t*.relay   -text\tdiff=relay\r\n".into(),
        ),
    ] {
        let repo = Repo::empty();
        if !before.is_empty() {
            repo.write(".gitattributes", before);
        }
        for _ in 0..2 {
            repo.relay("git-setup").ends(0);
            assert_eq!(repo.sandbox.read("repo/.gitattributes"), after, "{before:?}");
            // Git reads it in the same way.
            let read = repo.git("check-attr diff -- sub/a.relay");
            assert_eq!(read, "sub/a.relay: diff: relay\n", "{before:?}");
        }
    }
}

#[test]
fn other_bytes_and_permissions_stay() {
    let repo = Repo::empty();
    let path = repo.path(".gitattributes");
    fs::write(&path, b"caf\xe9.txt text\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
    repo.relay("git-setup").ends(0);
    assert_eq!(fs::read(&path).expect("a file"), b"caf\xe9.txt text\n*.relay diff=relay\n");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_not_a_file_is_refused() {
    let repo = Repo::empty();
    repo.write("elsewhere", "mine\n");
    symlink("elsewhere", repo.path(".gitattributes")).expect("a link");
    let refused = |words: &str| {
        let run = repo.relay("git-setup").ends(2).says(words).says("help: ");
        assert_eq!(run.stdout, "");
    };
    refused("it is a link");
    assert_eq!(repo.sandbox.read("repo/elsewhere"), "mine\n");
    fs::remove_file(repo.path(".gitattributes")).expect("ours");
    fs::create_dir(repo.path(".gitattributes")).expect("a folder");
    refused("it is not a file");
}

#[test]
fn it_needs_a_work_tree() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(binaries::relay());
    command.arg("git-setup").env("GIT_CEILING_DIRECTORIES", sandbox.path(".."));
    sandbox.run(command).ends(2).says("not a git repository").says("help: run relay in a git");
    assert_eq!(sandbox.files(), [""; 0]);
    let repo = Repo::of(&[("project.kdl", &project(""))]);
    repo.git_in(".", "clone -q --bare repo bare.git");
    repo.relay_in("bare.git", "git-setup").ends(2).says("work tree");
    // A linked work tree has its own file.
    repo.git("worktree add -q -b linked ../linked");
    repo.relay_in("linked", "git-setup").ends(0);
    assert_eq!(repo.sandbox.read("linked/.gitattributes"), LINE);
    assert!(!repo.path(".gitattributes").exists());
}
