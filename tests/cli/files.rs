//! Unusable files: each gives an error with its path, and every command ends.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::cli::{Sandbox, project};

/// A project that uses `thing` in one way.
fn using(node: &str) -> Sandbox {
    let text = format!("project small version=\"1.0.0\" epoch=1\n{node}\n");
    Sandbox::of(&[("project/project.kdl", &text), ("outside/secret.md", "Secret.\n")])
}

const USES: [&str; 5] = [
    "prompts { prompt a file=\"thing\" }",
    "messages { session-greeting file=\"thing\" }",
    "resources { resource \"relay://x/y\" file=\"thing\" }",
    "prompts { prompt a { message role=user { image \"thing\" mime=\"image/png\" } } }",
    "include \"thing\"",
];

const FOLDER_USES: [&str; 3] =
    ["prompts { folder \"thing\" }", "prompts { commands \"thing\" }", "include \"thing/*.kdl\""];

#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    for (node, target) in USES
        .map(|node| (node, "../outside/secret.md"))
        .into_iter()
        .chain(FOLDER_USES.map(|node| (node, "../outside")))
    {
        let sandbox = using(node);
        symlink(target, sandbox.path("project/thing")).expect("a link");
        let run = sandbox.relay("check project").ends(1);
        assert!(
            run.stdout.contains("is a link out of the project's folder"),
            "{node}:\n{}",
            run.stdout
        );
        assert!(!run.stdout.contains("Secret."), "{node}");
    }
}

#[test]
fn a_link_within_the_folder_is_followed() {
    for node in &USES[..3] {
        let sandbox = using(node);
        sandbox.write("project/real.md", "Text.\n");
        symlink("real.md", sandbox.path("project/thing")).expect("a link");
        sandbox.relay("check project").ends(0);
    }
}

#[test]
fn a_project_may_be_given_as_a_link() {
    let sandbox = Sandbox::of(&[("real/project.kdl", &project(""))]);
    symlink("real", sandbox.path("folder")).expect("a link");
    sandbox.relay("check folder").ends(0);
    sandbox.relay("check folder/project.kdl").ends(0);
}

#[test]
fn a_loop_of_links_ends() {
    for node in USES.iter().chain(&FOLDER_USES) {
        let sandbox = using(node);
        symlink("thing", sandbox.path("project/thing")).expect("a link");
        let run = sandbox.relay("check project").ends(1);
        assert!(run.stdout.contains("`thing`"), "{node}:\n{}", run.stdout);
    }
    // A folder with a link to its parent.
    let sandbox = using("prompts { folder \"thing\" }");
    sandbox.write("project/thing/a.md", "---\ndescription: A\n---\nText.\n");
    for (target, name) in [("..", "up"), (".", "here"), ("../thing", "round")] {
        symlink(target, sandbox.path(format!("project/thing/{name}"))).expect("a link");
    }
    sandbox.relay("check project").ends(0);
    symlink("a.md", sandbox.path("project/thing/b.md")).expect("a link");
    sandbox.relay("check project").ends(0);
    sandbox.relay("show project").ends(0).prints("prompt \"b\"");
}

#[test]
fn folders_with_links_into_each_other_end() {
    let sandbox = using("prompts { folder \"thing\" }");
    for (folder, other) in [("one", "two"), ("two", "one")] {
        let prompt = "---\ndescription: A\n---\nText.\n";
        sandbox.write(&format!("project/thing/{folder}/{folder}.md"), prompt);
        symlink(format!("../{other}"), sandbox.path(format!("project/thing/{folder}/{other}")))
            .expect("a link");
    }
    sandbox.relay("check project").ends(0);
    sandbox.relay("show project").ends(0).prints("prompt \"one/two/two\"");
}

#[test]
fn a_file_name_cannot_write_lines_of_its_own() {
    let sandbox = using("prompts { folder \"thing\" }");
    let prompt = "---\ndescription: A\n---\nText.\n";
    sandbox.write("project/thing/a\n    prompt b.md", prompt);
    for command in ["check project", "show project", "build project --unsigned"] {
        let run = sandbox.relay(command).ends(1);
        let report = format!("{}{}", run.stdout, run.stderr);
        let expected = r"cannot read `thing/a\n    prompt b.md`: its name, or that of a folder above it, has a control";
        assert!(report.contains(expected), "{report}");
    }
}

#[test]
fn what_people_read_holds_no_escape_sequence() {
    let sandbox = Sandbox::of(&[(
        "project.kdl",
        "project demo epoch=1\nprompts { prompt a { text \"x \\u{1b}]0;t\\u{7} \\u{202e}y\"\n\
         allow-invisible control because=x\nallow-invisible bidi because=x } }\n",
    )]);
    sandbox.write("bad.kdl", "project demo epoch=1\nnope \"\u{1b}[2J\"\n");
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    for command in [
        "inspect x.relay",
        "inspect --canonical x.relay",
        "describe x.relay",
        "show .",
        "explain . --index",
        "check bad.kdl",
    ] {
        let run = sandbox.relay(command);
        let report = format!("{}{}", run.stdout, run.stderr);
        assert!(!report.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{command}:\n{report}");
    }
}

#[test]
fn a_pipe_is_not_a_file() {
    for node in USES {
        let sandbox = using(node);
        let mut mkfifo = sandbox.command("mkfifo");
        mkfifo.arg("project/thing");
        sandbox.run(mkfifo).ends(0);
        let run = sandbox.relay("check project").ends(1);
        assert!(run.stdout.contains("it is not a file"), "{node}:\n{}", run.stdout);
    }
    let sandbox = using("prompts { folder \"thing\" }");
    sandbox.write("project/thing/a.md", "---\ndescription: A\n---\nText.\n");
    let mut mkfifo = sandbox.command("mkfifo");
    mkfifo.arg("project/thing/b.md");
    sandbox.run(mkfifo).ends(0);
    sandbox.relay("check project").ends(1).prints("`thing/b.md`: it is not a file");
}

#[test]
fn a_pipe_is_neither_a_project_nor_an_output() {
    let sandbox = Sandbox::of(&[("project.kdl", &project(""))]);
    sandbox.relay("keygen -o ci").ends(0);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    let mut mkfifo = sandbox.command("mkfifo");
    mkfifo.arg("pipe");
    sandbox.run(mkfifo).ends(0);
    for line in [
        "check pipe",
        "fmt pipe",
        "show pipe",
        "build pipe --unsigned",
        "build . --unsigned -o pipe",
        "inspect pipe",
        "describe pipe",
        "explain pipe --index",
        "sign x.relay --key ci.key --detached pipe",
    ] {
        let run = sandbox.relay(line);
        assert_eq!(run.code, 2, "relay {line}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains("`pipe`"), "relay {line}: {}", run.stderr);
    }
}

#[test]
fn keys_and_bundles_may_come_through_a_pipe() {
    let sandbox = Sandbox::of(&[("project.kdl", &project(""))]);
    let trust = sandbox.relay("keygen -o ci").ends(0).stdout;
    sandbox.write("trust.toml", &trust);
    let shell = |script: &str| {
        let mut command = sandbox.command("sh");
        command.args(["-c", script]).arg(crate::binaries::relay());
        sandbox.run(command)
    };
    // A secret store can pass a key through a pipe.
    shell("cat ci.key | \"$0\" build . -q --key /dev/stdin -o x.relay").ends(0);
    shell("cat x.relay | \"$0\" verify /dev/stdin --trust trust.toml")
        .ends(0)
        .prints("trusted /dev/stdin");
}

#[test]
fn a_folder_is_not_a_file() {
    for node in USES {
        let sandbox = using(node);
        fs::create_dir(sandbox.path("project/thing")).expect("a folder");
        sandbox.relay("check project").ends(1).prints("it is not a file");
    }
    for node in FOLDER_USES {
        let sandbox = using(node);
        sandbox.write("project/thing", "Text.\n");
        sandbox.relay("check project").ends(1);
    }
}

#[test]
fn a_name_that_is_not_utf8() {
    let bad = OsStr::from_bytes(b"b\xffd.md");
    let sandbox = using("prompts { folder \"thing\" }");
    sandbox.write("project/thing/a.md", "---\ndescription: A\n---\nText.\n");
    fs::write(sandbox.path("project/thing").join(bad), "Text.\n").expect("a file");
    sandbox
        .relay("check project")
        .ends(1)
        .prints("its name, or that of a folder above it, is not UTF-8");
    // Such a name is also rejected for the project's document.
    let named = sandbox.path("").join(OsStr::from_bytes(b"b\xffd.kdl"));
    fs::write(&named, project("")).expect("a file");
    sandbox
        .relay_of(&[OsStr::new("check"), named.as_os_str()])
        .ends(2)
        .says("its name is not UTF-8");
    // A folder above the project may have any name.
    let folder = sandbox.path("").join(OsStr::from_bytes(b"b\xffd"));
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("project.kdl"), project("")).expect("a file");
    sandbox.relay_of(&[OsStr::new("check"), folder.as_os_str()]).ends(0);
}

#[test]
fn a_file_that_cannot_be_read() {
    for node in USES {
        let sandbox = using(node);
        sandbox.write("project/thing", "Text.\n");
        let thing = sandbox.path("project/thing");
        fs::set_permissions(&thing, fs::Permissions::from_mode(0o000)).expect("ours");
        let run = if fs::read(&thing).is_ok() {
            // Root can read every file, so another user has to try.
            let Some(run) = as_nobody(&sandbox, "check project") else { return };
            run
        } else {
            sandbox.relay("check project")
        };
        assert_eq!(run.code, 1, "{node}: {}{}", run.stdout, run.stderr);
        assert!(
            run.stdout.contains("cannot ") && run.stdout.contains("`thing`: permission denied"),
            "{node}:\n{}",
            run.stdout
        );
    }
}

/// Runs `relay` as the unprivileged user `nobody`; `None` if that is impossible.
fn as_nobody(sandbox: &Sandbox, line: &str) -> Option<crate::cli::Run> {
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(sandbox.base.path(), open).ok()?;
    // The target folder may be unreadable to other users, so the program is copied.
    let program = sandbox.path("relay");
    fs::copy(crate::binaries::relay(), &program).ok()?;
    let ids = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut probe = sandbox.command("setpriv");
    probe.args(ids).arg(&program).arg("--version");
    let works = probe.output().is_ok_and(|output| output.status.success());
    if !works {
        return None;
    }
    let mut command = sandbox.command("setpriv");
    command.args(ids).arg(&program).args(line.split_whitespace());
    Some(sandbox.run(command))
}

#[test]
fn a_file_that_is_too_large() {
    for node in USES {
        let sandbox = using(node);
        // Sparse: it uses no disk space.
        let file = fs::File::create(sandbox.path("project/thing")).expect("a file");
        file.set_len(1 << 40).expect("a sparse file");
        let run = sandbox.relay("check project").ends(1);
        assert!(run.stdout.contains("over the limit of"), "{node}:\n{}", run.stdout);
    }
}

#[test]
fn a_document_that_is_too_large() {
    let sandbox = Sandbox::new();
    fs::File::create(sandbox.path("project.kdl"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a sparse file");
    for line in ["check .", "build . --unsigned", "show .", "fmt .", "inspect ."] {
        let run = sandbox.relay(line);
        assert!(run.code == 1 || run.code == 2, "relay {line}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("over the limit of"), "relay {line}: {said}");
    }
}

#[test]
fn other_files_that_are_too_large() {
    let sandbox = Sandbox::of(&[("project.kdl", &project("")), ("trust.toml", "version = 1\n")]);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    fs::File::create(sandbox.path("huge"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a sparse file");
    for line in ["build . --key huge", "sign x.relay --key huge", "verify x.relay --trust huge"] {
        sandbox.relay(line).ends(2).says("`huge`");
    }
    let line = "verify x.relay --trust trust.toml --signature huge";
    sandbox.relay(line).ends(2).says("`huge`");
    for line in
        ["verify huge --trust trust.toml", "sign huge --key ci.key", "build . --unsigned -o huge"]
    {
        let run = sandbox.relay(line);
        assert!(run.code == 1 || run.code == 2, "relay {line}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_folder_that_cannot_be_written() {
    let sandbox = Sandbox::of(&[("project.kdl", &project("")), ("file", "")]);
    sandbox
        .relay("build . --unsigned -o nowhere/x.relay")
        .ends(2)
        .says("`nowhere/x.relay`: its folder does not exist");
    sandbox.relay("build . --unsigned -o file/x.relay").ends(2).says("`file/x.relay`");
    sandbox.relay("keygen -o nowhere/ci").ends(2).says("`nowhere/ci.key`");
    sandbox.relay("build . --unsigned -o /dev/null").ends(2).says("`/dev/null`");
    assert_eq!(sandbox.files(), ["file", "project.kdl"]);
}

#[test]
fn one_file_that_cannot_be_used_is_not_the_end_of_a_folder() {
    let command = "---\ndescription: A\n---\nText.\n";
    for (mode, code) in [("skip", 0), ("fail", 1)] {
        let sandbox = using(&format!("prompts {{ commands \"thing\" on-error={mode} }}"));
        sandbox.write("project/thing/good.md", command);
        sandbox.write("outside/below.md", command);
        symlink(sandbox.path("outside"), sandbox.path("project/thing/folder")).expect("a link");
        symlink(sandbox.path("outside/below.md"), sandbox.path("project/thing/file.md"))
            .expect("a link");
        fs::write(sandbox.path("project/thing").join(OsStr::from_bytes(b"b\xffd.md")), command)
            .expect("a file");
        let words = [
            "`thing/folder/` is a link out of the project's folder",
            "`thing/file.md` is a link out of the project's folder",
            "cannot read `thing/b\u{fffd}d.md`",
        ];
        let run = sandbox.relay("check project").ends(code);
        let run = words.iter().fold(run, |run, words| run.prints(words));
        assert_eq!(run.stdout.matches("markdown::link").count(), 1, "{}", run.stdout);
        if code == 0 {
            sandbox.relay("show project").prints("prompt \"good\"").ends(0);
        }
    }
}

/// Lets this thread and its children run on one processor.
fn on_one_processor() {
    let all = sched_getaffinity(None).expect("the processors");
    let first = (0..CpuSet::MAX_CPU).find(|number| all.is_set(*number)).expect("a processor");
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).expect("one processor");
}

/// A project of so many files that several threads read them.
fn of_many_files(has_faults: bool) -> Sandbox {
    let sandbox = using("prompts { commands \"thing\" on-error=skip }");
    for number in 0..200 {
        let name = format!("project/thing/c{number}.md");
        let command = format!("---\ndescription: Number {number}\n---\nText {number}.\n");
        match number % 20 {
            3 if has_faults => sandbox.write(&name, "---\ndescription: [\n---\nText.\n"),
            7 if has_faults => sandbox.write(&name, ""),
            11 if has_faults => {
                sandbox.write(&name, &format!("{command}password: 8hK2pQ9zLmW4xV7c\n"));
            }
            13 if has_faults => fs::write(sandbox.path(&name), b"\xff\n").expect("a file"),
            17 if has_faults => {
                symlink("../../outside/secret.md", sandbox.path(&name)).expect("a link");
            }
            19 if has_faults => symlink("nowhere.md", sandbox.path(&name)).expect("a link"),
            _ => sandbox.write(&name, &command),
        }
    }
    sandbox
}

#[test]
fn several_threads_find_what_one_finds() {
    let (faulty, clean) = (of_many_files(true), of_many_files(false));
    let results = || {
        clean.relay("build project --unsigned --no-cache -o a.relay").ends(0);
        let bundle = fs::read(clean.path("a.relay")).expect("a bundle");
        (faulty.relay("check project --format json").ends(1).stdout, bundle)
    };
    let (report, bundle) = results();
    let (alone, bundle_alone) = std::thread::scope(|scope| {
        let on_one = scope.spawn(|| {
            on_one_processor();
            results()
        });
        on_one.join().expect("results")
    });
    for fault in ["link out of the project's folder", "not found", "secret::literal", "UTF-8"] {
        assert!(report.contains(fault), "{fault}: {report}");
    }
    assert_eq!(report, alone);
    assert!(bundle == bundle_alone, "the bundles differ");
}

#[test]
fn a_lone_carriage_return_ends_a_line() {
    let project = "project small version=\"1.0.0\" epoch=1\nprompts {\n\
                   prompt t file=\"t.j2\" { arg x required=#true }\nprompt m file=\"m.md\"\n}\n";
    let sandbox = Sandbox::of(&[
        ("project.kdl", project),
        ("t.j2", "Goals:\r{{ x }}\rEnd\r\n"),
        ("m.md", "Goals:\rEnd\r\n"),
    ]);
    let words =
        ["explain", "project.kdl", "--prompt", "t", "--arguments", "{\"x\": \"X\"}", "--json"];
    let explained = sandbox.relay_of(&words).ends(0).stdout;
    assert!(explained.contains("Goals:\\nX\\nEnd"), "{explained}");
    let explained = sandbox.relay("explain project.kdl --prompt m --json").ends(0).stdout;
    assert!(explained.contains("Goals:\\nEnd"), "{explained}");
    assert!(!explained.contains("\\r"), "{explained}");
}
