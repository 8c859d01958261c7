//! The digest of what a bundle decides: it changes with every value but places and origin.

use proptest::prelude::*;
use proptest::sample::Index;
use relay_bundle::Contents;
use serde_json::Value;

use super::{random, sample};

/// Parts of the contents that leave answers as they are.
const ORIGIN: [&str; 6] =
    ["/epoch", "/manifest/compiler", "/known_tools", "/canonical", "/provenance", "/review"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_but_places_and_origin_counts(contents in random::contents(), leaf in any::<Index>()) {
        let mut value = serde_json::to_value(&contents).unwrap();
        let mut leaves = Vec::new();
        find_leaves(&value, "", &mut leaves);
        let path = &leaves[leaf.index(leaves.len())];
        change(value.pointer_mut(path).unwrap());
        // Some values take only certain texts and numbers.
        let Ok(changed) = serde_json::from_value::<Contents>(value) else { return Ok(()) };
        prop_assume!(changed != contents);
        let counts = !path.split('/').any(|name| name == "at") && !ORIGIN.iter().any(|origin| path.starts_with(origin));
        prop_assert_eq!(changed.meaning() != contents.meaning(), counts, "{}", path);
    }
}

#[test]
fn the_order_of_items_counts() {
    let contents = sample::rich();
    let mut turned = contents.clone();
    turned.prompts.reverse();
    assert_ne!(turned.meaning(), contents.meaning());
}

pub(crate) fn find_leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(number, item)| find_leaves(item, &format!("{path}/{number}"), out));
        }
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, item)| find_leaves(item, &format!("{path}/{name}"), out));
        }
        _ => out.push(path.to_owned()),
    }
}

pub(crate) fn change(value: &mut Value) {
    *value = match value {
        Value::Bool(value) => Value::from(!*value),
        Value::Number(number) => Value::from(number.as_u64().unwrap_or_default() ^ 1),
        Value::String(text) => Value::from(format!("x{text}")),
        _ => return,
    };
}
