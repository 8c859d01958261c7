//! Completion of an argument's choices.

use relay_bundle::{Argument, Bundle, Contents, Prompt, Rendering, encode};
use relay_engine::completion::{Completion, complete};

use super::sample::{self, choice, text};

/// A bundle with one prompt of these arguments.
fn bundle(arguments: Vec<Argument>) -> Bundle {
    let rendering = Rendering { arguments, variants: vec![Vec::new()] };
    let prompt = Prompt { rendering, ..sample::prompt("it", Vec::new()) };
    let contents = Contents { prompts: vec![prompt], ..Contents::default() };
    sample::open(&encode(&contents).unwrap()).unwrap()
}

#[test]
fn beginnings_come_first_then_what_contains_it_and_case_does_not_matter() {
    let cities = ["Basel", "Aarau", "Zürich", "Lugano", "Bern", "Sargans"];
    let bundle = bundle(vec![choice("city", &cities), text("note", 0)]);
    let rendering = bundle.prompt(0).unwrap().rendering();
    let check = |typed: &str, expected: &[&str]| {
        let found = complete(rendering, "city", typed).unwrap().unwrap();
        let expected = Completion { values: expected.to_vec(), total: expected.len() };
        assert_eq!(found, expected, "{typed:?}");
    };
    check("", &cities);
    check("b", &["Basel", "Bern"]);
    check("BE", &["Bern"]);
    check("a", &["Aarau", "Basel", "Lugano", "Sargans"]);
    check("ZÜ", &["Zürich"]);
    check("gan", &["Lugano", "Sargans"]);
    check("x", &[]);
    check("Basel ", &[]);

    assert_eq!(complete(rendering, "note", "b"), Ok(Some(Completion::default())), "a free text");
    assert_eq!(complete(rendering, "town", "b"), Ok(None), "no such argument");
}

#[test]
fn at_most_100_values_are_sent_and_all_are_counted() {
    let numbers: Vec<String> = (0..250).map(|number| format!("n{number:03}")).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let bundle = bundle(vec![choice("number", &numbers)]);
    let complete = |typed| {
        let rendering = bundle.prompt(0).unwrap().rendering();
        complete(rendering, "number", typed).unwrap().unwrap()
    };
    let all = complete("n");
    assert_eq!((all.values.as_slice(), all.total), (&numbers[..100], 250));
    let hundred = complete("n1");
    assert_eq!((hundred.values.as_slice(), hundred.total), (&numbers[100..200], 100));
}
