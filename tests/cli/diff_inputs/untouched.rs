//! A comparison changes nothing, and runs nothing that a repository's settings name.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{DIFFERS, Repo, SAME, says};

/// The files below a folder with their bytes and times of change, those of git too.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, i64, i64)> {
    let mut state = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let metadata = path.symlink_metadata().expect("a file");
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            let bytes =
                if metadata.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
            state.insert(path, (bytes, metadata.mtime(), metadata.mtime_nsec()));
        }
    }
    state
}

#[test]
fn a_hostile_repository_starts_nothing() {
    let text = says("One.");
    let repo = Repo::of(&[
        ("project.kdl", &text),
        (".gitattributes", "* filter=bad diff=bad merge=bad\n*.kdl filter=bad diff=bad\n"),
    ]);
    // An object that only the remote has would be fetched.
    let missing = "1234567890123456789012345678901234567890";
    repo.git(&format!("update-index --add --cacheinfo 100644,{missing},missing.md"));
    repo.write("hooks/run", "#!/bin/sh\ntouch \"$CREATED\"\nexit 1\n");
    let run = repo.path("hooks/run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).expect("ours");
    let (run, hooks) = (run.display().to_string(), repo.path("hooks").display().to_string());
    for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"] {
        fs::copy(repo.path("hooks/run"), repo.path("hooks").join(hook)).expect("a copy");
    }
    for (key, value) in [
        ("core.fsmonitor", &run),
        ("core.hooksPath", &hooks),
        ("core.pager", &run),
        ("pager.ls-tree", &run),
        ("pager.rev-parse", &run),
        ("core.editor", &run),
        ("core.askPass", &run),
        ("core.sshCommand", &run),
        ("core.alternateRefsCommand", &run),
        ("filter.bad.smudge", &run),
        ("filter.bad.clean", &run),
        ("filter.bad.process", &run),
        ("diff.bad.textconv", &run),
        ("diff.bad.command", &run),
        ("diff.external", &run),
        ("credential.helper", &run),
        ("alias.ls-tree", &format!("!{run}")),
        ("remote.origin.url", &format!("ext::{run}")),
        ("remote.origin.promisor", &"true".to_owned()),
        ("extensions.partialClone", &"origin".to_owned()),
        ("core.repositoryFormatVersion", &"1".to_owned()),
        ("protocol.ext.allow", &"always".to_owned()),
    ] {
        let mut command = repo.command("git", "repo");
        command.args(["config", key, value]);
        repo.sandbox.run(command).ends(0);
    }
    repo.write("project.kdl", &says("Two."));
    let created = repo.sandbox.path("created");
    let before = state(&repo.path(""));
    let relay = |line: &str| {
        let mut command = repo.command(crate::binaries::relay(), "repo");
        command.args(line.split_whitespace()).env("CREATED", &created);
        repo.sandbox.run(command)
    };
    relay("diff .").ends(0).prints(DIFFERS);
    relay("diff main:project.kdl :project.kdl").ends(0).prints(SAME);
    relay("diff HEAD:project.kdl project.kdl").ends(0).prints(DIFFERS);
    relay("diff nope:project.kdl .").ends(2);
    relay(&format!("diff {missing}:project.kdl .")).ends(2);
    relay("diff /dev/null :missing.md").ends(2).says("git does not hold its contents here");
    assert!(!created.exists(), "a program of the repository's settings was run");
    assert!(state(&repo.path("")) == before, "the repository was changed");
    // The trap works: git itself runs it.
    let mut command = repo.command("git", "repo");
    command.args(["status"]).env("CREATED", &created);
    let _ = crate::cli::run(command);
    assert!(created.exists());
}

#[test]
fn index_and_work_tree_stay_as_they_are() {
    let repo = Repo::of(&[("project.kdl", &says("One.")), ("a/b.md", "B.\n")]);
    // Its times differ from those of the index, so that git would like to refresh it.
    repo.write("a/b.md", "B.\n");
    repo.write("project.kdl", &says("Two."));
    repo.write("untracked.md", "New.\n");
    let before = state(&repo.path(""));
    for line in [
        "diff .",
        "diff main:project.kdl project.kdl",
        "diff :project.kdl project.kdl",
        "diff :project.kdl HEAD:project.kdl",
        "diff nope:x .",
        "diff :nope .",
    ] {
        repo.relay(line);
        assert!(state(&repo.path("")) == before, "relay {line} changed the repository");
    }
}
