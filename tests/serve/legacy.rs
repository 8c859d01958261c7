//! Clients that begin with `initialize`, on standard input and output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::house::{self, BEEP, CHECKLIST, DOT, House};
use super::server::Client;

#[test]
fn each_version_is_answered_with_itself() {
    let house = House::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let answer = Client::start(&house, &[]).initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
    }
}

#[test]
fn the_modern_version_is_not_negotiated_by_initialize() {
    let answer = Client::start(&House::new(), &[]).initialize("2026-07-28");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
}

#[test]
fn the_project_introduces_itself() {
    let answer = Client::start(&House::new(), &[]).initialize("2025-11-25");
    let result = &answer["result"];
    assert_eq!(
        result["serverInfo"],
        json!({ "name": "house", "title": "The house", "version": "4.2.0" })
    );
    assert_eq!(result["instructions"], "Read `deploy` before you touch house.");
    assert_eq!(
        result["capabilities"],
        json!({
            "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true },
            "completions": {},
        })
    );
}

#[test]
fn a_project_without_title_and_version_has_a_name() {
    let house =
        House::of(&house::bundle_of("project bare epoch=1\nprompts { prompt a { text \"x\" } }"));
    let answer = Client::start(&house, &[]).initialize("2025-11-25");
    let info = &answer["result"]["serverInfo"];
    assert_eq!(*info, json!({ "name": "bare", "title": "bare", "version": "0" }));
}

#[test]
fn prompts_are_listed_in_pages_of_one_order() {
    let house = House::of(&house::bundle_of(&house::many(250)));
    let mut client = Client::legacy(&house, &[]);
    let (first, sizes) = all_pages(&mut client);
    let expected: Vec<_> = (0..250).map(|number| format!("prompt-{number:04}")).collect();
    assert_eq!(first, expected);
    assert_eq!(sizes, [100, 100, 50]);
    let (second, _) = all_pages(&mut client);
    assert_eq!(second, expected);
}

fn all_pages(client: &mut Client) -> (Vec<String>, Vec<usize>) {
    let (mut names, mut sizes) = (Vec::new(), Vec::new());
    let mut params = json!({});
    loop {
        let page = client.get("prompts/list", params);
        let prompts = page["prompts"].as_array().expect("a list");
        sizes.push(prompts.len());
        names.extend(prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()));
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return (names, sizes),
        }
    }
}

#[test]
fn an_unknown_cursor_is_rejected() {
    let house = House::of(&house::bundle_of(&house::many(250)));
    let mut client = Client::legacy(&house, &[]);
    let page = client.get("prompts/list", json!({}));
    let cursor = page["nextCursor"].as_str().unwrap().to_owned();
    let (bundle, _) = cursor.split_once('.').unwrap();
    let beyond = format!("{bundle}.3");
    for cursor in ["1", "0000000000000000.1", "x", &beyond, &format!("{bundle}.-1")] {
        let (code, message) = client.refused("prompts/list", json!({ "cursor": cursor }));
        assert_eq!(code, -32602, "{cursor}");
        assert!(message.contains("list again from the start"), "{message}");
    }
}

#[test]
fn a_list_has_the_texts_that_clients_display() {
    let mut client = Client::legacy(&House::new(), &[]);
    let list = client.get("prompts/list", json!({}));
    assert_eq!(
        list["prompts"][0],
        json!({
            "name": "deploy",
            "title": "Deploy a service",
            "description": "How a service gets out",
            "arguments": [
                {
                    "name": "environment",
                    "required": false,
                    "description": "(one of staging, production; default staging)",
                },
                {
                    "name": "dry-run",
                    "required": false,
                    "description": "(one of true, false; default false)",
                },
                { "name": "service", "required": true, "description": "Which one" },
            ],
        })
    );
    assert!(list.get("nextCursor").is_none(), "{list}");
}

#[test]
fn finite_arguments_choose_the_text_and_others_fill_it() {
    let mut client = Client::legacy(&House::new(), &[]);
    let cases = [
        (json!({ "service": "door" }), "Deploy door to staging."),
        (
            json!({ "service": "door", "environment": "production" }),
            "Deploy door to production, with care.",
        ),
        (json!({ "service": "door", "dry-run": "true" }), "Deploy door to staging (rehearsal)."),
        // An empty field of a form counts as absent.
        (json!({ "service": "door", "environment": "" }), "Deploy door to staging."),
        // Nothing that a caller types is a template.
        (json!({ "service": "{{ 7 * 7 }}" }), "Deploy {{ 7 * 7 }} to staging."),
    ];
    for (arguments, expected) in cases {
        let result = client.get("prompts/get", json!({ "name": "deploy", "arguments": arguments }));
        assert_eq!(result["messages"][0]["content"], json!({ "type": "text", "text": expected }));
        assert_eq!(result["messages"][0]["role"], "user");
        assert_eq!(result["description"], "How a service gets out");
        assert!(result.get("_meta").is_none(), "{result}");
    }
}

#[test]
fn several_parts_become_several_messages() {
    let mut client = Client::legacy(&House::new(), &[]);
    let result =
        client.get("prompts/get", json!({ "name": "show", "arguments": { "arguments": "it" } }));
    let message = |role: &str, content: Value| json!({ "role": role, "content": content });
    let expected = [
        message("user", json!({ "type": "text", "text": "Look at it." })),
        message("user", json!({ "type": "text", "text": CHECKLIST })),
        message(
            "user",
            json!({
                "type": "resource",
                "resource": { "uri": "relay://inline", "mimeType": "text/plain", "text": "Inline." },
            }),
        ),
        message("assistant", json!({ "type": "text", "text": "I look." })),
        message(
            "user",
            json!({ "type": "image", "mimeType": "image/png", "data": STANDARD.encode(DOT) }),
        ),
        message(
            "user",
            json!({ "type": "audio", "mimeType": "audio/wav", "data": STANDARD.encode(BEEP) }),
        ),
    ];
    assert_eq!(result["messages"], json!(expected));
}

#[test]
fn unknown_arguments_of_a_prompt_are_rejected_with_help() {
    let mut client = Client::legacy(&House::new(), &[]);
    let cases = [
        (json!({ "name": "nothing" }), "unknown prompt `nothing`"),
        (json!({ "name": "deploy" }), "argument `service` is required"),
        (
            json!({ "name": "deploy", "arguments": { "service": "x", "servce": "y" } }),
            "unknown argument `servce`; it takes: environment, dry-run, service",
        ),
        (
            json!({ "name": "deploy", "arguments": { "service": 7 } }),
            "argument `service` must be a string",
        ),
        (
            json!({ "name": "deploy", "arguments": { "service": "x", "environment": "moon" } }),
            "argument `environment` must be one of: staging, production",
        ),
    ];
    for (params, expected) in cases {
        assert_eq!(client.refused("prompts/get", params), (-32602, expected.to_owned()));
    }
}

/// A choice that is only printed is a slot, also if it is optional: there are more of these values than a prompt
/// may have combinations.
#[test]
fn the_value_of_a_choice_that_is_only_printed_is_checked() {
    let services: String = (0..70).map(|number| format!(" service-{number}")).collect();
    let project = format!(
        r#"
project many epoch=1
prompts {{
    prompt restart template=#true {{
        arg service {{ one-of{services} }}
        arg place {{ one-of here there }}
        arg by required=#true {{ one-of{services} }}
        text "{{{{ by }}}}: {{{{ service or 'all' }}}}{{% if place is defined %}} {{{{ place }}}}{{% else %}}.{{% endif %}}"
    }}
}}
"#
    );
    let mut client = Client::legacy(&House::of(&house::bundle_of(&project)), &[]);
    let cases = [
        (json!({ "by": "service-69" }), "service-69: all."),
        (json!({ "by": "service-1", "service": "service-69" }), "service-1: service-69."),
        (json!({ "by": "service-1", "place": "there" }), "service-1: all there"),
        (
            json!({ "by": "service-0", "service": "service-0", "place": "here" }),
            "service-0: service-0 here",
        ),
        // An empty field of a form counts as absent.
        (json!({ "by": "service-0", "service": "", "place": "" }), "service-0: all."),
    ];
    for (arguments, expected) in cases {
        let params = json!({ "name": "restart", "arguments": arguments });
        let result = client.get("prompts/get", params);
        assert_eq!(result["messages"][0]["content"]["text"], expected, "{arguments}");
    }
    for (arguments, expected) in [
        (
            json!({ "by": "service-0", "place": "nowhere" }),
            "argument `place` must be one of: here, there",
        ),
        (json!({ "service": "service-0" }), "argument `by` is required"),
    ] {
        let params = json!({ "name": "restart", "arguments": arguments });
        assert_eq!(client.refused("prompts/get", params), (-32602, expected.to_owned()));
    }
    for name in ["service", "by"] {
        let mut arguments = json!({ "by": "service-0" });
        arguments[name] = json!("service-70");
        let params = json!({ "name": "restart", "arguments": arguments });
        let (code, message) = client.refused("prompts/get", params);
        assert_eq!(code, -32602);
        assert!(message.starts_with(&format!("argument `{name}` must be one of")), "{message}");
    }
}

#[test]
fn too_long_an_argument_is_truncated_and_the_answer_says_so() {
    let mut client = Client::legacy(&House::new(), &[]);
    let long = "ä".repeat(10_001);
    let params = json!({ "name": "note", "arguments": { "arguments": long } });
    let result = client.get("prompts/get", params);
    let text = result["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(text, format!("Note: {}", "ä".repeat(10_000)));
    assert_eq!(
        result["_meta"],
        json!({ "dev.relay/arguments-cut": { "arguments": { "characters": 10_001, "kept": 10_000 } } })
    );
}

#[test]
fn an_argument_that_just_fits_is_whole() {
    let mut client = Client::legacy(&House::new(), &[]);
    let long = "ä".repeat(10_000);
    assert_eq!(client.note(&long), format!("Note: {long}"));
}

#[test]
fn resources_are_listed_and_read() {
    let mut client = Client::legacy(&House::new(), &[]);
    let list = client.get("resources/list", json!({}));
    let uris: Vec<_> =
        list["resources"].as_array().unwrap().iter().map(|r| r["uri"].clone()).collect();
    assert_eq!(uris, ["relay://checklist", "relay://dot"]);
    assert_eq!(list["resources"][0]["size"], CHECKLIST.len());
    let text = client.get("resources/read", json!({ "uri": "relay://checklist" }));
    assert_eq!(
        text["contents"],
        json!([{ "uri": "relay://checklist", "mimeType": "text/markdown", "text": CHECKLIST }])
    );
    let blob = client.get("resources/read", json!({ "uri": "relay://dot" }));
    assert_eq!(
        blob["contents"],
        json!([{ "uri": "relay://dot", "mimeType": "image/png", "blob": STANDARD.encode(DOT) }])
    );
}

#[test]
fn a_uri_template_is_listed_and_filled() {
    let mut client = Client::legacy(&House::new(), &[]);
    let list = client.get("resources/templates/list", json!({}));
    let templates = list["resourceTemplates"].as_array().unwrap();
    let templates: Vec<_> = templates.iter().map(|t| t["uriTemplate"].clone()).collect();
    assert_eq!(templates, ["relay://notes/{id}", "relay://rooms/{room}/plan"]);
    let cases = [
        ("relay://rooms/office/plan", "The office: office"),
        ("relay://rooms/kitchen/plan", "A room: kitchen"),
        ("relay://notes/a%20b", "Note a b"),
    ];
    for (uri, expected) in cases {
        let result = client.get("resources/read", json!({ "uri": uri }));
        assert_eq!(result["contents"][0]["text"], expected);
        assert_eq!(result["contents"][0]["uri"], uri);
    }
}

#[test]
fn an_unknown_resource_has_a_code_of_its_own() {
    let mut client = Client::legacy(&House::new(), &[]);
    for uri in ["relay://nothing", "relay://rooms/moon/plan", "relay://notes/a/b", "", "::"] {
        let answer = client.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert_eq!(answer["error"]["data"], json!({ "uri": uri }));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("unknown resource `{uri}`")), "{message}");
    }
}

#[test]
fn listed_values_are_completed() {
    let mut client = Client::legacy(&House::new(), &[]);
    let prompt = |argument: &str, value: &str| {
        json!({
            "ref": { "type": "ref/prompt", "name": "deploy" },
            "argument": { "name": argument, "value": value },
        })
    };
    let values = |result: Value| result["completion"]["values"].clone();
    assert_eq!(
        values(client.get("completion/complete", prompt("environment", "PROD"))),
        json!(["production"])
    );
    assert_eq!(
        values(client.get("completion/complete", prompt("environment", ""))),
        json!(["staging", "production"])
    );
    assert_eq!(values(client.get("completion/complete", prompt("service", "d"))), json!([]));
    let room = json!({
        "ref": { "type": "ref/resource", "uri": "relay://rooms/{room}/plan" },
        "argument": { "name": "room", "value": "k" },
    });
    assert_eq!(values(client.get("completion/complete", room)), json!(["kitchen"]));
    let (code, message) = client.refused("completion/complete", prompt("moon", ""));
    assert_eq!((code, message.as_str()), (-32602, "unknown argument `moon`"));
}

#[test]
fn a_bundle_with_nothing_answers_empty_lists() {
    let house = House::of(&house::bundle_of("project empty epoch=1\n"));
    let mut client = Client::start(&house, &[]);
    let answer = client.initialize("2025-11-25");
    assert_eq!(answer["result"]["capabilities"], json!({}));
    for (method, list) in [
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("tools/list", "tools"),
    ] {
        assert_eq!(client.get(method, json!({}))[list], json!([]), "{method}");
    }
    assert_eq!(client.get("ping", json!({})), json!({}));
}

/// MCP lacks a field for the values of an argument, and lists have room for a line.
#[test]
fn a_list_names_values_and_has_the_first_line_of_a_description() {
    let project = r#"
        project lists epoch=1
        prompts {
            prompt deploy template=#true {
                description "Rolls a service out.\n\nAsk the owner first."
                arg where description="The cluster" default=staging { one-of staging production }
                arg region { one-of r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 }
                arg note description="A remark"
                text "{{ where }}{% if region %} {{ region }}{% endif %}{% if note %} {{ note }}{% endif %}"
            }
        }
        resources {
            resource "relay://lists/page" { description "A page.\r\nIt says more."; text "x" }
        }
    "#;
    let mut client = Client::legacy(&House::of(&house::bundle_of(project)), &[]);
    let prompt = client.get("prompts/list", json!({}))["prompts"][0].take();
    assert_eq!(prompt["description"], "Rolls a service out. …");
    let described: Vec<_> =
        prompt["arguments"].as_array().unwrap().iter().map(|one| &one["description"]).collect();
    assert_eq!(
        json!(described),
        json!([
            "The cluster (one of staging, production; default staging)",
            "(one of r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, and 2 more)",
            "A remark",
        ])
    );
    let whole = client.get("prompts/get", json!({ "name": "deploy", "arguments": {} }));
    assert_eq!(whole["description"], "Rolls a service out.\n\nAsk the owner first.");
    let resource = client.get("resources/list", json!({}))["resources"][0].take();
    assert_eq!(resource["description"], "A page. …");
}
