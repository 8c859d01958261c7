//! The largest text that any call is given, as the compiler finds it, against all calls.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use relay_bundle::{Bundle, Level, Skill, encode};
use relay_compiler::{Options, Sources};
use relay_engine::cascade::{Question, resolve};

use super::any::{self, TENANTS, USERS};
use crate::bundle::sample;
use crate::support::{Memory, contents};

/// Names that show every set of [`any::PATTERNS`] that one name can match.
fn names() -> Vec<String> {
    let words =
        ["", "a", "b", "c", "e", "z", "api-", "none-", "-read", "db-read", "api-create", "E"];
    let joined = words.iter().flat_map(|one| words.map(|other| format!("{one}{other}")));
    let distinct: BTreeSet<String> = joined.filter(|name| !name.is_empty()).collect();
    distinct.into_iter().collect()
}

/// A project of these skills, each with a name of its own.
fn project(skills: &[Skill], merged: usize) -> String {
    let mut text = String::from("project demo epoch=1\ntenants { tenant acme; tenant globex }\n");
    writeln!(text, "tools {{ other \"*\" }}\nskills merged=(bytes){merged} {{").unwrap();
    for (number, skill) in skills.iter().enumerate() {
        let one = |name: &str, value: &Option<relay_bundle::Setting<String>>| {
            value.as_ref().map(|value| format!(" {name}={:?}", value.value)).unwrap_or_default()
        };
        let patterns: Vec<String> =
            skill.tools.iter().map(|pattern| format!("{:?}", pattern.value)).collect();
        let patterns = patterns.join(" ");
        let (mut tenant, mut user) = (one("tenant", &skill.tenant), one("user", &skill.user));
        let mut tools = match patterns.as_str() {
            "" => String::new(),
            patterns => format!("; tools {patterns}"),
        };
        let block = match skill.level {
            Level::Global => {
                (tenant, user) = (String::new(), String::new());
                "global".to_owned()
            }
            Level::Tenant => {
                tenant = String::new();
                format!("tenant {:?}", skill.tenant.as_ref().map_or("acme", |it| &it.value))
            }
            Level::Tool => {
                tools = String::new();
                format!("tool {}", if patterns.is_empty() { "\"*\"" } else { &patterns })
            }
            Level::User => {
                user = String::new();
                format!("user {:?}", skill.user.as_ref().map_or("john", |it| &it.value))
            }
        };
        let topic = one("topic", &skill.topic);
        let (priority, said) = (skill.priority.value, &skill.text.value);
        writeln!(
            text,
            "{block} {{ skill s{number} priority={priority}{topic}{tenant}{user} {{ text {said:?}{tools} }} }}"
        )
        .unwrap();
    }
    text.push_str("}\n");
    text
}

/// The tenants for which a user has a line; the last user has none.
const HOMES: &[&[&str]] =
    &[&[], &[], &[""], &[" tenant=acme"], &[" tenant=globex"], &[" tenant=acme", " tenant=globex"]];

/// The roles and users of a project, if any user has a line.
fn users(homes: &[&[&str]]) -> String {
    if homes.iter().all(|home| home.is_empty()) {
        return String::new();
    }
    let mut text = String::from("roles { role reader }\nusers {\n    anyone role=reader\n");
    for (user, home) in USERS.iter().zip(homes) {
        for tenant in *home {
            writeln!(text, "    user {user:?}{tenant} role=reader").unwrap();
        }
    }
    text.push_str("}\n");
    text
}

/// Compiles a project; returns its bundle, or the reports of its errors.
fn compiled(text: &str) -> Result<Bundle, String> {
    let files = Memory::of(&[("project.kdl", text)]);
    let sources = Sources::new(&files, "project.kdl");
    let compiled = relay_compiler::compile(&sources, &Options::default());
    match contents(&compiled) {
        Some(contents) => Ok(sample::open(&encode(&contents).unwrap()).unwrap()),
        None => {
            let reports = compiled.diagnostics.sorted().into_iter();
            let errors = reports.filter(|report| report.is_error());
            Err(errors
                .map(|report| format!("{}: {}\n", report.code(), report.diagnostic))
                .collect())
        }
    }
}

/// The bytes of the largest text that a call is given.
fn largest(bundle: &Bundle) -> usize {
    let names = names();
    let tools = names.iter().map(|name| Some(name.as_str())).chain([None]);
    let mut most = 0;
    for tool in tools {
        for tenant in TENANTS.iter().copied().map(Some).chain([None]) {
            for user in USERS.iter().copied().map(Some).chain([None]) {
                let question = Question { tenant, tool, user };
                most = most.max(resolve(bundle, question).unwrap().text().unwrap().len());
            }
        }
    }
    most
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_what_some_call_is_given(
        mut skills in any::skills(12),
        homes in vec(select(HOMES), USERS.len()),
    ) {
        for skill in &mut skills {
            // A tenant has a name.
            skill.tenant = skill.tenant.take().filter(|tenant| !tenant.value.is_empty());
        }
        let project = |merged: usize| format!("{}{}", project(&skills, merged), users(&homes));
        let bundle = match compiled(&project(1 << 20)) {
            Ok(bundle) => bundle,
            Err(reports) => {
                prop_assert!(reports.lines().all(|line| line.starts_with("skill::no_user")), "{}", reports);
                return Ok(());
            }
        };
        let most = largest(&bundle);
        prop_assert!(compiled(&project(most)).is_ok(), "{} bytes are allowed", most);
        if most > 0 {
            let Err(reports) = compiled(&project(most - 1)) else {
                return Err(TestCaseError::fail(format!("{most} bytes are over the limit")));
            };
            prop_assert!(reports.contains("skill::merged_over_limit"), "{}", reports);
            prop_assert!(reports.contains(&format!("is given {most} bytes")), "{}: {}", most, reports);
        }
    }
}
