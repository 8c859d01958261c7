//! A project read from disk and from its commit is the same: every list, every file, every finding,
//! and what it is compiled to.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use relay_compiler::{Files, Options, check};

use super::Repo;
use crate::cli::copy;
use crate::support::{root, sources};

/// Asserts that the folder on disk and at HEAD are the same for the compiler.
#[track_caller]
fn assert_same(repo: &Repo, folder: &str, document: &str) {
    let path = repo.path(folder);
    let disk = relay_cli::files_on_disk(&path).expect("a folder");
    let head = relay_cli::files_at_head(&path).expect("a committed folder");
    let listed = disk.list("").expect("a folder");
    assert_eq!(head.list("").expect("a folder"), listed, "{folder}");
    assert!(!listed.is_empty());
    let mut asked: Vec<String> = listed.into_iter().map(|listed| listed.path).collect();
    let parents = asked.iter().filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()));
    asked.extend(parents.collect::<Vec<_>>());
    asked.extend(["", ".", "..", "/", "nowhere", "../x", "a//b"].map(str::to_owned));
    for path in asked {
        assert_eq!(head.read(&path), disk.read(&path), "{folder}: {path:?}");
        assert_eq!(head.list(&path), disk.list(&path), "{folder}: {path:?}");
    }
    let compiled = |files: &dyn Files| {
        let sources = sources(files, document);
        let compiled = check(&sources, &Options::default());
        let report = relay_cli::findings(&sources, &compiled.diagnostics);
        let effective = compiled.effective.map(|effective| effective.kdl(true));
        (report, effective, compiled.bundle)
    };
    let (of_disk, of_head) = (compiled(&*disk), compiled(&*head));
    assert_eq!(of_head.0, of_disk.0, "{folder}: findings");
    assert_eq!(of_head.1, of_disk.1, "{folder}: effective project");
    assert!(of_head.2 == of_disk.2, "{folder}: bundles");
}

#[test]
fn the_examples() {
    let repo = Repo::empty();
    let examples = root().join("examples");
    let mut folders = Vec::new();
    for entry in fs::read_dir(examples).expect("examples/") {
        let entry = entry.expect("an entry");
        if entry.path().join("project.kdl").exists() {
            let name = entry.file_name().into_string().expect("UTF-8");
            copy(&entry.path(), &repo.path(&name));
            folders.push(name);
        }
    }
    assert!(folders.len() >= 4, "{folders:?}");
    repo.commit();
    for folder in folders {
        assert_same(&repo, &folder, "project.kdl");
        repo.relay(&format!("diff {folder} --exit-code")).ends(0);
    }
}

#[test]
fn awkward_names_and_links() {
    let prompt = "---\ndescription: A\n---\nText.\n";
    let text = "project small version=\"1.0.0\" epoch=1\n\
                prompts {\n    folder \"good\"\n    commands \"bad\" on-error=skip\n    commands \"worse\"\n}\n\
                include \"more/*.kdl\"\n";
    let repo = Repo::of(&[
        ("p/project.kdl", text),
        ("p/good/a.md", prompt),
        ("p/good/below/b.md", prompt),
        ("p/good/.hidden.md", prompt),
        ("p/bad/c.md", prompt),
        ("p/bad/new\nline.md", prompt),
        ("p/bad/ta\tb/d.md", prompt),
        ("p/bad/esc\u{1b}[2J.md", prompt),
        ("p/bad/größe 'x\" 🔥.md", prompt),
        ("p/bad/turn\u{202e}.md", prompt),
        ("p/bad/-dash.md", prompt),
        ("p/bad/:colon.md", prompt),
        ("p/bad/*.md", prompt),
        ("p/bad/back\\slash.md", prompt),
        ("p/worse/one/one.md", prompt),
        ("p/worse/two/two.md", prompt),
        ("p/more/x.kdl", "prompts { prompt x file=\"linked.md\" }\n"),
        ("p/more/real.md", "Real.\n"),
        ("p/a-b/x", "Sorted after `a/`, and before.\n"),
        ("p/a/x", "X\n"),
        ("p/a.b", "X\n"),
        ("p/crlf.md", "One\r\nTwo\r\n"),
        ("p/empty.md", ""),
        ("outside/secret.md", prompt),
    ]);
    fs::write(repo.path("p/bad").join(OsStr::from_bytes(b"b\xffd.md")), prompt).expect("a file");
    fs::create_dir(repo.path("p/bad").join(OsStr::from_bytes(b"f\xffr"))).expect("a folder");
    fs::write(repo.path("p/bad").join(OsStr::from_bytes(b"f\xffr/e.md")), prompt).expect("a file");
    fs::write(repo.path("p/bytes.bin"), [0, 159, 146, 150, 10, 0]).expect("a file");
    for (target, link) in [
        ("real.md", "p/more/linked.md"),
        ("linked.md", "p/more/twice.md"),
        ("../more/./../more/real.md", "p/more/round.md"),
        ("../worse", "p/bad/folder"),
        ("../../outside", "p/bad/out"),
        ("../../outside/secret.md", "p/bad/out.md"),
        ("../../p/good/a.md", "p/bad/out-and-in.md"),
        ("nowhere", "p/bad/dangling"),
        ("self", "p/bad/self"),
        ("other", "p/bad/another"),
        ("another", "p/bad/other"),
        ("..", "p/bad/up"),
        (".", "p/bad/here"),
        ("../two", "p/worse/one/two"),
        ("../one", "p/worse/two/one"),
        ("c.md/", "p/bad/slash"),
        ("c.md/..", "p/bad/through"),
        ("../good/", "p/bad/folder-slash"),
        ("../../../../../../../../../../../../../../../../../../../../../../etc", "p/bad/far"),
    ] {
        symlink(target, repo.path(link)).expect("a link");
    }
    for depth in 0..45 {
        let target = if depth == 0 { "c.md".to_owned() } else { format!("chain{}", depth - 1) };
        symlink(target, repo.path(&format!("p/bad/chain{depth}"))).expect("a link");
    }
    repo.commit();
    assert_same(&repo, "p", "project.kdl");
    // A document that includes all of it.
    assert_same(&repo, "p/more", "x.kdl");
    assert_same(&repo, "", "p/project.kdl");
}

/// The folder of a random project: so deep that all its links stay in the repository, whose
/// surroundings are unknown to git.
const DEEP: &str = "1/2/3/4/5/6/7/8";

fn path() -> impl Strategy<Value = String> {
    vec(select(vec!["a", "b", "c.md", "d"]), 1..4).prop_map(|names| names.join("/"))
}

fn target() -> impl Strategy<Value = String> {
    let names = vec![".", "..", "a", "b", "c.md", "d", "nowhere"];
    (vec(select(names), 1..4), any::<bool>()).prop_map(|(names, is_folder)| {
        let end = if is_folder { "/" } else { "" };
        format!("{}{end}", names.join("/"))
    })
}

/// Creates a file, or a link to `target`, unless something in its way is a file or a link: a folder
/// that stays empty is nothing to git.
fn create(repo: &Repo, path: &str, target: Option<&str>) {
    let above = path.match_indices('/').map(|(at, _)| &path[..at]);
    let is_free = |path: &str| repo.path(path).symlink_metadata().is_ok_and(|it| it.is_dir());
    let is_new = |path: &str| repo.path(path).symlink_metadata().is_err();
    if !is_new(path) || !above.into_iter().all(|above| is_new(above) || is_free(above)) {
        return;
    }
    fs::create_dir_all(repo.path(path).parent().expect("a folder")).expect("a folder");
    match target {
        Some(target) => symlink(target, repo.path(path)).expect("a link"),
        None => fs::write(repo.path(path), path).expect("a file"),
    }
}

/// Found by the test below.
#[test]
fn a_link_to_a_file_as_a_folder() {
    let repo = Repo::empty();
    create(&repo, &format!("{DEEP}/b"), None);
    for (link, target) in [("dot", "b/."), ("slash", "b/"), ("both", "b/./"), ("file", "./b")] {
        create(&repo, &format!("{DEEP}/{link}"), Some(target));
    }
    repo.commit();
    let disk = relay_cli::files_on_disk(&repo.path(DEEP)).expect("a folder");
    let head = relay_cli::files_at_head(&repo.path(DEEP)).expect("a committed folder");
    for link in ["dot", "slash", "both", "file"] {
        assert_eq!(head.read(link), disk.read(link), "{link}");
        assert_eq!(head.read(link).is_ok(), link == "file", "{link}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_folder_with_links(
        entries in vec((path(), prop::option::of(target())), 1..9),
        asked in vec(path(), 8),
    ) {
        let repo = Repo::empty();
        for (path, target) in &entries {
            create(&repo, &format!("{DEEP}/{path}"), target.as_deref());
        }
        repo.commit();
        let disk = relay_cli::files_on_disk(&repo.path(DEEP)).expect("a folder");
        let head = relay_cli::files_at_head(&repo.path(DEEP)).expect("a committed folder");
        let listed = disk.list("").expect("a folder");
        prop_assert_eq!(&head.list("").expect("a folder"), &listed);
        for path in listed.into_iter().map(|listed| listed.path).chain(asked) {
            prop_assert_eq!(head.read(&path), disk.read(&path), "{}", path);
            prop_assert_eq!(head.list(&path), disk.list(&path), "{}", path);
        }
    }
}
