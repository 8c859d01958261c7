//! Bundles to test with, and the keys that sign them.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use relay_bundle::envelope::{self, Envelope};
use relay_bundle::trust::{PublicKey, Revoked, Time, Trust, TrustedKey};
use relay_bundle::{
    AgentSkill, Argument, ArgumentEffect, ArgumentKind, Audience, Audiences, AutomataWriter, Blob,
    Bundle, CallerRole, Condition, Content, Contents, Corrupt, Example, Expectation, Floors, Gate,
    Host, Hosts, IndexSettings, KnownHosts, KnownTool, Level, Manifest, Mask, Message,
    MessagePiece, Messages, Mode, OpenError, Outside, Page, Part, PartContent, PathClassRow,
    PathKind, PathRow, Place, Policy, Prompt, Reason, RemoteLimits, Rendering, Repeat, Resource,
    ResourceTemplate, Review, Role, Rule, RuleKind, Scope, Segment, Selector, SessionSettings,
    Setting, ShellSettings, Skill, SkillSettings, Suppressed, Suppression, Tenant, Tier, Tool,
    ToolEffects, ToolLimits, ToolSettings, Unlock, UriPiece, User, Visible, Who, encode,
};
use relay_compiler::automaton;
use relay_policy::facts::{Knowledge, encode as encode_facts};

/// When the tests take place: 2026-11-21T00:00:00Z.
pub(crate) const NOW: Time = Time(1_795_219_200);

/// One prompt of one line.
pub(crate) fn tiny() -> Contents {
    Contents {
        epoch: 7,
        manifest: Manifest {
            project: made("tiny".into()),
            compiler: "0.1.0".into(),
            ..Manifest::default()
        },
        prompts: vec![prompt("hello", says("Hello."))],
        ..Contents::default()
    }
}

/// A bit of everything, in less than a page a section.
pub(crate) fn rich() -> Contents {
    Contents {
        epoch: 1_234,
        manifest: Manifest {
            project: written("homelab", 1),
            version: Some(written("4.2.0", 1)),
            title: Some(written("Home automation — Zürich", 2)),
            owner: Some(written("", 2)),
            environment: Some("production".into()),
            compiler: "0.1.0".into(),
        },
        messages: messages(),
        prompts: vec![deploy(), greet(), media()],
        resources: vec![
            Resource {
                uri: "relay://logo".into(),
                name: made("logo".into()),
                title: None,
                description: None,
                mime: made("image/png".into()),
                content: made(Content::Blob(bytes(b"\x89PNG\r\n\x1a\n\0"))),
                at: place(40),
            },
            Resource {
                uri: "relay://runbook".into(),
                name: written("runbook", 41),
                title: Some(written("Runbook", 42)),
                description: Some(written("What to do at night", 43)),
                mime: written("text/markdown", 41),
                content: Setting {
                    value: Content::Text("# Night\r\nSleep. 😴\n".into()),
                    at: Some(place(44)),
                },
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
            name: made("host".into()),
            title: Some(written("A host", 51)),
            description: None,
            mime: made("text/markdown".into()),
            rendering: Rendering {
                arguments: vec![text("host", 0)],
                variants: vec![says_parts(vec![PartContent::Text(vec![
                    literal("# "),
                    Segment::Slot(0),
                    literal("\n"),
                ])])],
            },
            at: place(50),
        }],
        agent_skills: vec![AgentSkill {
            uri: "skill://rollout/SKILL.md".into(),
            prompt: "deploy".into(),
            frontmatter: r#"{"name":"rollout","description":"Deploys"}"#.into(),
            manifest: r#"[{"uri":"skill://rollout/SKILL.md","digest":"sha256:00","size":1}]"#
                .into(),
            at: place(60),
        }],
        skills: skills(),
        skill_settings: Some(SkillSettings { repeat: written_repeat() }),
        tool_settings: Some(tool_settings()),
        hosts: Some(hosts()),
        policy: Some(policy()),
        rules: rules(),
        automata: automata(),
        facts: facts(),
        known_tools: vec![known_tool("api-create", Some(&[0, 1])), known_tool("ssh_exec", None)],
        gate: Some(gate()),
        tenants: vec![tenant("acme", 70), tenant("initech-gmbh", 71)],
        roles: vec![
            role("operator", None, None),
            role("reader", Some(0), Some(&["server_*", "read_prompts"])),
        ],
        users: vec![
            user(Who::User, "john@acme.example", Some(0), 0, 74),
            user(Who::User, "john@acme.example", None, 1, 75),
            user(Who::Group, "acme:sre", Some(0), 0, 76),
            user(Who::Anyone, "", None, 1, 77),
        ],
        audiences: Some(audiences()),
        tools: vec![
            tool("begin_session", false, Tier::ReadOnly),
            tool("read_prompts", false, Tier::ReadOnly),
            tool("server_info", true, Tier::Irreversible),
        ],
        tool_pages: vec![page(0, 2, r#"[{"name":"begin_session"}]"#), page(2, 1, "[]")],
        prompt_pages: vec![page(0, 2, r#"[{"name":"deploy"},{"name":"greet"}]"#), page(2, 1, "[]")],
        resource_pages: vec![page(0, 2, "[]")],
        template_pages: vec![page(0, 1, r#"[{"uriTemplate":"relay://host/{host}.md"}]"#)],
        canonical: "project homelab version=\"4.2.0\"\n".into(),
        provenance: r#"{"compiler":"0.1.0"}"#.into(),
        review: Review {
            switched_off: vec![written("backup", 60)],
            switched_off_skills: vec![written("tenant acme/old", 88)],
            suppressions: vec![Suppression {
                of: Suppressed::Invisible,
                rule: "aws-access-key".into(),
                because: "the example of its documentation".into(),
                prompts: vec!["deploy".into()],
                resources: vec!["relay://plan".into()],
                skills: vec!["global/date-format".into()],
                at: place(61),
            }],
            reasons: vec![Reason {
                kind: "program".into(),
                name: "deploy".into(),
                part: "option --force".into(),
                because: "it asks first".into(),
                at: place(62),
            }],
            index: Some(IndexSettings {
                cap: 50,
                over_cap_priority: 7,
                entry_chars: 100,
                instructions_chars: 2000,
            }),
            expectations: vec![Expectation {
                question: "visible role=reader".into(),
                claims: vec!["not-tool audit_tail".into()],
                at: place(63),
            }],
        },
    }
}

fn tenant(name: &str, line: u32) -> Tenant {
    Tenant { name: name.into(), at: place(line) }
}

fn role(name: &str, parent: Option<u32>, tools: Option<&[&str]>) -> CallerRole {
    let pattern = |pattern: &&str| written(pattern, 73);
    CallerRole {
        name: name.into(),
        tier: made(Tier::Reversible),
        approve: (name == "operator").then(|| Setting { value: true, at: Some(place(78)) }),
        decides: (name == "operator").then(|| Setting { value: true, at: Some(place(79)) }),
        parent,
        tools: tools.map(|tools| tools.iter().map(pattern).collect()),
        at: place(72),
    }
}

fn user(who: Who, id: &str, tenant: Option<u32>, role: u32, line: u32) -> User {
    User { who, id: id.into(), tenant, role, at: place(line) }
}

/// Operators see everything; readers do not see the first prompt, resource, template and tool.
fn audiences() -> Audiences {
    let visible = |rows, first| Visible {
        rows: Mask::of(rows, |row| row >= first),
        pages: if first < rows { vec![first as u32] } else { Vec::new() },
    };
    let audience = |first: usize, index: &str| Audience {
        prompts: visible(3, first),
        resources: visible(3, first),
        templates: visible(1, first),
        tools: visible(3, first),
        index: index.into(),
        listed: (first as u32..3).collect(),
    };
    Audiences {
        tenant_classes: vec![0, 0, 0],
        table: vec![0, 1],
        list: vec![audience(0, "- deploy\n- greet\n- media"), audience(1, "- greet\n- media")],
    }
}

/// Bodies of more than 128 pages, so that their digest tree has two levels above the data; words
/// of more than a page.
pub(crate) fn large() -> Contents {
    let mut contents = rich();
    // Its audiences are those of three prompts.
    contents.audiences = None;
    let line = |number| format!("{number:08} All work and no play makes Jack a dull boy.\n");
    let body: String = (0..10_000).map(line).collect();
    contents.prompts.extend((0..300u16).map(|number| {
        // INVARIANT: the names are sorted after those of `rich`.
        Prompt {
            summary: Some(made(format!("matter{number:04} Straße{number:04}"))),
            priority: made((number % 10 + 1) as u8),
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
            variants.push(says_parts(vec![PartContent::Text(vec![
                literal(&format!("Deploy to {environment} with {canary}: ")),
                Segment::Slot(2),
                literal("."),
            ])]));
        }
    }
    Prompt {
        title: Some(written("Deploy a service", 5)),
        description: Some(written("How a service gets out", 5)),
        summary: Some(written("Deployment, rollback", 6)),
        chapters: vec![written("Rollback", 7), written("Canary", 8)],
        priority: Setting { value: 10, at: Some(place(4)) },
        body: written("Deploy to ENVIRONMENT.", 9),
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
        summary: Some(made("Begrüßung, ΟΔΟΣ und Straße".into())),
        chapters: ["Приветствие", "挨拶\u{3000}と\u{a0}İstanbul", ""]
            .map(|chapter| made(chapter.into()))
            .to_vec(),
        priority: made(7),
        body: written("Hello, world!", 12),
        rendering: Rendering {
            arguments: vec![Argument { default: Some("world".into()), ..text("name", 5) }],
            variants: vec![says_parts(vec![PartContent::Text(vec![
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
    let picture = PartContent::Image { mime: "image/png".into(), bytes: bytes(b"\x89PNG\xff") };
    let sound = PartContent::Audio { mime: "audio/wav".into(), bytes: bytes(b"RIFF\0") };
    let document = PartContent::ResourceText {
        uri: uri(),
        mime: Some("text/plain".into()),
        text: vec![literal("see "), Segment::Slot(0)],
    };
    let file = PartContent::ResourceBlob { uri: uri(), mime: None, bytes: bytes(&[0, 255]) };
    let nothing = PartContent::Text(Vec::new());
    let message = |role, parts: Vec<PartContent>| Message {
        role,
        parts: parts.into_iter().map(part).collect(),
        at: place(30),
    };
    // So many words with one letter have a row for it.
    let words: Vec<String> = (0..128).map(|number| format!("w{number}")).collect();
    Prompt {
        chapters: vec![made("οδός".into()), made("CANARY".into()), made(words.join(" ") + "!")],
        priority: made(7),
        body: made("".into()),
        rendering: Rendering {
            arguments: vec![text("host", 0)],
            variants: vec![vec![
                message(Role::User, vec![picture, document, nothing]),
                message(Role::Assistant, vec![sound, file]),
                message(Role::User, Vec::new()),
            ]],
        },
        ..prompt("media", Vec::new())
    }
}

/// Hosts with every setting, and with none.
fn hosts() -> Hosts {
    let text = |value: &str| Setting { value: value.to_owned(), at: Some(Place::default()) };
    let bare = |alias: &str| Host {
        alias: alias.into(),
        address: None,
        user: None,
        port: Setting { value: 22, at: None },
        jump: None,
        key: None,
        known_hosts: None,
        groups: Vec::new(),
        pins: Vec::new(),
        at: place(40),
    };
    let core = Host {
        address: Some(text("10.0.0.11")),
        user: Some(text("ops")),
        jump: Some(text("gate")),
        key: Some(text("/etc/relay/keys/core")),
        known_hosts: Some(Setting { value: KnownHosts::AcceptNew, at: Some(place(41)) }),
        groups: vec![text("core")],
        pins: vec![text("ssh-ed25519 AAAA")],
        ..bare("core1")
    };
    Hosts {
        known_hosts: Setting { value: KnownHosts::Strict, at: None },
        outside: Setting { value: Outside::Refuse, at: None },
        weaken: Setting { value: false, at: None },
        hosts: vec![core, bare("gate")],
        at: place(39),
    }
}

/// A policy with every kind of setting, written and default.
fn tool_settings() -> ToolSettings {
    let number = |value| Setting { value, at: Some(Place::default()) };
    let texts =
        |value: &str| Some(vec![Setting { value: value.into(), at: Some(Place::default()) }]);
    ToolSettings {
        limits: ToolLimits {
            timeout_s: number(60),
            timeout_s_max: number(900),
            output_bytes: number(65_536),
            output_bytes_max: number(1 << 20),
            input_bytes_max: number(2 << 20),
            sessions_max: number(64),
        },
        shell: ShellSettings {
            folders: texts("/srv"),
            variables: texts("APP_*"),
            at: Some(Place::default()),
        },
        sessions: Some(SessionSettings { idle_s: number(1800), lifetime_s: number(28_800) }),
        remote: Some(RemoteLimits {
            forwards_max: number(64),
            fanout: number(8),
            fanout_hosts_max: number(100),
        }),
    }
}

fn policy() -> Policy {
    let floor = |value, line: Option<u32>| Setting { value, at: line.map(place) };
    Policy {
        mode: Setting { value: Mode::Open, at: Some(place(90)) },
        floors: Floors {
            unknown_program: floor(Tier::Irreversible, Some(91)),
            unknown_flag: floor(Tier::Stateful, None),
            unknown_word: floor(Tier::Irreversible, None),
            opaque_code: floor(Tier::Reversible, Some(92)),
            unparsed: floor(Tier::Irreversible, None),
            unknown_tool: floor(Tier::ReadOnly, Some(93)),
        },
        paths: vec![
            PathRow {
                kind: PathKind::Critical,
                patterns: vec!["/srv/db/**".into(), "/srv/keys".into()],
                except: vec!["/srv/db/*.log".into()],
                at: place(93),
            },
            PathRow {
                kind: PathKind::Scratch,
                patterns: vec!["./out/**".into()],
                except: Vec::new(),
                at: place(94),
            },
        ],
        classes: vec![PathClassRow {
            name: "databases".into(),
            patterns: vec!["/var/lib/postgresql/**".into()],
            except: vec!["/var/lib/postgresql/log/**".into()],
            at: place(95),
        }],
        scopes: vec![
            Scope {
                parent: None,
                tenant: Some("acme".into()),
                role: None,
                hosts: Vec::new(),
                mode: Some(Setting { value: Mode::Readonly, at: Some(place(96)) }),
                at: place(96),
            },
            Scope {
                parent: Some(0),
                tenant: None,
                role: Some("reader".into()),
                hosts: vec!["db-*".into()],
                mode: None,
                at: place(97),
            },
        ],
        tools: vec![ToolEffects {
            patterns: vec!["fs_*".into()],
            arguments: vec![ArgumentEffect { name: "path".into(), effect: Selector::Writes }],
            at: place(98),
        }],
        facts: "0".repeat(64),
        at: place(90),
    }
}

/// The automaton of a regex.
fn automata() -> Vec<u8> {
    let mut automata = AutomataWriter::default();
    automata.add(&automaton::compile("x+").expect("a regex"));
    automata.finish()
}

/// Rules of several kinds, with every field written and absent.
fn rules() -> Vec<Rule> {
    let condition = |group, selector, argument: Option<&str>, values: &[&str], except: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|text| written(text, 99)).collect();
        Condition {
            group,
            selector,
            argument: argument.map(Into::into),
            values: texts(values),
            except: texts(except),
            automaton: None,
            at: place(99),
        }
    };
    vec![
        Rule {
            name: "no-egress".into(),
            kind: RuleKind::Deny,
            tier: None,
            observe: true,
            ttl_s: None,
            because: Some(written("SEC-12", 99)),
            scope: Some(1),
            origin: Some("workstation 1".into()),
            conditions: vec![
                condition(0, Selector::Connects, None, &["*"], &["*.corp.example"]),
                condition(0, Selector::Arg, Some("env"), &["prod"], &[]),
                condition(1, Selector::Program, None, &["curl"], &[]),
            ],
            examples: vec![
                Example { text: "nc h 80".into(), matches: true, at: place(100) },
                Example { text: "ls".into(), matches: false, at: place(101) },
            ],
            keys: vec!["effect connects".into()],
            at: place(98),
        },
        Rule {
            name: "wipe".into(),
            kind: RuleKind::Tier,
            tier: Some(Tier::Irreversible),
            observe: false,
            ttl_s: Some(120),
            because: None,
            scope: None,
            origin: None,
            conditions: vec![
                condition(0, Selector::Program, None, &["deploy", "wipe"], &[]),
                Condition {
                    automaton: Some(0),
                    ..condition(0, Selector::Text, None, &["x+"], &[])
                },
            ],
            examples: Vec::new(),
            keys: vec!["adjust".into(), "effect connects".into()],
            at: place(102),
        },
    ]
}

/// A table of facts that knows no program, but a variable.
fn facts() -> Vec<u8> {
    let environment = vec!["LANG".to_owned()];
    encode_facts(&Knowledge { environment, ..Knowledge::default() }).expect("a small table")
}

/// Skills of each level: with every selector and without, some of one topic.
fn written_repeat() -> Setting<Repeat> {
    Setting { value: Repeat::Once, at: Some(place(80)) }
}

fn skills() -> Vec<Skill> {
    vec![
        Skill {
            topic: Some(written("dates", 80)),
            text: written("Write dates as DD/MM/YYYY. 😴", 81),
            ..skill("date-format", Level::Global)
        },
        Skill {
            priority: Setting { value: 100, at: Some(place(82)) },
            topic: Some(written("dates", 83)),
            title: Some(written("Formats", 83)),
            description: Some(written("As the law asks", 83)),
            meta: Some(r#"{"regulation":"GDPR"}"#.into()),
            tenant: Some(written("acme", 82)),
            tools: vec![written("api-*", 84), written("db-[ab]", 84)],
            user: Some(written("john@acme.example", 85)),
            ..skill("formats", Level::Tenant)
        },
        Skill {
            tools: vec![written("api-create", 86)],
            text: made(String::new()),
            ..skill("approval", Level::Tool)
        },
        Skill { user: Some(written("mary", 87)), ..skill("brief", Level::User) },
    ]
}

/// A skill for every call.
pub(crate) fn skill(name: &str, level: Level) -> Skill {
    Skill {
        name: name.into(),
        level,
        priority: made(50),
        topic: None,
        title: None,
        description: None,
        meta: None,
        tenant: None,
        tools: Vec::new(),
        user: None,
        text: made(format!("Text of {name}.")),
        at: place(80),
    }
}

fn known_tool(name: &str, patterns: Option<&[u32]>) -> KnownTool {
    KnownTool { name: name.into(), patterns: patterns.map(<[u32]>::to_vec) }
}

/// Settings that were written and defaults.
fn gate() -> Gate {
    Gate {
        unlock: Setting { value: Unlock::Refuse, at: Some(place(61)) },
        hide_tools: made(true),
        tags_ask: made(5),
        tags_max: Setting { value: 10, at: Some(place(62)) },
        budget_bytes: made(8192),
        repeat_bytes: made(2048),
        remaining_bytes: made(4096),
        at: place(60),
    }
}

/// Messages with every kind of piece.
fn messages() -> Messages {
    use MessagePiece::{Literal, Matched, Remaining};
    Messages {
        session_greeting: made(vec![Literal("Ask for `deploy` first.".into())]),
        tool_guidance: made(vec![Literal("`shell_exec` runs a command.".into())]),
        guided_tools: vec!["server_info".into()],
        gate_instructions: made(Vec::new()),
        gate_encouragement: Setting {
            value: vec![
                Literal("Loaded:\n".into()),
                Matched,
                Literal("\nÜbrig:\n".into()),
                Remaining,
            ],
            at: Some(place(70)),
        },
        read_prompts_reminder: made(vec![Matched, Remaining]),
        gate_intercept_preamble: made(vec![Literal("For this call:\n".into()), Matched]),
        prompt_index: vec!["deploy".into(), "greet".into()],
    }
}

fn tool(name: &str, gated: bool, tier: Tier) -> Tool {
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
        priority: made(5),
        briefing: made(true),
        meta: None,
        body: made(only_literal(&messages).unwrap_or_default().into()),
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
        only_printed: false,
        at: place(20),
    }
}

/// An optional choice on which no variant depends.
pub(crate) fn choice(name: &str, choices: &[&str]) -> Argument {
    let choices = choices.iter().map(|choice| (*choice).into()).collect();
    Argument { kind: ArgumentKind::Choice(choices), ..text(name, 0) }
}

/// One message of the person, in one literal.
pub(crate) fn says(body: &str) -> Vec<Message> {
    says_parts(vec![PartContent::Text(vec![literal(body)])])
}

/// One message of the person.
pub(crate) fn says_parts(parts: Vec<PartContent>) -> Vec<Message> {
    let parts = parts.into_iter().map(part).collect();
    vec![Message { role: Role::User, parts, at: place(10) }]
}

pub(crate) fn part(content: PartContent) -> Part {
    Part { content, at: place(11) }
}

/// The text of messages that are one literal.
pub(crate) fn only_literal(messages: &[Message]) -> Option<&str> {
    let [Message { parts, .. }] = messages else { return None };
    let [Part { content: PartContent::Text(segments), .. }] = &parts[..] else { return None };
    match &segments[..] {
        [] => Some(""),
        [Segment::Literal(text)] => Some(text),
        _ => None,
    }
}

/// A value that no one wrote.
pub(crate) fn made<T>(value: T) -> Setting<T> {
    Setting::default_of(value)
}

/// A text that was written on this line.
fn written<T: for<'t> From<&'t str>>(text: &str, line: u32) -> Setting<T> {
    Setting { value: text.into(), at: Some(place(line)) }
}

pub(crate) fn literal(text: &str) -> Segment {
    Segment::Literal(text.into())
}

fn bytes(bytes: &[u8]) -> Blob {
    Blob(Arc::from(bytes))
}

pub(crate) fn place(line: u32) -> Place {
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
    let mut envelope = Envelope::unsigned(&bundle).expect("an envelope is JSON");
    for number in keys {
        envelope.sign(&key(*number)).expect("there is room for a signature");
    }
    envelope::attach(&bundle, &envelope).expect("an envelope is JSON")
}

pub(crate) fn open(bytes: &[u8]) -> Result<Bundle, OpenError> {
    Bundle::open(Box::new(bytes.to_vec()))
}

/// Opens a bundle and checks every page: those of its settings are read at once.
pub(crate) fn checked(bytes: &[u8]) -> Result<(), Corrupt> {
    match open(bytes) {
        Ok(bundle) => bundle.check_all(),
        Err(OpenError::Corrupt(damage)) => Err(damage),
        Err(error) => panic!("its header and table are good: {error}"),
    }
}

/// A policy that wants one signature by any of these keys, and nothing else.
pub(crate) fn trust(keys: &[u8]) -> Trust {
    Trust {
        version: 1,
        project: None,
        threshold: 1,
        require: std::collections::BTreeMap::new(),
        min_epoch: 0,
        keys: keys.iter().map(|number| trusted(*number)).collect(),
        revoked: Revoked::default(),
        allow_digests: Default::default(),
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
