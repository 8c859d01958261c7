//! Repositories of every form.

use std::fs;

use super::{DIFFERS, Repo, SAME, says};

#[test]
fn a_path_begins_at_the_root_or_here() {
    let repo = Repo::of(&[("project.kdl", &says("Root.")), ("a/b/project.kdl", &says("Below."))]);
    for (path, expected) in [
        ("main:project.kdl", DIFFERS),
        ("main:", DIFFERS),
        ("main:./", SAME),
        ("main:.", SAME),
        ("main:./project.kdl", SAME),
        ("main:a/b", SAME),
        ("main:a/b/", SAME),
        ("main:a//b/./project.kdl", SAME),
        ("main:../b", SAME),
        ("main:../../project.kdl", DIFFERS),
        (":./project.kdl", SAME),
        (":0:a/b/project.kdl", SAME),
        (":project.kdl", DIFFERS),
        ("HEAD^{}:a/b", SAME),
        ("HEAD@{0}:a/b", SAME),
    ] {
        let run = repo.relay_in("repo/a/b", &format!("diff {path} project.kdl")).ends(0);
        assert!(run.stdout.contains(expected), "{path}: {}", run.stdout);
    }
    for (path, words) in [
        ("main:../../../project.kdl", "the path leads out of the repository"),
        ("main:/project.kdl", "the path is absolute"),
        (":/change", "`:/` begins a search for a commit"),
        (":1:project.kdl", "only the files of the index without conflict"),
    ] {
        repo.relay_in("repo/a/b", &format!("diff {path} project.kdl")).ends(2).says(words);
    }
}

#[test]
fn the_index() {
    let repo = Repo::of(&[("project.kdl", &says("Committed."))]);
    repo.write("project.kdl", &says("Staged."));
    repo.git("add project.kdl");
    repo.write("project.kdl", &says("Changed."));
    repo.write("untracked/project.kdl", &says("Untracked."));
    let differs = |line: &str| {
        let run = repo.relay(&format!("{line} --exit-code"));
        assert!(run.code < 2, "{line}: {}", run.stderr);
        run.code == 1
    };
    assert!(differs("diff HEAD:project.kdl :project.kdl"));
    assert!(differs("diff :project.kdl project.kdl"));
    assert!(!differs("diff :project.kdl :./"));
    repo.relay("diff :untracked untracked").ends(0).prints("the index has no `untracked`");
    repo.relay("diff untracked :untracked").ends(2).says("the index has no `untracked`");
    // A conflict leaves nothing to compare.
    repo.git("commit -q -a -m theirs");
    repo.git("checkout -q -b other HEAD~1");
    repo.write("project.kdl", &says("Ours."));
    repo.commit();
    let mut merge = repo.command("git", "repo");
    merge.args(["merge", "-q", "main"]);
    repo.sandbox.run(merge).ends(1);
    repo.relay("diff HEAD:project.kdl :project.kdl").ends(2).says("it has conflicts in the index");
    repo.relay("diff HEAD:project.kdl MERGE_HEAD:project.kdl").ends(0).prints(DIFFERS);
}

#[test]
fn a_bare_repository() {
    let repo = Repo::of(&[("sub/project.kdl", &says("One."))]);
    repo.write("sub/project.kdl", &says("Two."));
    repo.commit();
    repo.git_in(".", "clone -q --bare repo bare.git");
    repo.relay_in("bare.git", "diff HEAD~1:sub main:sub").ends(0).prints(DIFFERS);
    repo.relay_in("bare.git", "diff main:sub HEAD:sub/project.kdl").ends(0).prints(SAME);
    repo.relay_in("bare.git", "diff main:./sub HEAD:sub").ends(2).says("needs a work tree");
    repo.relay_in("bare.git", "diff :sub HEAD:sub").ends(2).says("there is no index outside");
    // So is the folder of a repository's own files.
    repo.relay_in("repo/.git", "diff HEAD~1:sub main:sub").ends(0).prints(DIFFERS);
}

#[test]
fn a_linked_work_tree() {
    let repo = Repo::of(&[("project.kdl", &says("One."))]);
    repo.git("worktree add -q -b linked ../linked");
    repo.sandbox.write("linked/project.kdl", &says("Two."));
    repo.relay_in("linked", "diff . --exit-code").ends(1);
    repo.relay_in("linked", "diff main:project.kdl :project.kdl --exit-code").ends(0);
    repo.git_in("linked", "commit -q -a -m two");
    repo.relay_in("linked", "diff . --exit-code").ends(0);
    repo.relay("diff linked:project.kdl . --exit-code").ends(1);
    // Each side may be of another work tree.
    repo.relay_in(".", "diff repo linked --exit-code").ends(1);
    repo.relay_in(".", "diff linked --exit-code").ends(0);
}

#[test]
fn a_shallow_clone() {
    let repo = Repo::of(&[("project.kdl", &says("One."))]);
    let first = repo.git("rev-parse HEAD").trim().to_owned();
    repo.write("project.kdl", &says("Two."));
    repo.commit();
    let source = format!("file://{}", repo.path("").display());
    repo.git_in(".", &format!("clone -q --depth 1 {source} shallow"));
    repo.relay_in("shallow", "diff project.kdl").ends(0).prints(SAME);
    for revision in ["HEAD~1", first.as_str()] {
        repo.relay_in("shallow", &format!("diff {revision}:project.kdl project.kdl"))
            .ends(2)
            .says(&format!("unknown revision `{revision}`"))
            .says("this clone is shallow: `git fetch --unshallow`");
    }
    repo.relay_in("shallow", "diff release:project.kdl .")
        .ends(2)
        .says("`git fetch --depth=50 origin release`");
    repo.git_in("shallow", "fetch -q --unshallow");
    repo.relay_in("shallow", "diff HEAD~1:project.kdl .").ends(0).prints(DIFFERS);
    repo.relay_in("shallow", "diff origin/nope:project.kdl .")
        .ends(2)
        .says("`git fetch origin nope` fetches it");
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let text = "project small version=\"1.0.0\" epoch=1\nprompts { prompt a file=\"a.md\" }\n";
    let repo = Repo::of(&[("project.kdl", text), ("a.md", "One.\n")]);
    repo.write("a.md", "Two.\n");
    repo.commit();
    repo.git("config uploadpack.allowFilter true");
    let source = format!("file://{}", repo.path("").display());
    repo.git_in(".", &format!("clone -q --filter=blob:none {source} partial"));
    let before = repo.git_in("partial", "count-objects -v");
    repo.relay_in("partial", "diff HEAD:project.kdl .").ends(0).prints(SAME);
    repo.relay_in("partial", "diff HEAD~1:project.kdl .")
        .ends(2)
        .says("[HEAD~1:project.kdl:2:")
        .says("git does not hold its contents here");
    assert_eq!(repo.git_in("partial", "count-objects -v"), before);
}

#[test]
fn repositories_with_the_longer_hashes() {
    let repo = Repo { sandbox: crate::cli::Sandbox::new() };
    repo.sandbox.write("repo/project.kdl", &says("One."));
    repo.git("init -q -b main --object-format=sha256 .");
    let commit = repo.commit();
    assert_eq!(commit.len(), 64);
    repo.relay("diff .").ends(0).prints(SAME).prints(&format!("HEAD ({})", &commit[..7]));
}

#[test]
fn a_submodule_and_a_pointer_are_reported_where_they_are_used() {
    let text = "project small version=\"1.0.0\" epoch=1\nprompts { prompt a file=\"a.md\" }\n";
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    let repo = Repo::of(&[("project.kdl", text), ("a.md", "A.\n"), ("large.bin", pointer)]);
    let commit = repo.git("rev-parse HEAD").trim().to_owned();
    repo.git(&format!("update-index --add --cacheinfo 160000,{commit},sub"));
    repo.git("commit -q -m submodule");
    // Nothing uses them.
    repo.relay("diff .").ends(0).prints(SAME);
    for (node, words) in [
        ("prompts { prompt b file=\"large.bin\" }", "git has only a pointer to it"),
        ("prompts { prompt b file=\"sub/b.md\" }", "`sub` is a git submodule"),
        ("prompts { prompt b file=\"sub\" }", "`sub` is a git submodule"),
        ("prompts { folder \"sub\" }", "`sub` is a git submodule"),
        ("include \"sub/*.kdl\"", "`sub` is a git submodule"),
    ] {
        repo.write("project.kdl", &format!("{text}{node}\n"));
        repo.git("add project.kdl");
        repo.relay("diff :project.kdl /dev/null")
            .ends(2)
            .says(words)
            .says("compare the folders")
            .says("[:project.kdl:3:");
    }
    repo.relay("diff main:sub/project.kdl .").ends(2).says("`sub` is a git submodule");
    repo.relay("diff main:large.bin .").ends(2).says("git has only a pointer to it");
}

#[test]
fn links_lead_to_files_of_the_repository_only() {
    let text = "project small version=\"1.0.0\" epoch=1\nprompts { prompt a file=\"a.md\" }\n";
    let repo = Repo::of(&[("p/project.kdl", text), ("outside.md", "Out.\n"), ("p/b.md", "B.\n")]);
    fs::write(repo.sandbox.path("secret.md"), "Secret.\n").expect("a file");
    let inside = repo.path("p/b.md").display().to_string();
    for (target, words) in [
        ("b.md", None),
        ("../p/./b.md", None),
        ("../outside.md", Some("it is a link out of the project's folder")),
        ("../../secret.md", Some("it is a link out of the project's folder")),
        ("/etc/passwd", Some("it is a link out of the project's folder")),
        // git is unaware of the place of the work tree.
        (inside.as_str(), Some("it is a link out of the project's folder")),
        ("a.md", Some("too many levels of symbolic links")),
        ("b.md/", Some("file not found")),
        ("b.md/../b.md", Some("file not found")),
        ("nowhere.md", Some("file not found")),
        (".", Some("it is not a file")),
    ] {
        let link = repo.path("p/a.md");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).expect("a link");
        repo.commit();
        let run = repo.relay("diff /dev/null HEAD:p");
        match words {
            None => drop(run.ends(0)),
            Some(words) => drop(run.ends(2).says(words)),
        }
        // Every fault is that of the disk, but for the path that only the disk knows.
        let checked = repo.relay("check p");
        match words {
            Some(words) if target != inside => drop(checked.ends(1).prints(words)),
            _ => drop(checked.ends(0)),
        }
    }
}
