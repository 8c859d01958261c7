//! Findings are absent exactly when every answer is equal: random pairs of projects, whose answers
//! are asked one by one.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use relay_bundle::{ArgumentKind, Bundle, CallerRole, List, values};
use relay_compiler::{Options, Sources, compile};
use relay_engine::briefing::{self, Occasion};
use relay_engine::completion::complete;
use relay_engine::glob;
use relay_engine::place::{Identity, Placement, place};
use relay_engine::prompt::fill;
use relay_engine::select::{Limits, Selection, Tags, hits, score, select};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::support::Memory;

const NAMES: [&str; 4] = ["plan", "water", "prune", "order"];
/// The tools of a role; some of these match the same.
const TOOLS: [&str; 5] = [
    "",
    " { tools \"*\" }",
    " { tools \"server_*\" \"server_info\" }",
    " { tools \"server_*\" }",
    " { tools \"explain_*\" }",
];
/// Who sees a prompt or a resource; if the role or tenant is missing, everyone does.
const READERS: [&str; 4] = ["", "for role=operator; ", "for role=reader; ", "for tenant=acme; "];
const WORDS: [&str; 6] = ["plan", "water", "beds", "saws", "seeds", "rain"];

/// A project in few words, so that pairs are often equal in most of them.
#[derive(Debug, Clone, PartialEq)]
struct Project {
    title: Option<usize>,
    gate: Option<Gate>,
    greeting: Option<usize>,
    tools: bool,
    access: Option<Access>,
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
}

/// Who there is. The role `reader` may be within `operator`.
#[derive(Debug, Clone, PartialEq)]
struct Access {
    tenants: bool,
    within: bool,
    tier: u8,
    /// The tools of `reader`, as in [`TOOLS`].
    tools: usize,
    /// A user, a group, another group, and anyone: each an operator or a reader, and of the tenant
    /// or of any.
    rows: [Option<(bool, bool)>; 4],
}

#[derive(Debug, Clone, PartialEq)]
struct Gate {
    refuses: bool,
    hides: bool,
    ask: Option<u8>,
    budget: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
struct Prompt {
    on: bool,
    priority: Option<u8>,
    briefing: Option<bool>,
    title: Option<usize>,
    summary: Option<[usize; 2]>,
    chapters: Vec<usize>,
    bed: Option<Argument>,
    readers: usize,
    text: [usize; 3],
}

#[derive(Debug, Clone, PartialEq)]
struct Argument {
    required: bool,
    choices: Option<[usize; 2]>,
    /// Whether the text asks if it is given, and whether the text prints it.
    asks: bool,
    prints: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Resource {
    readers: usize,
    title: Option<usize>,
    plain: bool,
    text: usize,
}

fn project() -> impl Strategy<Value = Project> {
    let word = || 0..WORDS.len();
    let gate = (any::<bool>(), any::<bool>(), option::of(1..4u8), option::of(20..120u16))
        .prop_map(|(refuses, hides, ask, budget)| Gate { refuses, hides, ask, budget });
    let argument = (any::<bool>(), option::of([word(), word()]), any::<bool>(), any::<bool>())
        .prop_map(|(required, choices, asks, prints)| Argument {
            required,
            choices: choices.filter(|[a, b]| a != b),
            asks,
            prints,
        });
    let prompt = (
        prop::bool::weighted(0.9),
        option::of(1..=10u8),
        option::of(any::<bool>()),
        option::of(word()),
        option::of([word(), word()]),
        vec(word(), 0..3),
        option::of(argument),
        (0..READERS.len(), [word(), word(), word()]),
    )
        .prop_map(
            |(on, priority, briefing, title, summary, mut chapters, bed, (readers, text))| {
                chapters.dedup();
                Prompt { on, priority, briefing, title, summary, chapters, bed, readers, text }
            },
        );
    let resource = (0..READERS.len(), option::of(word()), any::<bool>(), word())
        .prop_map(|(readers, title, plain, text)| Resource { readers, title, plain, text });
    let row = || option::of(any::<(bool, bool)>());
    let access =
        (any::<[bool; 2]>(), 0..3u8, 0..TOOLS.len(), [row(), row(), row(), row()]).prop_map(
            |([tenants, within], tier, tools, rows)| Access { tenants, within, tier, tools, rows },
        );
    let access = option::weighted(0.7, access);
    let settings = (option::of(word()), option::of(gate), option::of(word()), any::<bool>());
    ((settings, access), vec(prompt, 1..4), vec(resource, 0..3)).prop_map(
        |(((title, gate, greeting, tools), access), prompts, resources)| Project {
            title,
            gate,
            greeting,
            tools,
            access,
            prompts,
            resources,
        },
    )
}

/// A project and another that takes some of its parts from a third.
fn pair() -> impl Strategy<Value = (Project, Project)> {
    (project(), project(), vec(any::<(u8, u8)>(), 0..3)).prop_map(|(a, other, parts)| {
        let mut b = a.clone();
        for (part, at) in parts {
            match part % 10 {
                8 => b.access.clone_from(&other.access),
                9 => access(&mut b.access, &other.access, at),
                0 => b.title = other.title,
                1 => b.gate.clone_from(&other.gate),
                2 => b.greeting = other.greeting,
                3 => b.tools = other.tools,
                4 => b.resources.clone_from(&other.resources),
                _ => mixed(&mut b.prompts, &other.prompts, at),
            }
        }
        (a, b)
    })
}

/// Takes one thing of who there is from another project.
fn access(access: &mut Option<Access>, other: &Option<Access>, at: u8) {
    let (Some(access), Some(other)) = (access, other) else { return };
    let at = usize::from(at);
    match at % 8 {
        0 => access.tenants = other.tenants,
        1 => access.within = other.within,
        2 => access.tier = other.tier,
        3 => access.tools = other.tools,
        row => access.rows[row % 4] = other.rows[row % 4],
    }
}

/// Takes one thing of one prompt from another project.
fn mixed(prompts: &mut [Prompt], others: &[Prompt], at: u8) {
    let at = usize::from(at);
    let (Some(prompt), Some(other)) = (prompts.get_mut(at % 2), others.get(at / 2 % 2)) else {
        return;
    };
    match at / 4 % 9 {
        8 => prompt.readers = other.readers,
        0 => prompt.on = other.on,
        1 => prompt.priority = other.priority,
        2 => prompt.briefing = other.briefing,
        3 => prompt.title = other.title,
        4 => prompt.summary = other.summary,
        5 => prompt.chapters.clone_from(&other.chapters),
        6 => prompt.bed.clone_from(&other.bed),
        _ => prompt.text = other.text,
    }
}

/// Returns the project's files; `turned` is another layout and order of the same.
fn files(project: &Project, turned: bool) -> Memory {
    let Project { title, gate, greeting, tools, access, prompts, resources } = project;
    let mut memory = Memory::default();
    let mut blocks = vec![match title {
        Some(title) => format!("project garden {{ title \"The {}\" }}\n", WORDS[*title]),
        None => "project garden\n".into(),
    }];
    if let Some(Gate { refuses, hides, ask, budget }) = gate {
        let how = if *refuses { "refuse" } else { "intercept" };
        let ask = ask.map_or(String::new(), |ask| format!("    tags ask={ask} max=4\n"));
        let budget =
            budget.map_or(String::new(), |bytes| format!("    budget (bytes)\"{bytes}B\"\n"));
        blocks.push(format!(
            "gate on hide-tools=#{hides} {{\n    unlock else={how}\n{ask}{budget}}}\n"
        ));
    }
    if let Some(word) = greeting {
        blocks.push(format!("messages {{ session-greeting \"Mind the {}.\" }}\n", WORDS[*word]));
    }
    if *tools {
        blocks.push("tools { diagnostics }\n".into());
    }
    blocks.extend(access.as_ref().map(access_nodes));
    let readers = |number: usize| match (READERS[number], access) {
        (_, None) => "",
        (readers, Some(access)) if readers.contains("tenant") && !access.tenants => "",
        (readers, Some(_)) => readers,
    };
    let mut nodes: Vec<String> = prompts
        .iter()
        .zip(NAMES)
        .map(|(prompt, name)| prompt_node(prompt, name, readers(prompt.readers), &mut memory))
        .collect();
    let mut others: Vec<String> = resources
        .iter()
        .enumerate()
        .map(|(number, Resource { readers: of, title, plain, text })| {
            let readers = readers(*of);
            let mime = if *plain { "text/plain" } else { "text/markdown" };
            let title =
                title.map_or(String::new(), |title| format!("title \"{}\"; ", WORDS[title]));
            let text = WORDS[*text];
            format!(
                "    resource \"garden://{number}\" mime=\"{mime}\" {{ {readers}{title}text \"{text}\" }}\n"
            )
        })
        .collect();
    if turned {
        nodes.reverse();
        others.reverse();
    }
    blocks.push(format!("prompts {{\n{}}}\n", nodes.concat()));
    if !others.is_empty() {
        blocks.push(format!("resources {{\n{}}}\n", others.concat()));
    }
    let text = if turned {
        format!("// Another layout.\n{}", blocks.join("\n// And a comment.\n\n"))
    } else {
        blocks.concat()
    };
    memory.0.insert("project.kdl".into(), text.into_bytes());
    memory
}

fn access_nodes(access: &Access) -> String {
    let Access { tenants, within, tier, tools, rows } = access;
    let mut text = String::new();
    if *tenants {
        text.push_str("tenants { tenant acme; tenant globex }\n");
    }
    let parent = if *within { " parent=operator" } else { "" };
    let tools = TOOLS[*tools];
    text.push_str(&format!(
        "roles {{\n    role operator tier=2\n    role reader tier={tier}{parent}{tools}\n}}\nusers {{\n    user last role=operator\n"
    ));
    let names = ["user ann", "group garden", "group shed", "anyone"];
    for (name, row) in names.into_iter().zip(rows) {
        let Some((is_operator, is_of_tenant)) = row else { continue };
        let role = if *is_operator { "operator" } else { "reader" };
        let tenant = if *is_of_tenant && *tenants { " tenant=acme" } else { "" };
        text.push_str(&format!("    {name}{tenant} role={role}\n"));
    }
    text + "}\n"
}

fn prompt_node(prompt: &Prompt, name: &str, readers: &str, memory: &mut Memory) -> String {
    let Prompt { on, priority, briefing, title, summary, chapters, bed, readers: _, text } = prompt;
    let mut node = format!("    prompt {name}");
    if !on {
        node.push_str(" enabled=#false");
    }
    if let Some(priority) = priority {
        node.push_str(&format!(" priority={priority}"));
    }
    if let Some(briefing) = briefing {
        node.push_str(&format!(" briefing=#{briefing}"));
    }
    let [first, second, third] = text.map(|word| WORDS[word]);
    let mut body = format!("# {first}\n\nThe {second} and\nthe {third}.\n");
    let mut children = format!("        {readers}\n");
    if let Some(title) = title {
        children.push_str(&format!("        title \"{}\"\n", WORDS[*title]));
    }
    if let Some([first, second]) = summary {
        let (first, second) = (WORDS[*first], WORDS[*second]);
        children.push_str(&format!("        summary \"On {first}, on {second}\"\n"));
    }
    if !chapters.is_empty() {
        let chapters: Vec<&str> = chapters.iter().map(|word| WORDS[*word]).collect();
        children.push_str(&format!("        chapters {}\n", chapters.join(" ")));
    }
    let path = match bed {
        None => format!("{name}.md"),
        Some(Argument { required, choices, asks, prints }) => {
            let choices = choices.map_or(String::new(), |choices| {
                let [first, second] = choices.map(|word| WORDS[word]);
                format!(" {{ one-of {first} {second} }}")
            });
            children.push_str(&format!("        arg bed required=#{required}{choices}\n"));
            if *asks {
                body.push_str("{% if bed %}For one bed.{% else %}For all.{% endif %}\n");
            }
            if *prints || !asks {
                body.push_str("In {{ bed }}.\n");
            }
            format!("{name}.md.j2")
        }
    };
    node.push_str(&format!(" file=\"{path}\" {{\n{children}    }}\n"));
    memory.0.insert(path, body.into_bytes());
    node
}

/// Compiles a project; `None` if it has errors.
fn bundle(project: &Project, turned: bool) -> Option<Bundle> {
    let files = files(project, turned);
    let sources = Sources::new(&files, "project.kdl");
    let bytes = compile(&sources, &Options::default()).bundle?;
    Some(Bundle::open(Box::new(bytes)).unwrap())
}

/// Returns every answer that a server gives from a bundle, each under what was asked and by whom.
fn answers(bundle: &Bundle, tags: &[Vec<&str>]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let manifest = bundle.manifest();
    out.insert("title".into(), format!("{:?}", manifest.title.as_ref().map(|title| &title.value)));
    if let Some(gate) = bundle.gate() {
        // The answer to a call before a briefing.
        let gate = values(gate);
        out.insert("gate".into(), format!("{} {}", gate["unlock"], gate["hide_tools"]));
        let messages = bundle.messages().named();
        for (name, message) in messages.into_iter().skip(2) {
            out.insert(format!("message {name}"), format!("{:?}", message.value));
        }
    }
    places(bundle, &mut out);
    let roles = bundle.roles();
    let tenants = bundle.tenants().list().unwrap();
    let tenants = tenants.iter().enumerate().map(|(number, tenant)| (Some(number), &*tenant.name));
    for (tenant, name) in [(None, "")].into_iter().chain(tenants) {
        let of_role = |(number, role): (usize, &CallerRole)| (Some(number), role.name.clone());
        let mut asked: Vec<_> = roles.iter().enumerate().map(of_role).collect();
        if asked.is_empty() {
            asked.push((None, String::new()));
        }
        for (role, role_name) in asked {
            let view = View::of(bundle, &Placement { tenant, role, row: None }).unwrap();
            let mut seen = BTreeMap::new();
            answered(bundle, &view, tags, &mut seen);
            let by = |(asked, answer)| (format!("{name}/{role_name}: {asked}"), answer);
            out.extend(seen.into_iter().map(by));
        }
    }
    out
}

/// Collects the roles of callers, and what these may do.
fn places(bundle: &Bundle, out: &mut BTreeMap<String, String>) {
    let roles = bundle.roles();
    for role in roles {
        let CallerRole { name, tier, approve, decides: _, parent, tools, at: _ } = role;
        let matches = |tool: &&str| {
            let patterns = tools.as_ref();
            patterns.is_none_or(|all| all.iter().any(|it| glob::matches(&it.value, tool)))
        };
        let probes = ["server_info", "server_shed", "explain_this", "other"];
        let seen: Vec<&str> = probes.into_iter().filter(matches).collect();
        out.insert(format!("role {name}"), {
            let asks = approve.as_ref().is_some_and(|approve| approve.value);
            format!("{} {asks} {} {parent:?} {seen:?}", tier.value, role.may_ask())
        });
    }
    let groups = [vec![], vec!["garden"], vec!["shed"], vec!["garden", "shed"]];
    for id in ["ann", "bob", "last"] {
        for tenant in [None, Some("acme"), Some("globex"), Some("initech")] {
            for groups in &groups {
                let groups: Vec<String> = groups.iter().map(|&group| group.into()).collect();
                let identity = Identity { id, tenant, groups: &groups, role: None };
                let given = place(bundle, &identity).unwrap().map(|placement| {
                    let Placement { tenant, role, row } = placement;
                    let tenant = tenant.map(|tenant| bundle.tenants().name(tenant).unwrap());
                    let role = role.map(|role| roles[role].name.clone());
                    // The line that gave the role is part of the answer.
                    let users = bundle.users().list().unwrap();
                    let row = row.map(|row| {
                        (users[row].who, users[row].id.clone(), users[row].tenant.is_some())
                    });
                    (tenant, role, row)
                });
                out.insert(format!("{id} {tenant:?} {groups:?}"), format!("{given:?}"));
            }
        }
    }
}

/// Returns what a caller with a view is answered.
fn answered(
    bundle: &Bundle,
    view: &View<'_>,
    tags: &[Vec<&str>],
    out: &mut BTreeMap<String, String>,
) {
    for list in List::ALL {
        for number in 0..view.page_count(list) {
            let page = view.page(list, number).unwrap();
            out.insert(format!("{list:?} {number}"), page.json);
        }
    }
    out.insert("instructions".into(), view.instructions().unwrap());
    let prompts = || view.rows(List::Prompts).unwrap().map(|row| view.prompt(row).unwrap());
    for prompt in prompts() {
        let name = prompt.name().unwrap();
        let arguments = prompt.rendering().arguments().unwrap();
        let mut calls = vec![BTreeMap::new()];
        for argument in &arguments {
            let values: Vec<&str> = match &argument.kind {
                ArgumentKind::Choice(choices) => choices.clone(),
                ArgumentKind::Text { .. } => vec!["x"],
            };
            for value in values.into_iter().chain(WORDS) {
                calls.push(BTreeMap::from([(argument.name.to_owned(), value.to_owned())]));
            }
            let completed = complete(prompt.rendering(), argument.name, "");
            out.insert(format!("complete {name} {}", argument.name), format!("{completed:?}"));
        }
        for call in calls {
            let filled =
                fill(prompt.rendering(), &call).map(|filled| format!("{:?}", filled.messages));
            out.insert(format!("get {name} {call:?}"), format!("{filled:?}"));
        }
    }
    for row in view.rows(List::Resources).unwrap() {
        let resource = bundle.resource(row).unwrap().to_owned().unwrap();
        out.insert(format!("read {}", resource.uri), format!("{:?}", resource.content.value));
    }
    for tags in tags {
        let tags = Tags::new(tags, 8).unwrap();
        for prompt in prompts() {
            let name = prompt.name().unwrap();
            // Why a prompt is selected is an answer too: people ask for it.
            let why = hits(&prompt, &tags).unwrap();
            out.insert(format!("why {name} {tags:?}"), format!("{why:?}"));
            let points = score(&prompt, &tags).unwrap();
            out.insert(format!("score {name} {tags:?}"), format!("{points:?}"));
        }
        // Tags select prompts in ungated projects, too: people ask which.
        let sent = Sent::default();
        let limits = Limits { budget_bytes: 100, entries_max: 9, named_in_full: false };
        let Selection { full, index, names, .. } = select(view, &tags, &sent, limits).unwrap();
        let named = |list: Vec<usize>| -> Vec<&str> {
            list.into_iter().map(|index| bundle.prompt(index).unwrap().name().unwrap()).collect()
        };
        let selected = [full, index, names].map(named);
        out.insert(format!("select {tags:?}"), format!("{selected:?}"));
        let Some(gate) = bundle.gate() else { continue };
        for occasion in [Occasion::Begin, Occasion::Read, Occasion::Intercept] {
            for has_session in [true, false] {
                let request = briefing::Request {
                    occasion,
                    tags: &tags,
                    sent: &sent,
                    has_session,
                    budget_bytes: None,
                };
                let text = briefing::brief(view, gate, &request).unwrap().text("");
                let limits = briefing::limits(gate, &request);
                let asked = format!("brief {occasion:?} {has_session} {tags:?}");
                out.insert(asked, format!("{limits:?} {text}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_is_a_finding_exactly_where_an_answer_differs((a, b) in pair(), more in vec(0..WORDS.len(), 2..4)) {
        let (Some(old), Some(new)) = (bundle(&a, false), bundle(&b, true)) else { return Ok(()) };
        let mut tags: Vec<Vec<&str>> = WORDS.into_iter().chain(NAMES).map(|word| vec![word]).collect();
        tags.push(more.into_iter().map(|word| WORDS[word]).collect());
        let found = relay_diff::compare(&old, &new).unwrap();
        let (before, after) = (answers(&old, &tags), answers(&new, &tags));
        // A prompt that is off and was never on is left out of answers; reviewers see it.
        let is_answer = |finding: &relay_diff::Finding| finding.part != "enabled";
        let differs = before.iter().find(|(asked, answer)| after.get(*asked) != Some(*answer))
            .or_else(|| after.iter().find(|(asked, _)| !before.contains_key(*asked)));
        prop_assert_eq!(found.iter().any(is_answer), differs.is_some(), "{:?}\n{:?}", found, differs);
        if a == b {
            prop_assert!(found.is_empty(), "{:?}", found);
        }
    }
}
