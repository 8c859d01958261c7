//! The skills that a question misses by one selector.

use proptest::prelude::*;
use relay_bundle::{Level, Skill};
use relay_engine::cascade::{NearMiss, Question, Selector, near_misses};

use super::{any, bundle, model, question};
use crate::bundle::sample::{self, made};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn are_those_of_the_model(
        mut skills in any::skills(20),
        (tenant, tool, user) in any::names(),
    ) {
        let bundle = bundle(skills.clone(), &[]);
        skills.sort_by(|a, b| a.order().cmp(&b.order()));
        let found: Vec<(String, Selector)> = near_misses(&bundle, Question { tenant, tool, user })
            .unwrap()
            .into_iter()
            .map(|miss| (miss.skill, miss.selector))
            .collect();
        let expected: Vec<(String, Selector)> = skills
            .iter()
            .filter_map(|skill| match model::failures(skill, (tenant, tool, user))[..] {
                [selector] => Some((skill.name.clone(), selector)),
                _ => None,
            })
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn say_what_was_asked_for_and_what_was_given() {
    let skill = Skill {
        tenant: Some(made("acme".into())),
        tools: vec![made("api-*".into()), made("db-*".into())],
        ..sample::skill("gdpr", Level::Tenant)
    };
    let bundle = bundle(vec![skill], &[]);
    let miss = |selector, wants: &[&str], got: Option<&str>| NearMiss {
        level: Level::Tenant,
        skill: "gdpr".into(),
        priority: 50,
        selector,
        wants: wants.iter().map(|text| (*text).into()).collect(),
        got: got.map(Into::into),
        at: sample::place(80),
    };
    let of = |tenant, tool| near_misses(&bundle, question(tenant, tool, "")).unwrap();
    assert_eq!(of("acme", "api-x"), [], "it matches");
    assert_eq!(of("acme", "ssh"), [miss(Selector::Tool, &["api-*", "db-*"], Some("ssh"))]);
    assert_eq!(of("acme", ""), [miss(Selector::Tool, &["api-*", "db-*"], None)]);
    assert_eq!(of("globex", "db-x"), [miss(Selector::Tenant, &["acme"], Some("globex"))]);
    assert_eq!(of("globex", "ssh"), [], "two selectors fail");
}
