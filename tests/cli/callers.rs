//! `--tenant`, `--role`, `--user` and `--group`, and what `build` and `inspect` say of audiences: the
//! project in `tests/cli/diff/roles`.

use serde_json::{Value, json};

use crate::cli::build::masked;
use crate::cli::{Run, Sandbox, copy, snapshot};
use crate::support::root;

/// The project, as `project` and as `platform.relay`.
fn built() -> Sandbox {
    let sandbox = Sandbox::new();
    copy(&root().join("tests/cli/diff/roles"), &sandbox.path("project"));
    sandbox.relay("build project --unsigned -q -o platform.relay").ends(0);
    sandbox
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list").iter();
    list.map(|item| item["name"].as_str().expect("a name")).collect()
}

#[test]
fn describe_shows_what_a_caller_sees() {
    let sandbox = built();
    let describe = |caller: &str| {
        sandbox.relay(&format!("describe platform.relay {caller} --json")).ends(0).silent().json()
    };
    let reader = ["conventions"];
    let operator_of_acme = ["conventions", "invoices", "ledger", "rollout"];
    for (caller, prompts, tools) in [
        // A caller that gives no name gets the role of `anyone`.
        ("", &reader[..], 3),
        ("--role reader", &reader, 3),
        ("--role auditor", &["conventions", "ledger"], 5),
        ("--role reader --tenant acme", &["conventions", "invoices"], 3),
        ("--user ann@acme.example", &operator_of_acme, 5),
        // A role sees what its parent may read, but not its tools.
        ("--user bob@acme.example --tenant acme", &operator_of_acme, 3),
        ("--group globex:audit", &["conventions", "ledger"], 5),
        (
            "--user new@acme.example --group globex:audit --group other",
            &["conventions", "ledger"],
            5,
        ),
    ] {
        let answer = describe(caller);
        assert_eq!(names(&answer["prompts"]), prompts, "{caller}");
        assert_eq!(names(&answer["tools"]).len(), tools, "{caller}");
        crate::cli::schemas::assert_conforms("describe", &answer);
        let text = answer["instructions"].as_str().expect("a text");
        for name in operator_of_acme {
            assert_eq!(
                text.contains(&format!("- {name}: ")),
                prompts.contains(&name),
                "{caller}: {text}"
            );
        }
    }
    let given = describe("--user ann@acme.example");
    assert_eq!((&given["tenant"], &given["role"]), (&json!("acme"), &json!("operator")));
    let human = sandbox.relay("describe platform.relay --role auditor").ends(0).silent();
    snapshot("describe_role_human", &human.stdout);
    // A project gives the same answers as its bundle.
    sandbox.relay("describe project --role auditor").ends(0).prints("ledger");
    assert_eq!(sandbox.relay("describe project --role auditor").stdout, human.stdout);
}

#[test]
fn explain_previews_what_the_caller_may_ask() {
    let sandbox = built();
    let explain = |question: &str| sandbox.relay(&format!("explain platform.relay {question}"));
    let full = |question: &str| {
        let answer = explain(&format!("--tags teams bank {question} --json")).ends(0).json();
        let text = answer.to_string();
        ["conventions", "invoices", "ledger", "rollout"]
            .map(|name| text.contains(&format!("\"{name}\"")))
    };
    assert_eq!(full("--role reader"), [true, false, false, false]);
    assert_eq!(full("--role auditor"), [true, false, true, false]);
    assert_eq!(full("--user ann@acme.example"), [true; 4]);
    // What is hidden is unknown to the caller, and left out of suggestions; the author reads who
    // sees it.
    let hidden = explain("--prompt ledger --role reader").ends(1);
    let unknown = explain("--prompt lodger --role reader").ends(1);
    let of = |run: &Run| format!("{}{}", run.stdout, run.stderr);
    let answered = |run: &Run| of(run).lines().next().unwrap_or_default().to_owned();
    assert_eq!(answered(&hidden).replace("ledger", "lodger"), of(&unknown).trim_end());
    let hidden =
        hidden.prints("hidden: declared at project.kdl:43, for auditor, observer, operator");
    hidden.prints("caller: role `reader`, no tenant");
    let json = explain("--prompt ledger --role reader --json").ends(1).json();
    assert_eq!(json["refused"], "unknown prompt `ledger`");
    assert_eq!(json["hidden"]["role"], "reader");
    explain("--prompt lodger --role auditor").ends(1).prints("did you mean `ledger`?");
    explain("--prompt ledger --role auditor").ends(0).prints("Compare the ledger");
    let hidden = explain("--uri platform://regions --role reader").ends(1);
    let unknown = explain("--uri platform://lesions --role reader").ends(1);
    assert_eq!(answered(&hidden).replace("regions", "lesions"), of(&unknown).trim_end());
    hidden.prints("hidden: declared at ").prints("caller: role `reader`, no tenant");
    explain("--uri platform://regions --role operator").ends(0).prints("eu-1, us-1");
    let index = |caller: &str| explain(&format!("--index {caller} --json")).ends(0).json();
    assert_ne!(index("--role reader")["instructions"], index("--role operator")["instructions"]);
}

#[test]
fn a_call_that_the_server_rejects_is_not_previewed() {
    let sandbox = built();
    let explain = |question: &str| sandbox.relay(&format!("explain platform.relay {question}"));
    explain("--call audit_tail --role reader").ends(1).says("unknown tool `audit_tail`");
    explain("--call audit_tail --role auditor").ends(0);
    explain("--tool audit_tail --role reader").ends(1).prints("does not see `audit_tail`");
    explain("--tool audit_tail --role oparator").ends(2).says("did you mean `operator`?");
    explain("--tool server_info --user ann@acme.example").ends(0).prints("the tenant `acme`");
}

#[test]
fn callers_that_nobody_can_be_are_refused() {
    let sandbox = built();
    let unknown = [
        // A server refuses a caller of that tenant. The role of a question is only an assumption.
        (1, "--tenant acmo", "unknown tenant `acmo`", "did you mean `acme`?"),
        (2, "--role oparator", "unknown role `oparator`", "did you mean `operator`?"),
        (2, "--role x", "unknown role `x`", "known names: auditor, observer, operator, reader"),
    ];
    let refused = [
        (
            "--user ann@acme.example --tenant globex --role operator",
            "does not have the role `operator`",
        ),
        ("--user bob@acme.example --role operator", "does not have the role `operator`"),
    ];
    for verb in [
        "describe platform.relay",
        "explain platform.relay --index",
        "explain platform.relay --tags x",
    ] {
        for (code, caller, why, help) in unknown {
            sandbox.relay(&format!("{verb} {caller}")).ends(code).says(why).says(help);
        }
        for (caller, why) in refused {
            let run = sandbox.relay(&format!("{verb} {caller}")).ends(1);
            run.says("the server refuses this caller").says(why);
        }
    }
    // Everyone admitted has a name, so the question must say who asks.
    sandbox.edit("project/project.kdl", "    anyone role=reader\n", "");
    for verb in ["describe project", "explain project --index", "explain project --prompt ledger"] {
        sandbox
            .relay(verb)
            .ends(2)
            .says("the answer depends on who asks")
            .says("the roles are: auditor, observer, operator, reader");
        sandbox
            .relay(&format!("{verb} --user nobody"))
            .ends(1)
            .says("no line of `users` admits this caller");
    }
}

#[test]
fn projects_without_roles_know_no_caller() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("describe minimal --user ann --group sre").ends(0);
    sandbox.relay("describe minimal --role reader").ends(2).says("the project has no roles");
    sandbox.relay("describe minimal --tenant acme").ends(2).says("the project has no tenants");
}

/// The tenants, as options, and the roles of those who see what an audience sees.
fn pairs(readers: &Value) -> Vec<(String, String)> {
    let list = |key: &str| readers[key].as_array().cloned().unwrap_or_default();
    let roles = list("roles");
    assert!(!roles.is_empty(), "each audience of this project has roles: {readers}");
    let mut tenants: Vec<String> = list("tenants")
        .iter()
        .map(|name| name.as_str().map(|name| format!(" --tenant {name}")).unwrap_or_default())
        .collect();
    if tenants.is_empty() {
        tenants = ["", " --tenant acme", " --tenant globex"].map(Into::into).to_vec();
    }
    let of_tenant = |tenant: String| {
        roles.iter().map(move |role| (tenant.clone(), role.as_str().expect("a name").to_owned()))
    };
    tenants.into_iter().flat_map(of_tenant).collect()
}

#[test]
fn inspect_lists_who_there_is_and_who_sees_what() {
    let sandbox = built();
    let human = sandbox.relay("inspect platform.relay").ends(0).silent().stdout;
    snapshot("inspect_roles_human", &masked(&human));
    let canonical = sandbox.relay("inspect platform.relay --canonical").ends(0).silent().stdout;
    snapshot("inspect_roles_canonical", &masked(&canonical));
    let answer = sandbox.relay("inspect platform.relay --json").ends(0).silent().json();
    crate::cli::schemas::assert_conforms("inspect", &answer);
    assert_eq!(answer["instructions"], Value::Null);
    assert_eq!(names(&answer["tenants"]), ["acme", "globex"]);
    assert_eq!(names(&answer["roles"]), ["auditor", "observer", "operator", "reader"]);
    assert_eq!(answer["roles"][1]["parent"], "operator");
    assert_eq!(answer["roles"][1]["tools"][0]["value"], "server_info");
    let users = answer["users"].as_array().expect("a list");
    assert_eq!(users.len(), 4);
    assert_eq!(
        users[3],
        json!({ "who": "anyone", "id": null, "tenant": null, "role": "reader", "at": "project.kdl:22" })
    );
    let seen_by = |list: &str, name: &str| {
        let key = if list == "resources" { "uri" } else { "name" };
        let items = answer[list].as_array().expect("a list").iter();
        items.clone().find(|item| item[key] == name).expect(name)["seen_by"].clone()
    };
    assert_eq!(seen_by("prompts", "conventions"), Value::Null);
    assert_eq!(
        seen_by("prompts", "ledger"),
        json!([{ "roles": ["auditor", "observer", "operator"] }])
    );
    assert_eq!(seen_by("prompts", "invoices"), json!([{ "tenants": ["acme"] }]));
    assert_eq!(seen_by("tools", "audit_tail"), json!([{ "roles": ["auditor", "operator"] }]));
    // Each audience is what `describe` shows to its callers.
    let audiences = answer["audiences"].as_array().expect("a list");
    assert!(audiences.len() > 2, "{audiences:?}");
    for audience in audiences {
        for readers in audience["readers"].as_array().expect("a list") {
            for (tenant, role) in pairs(readers) {
                let line = format!("describe platform.relay --role {role}{tenant} --json");
                let seen = sandbox.relay(&line).ends(0).json();
                assert_eq!(audience["instructions"], seen["instructions"], "{line}");
                assert_eq!(audience["prompts"], names(&seen["prompts"]).len(), "{line}");
                assert_eq!(audience["tools"], names(&seen["tools"]).len(), "{line}");
            }
        }
    }
}

#[test]
fn build_measures_what_each_audience_gets() {
    let sandbox = built();
    let run = sandbox.relay("build project --unsigned").ends(0);
    let human = run.says("no server enforces this yet: the `tier=` of roles").stdout;
    snapshot(
        "build_roles_human",
        &human.lines().filter(|line| !line.contains("digest")).collect::<Vec<_>>().join("\n"),
    );
    let built = sandbox.relay("build project --unsigned --format json").ends(0).silent().json();
    crate::cli::schemas::assert_conforms("build", &built);
    let bundle = &built["bundle"];
    let audiences = bundle["audiences"].as_array().expect("a list");
    let inspected = sandbox.relay("inspect platform.relay --json").ends(0).json();
    assert_eq!(audiences.len(), inspected["audiences"].as_array().expect("a list").len());
    let total = |audience: &Value| -> u64 {
        let texts = ["instructions", "tools_list", "prompts_list"];
        texts.map(|text| audience[text]["bytes"].as_u64().expect("a number")).into_iter().sum()
    };
    assert!(audiences.iter().map(total).is_sorted_by(|a, b| a >= b), "the worst is first");
    for text in ["instructions", "gate_index", "tools_list", "prompts_list"] {
        let bytes = audiences.iter().map(|it| it[text]["bytes"].as_u64().expect("a number"));
        assert_eq!(bundle[text]["bytes"], bytes.max().expect("some"), "{text}");
    }
    for audience in audiences {
        let of = |it: &&Value| it["readers"] == audience["readers"];
        let held = inspected["audiences"].as_array().expect("a list").iter().find(of);
        let text = held.expect("the same readers")["instructions"].as_str().expect("a text");
        assert_eq!(audience["instructions"]["bytes"], text.len());
    }
}

#[test]
fn many_audiences_are_a_dozen_rows() {
    let sandbox = Sandbox::new();
    let tenants: String = (0..40).map(|number| format!("tenant t{number:02}; ")).collect();
    let prompt = |number| {
        format!(
            "prompt p{number:02} {{ summary \"S{}\"; text T; for tenant=t{number:02} }}\n",
            "x".repeat(number)
        )
    };
    let prompts: String = (0..40).map(prompt).collect();
    let text = format!(
        "project many version=\"1.0.0\" epoch=1\ngate on\ntenants {{ {tenants} }}\nprompts {{\n{prompts}}}\n"
    );
    sandbox.write("project.kdl", &text);
    let human = sandbox.relay("build . --unsigned").ends(0).stdout;
    let (texts, _) = human.split_once("\n  prompt ").expect("prompts");
    let rows = texts.lines().filter(|line| line.contains("  t3")).count();
    assert_eq!(rows, 9, "{texts}");
    assert!(texts.contains("+38 more, smaller"), "{texts}");
    let built = sandbox.relay("build . --unsigned --format json").ends(0).json();
    assert_eq!(built["bundle"]["audiences"].as_array().expect("a list").len(), 41);
}
