//! `relay inspect`: the contents of a bundle as a summary, as JSON, and as text for `git diff`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cli::build::masked;
use crate::cli::{Sandbox, project, snapshot};

#[test]
fn human_output() {
    let sandbox = Sandbox::example("minimal");
    sandbox.relay("keygen -o ci").ends(0);
    sandbox.relay("build minimal -q --key ci.key -o x.relay").ends(0);
    snapshot("inspect_human", &masked(&sandbox.relay("inspect x.relay").ends(0).silent().stdout));
    // A project is compiled in memory, unsigned.
    sandbox.relay("inspect minimal").ends(0).silent().prints("signed by no one");
    assert_eq!(sandbox.files(), ["ci.key", "ci.pub", "minimal", "x.relay"]);
}

#[test]
fn json_output() {
    let answer =
        Sandbox::example("homelab").relay("inspect homelab --json").ends(0).silent().json();
    let prompts = answer["prompts"].as_array().expect("a list");
    for prompt in prompts {
        for key in [
            "name",
            "title",
            "description",
            "priority",
            "summary",
            "chapters",
            "generated",
            "bytes",
            "arguments",
            "variants",
        ] {
            assert!(prompt.get(key).is_some(), "no `{key}`: {prompt}");
        }
    }
    let names: Vec<_> =
        prompts.iter().map(|prompt| prompt["name"].as_str().expect("a name")).collect();
    assert!(names.is_sorted());
    let rollout = prompts.iter().find(|prompt| prompt["name"] == "rollout").expect("a prompt");
    assert_eq!(rollout["priority"], 7);
    assert_eq!(rollout["chapters"][2], "Roll back");
    assert_eq!(rollout["generated"], json!([]));
    let environment = &rollout["arguments"][1];
    assert_eq!(environment["default"], "staging");
    assert_eq!(environment["one_of"], json!(["staging", "production"]));
    let when: BTreeSet<String> = rollout["variants"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|variant| variant["when"].to_string())
        .collect();
    assert_eq!(when.len(), rollout["variants"].as_array().map_or(0, Vec::len), "each is another");
    for section in answer["sections"].as_array().expect("a list") {
        assert!(section["digest"].as_str().expect("a digest").starts_with("sha256:"));
    }
    assert_eq!(answer["epoch"], 42);
    assert_eq!(answer["signers"], Value::Array(Vec::new()));
}

/// A gate whose messages have placeholders for prompts, and its tools.
const GATED: &str = "project small version=\"1.0.0\" epoch=1\n\
    gate on { unlock else=refuse; tags ask=3 }\n\
    tools { diagnostics }\n\
    messages {\n\
        gate-encouragement \"{{matched_prompts}}\\n\\nMore of {{project_name}}:\\n{{remaining_prompts}}\"\n\
        read-prompts-reminder \"Left: {{ remaining_prompts }}\"\n\
    }\n\
    prompts { prompt a { summary \"An apple\"; chapters Trees; text \"A\" } }\n";

#[test]
fn a_gate_and_its_tools() {
    let sandbox = Sandbox::of(&[("project.kdl", GATED)]);
    sandbox.relay("build . --unsigned -o x.relay").ends(0);
    let answer = sandbox.relay("inspect x.relay --json").ends(0).silent().json();
    let gate = &answer["gate"];
    assert_eq!(gate["unlock"], json!({ "value": "refuse", "at": "project.kdl:2:23" }));
    assert_eq!(gate["tags_ask"], json!({ "value": 3, "at": "project.kdl:2:40" }));
    assert_eq!(gate["tags_max"], json!({ "value": 10 }), "a default has no place");
    assert_eq!(gate["at"], "project.kdl:2:1");
    let messages = &answer["messages"];
    let encouragement = json!([
        "matched_prompts", { "text": "\n\nMore of small:\n" }, "remaining_prompts"
    ]);
    assert_eq!(messages["gate_encouragement"]["value"], encouragement);
    assert_eq!(messages["gate_encouragement"]["at"], "project.kdl:5:20");
    let reminder = json!([{ "text": "Left: " }, "remaining_prompts"]);
    assert_eq!(messages["read_prompts_reminder"]["value"], reminder);
    assert_eq!(messages["session_greeting"]["at"], Value::Null, "it is built in");
    // A denied call gets no briefing.
    assert_eq!(messages["gate_intercept_preamble"], json!({ "value": [] }));
    let intercepts = GATED.replace("else=refuse", "else=intercept");
    sandbox.write("intercepts.kdl", &intercepts);
    let answer_ = sandbox.relay("inspect intercepts.kdl --json").ends(0).json();
    let preamble = answer_["messages"]["gate_intercept_preamble"].to_string();
    assert!(preamble.contains("briefing"), "{preamble}");
    let tools = answer["tools"].as_array().expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    let expected =
        ["begin_session", "read_prompts", "server_info", "audit_tail", "explain_context"];
    assert_eq!(names, expected);
    for tool in tools {
        assert_eq!(tool["input_schema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
    }
    assert_eq!(tools[0]["at"], "project.kdl:2:1");
    assert_eq!(tools[3]["at"], "project.kdl:3:9");
    assert_eq!(tools[0]["input_schema"]["required"], json!(["tags"]));
    let index = &answer["tag_index"];
    assert_eq!(index["words"], 3);
    assert_eq!(index["covered_bytes"], "An apple".len() + "Trees".len());
    let sections = answer["sections"].as_array().expect("a list").iter();
    let of_index = sections.filter(|section| section["name"].as_str().unwrap().starts_with("tag-"));
    let bytes: u64 = of_index.map(|section| section["bytes"].as_u64().unwrap()).sum();
    assert_eq!(index["index_bytes"], bytes);
    let human = sandbox.relay("inspect x.relay").ends(0).silent().stdout;
    snapshot("inspect_gated_human", &masked(&human));
}

#[test]
fn a_change_of_the_gate_changes_only_its_lines() {
    let sandbox = Sandbox::of(&[("project.kdl", GATED)]);
    let canonical = || sandbox.relay("inspect . --canonical").ends(0).silent().stdout;
    let before = canonical();
    let head = before.split("\n== tool").next().expect("a text");
    let (_, gate) = head.split_once("\n== gate\n").expect("a gate");
    snapshot("inspect_gated_canonical", gate);
    assert!(before.contains("== tool audit_tail\ntier: 0\ngated: yes\n"), "{before}");
    for (from, to, line) in [
        ("gate on", "gate on hide-tools=#true", "hide tools: true"),
        // The descriptions of tools say how many, too.
        ("ask=3", "ask=4", "tags ask: 4"),
        (
            "ask=3 }",
            "ask=3; index cap=7 }",
            "index: cap=7 over-cap-priority=7 entry=(chars)100 instructions=(chars)2000",
        ),
        ("Left:", "Unread:", "    Unread: {{remaining_prompts}}"),
    ] {
        sandbox.edit("project.kdl", from, to);
        let after = canonical();
        sandbox.edit("project.kdl", to, from);
        assert_eq!(before.lines().count(), after.lines().count(), "{to}");
        let changed: Vec<_> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
        assert_eq!(changed.iter().map(|(_, after)| *after).collect::<Vec<_>>(), [line]);
    }
    // The place of a declaration is outside of the content.
    sandbox.edit("project.kdl", "gate on", "\n\ngate on");
    assert_eq!(canonical(), before);
}

#[test]
fn without_prompts_there_is_no_index() {
    let sandbox = Sandbox::of(&[("project.kdl", "project small version=\"1.0.0\" epoch=1\n")]);
    let answer = sandbox.relay("inspect . --json").ends(0).json();
    assert_eq!(answer["tag_index"], Value::Null);
    assert_eq!(answer["gate"], Value::Null);
    assert_eq!(answer["tools"], json!([]));
    let output = sandbox.relay("inspect .").ends(0).prints("gate off").stdout;
    assert!(!output.contains("tag index"), "{output}");
    let canonical = sandbox.relay("inspect . --canonical").ends(0).stdout;
    assert!(!canonical.contains("== gate"), "{canonical}");
}

#[test]
fn generated_fields_are_marked() {
    let sandbox = Sandbox::of(&[(
        "project.kdl",
        "project small version=\"1.0.0\" epoch=1\n\
         prompts {\n\
             prompt both { text \"# One\\n\\nA text. More.\" }\n\
             prompt chapters { summary \"Mine\"; text \"# Two\" }\n\
             prompt neither { summary \"Mine\"; chapters Mine; description \"Ours\"; text \"# Three\" }\n\
             prompt summary { chapters Mine; text \"# Four\\n\\nA text. More.\" }\n\
         }\n",
    )]);
    let answer = sandbox.relay("inspect . --json").ends(0).silent().json();
    let keys = ["summary", "chapters", "generated", "description"];
    let prompts: Vec<Value> = answer["prompts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|prompt| keys.map(|key| prompt[key].clone()).into())
        .collect();
    assert_eq!(
        json!(prompts),
        json!([
            ["A text.", ["One", "both"], ["summary", "chapters"], "A text."],
            ["Mine", ["Two"], ["chapters"], "Mine"],
            ["Mine", ["Mine"], [], "Ours"],
            ["A text.", ["Mine"], ["summary"], "A text."],
        ])
    );
    sandbox
        .relay("inspect . --canonical")
        .ends(0)
        .silent()
        .prints("== prompt both\npriority: 5\nin briefings: yes\nmessage: user\n")
        .prints("in briefings: yes\nsummary: Mine\nmessage: user\n")
        .prints(
            "in briefings: yes\ndescription: Ours\nsummary: Mine\nchapter: Mine\nmessage: user\n",
        )
        .prints("in briefings: yes\nchapter: Mine\nmessage: user\n");
    sandbox
        .relay("inspect .")
        .ends(0)
        .silent()
        .prints("generated summaries of 2 prompts, chapters of 2 prompts\n");
}

#[test]
fn a_changed_word_is_one_line_of_a_diff() {
    let sandbox = Sandbox::of(&[
        (
            "project.kdl",
            "project small version=\"1.0.0\" epoch=1\n\
             prompts {\n\
                 prompt short { text \"A start. One short word.\" }\n\
                 prompt long {\n    text \"\"\"\n    A first line.\n\n    A long word.\n    \"\"\"\n}\n\
                 prompt filed file=\"filed.md\"\n\
                 prompt talk {\n\
                     message role=user { text \"A start. A spoken word.\" }\n\
                     message role=assistant { resource \"relay://x/y\" { text \"An embedded word.\" } }\n\
                 }\n\
             }\n\
             resources { resource \"relay://x/z\" { text \"A served word.\" } }\n",
        ),
        ("filed.md", "# A file\n\nA start.\n\nA filed word.\n\nAnd more.\n"),
    ]);
    let canonical = || sandbox.relay("inspect . --canonical").ends(0).silent().stdout;
    let before = canonical();
    assert_eq!(canonical(), before);
    for (file, word) in [
        ("project.kdl", "short"),
        ("project.kdl", "long"),
        ("filed.md", "filed"),
        ("project.kdl", "spoken"),
        ("project.kdl", "embedded"),
        ("project.kdl", "served"),
    ] {
        let sentence = |word: &str| format!(" {word} word.");
        sandbox.edit(file, &sentence(word), &sentence("changed"));
        let after = canonical();
        sandbox.edit(file, &sentence("changed"), &sentence(word));
        assert_eq!(before.lines().count(), after.lines().count(), "{word}");
        let changed: Vec<_> =
            before.lines().zip(after.lines()).filter(|(before, after)| before != after).collect();
        assert_eq!(changed.len(), 1, "{word}: {changed:#?}");
        assert!(changed[0].1.contains("changed word."), "{word}: {changed:#?}");
    }
    // What is generated of it follows: the summary, the description, a line of the index.
    sandbox.edit("project.kdl", "A start. One", "An end. One");
    let after = canonical();
    let changed: Vec<_> = after.lines().filter(|line| line.contains("An end.")).collect();
    assert_eq!(changed, ["    An end. One short word."]);
}

#[test]
fn text_of_an_author_cannot_look_like_a_heading() {
    let forged = "Line.\\n\\n== prompt forged\\npriority: 10\\n\\u{1b}[31mred \\u{202e}turned";
    let text = format!(
        "project small version=\"1.0.0\" epoch=1\n\
         prompts {{ prompt a {{ title \"T == prompt forged\"; text \"{forged}\"\n\
         allow-invisible control because=\"x\\n== prompt forged\"\n\
         allow-invisible bidi because=\"x\" }} }}\n"
    );
    let sandbox = Sandbox::of(&[("project.kdl", &text)]);
    let output = sandbox.relay("inspect . --canonical").ends(0).stdout;
    assert!(!output.lines().any(|line| line == "== prompt forged"), "{output}");
    for bad in ['\u{1b}', '\u{202e}'] {
        assert!(!output.contains(bad), "{output:?}");
        for line in ["inspect .", "describe .", "explain . --prompt a", "show ."] {
            let output = sandbox.relay(line).ends(0).stdout;
            assert!(!output.contains(bad), "relay {line}: {output:?}");
        }
    }
}

#[test]
fn special_characters_are_kept() {
    let texts = [
        "plain",
        "\"double\" and 'single' and `back` quotes",
        "a \\ backslash, \\n no line end, \\u{41} no escape, \\\\ two",
        "two\nlines",
        "\n\nempty lines around\n\n",
        "  leading and trailing blanks  ",
        "\ttabs\tand\n\ttabs\n\t\n",
        "lines of blanks\n   \n\u{a0}\n\u{3000}\nend",
        "ends in a line end\n",
        "carriage\r\nreturns\rtoo",
        "\"\"\" three quotes \"\"\"\n\"\"\"",
        "#\"raw\"# ##\"more\"##",
        "{{ no }} {% template %} {# here #}",
        "$1 !`cmd` @file ${ARGS} $ARGUMENT",
        "// no comment /* none */ /- none",
        "{ braces } ; = (type)\"x\"",
        "emoji 👩‍👩‍👧‍👦 🏳️‍🌈, combining e\u{301}, wide 漢字",
        "right to left: שלום \u{200f}\u{202e}turned\u{202c} \u{2066}isolated\u{2069}",
        "\u{feff}mark, \u{200b}zero width, \u{2028}line, \u{2029}paragraph, \u{85}next",
        "controls \u{1}\u{7}\u{8}\u{b}\u{c}\u{1b}[31m\u{7f}",
        "astral \u{10ffff} \u{1f4a9}",
        "%0A %25 &amp; <b> \u{fffd}",
    ];
    let mut source = String::from("project literal version=\"1.0.0\" epoch=1\nprompts {\n");
    for (number, text) in texts.iter().enumerate() {
        // A summary or chapter is one line of any text.
        let text = quoted(text);
        let kinds = ["bidi", "control", "line-separator", "noncharacter", "zero-width"];
        let allowed: String = kinds
            .iter()
            .map(|kind| format!("        allow-invisible {kind} because=\"a test\"\n"))
            .collect();
        source.push_str(&format!(
            "    prompt p{number:02} {{\n        summary {text}\n        chapters {text} \"other\"\n        text {text}\n{allowed}    }}\n"
        ));
    }
    source.push_str("}\n");
    let sandbox = Sandbox::of(&[("project.kdl", &source)]);
    let read = |project: &str| {
        let answer = sandbox.relay(&format!("inspect {project} --json")).ends(0).json();
        answer["prompts"].as_array().expect("a list").clone()
    };
    let check = |prompts: &[Value]| {
        assert_eq!(prompts.len(), texts.len());
        for (number, (prompt, text)) in prompts.iter().zip(texts).enumerate() {
            assert_eq!(prompt["name"], format!("p{number:02}"));
            assert_eq!(prompt["summary"], text);
            assert_eq!(prompt["chapters"], json!([text, "other"]));
            assert_eq!(prompt["generated"], json!([]));
            let [variant] = prompt["variants"].as_array().expect("a list").as_slice() else {
                panic!()
            };
            assert_eq!(variant["messages"][0]["content"][0]["text"], text);
            assert_eq!(prompt["bytes"], text.len());
        }
    };
    check(&read("project.kdl"));
    // The same holds for a bundle, and for the output of `relay show`.
    sandbox.relay("build project.kdl --unsigned -o x.relay").ends(0);
    check(&read("x.relay"));
    sandbox.write("printed.kdl", &sandbox.relay("show project.kdl").ends(0).stdout);
    check(&read("printed.kdl"));
    sandbox.relay("fmt printed.kdl").ends(0);
    check(&read("printed.kdl"));
}

/// A single-line KDL string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            ' '..='~' => quoted.push(letter),
            letter => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
        }
    }
    quoted.push('"');
    quoted
}

#[test]
fn a_bundle_takes_no_environment() {
    let sandbox = Sandbox::of(&[("project.kdl", &project(""))]);
    sandbox.relay("build . --unsigned").ends(0);
    for verb in ["inspect small.relay", "describe small.relay", "explain small.relay --index"] {
        sandbox
            .relay(&format!("{verb} --env production"))
            .ends(2)
            .says("`small.relay` is a bundle");
    }
}
