//! The index of rules: it finds every rule that means a request, and few others.

use std::fmt::Write as _;

use relay_bundle::Rule;
use relay_engine::decide::{Call, Door, Trial};
use relay_engine::place::{Identity, preview};
use relay_engine::rule_keys::{self, Concerned};
use relay_engine::view::View;
use relay_policy::classify::ADJUST_KEY;
use relay_policy::effect::{ArgumentKind, What};
use relay_policy::location::Location;
use serde_json::{Map, Value, json};

use super::random::{self, HEAD};
use super::{Judged, Who};
use crate::random::Random;

const ROOT: Who<'_> = ("", "root");

/// A call of a tool, and where it runs.
struct Asked {
    tool: &'static str,
    arguments: Map<String, Value>,
    location: Location,
}

/// Paths and hosts in many forms, beside rules about `/srv/app`, `~/app` and `./app`.
const COMMANDS: &[&str] = &[
    "rm -r /srv",
    "rm -rf /",
    "rm -rf /srv/ap*",
    "rm -rf /srv/app-*/x",
    "rm -rf /s?v/app",
    "rm -rf /*/app/x",
    "rm -r .",
    "rm -r ..",
    "rm -r ~",
    "rm app/x",
    "rm -r ./app/../app",
    "rm ../a",
    "rm ../../srv/app/x",
    "rm ~/../../srv/app/x",
    "rm ~/app/x",
    "rm ~/code/app/x",
    "rm /home/me/app/x",
    "rm /home/me/code/app/x",
    "rm -r /home",
    "rm /proc/self/root/srv/app/x",
    "rm /proc/1/root/srv/app/x",
    "rm //srv//app/./x",
    "rm /srv/app/$X",
    "rm $X",
    "rm \"/srv/app/$$\"",
    "rm -r /srv/app/$(date +%s)",
    "cd /srv && rm -r app",
    "cd /srv/app && rm x",
    "cd $X && rm app",
    "cat /srv/app/x",
    "cat /srv",
    "ls -R /srv",
    "grep -r x /srv",
    "find /srv -delete",
    "find /srv -name x",
    "find . -exec rm {} +",
    "chmod -R 777 /srv",
    "mv /srv /opt",
    "cp -r a /srv/app",
    "tar xf a -C /",
    "tee /srv/app/deep/er/than/that/x",
    "echo x > /srv/app/x",
    "echo x > app/x",
    "truncate -s 0 /srv/app/x",
    "no-such-program /srv",
    "no-such-program /srv/app/x",
    "no-such-program --out=/srv/app/x",
    "no-such-program app",
    "no-such-program ~/app",
    "no-such-program $X",
    "no-such-program https://H1.Corp.Example./x",
    "no-such-program --url=http://a@h1.corp.example:80/",
    "curl https://h1.corp.example/x",
    "curl https://H1.CORP.example.",
    "curl http://h2.other.example",
    "curl http://0x7f.1/",
    "curl http://127.1",
    "curl http://$HOST/",
    "curl http://h1.$ZONE",
    "ssh root@h1.corp.example rm -r /srv",
    "git push origin main",
    "git push origin $BRANCH",
    "git push origin \"ma$BRANCH\"",
    "git push origin \"$BRANCH\"in",
    "git push origin \"$BRANCH\"..HEAD",
    "git push \"$@\"",
    "git push *",
    "\"git\" push main",
    "/usr/bin/git  'push' main",
    "FOO=1 git push main",
    "sudo -u x git push main",
    "g\"it\" push",
    "$(which git) push main",
    "git push; git pull | cat",
    "git push > log",
    "find . -exec git push \\;",
    "view main; vim main",
    "[ -f main ]",
    "git --unknown push main",
    "git push -- main",
    "git push origin +main:main",
    "/usr/bin/git push main",
    "xargs git push",
    "echo main | xargs git push origin",
    "sudo git push main",
    "docker run main",
    "vi main",
    "view main",
];

/// Rules around those commands; each also as one of another kind.
const RULES: &[&str] = &[
    "program git; operands main",
    "program git; operands main dev",
    "program git; sub push; operands main",
    "program git; operands \"+main:main\"",
    "program vi; operands main",
    "program \"g*\"; operands main",
    "operands main",
    "words \"git push *\" \"git push\"",
    "words \"git*\"",
    "words \"*push*\"",
    "words git",
    "words \"vi *\" \"[ -f *\" \". *\"",
    "words \"/usr/bin/git *\"",
    "words \"\\\"git\\\" push *\"",
    "words \"git push main\"; operands main",
    "program vim; words \"view *\"",
    "operands \"/srv/app\" \"~/app\" \"./app\" app",
    "program rm; removes \"/srv/app/**\"",
    "program rm sudo; removes \"./app/**\"",
    "program no-such-program; touches \"/srv/app/**\"",
    "program curl; connects \"h1.corp.example\"",
    "program \"*\"; connects \"*.corp.example\"",
    "tool shell_exec; removes \"/srv/app/x\"",
    "tool \"shell_*\"; connects \"h1.corp.example\"",
    "connects \"h1.corp.example\" \"h2.other.example\"",
    "connects \"*.corp.example\"",
    "connects \"*1.corp.example\"",
    "connects \"127.0.0.1\"",
    "connects \"*.*.1\"",
    "program rm; reads \"/srv/**\"; removes \"/srv/app/**\"",
    "reads \"/srv/app/**\"",
    "writes \"/srv/app/**\" \"./app/**\"",
    "removes \"/srv/app/**\" \"/opt/**\"",
    "removes \"/srv/app/x\"",
    "removes \"/srv/app\"",
    "removes \"/srv/a*/x\"",
    "removes \"~/app/**\"",
    "removes \"~/code/app/x\"",
    "removes \"./app/**\"",
    "removes \"./app/x\"",
    "removes \"/home/me/app/**\"",
    "removes \"/home/me/code/app/x\"",
    "removes \"/**\"",
    "removes \"**/app/**\"",
    "changes \"/srv/app/**\"",
    "touches \"/srv/app/**\"",
    "touches \"./app/**\"",
    "touches \"~/app/**\"",
    "touches \"/srv/app/deep/er/than/that/**\"",
    "touches ledger",
    "touches \"/srv/app/**\" { except \"/srv/app/x\" }",
    "reads \"/srv/app/**\"; connects \"h1.corp.example\"",
];

fn locations() -> [Location; 3] {
    let of = |cwd| Location::new(Some(cwd), Some("/home/me")).unwrap();
    [Location::default(), of("/home/me/code"), of("/srv/app")]
}

fn shell(command: &str, location: &Location) -> Asked {
    let Value::Object(arguments) = json!({ "command": command }) else { panic!("{command}") };
    Asked { tool: "shell_exec", arguments, location: location.clone() }
}

/// Asks each rule about all calls directly, and compares with those that the index finds; returns how
/// often a rule means a call.
fn compare_all<'a>(text: &str, calls: impl IntoIterator<Item = &'a Asked>) -> usize {
    let Some(judged) = Judged::try_of(text) else { return 0 };
    let Judged { bundle, authority } = &judged;
    let identity = Identity { role: Some(ROOT.1), ..Identity::default() };
    let placement = preview(bundle, &identity).unwrap().unwrap();
    let view = View::of(bundle, &placement).unwrap();
    let facts = authority.facts(bundle).unwrap();
    let judging = (authority, &facts);
    let rules: Vec<Rule> = bundle.rules().map(|rule| rule.unwrap().to_owned().unwrap()).collect();
    let meant: Vec<Vec<String>> =
        rules.iter().map(|rule| rule_keys::meant_keys(rule, &facts)).collect();
    let mut count = 0;
    for Asked { tool, arguments, location } in calls {
        let client = Some("claude-code");
        let call = Call { tool, arguments, client, location, door: Door::Elsewhere };
        let trial = Trial::of(&view, authority, call).unwrap();
        let Some(Concerned { keyed, open, may_be_any }) = trial.concerned(judging).unwrap() else {
            continue;
        };
        let keys = trial.keys(judging).unwrap();
        for (number, (rule, meant)) in (0..).zip(rules.iter().zip(&meant)) {
            let answer = trial.answer(judging, rule).unwrap().unwrap();
            if !answer.means_any() {
                continue;
            }
            count += 1;
            // Rules that raise or lower are all asked, and texts are found for mutants by the keys alone.
            let may_be_any = may_be_any && rule.keys.iter().any(|key| key.starts_with("anything "));
            let is_found = keyed.contains(&number)
                || !answer.surely_means_any() && (open.contains(&number) || may_be_any)
                || rule.keys == [ADJUST_KEY];
            let has_key =
                keys.as_ref().is_none_or(|keys| meant.iter().any(|key| keys.contains(key)));
            assert!(
                is_found && has_key,
                "{}: {is_found} {has_key} {tool} {arguments:?} {location:?}\n{text}",
                rule.name
            );
        }
    }
    count
}

/// Returns a policy of these rules, each as one that denies and, where the build takes it, one that allows.
fn policy(rules: &[String]) -> String {
    let mut text = format!(
        "{HEAD}policy guarded {{ paths {{ class ledger \"/srv/app/**\" {{ except \"/srv/app/y\" }} }}; "
    );
    for (number, rule) in rules.iter().enumerate() {
        write!(text, "deny d{number} {{ {rule} }}; ").unwrap();
        if !rule.contains("\"*\"") {
            write!(text, "allow a{number} {{ {rule} }}; ").unwrap();
        }
    }
    text + "}\n"
}

#[test]
fn it_finds_rules_by_every_form_of_a_path_operand_and_host() {
    let rules: Vec<String> = RULES.iter().map(|rule| (*rule).to_owned()).collect();
    let text = policy(&rules);
    Judged::of(&text);
    let mut calls = Vec::new();
    for location in &locations() {
        calls.extend(COMMANDS.iter().map(|command| shell(command, location)));
    }
    let count = compare_all(&text, &calls);
    assert!(count > 1_000, "{count}");
}

#[test]
fn it_finds_the_rules_of_random_policies() {
    let asked = random::asked();
    let mut next = 0;
    let mut count = 0;
    for seed in 1..=40_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let text = random::policy(&mut random).text(&mut None);
        let calls: Vec<Asked> = (0..80)
            .map(|_| {
                next = (next + 1) % asked.len();
                let random::Asked { tool, arguments } = &asked[next];
                let location = locations()[random.below(3)].clone();
                Asked { tool, arguments: arguments.clone(), location }
            })
            .collect();
        count += compare_all(&text, &calls);
    }
    assert!(count > 300, "{count}");
}

#[test]
fn it_finds_the_rules_of_shipped_policies() {
    let asked = random::asked();
    let calls: Vec<Asked> = asked
        .into_iter()
        .step_by(3)
        .map(|it| Asked {
            tool: it.tool,
            arguments: it.arguments,
            location: locations()[1].clone(),
        })
        .collect();
    for name in ["workstation", "ci", "server", "readonly"] {
        let count = compare_all(&format!("{HEAD}policy use={name}"), &calls);
        assert!(count > 50, "{name}: {count}");
    }
}

/// Returns rules that name parts of a call: its paths, the folders around them, its operands and hosts.
fn rules_about(judged: &Judged, asked: &Asked, random: &mut Random) -> Vec<String> {
    let decision = judged.call(ROOT, asked.tool, &asked.arguments);
    let Some(verdict) = decision.verdict else { return Vec::new() };
    let effects = &verdict.effects;
    let mut rules = Vec::new();
    let is_plain = |text: &str| {
        !text.is_empty()
            && !text.contains(|it: char| it.is_control() || "\"\\*?[]{}$…".contains(it))
    };
    for effect in effects.all() {
        match effect.what {
            What::Path { path, .. } => {
                let shown = effects.display(path).into_owned();
                let path = match shown.as_str() {
                    path if path.starts_with(['/', '~']) => path.to_owned(),
                    path => format!("./{}", path.trim_start_matches("./")),
                };
                let kind = ["reads", "writes", "removes", "changes", "touches"][random.below(5)];
                let around = path.rsplit_once('/').map_or("/", |(around, _)| around);
                let pattern = match random.below(5) {
                    0 => path.clone(),
                    1 => format!("{path}/**"),
                    2 => format!("{path}/a/b"),
                    3 => format!("{around}/**"),
                    _ => format!("{path}*"),
                };
                if is_plain(&path) {
                    rules.push(format!("{kind} {pattern:?}"));
                }
            }
            What::Connects(host) => {
                let host = effects.display(host).to_lowercase();
                let end = host.find('.').map_or(host.as_str(), |dot| &host[dot..]);
                if is_plain(&host) {
                    rules.push(format!("connects {host:?}"));
                    rules.push(format!("connects \"*{end}\""));
                }
            }
            _ => {}
        }
    }
    for call in effects.calls() {
        let program = effects.display(call.program).into_owned();
        for word in effects.arguments(call) {
            let (ArgumentKind::Operand(_), Some(value)) = (word.kind, word.value) else { continue };
            let value = effects.display(value).into_owned();
            if is_plain(&value) && is_plain(&program) {
                rules.push(format!("program {program:?}; operands {value:?}"));
                rules.push(format!("operands {value:?}"));
            }
        }
    }
    rules
}

/// Returns the rules that the build takes.
fn accepted(rules: Vec<String>) -> Vec<String> {
    if Judged::try_of(&policy(&rules)).is_some() {
        return rules;
    }
    let (first, second) = rules.split_at(rules.len() / 2);
    match first.is_empty() {
        true => Vec::new(),
        false => [accepted(first.to_vec()), accepted(second.to_vec())].concat(),
    }
}

#[test]
fn it_finds_rules_that_name_parts_of_the_corpora() {
    let asked: Vec<Asked> = random::asked()
        .into_iter()
        .map(|it| Asked { tool: it.tool, arguments: it.arguments, location: Location::default() })
        .collect();
    let bare = Judged::of(&format!("{HEAD}policy open"));
    let mut count = 0;
    for start in 0..6 {
        let mut random = Random(start as u64 * 77 + 5);
        let own: Vec<&Asked> = asked.iter().skip(start * 7).step_by(97).collect();
        let mut rules: Vec<String> =
            own.iter().flat_map(|asked| rules_about(&bare, asked, &mut random)).collect();
        rules.truncate(60);
        let text = policy(&accepted(rules));
        count += compare_all(&text, own.iter().copied());
        let others: Vec<Asked> = own
            .iter()
            .map(|it| Asked {
                tool: it.tool,
                arguments: it.arguments.clone(),
                location: locations()[1 + random.below(2)].clone(),
            })
            .collect();
        count += compare_all(&text, &others);
    }
    assert!(count > 300, "{count}");
}

#[test]
fn it_finds_few_of_many_rules_that_name_other_operands_paths_and_hosts() {
    let mut text = format!("{HEAD}policy guarded {{ ");
    for number in 0..300 {
        let rule = match number % 4 {
            0 => format!("program git; operands \"b-{number}\""),
            1 => format!("removes \"/srv/app-{number}/**\""),
            2 => format!("connects \"h{number}.corp.example\""),
            _ => format!("program rm; removes \"./app-{number}/**\""),
        };
        let kind = if number % 8 < 4 { "deny" } else { "allow" };
        write!(text, "{kind} r{number} {{ {rule} }}; ").unwrap();
    }
    let judged = Judged::of(&(text + "}\n"));
    for (command, counts) in [
        ("git push origin b-4", (1, 0)),
        ("git push origin main", (0, 0)),
        ("git push origin $B", (0, 75)),
        // A part is known: only literals that it may be.
        ("git push origin \"b-10$B\"", (0, 3)),
        ("git push origin \"$B\"8", (0, 15)),
        ("git push origin b-4 \"$B\"8", (1, 15)),
        ("git diff \"$B\"..HEAD", (0, 0)),
        // Many words, and a long one, count as any.
        ("git diff \"$B\"1x \"$B\"2x \"$B\"3x \"$B\"4x", (0, 0)),
        ("git diff \"$B\"1x \"$B\"2x \"$B\"3x \"$B\"4x \"$B\"5x", (0, 75)),
        (&format!("git diff \"$B\"{}", "x".repeat(250)), (0, 0)),
        (&format!("git diff \"$B\"{}", "x".repeat(260)), (0, 75)),
        ("git push origin b-4 $B", (1, 74)),
        ("rm -r /srv/app-1/x", (1, 0)),
        ("rm -r /srv/app-1 app-3/y", (2, 0)),
        ("rm -r /srv", (0, 75)),
        ("rm -r /opt", (0, 0)),
        ("rm -r /", (0, 75)),
        ("rm -r /srv/app-1 $D", (1, 149)),
        ("cat /srv/app-1/x", (0, 0)),
        ("curl http://h2.corp.example", (1, 0)),
        ("curl http://h1.corp.example", (0, 0)),
        ("ls -l", (0, 0)),
    ] {
        assert_eq!(found(&judged, command), counts, "{command}");
    }
}

#[test]
fn a_word_is_compared_with_a_bounded_number_of_literals() {
    for (rules, open) in [(1_024, 0), (1_025, 1_025)] {
        let mut text = format!("{HEAD}policy guarded {{ ");
        for number in 0..rules {
            write!(text, "deny r{number} {{ program git; operands \"b-{number}\" }}; ").unwrap();
        }
        let judged = Judged::of(&(text + "}\n"));
        assert_eq!(found(&judged, "git diff \"$B\"..HEAD"), (0, open));
        assert_eq!(found(&judged, "git diff \"b-7$B\"..HEAD"), (0, 0));
    }
}

/// Returns how many rules the index finds for a command: with a literal of it, and others that may mean it.
fn found(Judged { bundle, authority }: &Judged, command: &str) -> (usize, usize) {
    let identity = Identity { role: Some(ROOT.1), ..Identity::default() };
    let placement = preview(bundle, &identity).unwrap().unwrap();
    let view = View::of(bundle, &placement).unwrap();
    let facts = authority.facts(bundle).unwrap();
    let Asked { tool, arguments, location } = &shell(command, &Location::default());
    let call = Call { tool, arguments, client: None, location, door: Door::Elsewhere };
    let trial = Trial::of(&view, authority, call).unwrap();
    let found = trial.concerned((authority, &facts)).unwrap().unwrap();
    (found.keyed.len(), found.open.len())
}
