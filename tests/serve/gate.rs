//! Gated sessions: obey, ignore, ask for more, come to another replica.

use relay_engine::handle::{self, Binding, Key};
use relay_engine::sent::Sent;
use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol, blocks, error, full, handle_of, text};
use super::house::{self, House};
use super::server::Client;
use crate::bundle::sample;

/// The project. `SETTINGS` and `MISTAKES` are replaced by tests.
const PROJECT: &str = r##"
project gated epoch=1
gate on HIDE {
    SETTINGS
    budget (bytes)"1KiB" remaining=(bytes)200
}
tools { diagnostics }
prompts {
    prompt common-mistakes priority=10 { summary "Mistakes"; text "MISTAKES" }
    prompt architecture priority=6 { summary "Why Zigbee and not a vendor hub"; chapters MQTT; text "Zigbee it is." }
    prompt naming priority=4 { summary "Naming of lights"; text "Names are kebab-case." }
    prompt onboarding priority=3 { summary "First day"; text "Welcome." }
    prompt security priority=8 { summary "Firewall rules, VPN access"; chapters Firewall VPN; text "Close every port." }
    prompt server-audit priority=5 { summary "What server info and the audit hold"; text "Look before you leap." }
}
"##;

/// The secret of a key, as its file holds it.
const SECRET: [u8; 32] = [7; 32];

/// The project with these settings of its gate.
pub(crate) fn project(settings: &str) -> String {
    PROJECT.replace("SETTINGS", settings).replace("HIDE", "").replace("MISTAKES", "Never guess.")
}

/// A folder that serves it.
pub(crate) fn house(settings: &str) -> House {
    House::of(&house::bundle_of(&project(settings)))
}

/// A house whose handles other houses take too.
fn house_with_key(settings: &str) -> House {
    let house = house(settings);
    write_keys(&house, &[(1, SECRET)]);
    house
}

pub(crate) fn write_keys(house: &House, keys: &[(u8, [u8; 32])]) {
    let mut config = "[watch]\npoll-ms = 50\n".to_owned();
    for (id, secret) in keys {
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        house.write(&format!("key-{id}"), hex);
        config += &format!("[[briefing.keys]]\nid = {id}\nkey-file = \"key-{id}\"\n");
    }
    house.write("server.toml", config);
}

#[test]
fn obeying_gives_what_matters_and_a_handle_for_the_rest() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let begun = agent.call("begin_session", json!({ "tags": ["zigbee", " MQTT ", "lights"] }));
        assert_eq!(begun["isError"], false, "{begun}");
        assert_eq!(full(&begun), ["common-mistakes", "architecture", "naming"], "{protocol:?}");
        let said = text(&begun);
        for part in ["Never guess.", "Zigbee it is.", "Names are kebab-case."] {
            assert!(said.contains(part), "{said}");
        }
        assert!(!said.contains("Close every port."), "{said}");
        assert!(said.contains("onboarding, security, server-audit"), "{said}");
        assert!(said.contains("read_prompts"), "{said}");
        let handle = handle_of(&begun);
        assert!(said.ends_with(&handle), "the model sees it too: {said}");

        let info = agent.call("server_info", json!({ "briefing": handle }));
        assert_eq!(blocks(&info).len(), 1, "{info}");
        let info: Value = serde_json::from_str(&text(&info)).expect("JSON");
        assert_eq!(info["gate"]["unlock"], "intercept");
        assert_eq!(info["transport"], "stdio");
    }
}

#[test]
fn lists_do_not_change_by_a_call() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let before = agent.tools();
        assert_eq!(
            before,
            ["begin_session", "read_prompts", "server_info", "audit_tail", "explain_context"]
        );
        agent.begin(&["vpn"]);
        assert_eq!(agent.tools(), before);
        assert_eq!(agent.client.unasked(), [""; 0]);
    }
}

#[test]
fn ignoring_the_gate_puts_the_briefing_before_the_result() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let first = agent.call("server_info", json!({}));
        let said = blocks(&first);
        assert_eq!(said.len(), 2, "{first}");
        assert_eq!(full(&first), ["common-mistakes", "server-audit"]);
        assert!(said[0].contains("Never guess."), "{first}");
        assert!(said[0].contains("begin_session"), "{first}");
        assert!(serde_json::from_str::<Value>(said[1]).is_ok(), "the result stays as it is");

        // A session is briefed once; in stateless calls nothing distinguishes the second call from
        // the first.
        let second = agent.call("server_info", json!({}));
        assert_eq!(blocks(&second).len(), if protocol == Protocol::Legacy { 1 } else { 2 });
        let third = agent.call("server_info", json!({ "briefing": handle_of(&first) }));
        assert_eq!(blocks(&third).len(), 1);
    }
}

#[test]
fn a_repeated_briefing_of_a_client_without_a_session_is_short() {
    let house = house("unlock else=intercept budget=(bytes)15");
    let full_of = |protocol| {
        let first = Agent::new(&house, protocol).call("server_info", json!({}));
        full(&first).len()
    };
    assert_eq!(full_of(Protocol::Legacy), 2);
    assert_eq!(full_of(Protocol::Modern), 1, "priority 10 alone: the other does not fit");
}

#[test]
fn with_else_refuse_nothing_runs_before_a_briefing() {
    let house = house("unlock else=refuse");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        for tool in ["server_info", "audit_tail", "explain_context"] {
            let refused = error(&agent.call(tool, json!({})));
            assert!(refused.starts_with("[ERROR: no briefing yet: call begin_session with 5 "));
        }
        // A caller that asks for prompts gets them: the first briefing, as from `begin_session`.
        let first = Agent::new(&house, protocol).call("read_prompts", json!({ "tags": ["vpn"] }));
        assert_eq!(full(&first), ["common-mistakes", "security"], "{first}");
        let handle = agent.begin(&["vpn"]);
        let dropped = agent.call("server_info", json!({}));
        assert_eq!(
            dropped["isError"],
            protocol == Protocol::Modern,
            "a session remembers: {dropped}"
        );
        let passed = agent.call("server_info", json!({ "briefing": handle }));
        assert_eq!(passed["isError"], false, "{passed}");
    }
}

#[test]
fn asking_for_more_repeats_nothing() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let handle = agent.begin(&["zigbee"]);
        let more =
            agent.call("read_prompts", json!({ "tags": ["vpn", "zigbee"], "briefing": handle }));
        assert_eq!(full(&more), ["security"], "{more}");
        assert!(!text(&more).contains("Never guess."), "priority 10 comes once");
        let last =
            agent.call("read_prompts", json!({ "tags": ["vpn"], "briefing": handle_of(&more) }));
        assert_eq!(full(&last), [""; 0]);
        assert!(text(&last).contains("No further prompt matches"), "{last}");
        // An older handle means at worst that something comes again.
        let again = agent.call("read_prompts", json!({ "tags": ["vpn"], "briefing": handle }));
        let expected: &[&str] = if protocol == Protocol::Legacy { &[] } else { &["security"] };
        assert_eq!(full(&again), expected);
    }
}

#[test]
fn asking_for_more_first_is_as_good_as_beginning() {
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house(""), protocol);
        let read = agent.call("read_prompts", json!({ "tags": ["vpn"] }));
        assert_eq!(full(&read), ["common-mistakes", "security"]);
    }
}

#[test]
fn beginning_again_gives_everything_again() {
    // A model whose context was emptied has nothing left of the first briefing.
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house(""), protocol);
        agent.begin(&["vpn"]);
        let again = agent.call("begin_session", json!({ "tags": ["vpn"] }));
        assert_eq!(full(&again), ["common-mistakes", "security"]);
    }
}

#[test]
fn handles_that_are_not_accepted_say_why() {
    let house = house_with_key("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let good = agent.begin(&["vpn"]);
        let altered = match good.strip_suffix('A') {
            Some(rest) => format!("{rest}Q"),
            None => format!("{}A", &good[..good.len() - 1]),
        };
        let long = "A".repeat(1 << 20);
        let (blank, line) = (format!("{good} "), format!("\n{good}"));
        let foreign = Agent::with(&house, protocol, &["--principal", "mallory"]).begin(&["vpn"]);
        let tenant = Agent::with(&house, protocol, &["--tenant", "globex"]).begin(&["vpn"]);
        let (expired, unknown) = (sealed(&house, 1, 1), sealed(&house, 9, u32::MAX));
        let wrong = [
            (altered.as_str(), "was changed after it was issued, or your role or groups"),
            (&good[1..], ""),
            ("junk", "not a briefing"),
            // A handle is exactly one text.
            (&blank, "not a briefing"),
            (&line, "not a briefing"),
            (&long, "not a briefing"),
            (&foreign, "another caller"),
            (&tenant, "another caller"),
            (&expired, "expired"),
            (&unknown, "key 9"),
        ];
        for (handle, why) in wrong {
            for (tool, mut arguments) in
                [("server_info", json!({})), ("read_prompts", json!({ "tags": ["vpn"] }))]
            {
                arguments["briefing"] = json!(handle);
                let refused = error(&agent.call(tool, arguments));
                assert!(refused.starts_with("[ERROR: "), "{refused}");
                assert!(refused.contains(why) && refused.contains("begin_session"), "{refused}");
                assert!(refused.len() < 300, "{refused}");
            }
        }
        let number = error(&agent.call("server_info", json!({ "briefing": 7 })));
        assert_eq!(number, "[ERROR: `briefing` must be a string]");
    }
}

/// A handle for the local principal of `house` with a key of this id.
fn sealed(house: &House, id: u8, expires_min: u32) -> String {
    let bundle = std::fs::read(house.path("house.relay")).unwrap();
    let bundle = sample::open(&bundle).unwrap();
    let binding = Binding {
        principal: "local",
        issuer: None,
        tenant: None,
        bundle: bundle.digest(),
        audience: None,
        prompts: bundle.prompt_count(),
    };
    handle::seal(&Key::new(id, SECRET), &binding, expires_min, &Sent::default())
}

#[test]
fn another_replica_goes_on_where_the_first_left_off() {
    let (one, other) = (house_with_key("unlock else=refuse"), house_with_key("unlock else=refuse"));
    for protocol in PROTOCOLS {
        let (mut one, mut other) = (Agent::new(&one, protocol), Agent::new(&other, protocol));
        let handle = one.begin(&["zigbee"]);
        let more =
            other.call("read_prompts", json!({ "tags": ["zigbee", "vpn"], "briefing": handle }));
        assert_eq!(full(&more), ["security"]);
        let info = one.call("server_info", json!({ "briefing": handle_of(&more) }));
        assert_eq!(info["isError"], false, "{info}");
        let last =
            one.call("read_prompts", json!({ "tags": ["vpn"], "briefing": handle_of(&more) }));
        assert_eq!(full(&last), [""; 0]);
    }
}

#[test]
fn without_a_key_of_its_own_a_server_takes_no_handle_of_another() {
    let house = house("");
    let handle = Agent::new(&house, Protocol::Modern).begin(&["vpn"]);
    let mut other = Agent::new(&house, Protocol::Modern);
    let refused = error(&other.call("server_info", json!({ "briefing": handle })));
    assert!(refused.contains("begin_session"), "{refused}");
}

#[test]
fn keys_change_one_server_after_the_other() {
    let house = house_with_key("unlock else=refuse");
    let (old, new) = ((1, SECRET), (2, [8; 32]));
    let first = Agent::new(&house, Protocol::Modern).begin(&["vpn"]);
    // Step by step: the new key opens, then seals, then the old one is gone.
    write_keys(&house, &[old, new]);
    let second = Agent::new(&house, Protocol::Modern).begin(&["vpn"]);
    write_keys(&house, &[new, old]);
    let mut agent = Agent::new(&house, Protocol::Modern);
    let third = agent.begin(&["vpn"]);
    for handle in [&first, &second, &third] {
        let info = agent.call("server_info", json!({ "briefing": handle }));
        assert_eq!(info["isError"], false, "{info}");
    }
    write_keys(&house, &[new]);
    let mut agent = Agent::new(&house, Protocol::Modern);
    assert_eq!(agent.call("server_info", json!({ "briefing": third }))["isError"], false);
    let refused = error(&agent.call("server_info", json!({ "briefing": second })));
    assert!(refused.contains("key 1") && refused.contains("begin_session"), "{refused}");
}

#[test]
fn key_files_are_read_again_on_sighup() {
    let house = house_with_key("");
    let mut agent = Agent::new(&house, Protocol::Modern);
    let handle = agent.begin(&["vpn"]);
    house.write("key-1", "8a".repeat(32));
    agent.client.server.signal("HUP");
    wait_for_the_end_of(&mut agent, &handle);
    let refused = error(&agent.call("server_info", json!({ "briefing": handle })));
    assert!(refused.contains("begin_session"), "{refused}");
    let handle = agent.begin(&["vpn"]);
    assert_eq!(agent.call("server_info", json!({ "briefing": handle }))["isError"], false);
}

#[test]
fn another_bundle_ends_a_briefing_and_says_so() {
    for protocol in PROTOCOLS {
        let house = house_with_key("unlock else=refuse");
        let mut agent = Agent::new(&house, protocol);
        let handle = agent.begin(&["vpn"]);
        let changed = project("unlock else=refuse").replace("Never guess.", "Always ask.");
        house.replace(&house::bundle_of(&changed.replace("epoch=1", "epoch=2")));
        wait_for_the_end_of(&mut agent, &handle);
        for arguments in [json!({ "briefing": handle }), json!({})] {
            let refused = error(&agent.call("server_info", arguments.clone()));
            assert!(refused.contains("begin_session"), "{refused}");
            if protocol == Protocol::Legacy || arguments["briefing"].is_string() {
                assert!(refused.contains("changed"), "{refused}");
            }
        }
        let begun = agent.call("begin_session", json!({ "tags": ["vpn"] }));
        assert!(text(&begun).contains("Always ask."), "{begun}");
        let info = agent.call("server_info", json!({ "briefing": handle_of(&begun) }));
        assert_eq!(info["isError"], false, "{info}");
    }
}

#[test]
fn where_calls_are_intercepted_a_session_is_briefed_anew_by_another_bundle() {
    let house = house_with_key("");
    let mut agent = Agent::new(&house, Protocol::Legacy);
    let first = agent.call("server_info", json!({}));
    assert_eq!(blocks(&first).len(), 2);
    let changed = project("").replace("Never guess.", "Always ask.").replace("epoch=1", "epoch=2");
    house.replace(&house::bundle_of(&changed));
    wait_for_the_end_of(&mut agent, &handle_of(&first));
    let second = agent.call("server_info", json!({}));
    assert_eq!((&second["isError"], blocks(&second).len()), (&json!(false), 2), "{second}");
    assert!(text(&second).contains("Always ask."));
}

/// Waits until the new bundle is in force: handles of the old one then become invalid.
fn wait_for_the_end_of(agent: &mut Agent, handle: &str) {
    for _ in 0..200 {
        if agent.call("server_info", json!({ "briefing": handle }))["isError"] == true {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("the new bundle never came into force");
}

#[test]
fn a_gate_that_hides_tools_shows_them_to_a_session_that_was_briefed() {
    let project = project("").replace("gate on", "gate on hide-tools=#true");
    let house = House::of(&house::bundle_of(&project));
    let gated = ["read_prompts", "server_info", "audit_tail", "explain_context"];

    let mut agent = Agent::new(&house, Protocol::Legacy);
    assert_eq!(agent.tools(), ["begin_session"]);
    agent.begin(&["vpn"]);
    assert_eq!(agent.client.notified()["method"], "notifications/tools/list_changed");
    assert_eq!(agent.tools(), gated);
    agent.begin(&["vpn"]);
    assert_eq!(agent.client.unasked(), [""; 0], "nothing changed the second time");

    // A client that calls a hidden tool is briefed all the same.
    let mut agent = Agent::new(&house, Protocol::Legacy);
    assert_eq!(blocks(&agent.call("server_info", json!({}))).len(), 2);
    assert_eq!(agent.client.notified()["method"], "notifications/tools/list_changed");
    assert_eq!(agent.tools(), gated);

    // Lists of the modern protocol are the same after every call.
    let mut agent = Agent::new(&house, Protocol::Modern);
    assert_eq!(agent.tools().len(), 5);
    agent.begin(&["vpn"]);
    assert_eq!(agent.tools().len(), 5);
}

#[test]
fn one_process_serves_several_conversations_of_the_modern_protocol() {
    let mut agent = Agent::new(&house("unlock else=refuse"), Protocol::Modern);
    agent.begin(&["vpn"]);
    let other = error(&agent.call("server_info", json!({})));
    assert!(other.contains("no briefing yet"), "{other}");
}

#[test]
fn a_project_without_a_gate_has_none() {
    let project = project("").replace("gate on", "gate off");
    let ungated = project.lines().filter(|line| !line.contains("budget")).collect::<Vec<_>>();
    let house = House::of(&house::bundle_of(&ungated.join("\n").replace("{\n    \n}", "")));
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        assert_eq!(agent.tools(), ["server_info", "audit_tail", "explain_context"]);
        let info = agent.call("server_info", json!({}));
        assert_eq!(blocks(&info).len(), 1, "{info}");
        assert_eq!(agent.refused("begin_session", json!({ "tags": [] })).0, -32602);
    }
}

#[test]
fn rejected_tags_use_up_no_briefing() {
    let house = house("");
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        let tags = |tags: Value| json!({ "tags": tags });
        let eleven: Vec<String> = (0..11).map(|number| format!("tag{number}")).collect();
        let (code, message) = agent.refused("begin_session", tags(json!(eleven)));
        assert_eq!(code, -32602);
        assert!(message.contains("11") && message.contains("10"), "{message}");
        let long = "x".repeat(1 << 20);
        for wrong in [
            json!({}),
            tags(json!("vpn")),
            tags(json!([1, 2])),
            tags(json!(["vpn", null])),
            tags(json!({ "vpn": true })),
            tags(json!([long])),
            json!({ "tags": ["vpn"], "more": true }),
        ] {
            let refused = error(&agent.call("begin_session", wrong));
            assert!(refused.starts_with("[ERROR: ") && refused.len() < 300, "{refused}");
        }
        let none = agent.call("begin_session", tags(json!([])));
        assert_eq!(full(&none), ["common-mistakes"]);
        let ten = agent.call("begin_session", tags(json!(eleven[..10])));
        assert_eq!(ten["isError"], false, "{ten}");
        let odd = tags(json!(["", " ", "\u{0}", "VPN", "vpn", ".*", "(", "ﬀ", "İ", "ß"]));
        assert_eq!(full(&agent.call("begin_session", odd)), ["common-mistakes", "security"]);
    }
}

#[test]
fn the_words_of_an_intercepted_call_count_in_their_order() {
    // `audit` and `tail` come first, and ten keywords at most: `zigbee` is one too many.
    let words = "one1 two2 three3 four4 five5 six6 seven7 vpn zigbee";
    let mut agent = Agent::new(&house(""), Protocol::Modern);
    let ignored = agent.call("audit_tail", json!({ "tool": words }));
    assert_eq!(full(&ignored), ["common-mistakes", "security", "server-audit"], "{ignored}");
}

/// A name is a tag too, in upper or lower case, and alone it brings a prompt of any size.
#[test]
fn a_prompt_is_had_by_its_name() {
    let long = "A sentence of the handbook. ".repeat(100);
    let more = format!(
        "prompts {{ prompt Handbook {{ summary \"All rules\"; text \"{long}\" }}; \
         prompt hand-off priority=9 {{ summary \"The handbook of hand-offs\"; text \"Say who.\" }} }}"
    );
    let house = House::of(&house::bundle_of(&format!("{}\n{more}", project(""))));
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        // With another tag it is over the budget, and the answer says how to get it.
        let with_others =
            agent.call("begin_session", json!({ "tags": ["HANDBOOK", "lights", "submarine"] }));
        assert_eq!(full(&with_others), ["common-mistakes", "hand-off"], "{with_others}");
        let said = text(&with_others);
        assert!(said.contains("\n- Handbook: All rules\n"), "{said}");
        assert!(
            said.contains("with one of these names as the only tag returns it in full)"),
            "{said}"
        );
        assert!(said.contains("(No prompt matches `submarine`.)"), "{said}");
        let handle = handle_of(&with_others);
        let alone = agent.call("read_prompts", json!({ "tags": ["handbook"], "briefing": handle }));
        assert_eq!(full(&alone), ["Handbook"], "{alone}");
        assert!(text(&alone).contains(long.trim_end()));
        // It was sent now, so its name matches what the agent has.
        let again = json!({ "tags": ["handbook"], "briefing": handle_of(&alone) });
        let again = agent.call("read_prompts", again);
        assert_eq!(full(&again), [""; 0], "{again}");
        assert!(!text(&again).contains("No prompt matches"), "{again}");
    }
    // Keywords of a call bring at most its budget.
    let mut agent = Agent::new(&house, Protocol::Modern);
    let call = agent.call("audit_tail", json!({ "tool": "handbook" }));
    assert!(!full(&call).contains(&"Handbook"), "{call}");
}

/// Prompts that people run are in their client's list alone.
#[test]
fn what_people_run_is_in_no_briefing() {
    let more = "prompts { prompt release briefing=#false { summary \"VPN release\"; text \"x\" }; \
                prompt rollout template=#true { arg service required=#true; summary \"VPN rollout\"; \
                text \"Roll out {{ service }}.\" } }";
    let house = House::of(&house::bundle_of(&format!("{}\n{more}", project(""))));
    for protocol in PROTOCOLS {
        let mut agent = Agent::new(&house, protocol);
        for tags in [json!(["vpn"]), json!(["release"]), json!(["rollout"])] {
            let begun = agent.call("begin_session", json!({ "tags": tags }));
            let said = text(&begun);
            let is_named = said.lines().any(|line| {
                !line.starts_with("(No prompt matches")
                    && (line.contains("release") || line.contains("rollout"))
            });
            assert!(!is_named, "{said}");
        }
    }
    let mut client = Client::legacy(&house, &[]);
    let listed = client.get("prompts/list", json!({}));
    let names: Vec<_> =
        listed["prompts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert!(names.contains(&&json!("release")) && names.contains(&&json!("rollout")), "{listed}");
}
