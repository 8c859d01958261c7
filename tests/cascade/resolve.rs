//! Answers of the cascade, against the naive model, and case by case.

use proptest::prelude::*;
use relay_bundle::{Level, Skill};
use relay_engine::cascade::{Matched, Question, TraceRow, resolve};

use super::{any, bundle, model, question, shown};
use crate::bundle::sample::{self, made};

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// With more skills than one word of bits has, and with fewer.
    #[test]
    fn any_question_is_answered_as_by_the_model(
        mut skills in prop_oneof![any::skills(8), any::skills(300)],
        known in any::known(),
        names in proptest::collection::vec(any::names(), 4),
    ) {
        let bundle = bundle(skills.clone(), &known);
        skills.sort_by(|a, b| a.order().cmp(&b.order()));
        for (tenant, tool, user) in names {
            let names = (tenant, tool, user);
            let resolution = resolve(&bundle, Question { tenant, tool, user }).unwrap();
            let found: Vec<(usize, Option<usize>)> = resolution.matched.iter().map(|matched| {
                let Matched { skill, overridden_by } = *matched;
                (skill as usize, overridden_by.map(|winner| winner as usize))
            }).collect();
            prop_assert_eq!(&found, &model::matched(&skills, names));
            prop_assert_eq!(resolution.text().unwrap(), model::text(&skills, names));

            let trace = resolution.trace().unwrap();
            let traced: Vec<_> = trace.iter().filter_map(|row| row.skill.as_ref()).collect();
            prop_assert_eq!(traced.len(), found.len());
            for (traced, (place, winner)) in traced.iter().zip(found) {
                prop_assert_eq!(&traced.name, &skills[place].name);
                prop_assert_eq!(traced.priority, skills[place].priority.value);
                let winner = winner.map(|winner| &skills[winner].name);
                prop_assert_eq!(traced.overridden_by.as_ref(), winner);
            }
            let levels: Vec<Level> = trace.iter().map(|row| row.level).collect();
            prop_assert!(levels.is_sorted() && Level::ALL.iter().all(|level| levels.contains(level)));
            let empty = |row: &&TraceRow| row.skill.is_none();
            for row in trace.iter().filter(empty) {
                let of_level = levels.iter().filter(|level| **level == row.level);
                prop_assert_eq!(of_level.count(), 1, "an empty level is one row");
            }
        }
    }

    /// A tool that is matched when it is asked for gets the same skills as one matched in advance.
    #[test]
    fn a_tool_that_is_not_known_gets_what_it_would_get(
        skills in any::skills(40),
        known in any::known(),
        (tenant, tool, user) in any::names(),
    ) {
        let question = Question { tenant, tool, user };
        let answer = |known: &[&str]| shown(&bundle(skills.clone(), known), question);
        let all = answer(any::TOOLS);
        prop_assert_eq!(&answer(&known), &all);
        prop_assert_eq!(&answer(&[]), &all);
    }
}

fn tenant_skill(name: &str, tenant: &str, text: &str) -> Skill {
    Skill {
        tenant: Some(made(tenant.into())),
        text: made(text.into()),
        ..sample::skill(name, Level::Tenant)
    }
}

/// The example of the source: three levels, and nothing for the user.
#[test]
fn texts_are_joined_from_the_widest_level_to_the_narrowest() {
    let with = |priority, skill: Skill| Skill { priority: made(priority), ..skill };
    let approval = Skill {
        tools: vec![made("api-create".into())],
        text: made("api-create requires approval for amounts > 10000".into()),
        ..sample::skill("api-create-approval", Level::Tool)
    };
    let request_id = Skill {
        text: made("Always include a request ID in API calls.".into()),
        ..sample::skill("request-id-policy", Level::Global)
    };
    let gdpr = tenant_skill("compliance-gdpr", "acme", "Use ISO 8601 dates, amounts in EUR.");
    let skills = vec![with(100, approval), with(50, gdpr), with(10, request_id)];
    let expected = "Always include a request ID in API calls.\n\
        Use ISO 8601 dates, amounts in EUR.\n\
        api-create requires approval for amounts > 10000\n\
        - global request-id-policy 10\n\
        - tenant compliance-gdpr 50\n\
        - tool api-create-approval 100\n\
        - user";
    let bundle = bundle(skills, &["api-create"]);
    assert_eq!(shown(&bundle, question("acme", "api-create", "john")), expected);
}

#[test]
fn who_is_absent_matches_no_selector() {
    let skills = vec![
        sample::skill("all", Level::Global),
        tenant_skill("formats", "acme", "Of acme."),
        tenant_skill("no-name", "", "Of the tenant without a name."),
        Skill { tools: vec![made("*".into())], ..sample::skill("any-tool", Level::Tool) },
        Skill { user: Some(made("john".into())), ..sample::skill("brief", Level::User) },
    ];
    let bundle = bundle(skills, &[]);
    let nobody = "Text of all.\n- global all 50\n- tenant\n- tool\n- user";
    assert_eq!(shown(&bundle, question("", "", "")), nobody);
    let empty = Question { tenant: Some(""), tool: None, user: None };
    let of_empty = "Text of all.\nOf the tenant without a name.\n\
        - global all 50\n- tenant no-name 50\n- tool\n- user";
    assert_eq!(shown(&bundle, empty), of_empty, "an empty name is a name");
}

#[test]
fn a_bundle_without_skills_says_so() {
    let bundle = bundle(Vec::new(), &["api-create"]);
    assert_eq!(
        shown(&bundle, question("acme", "api-create", "")),
        "\n- global\n- tenant\n- tool\n- user"
    );
}

#[test]
fn an_overriding_text_may_be_empty() {
    let of_topic = |skill: Skill| Skill { topic: Some(made("dates".into())), ..skill };
    let skills = vec![
        of_topic(sample::skill("dates", Level::Global)),
        of_topic(tenant_skill("quiet", "acme", " \n")),
    ];
    let bundle = bundle(skills, &[]);
    let expected = "\n- global dates 50 < quiet\n- tenant quiet 50\n- tool\n- user";
    assert_eq!(shown(&bundle, question("acme", "", "")), expected);
}
