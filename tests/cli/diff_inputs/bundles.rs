//! Bundles, and folders of them, on disk and in git.

use serde_json::Value;

use super::{DIFFERS, Repo, SAME, says};
use crate::cli::Run;

/// A repository with `one.relay` and `two.relay` of two versions of a project, uncommitted.
fn with_bundles() -> Repo {
    let repo = Repo::of(&[("one/project.kdl", &says("One.")), ("two/project.kdl", &says("Two."))]);
    for name in ["one", "two"] {
        repo.relay(&format!("build {name} --unsigned -q -o {name}.relay")).ends(0);
    }
    repo
}

#[test]
fn two_bundles() {
    let repo = with_bundles();
    repo.relay("diff one.relay two.relay --exit-code").ends(1).prints(DIFFERS);
    repo.relay("diff one.relay one.relay --exit-code").ends(0).prints(SAME).silent();
    repo.relay("diff /dev/null one.relay --exit-code").ends(1);
    repo.relay("keygen -o ci").ends(0);
    repo.relay("build one --key ci.key -q -o signed.relay").ends(0);
    repo.relay("diff one.relay signed.relay")
        .ends(0)
        .prints(SAME)
        .prints("`signed.relay` is signed by");
    repo.relay("diff one.relay two.relay --env production").ends(2).says("built without an");
    // A bundle may have any name.
    std::fs::copy(repo.path("one.relay"), repo.path("release")).expect("a copy");
    repo.relay("diff release one.relay --exit-code").ends(0);
}

#[test]
fn a_bundle_and_a_project() {
    let repo = with_bundles();
    repo.relay("diff one.relay one --exit-code").ends(0).prints(SAME).silent();
    repo.relay("diff two one.relay --exit-code").ends(1);
    let when = "when production { prompts { prompt hello { text \"Produced.\" } } }\n";
    repo.write("one/project.kdl", &format!("{}\n{when}", says("One.")));
    repo.relay("build one --env production --unsigned -q -o production.relay").ends(0);
    // The project is compiled for the bundle's environment, and for that alone.
    repo.relay("diff one.relay one --exit-code").ends(0);
    repo.relay("diff production.relay one --exit-code").ends(0);
    repo.relay("diff production.relay one --env production --exit-code").ends(0);
    repo.relay("diff production.relay one --env test").ends(2).says("for the environment `produ");
    repo.relay("diff production.relay HEAD:one").ends(0).prints(DIFFERS).prints("   production\n");
    repo.relay("diff one.relay production.relay")
        .ends(0)
        .prints(DIFFERS)
        .prints("built without an environment and for `production`");
}

#[test]
fn a_bundle_of_another_compiler() {
    let repo = with_bundles();
    let bytes = std::fs::read(repo.path("one.relay")).expect("a bundle");
    let bundle = relay_bundle::Bundle::open(Box::new(bytes)).expect("a bundle");
    let mut contents = bundle.contents().expect("its contents");
    contents.manifest.compiler = "relay 0.0.1\u{1b}[2J".into();
    let bytes = relay_bundle::encode(&contents).expect("a bundle");
    std::fs::write(repo.path("old.relay"), bytes).expect("a file");
    for line in ["diff old.relay one.relay", "diff old.relay one"] {
        let run = repo.relay(line).ends(0).prints(SAME).prints("written by relay 0.0.1");
        assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
    }
}

#[test]
fn a_damaged_bundle() {
    let repo = with_bundles();
    let mut bytes = std::fs::read(repo.path("one.relay")).expect("a bundle");
    let at = bytes.windows(4).rposition(|window| window == b"One.").expect("its text");
    bytes[at] = b'X';
    std::fs::write(repo.path("damaged.relay"), &bytes).expect("a file");
    std::fs::write(repo.path("short.relay"), &bytes[..200]).expect("a file");
    repo.write("text.relay", "Not a bundle.\n");
    repo.git("add -f .");
    for name in ["damaged", "short", "text"] {
        for line in [
            format!("diff {name}.relay one"),
            format!("diff one {name}.relay"),
            format!("diff :{name}.relay one"),
        ] {
            let run = repo.relay(&line).ends(2).says(&format!("{name}.relay`"));
            assert_eq!(run.stdout, "", "{line}");
        }
    }
}

#[test]
fn a_damaged_copy() {
    let repo = with_bundles();
    // All of a small bundle is read, even though the digest says that both are the same.
    let mut bytes = std::fs::read(repo.path("one.relay")).expect("a bundle");
    let at = bytes.windows(4).rposition(|window| window == b"One.").expect("its text");
    bytes[at] = b'X';
    std::fs::write(repo.path("damaged.relay"), &bytes).expect("a file");
    for line in [
        "diff one.relay damaged.relay",
        "diff damaged.relay one.relay",
        "diff damaged.relay damaged.relay",
    ] {
        repo.relay(line).ends(2).says("`damaged.relay`: ");
    }
    // Of a large one, only the needed part is read.
    let text = |word: &str| format!("{word} {}", "word ".repeat(190_000));
    for name in ["a", "b", "c", "d"] {
        repo.write(&format!("large/{name}.md"), &text(name));
    }
    let prompts: String = ["a", "b", "c", "d"]
        .map(|name| format!("prompt {name} file=\"{name}.md\" {{ summary \"S\" }}\n"))
        .concat();
    let project = format!("project large version=\"1.0.0\" epoch=1\nprompts {{\n{prompts}}}\n");
    repo.write("large/project.kdl", &project);
    let build = |file: &str| {
        repo.relay(&format!("build large --unsigned --provenance -q -o {file}")).ends(0);
    };
    build("large.relay");
    let mut bytes = std::fs::read(repo.path("large.relay")).expect("a bundle");
    // In the text of the last prompt, after all that is read.
    let at = 3_400_000;
    assert_eq!(bytes[at..at + 9].iter().filter(|byte| **byte == b' ').count().min(1), 1);
    bytes[at] ^= 1;
    std::fs::write(repo.path("damaged.relay"), &bytes).expect("a file");
    let run = repo.relay("diff large.relay damaged.relay --exit-code").ends(0).silent();
    run.prints(SAME).prints("the same digest");
    repo.relay("inspect damaged.relay").ends(2);
    repo.write("large/a.md", &text("other"));
    build("other.relay");
    repo.relay("diff other.relay damaged.relay").ends(2).says("`damaged.relay`: ");
    repo.relay("diff other.relay large.relay --exit-code").ends(1).prints("1 of 5 files differ");
    // Ends of files are compared too.
    std::fs::write(repo.path("short.relay"), &bytes[..bytes.len() - 1]).expect("a file");
    repo.relay("diff large.relay short.relay").ends(2).says("`short.relay`: ");
    std::fs::write(repo.path("long.relay"), [&bytes[..], b"x"].concat()).expect("a file");
    repo.relay("diff large.relay long.relay").ends(2).says("`long.relay`: ");
}

#[test]
fn a_folder_with_a_bundle_for_each_environment() {
    let repo = Repo::empty();
    let when = |word: &str| {
        let changed = format!("prompts {{ prompt hello {{ text \"{word}\" }} }}");
        format!("{}\nwhen production {{ {changed} }}\n", says("One."))
    };
    let build = |folder: &str, word: &str| {
        repo.write("source.kdl", &when(word));
        std::fs::create_dir_all(repo.path(folder)).expect("a folder");
        repo.relay(&format!("build source.kdl --unsigned -q -o {folder}/small.relay")).ends(0);
        let production = format!("{folder}/small-production.relay --env production");
        repo.relay(&format!("build source.kdl --unsigned -q -o {production}")).ends(0);
    };
    build("old", "Two.");
    build("new", "Three.");
    let answer = repo.relay("diff old new --exit-code --json").ends(1).json();
    let projects = answer["projects"].as_array().expect("a list");
    let each: Vec<_> = projects
        .iter()
        .map(|it| (it["environments"].clone(), it["same_meaning"] == true))
        .collect();
    assert_eq!(
        each,
        [(serde_json::json!([null]), true), (serde_json::json!(["production"]), false)]
    );
    repo.commit();
    assert_eq!(
        repo.relay("diff HEAD:old new --json").ends(0).json()["projects"].as_array().map(Vec::len),
        Some(2)
    );
    std::fs::copy(repo.path("new/small-production.relay"), repo.path("new/x.relay"))
        .expect("a copy");
    repo.relay("diff old new").ends(2).says(
        "`new/small-production.relay` and `new/x.relay` are both bundles of the project `small`, \
         built for the environment `production`",
    );
    // What one folder has for another environment is new, or gone.
    std::fs::remove_file(repo.path("new/x.relay")).expect("ours");
    std::fs::remove_file(repo.path("old/small-production.relay")).expect("ours");
    let run = repo.relay("diff old new").ends(0);
    run.prints(SAME).prints("nothing → new/small-production.relay");
}

#[test]
fn a_bundle_in_git() {
    let repo = with_bundles();
    repo.commit();
    repo.relay("diff main:one.relay one.relay --exit-code").ends(0);
    repo.relay("diff main:one.relay :two.relay --exit-code").ends(1);
    repo.relay("diff one.relay --exit-code").ends(0);
    std::fs::copy(repo.path("two.relay"), repo.path("one.relay")).expect("a copy");
    repo.relay("diff one.relay --exit-code").ends(1);
    repo.relay("diff main:one.relay one --exit-code").ends(0);
    repo.relay("diff main:three.relay one.relay").ends(0).prints("has no `three.relay`");
}

#[test]
fn folders_of_bundles() {
    let repo = Repo::empty();
    let named =
        |name: &str, word: &str| says(word).replace("project small", &format!("project {name}"));
    let bundle = |file: &str, text: &str| {
        repo.write("source.kdl", text);
        let path = repo.path(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        repo.relay(&format!("build source.kdl --unsigned -q -o {file}")).ends(0);
    };
    bundle("old/a.relay", &named("alpha", "One."));
    bundle("old/b.relay", &named("beta", "One."));
    bundle("old/gone.relay", &named("gone", "One."));
    bundle("new/renamed.relay", &named("alpha", "One."));
    bundle("new/b.relay", &named("beta", "Two."));
    repo.write("new/README.md", "Bundles.\n");
    let expected = [("alpha", true), ("beta", false), ("gone", false)];
    let verdicts = |run: &Run| -> Vec<(String, bool)> {
        let projects = run.json()["projects"].as_array().expect("a list").clone();
        let name = |project: &Value| {
            let side = if project["b"]["bundle"].is_null() { "a" } else { "b" };
            project[side]["bundle"]["project"].as_str().expect("a name").to_owned()
        };
        projects.iter().map(|it| (name(it), it["same_meaning"] == true)).collect()
    };
    let expected: Vec<_> = expected.map(|(name, same)| (name.to_owned(), same)).into();
    assert_eq!(verdicts(&repo.relay("diff old new --exit-code --json").ends(1)), expected);
    repo.commit();
    assert_eq!(verdicts(&repo.relay("diff HEAD:old new --json").ends(0)), expected);
    assert_eq!(verdicts(&repo.relay("diff HEAD:old/ :new --json").ends(0)), expected);
    // All of HEAD's are in the work tree, and the same.
    let run = repo.relay("diff old --exit-code").ends(0);
    assert_eq!(run.stdout.matches(SAME).count(), 3, "{}", run.stdout);
    let run = repo.relay("diff /dev/null old").ends(0);
    assert_eq!(run.stdout.matches(DIFFERS).count(), 3, "{}", run.stdout);
    repo.relay("diff old new/b.relay").ends(2).says("cannot compare a folder of bundles with");
    bundle("new/again.relay", &named("beta", "Three."));
    repo.relay("diff old new")
        .ends(2)
        .says("`new/again.relay` and `new/b.relay` are both bundles of the project `beta`");
    repo.git("add -A -f .");
    repo.relay("diff HEAD:old :new").ends(2).says("`:new/again.relay` and `:new/b.relay`");
}
