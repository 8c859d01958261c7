//! Who may do what: commands with each effect, decided for every role.

use serde_json::Value;

use super::explain_of;

const POLICY: &str = "\
project t epoch=1
roles { role reader; role operator tier=2; role admin tier=3 approve=#true }
users { anyone role=reader; user ann role=admin; user bob role=operator }
prompts { prompt a { text \"Hello.\" } }
policy guarded {
    deny no-secret-reads because=\"SEC-3\" { reads secret; match \"cat ~/.ssh/id_rsa\" }
    allow restart-web role=operator because=\"runbook\" {
        program systemctl
        sub restart
        operands nginx
        match \"systemctl restart nginx\"
    }
    scope role=reader { mode readonly }
}
";

/// Returns the rows of an answer: effect, value and command, then the decision and rule for each role.
fn rows(answer: &Value) -> Vec<(String, Vec<String>)> {
    let rows = answer["rows"].as_array().expect("rows").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let row = |row: &Value| {
        let of = ["effect", "value", "command"].map(|key| text(&row[key])).join(" | ");
        let decisions = row["decisions"].as_array().expect("decisions").iter();
        (
            of,
            decisions
                .map(|it| format!("{} {}", text(&it["decision"]), text(&it["rule"])))
                .collect(),
        )
    };
    rows.map(row).collect()
}

#[test]
fn every_role_is_decided_by_the_policy_as_a_command_is() {
    let answer = explain_of(POLICY, &["--matrix", "--json"]).ends(0).json();
    assert_eq!(answer["roles"].to_string(), r#"["admin","operator","reader"]"#);
    let all = rows(&answer);
    let of = |row: &str| &all.iter().find(|(of, _)| of == row).expect(row).1;
    let secret = of("reads | secret | cat ~/.ssh/id_ed25519");
    assert_eq!(secret, &["deny policy.no-secret-reads"; 3]);
    assert_eq!(
        of("removes | a folder | rm -r ./build"),
        &["approve role-approves", "deny role-tier", "deny role-tier"]
    );
    // The first `match` of each rule of the project is a row.
    assert_eq!(
        of("rule | restart-web | systemctl restart nginx"),
        &["deny mode-guarded", "allow policy.restart-web", "deny role-tier"]
    );
    // Each cell is the answer for the command alone.
    for row in answer["rows"].as_array().expect("rows") {
        let command = row["command"].as_str().expect("a command");
        if !command.starts_with("systemctl") {
            continue;
        }
        for (role, cell) in ["admin", "operator", "reader"].iter().zip(0..) {
            let asked = ["--command", command, "--role", role, "--json"];
            let mut alone = explain_of(POLICY, &asked).json();
            let cell = &row["decisions"][cell];
            for key in ["decision", "rule", "at", "mode"] {
                assert_eq!(alone[key].take(), cell[key], "{command} {role} {key}");
            }
        }
    }
}

#[test]
fn an_effect_on_a_value_is_asked_about_both_ways() {
    let run = explain_of(POLICY, &["--matrix", "writes", "/etc/**"]).ends(0);
    let run = run.prints("tee '/etc/x'").prints("no: mode-guarded").prints("no: role-tier");
    run.prints("another command may be decided otherwise");
    let run = explain_of(POLICY, &["--matrix", "--role", "reader"]).ends(0).prints("rm ./notes.md");
    assert!(!run.stdout.contains("operator"), "{}", run.stdout);
    // Quotes do not end early, and a home stays one.
    let quoted = explain_of(POLICY, &["--matrix", "removes", "~/it's", "--json"]).ends(0).json();
    assert_eq!(quoted["rows"][0]["command"], r"rm ~/'it'\''s'");
    explain_of(POLICY, &["--matrix", "write"]).ends(2).says("did you mean `--matrix writes`?");
    explain_of(POLICY, &["--matrix", "sends", "x"]).ends(2).says("values: file, secret");
    let without = "project t epoch=1\nprompts { prompt a { text \"Hello.\" } }\n";
    explain_of(without, &["--matrix"]).ends(2).says("has no policy");
}
