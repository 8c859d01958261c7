//! Whether a call of a tool runs, and the briefing that precedes its result.

use relay_bundle::{Bundle, Tier};
use serde_json::{Value, json};

use super::{GATED, PROJECT, explain_of, written};
use crate::bundle::sample;
use crate::cli::{Run, Sandbox, snapshot};

#[test]
fn a_call_without_a_briefing() {
    // The worked example: the tags are the words of the call.
    let file: Value = serde_json::from_str(include_str!("../../gate/selection.json")).unwrap();
    let examples = file["examples"].as_array().unwrap();
    let example = examples.iter().find(|example| example["id"] == "S50").unwrap();
    let arguments = r#"{"chain":"vpn","port":443,"briefing":"lights"}"#;
    let call = ["--call", "edge/set_firewall_rule", "--arguments", arguments, "--json"];
    let answer = explain_of(&written(&file["projects"][0]), &call).ends(1);
    let answer = answer.says("does not offer the tool `edge/set_firewall_rule`").json();
    assert_eq!(answer["keywords"], json!(["edge", "firewall", "rule", "vpn"]));
    assert_eq!((&answer["gated"], &answer["text"]), (&json!(false), &json!(null)));
    let decision = ["decision", "tier", "rule", "reason", "at"].map(|key| &answer[key]);
    let unknown = ["reject", "not-offered", "unknown tool"].map(Value::from);
    assert_eq!(decision, [&unknown[0], &json!(0), &unknown[1], &unknown[2], &json!(null)]);
    for list in ["full", "index", "names"] {
        assert_eq!(answer[list], example[list], "{list}");
    }

    let call = ["--call", "audit_tail", "--arguments", r#"{"tool":"lights"}"#];
    let texts = |more: &[&str]| {
        let ask =
            |more: &[&str]| explain_of(GATED, &[&call, more].concat()).ends(0).silent().stdout;
        format!("{}\n====\n{}", ask(more), ask(&[more, &["--no-session"]].concat()))
    };
    snapshot("explain_call_human", &texts(&[]));
    snapshot("explain_call_why", &texts(&["--why"]));
    // The tags of an undeclared tool are printed too, and a call may lack usable words.
    let unknown = explain_of(GATED, &["--why", "--call", "get"]).ends(1);
    let unknown = unknown.says("does not offer the tool `get`").stdout.clone();
    let decision = "decision: reject, tier 0 READ_ONLY\nrule: not-offered: unknown tool\n";
    let start = format!("{decision}keywords of the call: (none)\n");
    assert!(unknown.starts_with(&start), "{unknown}");
}

/// Explains a call to a bundle whose tools have this tier, as no compiler of this version writes it.
fn explain_at(tier: Tier, question: &str) -> Run {
    ask_at(tier, &format!("--call server_info {question}"))
}

/// Asks a question of a bundle whose tools have this tier.
fn ask_at(tier: Tier, question: &str) -> Run {
    let roles = "roles { role reader; role boss tier=3 }\nusers { anyone role=reader }\n";
    let sandbox = Sandbox::of(&[("project.kdl", &format!("{GATED}\n{roles}"))]);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    let bundle = Bundle::open(Box::new(sandbox.bytes("x.relay"))).unwrap();
    let mut contents = bundle.contents().unwrap();
    contents.tools.iter_mut().for_each(|tool| tool.tier = tier);
    std::fs::write(sandbox.path("x.relay"), sample::sealed(&contents, &[])).unwrap();
    sandbox.relay(&format!("explain x.relay {question}"))
}

#[test]
fn a_call_is_decided_as_on_a_server() {
    let decided = |tier, question: &str, code| {
        let answer = explain_at(tier, &format!("{question} --json")).ends(code).json();
        let at = answer["at"].as_str().unwrap_or_default().to_owned();
        let of = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let is_briefed = !answer["text"].is_null();
        (of("decision"), answer["tier"].clone(), of("rule"), at, is_briefed)
    };
    let expected = |decision: &str, tier: u8, rule: &str, line: u32, is_briefed| {
        (decision.into(), json!(tier), rule.into(), format!("project.kdl:{line}"), is_briefed)
    };
    let (reader, boss) = ("--role reader", "--role boss");
    let allowed = expected("allow", 0, "read-only", 6, true);
    assert_eq!(decided(Tier::ReadOnly, reader, 0), allowed);
    assert_eq!(decided(Tier::ReadOnly, boss, 0), allowed);
    let over = expected("deny", 2, "role-tier", 15, false);
    assert_eq!(decided(Tier::Stateful, reader, 1), over);
    let no_policy = expected("deny", 2, "no-policy", 6, false);
    assert_eq!(decided(Tier::Stateful, boss, 1), no_policy);

    let denied = explain_at(Tier::Stateful, boss).ends(1).stdout;
    assert_eq!(denied, "[DENIED tier 2 (STATEFUL): no policy allows it]\n");
    let why = explain_at(Tier::Stateful, &format!("--why {boss}")).ends(1).stdout;
    let rule =
        "decision: deny, tier 2 STATEFUL\nrule: no-policy (project.kdl:6): no policy allows it";
    assert!(why.starts_with(rule), "{why}");
    assert!(why.contains("A call that is denied gets no briefing."), "{why}");
}

#[test]
fn the_tools_of_a_role_decide_on_tools_of_other_servers() {
    let sandbox = Sandbox::new();
    let text = "project firm epoch=1
roles { role reader { tools server_info }; role operator { tools \"api-*\" server_info } }
users { anyone role=reader; user ann role=operator }
tools { diagnostics; other \"api-*\" }
skills { global { skill dates \"ISO.\" } }
";
    sandbox.write("project.kdl", text);
    let call =
        |role: &str| sandbox.relay(&format!("explain project.kdl --call api-get --role {role}"));
    call("reader").ends(1).says("this caller does not see it");
    call("operator").ends(1).says("the project does not offer the tool `api-get`");
    let refused = "refused: this caller does not see `api-get`: a server rejects the call";
    let asked =
        |role: &str| sandbox.relay(&format!("explain project.kdl --tool api-get --role {role}"));
    asked("reader").ends(1).prints(refused).prints("skills otherwise: 4 bytes");
    assert!(!asked("operator").ends(0).stdout.contains("does not see"));
}

#[test]
fn a_policy_decides_calls_of_every_tool() {
    let sandbox = Sandbox::new();
    let project = |policy: &str| {
        let prompts = "prompts { prompt a { summary A; text x } }";
        sandbox.write("project.kdl", &format!("project firm epoch=1\n{prompts}\n{policy}\n"));
    };
    let call = |code: i32| {
        let arguments = r#"{"path":"/etc/x"}"#;
        let line = ["explain", "project.kdl", "--call", "fs_x", "--arguments", arguments, "--json"];
        sandbox.relay_of(&line).ends(code)
    };
    let decided = |run: Run| {
        let answer = run.json();
        ["decision", "rule", "tier"].map(|key| answer[key].clone())
    };
    // A tool without a declaration is of the tier of the floor `unknown-tool`.
    project("policy");
    let refused = ["deny", "mode-guarded"].map(Value::from);
    let answer = call(1).says("the project does not name the tool `fs_x`");
    assert_eq!(decided(answer), [refused[0].clone(), refused[1].clone(), json!(2)]);
    project("policy open");
    assert_eq!(decided(call(0)), [json!("allow"), json!("mode"), json!(2)]);
    project("tools { other \"fs_*\" }\npolicy open { deny no-fs { tool \"fs_*\" } }");
    assert_eq!(decided(call(1)), [json!("deny"), json!("policy.no-fs"), json!(2)]);
    project(
        "tools { other \"fs_*\" { arg path writes } }\npolicy open { deny e { writes \"/etc/**\" } }",
    );
    assert_eq!(decided(call(1)), [json!("deny"), json!("policy.e"), json!(2)]);
    project("");
    assert_eq!(decided(call(1)), [json!("reject"), json!("not-offered"), json!(0)]);
}

#[test]
fn a_denied_call_is_noted_beside_its_skills() {
    let refused = "refused: a server denies this call of `server_info`, and gives it no skills: tier 2, no policy allows it";
    ask_at(Tier::Stateful, "--tool server_info --role boss").ends(1).prints(refused);
}

#[test]
fn notes_on_unsent_briefings() {
    let [call, tags] = [["--call", "server_info"], ["--tags", "vpn"]];
    let refusing = GATED.replace("else=intercept budget=(bytes)64", "else=refuse");
    explain_of(&refusing, &call).ends(0).prints("has `unlock else=refuse`, so the call is denied");
    explain_of(GATED, &["--call", "read_prompts"]).ends(0).prints("`read_prompts` is not gated");
    // If the gate and its tools are gone, servers refuse the call.
    for (question, code) in [(call, 1), (tags, 0)] {
        explain_of(PROJECT, &question).ends(code).prints("This project has no gate");
        let output = explain_of(GATED, &question).ends(0).silent().stdout;
        assert!(!output.contains("has no gate"), "{output}");
    }
}
