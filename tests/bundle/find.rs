//! Which resource or URI template answers a URI, and with which values.

use std::collections::BTreeMap;

use proptest::prelude::*;
use relay_engine::resource::{self, Found};

use super::uri::{bundle, can_match, expand, template, values};

#[test]
fn a_uri_matches_a_template_as_a_whole() {
    let check = |template: &str, uri: &str, expected: Option<&[(&str, &str)]>| {
        let expected = expected.map(|values| {
            values.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
        });
        assert_eq!(values(&bundle(&[], &[template]), uri), expected, "{template} {uri}");
    };
    // A variable is one or more characters of one path segment.
    check("relay://{a}", "relay://x", Some(&[("a", "x")]));
    check("relay://{a}", "relay://", None);
    check("relay://{a}", "relay://x/y", None);
    check("relay://{a}", "relay://x?y", None);
    check("relay://{a}", "relay://x#y", None);
    check("relay://{a}", "relay:/x", None);
    check("relay://{a}", "RELAY://x", Some(&[("a", "x")]));
    check("relay://{a}", "", None);
    check("{a}", "x:y", Some(&[("a", "x:y")]));

    // What expansion has escaped comes back.
    check("relay://{a}", "relay://a%20b%2Fc%3f", Some(&[("a", "a b/c?")]));
    check("relay://{a}", "relay://%C3%A4%e2%82%ac", Some(&[("a", "ä€")]));
    check("relay://{a}", "relay://ä😴", Some(&[("a", "ä😴")]));
    check("relay://{a}", "relay://a+b", Some(&[("a", "a+b")]));
    check("relay://{a}", "relay://%2520", Some(&[("a", "%20")]));
    check("relay://{a}", "relay://%", None);
    check("relay://{a}", "relay://%4", None);
    check("relay://{a}", "relay://%4x", None);
    check("relay://{a}", "relay://%+4", None);
    check("relay://{a}", "relay://%C3", None);
    check("relay://{a}", "relay://%ff%fe", None);

    // Literals after a variable.
    check("relay://{a}.md", "relay://x.md", Some(&[("a", "x")]));
    check("relay://{a}.md", "relay://x.md.md", Some(&[("a", "x.md")]));
    check("relay://{a}.md", "relay://.md.md", Some(&[("a", ".md")]));
    check("relay://{a}.md", "relay://.md", None);
    check("relay://{a}.md", "relay://x.mdx", None);
    check("relay://{a}/", "relay://x", None);
    check("relay://{a}/", "relay://x/", Some(&[("a", "x")]));
    check("relay://{a}/", "relay://x//", None);

    // Several variables.
    check("relay://{a}/{b}", "relay://x/y", Some(&[("a", "x"), ("b", "y")]));
    check("relay://{b}/{a}", "relay://x/y", Some(&[("a", "y"), ("b", "x")]));
    check("relay://{a}/{b}", "relay://x%2Fy/z", Some(&[("a", "x/y"), ("b", "z")]));
    check("relay://{a}/{b}", "relay://x", None);
    check("relay://{a}/{b}", "relay://x/", None);
    check("relay://{a}/{b}", "relay://x/y/z", None);
    check("relay://{a}/{b}/raw", "relay://x/y/raw", Some(&[("a", "x"), ("b", "y")]));
    check("relay://{a}-{b}", "relay://x-y-z", Some(&[("a", "x"), ("b", "y-z")]));
    check("relay://{a}-{b}", "relay://--y", Some(&[("a", "-"), ("b", "y")]));
    check("relay://{a}-{b}.md", "relay://x-y.md.md", Some(&[("a", "x"), ("b", "y.md")]));
    check("relay://{a}?q={b}", "relay://x?q=y", Some(&[("a", "x"), ("b", "y")]));
    check("relay://{a}?q={b}", "relay://x", None);
}

#[test]
fn a_fixed_uri_comes_before_templates_and_those_in_their_order() {
    let bundle = bundle(&["relay://a", "relay://x/y"], &["relay://{one}", "relay://{two}/{three}"]);
    let found = |uri| match resource::find(&crate::support::view(&bundle), uri).unwrap() {
        Some(Found::Resource(resource)) => resource.uri().unwrap().to_owned(),
        Some(Found::Template(template, values)) => {
            let names: Vec<_> = values.into_keys().collect();
            format!("{} by {}", template.index(), names.join(", "))
        }
        None => "none".into(),
    };
    assert_eq!(found("relay://a"), "relay://a");
    assert_eq!(found("relay://b"), "0 by one");
    assert_eq!(found("relay://x/y"), "relay://x/y");
    assert_eq!(found("relay://x/z"), "1 by three, two");
    assert_eq!(found("relay://x/y/z"), "none");
    // Needless escapes and the case of scheme and host leave a URI the same (RFC 3986, section
    // 6.2.2).
    assert_eq!(found("relay://%61"), "relay://a");
    assert_eq!(found("RELAY://A"), "relay://a");
    assert_eq!(found("relay://x/Y"), "1 by three, two");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_expanded_comes_back(a in "\\PC{1,8}", b in "\\PC{1,8}", c in "[-./%a]{1,5}") {
        let given = BTreeMap::from([("a".into(), a), ("b".into(), b), ("c".into(), c)]);
        // Between the variables are literals that are impossible in expanded values.
        for template in ["r://{a}/{b}/{c}", "{c}/{a}?x={b}#y", "r://{a}:{b}/{c}.md", "r:{b}/{c}:{a}."] {
            let uri = expand(template, &given);
            let found = values(&bundle(&[], &[template]), &uri);
            prop_assert_eq!(found.as_ref(), Some(&given), "{} {}", template, uri);
        }
    }

    /// The linear search finds a match exactly when there is one.
    #[test]
    fn a_match_is_found_if_there_is_one(
        literals in proptest::collection::vec("[-/ab]{1,2}", 1..4),
        values_of in proptest::collection::vec("[-ab]{0,2}/{0,1}[-ab]{0,1}", 5),
        ends in (any::<bool>(), any::<bool>()),
    ) {
        let mut text = String::from(if ends.0 { "{first}" } else { "" });
        for (index, literal) in literals.iter().enumerate() {
            let between = if index == 0 { String::new() } else { format!("{{v{index}}}") };
            text = format!("{text}{between}{literal}");
        }
        if ends.1 {
            text.push_str("{last}");
        }
        // A URI that has the form of the template, even if its values are invalid.
        let mut values_of = values_of.into_iter();
        let uri: String = text
            .split(['{', '}'])
            .enumerate()
            .map(|(at, piece)| if at % 2 == 0 { piece.into() } else { values_of.next().unwrap() })
            .collect();
        let found = values(&bundle(&[], &[&text]), &uri).is_some();
        prop_assert_eq!(found, can_match(&template(&text).pieces, &uri), "{} {}", text, uri);
    }
}
