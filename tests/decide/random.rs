//! Random policies over the corpora: the engine decides as the words of docs/policy.md do.

use std::collections::BTreeMap;
use std::fmt::Write;

use relay_engine::tool::reach;
use serde_json::{Map, Value, json};

use super::model::{self, CLASS, Line, Policy, Request, Rule, Scope};
use super::{Judged, Who};
use crate::policy::corpus;
use crate::policy::entry::FACTS;
use crate::random::Random;

const POLICIES: u64 = 84;
/// The requests that each policy decides; all policies together decide the whole corpus.
const REQUESTS_EACH: usize = 150;

pub(super) const HEAD: &str = "tenants { tenant acme; tenant globex }
roles {
    role reader
    role operator tier=2
    role admin tier=3 approve=#true
    role root tier=3
    role narrow tier=3 { tools \"shell_exec\" \"fs_*\" }
}
users { anyone role=reader }
tools { diagnostics; other \"fs_*\" { arg path writes; arg from reads; arg url connects } }
";
const TENANTS: [&str; 3] = ["", "acme", "globex"];
/// The roles, with their tiers and whether they ask a person.
const ROLES: [(&str, u8, bool); 5] = [
    ("reader", 0, false),
    ("operator", 2, false),
    ("admin", 3, true),
    ("root", 3, false),
    ("narrow", 3, false),
];
const CLIENTS: [Option<&str>; 3] = [None, Some("claude-code"), Some("cursor")];
const HOSTS: [&str; 4] = ["db-1", "web-1", "root@DB-2.", "127.1"];

/// A call of a tool.
pub(super) struct Asked {
    pub(super) tool: &'static str,
    pub(super) arguments: Map<String, Value>,
}

/// Returns the calls: each command of the corpora, in one of several tools, and calls of others.
pub(super) fn asked() -> Vec<Asked> {
    let mut all = Vec::new();
    let mut add = |tool, arguments: Value| {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        all.push(Asked { tool, arguments });
    };
    for (number, command) in corpus::all_commands().into_iter().enumerate() {
        if command.len() > 2_000 {
            continue;
        }
        let host = HOSTS[number % HOSTS.len()];
        match number % 12 {
            0 => add("ssh_exec", json!({ "host": host, "command": command })),
            1 => add("shell_exec", json!({ "command": "true", "stdin": command })),
            2 => add("ssh_fanout", json!({ "hosts": "web-1,db-1", "command": command })),
            3 => add("shell_spawn", json!({ "command": command })),
            4 => add("ssh_exec", json!({ "host": "web-1", "jump": host, "command": command })),
            _ => add("shell_exec", json!({ "command": command })),
        }
    }
    for path in ["/etc/passwd", "/srv/a", "/srv/a.log", "src/a", "~/.ssh/id_rsa", ".env", "/"] {
        add("fs_write", json!({ "path": path, "env": "prod" }));
        add("fs_copy", json!({ "path": "a", "from": path, "env": "test" }));
        add("ssh_upload", json!({ "host": "db-1", "local_path": path, "remote_path": "x" }));
        add("ssh_download", json!({ "host": "web-1", "local_path": path, "remote_path": "x" }));
    }
    for url in ["https://a.corp.example/x", "http://evil.example", "db-1"] {
        add("fs_fetch", json!({ "path": "a", "url": url }));
    }
    add("mail_send", json!({ "to": "a" }));
    add("mail_list", json!({ "env": "prod" }));
    add("audit_tail", json!({ "lines": 3 }));
    add("server_info", json!({}));
    add("ssh_forward", json!({ "host": "db-1", "spec": "8080:localhost:80" }));
    add("session_send", json!({ "session_id": "a", "data": "rm -rf /srv" }));
    all
}

type Pool = (&'static str, &'static [&'static str]);

/// The selectors of calls and effects, with values that the corpora have.
const PARTS: &[Pool] = &[
    ("program", &["rm", "git", "systemctl", "docker", "kubectl", "curl", "cp", "tee", "sudo"]),
    ("program", &["npm", "psql", "find", "ssh", "python3", "echo", "cat", "make", "deploy", "tar"]),
    ("program", &["*ctl", "pip*", "/opt/bin/deploy", "vi", "mv", "chmod", "sed", "bash", "kill"]),
    ("sub", &["push", "restart", "delete", "apply", "install", "system prune", "run", "*"]),
    ("flags", &["-f", "--force", "-r", "--recursive", "-n", "--output=*", "--help", "-X=DELETE"]),
    ("operands", &["main", "origin", "nginx", "*", "/etc/*", "a", "x*", "$HOME", "http*"]),
    ("reads", &["/etc/**", "./**", "~/**", "**/.env", "secret", "critical", "ledger", "*"]),
    ("writes", &["/etc/**", "./**", "~/**", "scratch", "admits", "critical", "ledger", "*"]),
    ("removes", &["/srv/**", "./**", "/var/log/*", "/tmp/**", "scratch", "ledger", "*", "/"]),
    ("changes", &["/etc/**", "./**", "critical", "device", "/usr/*/bin", "*"]),
    ("touches", &["/var/**", "./*", "/dev/*", "**/*.log", "secret", "device", "~/.*", "*"]),
    ("connects", &["*", "*.corp.example", "localhost", "127.0.0.1", "db-*", "*.example.com"]),
    ("sends", &["*", "secret", "file", "body", "output", "data"]),
    ("listens", &["*", "80*", "0.0.0.0*"]),
    ("runs", &["*", "opaque", "made", "remote"]),
    ("escalates", &["*", "root", "postgres"]),
];
type Command = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Programs with some of their sub-commands and options.
const COMMANDS: &[Command] = &[
    ("git", &["push", "clean", "reset"], &["-f", "--force", "-n"]),
    ("docker", &["run", "system prune", "rm"], &["-f", "--force"]),
    ("kubectl", &["delete", "apply"], &["-f", "--force", "--dry-run=*"]),
];

const WHOLES: &[Pool] = &[
    ("tool", &["shell_exec", "shell_*", "ssh_*", "fs_*", "fs_write", "mail_*", "*", "audit_tail"]),
    ("arg", &["prod", "test", "*", "db-1", "a"]),
    ("host", &["db-*", "web-1", "*", "127.0.0.1"]),
    ("client", &["claude-*", "cursor", "*"]),
    ("min", &["1", "2", "3"]),
    ("max", &["0", "1", "2"]),
    ("text", &["push", "rm -r", "shell_exec ", "etc"]),
];

fn some<T: Copy>(random: &mut Random, from: &[T], most: usize) -> Vec<T> {
    (0..1 + random.below(most)).map(|_| from[random.below(from.len())]).collect()
}

fn lines(random: &mut Random, kind: &str, most: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for _ in 0..1 + random.below(most) {
        let is_adjusting = matches!(kind, "tier" | "lower");
        let (selector, values) = match random.below(5) {
            0 if !is_adjusting => WHOLES[random.below(WHOLES.len())],
            _ => PARTS[random.below(PARTS.len())],
        };
        let is_plain = matches!(selector, "min" | "max" | "text");
        let is_twice = lines.iter().any(|line| {
            line.selector == selector || is_plain && matches!(line.selector, "min" | "max")
        });
        if is_twice || selector == "text" && matches!(kind, "allow" | "tier" | "lower") {
            continue;
        }
        // What permits has to mean all of a command, so it gets more values.
        let most = match kind {
            _ if is_plain => 1,
            "allow" => 8,
            _ => 3,
        };
        let mut line =
            Line { selector, argument: "", values: some(random, values, most), except: Vec::new() };
        if selector == "arg" {
            line.argument = ["env", "host", "path"][random.below(3)];
        }
        if !is_plain && random.below(4) == 0 {
            line.except = some(random, values, 1);
        }
        lines.push(line);
    }
    // A sub-command and an option are those of their program.
    let has = |lines: &[Line], selector: &str| lines.iter().any(|line| line.selector == selector);
    if has(&lines, "program") && (has(&lines, "sub") || has(&lines, "flags")) {
        let (program, subs, flags) = COMMANDS[random.below(COMMANDS.len())];
        for line in &mut lines {
            let values = match line.selector {
                "program" => &[program],
                "sub" => subs,
                "flags" => flags,
                _ => continue,
            };
            line.values = some(random, values, 2);
            line.except.clear();
        }
    }
    if lines.is_empty() {
        return vec![Line {
            selector: "program",
            argument: "",
            values: vec!["git"],
            except: vec![],
        }];
    }
    lines
}

const MODES: [&str; 3] = ["readonly", "guarded", "open"];

pub(super) fn policy(random: &mut Random) -> Policy {
    let mut scopes: Vec<Scope> = Vec::new();
    for _ in 0..random.below(5) {
        let parent = Some(random.below(scopes.len() + 1)).filter(|number| *number < scopes.len());
        let mut scope = Scope { parent, tenant: "", role: "", host: "", mode: None };
        let mut around = Vec::new();
        let mut next = parent;
        while let Some(number) = next {
            around.push(&scopes[number]);
            next = scopes[number].parent;
        }
        if random.below(2) == 0 && around.iter().all(|it| it.tenant.is_empty()) {
            scope.tenant = TENANTS[1 + random.below(2)];
        }
        if random.below(2) == 0 && around.iter().all(|it| it.role.is_empty()) {
            scope.role = ROLES[random.below(ROLES.len())].0;
        }
        let has_caller = !(scope.tenant.is_empty() && scope.role.is_empty());
        if !has_caller || random.below(4) == 0 {
            scope.host = ["db-*", "web-*", "*"][random.below(3)];
        }
        if random.below(3) > 0 {
            scope.mode = Some(MODES[random.below(3)]);
        }
        scopes.push(scope);
    }
    let kinds = ["deny", "deny", "approve", "allow", "allow", "allow", "tier", "lower"];
    let rules = (0..random.below(9)).map(|number| {
        let kind = kinds[random.below(kinds.len())];
        let is_adjusting = matches!(kind, "tier" | "lower");
        let scope = random.below(scopes.len() * 2 + 1);
        let except = match random.below(3) {
            0 => (0..1 + random.below(2)).map(|_| lines(random, kind, 2)).collect(),
            _ => Vec::new(),
        };
        Rule {
            name: format!("r{number}"),
            kind,
            tier: random.below(4) as u8,
            observe: kind == "deny" && random.below(5) == 0,
            scope: Some(scope).filter(|scope| *scope < scopes.len() && !is_adjusting),
            lines: lines(random, kind, if kind == "allow" { 2 } else { 3 }),
            except,
        }
    });
    let rules = rules.collect();
    Policy { mode: ["guarded", "guarded", "open", "readonly"][random.below(4)], scopes, rules }
}

fn quoted(values: &[&str]) -> String {
    values.iter().map(|value| format!(" {value:?}")).collect()
}

/// Returns the lines in another order, unless there is no `random`.
fn shuffled(mut lines: Vec<String>, random: &mut Option<Random>) -> String {
    if let Some(random) = random {
        for at in (1..lines.len()).rev() {
            lines.swap(at, random.below(at + 1));
        }
    }
    lines.join("; ")
}

fn line(line: &Line) -> String {
    let Line { selector, argument, values, except } = line;
    let except = match except.as_slice() {
        [] => String::new(),
        except => format!(" {{ except{} }}", quoted(except)),
    };
    match *selector {
        "min" | "max" => format!("tier {selector}={}", values[0]),
        "text" => format!("text (regex){:?}", values[0]),
        "arg" => format!("arg {argument}{}{except}", quoted(values)),
        _ => format!("{selector}{}{except}", quoted(values)),
    }
}

fn body(lines: &[Line], except: &[Vec<Line>], order: &mut Option<Random>) -> String {
    let mut all: Vec<String> = lines.iter().map(line).collect();
    for group in except {
        all.push(format!("except {{ {} }}", body(group, &[], order)));
    }
    shuffled(all, order)
}

impl Policy {
    /// Returns the text of the policy, in another order if there is a `random`.
    pub(super) fn text(&self, order: &mut Option<Random>) -> String {
        let inner = self.inner(None, self.mode, order);
        let (name, patterns, except) = CLASS;
        let class = format!("class {name}{} {{ except{} }}", quoted(patterns), quoted(except));
        format!("{HEAD}policy {} {{ paths {{ {class} }}; {inner} }}\n", self.mode)
    }

    fn inner(&self, around: Option<usize>, mode: &str, order: &mut Option<Random>) -> String {
        let mut lines = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.scope == around) {
            let Rule { name, kind, tier, observe, lines: own, except, .. } = rule;
            let mut head = format!("{kind} {name}");
            match *kind {
                "tier" => write!(head, " {tier}").unwrap(),
                "lower" => write!(head, " to={tier} because=x").unwrap(),
                _ => {}
            }
            if *observe {
                head.push_str(" observe=#true");
            }
            lines.push(format!("{head} {{ {} }}", body(own, except, order)));
        }
        for (number, scope) in self.scopes.iter().enumerate().filter(|it| it.1.parent == around) {
            let mut head = String::from("scope");
            for (name, value) in
                [("tenant", scope.tenant), ("role", scope.role), ("host", scope.host)]
            {
                if !value.is_empty() {
                    write!(head, " {name}={value:?}").unwrap();
                }
            }
            let rank = |mode: &str| MODES.iter().position(|it| *it == mode);
            let own = scope.mode.map(|own| match rank(own) > rank(mode) {
                true => format!("mode {own} widen=#true"),
                false => format!("mode {own}"),
            });
            let inner = self.inner(Some(number), scope.mode.unwrap_or(mode), order);
            let parts = own.into_iter().chain(Some(inner).filter(|it| !it.is_empty()));
            let parts: Vec<String> = parts.collect();
            lines.push(format!("{head} {{ {} }}", shuffled(parts, order)));
        }
        shuffled(lines, order)
    }
}

/// Returns arguments as texts, as rules see them.
fn texts(arguments: &Map<String, Value>) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    arguments.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

fn caller(random: &mut Random) -> (Who<'static>, (u8, bool), Option<&'static str>) {
    let (role, tier, approves) = ROLES[random.below(ROLES.len())];
    ((TENANTS[random.below(3)], role), (tier, approves), CLIENTS[random.below(3)])
}

#[test]
fn the_engine_decides_as_the_words_of_the_manual_do() {
    let asked = asked();
    assert!(asked.len() > 300);
    let known = FACTS.knowledge();
    let bare = Judged::of(&Policy { mode: "open", scopes: vec![], rules: vec![] }.text(&mut None));
    let bare: Vec<_> =
        asked.iter().map(|it| bare.call(("", "root"), it.tool, &it.arguments)).collect();
    let mut disagreements = Vec::new();
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut next, mut compiled) = (0, 0);
    for seed in 1..=POLICIES {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let policy = policy(&mut random);
        let text = policy.text(&mut None);
        // The build refuses some combinations.
        let Some(judged) = Judged::try_of(&text) else { continue };
        compiled += 1;
        for _ in 0..REQUESTS_EACH {
            next = (next + 1) % asked.len();
            let Asked { tool, arguments } = &asked[next];
            let (who, (role_tier, role_approves), client) = caller(&mut random);
            let arguments_as_texts = texts(arguments);
            let hosts =
                ["host", "hosts", "jump"].iter().filter_map(|it| arguments_as_texts.get(*it));
            let hosts = hosts.flat_map(|hosts| hosts.split(',')).map(str::to_owned).collect();
            let request = Request {
                tenant: who.0,
                role: who.1,
                tool,
                hosts: if reach(tool).is_some() { hosts } else { Vec::new() },
                arguments: arguments_as_texts,
                client,
                role_tier,
                role_approves,
                tool_tier: reach(tool).map_or(0, |reach| reach.tier.number()),
                bare: &bare[next],
            };
            let is_seen = who.1 != "narrow" || *tool == "shell_exec" || tool.starts_with("fs_");
            let expected = match is_seen {
                true => model::decide(&policy, &FACTS, &known, &request),
                false => ("reject", "not-seen"),
            };
            let decision = judged.call_from(who, client, tool, arguments);
            let got = (decision.outcome.word(), decision.rule.name());
            *seen.entry(expected).or_default() += 1;
            if got != expected {
                let rules = text.strip_prefix(HEAD).unwrap();
                disagreements.push(format!(
                    "{seed}: {who:?} {client:?} {tool} {}\n  {expected:?} by the model, {got:?} {} \
                     by the engine\n  {rules}",
                    Value::from(arguments.clone()),
                    decision.rule_name()
                ));
            }
        }
    }
    assert!(compiled * 2 > POLICIES, "{compiled}");
    assert_eq!(seen.len(), 11, "every rule decides something: {seen:#?}");
    let count = disagreements.len();
    disagreements.truncate(12);
    assert!(disagreements.is_empty(), "{count}\n{}", disagreements.join("\n"));
}

#[test]
fn the_order_of_lines_of_random_policies_means_nothing() {
    let asked = asked();
    let mut next = 0;
    for seed in 1..=24_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let policy = policy(&mut random);
        let Some(judged) = Judged::try_of(&policy.text(&mut None)) else { continue };
        let others: Vec<Judged> = (0..2)
            .map(|turn| Judged::of(&policy.text(&mut Some(Random(seed * 7 + turn + 1)))))
            .collect();
        for _ in 0..60 {
            next = (next + 1) % asked.len();
            let Asked { tool, arguments } = &asked[next];
            let (who, _, client) = caller(&mut random);
            let of = |judged: &Judged| {
                let decision = judged.call_from(who, client, tool, arguments);
                let observed: Vec<String> =
                    decision.observed.iter().map(|rule| rule.name.clone()).collect();
                (decision.outcome, decision.rule_name(), decision.tier, observed)
            };
            let expected = of(&judged);
            for other in &others {
                let about = format!("{who:?} {tool} {arguments:?}\n{}", policy.text(&mut None));
                assert_eq!(of(other), expected, "{about}");
            }
        }
    }
}

/// Allows, each with commands that it covers alone.
const ALLOWS: &[(&str, &[&str])] = &[
    ("allow a { program git; sub push; operands origin main }", &["git push origin main"]),
    (
        "allow b { program systemctl; sub restart reload; operands nginx }",
        &["systemctl restart nginx", "sudo systemctl reload nginx"],
    ),
    ("allow c { writes \"/etc/app/**\" }", &["echo x > /etc/app/a", "cp a /etc/app/b"]),
    ("allow d { program \"/opt/bin/deploy\"; operands staging }", &["/opt/bin/deploy staging"]),
    ("allow e { program rm; operands build.log }", &["rm build.log"]),
];

/// Commands that are judged too low after a command and `&&`: wrong, and known.
const KNOWN: &[&str] = &[": \"${1@P}\"", "; echo $(($1))"];

#[test]
fn no_allow_runs_a_text_with_a_part_that_none_covers() {
    let rules: Vec<&str> = ALLOWS.iter().map(|(rule, _)| *rule).collect();
    let judged = Judged::of(&format!("{HEAD}policy guarded {{ {} }}", rules.join("; ")));
    let without = Judged::of(&format!("{HEAD}policy guarded"));
    let root = ("", "root");
    let covered: Vec<&str> =
        ALLOWS.iter().flat_map(|(_, commands)| commands.iter().copied()).collect();
    for command in &covered {
        assert!(judged.told(root, command).starts_with("allow policy."), "{command}");
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for (number, command) in corpus::all_commands().iter().enumerate() {
        // What opens a quote, a list or a document would swallow what follows.
        let is_plain = command.len() < 400
            && !command.contains(['\n', '#', '\\'])
            && !command.contains("<<")
            && !command.contains("exit")
            && !command.contains("exec");
        if !is_plain || number % 2 == 1 || judged.told(root, command) != "deny mode-guarded" {
            continue;
        }
        let covered = covered[number % covered.len()];
        for text in [
            format!("{covered}; {command}"),
            format!("{command}; {covered}"),
            format!("{covered} && {command}"),
            format!("if {covered}; then {command}; fi"),
            format!("({covered}; {command})"),
        ] {
            count += 1;
            let (with, bare) = (judged.told(root, &text), without.told(root, &text));
            if with != bare || with.starts_with("allow") {
                wrong.push(format!("{with}: {text}"));
            }
        }
    }
    assert!(count > 1_000, "{count}");
    // INVARIANT to reach: none. What a list that may be skipped does to `$1` is lost.
    wrong.retain(|text| !KNOWN.iter().any(|known| text.contains(known)));
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}
