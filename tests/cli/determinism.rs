//! Same input, same bytes: on any machine, in any folder, in any language.

use std::fs;

use crate::binaries;
use crate::cli::{Run, Sandbox, copy};
use crate::support::root;

/// Builds the homelab example again, with everything changed that should be ignored.
fn build_elsewhere(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let folder = sandbox.path("a folder/größer/homelab");
    copy(&root().join("examples/homelab"), &folder);
    let mut command = sandbox.command("sh");
    command
        .args(["-c", "umask 077; exec \"$0\" \"$@\""])
        .arg(binaries::relay())
        .args(["build", ".", "-q", "-o", "../../../elsewhere.relay"])
        .args(arguments)
        .current_dir(&folder)
        .env("TZ", "Asia/Kathmandu")
        .env("LANG", "tr_TR.UTF-8")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("USER", "zaphod")
        .env("SOURCE_DATE_EPOCH", "1")
        .env("CI", "true");
    sandbox.run(command)
}

#[test]
fn two_builds_give_the_same_bytes() {
    let sandbox = Sandbox::example("homelab");
    sandbox.relay("keygen -o signer").ends(0);
    let key = sandbox.path("signer.key");
    let key = key.to_str().expect("UTF-8");
    for signing in [vec!["--unsigned"], vec!["--key", key]] {
        for environment in [vec![], vec!["--env", "production"]] {
            let arguments = [signing.clone(), environment].concat();
            let here =
                [vec!["build", "homelab/project.kdl", "-q", "-o", "here.relay"], arguments.clone()];
            sandbox.relay_of(&here.concat()).ends(0).silent();
            build_elsewhere(&sandbox, &arguments).ends(0).silent();
            let (here, elsewhere) = (sandbox.bytes("here.relay"), sandbox.bytes("elsewhere.relay"));
            assert!(here == elsewhere, "{arguments:?}: the bundles differ");
        }
    }
}

#[test]
fn a_checkout_with_other_line_ends_gives_the_same_bytes() {
    let sandbox = Sandbox::example("homelab");
    sandbox.relay("build homelab -q --unsigned -o unix.relay").ends(0);
    let mut changed = 0;
    let mut folders = vec![sandbox.path("homelab")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                fs::write(&path, text.replace('\n', "\r\n")).expect("it can be written");
                changed += 1;
            }
        }
    }
    assert!(changed > 10, "{changed}");
    sandbox.relay("build homelab -q --unsigned -o windows.relay").ends(0);
    assert!(sandbox.bytes("unix.relay") == sandbox.bytes("windows.relay"));
}

#[test]
fn a_bundle_has_no_trace_of_the_machine() {
    let sandbox = Sandbox::example("homelab");
    build_elsewhere(&sandbox, &["--unsigned"]).ends(0);
    let bundle = String::from_utf8_lossy(&sandbox.bytes("elsewhere.relay")).into_owned();
    let base = sandbox.path("").display().to_string();
    for word in [base.as_str(), "größer", "zaphod", "Kathmandu", "tr_TR"] {
        assert!(!bundle.contains(word), "the bundle contains `{word}`");
    }
}

#[test]
fn an_environment_changes_the_bundle() {
    let sandbox = Sandbox::example("homelab");
    let digest = |arguments: &str| {
        let line = format!("build homelab --unsigned --format json -o x.relay {arguments}");
        sandbox.relay(&line).ends(0).json()["bundle"]["digest"].clone()
    };
    assert_eq!(digest(""), digest(""));
    assert_ne!(digest(""), digest("--env production"));
    assert_ne!(digest(""), digest("--epoch 43"));
}

#[test]
fn a_second_signature_keeps_the_digest() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o one").ends(0);
    sandbox.relay("keygen -o two").ends(0);
    let built =
        sandbox.relay("build minimal --key one.key -o x.relay --format json").ends(0).json();
    let digest = built["bundle"]["digest"].as_str().expect("a digest").to_owned();
    let before = sandbox.bytes("x.relay");
    let signed = sandbox.relay("sign x.relay --key two.key").ends(0).says("2 signatures");
    assert_eq!(signed.stdout.trim_end(), digest);
    let after = sandbox.bytes("x.relay");
    let content = |file: &[u8]| {
        let length = u64::from_le_bytes(file[24..32].try_into().expect("eight bytes"));
        usize::try_from(length).expect("it is in memory")
    };
    assert_eq!(before[..content(&before)], after[..content(&after)]);
    assert_ne!(before, after);
    // Signing again with the same key leaves the signatures as they are.
    sandbox.relay("sign x.relay --key two.key").ends(0).says("2 signatures");
    assert_eq!(sandbox.bytes("x.relay"), after);
}

#[test]
fn the_order_of_files_and_nodes_does_not_matter() {
    let sandbox = Sandbox::new();
    let hello = "prompt hello { text \"Hello.\" }";
    let bye = "prompt bye { text \"Bye.\" }";
    let start = "project small version=\"1.0.0\" epoch=1\n";
    let documents = [
        ("a/project.kdl", format!("{start}prompts {{ {hello}; {bye} }}\n")),
        ("b/project.kdl", format!("prompts {{ {bye} }}\nprompts {{ {hello} }}\n{start}")),
        ("c/project.kdl", format!("{start}include \"z.kdl\" \"y.kdl\"\n")),
        ("c/y.kdl", format!("prompts {{ {bye} }}\n")),
        ("c/z.kdl", format!("prompts {{ {hello} }}\n")),
    ];
    for (path, text) in &documents {
        sandbox.write(path, text);
    }
    let text = |folder: &str| {
        sandbox.relay(&format!("build {folder} --unsigned -o {folder}.relay")).ends(0);
        sandbox.relay(&format!("inspect {folder}.relay --canonical")).ends(0).stdout
    };
    let first = text("a");
    assert_eq!(first, text("b"));
    assert_eq!(first, text("c"));
    // Only the places of declarations differ, which the canonical text omits.
    assert_ne!(
        fs::read(sandbox.path("a.relay")).unwrap(),
        fs::read(sandbox.path("b.relay")).unwrap()
    );
}

/// Places change with every comment; decisions stay the same.
#[test]
fn comments_and_layout_do_not_change_the_meaning() {
    let sandbox = Sandbox::example("homelab");
    let inspected = || sandbox.relay("inspect homelab --json").ends(0).json();
    let before = inspected();
    let project = fs::read_to_string(sandbox.path("homelab/project.kdl")).expect("the project");
    let (head, rest) = project.split_once('\n').expect("a line");
    sandbox.write("homelab/project.kdl", &format!("{head}\n\n// A remark.\n  {rest}"));
    let after = inspected();
    assert_ne!(after["digest"], before["digest"]);
    assert_eq!(after["meaning"], before["meaning"]);
    sandbox.write("homelab/project.kdl", &project.replace("priority=10", "priority=9"));
    assert_ne!(inspected()["meaning"], before["meaning"]);
}
