//! Preview equals production: `relay explain` prints the server's answers, byte for byte.

use std::fmt::Write as _;

use relay_compiler::Options;
use relay_engine::invisible::visible;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol, blocks, full, handle_of};
use super::house::{self, House, SIGNER};
use crate::binaries::relay;
use crate::bundle::sample;
use crate::support::{Memory, compiled, contents, root};

/// Tag sets of each project, of which there are two.
const TAG_SETS: usize = 100;
/// Stateless calls of each project; in a session, each needs a server of its own.
const CALLS: usize = 20;
const CALLS_WITH_SESSION: usize = 4;

/// The text of `relay explain` in place of a handle.
const HANDLE: &str = "<briefing handle>";

/// Words that match much, little and nothing, as agents write them.
const WORDS: [&str; 24] = [
    "zigbee",
    "Lights",
    " MQTT ",
    "backup",
    "restore",
    "vpn",
    "VLAN",
    "e",
    "a",
    "on",
    "Größe",
    "ΣΊΣΥΦΟΣ",
    "灯",
    "🔥",
    "",
    "   ",
    "nothing-has-this",
    "home assistant",
    "rooms",
    "topic-3",
    "topic-17",
    "chapter",
    "\u{1b}[31m",
    "stop",
];

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn words(&mut self) -> Vec<&'static str> {
        let count = self.below(6);
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect()
    }
}

fn homelab() -> House {
    let files = Memory::folder(&root().join("examples/homelab"));
    let (project, report) = compiled(&files, "project.kdl", &Options::default());
    House::of(&sample::sealed(&contents(&project).expect(&report), &[SIGNER]))
}

/// A project of many prompts with small limits, whose messages place everything themselves.
fn generated() -> House {
    let mut numbers = Numbers(7);
    let mut text = String::from(
        "project many epoch=1\n\
         gate on {\n\
             unlock else=intercept budget=(bytes)300\n\
             tags max=12\n\
             budget (bytes)900 remaining=(bytes)250\n\
         }\n\
         tools { diagnostics }\n\
         messages {\n\
             gate-encouragement \"{{remaining_prompts}}\\n\\n{{matched_prompts}}\\n\\nThat was {{project_name}}.\"\n\
             gate-intercept-preamble \"First this:\\n{{matched_prompts}}\"\n\
         }\n\
         prompts {\n",
    );
    for number in 0..150 {
        let priority = if number % 50 == 0 { 10 } else { 1 + numbers.below(9) };
        let (word, other) = (WORDS[numbers.below(10)].trim(), WORDS[numbers.below(10)].trim());
        let body = "Größe 🔥. ".repeat(1 + numbers.below(20));
        writeln!(
            text,
            "prompt p{number:03} priority={priority} {{ summary \"topic-{} {word}\"; chapters \"chapter {other}\"; text \"{body}\" }}",
            numbers.below(20),
        )
        .expect("a text takes more");
    }
    text.push_str("}\n");
    House::of(&house::bundle_of(&text))
}

/// Runs `relay explain` on the bundle that the house serves.
fn explain(house: &House, question: &[String]) -> String {
    let mut command = harness::command(relay(), &house.path(""));
    command.args(["explain", "house.relay"]).args(question);
    let ended = harness::run(command);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{question:?}");
    ended.stdout
}

fn question(sent: Option<&[String]>, tags: &[&str]) -> Vec<String> {
    let mut question = Vec::new();
    if let Some(sent) = sent {
        // An empty list of names means that nothing was sent.
        question.extend(sent.is_empty().then(|| "--sent".to_owned()));
        question.extend(sent.iter().map(|name| format!("--sent={name}")));
    }
    question.push("--tags".to_owned());
    question.extend(tags.iter().map(|tag| (*tag).to_owned()));
    question
}

/// Returns the server's answer as `relay explain` prints it.
fn as_printed(answer: &Value) -> String {
    let text = blocks(answer)[0];
    let handle = handle_of(answer);
    assert_eq!(text.matches(&handle).count(), 1, "{text}");
    // A report shows the control characters of a tag, which an agent gets as they are.
    format!("{}\n", visible(&text.replace(&handle, HANDLE)))
}

fn names(answer: &Value) -> Vec<String> {
    full(answer).into_iter().map(ToOwned::to_owned).collect()
}

fn assert_tags_are_previewed(house: &House, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut agents = PROTOCOLS.map(|protocol| (protocol, Agent::new(house, protocol)));
    for _ in 0..TAG_SETS {
        let (first, second) = (numbers.words(), numbers.words());
        let begun = explain(house, &question(None, &first));
        let mut read = None;
        for (protocol, agent) in &mut agents {
            let answer = agent.call("begin_session", json!({ "tags": first }));
            assert_eq!(as_printed(&answer), begun, "{protocol:?} {first:?}");
            // A session knows what it was sent.
            let handle =
                if *protocol == Protocol::Legacy { String::new() } else { handle_of(&answer) };
            let asked = json!({ "tags": second, "briefing": handle });
            let expected = read
                .get_or_insert_with(|| explain(house, &question(Some(&names(&answer)), &second)));
            let answer = agent.call("read_prompts", asked);
            assert_eq!(&as_printed(&answer), expected, "{protocol:?} {first:?} {second:?}");
        }
    }
}

fn assert_calls_are_previewed(house: &House, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut modern = Agent::new(house, Protocol::Modern);
    for count in 0..CALLS {
        let arguments = json!({ "tool": numbers.words().join(" ") });
        let explained = |more: &[&str]| {
            let arguments = arguments.to_string();
            let call = ["--call", "audit_tail", "--arguments", &arguments];
            explain(
                house,
                &[&call, more].concat().into_iter().map(ToOwned::to_owned).collect::<Vec<_>>(),
            )
        };
        let answer = modern.call("audit_tail", arguments.clone());
        assert_eq!(blocks(&answer).len(), 2, "{answer}");
        assert_eq!(as_printed(&answer), explained(&["--no-session"]), "{arguments}");
        if count < CALLS_WITH_SESSION {
            let answer = Agent::new(house, Protocol::Legacy).call("audit_tail", arguments.clone());
            assert_eq!(as_printed(&answer), explained(&[]), "{arguments}");
        }
    }
}

#[test]
fn explain_prints_what_tags_get_from_the_example() {
    assert_tags_are_previewed(&homelab(), 1);
}

#[test]
fn explain_prints_what_tags_get_from_a_large_project() {
    assert_tags_are_previewed(&generated(), 2);
}

#[test]
fn explain_prints_what_an_intercepted_call_gets() {
    assert_calls_are_previewed(&homelab(), 3);
    assert_calls_are_previewed(&generated(), 4);
}
