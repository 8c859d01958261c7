//! `relay rules`: what the codes of errors and warnings mean.

use crate::cli::{Sandbox, project};

#[test]
fn every_code_has_a_line() {
    let sandbox = Sandbox::new();
    let list = sandbox.relay("rules").ends(0).silent().stdout;
    for line in [
        "\ngate::empty  ",
        "  warning  the gate has no prompt to send\n",
        "  error    the template has {bytes} bytes, over the limit of 262144\n",
        "  error    the document is not KDL\n",
    ] {
        assert!(list.contains(line), "{line:?}: {list}");
    }
    let rules = sandbox.relay("rules --json").ends(0).silent().json();
    for rule in rules["rules"].as_array().expect("a list") {
        let code = rule["code"].as_str().expect("a code");
        assert!(list.lines().any(|line| line.split(' ').next() == Some(code)), "{code}");
    }
}

#[test]
fn one_code_is_explained() {
    let sandbox = Sandbox::new();
    let page = sandbox.relay("rules gate::empty").ends(0).silent().stdout;
    crate::cli::snapshot("rules_code", &page);
    let rules = sandbox.relay("rules front_matter::no_description --json").ends(0).json();
    assert_eq!(rules["rules"].as_array().map(Vec::len), Some(1));
    let rule = &rules["rules"][0];
    assert_eq!(rule["messages"][1]["message"], "`description` is empty");
    assert_eq!(rule["messages"][0]["severity"], "error");
    assert!(rule["why"][0].as_str().expect("a text").contains("Clients list prompts"), "{rule}");
    assert!(rule["example"].as_str().expect("a text").contains("─[strict/c.md"), "{rule}");
}

#[test]
fn an_unknown_code_gets_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox
        .relay("rules gate::emtpy")
        .ends(2)
        .says("error: unknown code `gate::emtpy`")
        .says("help: did you mean `gate::empty`?");
    sandbox.relay("rules frobnicate").ends(2).says("help: `relay rules` lists every code");
}

#[test]
fn code_scanning_gets_the_reason() {
    let wrong = "project small version=\"1.0.0\" epoch=1\nprompts { promt a }\n";
    let sandbox = Sandbox::of(&[("project.kdl", wrong), ("good.kdl", &project(""))]);
    let log = sandbox.relay("check . --format sarif").ends(1).json();
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
    let address = rule["helpUri"].as_str().expect("an address");
    assert!(address.ends_with("/docs/diagnostics.md#nodeunknown"), "{address}");
    let why = sandbox.relay("rules node::unknown --json").ends(0).json()["rules"][0]["why"].clone();
    assert_eq!(rule["fullDescription"]["text"], why[0]);
}
