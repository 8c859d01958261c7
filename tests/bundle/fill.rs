//! Filling prompts: which variant the arguments choose, and what comes into its slots.

use std::collections::BTreeMap;

use proptest::prelude::*;
use relay_bundle::{
    Argument, ArgumentKind, Bundle, Contents, Message, PartContent, Prompt, Rendering, Role,
    Segment, encode,
};
use relay_engine::prompt::{self, FILLED_BYTES_MAX, FillError, Filled, Origin, Truncation};

use super::sample::{self, choice, literal, says_parts, text};

fn bundle(arguments: Vec<Argument>, variants: Vec<Vec<Message>>) -> Bundle {
    let rendering = Rendering { arguments, variants };
    let prompt = Prompt { rendering, ..sample::prompt("it", Vec::new()) };
    let contents = Contents { prompts: vec![prompt], ..Contents::default() };
    sample::open(&encode(&contents).unwrap()).unwrap()
}

/// A prompt that shows the value of each of its arguments in brackets.
fn bundle_with(arguments: Vec<Argument>) -> Bundle {
    let mut segments = Vec::new();
    for index in 0..arguments.len() as u32 {
        segments.extend([literal("["), Segment::Slot(index), literal("]")]);
    }
    bundle(arguments, vec![says_parts(vec![PartContent::Text(segments)])])
}

fn fill<'b>(bundle: &'b Bundle, given: &[(&str, &str)]) -> Result<Filled<'b>, FillError> {
    let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    prompt::fill(bundle.prompt(0).unwrap().rendering(), &given)
}

fn text_of(filled: &Filled<'_>) -> String {
    match &*filled.messages[0].parts {
        [prompt::Part::Text(text)] => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_value_is_the_given_one_else_the_default_else_absent() {
    let required = Argument { required: true, ..text("a", 0) };
    let optional = text("b", 0);
    let default = Argument { default: Some("plain".into()), ..text("c", 0) };
    let color = Argument { default: Some("red".into()), ..choice("d", &["red", "blue"]) };
    let bundle = bundle_with(vec![required, optional, default, color]);

    use Origin::{Absent, Default, Given};
    let check = |given: &[(&str, &str)], expected: &str, origins: [Origin; 4]| {
        let filled = fill(&bundle, given).unwrap();
        assert_eq!(text_of(&filled), expected, "{given:?}");
        let found: Vec<_> = filled.values.iter().map(|value| value.origin).collect();
        assert_eq!(found, origins, "{given:?}");
    };
    check(&[("a", "1")], "[1][][plain][red]", [Given, Absent, Default, Default]);
    check(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "blue")], "[1][2][3][blue]", [Given; 4]);
    // An empty text counts as absent where the argument is optional, and as a text where it is
    // required.
    check(
        &[("a", ""), ("b", ""), ("c", ""), ("d", "")],
        "[][][plain][red]",
        [Given, Absent, Default, Default],
    );
    // Texts are copied literally.
    check(
        &[("a", "{{ b }} $ARGUMENTS [x]"), ("b", "%s\0\r\n")],
        "[{{ b }} $ARGUMENTS [x]][%s\0\r\n][plain][red]",
        [Given, Given, Default, Default],
    );
    let finite: Vec<_> = fill(&bundle, &[("a", "")]).unwrap().values;
    let finite: Vec<_> = finite.iter().map(|value| (value.name, value.finite)).collect();
    assert_eq!(finite, [("a", false), ("b", false), ("c", false), ("d", true)]);
}

#[test]
fn wrong_arguments_are_rejected_with_the_accepted_ones() {
    let check = |bundle: &Bundle, given: &[(&str, &str)], expected: FillError, message: &str| {
        let error = fill(bundle, given).unwrap_err();
        assert_eq!(error, expected, "{given:?}");
        assert_eq!(error.to_string(), message);
    };
    let service = Argument { required: true, ..text("service", 0) };
    let bundle = bundle_with(vec![service, choice("to", &["staging", "production"])]);
    let unknown = |name: &str, known: &[&str]| FillError::UnknownArgument {
        name: name.into(),
        known: known.iter().map(|name| (*name).into()).collect(),
    };
    check(
        &bundle,
        &[("service", "x"), ("env", "y")],
        unknown("env", &["service", "to"]),
        "unknown argument `env`; it takes: service, to",
    );
    check(
        &bundle,
        &[("Service", "")],
        unknown("Service", &["service", "to"]),
        "unknown argument `Service`; it takes: service, to",
    );
    let long = "ä".repeat(65);
    check(
        &bundle,
        &[(&long, "")],
        unknown(&long[..128], &["service", "to"]),
        &format!("unknown argument `{}`; it takes: service, to", &long[..128]),
    );
    check(
        &bundle_with(Vec::new()),
        &[("x", "")],
        unknown("x", &[]),
        "unknown argument `x`; it takes none",
    );
    check(
        &bundle,
        &[("to", "staging")],
        FillError::MissingArgument { name: "service".into() },
        "argument `service` is required",
    );
    let choices = vec!["staging".into(), "production".into()];
    check(
        &bundle,
        &[("service", "x"), ("to", "Staging")],
        FillError::NotAChoice { name: "to".into(), choices },
        "argument `to` must be one of: staging, production",
    );
}

#[test]
fn a_long_text_is_truncated_between_characters_and_reported() {
    let bundle = bundle_with(vec![Argument { default: Some("default".into()), ..text("a", 4) }]);
    let check = |given: &str, expected: &str, cut: Option<Truncation>| {
        let filled = fill(&bundle, &[("a", given)]).unwrap();
        assert_eq!(text_of(&filled), format!("[{expected}]"), "{given:?}");
        assert_eq!(filled.values[0].truncation, cut, "{given:?}");
    };
    let cut = |chars| Some(Truncation { chars, kept: 4 });
    check("abcd", "abcd", None);
    check("abcde", "abcd", cut(5));
    check("äöü€", "äöü€", None);
    check("äöü€😴", "äöü€", cut(5));
    check("😴😴😴😴😴😴", "😴😴😴😴", cut(6));
    check("", "defa", cut(7));

    let unlimited = bundle_with(vec![text("a", 0)]);
    let long = "ä".repeat(100_000);
    assert_eq!(fill(&unlimited, &[("a", &long)]).unwrap().values[0].truncation, None);
}

/// The limit counts what a slot makes of a text, over all messages and parts.
#[test]
fn a_filled_prompt_has_at_most_8_mib() {
    let part = || PartContent::Text(vec![Segment::Slot(0); 4]);
    let resource = || PartContent::ResourceText {
        uri: vec![Segment::Slot(0)],
        mime: None,
        text: vec![Segment::Slot(0); 3],
    };
    let message = || says_parts(vec![part(), resource()]);
    let bundle = bundle(vec![text("a", 0)], vec![[message(), message()].concat()]);
    let text = "x".repeat(FILLED_BYTES_MAX / 16);
    assert!(fill(&bundle, &[("a", &text)]).is_ok());
    let error = fill(&bundle, &[("a", &format!("{text}x"))]).unwrap_err();
    assert_eq!(error, FillError::TooLarge);
    assert!(error.to_string().contains("over 8388608 bytes"), "{error}");
}

#[test]
fn every_kind_of_part_is_filled() {
    let bundle = sample::open(&encode(&sample::rich()).unwrap()).unwrap();
    let media = bundle.find_prompt("media").unwrap().unwrap();
    let given = BTreeMap::from([("host".to_owned(), "a b".to_owned())]);
    let filled = prompt::fill(media.rendering(), &given).unwrap();
    use prompt::Part as P;
    let uri = || "relay://host/a b".to_owned();
    let expected = [
        (
            Role::User,
            vec![
                P::Image("image/png", b"\x89PNG\xff"),
                P::ResourceText(uri(), Some("text/plain"), "see a b".into()),
                P::Text(String::new()),
            ],
        ),
        (
            Role::Assistant,
            vec![P::Audio("audio/wav", b"RIFF\0"), P::ResourceBlob(uri(), None, &[0, 255])],
        ),
        (Role::User, vec![]),
    ];
    let expected = expected.map(|(role, parts)| prompt::Message { role, parts });
    assert_eq!(filled.messages, expected);
}

/// Arguments, each with the states that it can be in, and whether texts depend on it.
fn arguments() -> impl Strategy<Value = Vec<(Argument, bool)>> {
    let one = (0..4usize, any::<[bool; 3]>()).prop_map(|(choices, [default, matters, printed])| {
        let choices: Vec<String> = (0..choices).map(|choice| format!("c{choice}")).collect();
        let default = choices.first().filter(|_| default).cloned();
        let kind = match choices.len() {
            0 => ArgumentKind::Text { chars_max: 0 },
            _ => ArgumentKind::Choice(choices),
        };
        (Argument { default, kind, only_printed: printed, ..text("", 0) }, matters)
    });
    proptest::collection::vec(one, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each combination of states has a variant of its own, in the order of counting; here every
    /// variant says which combination it is for.
    #[test]
    fn the_variant_is_the_one_for_the_values_in_force(arguments in arguments()) {
        // The naive way: write down every combination, the last argument changing fastest.
        let mut combinations = vec![Vec::new()];
        for (argument, matters) in &arguments {
            let states = match (&argument.kind, matters) {
                (_, false) => vec!["*".to_owned()],
                (ArgumentKind::Choice(choices), _) if !argument.only_printed => {
                    choices.iter().cloned().chain(["absent".into()]).collect()
                }
                _ => vec!["present".into(), "absent".into()],
            };
            combinations = combinations
                .iter()
                .flat_map(|before: &Vec<String>| {
                    states.iter().map(|state| [&before[..], std::slice::from_ref(state)].concat())
                })
                .collect();
        }
        let mut stride = combinations.len();
        let mut named = Vec::new();
        for (index, (argument, matters)) in arguments.iter().enumerate() {
            let states = match &argument.kind {
                ArgumentKind::Choice(choices) if !argument.only_printed => choices.len() + 1,
                _ => 2,
            };
            stride /= if *matters { states } else { 1 };
            let own = if *matters { stride as u32 } else { 0 };
            named.push(Argument { name: format!("a{index}"), stride: own, ..argument.clone() });
        }
        let variants = combinations.iter().map(|states| sample::says(&states.join(" "))).collect();
        let bundle = bundle(named.clone(), variants);

        // Every way to call it: each argument left out, or given one of its values.
        let mut calls = vec![Vec::new()];
        for argument in &named {
            let values = match &argument.kind {
                ArgumentKind::Choice(choices) => choices.clone(),
                ArgumentKind::Text { .. } => vec!["free".into()],
            };
            let states = values.into_iter().map(Some).chain([None]);
            calls = states
                .flat_map(|state| {
                    calls.iter().map(move |call: &Vec<Option<String>>| {
                        [&call[..], std::slice::from_ref(&state)].concat()
                    })
                })
                .collect();
        }
        for call in calls {
            let given: Vec<_> = named
                .iter()
                .zip(&call)
                .filter_map(|(argument, value)| Some((argument.name.as_str(), value.as_deref()?)))
                .collect();
            let expected: Vec<_> = named
                .iter()
                .zip(&call)
                .zip(&arguments)
                .map(|((argument, value), (_, matters))| {
                    let value = value.clone().or(argument.default.clone());
                    match (matters, &argument.kind, value) {
                        (false, ..) => "*".into(),
                        (_, _, None) => "absent".into(),
                        (_, ArgumentKind::Choice(_), Some(value)) if !argument.only_printed => {
                            value
                        }
                        (_, _, Some(_)) => "present".to_owned(),
                    }
                })
                .collect();
            prop_assert_eq!(text_of(&fill(&bundle, &given).unwrap()), expected.join(" "));
        }
    }
}

/// A rendering of contradictory numbers is an error instead of another text.
#[test]
fn a_variant_that_is_not_there_is_corrupt() {
    let far = Argument { stride: u32::MAX, ..text("a", 0) };
    let bundle = bundle(vec![far.clone(), Argument { name: "b".into(), ..far }], vec![Vec::new()]);
    assert!(matches!(fill(&bundle, &[]), Err(FillError::Corrupt(_))));
    assert!(fill(&bundle, &[("a", "x"), ("b", "x")]).is_ok());
}
