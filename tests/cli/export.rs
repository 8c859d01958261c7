//! `relay export`: files of other programs that a project becomes.

use std::fs;
use std::os::unix::fs::symlink;

use crate::cli::Sandbox;

#[test]
fn an_export_reports_what_a_form_has_no_place_for() {
    let project = "\
project team version=\"1.0.0\" epoch=1
tools { other \"api-*\" \"db-*\" }
prompts {
    prompt Naming priority=8 { title \"Names\"; summary \"How we name\"; chapters Services; text \"Kebab-case.\" }
    prompt rollout template=#true { summary \"Roll out\"; arg service required=#true; text \"Roll out {{ service }}.\" }
    prompt talk { summary \"A talk\"; message { text \"a\" }; message role=assistant { text \"b\" } }
}
skills { global {
    skill two topic=t \"Two.\" { tools \"api-*\" \"db-*\" }
    skill one topic=u \" One: \\\"1\\\".\\n\\n  Two\"
} }
";
    let sandbox = Sandbox::of(&[("project.kdl", project)]);
    let run = sandbox.relay("export agent-skill . -o out").ends(0);
    let run = run.prints("prompt Naming: out/naming/SKILL.md").prints("priority 8 is dropped");
    let run = run.prints("its chapters are dropped").prints("its title is dropped");
    run.prints("its text depends on the argument `service`").prints("it has 2 messages");
    let skill = sandbox.read("out/naming/SKILL.md");
    assert_eq!(skill, "---\nname: naming\ndescription: How we name\n---\nKebab-case.\n");
    sandbox.relay("export agent-skill . -o out").ends(2).says("already exists");
    let run = sandbox.relay("export stoa . -o out").ends(0);
    run.prints("it has 2 patterns of tools").prints("its topic is dropped");
    let one = sandbox.read("out/one.yaml");
    assert!(one.contains("instructions: \" One: \\\"1\\\".\\n\\n  Two\"\n"), "{one}");
    sandbox.relay("export mdc . -o rules --name rollout").ends(1);
    sandbox.relay("export mdc . -o rules --name namin").ends(2).says("did you mean");
    // A folder that a bundle names may be a link.
    let sandbox = Sandbox::of(&[(
        "project.kdl",
        "project a epoch=1\nprompts { prompt \"a/b\" { text \"Text.\" } }\n",
    )]);
    for folder in ["out", "elsewhere"] {
        fs::create_dir_all(sandbox.path(folder)).expect("a folder");
    }
    symlink(sandbox.path("elsewhere"), sandbox.path("out/a")).expect("a link");
    sandbox.relay("export command . -o out").ends(2).says("`out/a` is a link");
}

#[test]
fn an_export_reports_differences_of_meaning() {
    let project = "\
project team epoch=1
roles { role dev; role ops }
users { user ann role=ops; anyone role=dev }
prompts {
    commands \"c\"
    prompt for-ops { for role=ops; summary \"Ops\"; text \"Text.\" }
    prompt marked template=#false { summary \"Marked\"; text \"Run !`date`, read @docs/a.md, say $1.\" }
    prompt plain { summary \"Plain\"; text \"Mail a@example.com.\" }
}
";
    let noted = "---\ndescription: Noted\nowner: ops\n\"a: b\": c\n---\nText.\n";
    let sandbox = Sandbox::of(&[("project.kdl", project), ("c/noted.md", noted)]);
    let reasons = |form: &str, name: &str| {
        let line = format!("export {form} . -o {form} --json");
        let report = sandbox.relay(&line).ends(0).json();
        fs::remove_dir_all(sandbox.path(form)).expect("the folder");
        let rows = report["report"].as_array().expect("rows").clone();
        let row = rows.into_iter().find(|row| row["of"] == format!("prompt {name}"));
        row.expect("a row")["reasons"].to_string()
    };
    for (form, name, words) in [
        ("command", "for-ops", "its `for` is dropped"),
        ("mdc", "for-ops", "its `for` is dropped"),
        ("mdc", "noted", "its `meta` is dropped"),
        ("agent-skill", "noted", "its `meta` is dropped"),
        ("command", "marked", "the command is run"),
        ("command", "marked", "the file is put in"),
        ("command", "marked", "`$1`"),
        ("mdc", "marked", "the file is put in"),
        ("agent-skill", "marked", "the command is run"),
    ] {
        let reasons = reasons(form, name);
        assert!(reasons.contains(words), "{form} {name}: {reasons}");
    }
    assert_eq!(reasons("mdc", "plain"), "[]");
    sandbox.relay("export command . -o out --name noted").ends(0);
    let noted = sandbox.read("out/noted.md");
    assert!(noted.contains("\n\"a: b\": c\n"), "{noted}");
}

#[test]
fn a_failed_export_leaves_nothing() {
    let project = "project a epoch=1\nprompts { prompt a { text \"One.\" }; prompt \"z/b\" { text \"Two.\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", project), ("out/z", "Mine.\n")]);
    let before = sandbox.files();
    sandbox.relay("export command . -o out").ends(2).says("`out/z` is a file");
    assert_eq!(sandbox.files(), before);
    let project = "project a epoch=1\nprompts { prompt a { text \"One.\" }; prompt \"a.md/b\" { text \"Two.\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", project)]);
    sandbox.relay("export command . -o out").ends(2).says("cannot be a file beside");
    assert_eq!(sandbox.files(), ["project.kdl"]);
}
