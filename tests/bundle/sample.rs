//! Bundles to test with, and the keys that sign them.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use relay_bundle::envelope::{self, Envelope};
use relay_bundle::trust::{PublicKey, Revoked, Time, Trust, TrustedKey};
use relay_bundle::{
    Argument, ArgumentKind, Bundle, Content, Contents, Gate, Generated, Manifest, Message,
    MessagePiece, OpenError, Page, Part, Place, Prompt, Rendering, Resource, ResourceTemplate,
    Role, Segment, Tool, Unlock, UriPiece, encode,
};

/// When the tests take place: 2026-11-21T00:00:00Z.
pub(crate) const NOW: Time = Time(1_795_219_200);

/// One prompt of one line.
pub(crate) fn tiny() -> Contents {
    Contents {
        manifest: Manifest {
            project: "tiny".into(),
            compiler: "0.1.0".into(),
            epoch: 7,
            ..Manifest::default()
        },
        prompts: vec![prompt("hello", says("Hello."))],
        ..Contents::default()
    }
}

/// A bit of everything, in less than a page a section.
pub(crate) fn rich() -> Contents {
    Contents {
        manifest: Manifest {
            project: "homelab".into(),
            version: Some("4.2.0".into()),
            title: Some("Home automation — Zürich".into()),
            owner: Some(String::new()),
            environment: Some("production".into()),
            compiler: "0.1.0".into(),
            epoch: 1_234,
            instructions: "Ask for `deploy` first.".into(),
            index: vec!["deploy".into(), "greet".into()],
        },
        prompts: vec![deploy(), greet(), media()],
        resources: vec![
            Resource {
                uri: "relay://logo".into(),
                name: "logo".into(),
                title: None,
                description: None,
                mime: Some("image/png".into()),
                content: Content::Blob(bytes(b"\x89PNG\r\n\x1a\n\0")),
                at: place(40),
            },
            Resource {
                uri: "relay://runbook".into(),
                name: "runbook".into(),
                title: Some("Runbook".into()),
                description: Some("What to do at night".into()),
                mime: Some("text/markdown".into()),
                content: Content::Text(vec![literal("# Night\r\nSleep. 😴\n")]),
                at: place(41),
            },
        ],
        templates: vec![ResourceTemplate {
            uri_template: "relay://host/{host}.md".into(),
            pieces: vec![
                UriPiece::Literal("relay://host/".into()),
                UriPiece::Variable(0),
                UriPiece::Literal(".md".into()),
            ],
            name: "host".into(),
            title: Some("A host".into()),
            description: None,
            mime: Some("text/markdown".into()),
            rendering: Rendering {
                arguments: vec![text("host", 0)],
                variants: vec![says_parts(vec![Part::Text(vec![
                    literal("# "),
                    Segment::Slot(0),
                    literal("\n"),
                ])])],
            },
            at: place(50),
        }],
        gate: Some(gate()),
        tools: vec![
            tool("begin_session", false, 0),
            tool("read_prompts", false, 0),
            tool("server_info", true, 3),
        ],
        tool_pages: vec![page(0, 2, r#"[{"name":"begin_session"}]"#), page(2, 1, "[]")],
        prompt_pages: vec![page(0, 2, r#"[{"name":"deploy"},{"name":"greet"}]"#), page(2, 1, "[]")],
        resource_pages: vec![page(0, 2, "[]")],
        template_pages: vec![page(0, 1, r#"[{"uriTemplate":"relay://host/{host}.md"}]"#)],
        canonical: "project homelab version=\"4.2.0\"\n".into(),
        provenance: r#"{"compiler":"0.1.0"}"#.into(),
    }
}

/// Bodies of more than 128 pages, so that their digest tree has two levels above the data; words
/// of more than a page.
pub(crate) fn large() -> Contents {
    let mut contents = rich();
    let line = |number| format!("{number:08} All work and no play makes Jack a dull boy.\n");
    let body: String = (0..10_000).map(line).collect();
    contents.prompts.extend((0..300u16).map(|number| {
        // INVARIANT: the names are sorted behind those of `rich`.
        Prompt {
            summary: Some(format!("matter{number:04} Straße{number:04}")),
            priority: (number % 10 + 1) as u8,
            ..prompt(&format!("z{number:04}"), says(&format!("Prompt {number}")))
        }
    }));
    contents.prompts.push(prompt("zz-long", says(&body)));
    contents
}

/// Two arguments that choose among six texts, one that only fills a slot.
fn deploy() -> Prompt {
    let environment = ["staging", "production"];
    let environment_states = ["staging", "production", "nowhere"];
    let canary_states = ["a canary", "no canary"];
    let mut variants = Vec::new();
    for environment in environment_states {
        for canary in canary_states {
            variants.push(says_parts(vec![Part::Text(vec![
                literal(&format!("Deploy to {environment} with {canary}: ")),
                Segment::Slot(2),
                literal("."),
            ])]));
        }
    }
    Prompt {
        title: Some("Deploy a service".into()),
        description: Some("How a service gets out".into()),
        summary: Some("Deployment, rollback".into()),
        chapters: vec!["Rollback".into(), "Canary".into()],
        priority: 10,
        body: Some("Deploy to ENVIRONMENT.".into()),
        meta: Some(r#"{"reviewed":"2026-01-15"}"#.into()),
        rendering: Rendering {
            arguments: vec![
                Argument {
                    description: Some("Where to".into()),
                    stride: 2,
                    ..choice("environment", &environment)
                },
                Argument { stride: 1, ..text("canary", 0) },
                Argument { required: true, ..text("service", 20) },
            ],
            variants,
        },
        ..prompt("deploy", Vec::new())
    }
}

/// One optional free text with a default; topics in several scripts, some of them shared.
fn greet() -> Prompt {
    Prompt {
        summary: Some("Begrüßung, ΟΔΟΣ und Straße".into()),
        chapters: vec!["Приветствие".into(), "挨拶\u{3000}と\u{a0}İstanbul".into(), "".into()],
        priority: 7,
        generated: Generated { summary: true, chapters: true },
        body: Some("Hello, world!".into()),
        rendering: Rendering {
            arguments: vec![Argument { default: Some("world".into()), ..text("name", 5) }],
            variants: vec![says_parts(vec![Part::Text(vec![
                literal("Hello, "),
                Segment::Slot(0),
                literal("!"),
            ])])],
        },
        ..prompt("greet", Vec::new())
    }
}

/// Every kind of part, in messages of both roles.
fn media() -> Prompt {
    let uri = || vec![literal("relay://host/"), Segment::Slot(0)];
    let picture = Part::Image { mime: "image/png".into(), bytes: bytes(b"\x89PNG\xff") };
    let sound = Part::Audio { mime: "audio/wav".into(), bytes: bytes(b"RIFF\0") };
    let document = Part::Resource {
        uri: uri(),
        mime: Some("text/plain".into()),
        content: Content::Text(vec![literal("see "), Segment::Slot(0)]),
    };
    let file = Part::Resource { uri: uri(), mime: None, content: Content::Blob(bytes(&[0, 255])) };
    let nothing = Part::Text(Vec::new());
    Prompt {
        chapters: vec!["οδός".into(), "CANARY".into()],
        priority: 7,
        generated: Generated { summary: false, chapters: true },
        body: Some(String::new()),
        rendering: Rendering {
            arguments: vec![text("host", 0)],
            variants: vec![vec![
                Message { role: Role::User, parts: vec![picture, document, nothing] },
                Message { role: Role::Assistant, parts: vec![sound, file] },
                Message { role: Role::User, parts: Vec::new() },
            ]],
        },
        ..prompt("media", Vec::new())
    }
}

/// A gate whose messages have every kind of piece.
fn gate() -> Gate {
    use MessagePiece::{Literal, Matched, Remaining};
    Gate {
        unlock: Unlock::Refuse,
        hide_tools: true,
        tags_ask: 5,
        tags_max: 10,
        budget_bytes: 8192,
        repeat_bytes: 2048,
        remaining_bytes: 4096,
        entry_chars: 100,
        encouragement: vec![
            Literal("Loaded:\n".into()),
            Matched,
            Literal("\nÜbrig:\n".into()),
            Remaining,
        ],
        reminder: vec![Matched, Remaining],
        preamble: vec![Literal("For this call:\n".into()), Matched],
        at: place(60),
    }
}

fn tool(name: &str, gated: bool, tier: u8) -> Tool {
    Tool { name: name.into(), gated, tier, at: place(61) }
}

/// A prompt without arguments.
pub(crate) fn prompt(name: &str, messages: Vec<Message>) -> Prompt {
    Prompt {
        name: name.into(),
        title: None,
        description: None,
        summary: None,
        chapters: Vec::new(),
        priority: 5,
        generated: Generated::default(),
        meta: None,
        body: None,
        rendering: Rendering { arguments: Vec::new(), variants: vec![messages] },
        at: place(3),
    }
}

/// An optional free text on which no variant depends; 0 characters mean no limit.
pub(crate) fn text(name: &str, chars_max: u32) -> Argument {
    Argument {
        name: name.into(),
        description: None,
        required: false,
        default: None,
        kind: ArgumentKind::Text { chars_max },
        stride: 0,
    }
}

/// An optional choice on which no variant depends.
pub(crate) fn choice(name: &str, choices: &[&str]) -> Argument {
    let choices = choices.iter().map(|choice| (*choice).into()).collect();
    Argument { kind: ArgumentKind::Choice(choices), ..text(name, 0) }
}

/// One message of the person, in one literal.
pub(crate) fn says(body: &str) -> Vec<Message> {
    says_parts(vec![Part::Text(vec![literal(body)])])
}

/// One message of the person.
pub(crate) fn says_parts(parts: Vec<Part>) -> Vec<Message> {
    vec![Message { role: Role::User, parts }]
}

pub(crate) fn literal(text: &str) -> Segment {
    Segment::Literal(text.into())
}

fn bytes(bytes: &[u8]) -> Arc<[u8]> {
    bytes.into()
}

fn place(line: u32) -> Place {
    Place { file: "project.kdl".into(), line, column: 5 }
}

fn page(first: u32, count: u32, json: &str) -> Page {
    Page { first, count, json: json.into() }
}

/// The test key with this number.
pub(crate) fn key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number; 32])
}

/// The contents as a bundle signed by the keys with these numbers.
pub(crate) fn sealed(contents: &Contents, keys: &[u8]) -> Vec<u8> {
    sign(&encode(contents).expect("a sample fits the format"), keys)
}

/// The bundle with an envelope of just these signatures.
pub(crate) fn sign(bytes: &[u8], keys: &[u8]) -> Vec<u8> {
    let bundle = open(bytes).expect("the bundle to sign opens");
    let mut envelope = Envelope::unsigned(&bundle).expect("its manifest can be read");
    for number in keys {
        envelope.sign(&key(*number)).expect("there is room for a signature");
    }
    envelope::attach(&bundle, &envelope).expect("an envelope is JSON")
}

pub(crate) fn open(bytes: &[u8]) -> Result<Bundle, OpenError> {
    Bundle::open(Box::new(bytes.to_vec()))
}

/// A policy that wants one signature by any of these keys, and nothing else.
pub(crate) fn trust(keys: &[u8]) -> Trust {
    Trust {
        version: 1,
        threshold: 1,
        require: std::collections::BTreeMap::new(),
        min_epoch: 0,
        keys: keys.iter().map(|number| trusted(*number)).collect(),
        revoked: Revoked::default(),
        allow_digests: Vec::new(),
    }
}

/// The entry of a key in a policy; it is called `key-N`.
pub(crate) fn trusted(number: u8) -> TrustedKey {
    let public = key(number).verifying_key();
    TrustedKey {
        name: format!("key-{number}"),
        id: Some(envelope::key_id(&public)),
        public: PublicKey(public),
        roles: std::collections::BTreeSet::new(),
        not_before: None,
        not_after: None,
    }
}
