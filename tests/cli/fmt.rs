//! `relay fmt`: the canonical layout.

use crate::cli::Sandbox;

const UGLY: &str = "project   small version=\"1.0.0\"   epoch=1 // why\ninclude \"more.kdl\"\n\n\n\nprompts{prompt hello{text \"Hello.\"}}\nresources {\nresource \"relay://x/y\" file=\"data.kdl\"\n}\n";
const PRETTY: &str = "project small version=\"1.0.0\" epoch=1 // why\ninclude \"more.kdl\"\n\nprompts { prompt hello { text \"Hello.\" } }\nresources {\n    resource \"relay://x/y\" file=\"data.kdl\"\n}\n";
const MORE_UGLY: &str =
    "/* first */\nprompts   {\n/- prompt gone\n  prompt   bye { text \"Bye.\" }   // last\n}\n";
const DATA: &str = "data    {   of { another   language } }\n";

fn sandbox() -> Sandbox {
    Sandbox::of(&[
        ("project.kdl", UGLY),
        ("more.kdl", MORE_UGLY),
        ("data.kdl", DATA),
        ("other.kdl", "not   part of it\n"),
    ])
}

#[test]
fn a_document_and_its_includes() {
    let sandbox = sandbox();
    let before = sandbox.relay("inspect . --canonical").ends(0).stdout;
    let run = sandbox.relay("fmt project.kdl").ends(0);
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr, "formatted project.kdl\nformatted more.kdl\n");
    assert_eq!(sandbox.read("project.kdl"), PRETTY);
    let more = sandbox.read("more.kdl");
    for comment in ["/* first */", "/- prompt gone", "// last"] {
        assert!(more.contains(comment), "{more}");
    }
    assert_eq!(sandbox.relay("inspect . --canonical").ends(0).stdout, before);
    // Resources and files outside the project stay as they are.
    assert_eq!(sandbox.read("data.kdl"), DATA);
    assert_eq!(sandbox.read("other.kdl"), "not   part of it\n");
    assert_eq!(sandbox.files(), ["data.kdl", "more.kdl", "other.kdl", "project.kdl"]);

    let again = sandbox.relay("fmt .").ends(0).silent();
    assert_eq!(again.stdout, "");
}

#[test]
fn a_check_changes_nothing() {
    let sandbox = sandbox();
    let run = sandbox.relay("fmt project.kdl --check").ends(1).silent();
    for line in [
        "--- project.kdl",
        "+++ project.kdl (formatted)",
        "-project   small version=\"1.0.0\"   epoch=1 // why",
        "+project small version=\"1.0.0\" epoch=1 // why",
        "--- more.kdl",
    ] {
        assert!(run.stdout.lines().any(|other| other == line), "no line `{line}`:\n{}", run.stdout);
    }
    assert!(!run.stdout.contains("data.kdl (formatted)"), "{}", run.stdout);
    assert_eq!(sandbox.read("project.kdl"), UGLY);
    assert_eq!(sandbox.read("more.kdl"), MORE_UGLY);
    sandbox.relay("fmt project.kdl").ends(0);
    assert_eq!(sandbox.relay("fmt project.kdl --check").ends(0).silent().stdout, "");
}

#[test]
fn a_check_prints_no_secret() {
    let text = "project small version=\"1\" epoch=1\nprompts {\n  prompt a { text \"password: hunter2z\" }\n    prompt b { text \"B\" }\n    // AKIAIOSFODNN7QXMWPLE\n}\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    let run = sandbox.relay("fmt . --check").ends(1).silent();
    for line in [
        "@@ -1,6 +1,6 @@",
        "-  prompt a { text \"password: ********\" }",
        "+    prompt a { text \"password: ********\" }",
        "     // ********************",
    ] {
        assert!(run.stdout.lines().any(|other| other == line), "no line `{line}`:\n{}", run.stdout);
    }
}

#[test]
fn a_document_with_syntax_errors_is_not_changed() {
    let broken = "prompts   {\n";
    let sandbox = Sandbox::of(&[("project.kdl", UGLY), ("more.kdl", broken)]);
    sandbox.relay("fmt .").ends(1).says("kdl::syntax");
    assert_eq!(sandbox.read("more.kdl"), broken);
    // The other documents are formatted independently.
    assert_eq!(sandbox.read("project.kdl"), PRETTY);

    let sandbox = Sandbox::of(&[("project.kdl", "project   small {\n")]);
    sandbox.relay("fmt .").ends(1).says("kdl::syntax");
    assert_eq!(sandbox.read("project.kdl"), "project   small {\n");
    std::fs::write(sandbox.path("project.kdl"), b"project   small // \xff\n").expect("a file");
    sandbox.relay("fmt .").ends(1).says("kdl::not_utf8");
    assert_eq!(sandbox.bytes("project.kdl"), b"project   small // \xff\n");
}

#[test]
fn semantic_errors_do_not_matter() {
    let sandbox = Sandbox::of(&[("project.kdl", "unknown   node\ninclude \"missing.kdl\"\n")]);
    sandbox.relay("fmt .").ends(0);
    assert_eq!(sandbox.read("project.kdl"), "unknown node\ninclude \"missing.kdl\"\n");
}

#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = sandbox();
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(sandbox.path("project.kdl"), mode(0o640)).expect("ours");
    sandbox.relay("fmt .").ends(0);
    let after = std::fs::metadata(sandbox.path("project.kdl")).expect("a file").permissions();
    assert_eq!(after.mode() & 0o777, 0o640);
}

#[test]
fn every_example_is_formatted() {
    for name in ["homelab", "minimal", "spec-kit", "conformance"] {
        let run = Sandbox::example(name).relay(&format!("fmt {name} --check"));
        assert_eq!(run.ends(0).silent().stdout, "", "{name}");
    }
}
