//! `relay test` for policies: the rules and parts that nothing touches, and the mutants that survive.

use relay_bundle::Bundle;
use relay_compiler::{Cut, Options};
use relay_engine::authority::Authority;
use relay_engine::decide::{Call, Door, Tried, decide, rule_named};
use relay_policy::location::Location;
use serde_json::json;

use crate::cli::schemas::assert_conforms;
use crate::cli::{Sandbox, snapshot};
use crate::random::Random;
use crate::support::{Memory, compiled, view};

/// A project whose policy is tried in part.
const PROJECT: &str = r#"project demo version="1.0.0" epoch=1
prompts { prompt vpn { summary "How to reach the VPN"; text "By cable." } }
tools { other zigbee_delete { arg env writes } }
policy guarded use=workstation {
    deny no-push {
        program git
        sub push
        operands main master
        match "git push origin main"
        no-match "git push origin x" "git pull origin main" "hg push main"
    }
    deny no-egress {
        connects "*" { except "*.corp.example" "*.corp.test" }
        match "curl https://example.org"
        no-match "curl https://a.corp.example"
    }
    allow restart-web {
        program systemctl
        sub restart reload
        operands nginx
    }
    tier wipe 3 { program "/opt/bin/deploy"; flags "--wipe" }
    deny no-delete {
        tool zigbee_delete
        arg env prod
        except { arg force yes }
    }
}
expect decision { allow "systemctl restart nginx"; deny "systemctl reload php-fpm" }
"#;

fn sandbox() -> Sandbox {
    Sandbox::of(&[("demo/project.kdl", PROJECT)])
}

#[test]
fn survivors_are_listed_at_their_place() {
    let sandbox = sandbox();
    let run = sandbox.relay("test demo").ends(0);
    snapshot("test_mutants", &run.stdout);
    sandbox.relay("test demo --min-score 10").ends(0);
    sandbox.relay("test demo --min-score 90").ends(1);
    sandbox.relay("test demo --min-score 101").ends(2);
    let tested = sandbox.relay("test demo --json").ends(0).json();
    assert_conforms("test", &tested);
    let survivors = tested["mutants"]["survivors"].as_array().expect("a list");
    let tried = tested["mutants"]["tried"].as_u64().expect("a number");
    assert_eq!(tested["mutants"]["killed"].as_u64(), Some(tried - survivors.len() as u64));
    let first = &survivors[0];
    assert_eq!(first["rule"], "no-push");
    assert_eq!((&first["kind"], &first["line"]), (&"value".into(), &8.into()));
    assert_eq!(first["removed"], "master of `operands`");
    // A build server counts expects alone.
    let suites = sandbox.relay("test demo --format junit").ends(0).stdout;
    assert!(suites.contains("tests=\"1\" failures=\"0\""), "{suites}");
}

#[test]
fn each_test_that_is_added_kills() {
    let sandbox = sandbox();
    let survivors = |sandbox: &Sandbox| {
        let tested = sandbox.relay("test demo --json").ends(0).json();
        let each = tested["mutants"]["survivors"].as_array().expect("a list").clone();
        each.iter().map(|each| format!("{} {}", each["rule"], each["removed"])).collect::<Vec<_>>()
    };
    let before = survivors(&sandbox);
    let master = "\"no-push\" \"master of `operands`\"".to_owned();
    assert!(before.contains(&master), "{before:?}");
    sandbox.edit(
        "demo/project.kdl",
        "origin main\"\n",
        "origin main\" \"git push origin master\"\n",
    );
    let after = survivors(&sandbox);
    let killed: Vec<&String> = before.iter().filter(|each| !after.contains(each)).collect();
    assert_eq!(killed, [&master]);
}

#[test]
fn no_score_while_a_text_or_an_expect_fails() {
    let sandbox = sandbox();
    sandbox.edit("demo/project.kdl", "{ allow \"systemctl", "{ deny \"systemctl");
    let run = sandbox.relay("test demo --min-score 0").ends(1).says("expect::decision");
    assert!(!run.stdout.contains("mutation score"), "{}", run.stdout);
    let tested = sandbox.relay("test demo --json").ends(1).json();
    assert_eq!(tested["mutants"], serde_json::Value::Null);
    // A project that takes a shipped policy as it is has no rules of its own.
    let text = "project small version=\"1.0.0\" epoch=1\npolicy use=workstation\n\
                prompts { prompt a { text A } }\n";
    let small = Sandbox::of(&[("project.kdl", text)]);
    assert_eq!(small.relay("test . --json").ends(0).json()["mutants"], serde_json::Value::Null);
    small.relay("test . --min-score 100").ends(0);
}

#[test]
fn the_policies_of_the_examples_lose_no_part_unnoticed() {
    for name in ["guard", "homelab", "ops", "platform", "workstation"] {
        Sandbox::example(name).relay(&format!("test {name} --min-score 100")).ends(0);
    }
}

/// A rule as text, in parts.
#[derive(Clone)]
struct Rule {
    head: String,
    /// Selectors: name, values and exceptions.
    selectors: Vec<(&'static str, Vec<&'static str>, Vec<&'static str>)>,
    except: Vec<(&'static str, Vec<&'static str>)>,
    /// Texts of `match` and `no-match`.
    tail: String,
}

impl Rule {
    fn text(&self) -> String {
        let quoted = |values: &[&str]| {
            values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" ")
        };
        let mut text = format!("{} {{", self.head);
        for (name, values, except) in &self.selectors {
            text.push_str(&format!(" {name} {}", quoted(values)));
            if !except.is_empty() {
                text.push_str(&format!(" {{ except {} }}", quoted(except)));
            }
            text.push(';');
        }
        if !self.except.is_empty() {
            let parts =
                self.except.iter().map(|(name, values)| format!("{name} {}", quoted(values)));
            text.push_str(&format!(" except {{ {} }};", parts.collect::<Vec<_>>().join("; ")));
        }
        format!("{text} {} }}\n", self.tail)
    }
}

const SELECTORS: &[(&str, &[&str])] = &[
    ("program", &["git", "rm", "curl", "touch"]),
    ("sub", &["push", "pull", "clean"]),
    ("flags", &["--force", "-r", "-f"]),
    ("operands", &["main", "/etc/x", "/tmp/a", "origin"]),
    ("writes", &["/etc/**", "/tmp/**", "./**"]),
    ("removes", &["/etc/**", "/tmp/**", "*"]),
    ("connects", &["*", "a.example", "origin"]),
    ("tier", &[]),
];
/// The random projects; each is compiled about 20 times.
const PROJECTS: usize = 8;
const TEXTS: &[&str] = &[
    "ls",
    "git push origin main",
    "git push --force origin main",
    "git pull origin main",
    "git clean -f",
    "rm -r /etc/x",
    "rm /tmp/a",
    "touch /etc/x",
    "touch /tmp/a; rm -f /tmp/a",
    "curl https://a.example",
    "curl -o /tmp/a https://b.example",
    "$CMD x",
    "rm $X",
];

fn rule(number: usize, random: &mut Random) -> Rule {
    let kind = ["deny", "deny", "allow", "approve", "tier", "lower"][random.below(6)];
    let name = format!("r{number}");
    let head = match kind {
        "tier" => format!("tier {name} {}", 2 + random.below(2)),
        "lower" => format!("lower {name} to={} because=\"it is known\"", random.below(3)),
        _ => format!("{kind} {name}"),
    };
    let values = |of: &'static [&'static str], random: &mut Random| -> Vec<&'static str> {
        let mut some: Vec<&str> = of.iter().copied().filter(|_| random.below(2) == 0).collect();
        if some.is_empty() {
            some.push(of[random.below(of.len())]);
        }
        some
    };
    let mut selectors = Vec::new();
    for (name, of) in SELECTORS.iter().filter(|(_, of)| !of.is_empty()) {
        if random.below(4) == 0 {
            let some = values(of, random);
            let except =
                if random.below(3) == 0 { vec![of[random.below(of.len())]] } else { vec![] };
            selectors.push((*name, some, except));
        }
    }
    if selectors.is_empty() {
        selectors.push(("program", vec!["git", "rm"], vec![]));
    }
    let mut except = Vec::new();
    for (name, of) in SELECTORS.iter().filter(|(_, of)| !of.is_empty()) {
        if random.below(9) == 0 {
            except.push((*name, values(of, random)));
        }
    }
    Rule { head, selectors, except, tail: String::new() }
}

fn project(rules: &[Rule], expects: &[String]) -> String {
    let rules: String = rules.iter().map(Rule::text).collect();
    format!(
        "project demo epoch=1\nprompts {{ prompt a {{ summary A; text x }} }}\n\
         policy guarded {{\n{rules}}}\n{}\n",
        expects.join("\n")
    )
}

/// Returns the codes of errors of a project.
fn errors(text: &str, mutants: bool) -> (relay_compiler::Compiled, Vec<String>) {
    let files = Memory::of(&[("project.kdl", text)]);
    let options = Options { mutants, ..Options::default() };
    let (compiled, _) = compiled(&files, "project.kdl", &options);
    let found = compiled.diagnostics.sorted();
    let errors = found.iter().filter(|it| it.severity() == relay_compiler::Severity::Error);
    let codes = errors.map(|report| report.code()).collect();
    (compiled, codes)
}

/// Returns the rule without a part of these words; `None` without the rule.
fn edited(rule: &Rule, cut: Cut, removed: &str) -> Option<String> {
    let text = rule.text();
    let bare = |text: &str| text.replace('"', "");
    let mut variants = Vec::new();
    let with = |change: &dyn Fn(&mut Rule)| {
        let mut rule = rule.clone();
        change(&mut rule);
        rule.text()
    };
    let words = |name: &str, values: &[&str]| format!("{name} {}", values.join(" "));
    for (place, (name, values, except)) in rule.selectors.iter().enumerate() {
        let whole = match except.as_slice() {
            [] => words(name, values),
            except => format!("{} {{ except {} }}", words(name, values), except.join(" ")),
        };
        let without = with(&|rule| _ = rule.selectors.remove(place));
        variants.push((Cut::Selector, whole, without));
        for (number, value) in values.iter().enumerate() {
            let without = with(&|rule| _ = rule.selectors[place].1.remove(number));
            variants.push((Cut::Value, format!("{value} of `{name}`"), without));
        }
        for (number, value) in except.iter().enumerate() {
            let without = with(&|rule| _ = rule.selectors[place].2.remove(number));
            variants.push((Cut::Exception, format!("except {value} of `{name}`"), without));
        }
    }
    for (place, (name, values)) in rule.except.iter().enumerate() {
        let without = with(&|rule| _ = rule.except.remove(place));
        variants.push((Cut::Selector, words(name, values), without));
        for (number, value) in values.iter().enumerate() {
            let without = with(&|rule| _ = rule.except[place].1.remove(number));
            variants.push((Cut::Value, format!("{value} of `{name}`"), without));
        }
    }
    let parts: Vec<String> = rule.except.iter().map(|(name, values)| words(name, values)).collect();
    let group = format!("except {{ {} }}", parts.join("; "));
    variants.push((Cut::Exception, group, with(&|rule| rule.except.clear())));
    let same = |(kind, words, _): &&(Cut, String, String)| *kind == cut && *words == bare(removed);
    let found: Vec<_> = variants.iter().filter(same).collect();
    // Equal words in a rule and its exception: the test cannot tell which part it is.
    let [(_, _, without)] = found.as_slice() else { return Some(text) };
    Some(without.clone())
}

fn outcome(bundle: &Bundle, authority: &Authority, command: &str) -> &'static str {
    let arguments = json!({ "command": command });
    let location = Location::default();
    let call = Call {
        tool: "shell_exec",
        arguments: arguments.as_object().unwrap(),
        client: None,
        location: &location,
        door: Door::Elsewhere,
    };
    decide(&view(bundle), authority, &call).unwrap().outcome.word()
}

/// A mutant is a survivor exactly if the project without the part, compiled anew, meets everything
/// that it expects.
#[test]
fn a_mutant_is_the_project_without_the_part() {
    let mut random = Random(7);
    let (mut survivors, mut killed) = (0, 0);
    for _ in 0..PROJECTS {
        let mut rules: Vec<Rule> = (0..3).map(|number| rule(number, &mut random)).collect();
        // What holds now is what the project expects.
        let (plain, codes) = errors(&project(&rules, &[]), false);
        let Some(bytes) = plain.bundle.filter(|_| codes.is_empty()) else { continue };
        let bundle = Bundle::open(Box::new(bytes)).expect("a bundle");
        let authority = Authority::of(&bundle).expect("a policy");
        let facts = authority.facts(&bundle).expect("facts");
        let judging = (&authority, &facts);
        for (number, rule) in rules.iter_mut().enumerate() {
            let named = rule_named(&bundle, &format!("r{number}")).unwrap().expect("a rule");
            for text in TEXTS.iter().filter(|_| random.below(2) == 0) {
                let tried = Tried::of(&bundle, judging, &named, text).unwrap().expect("a policy");
                let means = tried.means(&bundle, judging, &named).unwrap();
                let line = if means.is_ok() { "match" } else { "no-match" };
                rule.tail.push_str(&format!("{line} {text:?}; "));
            }
        }
        let expects: Vec<String> = TEXTS
            .iter()
            .filter(|_| random.below(2) == 0)
            .map(|text| {
                let outcome = outcome(&bundle, &authority, text);
                format!("expect decision {{ {outcome} {text:?} }}")
            })
            .collect();
        let text = project(&rules, &expects);
        let (compiled, codes) = errors(&text, true);
        assert_eq!(codes, Vec::<String>::new(), "{text}");
        let mutants = compiled.proven[0].mutants.as_ref().expect("all holds");
        for mutant in mutants {
            let place = mutant.rule.trim_start_matches('r').parse::<usize>().expect("a number");
            let is_tried = rules[place].tail.split("; ").any(|line| line.starts_with("match"));
            if mutant.cut == Cut::Rule && is_tried {
                assert!(mutant.killed, "a `match` needs its rule\n{text}");
                continue;
            }
            let changed = match mutant.cut {
                Cut::Rule => String::new(),
                cut => edited(&rules[place], cut, &mutant.removed).expect("a rule"),
            };
            if changed == rules[place].text() {
                continue;
            }
            let edited = text.replacen(&rules[place].text(), &changed, 1);
            let (_, codes) = errors(&edited, false);
            let is_proof = |code: &String| code.starts_with("expect::") || code.ends_with("_match");
            if codes.iter().any(|code| !is_proof(code)) {
                continue;
            }
            assert_eq!(
                mutant.killed,
                !codes.is_empty(),
                "{mutant:?}\n{codes:?}\n{edited}\nof\n{text}"
            );
            survivors += usize::from(!mutant.killed);
            killed += usize::from(mutant.killed);
        }
    }
    assert!(survivors > 20 && killed > 15, "{survivors} survive, {killed} are killed");
}
