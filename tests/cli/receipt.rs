//! The receipt that `relay build` leaves beside its bundle: the next build skips the work where it is sure
//! that the result is there, and gives the same bytes as without a receipt always.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::binaries;
use crate::cli::{Run, Sandbox, project};
use crate::random::Random;

/// The files and lines of a bundle of over 3 MB, whose front is 2 MB.
const LARGE_FILES: usize = 44;
const LARGE_LINES: usize = 2800;

/// The project's folder of most tests.
const PROJECT: &str = "project kept version=\"1.0.0\" epoch=1\nprompts { folder \"prompts\"; commands \"commands\" }\n\
     resources { resource \"doc://notes\" file=\"notes.txt\" { description \"Notes\" } }\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    files(&sandbox);
    sandbox
}

/// Writes the files of the project, those that are missing and those that changed.
fn files(sandbox: &Sandbox) {
    for (path, text) in [
        ("project.kdl", PROJECT),
        ("notes.txt", "Notes of the team."),
        ("prompts/a.md", "---\ndescription: The first\n---\nText of A.\n"),
        ("prompts/deep/b.md", "---\ndescription: The second\n---\nText of B.\n"),
        ("commands/c.md", "---\ndescription: A command\n---\nText of C: $ARGUMENTS\n"),
    ] {
        // A link would be written through.
        _ = fs::remove_file(sandbox.path(path));
        sandbox.write(path, text);
    }
}

/// The only receipt beside the bundles of a folder.
fn receipt(sandbox: &Sandbox) -> PathBuf {
    let entries = fs::read_dir(sandbox.path(".relay-cache")).expect("a folder of receipts");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut receipts: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    receipts.remove(0)
}

fn build(sandbox: &Sandbox) -> Run {
    sandbox.relay("build --unsigned -o kept.relay")
}

fn is_unchanged(run: &Run) -> bool {
    run.stdout.contains("unchanged kept.relay")
}

/// Waits until changes of the files that were written so far are sure to give them another time.
fn rest() {
    std::thread::sleep(Duration::from_millis(3200));
}

#[test]
fn an_unchanged_build_writes_nothing_and_says_the_same() {
    let sandbox = sandbox();
    sandbox.write(
        "prompts/a.md",
        "---\ndescription: The first\nchapters: [One, one]\n---\nText of A.\n",
    );
    for format in ["human", "short", "json", "sarif", "github"] {
        let line = format!("build --format {format}");
        let first = sandbox.relay_with(&[("CI", "")], &line).ends(0);
        let [before, after] = [0, 1].map(|_| {
            let metadata = fs::metadata(sandbox.path("kept.relay")).expect("a bundle");
            (metadata.ino(), metadata.mtime_nsec())
        });
        let again = sandbox.relay_with(&[("CI", "")], &line).ends(0);
        assert_eq!(before, after);
        assert_eq!(first.stdout.replace("written  ", "unchanged"), again.stdout, "{format}");
        let said = first.stderr.lines().filter(|line| !line.contains("dev key"));
        let said: String = said.map(|line| format!("{line}\n")).collect();
        assert!(
            again.stderr.contains(said.replace("written  ", "unchanged").trim()),
            "{}{}",
            said,
            again.stderr
        );
        assert!(
            format != "human" || again.stdout.contains("unchanged kept.relay"),
            "{}",
            again.stdout
        );
    }
    // A quiet build is quiet, and its warnings stay.
    sandbox.relay("build --unsigned -q -o quiet.relay").ends(0).says("repeated");
    let again = sandbox.relay("build --unsigned -q -o quiet.relay").ends(0).says("repeated");
    assert_eq!(again.stdout, "");
}

#[test]
fn without_a_cache_nothing_is_kept_or_trusted() {
    let sandbox = sandbox();
    sandbox.relay("build --unsigned --no-cache -o kept.relay").ends(0).silent();
    assert!(!sandbox.path(".relay-cache").exists());
    build(&sandbox).ends(0).silent();
    assert_eq!(fs::read_to_string(sandbox.path(".relay-cache/.gitignore")).expect("a file"), "*\n");
    let again = sandbox.relay("build --unsigned --no-cache -o kept.relay").ends(0).silent();
    assert!(!is_unchanged(&again), "{}", again.stdout);
}

/// Builds with a receipt, and compares everything with a build without one.
#[track_caller]
fn same_as_without(sandbox: &Sandbox, note: &str) -> Run {
    let kept = build(sandbox);
    let plain = sandbox.relay("build --unsigned --no-cache -o plain.relay");
    assert_eq!(kept.code, plain.code, "{note}\n{}{}", kept.stderr, plain.stderr);
    assert_eq!(kept.stderr.replace("kept.relay", "plain.relay"), plain.stderr, "{note}");
    if kept.code == 0 {
        assert!(sandbox.bytes("kept.relay") == sandbox.bytes("plain.relay"), "{note}");
    }
    kept
}

#[test]
fn random_edits_give_the_bytes_of_a_build_without_a_receipt() {
    let seed = 0x5eed_0f0a;
    let mut random = Random(seed);
    let sandbox = sandbox();
    let mut unchanged = 0;
    for step in 0..60 {
        let note = edit(&sandbox, &mut random, step);
        let run = same_as_without(&sandbox, &note);
        // A second build right after it has nothing to do.
        if run.code == 0 {
            let again = same_as_without(&sandbox, &note);
            assert!(is_unchanged(&again), "{note}: {}", again.stdout);
            unchanged += 1;
        } else {
            // The next edit begins with a good project.
            _ = fs::remove_dir_all(sandbox.path("prompts"));
            files(&sandbox);
        }
    }
    assert!(unchanged > 20, "{unchanged}");
}

/// Makes a random edit of the project and returns a note of it.
fn edit(sandbox: &Sandbox, random: &mut Random, step: usize) -> String {
    let files =
        ["prompts/a.md", "prompts/deep/b.md", "commands/c.md", "prompts/new.md", "notes.txt"];
    let file = files[random.below(files.len())];
    let path = sandbox.path(file);
    let text = format!("---\ndescription: Edit {step}\n---\nText {step}.\n");
    let kind = random.below(9);
    match kind {
        0 => sandbox.write(file, &text),
        1 => _ = fs::remove_file(&path),
        2 => {
            // Replaced by the same text.
            let text = fs::read_to_string(&path).unwrap_or(text);
            _ = fs::remove_file(&path);
            sandbox.write(file, &text);
        }
        3 => {
            _ = fs::remove_file(&path);
            let target = sandbox.path("prompts/deep/b.md");
            if target != path {
                symlink(target, &path).expect("a link");
            }
        }
        4 => sandbox.write(file, "---\ndescription: \n---\n"),
        5 => _ = fs::rename(&path, sandbox.path("prompts/moved.md")),
        6 => sandbox.write(file, &text.replace('\n', "\r\n")),
        7 => sandbox.write("project.kdl", &format!("{PROJECT}// {step}\n")),
        // Nothing at all.
        _ => {}
    }
    format!("edit {step}, kind {kind}, of {file}")
}

#[test]
fn a_changed_text_with_the_old_size_and_time_is_seen() {
    let sandbox = sandbox();
    build(&sandbox).ends(0).silent();
    rest();
    assert!(is_unchanged(&build(&sandbox)));
    // Now the receipt has the states of all files, and this look reads none of them.
    assert!(is_unchanged(&build(&sandbox)));
    let path = sandbox.path("prompts/a.md");
    let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
    sandbox.edit("prompts/a.md", "Text of A.", "Test of A.");
    let file = File::options().write(true).open(&path).expect("a file");
    file.set_modified(time).expect("a time is set");
    let run = same_as_without(&sandbox, "the same size and time");
    assert!(!is_unchanged(&run), "{}", run.stdout);
    // A link out of the project, to a file with the same text.
    rest();
    build(&sandbox).ends(0);
    let outside = tempfile::tempdir().expect("a folder");
    let target = outside.path().join("notes.txt");
    fs::rename(sandbox.path("notes.txt"), &target).expect("it is moved");
    symlink(&target, sandbox.path("notes.txt")).expect("a link");
    same_as_without(&sandbox, "a link out of the project").ends(1);
}

#[test]
fn touched_files_are_read_and_then_remembered() {
    let sandbox = sandbox();
    build(&sandbox).ends(0).silent();
    let path = sandbox.path("notes.txt");
    let file = File::options().write(true).open(path).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("a time is set");
    let before = fs::read(receipt(&sandbox)).expect("a receipt");
    rest();
    assert!(is_unchanged(&build(&sandbox)));
    let after = fs::read(receipt(&sandbox)).expect("a receipt");
    assert!(before != after, "the receipt has no state of the files that rest");
    assert!(is_unchanged(&build(&sandbox)));
    assert!(after == fs::read(receipt(&sandbox)).expect("a receipt"));
}

#[test]
fn a_damaged_or_foreign_bundle_is_written_again() {
    let sandbox = sandbox();
    sandbox.relay("keygen -o mine").ends(0);
    sandbox.relay("keygen -o other").ends(0);
    let mine = "build --key mine.key -o kept.relay";
    sandbox.relay(mine).ends(0).silent();
    let good = sandbox.bytes("kept.relay");
    let damage: [(&str, &dyn Fn()); 5] = [
        ("a byte of the last section", &|| {
            let mut bytes = good.clone();
            let at = bytes.len() * 3 / 4;
            bytes[at] ^= 1;
            fs::write(sandbox.path("kept.relay"), bytes).expect("a file");
        }),
        ("cut short", &|| {
            fs::write(sandbox.path("kept.relay"), &good[..good.len() - 1]).expect("a file");
        }),
        ("gone", &|| fs::remove_file(sandbox.path("kept.relay")).expect("it is removed")),
        ("signed by another key", &|| {
            sandbox.relay("build --key other.key --no-cache -o kept.relay").ends(0);
        }),
        ("with one more signature", &|| {
            sandbox.relay("sign kept.relay --key other.key").ends(0);
        }),
    ];
    for (note, damage) in damage {
        damage();
        let run = sandbox.relay(mine).ends(0).silent();
        assert!(!is_unchanged(&run), "{note}");
        assert!(sandbox.bytes("kept.relay") == good, "{note}");
        assert!(is_unchanged(&sandbox.relay(mine).ends(0).silent()), "{note}");
    }
    // Another key, under the name of this one.
    fs::copy(sandbox.path("other.key"), sandbox.path("mine.key")).expect("a copy");
    let run = sandbox.relay(mine).ends(0).silent();
    assert!(!is_unchanged(&run) && sandbox.bytes("kept.relay") != good);
}

/// A bundle whose pages were checked once is checked by its front and the state of its file.
#[test]
fn a_changed_bundle_with_the_old_size_and_time_is_written_again() {
    let sandbox = sandbox();
    // Larger than the front of a bundle.
    for number in 0..LARGE_FILES {
        let text = format!("Line {number} of a large text.\n").repeat(LARGE_LINES);
        let path = format!("prompts/large/{number}.md");
        sandbox.write(&path, &format!("---\ndescription: Large {number}\n---\n{text}"));
    }
    build(&sandbox).ends(0).silent();
    let (path, good) = (sandbox.path("kept.relay"), sandbox.bytes("kept.relay"));
    assert!(good.len() > 3_000_000, "{}", good.len());
    // One look checks the pages, and the next one finds that noted.
    let noted = || {
        rest();
        let unchecked = fs::read(receipt(&sandbox)).expect("a receipt");
        assert!(is_unchanged(&build(&sandbox)));
        let checked = fs::read_to_string(receipt(&sandbox)).expect("a receipt");
        assert!(unchecked != checked.as_bytes(), "the receipt has no state of the bundle");
        assert!(is_unchanged(&build(&sandbox)));
        checked
    };
    // The receipt of another bundle, with the state of this one.
    let forged = noted().replace("\"digest\":\"sha256:", "\"digest\":\"sha256:0");
    fs::write(receipt(&sandbox), forged).expect("a file");
    assert!(!is_unchanged(&build(&sandbox).ends(0).silent()));
    noted();
    let time = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
    let mut damaged = good.clone();
    damaged[good.len() * 3 / 4] ^= 1;
    let mut file = File::options().write(true).open(&path).expect("a file");
    file.write_all(&damaged).expect("it is written");
    file.set_modified(time).expect("a time is set");
    assert!(!is_unchanged(&build(&sandbox).ends(0).silent()));
    assert!(sandbox.bytes("kept.relay") == good);
}

#[test]
fn a_torn_receipt_costs_a_build_and_nothing_else() {
    let sandbox = sandbox();
    build(&sandbox).ends(0).silent();
    let (path, good) = (receipt(&sandbox), sandbox.bytes("kept.relay"));
    let text = fs::read(&path).expect("a receipt");
    for length in [0, 1, text.len() / 2, text.len() - 1] {
        fs::write(&path, &text[..length]).expect("a file");
        assert!(!is_unchanged(&build(&sandbox).ends(0).silent()), "{length}");
        assert!(sandbox.bytes("kept.relay") == good, "{length}");
    }
    // A folder in its place: the bundle is written, and the reason for the missing receipt is said.
    fs::remove_file(&path).expect("it is removed");
    fs::create_dir(&path).expect("a folder");
    build(&sandbox).ends(0).says("cannot keep a receipt of this build");
    assert!(sandbox.bytes("kept.relay") == good);
}

#[test]
fn a_link_in_the_place_of_the_receipts_is_not_followed() {
    let sandbox = sandbox();
    let outside = tempfile::tempdir().expect("a folder");
    let theirs = outside.path().join(".relay-of-someone");
    let file = File::create(&theirs).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("a time is set");
    symlink(outside.path(), sandbox.path(".relay-cache")).expect("a link");
    build(&sandbox).ends(0).says("`.relay-cache` is not a folder");
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 1);
    assert!(theirs.exists());
}

#[test]
fn a_pipe_in_the_place_of_the_bundle_or_of_a_file_blocks_nothing() {
    let sandbox = sandbox();
    let pipe = |path: &str| {
        _ = fs::remove_file(sandbox.path(path));
        let mut make = sandbox.command("mkfifo");
        make.arg(sandbox.path(path));
        sandbox.run(make).ends(0);
    };
    build(&sandbox).ends(0).silent();
    pipe("kept.relay");
    build(&sandbox).ends(2).says("it exists and is not a file");
    fs::remove_file(sandbox.path("kept.relay")).expect("it is removed");
    build(&sandbox).ends(0).silent();
    pipe("notes.txt");
    build(&sandbox).ends(1).says("it is not a file");
}

#[test]
fn builds_at_once_and_killed_ones_leave_a_bundle_that_is_whole() {
    let sandbox = sandbox();
    let mut text = PROJECT.to_owned();
    for number in 0..300 {
        text.push_str(&format!(
            "prompts {{ prompt p{number} {{ text \"{}\" }} }}\n",
            "word ".repeat(400)
        ));
    }
    sandbox.write("project.kdl", &text);
    sandbox.relay("build --unsigned --no-cache -o plain.relay").ends(0);
    let plain = sandbox.bytes("plain.relay");
    let start = || {
        let mut command = sandbox.command(binaries::relay());
        command.args(["build", "--unsigned", "-q", "-o", "kept.relay"]);
        command.spawn().expect("relay starts")
    };
    let mut random = Random(77);
    for round in 0..12 {
        let mut running = [start(), start()];
        std::thread::sleep(Duration::from_millis(random.below(120) as u64));
        if round % 3 > 0 {
            running[0].kill().expect("it is killed");
        }
        for child in &mut running {
            child.wait().expect("it ends");
        }
        assert!(sandbox.bytes("kept.relay") == plain, "{round}");
        if round % 4 == 3 {
            fs::remove_file(sandbox.path("kept.relay")).expect("it is removed");
            build(&sandbox).ends(0);
            assert!(sandbox.bytes("kept.relay") == plain, "{round}");
        }
    }
    assert!(is_unchanged(&build(&sandbox).ends(0)));
}

#[test]
fn another_request_is_another_build() {
    let sandbox = Sandbox::of(&[(
        "project.kdl",
        &project("when production { prompts { prompt hello priority=9 } }\n"),
    )]);
    let lines = [
        "build --unsigned -o one.relay",
        "build --unsigned -o one.relay --epoch 5",
        "build --unsigned -o one.relay --strict",
        "build --unsigned -o one.relay --env production",
        "build project.kdl --unsigned -o one.relay --verbose",
    ];
    for round in 0..2 {
        for line in lines {
            let plain = format!("{line} --no-cache").replace("one.relay", "plain.relay");
            sandbox.relay(line).ends(0);
            sandbox.relay(&plain).ends(0);
            assert!(sandbox.bytes("one.relay") == sandbox.bytes("plain.relay"), "{round}: {line}");
        }
    }
    let names = |folder: &Path| fs::read_dir(folder).expect("a folder").count();
    // The marks, and a receipt for each name of the project and environment.
    assert_eq!(names(&sandbox.path(".relay-cache")), 2 + 3);
}
