//! An `expect` that is gone, or that claims less, loosens.

use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Change, Direction, Finding};

use super::{compiled, found};
use crate::support::{self, Memory};

const PROJECT: &str = "project demo
roles { role reader; role operator }
users { user ann role=operator; user rob role=reader; group staff role=reader }
tools { diagnostics; other x }
skills { global { skill dates \"Write ISO dates.\" } }
prompts { prompt plan { summary S; text T; for role=operator }; prompt all { summary S; text T } }
";

/// Returns the findings between two projects that differ in their `expect`s.
fn promises(before: &str, after: &str) -> Vec<Finding> {
    let [a, b] = [before, after].map(|expects| compiled(&format!("{PROJECT}{expects}\n")));
    found(&a, &b)
}

#[test]
fn a_promise_that_is_gone_or_weaker_loosens() {
    use Direction::{Narrower as Tightens, NotProved as Loosens};
    let hidden = "expect visible role=reader { not-prompt plan; prompt all }";
    for (before, after, id, direction, meaning) in [
        (
            hidden,
            "",
            "authority/expectation/visible role=reader",
            Loosens,
            "no build proves any more: not-prompt plan; prompt all",
        ),
        (
            hidden,
            "expect visible role=reader { prompt all }",
            "authority/expectation/visible role=reader/claims",
            Loosens,
            "no build proves any more: not-prompt plan",
        ),
        (
            "",
            hidden,
            "authority/expectation/visible role=reader",
            Tightens,
            "every build proves: not-prompt plan; prompt all",
        ),
        // A claim that is another one is gone.
        (
            "expect context tool=x { text \"ISO dates\" }",
            "expect context tool=x { text \"dates\" }",
            "authority/expectation/context tool=x/claims",
            Loosens,
            "no build proves any more: text ISO dates",
        ),
    ] {
        let found = promises(before, after);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.id().as_str(), finding.direction), (id, Some(direction)));
        assert_eq!(finding.meaning.as_deref(), Some(meaning));
    }
    // What the policy decides is a promise of each command, with its rule and tier.
    let policy = "policy guarded { deny no-push { program git; sub push } }\n";
    let push = "expect decision role=operator rule=no-push { deny \"git push\" }";
    for (before, after, direction, meaning) in [
        (push, "", Loosens, "no build proves any more: deny git push rule=no-push"),
        (
            push,
            "expect decision role=operator { deny \"git push\" }",
            Loosens,
            "no build proves any more: deny git push rule=no-push",
        ),
        ("", push, Tightens, "every build proves: deny git push rule=no-push"),
    ] {
        let [a, b] = [before, after].map(|expects| {
            let text = format!("{PROJECT}{policy}{expects}\n");
            let files = Memory::of(&[("project.kdl", &text)]);
            let (compiled, report) = support::compiled(&files, "project.kdl", &Options::default());
            Bundle::open(Box::new(compiled.bundle.expect(&report))).unwrap()
        });
        let found = found(&a, &b);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert!(finding.id().starts_with("authority/expectation/decision role=operator"));
        assert_eq!(
            (finding.direction, finding.meaning.as_deref()),
            (Some(direction), Some(meaning))
        );
    }
    // A question about fewer callers is another one.
    let found = promises(hidden, "expect visible user=rob { not-prompt plan; prompt all }");
    let changes: Vec<_> = found.iter().map(|it| (it.change.clone(), it.direction)).collect();
    assert_eq!(changes, [(Change::Removed, Some(Loosens)), (Change::Added, Some(Tightens))]);
    // The order, and how claims are put together, say nothing.
    let apart =
        "expect visible role=reader { prompt all }\nexpect visible role=reader { not-prompt plan }";
    assert_eq!(promises(hidden, apart), []);
}
