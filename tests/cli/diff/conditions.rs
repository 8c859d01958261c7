//! `--only`, `--fail-on` and `--accepted`.

use serde_json::Value;

use super::copies;
use crate::cli::diff_inputs::Repo;
use crate::cli::{Sandbox, project};

/// Two projects that differ in every area: the gate loosens, a text changes, an argument is gone.
fn changed() -> Sandbox {
    let sandbox = copies();
    sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
    sandbox.edit("b/project.kdl", "in February", "in March");
    sandbox.edit(
        "b/project.kdl",
        "{ one-of north south }\n        arg grams",
        "{ one-of north west }\n        arg grams",
    );
    sandbox
}

/// The fingerprints of the findings for which `holds`.
fn fingerprints(sandbox: &Sandbox, holds: impl Fn(&Value) -> bool) -> Vec<String> {
    let json = sandbox.relay("diff a b --json").json();
    let findings = json["projects"][0]["findings"].as_array().expect("findings").iter();
    let fingerprint = |finding: &Value| finding["fingerprint"].as_str().expect("a text").to_owned();
    findings.filter(|finding| holds(finding)).map(fingerprint).collect()
}

fn accepted(fingerprints: &[String], reason: &str) -> String {
    let entry = |fingerprint: &String| {
        format!("[[accepted]]\nfingerprint = \"{fingerprint}\"\nreason = \"{reason}\"\n")
    };
    fingerprints.iter().map(entry).collect()
}

#[test]
fn only_some_areas_are_shown() {
    let sandbox = changed();
    let all = sandbox.relay("diff a b --json").json();
    let total = all["projects"][0]["findings"].as_array().expect("findings").len();
    for (only, areas) in [
        ("authority", &["authority"][..]),
        ("contexts,surface", &["contexts", "surface"]),
        ("surface --only authority", &["authority", "surface"]),
    ] {
        let json = sandbox.relay(&format!("diff a b --only {only} --json")).ends(0).silent().json();
        crate::cli::schemas::assert_conforms("diff", &json);
        assert_eq!(json["areas"], serde_json::json!(areas), "{only}");
        assert_eq!(json["same_meaning"], false, "{only}");
        let project = &json["projects"][0];
        let findings = project["findings"].as_array().expect("findings");
        let is_shown = |finding: &Value| areas.contains(&finding["area"].as_str().expect("a text"));
        assert!(!findings.is_empty() && findings.iter().all(is_shown), "{only}");
        assert_eq!(project["not_shown"], total - findings.len(), "{only}");
    }
    let hidden = format!("{} findings of other areas not shown", total - 1);
    let human = sandbox.relay("diff a b --only authority").ends(0).silent().stdout;
    assert!(human.contains("\n  1 loosens   0 tightens\n"), "{human}");
    assert!(human.contains(&format!("note: {hidden}\n")), "{human}");
    for form in ["markdown", "sarif", "github"] {
        let text =
            sandbox.relay(&format!("diff a b --only authority --format {form}")).ends(0).stdout;
        assert!(text.contains(&hidden), "{form}: {text}");
        assert!(!text.contains("February"), "{form}: {text}");
    }
    // Hidden findings are ignored by the exit code, and are still a difference in meaning.
    sandbox.edit("b/project.kdl", "else=intercept", "else=refuse");
    sandbox.relay("diff a b --exit-code").ends(1);
    let none = sandbox.relay("diff a b --exit-code --only authority").ends(0);
    assert!(!none.stdout.contains("no difference in meaning"), "{}", none.stdout);
    let markdown = sandbox.relay("diff a b --only authority --format markdown").ends(0);
    markdown.prints("### relay · no change in what is shown\n");
    sandbox.relay("diff a b --only context").ends(2).says("did you mean `--only contexts`?");
}

#[test]
fn a_finding_fails_the_run() {
    let sandbox = changed();
    for (kind, title) in [
        ("loosens", "gate: unlock"),
        ("breaking", "prompt `order`: "),
        ("contexts", "message `gate-intercept-preamble`"),
        ("always", "message `gate-intercept-preamble`"),
        ("surface", "prompt `order`: "),
        ("surface,loosens", "gate: unlock"),
        ("surface --fail-on loosens", "gate: unlock"),
    ] {
        let run = sandbox.relay(&format!("diff a b --fail-on {kind}")).ends(1);
        assert!(run.stdout.contains("Authority"), "{kind}: {}", run.stdout);
        assert!(run.stderr.starts_with("error: `--fail-on "), "{kind}: {}", run.stderr);
        run.says(title).says("(fingerprint ").says("help: ");
    }
    // What fails the run can be accepted, so its fingerprint is shown.
    let text = fingerprints(&sandbox, |finding| finding["part"] == "text").remove(0);
    for form in ["human", "markdown"] {
        let shown = |arguments: &str| {
            let run = sandbox.relay(&format!("diff a b --format {form} {arguments}"));
            run.stdout.contains(&text)
        };
        assert!(!shown("") && shown("--fail-on contexts"), "{form}");
    }
    // Every form is printed in full before the run fails.
    for form in ["json", "markdown", "sarif", "github"] {
        let passed = sandbox.relay(&format!("diff a b --format {form}")).ends(0).silent();
        let failed = sandbox.relay(&format!("diff a b --fail-on loosens --format {form}")).ends(1);
        assert_eq!(failed.stdout, passed.stdout, "{form}");
    }
    sandbox.relay("diff b a --fail-on loosens").ends(0).silent();
    sandbox.relay("diff a a --fail-on loosens,breaking,contexts,surface").ends(0).silent();
    // A condition that nothing can trip would pass everything.
    sandbox
        .relay("diff a b --only contexts --fail-on loosens")
        .ends(2)
        .says("`--fail-on loosens` trips on nothing that `--only` shows")
        .says("add `authority` to --only");
    sandbox.relay("diff a b --only contexts --fail-on breaking").ends(0);
    sandbox.relay("diff a b --fail-on widens").ends(2).says("its values are: loosens,");
}

#[test]
fn accepted_findings_fail_nothing_and_are_shown() {
    let sandbox = changed();
    let loosening = fingerprints(&sandbox, |finding| finding["direction"] == "loosens");
    assert_eq!(loosening.len(), 1);
    sandbox.write("accepted.toml", &accepted(&loosening, "no briefing: OPS-12"));
    let run =
        |arguments: &str| sandbox.relay(&format!("diff a b --accepted accepted.toml {arguments}"));
    run("--fail-on loosens").ends(0).silent();
    run("--fail-on loosens,breaking").ends(1).says("`--fail-on breaking`");
    // It is a difference all the same.
    run("--exit-code --only authority").ends(1);
    let reason = "accepted: no briefing: OPS-12";
    run("").ends(0).silent().prints(reason).prints(&loosening[0]).prints("1 accepted\n");
    let json = run("--json").ends(0).silent().json();
    crate::cli::schemas::assert_conforms("diff", &json);
    assert_eq!(json["projects"][0]["findings"][0]["accepted"]["reason"], "no briefing: OPS-12");
    assert_eq!(json["projects"][0]["findings"][1]["accepted"], Value::Null);
    run("--format markdown")
        .ends(0)
        .silent()
        .prints("accepted: `no briefing: OPS-12`")
        .prints("### relay · 1 breaking change for clients\n");
    let github = run("--format github").ends(0).silent().stdout;
    assert!(!github.contains("::error"), "{github}");
    assert!(github.contains("%0Aaccepted: no briefing: OPS-12%0A"), "{github}");
    let log = run("--format sarif").ends(0).silent().json();
    let results = log["runs"][0]["results"].as_array().expect("results");
    let suppressed: Vec<_> = results.iter().filter(|it| it.get("suppressions").is_some()).collect();
    assert_eq!(suppressed.len(), 1);
    assert_eq!(suppressed[0]["level"], "note");
    assert_eq!(
        suppressed[0]["suppressions"],
        serde_json::json!([{ "kind": "external", "status": "accepted", "justification": "no briefing: OPS-12" }])
    );
}

#[test]
fn a_change_does_not_accept_its_own_findings() {
    let text = |access: &str| {
        project(&format!("roles {{ role reader; role operator tier=2 }}\nusers {{ {access} }}\n"))
    };
    let repo = Repo::of(&[("project.kdl", &text("user ann role=reader; user joe role=operator"))]);
    repo.write("project.kdl", &text("user ann role=operator; user joe role=operator"));
    let findings = repo.relay("diff project.kdl --json").json()["projects"][0]["findings"].clone();
    let fingerprint = findings[0]["fingerprint"].as_str().expect("a text").to_owned();
    repo.write("accepted.toml", &accepted(&[fingerprint], "ann is on call: OPS-7"));
    let run = |line: &str| repo.relay(&format!("diff {line} --accepted accepted.toml"));
    for line in ["project.kdl", "HEAD:project.kdl project.kdl", "HEAD:project.kdl ./project.kdl"] {
        run(&format!("{line} --fail-on loosens")).ends(1).says("`--fail-on loosens`");
        let head = repo.git("rev-parse HEAD");
        run(line)
            .ends(0)
            .prints("1 accepted by this change alone")
            .prints("accepted by this change alone: ann is on call: OPS-7")
            .prints(&format!("once `{}:accepted.toml`", &head[..12]));
    }
    let json = run("project.kdl --json").ends(0).json();
    crate::cli::schemas::assert_conforms("diff", &json);
    let finding = &json["projects"][0]["findings"][0];
    assert_eq!(finding["accepted"], Value::Null);
    assert_eq!(finding["accepted_here"]["reason"], "ann is on call: OPS-7");
    run("project.kdl --format markdown")
        .ends(0)
        .prints("accepted by this change alone: `ann is on call: OPS-7`");
    // A file outside of repositories is its caller's own.
    repo.sandbox
        .write("own.toml", &std::fs::read_to_string(repo.path("accepted.toml")).expect("a file"));
    repo.relay("diff project.kdl --accepted ../own.toml --fail-on loosens").ends(0);
    // What was merged before counts.
    repo.git("add accepted.toml");
    repo.git("commit -q -m accept");
    run("project.kdl --fail-on loosens").ends(0).silent();
    run("project.kdl").ends(0).prints("1 accepted\n").prints("accepted: ann is on call: OPS-7");
}

#[test]
fn accepted_findings_are_after_the_others_of_their_area() {
    let sandbox = copies();
    sandbox.edit("b/project.kdl", "else=refuse", "else=intercept");
    sandbox.edit("b/project.kdl", "garden@acme.example", "park@acme.example");
    let order = |arguments: &str| {
        let json = sandbox.relay(&format!("diff a b --json {arguments}")).ends(0).json();
        let findings = json["projects"][0]["findings"].as_array().expect("findings").clone();
        let of_authority = findings.iter().filter(|it| it["area"] == "authority");
        of_authority.map(|it| it["id"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(""), ["authority/gate/unlock", "authority/project/owner"]);
    let loosening = fingerprints(&sandbox, |finding| finding["direction"] == "loosens");
    sandbox.write("accepted.toml", &accepted(&loosening, "why not"));
    assert_eq!(
        order("--accepted accepted.toml"),
        ["authority/project/owner", "authority/gate/unlock"]
    );
}

#[test]
fn an_entry_that_fits_nothing_is_reported() {
    let sandbox = changed();
    let loosening = fingerprints(&sandbox, |finding| finding["direction"] == "loosens").remove(0);
    let slip = format!("{}{}", &loosening[..15], if loosening.ends_with('0') { '1' } else { '0' });
    let entries = accepted(&["0000000000000000".into(), slip.clone()], "because");
    sandbox.write("accepted.toml", &entries);
    let first = "`accepted.toml`, line 2: no finding has the fingerprint `0000000000000000`";
    let second = format!(
        "`accepted.toml`, line 5: no finding has the fingerprint `{slip}`; did you mean `{loosening}`?"
    );
    sandbox
        .relay("diff a b --accepted accepted.toml")
        .ends(0)
        .silent()
        .prints(&format!("note: {first}\n"))
        .prints(&format!("note: {second}\n"));
    for form in ["json", "markdown", "sarif", "github"] {
        let run =
            sandbox.relay(&format!("diff a b --accepted accepted.toml --format {form}")).ends(0);
        assert!(
            run.stdout.contains(first) && run.stdout.contains(&second),
            "{form}: {}",
            run.stdout
        );
        run.says(&format!("warning: {first}")).says(&format!("warning: {second}"));
    }
    // Many of them are counted.
    let many: Vec<String> = (0..30).map(|number| format!("{number:016x}")).collect();
    sandbox.write("accepted.toml", &accepted(&many, "because"));
    let run = sandbox.relay("diff a b --accepted accepted.toml").ends(0).silent();
    assert_eq!(run.stdout.matches("no finding has the fingerprint").count(), 10, "{}", run.stdout);
    run.prints("note: `accepted.toml`: 20 more entries fit no finding\n");
    // An entry of an area that is left out fits.
    sandbox.write("accepted.toml", &accepted(&[loosening], "because"));
    sandbox.relay("diff a b --accepted accepted.toml --only contexts --json").ends(0).silent();
}

#[test]
fn a_file_of_accepted_findings_is_checked() {
    let sandbox = changed();
    let good = "fingerprint = \"0123456789abcdef\"\nreason = \"r\"\n";
    let table: &[(&str, &str, &str)] = &[
        (
            "[[accepted]]\nfingerprint = \"0123456789abcdef\"\n",
            "accepted.toml:1:1: the key `reason` is missing",
            "[[accepted]]",
        ),
        (
            "[[accepted]]\nreason = \"r\"\n",
            "accepted.toml:1:1: the key `fingerprint` is missing",
            "[[accepted]]",
        ),
        (
            &format!("[[accepted]]\n{good}until = \"2030\"\n"),
            "accepted.toml:4:1: unknown key `until`; known keys: fingerprint, reason",
            "write `[[accepted]]`",
        ),
        ("[[acepted]]\n", "unknown key `acepted`", "did you mean `accepted`?"),
        ("accepted", "is not a file of accepted findings", "accepted.toml:1:"),
        (
            "[[accepted]]\nfingerprint = \"0123456789ABCDEF\"\nreason = \"r\"\n",
            "line 2: `0123456789ABCDEF` is no fingerprint",
            "did you mean `0123456789abcdef`?",
        ),
        (
            "\n[[accepted]]\nfingerprint = \"0123\"\nreason = \"r\"\n",
            "line 3: `0123` is no fingerprint",
            "16 hexadecimal digits",
        ),
        (
            "[[accepted]]\nfingerprint = \"0123456789abcdef\"\nreason = \" \"\n",
            "line 3: `reason` is empty",
            "why the difference is wanted",
        ),
        (
            &format!("[[accepted]]\n{good}[[accepted]]\n{good}"),
            "line 5: `0123456789abcdef` is accepted already in line 2",
            "remove one of them",
        ),
    ];
    for (text, message, help) in table {
        sandbox.write("accepted.toml", text);
        let run = sandbox.relay("diff a b --accepted accepted.toml").ends(2);
        assert_eq!(run.stdout, "", "{text}");
        run.says("`accepted.toml`").says(message).says(help);
    }
    sandbox.write("accepted.toml", &format!("# {}\n", "x".repeat(1 << 20)));
    sandbox.relay("diff a b --accepted accepted.toml").ends(2).says("larger than");
    sandbox.relay("diff a b --accepted missing.toml").ends(2).says("the file does not exist");
    sandbox.write("accepted.toml", "");
    sandbox.relay("diff a b --accepted accepted.toml").ends(0).silent();
}
