//! The order of decisions, and what each kind of rule means.

use relay_engine::decide::Rule;
use serde_json::json;

use super::{Judged, Who};

const ROLES: &str = "tenants { tenant acme; tenant globex }
roles { role reader; role operator tier=2; role admin tier=3 approve=#true; role root tier=3 }
users { anyone role=reader }
tools { diagnostics; other \"fs_*\" { arg path writes } }
";
const READER: Who<'_> = ("", "reader");
const OPERATOR: Who<'_> = ("", "operator");
const ADMIN: Who<'_> = ("", "admin");
const ROOT: Who<'_> = ("", "root");

fn judged(policy: &str) -> Judged {
    Judged::of(&format!("{ROLES}{policy}"))
}

#[test]
fn the_mode_decides_what_no_rule_does() {
    for (mode, reads, changes, wipes) in [
        ("open", "allow read-only", "allow mode", "allow mode"),
        ("guarded", "allow read-only", "deny mode-guarded", "deny mode-guarded"),
        ("readonly", "allow read-only", "deny mode-readonly", "deny mode-readonly"),
    ] {
        let judged = judged(&format!("policy {mode}"));
        assert_eq!(judged.told(ROOT, "ls"), reads, "{mode}");
        assert_eq!(judged.told(ROOT, "systemctl restart nginx"), changes, "{mode}");
        assert_eq!(judged.told(ROOT, "rm -rf /srv"), wipes, "{mode}");
    }
    let judged = judged("policy guarded");
    assert_eq!(judged.told(ROOT, "touch a"), "allow mode");
    assert_eq!(judged.told(READER, "touch a"), "deny role-tier");
    assert_eq!(judged.told(OPERATOR, "rm -rf /srv"), "deny role-tier");
}

#[test]
fn the_order_is_deny_role_readonly_approve_allow_mode() {
    let judged = judged(
        r#"policy guarded {
    deny no-nginx { program systemctl; operands nginx }
    approve ask-redis { program systemctl; operands redis }
    allow units { program systemctl; sub restart; operands nginx redis php-fpm }
    scope tenant=acme { mode readonly }
}"#,
    );
    let told = |who, unit: &str| judged.told(who, &format!("systemctl restart {unit}"));
    assert_eq!(told(READER, "nginx"), "deny policy.no-nginx");
    assert_eq!(told(READER, "redis"), "deny role-tier");
    assert_eq!(told(("acme", "operator"), "redis"), "deny mode-readonly");
    assert_eq!(told(OPERATOR, "redis"), "approve policy.ask-redis");
    assert_eq!(told(OPERATOR, "php-fpm"), "allow policy.units");
    assert_eq!(told(OPERATOR, "cron"), "deny mode-guarded");
    let decision = judged.command(OPERATOR, "systemctl restart cron");
    let nearest = decision.nearest.expect("an allow is near");
    assert_eq!((nearest.name.as_str(), nearest.fails_on), ("units", vec!["operands".to_owned()]));
}

#[test]
fn the_nearest_rule_is_about_the_program_of_the_refused_effect() {
    let judged = judged(
        r#"policy guarded {
    allow tags { program git; sub push; operands origin v1 }
    allow logs { program docker; sub rm; operands logs }
    allow units { program systemctl; sub restart; operands nginx }
    allow units-of-x { program systemctl; sub restart; operands cron; flags "--now" }
}"#,
    );
    let nearest = |command: &str| {
        let decision = judged.command(ROOT, command);
        assert_eq!(decision.rule, Rule::ModeGuarded, "{command}");
        decision.nearest.map(|nearest| (nearest.name, nearest.fails_on.join(" ")))
    };
    let found = |name: &str, fails_on: &str| Some((name.to_owned(), fails_on.to_owned()));
    assert_eq!(nearest("git fetch; systemctl restart redis"), found("units", "operands"));
    assert_eq!(nearest("git push origin v1; docker rm web"), found("logs", "operands"));
    // Of two that fail on one part each, the one that names a value of the command.
    assert_eq!(nearest("systemctl restart cron"), found("units-of-x", "flags"));
    // The rules about other programs of the text say nothing about a file.
    assert_eq!(nearest("systemctl restart nginx; rm -rf /srv"), None);
}

#[test]
fn an_allow_covers_only_what_it_names_or_fixes() {
    let judged = judged(
        r#"policy guarded {
    allow push { program git; sub push; operands origin main }
    allow push-anywhere { program git; sub push; flags "--force-with-lease" }
    allow write-etc { writes "/etc/app/**" }
    allow deploy { program "/opt/bin/deploy"; operands staging }
}"#,
    );
    let told = |command| judged.told(ROOT, command);
    assert_eq!(told("git push origin main"), "allow policy.push");
    // An option that raises the tier must be named.
    assert_eq!(told("git push --force origin main"), "deny mode-guarded");
    assert_eq!(told("git push origin other"), "deny mode-guarded");
    assert_eq!(told("echo a > /etc/app/x"), "allow policy.write-etc");
    assert_eq!(told("echo a > /etc/app/../passwd"), "deny mode-guarded");
    assert_eq!(told("echo a > /etc/app/$X"), "deny mode-guarded");
    // Everything else in the text must be covered too.
    assert_eq!(told("git push origin main; rm x"), "deny mode-guarded");
    assert_eq!(told("git push origin main > /etc/passwd"), "deny mode-guarded");
    assert_eq!(told("/opt/bin/deploy staging"), "allow policy.deploy");
    assert_eq!(told("/opt/bin/deploy staging --wipe"), "deny mode-guarded");
    assert_eq!(told("deploy staging"), "deny mode-guarded");
}

#[test]
fn a_role_that_asks_and_agent_settings_need_a_person() {
    let judged = judged("policy open");
    assert_eq!(judged.told(ADMIN, "rm -rf /srv"), "approve role-approves");
    assert_eq!(judged.told(ADMIN, "rm x"), "allow mode");
    assert_eq!(judged.told(ROOT, "rm -rf /srv"), "allow mode");
    for command in [
        "echo {} > .claude/settings.json",
        "rm ~/.codex/config.toml",
        "cp x bundle.relay",
        "truncate -s 0 ~/.local/state/relay/audit.jsonl",
        "sed -i 3d /var/log/relay/audit.jsonl",
        "rm -f /var/lib/relay/audit-checkpoints-1f0c6a52d3b09e77.jsonl",
        "cp x /VAR/lib/relay/audit-checkpoint.key",
        "mv ~/.local/state/relay /tmp/old",
        "rm state/audit-checkpoint.pub",
        "cp new.toml /etc/relay/hook.d/x",
        "python3 -c \"open('/var/log/relay/audit.jsonl', 'w')\"",
    ] {
        assert_eq!(judged.told(ROOT, command), "approve agent-config", "{command}");
    }
    assert_eq!(judged.told(ROOT, "cat .claude/settings.json"), "allow read-only");
    for command in ["touch lib/relay/environment.js", "touch state/relay/x", "touch etc/relay/x"] {
        assert_eq!(judged.told(ROOT, command), "allow mode", "{command}");
    }
    let denial = judged.command(ADMIN, "rm -rf /srv").denial();
    let expected =
        "[CONFIRM REQUIRED tier 3 (IRREVERSIBLE): the caller's role asks a person before tier 3]";
    assert_eq!(denial, expected);
}

#[test]
fn raised_and_lowered_tiers_hold_for_everyone() {
    let judged = judged(
        r#"policy guarded {
    tier wipe 3 because="it empties the host" { program deploy; flags "--wipe" }
    lower push to=1 because="every branch is protected" { program git; sub push }
}"#,
    );
    let tier = |command| judged.command(ROOT, command).tier.number();
    assert_eq!(
        (tier("deploy x"), tier("deploy --wipe x"), tier("sudo deploy --wipe=all")),
        (2, 3, 3)
    );
    assert_eq!(tier("deploy $X"), 3, "a word that is not known may be the option");
    assert_eq!((tier("git push"), tier("git push --force")), (1, 3));
    assert_eq!(tier("git push; docker volume rm a"), 3);
    assert_eq!(judged.told(OPERATOR, "git push"), "allow mode");
}

#[test]
fn an_observed_deny_only_says_what_it_would_do() {
    let judged = judged("policy open { deny push observe=#true { program git; sub push } }");
    let decision = judged.command(ROOT, "git push");
    assert_eq!(decision.outcome.word(), "allow");
    let observed: Vec<&str> = decision.observed.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(observed, ["push"]);
    assert!(judged.command(ROOT, "git pull").observed.is_empty());
}

#[test]
fn scopes_narrow_by_tenant_role_and_host() {
    let judged = judged(
        r#"policy open {
    scope tenant=acme {
        mode readonly
        scope role=root { mode guarded widen=#true; deny no-tail { tool audit_tail } }
    }
    scope host="db-*" { mode guarded; deny no-wipe { tier min=3 } }
}"#,
    );
    let command = "systemctl restart nginx";
    assert_eq!(judged.told(("acme", "operator"), command), "deny mode-readonly");
    assert_eq!(judged.told(("acme", "root"), command), "deny mode-guarded");
    assert_eq!(judged.told(("globex", "root"), command), "allow mode");
    let on = |host: &str, command: &str| {
        let arguments = json!({ "host": host, "command": command });
        let decision = judged.call(ROOT, "ssh_exec", arguments.as_object().unwrap());
        format!("{} {}", decision.outcome.word(), decision.rule_name())
    };
    assert_eq!(on("web-1", command), "allow mode");
    assert_eq!(on("db-1", command), "deny mode-guarded");
    assert_eq!(on("root@DB-1.", "rm -rf /srv"), "deny policy.no-wipe");
    // A shell that goes there by itself is there too.
    assert_eq!(judged.told(ROOT, "ssh db-1 rm -rf /srv"), "deny policy.no-wipe");
    assert_eq!(judged.told(ROOT, "ssh $HOST rm -rf /srv"), "deny policy.no-wipe");
    let tail = |who| judged.call(who, "audit_tail", &serde_json::Map::new()).rule_name();
    assert_eq!(tail(("acme", "root")), "policy.no-tail");
    assert_eq!(tail(("globex", "root")), "read-only");
}

#[test]
fn rules_reach_tools_by_name_argument_and_effect() {
    let judged = judged(
        r#"policy guarded {
    deny no-prod { tool "fs_*"; arg env prod }
    deny no-etc { writes "/etc/**" }
    allow work { writes "./**" }
}"#,
    );
    let told = |tool: &str, arguments: serde_json::Value| {
        let decision = judged.call(ROOT, tool, arguments.as_object().unwrap());
        format!("{} {}", decision.outcome.word(), decision.rule_name())
    };
    assert_eq!(told("fs_write", json!({ "path": "/etc/passwd" })), "deny policy.no-etc");
    assert_eq!(told("fs_write", json!({ "path": "/srv/../etc/x" })), "deny policy.no-etc");
    assert_eq!(told("fs_write", json!({ "path": ["a", "/etc/x"] })), "deny policy.no-etc");
    assert_eq!(told("fs_write", json!({ "path": "src/a" })), "allow mode");
    assert_eq!(told("fs_write", json!({ "path": "a", "env": "prod" })), "deny policy.no-prod");
    // Nothing says what this tool does.
    assert_eq!(told("mail_send", json!({})), "deny mode-guarded");
    assert_eq!(told("ssh_upload", json!({ "host": "a", "local_path": "x" })), "deny mode-guarded");
}

#[test]
fn the_order_of_lines_means_nothing() {
    let lines = [
        "deny a { program git; sub push }",
        "approve b { program git }",
        "allow c { program git; sub push }",
        "deny d { writes \"/etc/**\" }",
        "scope tenant=acme { mode readonly }",
        "scope role=root { mode open widen=#true }",
    ];
    let commands = ["git push", "git pull", "rm x", "echo > /etc/a", "ls"];
    let decided = |lines: &[&str]| {
        let judged = judged(&format!("policy guarded {{ {} }}", lines.join("; ")));
        let mut all = Vec::new();
        for who in [ROOT, OPERATOR, ("acme", "root"), ("acme", "operator")] {
            all.extend(commands.iter().map(|command| judged.told(who, command)));
        }
        all
    };
    let expected = decided(&lines);
    let mut turned = lines;
    for _ in 0..lines.len() {
        turned.rotate_left(1);
        assert_eq!(decided(&turned), expected, "{turned:?}");
    }
    turned.reverse();
    assert_eq!(decided(&turned), expected);
}

/// A row of facts lists what is alike for tiers. A rule that permits one of them does not permit its neighbours.
#[test]
fn an_allow_covers_the_names_that_it_gives() {
    let judged = judged(
        r#"policy guarded {
    allow branch { program git; sub branch; flags "-d"; removes "./**" }
    allow toolchains { program rustup; sub "toolchain install" }
    allow stop { program docker; sub stop; flags "-t" "--time" }
    allow modules { program rm; flags "-r"; removes "./**/node_modules" }
}"#,
    );
    for (command, told) in [
        ("rustup toolchain install stable", "allow policy.toolchains"),
        ("rustup toolchain uninstall stable", "deny mode-guarded"),
        ("rustup self uninstall", "deny mode-guarded"),
        ("git branch -d x", "allow policy.branch"),
        ("git branch -D x", "deny mode-guarded"),
        ("git branch -d -D x", "deny mode-guarded"),
        ("docker stop -t 3 web", "allow policy.stop"),
        ("rm -r node_modules", "allow policy.modules"),
        ("rm --recursive web/node_modules", "deny mode-guarded"),
        ("rm -r ../node_modules", "deny mode-guarded"),
        ("cd .. && rm -r node_modules", "deny mode-guarded"),
        ("rm -r a/../../node_modules", "deny mode-guarded"),
    ] {
        let found = judged.told(ROOT, command);
        assert_eq!(found, told, "{command}");
    }
    // A rule that restricts means them all: an option has several spellings.
    let judged = self::judged(
        r#"policy open {
    deny installs { program npm; sub install }
    deny recursion { program rm; flags "--recursive" }
}"#,
    );
    for command in ["npm i left-pad", "npm install left-pad", "rm -r a", "rm -Rf a"] {
        assert_eq!(judged.command(ROOT, command).outcome.word(), "deny", "{command}");
    }
}

#[test]
fn an_allow_over_a_call_and_its_effects_needs_both() {
    let judged = judged(
        r#"policy guarded {
    allow push { program git; sub push; connects "git.corp.example" }
    allow install { program cp; writes "/etc/app/**" }
    allow both { connects "a.example"; writes "/etc/app/**" }
}"#,
    );
    let told = |command| judged.told(ROOT, command);
    assert_eq!(told("git push https://git.corp.example/a main"), "allow policy.push");
    assert_eq!(told("git push https://evil.example/a main"), "deny mode-guarded");
    // Nothing says to which host this goes.
    assert_eq!(told("git push"), "deny mode-guarded");
    assert!(told("cp a /etc/app/b").starts_with("allow policy."));
    assert_eq!(told("cp a /etc/passwd"), "deny mode-guarded");
    // Without a call, a rule covers each effect that it names.
    assert_eq!(told("echo x > /etc/app/a"), "allow policy.both");
}

#[test]
fn every_part_that_a_rule_raises_is_raised() {
    let judged = judged(
        r#"policy open {
    tier all 3 { program deploy }
    lower one to=1 because="it is a rehearsal" { program deploy; operands staging }
}"#,
    );
    let tier = |command| judged.command(ROOT, command).tier.number();
    assert_eq!((tier("deploy staging"), tier("deploy prod")), (1, 3));
    assert_eq!((tier("deploy staging; deploy prod"), tier("deploy prod; deploy staging")), (3, 3));
}

#[test]
fn a_word_of_standard_input_is_fixed_by_its_own_rule_alone() {
    let judged = judged(
        r#"policy guarded {
    allow copy { program cp; operands a }
}"#,
    );
    let told = |arguments: serde_json::Value| {
        let decision = judged.call(ROOT, "shell_exec", arguments.as_object().unwrap());
        format!("{} {}", decision.outcome.word(), decision.rule_name())
    };
    let copy = "cp --target-directory=/etc a";
    assert_eq!(told(json!({ "command": copy })), "deny mode-guarded");
    assert_eq!(told(json!({ "command": "sh", "stdin": copy })), "deny mode-guarded");
    // A program that is no shell reads it as data.
    assert_eq!(told(json!({ "command": "true", "stdin": copy })), "allow read-only");
    let decision = judged.call(
        ROOT,
        "shell_exec",
        json!({ "command": "sh", "stdin": "rm /etc/x" }).as_object().unwrap(),
    );
    let span = decision.span.expect("the word that decides");
    assert_eq!(span.of(&decision.text), "/etc/x", "{}", decision.text);
}
