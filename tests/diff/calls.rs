//! The skills that calls are given: random ones, against the text of each tenant, tool and user alone.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use relay_bundle::{Bundle, Level, Place, Setting, Skill};
use relay_compiler::{Options, Sources, compile};
use relay_diff::{Called, Change, Claim, Finding, Kind};

use crate::cascade::{any, bundle, model};
use crate::support::Memory;

/// Unknown tools, as the comparison chooses them: one for each pattern, and some more.
const UNKNOWN: [&str; 9] =
    ["x", "api-x", "x-read", "a", "xex", "none-x", "a-unknown", "d-unknown", "z-unknown"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_call_that_is_given_another_text_is_found(
        before in any::skills(12),
        fresh in any::skills(4),
        kept in vec(prop::bool::weighted(0.8), 12),
    ) {
        let kept = before.iter().zip(kept).filter(|(_, kept)| *kept).map(|(skill, _)| skill.clone());
        let after: Vec<Skill> = kept.chain(fresh).collect();
        prop_assume!(!before.is_empty() && !after.is_empty());
        // All skills of a project have different places in the order.
        let is_sound = |skills: &[Skill]| {
            let places: BTreeSet<_> = skills.iter().map(Skill::order).collect();
            places.len() == skills.len()
        };
        prop_assume!(is_sound(&before) && is_sound(&after));
        let bundles = [&before, &after].map(|skills| bundle(skills.clone(), any::TOOLS));
        let found = relay_diff::compare(&bundles[0], &bundles[1]).unwrap();

        let sorted = [before, after].map(|mut skills| {
            skills.sort_by(|a, b| a.order().cmp(&b.order()));
            skills
        });
        let mut expected = BTreeSet::new();
        for tenant in any::TENANTS.iter().copied().map(Some).chain([None]) {
            for user in any::USERS.iter().copied().map(Some).chain([None]) {
                for tool in any::TOOLS.iter().copied().chain(UNKNOWN) {
                    let names = (tenant, Some(tool), user);
                    let [old, new] = sorted.each_ref().map(|skills| model::text(skills, names));
                    if old != new {
                        // With the line feed that ends a text as well.
                        let bytes = |text: &str| i64::try_from(text.len() + usize::from(!text.is_empty())).unwrap();
                        expected.insert(bytes(&new) - bytes(&old));
                    }
                }
            }
        }
        let groups = groups(&found);
        prop_assert_eq!(groups.iter().map(|group| group.bytes).collect::<BTreeSet<_>>(), expected);
        for Called { calls, lost, gained, changed, reordered, .. } in groups {
            prop_assert!(!calls.is_empty());
            let is_said = *reordered || !(lost.is_empty() && gained.is_empty() && changed.is_empty());
            prop_assert!(is_said, "why the text differs");
        }
    }
}

fn groups(found: &[Finding]) -> &[Called] {
    let mut of_calls = found.iter().filter(|finding| finding.subject.kind == Kind::Calls);
    let groups = match of_calls.next().map(|finding| &finding.change) {
        None => &[][..],
        Some(Change::Calls { groups }) => groups,
        Some(other) => panic!("{other:?}"),
    };
    assert!(of_calls.next().is_none(), "one finding for all");
    groups
}

fn project(skills: &str) -> Bundle {
    let text = format!(
        "project orders\ntools {{ other api-create api-read db-read }}\n\
         tenants {{ tenant acme; tenant globex }}\nskills {{\n{skills}}}\n"
    );
    let files = Memory::of(&[("project.kdl", &text)]);
    let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
    Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
}

/// A line for each group: its calls, the bytes, and what was lost, gained, changed.
fn lines(before: &str, after: &str) -> Vec<String> {
    let found = relay_diff::compare(&project(before), &project(after)).unwrap();
    let line = |Called { calls, bytes, lost, gained, changed, reordered, .. }: &Called| {
        let lists = [('-', lost), ('+', gained), ('~', changed)];
        let marked = lists
            .into_iter()
            .flat_map(|(mark, list)| list.iter().map(move |label| format!(" {mark}{label}")));
        let order = if *reordered { " reordered" } else { "" };
        format!("{}: {bytes}{}{order}", calls.join("; "), marked.collect::<String>())
    };
    groups(&found).iter().map(line).collect()
}

#[test]
fn calls_that_differ_alike_are_one_group() {
    const DATES: &str = "global { skill dates topic=dates \"DD/MM/YYYY\" }\n";
    let iso = "tenant acme { skill iso topic=dates tools=\"api-*\" \"ISO\" }\n";
    // The loser of the topic is named too, though nothing in its declaration changed.
    assert_eq!(
        lines(DATES, &format!("{DATES}{iso}")),
        ["api-create, api-read, tenant acme: -7 -global/dates +tenant acme/iso"]
    );
    // Irrelevant parts of a call are left out.
    let limit = |text: &str| format!("tool api-create db-read {{ skill limit \"{text}\" }}\n");
    assert_eq!(
        lines(&limit("Ask."), &limit("Ask first.")),
        ["api-create, db-read: 6 ~tool api-create db-read/limit"]
    );
    let hello = "global { skill hello \"Hi.\"; skill bye priority=PRIORITY \"Bye.\" }\n";
    let with = |priority: &str| hello.replace("PRIORITY", priority);
    assert_eq!(lines(&with("40"), &with("60")), ["every tool: 0 reordered"]);
    let user = |text: &str| format!("user mary {{ skill own \"{text}\" }}\n{}", with("40"));
    let lines =
        lines(&user("Mine."), &format!("{}tenant acme {{ skill eur \"EUR\" }}\n", user("My own.")));
    assert_eq!(
        lines,
        [
            "every tool, tenant acme, user mary: 6 +tenant acme/eur ~user mary/own",
            "every tool, tenant acme, other users: 4 +tenant acme/eur",
            "every tool, other tenants, user mary: 2 ~user mary/own"
        ]
    );
}

#[test]
fn a_user_is_asked_for_where_it_is_that_user() {
    let with = |text: &str, home: &str| {
        let text = format!(
            "project orders\ntools {{ other api-read }}\ntenants {{ tenant acme; tenant globex }}\n\
             roles {{ role reader }}\nusers {{ user mary{home} role=reader; anyone role=reader }}\n\
             skills {{ user mary {{ skill own \"{text}\" }} }}\n"
        );
        let files = Memory::of(&[("project.kdl", &text)]);
        let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
        Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
    };
    let lines = |before: &Bundle, after: &Bundle| {
        let found = relay_diff::compare(before, after).unwrap();
        let shown = |group: &Called| format!("{}: {}", group.calls.join("; "), group.bytes);
        groups(&found).iter().map(shown).collect::<Vec<_>>()
    };
    let at_acme = with("Mine.", " tenant=acme");
    assert_eq!(
        lines(&at_acme, &with("My own.", " tenant=acme")),
        ["every tool, tenant acme, user mary: 2"]
    );
    // The skill is as it was, but mary of globex is another one.
    assert_eq!(lines(&with("Mine.", ""), &at_acme), ["every tool, other tenants, user mary: -6"]);
}

#[test]
fn a_topic_reaches_calls_of_skills_that_did_not_change() {
    // `old` was overridden in every call of acme, and now wins where the winner is narrower.
    let skills = |tools: &str| {
        format!(
            "global {{ skill old topic=dates \"Old.\" }}\n\
             tenant acme {{ skill new topic=dates {tools} \"New!\" }}\n"
        )
    };
    assert_eq!(
        lines(&skills(""), &skills("tools=\"api-*\"")),
        ["db-read, tenant acme: 0 -tenant acme/new +global/old"]
    );
}

#[test]
fn a_text_passes_a_skill_that_a_topic_takes_from_some_tools() {
    // "Three." passes `one`, which is overridden for the tools that the bundle knows, and given to others.
    let skills = |global: &str, narrow: &str| {
        format!(
            "global {{ skill one topic=money \"One.\"; {global} }}\n\
             tool api-read db-read {{ skill own topic=money \"One.\" }}\n{narrow}"
        )
    };
    let skill = "skill before tools=\"*-read\" \"Three.\"";
    assert_eq!(
        lines(&skills("", &format!("tenant acme {{ {skill} }}")), &skills(skill, "")),
        [
            "*-read, api-read, db-read, other tenants: 7 +global/before",
            "*-read, tenant acme: 0 -tenant acme/before +global/before"
        ]
    );
}

/// The finding of what calls are given.
fn of_calls(before: &Bundle, after: &Bundle) -> Option<Finding> {
    let found = relay_diff::compare(before, after).unwrap();
    found.into_iter().find(|finding| finding.subject.kind == Kind::Calls)
}

/// A topic that 127 tenants, 127 users and 3 tools have skills of; with another text for `b`, and
/// another skill of the topic.
fn of_many(text: &str, another: &str) -> Bundle {
    let tenants: String = (0..127).map(|number| format!("tenant t{number}; ")).collect();
    let apart = "skill own topic=t tools=none";
    let narrow: String = (0..127)
        .map(|number| format!("tenant t{number} {{ {apart} T }}; user u{number} {{ {apart} U }}\n"))
        .collect();
    let tools = format!(
        "tool a {{ skill of topic=t A }}\ntool b {{ skill of topic=t \"{text}\" }}\ntool c {{ skill of topic=t C }}"
    );
    let text = format!(
        "project many\ntools {{ other a b c }}\ntenants {{ {tenants} }}\nskills {{\n{narrow}{tools}\n{another}\n}}\n"
    );
    let files = Memory::of(&[("project.kdl", &text)]);
    let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
    Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
}

#[test]
fn some_of_many_calls_are_of_every_tool() {
    let found = of_calls(&of_many("B", ""), &of_many("Be", "")).unwrap();
    let Change::Calls { groups } = &found.change else { panic!("{found:?}") };
    let [Called { calls, changed, bytes: 1, .. }] = groups.as_slice() else { panic!("{groups:?}") };
    assert_eq!((&**calls, &**changed), (&["b".to_owned()][..], &["tool b/of".to_owned()][..]));
    // 128 tenants and users, with none; `a`, `b`, `c`, `none` and other tools.
    assert_eq!(found.claim, Claim::Tried { inputs: 16_384, of: 128 * 128 * 5 });
}

#[test]
fn it_is_said_that_not_all_calls_were_tried() {
    // Its tool has a skill that overrides it.
    let another = "tenant t5 { skill other topic=t tools=b Other }";
    let found = of_calls(&of_many("B", ""), &of_many("B", another)).unwrap();
    assert_eq!(found.change, Change::Calls { groups: Vec::new() });
    assert_eq!(found.claim, Claim::Tried { inputs: 16_384, of: 128 * 128 * 5 });
}

#[test]
fn a_claim_is_exact_where_patterns_are_known_to_be_apart() {
    let claim = |patterns: &str| {
        let skills = |text: &str| project(&format!("tool {patterns} {{ skill s \"{text}\" }}\n"));
        of_calls(&skills("Old"), &skills("New")).unwrap().claim
    };
    for exact in
        ["api-read", "\"*\"", "\"api-*\" \"db-*\" api-read", "\"*-read\" \"*-create\" \"*\""]
    {
        assert_eq!(claim(exact), Claim::Exact, "{exact}");
    }
    // A name may match both, and the example of a pattern be a name.
    assert_eq!(claim("\"ab*\" \"*yz\""), Claim::Tried { inputs: 3, of: 3 });
    assert_eq!(claim("\"ab*\" abx"), Claim::Tried { inputs: 2, of: 2 });
}

#[test]
fn too_many_patterns_are_not_all_matched() {
    let skills = |text: &str| {
        let text = |number| if number == 1_234 { text } else { "T" };
        let skill =
            |number| format!("tool \"t{number}-*\" {{ skill s topic=t {} }}\n", text(number));
        project(&(0..2_000).map(skill).collect::<String>())
    };
    let found = of_calls(&skills("T"), &skills("Text")).unwrap();
    let Change::Calls { groups } = &found.change else { panic!("{found:?}") };
    let [Called { calls, .. }] = groups.as_slice() else { panic!("{groups:?}") };
    // What changed is always tried.
    assert_eq!(*calls, ["t1234-*"]);
    let Claim::Tried { inputs, of: 2_003.. } = found.claim else { panic!("{found:?}") };
    assert!(inputs < 1_100, "{inputs}");
    let meaning = found.meaning.unwrap();
    assert!(meaning.starts_with("2003 names and patterns of tools are too many"), "{meaning}");
}

#[test]
fn skills_that_share_a_label_can_change_places() {
    fn set<T>(value: T) -> Setting<T> {
        Setting { value, at: None }
    }
    let skill = |priority, topic: Option<&str>, user: Option<&str>, text: &str| Skill {
        name: "b".into(),
        level: Level::Global,
        priority: set(priority),
        topic: topic.map(|topic| set(topic.into())),
        title: None,
        description: None,
        meta: None,
        tenant: None,
        tools: Vec::new(),
        user: user.map(|user| set(user.into())),
        text: set(text.into()),
        at: Place { file: "project.kdl".into(), line: 1, column: 1 },
    };
    let common = [skill(0, Some("dates"), None, "Two."), skill(50, None, None, "Three.")];
    let own = skill(50, Some("dates"), Some("john"), "Two.");
    let before = bundle([common.to_vec(), vec![own]].concat(), any::TOOLS);
    let found = of_calls(&before, &bundle(common.to_vec(), any::TOOLS)).unwrap();
    let Change::Calls { groups } = &found.change else { panic!("{found:?}") };
    assert!(groups.iter().all(|group| group.reordered && group.bytes == 0), "{groups:?}");
}
