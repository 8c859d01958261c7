//! The contract of the tools that act on this machine, row by row: their arguments as clients see them,
//! the ranges of numbers, and the texts of their answers. `tool_sessions` has
//! sessions, and `tool_modes` tiers and modes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::agent::{Agent, PROTOCOLS, Protocol, text};
use super::house::{self, House};
use super::server::wait_until;

pub(super) const AS_OPERATOR: &[&str] = &["--principal", "op", "--audit", "audit.jsonl"];

/// A house whose operator may do everything in this mode, with these lines in its policy.
pub(super) fn house(mode: &str, lines: &str) -> House {
    House::of(&house::bundle_of(&format!(
        "project ops epoch=1\ntools {{ shell; sessions; diagnostics }}\n\
         roles {{ role operator tier=3 }}\nusers {{ user op role=operator }}\n\
         policy {mode} {{ {lines} }}\n"
    )))
}

pub(super) fn operator(house: &House) -> Agent {
    Agent::with(house, Protocol::Modern, AS_OPERATOR)
}

/// Calls a tool, and returns its answer: each is one text.
pub(super) fn said(agent: &mut Agent, tool: &str, arguments: Value) -> String {
    one_text(&agent.call(tool, arguments))
}

fn one_text(result: &Value) -> String {
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    assert!(result["structuredContent"].is_null(), "a text is sent once: {result}");
    text(result)
}

/// The default of an argument that a call must have.
pub(super) const REQUIRED: &str = "required";
/// The default of an argument whose absence has a meaning of its own.
const NONE: &str = "none";

/// The tools, whether clients hear that they only read, and their arguments: name, type, default as JSON,
/// and range.
pub(super) type Listed = (&'static str, bool, &'static [[&'static str; 4]]);

pub(super) const TIMEOUT: [&str; 4] = ["timeout", "integer", "60", "1 to 900"];
pub(super) const MAX_OUTPUT: [&str; 4] = ["max_output", "integer", "65536", "1024 to 1048576"];
const CWD: [&str; 4] = ["cwd", "string", "\"\"", ""];
const ENV_JSON: [&str; 4] = ["env_json", "string", "\"\"", ""];
const SESSION_ID: [&str; 4] = ["session_id", "string", REQUIRED, ""];

const LISTED: &[Listed] = &[
    (
        "shell_exec",
        false,
        &[
            ["command", "string", REQUIRED, ""],
            TIMEOUT,
            MAX_OUTPUT,
            CWD,
            ["stdin", "string", "\"\"", ""],
            ["merge_stderr", "boolean", "true", ""],
            ["use_shell", "boolean", "true", ""],
            ENV_JSON,
        ],
    ),
    (
        "shell_script",
        false,
        &[
            ["script", "string", REQUIRED, ""],
            ["interpreter", "string", "\"bash\"", ""],
            ["strict", "boolean", "true", ""],
            ["timeout", "integer", "120", "1 to 900"],
            MAX_OUTPUT,
            CWD,
            ENV_JSON,
        ],
    ),
    (
        "shell_spawn",
        false,
        &[
            ["command", "string", "\"\"", ""],
            ["cols", "integer", "120", "1 to 65535"],
            ["rows", "integer", "40", "1 to 65535"],
            CWD,
            ENV_JSON,
        ],
    ),
    (
        "session_send",
        false,
        &[SESSION_ID, ["data", "string", REQUIRED, ""], ["enter", "boolean", "true", ""]],
    ),
    (
        "session_recv",
        true,
        &[
            SESSION_ID,
            ["timeout", "number", "2.0", "0 to 60"],
            ["max_bytes", "integer", "65536", "256 to 1048576"],
        ],
    ),
    (
        "session_resize",
        false,
        &[
            SESSION_ID,
            ["cols", "integer", REQUIRED, "1 to 65535"],
            ["rows", "integer", REQUIRED, "1 to 65535"],
        ],
    ),
    (
        "session_kill",
        false,
        &[SESSION_ID, ["signal_name", "string", "\"TERM\"", ""], ["close", "boolean", "true", ""]],
    ),
    ("session_list", true, &[]),
    ("server_info", true, &[]),
    (
        "audit_tail",
        true,
        &[
            ["lines", "integer", "50", "1 to 1000"],
            ["tool", "string", "\"\"", ""],
            ["tier", "integer", "-1", "-1 to 3"],
            ["denied", "boolean", NONE, ""],
        ],
    ),
];

#[test]
fn each_tool_is_listed_with_its_arguments() {
    let house = house("open", "");
    for protocol in PROTOCOLS {
        let mut agent = Agent::with(&house, protocol, AS_OPERATOR);
        let list = agent.get("tools/list", json!({}));
        let tools = list["tools"].as_array().expect("tools");
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let expected = LISTED.iter().map(|(name, ..)| *name).chain(["explain_context"]);
        assert_eq!(names, expected.collect::<Vec<_>>(), "{protocol:?}");
        for (tool, (name, reads, arguments)) in tools.iter().zip(LISTED) {
            assert_eq!(tool["annotations"]["readOnlyHint"], *reads, "{name}");
            assert!(tool["description"].as_str().is_some_and(|it| it.ends_with('.')), "{name}");
            assert_schema(name, &tool["inputSchema"], arguments);
        }
    }
}

pub(super) fn assert_schema(tool: &str, schema: &Value, arguments: &[[&str; 4]]) {
    assert_eq!(schema["additionalProperties"], false, "{tool}");
    let required: BTreeSet<_> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().expect("properties");
    let names: BTreeSet<_> = properties.keys().map(String::as_str).collect();
    assert_eq!(names, arguments.iter().map(|[name, ..]| *name).collect(), "{tool}");
    for [name, kind, default, range] in arguments {
        let (property, at) = (&properties[*name], format!("{tool}: {name}"));
        assert_eq!(property["type"], *kind, "{at}");
        assert_eq!(required.contains(name), *default == REQUIRED, "{at}");
        // A range is in the description: a number out of it is changed, and the call is made.
        let description = property["description"].as_str().expect("a description");
        let expected = if range.is_empty() { ".".to_owned() } else { format!(" ({range}).") };
        assert!(description.ends_with(&expected), "{at}: {description}");
        let number = description.strip_suffix(").").and_then(|it| it.chars().next_back());
        assert_eq!(number.is_some_and(|it| it.is_ascii_digit()), !range.is_empty(), "{at}");
        match *default {
            NONE => assert!(property["default"].is_null(), "{at}"),
            // The size of a terminal has a default where it begins.
            REQUIRED => {}
            default => {
                assert_eq!(
                    property["default"],
                    serde_json::from_str::<Value>(default).unwrap(),
                    "{at}"
                );
            }
        }
    }
}

/// `tools/list` comes from the bundle, whose limits a server may lower: `server_info` has those in force.
#[test]
fn limits_of_the_project_are_listed_and_those_of_the_server_are_in_force() {
    let lines = "limits timeout=(duration)\"30s\" max-timeout=(duration)\"90s\" output=(bytes)2048 max-output=(bytes)8192";
    let house = house("open", lines);
    for (settings, in_force) in [
        ("", [30, 90, 2048, 8192]),
        ("[processes]\ntimeout-s-max = 2\noutput-bytes-max = 1500\n", [2, 2, 1500, 1500]),
    ] {
        house.write("server.toml", settings);
        let mut agent = operator(&house);
        let list = agent.get("tools/list", json!({}));
        let shown = |tool: &str, argument: &str| {
            let tools = list["tools"].as_array().expect("tools");
            let tool = tools.iter().find(|it| it["name"] == tool).expect("the tool");
            let property = &tool["inputSchema"]["properties"][argument];
            let (_, range) = property["description"].as_str().unwrap().rsplit_once(" (").unwrap();
            format!("{} ({}", property["default"], range.trim_end_matches('.'))
        };
        let found = [
            shown("shell_exec", "timeout"),
            shown("shell_script", "timeout"),
            shown("shell_exec", "max_output"),
            shown("session_recv", "max_bytes"),
        ];
        let expected =
            ["30 (1 to 90)", "90 (1 to 90)", "2048 (1024 to 8192)", "2048 (256 to 8192)"];
        assert_eq!(found, expected, "{settings}");
        let info: Value =
            serde_json::from_str(&said(&mut agent, "server_info", json!({}))).expect("JSON");
        let names = ["default_timeout", "max_timeout", "max_output", "max_output_hard"];
        assert_eq!(names.map(|name| info["limits"][name].clone()), in_force.map(Value::from));
        if settings.is_empty() {
            continue;
        }
        let slow = json!({ "command": "sleep 60", "timeout": 60 });
        assert_eq!(said(&mut agent, "shell_exec", slow), "[TIMEOUT after 2s]");
        let long = json!({ "command": "head -c 4000 /dev/zero", "max_output": 8192 });
        let long = said(&mut agent, "shell_exec", long);
        assert!(long.ends_with("[TRUNCATED - 4000 bytes total, 1500 shown]"), "{}", long.len());
    }
}

#[test]
fn a_number_out_of_range_is_the_nearest_one() {
    let lines = "limits timeout=(duration)\"1s\" max-timeout=(duration)\"3s\" output=(bytes)2048 max-output=(bytes)4096";
    let house = house("open", lines);
    let mut agent = operator(&house);
    let timeouts = [
        ("shell_exec", Value::Null, 1),
        ("shell_exec", json!(0), 1),
        ("shell_exec", json!(-5), 1),
        ("shell_exec", json!(2.0), 2),
        ("shell_exec", json!(1_000_000), 3),
        ("shell_script", Value::Null, 3),
        ("shell_script", json!(-1), 1),
    ];
    // All at once, since each waits for its time.
    let waiting: Vec<_> = timeouts
        .iter()
        .map(|(tool, timeout, _)| {
            let code = if *tool == "shell_exec" { "command" } else { "script" };
            agent.request_id(tool, json!({ code: "sleep 60", "timeout": timeout }))
        })
        .collect();
    for (id, (tool, timeout, seconds)) in waiting.into_iter().zip(&timeouts) {
        let answer = agent.client.answer(id);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let expected = format!("[TIMEOUT after {seconds}s]");
        assert_eq!(one_text(&answer["result"]), expected, "{tool} {timeout}");
    }
    for (bytes, shown) in [
        (Value::Null, 2048),
        (json!(-1), 1024),
        (json!(0), 1024),
        (json!(1023), 1024),
        (json!(1500), 1500),
        (json!(4097), 4096),
        (json!(u64::MAX), 4096),
    ] {
        let write = "head -c 5000 /dev/zero | tr '\\0' a";
        for (tool, code) in [("shell_exec", "command"), ("shell_script", "script")] {
            let answer = said(&mut agent, tool, json!({ code: write, "max_output": bytes }));
            let expected = format!(
                "[exit 0]\n{}\n\n[TRUNCATED - 5000 bytes total, {shown} shown]",
                "a".repeat(shown)
            );
            assert_eq!(answer, expected, "{tool} {bytes}");
        }
    }
    // As much as there is room for has no note.
    let whole =
        said(&mut agent, "shell_exec", json!({ "command": "head -c 2048 /dev/zero | tr '\\0' a" }));
    assert_eq!(whole, format!("[exit 0]\n{}", "a".repeat(2048)));
}

#[test]
fn the_end_of_a_cut_output_is_a_replacement_character() {
    let house = house("open", "limits output=(bytes)1024");
    let answer = said(
        &mut operator(&house),
        "shell_exec",
        json!({ "command": "printf x; printf 'ä%.0s' {1..600}" }),
    );
    let expected = format!(
        "[exit 0]\nx{}\u{fffd}\n\n[TRUNCATED - 1201 bytes total, 1024 shown]",
        "ä".repeat(511)
    );
    assert_eq!(answer, expected);
}

#[test]
fn a_call_that_cannot_run_says_why_in_brackets() {
    let house = house("open", "");
    house.write("file", "");
    let mut agent = operator(&house);
    let exec = |more: Value| {
        let mut arguments = json!({ "command": "true", "cwd": house.path("") });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("shell_exec", arguments)
    };
    let session = |tool: &'static str, more: Value| {
        let mut arguments = json!({ "session_id": "sh-0" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (tool, arguments)
    };
    let takes = "it takes: command, timeout, max_output, cwd, stdin, merge_stderr, use_shell, env_json, briefing";
    let no_object = "`env_json` is not a JSON object";
    let no_value = "a value in `env_json` is neither a text, a number, a truth value nor null, or has a zero byte";
    let no_name = "a name in `env_json` is empty, or has `=` or a zero byte";
    let no_words = "`command` is empty, or a quote is left open";
    let no_program =
        "the program cannot be executed: it is missing, or its interpreter is, or it is no program";
    let no_session = "unknown session; session_list names yours";
    let cases: Vec<((&str, Value), String)> = vec![
        (
            ("shell_exec", json!({ "command": "x".repeat((2 << 20) + 1) })),
            "the arguments hold 2097153 bytes of text, over the limit of 2097152: send less".into(),
        ),
        (("shell_exec", json!({})), "`command` is required: a string".into()),
        (exec(json!({ "command": 7 })), "`command` must be a string".into()),
        (exec(json!({ "timeout": "5" })), "`timeout` must be a whole number".into()),
        (exec(json!({ "timeout": 1.5 })), "`timeout` must be a whole number".into()),
        (exec(json!({ "max_output": true })), "`max_output` must be a whole number".into()),
        (exec(json!({ "merge_stderr": "no" })), "`merge_stderr` must be true or false".into()),
        (exec(json!({ "shell": true })), format!("unknown argument `shell`; {takes}")),
        (exec(json!({ "cwd": "none" })), "cannot enter `cwd`: the file does not exist".into()),
        (
            exec(json!({ "cwd": house.path("file") })),
            "cannot enter `cwd`: a part of its path is a file and not a folder".into(),
        ),
        (exec(json!({ "env_json": "nonsense" })), no_object.into()),
        (exec(json!({ "env_json": "7" })), no_object.into()),
        (exec(json!({ "env_json": "null" })), no_object.into()),
        (exec(json!({ "env_json": "[\"A\"]" })), no_object.into()),
        (exec(json!({ "env_json": { "A": "b" } })), "`env_json` must be a string".into()),
        (exec(json!({ "env_json": "{\"A\": {}}" })), no_value.into()),
        (exec(json!({ "env_json": "{\"A\": \"\\u0000\"}" })), no_value.into()),
        (exec(json!({ "env_json": "{\"\": \"b\"}" })), no_name.into()),
        (exec(json!({ "env_json": "{\"A=B\": \"b\"}" })), no_name.into()),
        (exec(json!({ "command": "", "use_shell": false })), no_words.into()),
        (exec(json!({ "command": "echo 'a", "use_shell": false })), no_words.into()),
        (exec(json!({ "command": "no-such-program", "use_shell": false })), no_program.into()),
        (("shell_script", json!({})), "`script` is required: a string".into()),
        (
            ("shell_script", json!({ "script": "1", "interpreter": "perl" })),
            "unsupported interpreter; there are bash, sh and python".into(),
        ),
        (("shell_spawn", json!({ "env_json": "[]" })), no_object.into()),
        (
            ("shell_spawn", json!({ "cwd": "none" })),
            "cannot enter `cwd`: the file does not exist".into(),
        ),
        (("shell_spawn", json!({ "cols": "wide" })), "`cols` must be a whole number".into()),
        (session("session_send", json!({})), "`data` is required: a string".into()),
        (session("session_send", json!({ "data": "x" })), no_session.into()),
        (session("session_recv", json!({ "timeout": "2" })), "`timeout` must be a number".into()),
        (session("session_recv", json!({})), no_session.into()),
        (
            session("session_resize", json!({ "rows": 2 })),
            "`cols` is required: a whole number".into(),
        ),
        (session("session_resize", json!({ "cols": 2, "rows": 2 })), no_session.into()),
        (session("session_kill", json!({})), no_session.into()),
        (
            ("session_list", json!({ "all": true })),
            "unknown argument `all`; it takes: briefing".into(),
        ),
        (
            ("server_info", json!({ "all": true })),
            "unknown argument `all`; it takes: briefing".into(),
        ),
        (("audit_tail", json!({ "denied": 1 })), "`denied` must be true or false".into()),
    ];
    for ((tool, arguments), reason) in &cases {
        let result = agent.call(tool, arguments.clone());
        assert_eq!(one_text(&result), format!("[ERROR: {reason}]"), "{tool} {arguments}");
        assert_eq!(result["isError"], true, "{tool} {arguments}");
    }
    let records = house.read("audit.jsonl");
    let refused = records.lines().filter(|line| line.contains("\"action\":\"refused\""));
    assert_eq!(refused.count(), cases.len(), "each is recorded");
}

#[test]
fn a_zero_byte_reaches_no_program() {
    let house = house("open", "");
    let mut agent = operator(&house);
    for (tool, arguments) in [
        ("shell_exec", json!({ "command": "echo a\0b" })),
        ("shell_exec", json!({ "command": "echo a\0b", "use_shell": false })),
        ("shell_exec", json!({ "command": "true", "cwd": "a\0b" })),
        ("shell_script", json!({ "script": "echo a\0b" })),
        ("shell_spawn", json!({ "command": "echo a\0b" })),
    ] {
        let answer = said(&mut agent, tool, arguments.clone());
        assert!(answer.starts_with("[ERROR: ") && answer.ends_with(']'), "{arguments}: {answer}");
    }
    let input = json!({ "command": "od -An -c", "stdin": "a\0b" });
    assert_eq!(said(&mut agent, "shell_exec", input), "[exit 0]\n   a  \\0   b\n");
}

#[test]
fn arguments_of_a_command_act_together() {
    let house = house("open", "");
    std::fs::create_dir(house.path("folder")).expect("a folder");
    let folder = house.path("folder").canonicalize().expect("it exists");
    let folder = folder.to_str().expect("UTF-8");
    let mut agent = operator(&house);
    let environment =
        "{\"A\": \"b\", \"HOME\": \"/tmp\", \"LANG\": null, \"N\": 1.5, \"YES\": true}";
    let print = "import os,sys; e=os.environ; print(e['A'],e['HOME'],e.get('LANG'),e['N'],e['YES'],os.getcwd(),repr(sys.stdin.read()))";
    let expected = |input: &str| format!("[exit 0]\nb /tmp None 1.5 true {folder} {input}\n");
    let argv = json!({
        "command": format!("python3 -c \"{print}\""), "use_shell": false, "stdin": "in\n",
        "cwd": folder, "env_json": environment,
    });
    assert_eq!(said(&mut agent, "shell_exec", argv), expected("'in\\n'"));
    let script = json!({
        "script": print, "interpreter": "python", "cwd": folder, "env_json": environment,
    });
    assert_eq!(said(&mut agent, "shell_script", script), expected("''"));
    let merged = json!({
        "command": "sh -c 'echo o; echo e >&2; echo o'", "use_shell": false, "env_json": "{}",
    });
    assert_eq!(said(&mut agent, "shell_exec", merged), "[exit 0]\no\ne\no\n");
    // Without a path, programs are those of the system.
    let removed = json!({
        "command": "env", "use_shell": false, "env_json": "{\"PATH\": null}",
    });
    let removed = said(&mut agent, "shell_exec", removed);
    assert!(removed.starts_with("[exit 0]\n") && !removed.contains("\nPATH="), "{removed}");
    // `python` has no strict mode, and `python3` is another name of it.
    let failed = json!({ "script": "import sys\nsys.exit(7)", "interpreter": "python3" });
    assert_eq!(said(&mut agent, "shell_script", failed), "[exit 7]\n");
    // Strict shells also stop at variables that are not set.
    for interpreter in ["bash", "sh"] {
        let mut unset = |strict: bool| {
            let arguments = json!({
                "script": "echo a\necho \"$unset_variable\" >&2\necho b", "interpreter": interpreter,
                "strict": strict,
            });
            said(&mut agent, "shell_script", arguments)
        };
        let strict = unset(true);
        assert!(!strict.starts_with("[exit 0]") && !strict.ends_with("b\n"), "{strict}");
        assert_eq!(unset(false), "[exit 0]\na\n\nb\n");
    }
}

#[test]
fn server_info_has_the_state_of_the_server() {
    let house = house("guarded", "limits timeout=(duration)\"7s\" sessions=5");
    let mut agent = operator(&house);
    let info: Value =
        serde_json::from_str(&said(&mut agent, "server_info", json!({}))).expect("JSON");
    let limits = &info["limits"];
    let expected = BTreeMap::from([
        ("default_timeout", 7),
        ("max_timeout", 900),
        ("max_output", 65_536),
        ("max_output_hard", 1_048_576),
        ("max_input", 2_097_152),
        ("max_sessions", 5),
    ]);
    for (name, number) in expected {
        assert_eq!(limits[name], number, "{name}: {limits}");
    }
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&info["transport"], &info["policy_mode"]), (&json!("stdio"), &json!("guarded")));
    let audit = &info["audit"];
    assert_eq!((&audit["degraded"], &audit["format"]), (&json!(false), &json!("jsonl")), "{audit}");
    assert!(audit["path"].as_str().is_some_and(|path| path.ends_with("audit.jsonl")), "{audit}");
    assert_eq!(audit["chain"], true, "{audit}");
    let seccomp = &info["seccomp"];
    assert_eq!((&seccomp["notify"], &seccomp["cap"]), (&json!(false), &json!(256)), "{seccomp}");
    assert!(seccomp["supported"].is_boolean() && seccomp["filter_version"].is_u64(), "{seccomp}");
    assert_eq!(seccomp["reason"].is_string(), seccomp["supported"] == false, "{seccomp}");
}

#[test]
fn audit_tail_returns_as_many_records_as_asked() {
    let house = house("open", "");
    let mut agent = operator(&house);
    let mut tail = |arguments: Value| said(&mut agent, "audit_tail", arguments);
    assert_eq!(tail(json!({})), "", "nothing is recorded yet");
    let record = |number: usize| json!({ "tool": format!("x{number}"), "tier": 0, "denied": false, "principal": "op" });
    let records =
        |count: usize| (0..count).map(|it| record(it).to_string() + "\n").collect::<String>();
    let write = |count: usize| house.write("audit.jsonl", records(count));
    for (lines, shown) in [
        (Value::Null, 50),
        (json!(-3), 1),
        (json!(3), 3),
        (json!(1000), 1000),
        (json!(1001), 1000),
        (json!(1e9), 1000),
    ] {
        write(1100);
        let newest = tail(json!({ "lines": lines }));
        let expected: String =
            (1100 - shown..1100).map(|it| record(it).to_string() + "\n").collect();
        assert!(newest == expected, "{lines}: {} lines", newest.lines().count());
    }
    std::fs::remove_file(house.path("audit.jsonl")).expect("the file");
    assert_eq!(tail(json!({})), "", "the file is gone");
    wait_until(|| house.path("audit.jsonl").exists());
}
