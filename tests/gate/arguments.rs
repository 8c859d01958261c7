//! The arguments of calls: what is decoded, clamped and refused by the table of tools.

use proptest::prelude::*;
use relay_engine::tool::{
    ArgumentError, Arguments, Bound, Kind, Limit, Limits, TOOLS, ToolSpec, find,
};
use serde_json::{Map, Value, json};

fn audit_tail() -> &'static ToolSpec {
    find("audit_tail").expect("a tool")
}

/// Limits that differ from each other.
const LIMITS: Limits = Limits { timeout_s: 7, timeout_s_max: 90, ..Limits::DEFAULT };

fn decode<'a>(
    spec: &ToolSpec,
    given: &'a Map<String, Value>,
) -> Result<Arguments<'a>, ArgumentError> {
    relay_engine::tool::decode(spec, given, &LIMITS)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

#[test]
fn missing_arguments_have_their_default() {
    for given in [json!({}), json!({ "lines": null, "tool": null, "tier": null, "denied": null })] {
        let given = object(given);
        let arguments = decode(audit_tail(), &given).expect("nothing is required");
        assert_eq!(arguments.integer("lines"), Some(50));
        assert_eq!(arguments.integer("tier"), Some(-1));
        assert_eq!((arguments.text("tool"), arguments.boolean("denied")), (Some(""), None));
        assert_eq!(arguments.text("briefing"), None);
    }
}

#[test]
fn numbers_are_whole_and_in_range() {
    let lines = |number: Value| {
        let given = object(json!({ "lines": number }));
        decode(audit_tail(), &given).map(|arguments| arguments.integer("lines"))
    };
    let cases = [
        (json!(7), 7),
        (json!(7.0), 7),
        (json!(0), 1),
        (json!(-3), 1),
        (json!(1001), 1000),
        (json!(1e300), 1000),
        (json!(u64::MAX), 1000),
        (json!(-1e300), 1),
    ];
    for (given, expected) in cases {
        assert_eq!(lines(given.clone()), Ok(Some(expected)), "{given}");
    }
    for wrong in [json!(7.5), json!("7"), json!(true), json!([7]), json!({})] {
        let error = lines(wrong.clone()).expect_err("no whole number");
        assert_eq!(error.to_string(), "`lines` must be a whole number", "{wrong}");
    }
}

#[test]
fn wrong_arguments_are_named_with_the_expected_type() {
    let error = |tool: &str, given: Value| {
        let given = object(given);
        decode(find(tool).expect("a tool"), &given).expect_err("refused").to_string()
    };
    let unknown = error("audit_tail", json!({ "line": 5 }));
    assert_eq!(unknown, "unknown argument `line`; it takes: lines, tool, tier, denied, briefing");
    let unknown = error("begin_session", json!({ "tags": [], "briefing": "x" }));
    assert_eq!(unknown, "unknown argument `briefing`; it takes: tags");
    let long = error("server_info", json!({ "x".repeat(1000): 1 }));
    assert_eq!(long, format!("unknown argument `{}`; it takes: briefing", "x".repeat(64)));
    let required = "`tags` is required: an array of strings";
    assert_eq!(error("read_prompts", json!({})), required);
    assert_eq!(error("read_prompts", json!({ "tags": null })), required);
    for wrong in [json!("vpn"), json!([7]), json!(["vpn", null])] {
        let wrong = error("begin_session", json!({ "tags": wrong }));
        assert_eq!(wrong, "`tags` must be an array of strings");
    }
    assert_eq!(error("audit_tail", json!({ "denied": "yes" })), "`denied` must be true or false");
    assert_eq!(error("server_info", json!({ "briefing": 7 })), "`briefing` must be a string");
}

#[test]
fn limits_of_the_project_bound_numbers() {
    let number = |tool: &str, given: Value, name: &str| {
        let given = object(given);
        let arguments = decode(find(tool).expect("a tool"), &given).expect("valid arguments");
        arguments.integer(name).expect("a number")
    };
    let timeout = |given: Value| {
        number("shell_exec", json!({ "command": "ls", "timeout": given }), "timeout")
    };
    // Absent, 0 and null mean the default.
    assert_eq!([Value::Null, json!(0)].map(timeout), [7, 7]);
    assert_eq!([json!(-5), json!(1), json!(90), json!(1e9)].map(timeout), [1, 1, 90, 90]);
    // A default of the table is bounded too.
    assert_eq!(number("shell_script", json!({ "script": "ls" }), "timeout"), 90);
    let output = |bytes: i64| {
        number("shell_exec", json!({ "command": "ls", "max_output": bytes }), "max_output")
    };
    assert_eq!([0, 5_000, i64::MAX].map(output), [1024, 5_000, 1 << 20]);
    let wait = |seconds: Value| {
        number("session_recv", json!({ "session_id": "a", "timeout": seconds }), "timeout")
    };
    let seconds = [json!(0.25), json!(3), json!(-1), json!(1e300)];
    assert_eq!(seconds.map(wait), [250, 3_000, 0, 60_000]);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::from))
}

proptest! {
    /// Nothing that a client sends breaks the decoder, and what it lets through is in range.
    #[test]
    fn only_what_the_table_allows_gets_through(
        tool in 0..TOOLS.len(),
        names in prop::collection::vec("lines|tool|tier|denied|tags|briefing|timeout|max_output|command|strict|session_id|[a-z]{0,9}", 0..5),
        values in prop::collection::vec(value(), 5),
    ) {
        let spec = &TOOLS[tool];
        let given: Map<String, Value> = names.into_iter().zip(values).collect();
        let Ok(arguments) = decode(spec, &given) else { return Ok(()) };
        for parameter in spec.parameters {
            match parameter.kind {
                Kind::Integer { min, max, .. } => {
                    let number = arguments.integer(parameter.name).expect("it has a default");
                    prop_assert!((min..=LIMITS.number(max)).contains(&number));
                }
                Kind::Timeout { .. } => {
                    let seconds = arguments.integer(parameter.name).expect("it has a default");
                    let max = LIMITS.number(Bound::Limit(Limit::MaxTimeout));
                    prop_assert!((1..=max).contains(&seconds));
                }
                Kind::Decimal { max_ms, .. } => {
                    let milliseconds = arguments.integer(parameter.name).expect("a default");
                    prop_assert!((0..=i64::from(max_ms)).contains(&milliseconds));
                }
                Kind::Tags => prop_assert_eq!(
                    arguments.tags(parameter.name).len(),
                    given[parameter.name].as_array().expect("an array").len()
                ),
                Kind::Boolean { default } => prop_assert_eq!(
                    arguments.boolean(parameter.name),
                    given.get(parameter.name).and_then(Value::as_bool).or(default)
                ),
                Kind::Text { default } => {
                    let text = given.get(parameter.name).and_then(Value::as_str).or(default);
                    prop_assert_eq!(arguments.text(parameter.name), text);
                }
            }
        }
        let known = |name: &String| {
            name == "briefing" || spec.parameters.iter().any(|known| known.name == name)
        };
        prop_assert!(given.keys().all(known));
    }
}
