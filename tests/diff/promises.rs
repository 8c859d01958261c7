//! An `expect` that is gone, or that claims less, loosens.

use relay_diff::{Change, Direction, Finding};

use super::{compiled, found};

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
    // A question about fewer callers is another one.
    let found = promises(hidden, "expect visible user=rob { not-prompt plan; prompt all }");
    let changes: Vec<_> = found.iter().map(|it| (it.change.clone(), it.direction)).collect();
    assert_eq!(changes, [(Change::Removed, Some(Loosens)), (Change::Added, Some(Tightens))]);
    // The order, and how claims are put together, say nothing.
    let apart =
        "expect visible role=reader { prompt all }\nexpect visible role=reader { not-prompt plan }";
    assert_eq!(promises(hidden, apart), []);
}
