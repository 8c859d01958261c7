//! `relay diff`: what its two sides may be, with git itself in a temporary folder.

mod bundles;
mod errors;
mod git;
mod same_files;
mod untouched;

use std::path::PathBuf;
use std::process::Command;

use crate::binaries;
use crate::cli::{Run, Sandbox, project};

const SAME: &str = "no difference in meaning";
const DIFFERS: &str = " loosens   ";

/// A repository in the folder `repo`, with its own author and its own settings alone.
pub(super) struct Repo {
    pub(super) sandbox: Sandbox,
}

impl Repo {
    /// An empty repository.
    pub(super) fn empty() -> Self {
        let repo = Self { sandbox: Sandbox::new() };
        repo.sandbox.write("repo/.keep", "");
        repo.git("init -q -b main .");
        repo
    }

    /// A repository whose one commit has these files.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let repo = Self::empty();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit();
        repo
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.sandbox.path("repo").join(file)
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        self.sandbox.write(&format!("repo/{file}"), text);
    }

    /// Commits all files, and returns the commit's hash.
    pub(super) fn commit(&self) -> String {
        self.git("add -A -f .");
        self.git("commit -q --allow-empty -m change");
        self.git("rev-parse HEAD").trim().to_owned()
    }

    /// Runs git in the repository, and returns what it prints.
    #[track_caller]
    pub(super) fn git(&self, line: &str) -> String {
        self.git_in("repo", line)
    }

    #[track_caller]
    pub(super) fn git_in(&self, folder: &str, line: &str) -> String {
        let mut command = self.command("git", folder);
        command.args(line.split_whitespace());
        self.sandbox.run(command).ends(0).stdout
    }

    /// Runs `relay` in the repository.
    pub(super) fn relay(&self, line: &str) -> Run {
        self.relay_in("repo", line)
    }

    pub(super) fn relay_in(&self, folder: &str, line: &str) -> Run {
        let mut command = self.command(binaries::relay(), folder);
        command.args(line.split_whitespace());
        self.sandbox.run(command)
    }

    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>, folder: &str) -> Command {
        let mut command = self.sandbox.command(program);
        command.current_dir(self.sandbox.path(folder)).envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@example.com"),
            ("GIT_COMMITTER_NAME", "C"),
            ("GIT_COMMITTER_EMAIL", "c@example.com"),
        ]);
        command
    }
}

/// A project that says `word`.
fn says(word: &str) -> String {
    project("").replace("Hello.", word)
}

#[test]
fn one_side_is_compared_with_the_last_commit() {
    let repo = Repo::of(&[("project.kdl", &says("One.")), ("sub/project.kdl", &says("Two."))]);
    for line in ["diff project.kdl", "diff .", "diff sub", "diff sub/project.kdl --exit-code"] {
        repo.relay(line).ends(0).prints(SAME);
    }
    // Another layout means the same.
    repo.write("project.kdl", &format!("// Note\n{}", says("One.")));
    repo.relay("diff . --exit-code").ends(0).prints(SAME).prints("1 of 1 file differ");
    repo.write("sub/project.kdl", &says("Three."));
    for (folder, line) in [
        ("repo", "diff sub"),
        ("repo", "diff ./sub/project.kdl"),
        ("repo/sub", "diff ."),
        ("repo/sub", "diff project.kdl"),
        (".", "diff repo/sub"),
        (".", "diff repo/sub/project.kdl"),
    ] {
        let run = repo.relay_in(folder, line).ends(0).prints(DIFFERS);
        run.prints(&format!("HEAD ({})", &repo.git("rev-parse HEAD")[..7]));
        repo.relay_in(folder, &format!("{line} --exit-code")).ends(1);
    }
    let absolute = format!("diff {}", repo.path("sub").display());
    repo.relay_in(".", &absolute).ends(0).prints(DIFFERS);
    // Git names another folder of the work tree for its hooks.
    let mut hook = repo.command(binaries::relay(), "repo");
    hook.args(["diff", "sub"]).env("GIT_DIR", repo.path(".git")).env("GIT_INDEX_FILE", "nowhere");
    repo.sandbox.run(hook).ends(0).prints(DIFFERS).prints("1 of 1 file differ");
    // Files that HEAD lacks are new.
    repo.write("new/project.kdl", &says("New."));
    let run = repo.relay("diff new --exit-code").ends(1).prints(DIFFERS);
    run.prints("has no `new`: all of it is new");
}

#[test]
fn a_link_to_a_project_is_compared_with_what_it_names() {
    let repo = Repo::of(&[("real/project.kdl", &says("One."))]);
    std::os::unix::fs::symlink("real", repo.path("folder")).expect("a link");
    std::os::unix::fs::symlink("real/project.kdl", repo.path("out.kdl")).expect("a link");
    repo.commit();
    repo.relay("diff folder").ends(0).prints(SAME);
    repo.relay("diff main:folder real").ends(0).prints(SAME);
    repo.relay("diff main:folder/project.kdl main:real").ends(0).prints(SAME);
    repo.relay("diff out.kdl").ends(0).prints(SAME);
    repo.write("real/project.kdl", &says("Two."));
    repo.relay("diff folder").ends(0).prints(DIFFERS);
}

#[test]
fn a_file_wins_over_a_revision() {
    let repo = Repo::of(&[("project.kdl", &says("Committed."))]);
    repo.relay("diff main:project.kdl project.kdl --exit-code").ends(0);
    repo.write("main:project.kdl", &says("A file."));
    repo.relay("diff main:project.kdl project.kdl --exit-code").ends(1);
    // As everywhere in git, another way to write the name is another name.
    repo.relay("diff main:./project.kdl project.kdl --exit-code").ends(0);
    repo.commit();
    repo.relay("diff main:project.kdl --exit-code").ends(0).prints(SAME);
}

#[test]
fn nothing_is_a_side() {
    let repo = Repo::of(&[("project.kdl", &says("One."))]);
    repo.relay("diff /dev/null . --exit-code").ends(1).prints(DIFFERS);
    repo.relay("diff main:project.kdl /dev/null --exit-code").ends(1).prints(DIFFERS);
    repo.relay("diff /dev/null /dev/null --exit-code").ends(0).prints(SAME);
    repo.relay("diff /dev/null").ends(2).says("`/dev/null` alone is compared with HEAD");
    repo.relay("diff main:project.kdl").ends(2).says("relay diff main:project.kdl project.kdl");
}

#[test]
fn every_environment_that_either_names_is_compared() {
    let base = says("One.");
    let patched = format!(
        "{base}\nwhen production {{ prompts {{ prompt hello {{ text \"Produced.\" }} }} }}\n"
    );
    let repo = Repo::of(&[("old.kdl", &base), ("new.kdl", &patched)]);
    // Where a side lacks the environment, its base is compared.
    let run = repo.relay("diff old.kdl new.kdl --exit-code").ends(1);
    run.prints(DIFFERS).prints("only in production\n");
    repo.relay("diff new.kdl old.kdl").ends(0).prints("only in production\n");
    repo.relay("diff old.kdl new.kdl --env production --exit-code").ends(1);
    repo.relay("diff main:new.kdl new.kdl --env production --exit-code").ends(0);
    repo.relay("diff old.kdl new.kdl --env prodution").ends(2).says("did you mean `production`?");
    repo.relay("diff old.kdl old.kdl --env production").ends(2).says("no `when` in either");
    repo.relay("diff old.kdl new.kdl --env test").ends(2).says("they name `production`");
    // An environment that changes nothing makes no difference.
    let silent = format!("{patched}when staging {{ gate off }}\n");
    repo.write("silent.kdl", &silent);
    repo.relay("diff new.kdl silent.kdl").prints(SAME);
}

#[test]
fn a_side_with_errors_cannot_be_compared() {
    let wrong = "project small version=\"1.0.0\" epoch=1\nprompts { promt a }\n";
    let repo = Repo::of(&[("sub/project.kdl", wrong), ("good.kdl", &says("One."))]);
    let run = repo.relay("diff main:sub good.kdl").ends(2);
    assert_eq!(run.stdout, "");
    let run = run.says("[main:sub/project.kdl:2:").says("cannot compare: `main:sub` has errors");
    let checked = repo.relay("check sub").ends(1).stdout;
    let said = run.stderr.replace("main:sub/", "sub/");
    assert!(said.starts_with(&checked), "{said}\n{checked}");
    repo.relay("diff good.kdl sub").ends(2).says("[sub/project.kdl:2:");
    repo.relay("diff :sub sub").ends(2).says("`:sub` and `sub` have errors");
    repo.relay_in("repo/sub", "diff main:./ /dev/null").ends(2).says("[main:sub/project.kdl:2:");
    // One that only an environment has.
    let production = format!("{}\nwhen production {{ prompts {{ promt a }} }}\n", says("One."));
    repo.write("production.kdl", &production);
    repo.relay("diff good.kdl production.kdl").ends(2).says("promt");
    repo.relay("diff good.kdl production.kdl --env production").ends(2).says("promt");
    // Warnings are for `relay check`.
    repo.write("warned.kdl", &project("resources {}"));
    repo.relay("check warned.kdl").ends(0).prints("warning");
    repo.relay("diff warned.kdl warned.kdl").ends(0).silent();
}
