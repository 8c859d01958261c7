//! Slips in the texts of a project, and the answers: the fault, its place, and the text to write instead.

use crate::cli::{Sandbox, project};

/// A mistake in a project's text: its lines after the head, the place and code of its only finding, and what to write.
struct Slip {
    text: &'static str,
    place: &'static str,
    says: &'static str,
}

const fn slip(text: &'static str, place: &'static str, says: &'static str) -> Slip {
    Slip { text, place, says }
}

const HEAD: &str = "project p version=\"1\" epoch=1\n";

const SLIPS: &[Slip] = &[
    slip(
        "prompts { prompt a { summary 'Names'; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "`\"Names\"`",
    ),
    slip(
        "prompts { prompt a { summary 'Names of'; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "write texts in double quotes: `\"Names of\"`",
    ),
    slip(
        "prompts { prompt a { summary “Names of b”; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "write texts in straight quotes: `\"Names of b\"`",
    ),
    slip(
        "prompts {\nprompt a {\nsummary: Names of b\ntext \"x\"\n}\n}",
        "4:1: error[kdl::syntax]",
        "write `summary \"Names of b\"`",
    ),
    slip(
        "prompts {\nprompt a {\nsummary: \"Names\"\ntext \"x\"\n}\n}",
        "4:1: error[kdl::syntax]",
        "write `summary \"Names\"`",
    ),
    slip(
        "prompts {\nprompt a {\npriority: 3\ntext \"x\"\n}\n}",
        "4:1: error[kdl::syntax]",
        "write `priority=3` after the name, before the braces of the `prompt`",
    ),
    slip(
        "prompts { prompt a priority: 3 { text \"x\" } }",
        "2:20: error[kdl::syntax]",
        "write `priority=3`",
    ),
    slip(
        "prompts: { prompt a { text \"x\" } }",
        "2:1: error[kdl::syntax]",
        "write `prompts { … }`",
    ),
    slip(
        "prompts {\nprompt a {\ntext = \"Ask first.\"\n}\n}",
        "4:6: error[kdl::syntax]",
        "write `text \"Ask first.\"`",
    ),
    slip(
        "prompts {\nprompt a {\nenabled = false\ntext \"x\"\n}\n}",
        "4:9: error[kdl::syntax]",
        "write `enabled=#false` after the name, before the braces of the `prompt`",
    ),
    slip("<!-- our project -->", "2:1: error[node::unknown]", "comments begin with `//`"),
    slip(
        "prompts { prompt a \"Names are short.\" }",
        "2:20: error[node::extra_argument]",
        "write the text in braces: `prompt a { text \"Names are short.\" }`",
    ),
    slip(
        "prompts { prompt a { summary \"A\"; message role=user \"Be kind.\" } }",
        "2:53: error[node::extra_argument]",
        "write the text in braces: `message { text \"Be kind.\" }`",
    ),
    slip(
        "resources { resource \"./docs/a.md\" { text \"x\" } }",
        "2:22: error[resource::uri]",
        "write `relay://docs/a.md`",
    ),
    slip(
        "prompts { prompt a file=\"https://a.example/x.md\" }",
        "2:25: error[file::path]",
        "this is an address: save its text in a file",
    ),
    slip(
        "prompts { prompt résumé { text \"x\" } }",
        "2:18: error[name::character]",
        "has the character `é`",
    ),
    slip(
        "prompts { prompt a template=#true { arg b; text \"{% if b %}\" } }",
        "2:50: error[template::syntax]",
        "close it with `{% endif %}`",
    ),
    slip(
        "prompts { prompt a { summary `Names`; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "`\"Names\"`",
    ),
    slip(
        "prompts { prompt a priority=3, title=x { text \"x\" } }",
        "2:29: error[kdl::syntax]",
        "write `3`: spaces separate them",
    ),
    slip(
        "prompts { prompt a { text Ask first, then go. } }",
        "2:31: error[kdl::syntax]",
        "write `text \"Ask first, then go.\"`",
    ),
    slip(
        "prompts { prompt a { text Note: read this } }",
        "2:27: error[kdl::syntax]",
        "write `text \"Note: read this\"`",
    ),
    slip(
        "prompts { prompt a { text Ask (always) first } }",
        "2:31: error[kdl::syntax]",
        "write `text \"Ask (always) first\"`",
    ),
    slip(
        "prompts { prompt a { text See https://a.example/b, then go } }",
        "2:31: error[kdl::syntax]",
        "write `text \"See https://a.example/b, then go\"`",
    ),
    slip(
        "prompts { prompt a title=Names, rules { text \"x\" } }",
        "2:26: error[kdl::syntax]",
        "write `title=\"Names, rules\"`",
    ),
    slip(
        "prompts { prompt a { summary 5 rules; text \"x\" } }",
        "2:30: error[kdl::syntax]",
        "write `summary \"5 rules\"`",
    ),
    slip(
        "skills { global { skill a Ask first, then go. // why\n} }",
        "2:31: error[kdl::syntax]",
        "write `skill a \"Ask first, then go.\"`",
    ),
    slip("tools { other \"a\", \"b\" }", "2:18: error[kdl::syntax]", "remove the comma"),
    slip(
        "prompts { prompt a { text \"x\"; arg b { one-of c,d } } }",
        "2:47: error[kdl::syntax]",
        "write `c d`",
    ),
    slip(
        "prompts { prompt a template=true { text \"x\" } }",
        "2:29: error[kdl::syntax]",
        "needs a `#`; write `#true`",
    ),
    slip(
        "prompts { prompt a { title true; text \"x\" } }",
        "2:28: error[kdl::syntax]",
        "write it in quotes: `\"true\"`",
    ),
    slip(
        "prompts { prompt a { file=\"a.md\" } }",
        "2:26: error[kdl::syntax]",
        "write `file=\"a.md\"` after the name, before the braces of the `prompt`",
    ),
    slip(
        "tenants { tenant a tenant b tenant c }",
        "2:20: error[node::extra_argument]",
        "`tenant a; tenant b; tenant c`",
    ),
    slip(
        "prompts { prompt a { text Don't go (ever); use it = x. } }",
        "2:36: error[kdl::syntax]",
        "write `text \"Don't go (ever); use it = x.\"`",
    ),
    slip(
        "prompts { prompt a { text '''\nAsk (first)\n'''; summary \"A\" } }",
        "2:27: error[kdl::syntax]",
        "write a text of several lines between `\"\"\"` and `\"\"\"`",
    ),
    slip(
        "prompts { prompt my prompt { text \"x\" } }",
        "2:21: error[node::extra_argument]",
        "a name has no spaces: write `prompt my-prompt`",
    ),
    slip(
        "prompts { prompt a { arg b required=#true, description=\"B\"; text \"x\" } }",
        "2:37: error[kdl::syntax]",
        "write `#true`, without a comma",
    ),
    slip("#our project", "2:1: error[kdl::syntax]", "write `// our project`"),
    slip(
        "prompts { prompt a template=#True { text \"x\" } }",
        "2:29: error[kdl::syntax]",
        "write `#true`",
    ),
    slip(
        "prompts {\nprompt a\n{\ntext \"x\"\n}\n}",
        "4:1: error[kdl::syntax]",
        "write `prompt a {` in one line",
    ),
    slip("gate enabled=#true", "2:6: error[property::unknown]", "write `gate on`"),
    slip(
        "prompts { prompt name=a { text \"x\" } }",
        "2:18: error[property::unknown]",
        "write the value alone, without `name=`: `prompt a`",
    ),
    slip("users { alice }", "2:9: error[node::unknown]", "as in `user alice`"),
    slip("gate true", "2:6: error[kdl::syntax]", "write `gate on`"),
    slip("gate #false", "2:6: error[kdl::syntax]", "write `gate off`"),
    slip("gate { on }", "2:8: error[node::unknown]", "write `gate on`"),
    slip(
        "prompts {\nprompt a {\ntext \"\"\"\n  x\n\ty\n  \"\"\"\n}\n}",
        "6:1: error[kdl::syntax]",
        "begin it with 2 spaces",
    ),
    slip(
        "prompts {\nprompt a {\ntext \"\"\"\n  x\n  y\"\"\"\n}\n}",
        "6:1: error[kdl::syntax]",
        "write it on the next line",
    ),
    slip(
        "prompts { prompt a { text \"\"\"x\"\"\" } }",
        "2:27: error[kdl::syntax]",
        "write a text of one line as `\"…\"`; one of several lines begins below its `\"\"\"` and ends with a line of `\"\"\"` alone",
    ),
    slip("prompt a { text \"x\" }", "2:1: error[node::unknown]", "`prompts { prompt a … }`"),
    slip("skill a \"x\"", "2:1: error[node::unknown]", "`skills { global { skill a … } }`"),
    slip(
        "when e {\nprompt a { text \"x\" }\n}",
        "3:1: error[node::unknown]",
        "`prompts { prompt a … }`",
    ),
    slip(
        "prompts { prompt a { file \"a.md\" } }",
        "2:22: error[node::unknown]",
        "write `file=\"a.md\"`",
    ),
    slip(
        "prompts { prompt a { priority 8; text \"x\" } }",
        "2:22: error[node::unknown]",
        "write `priority=8`",
    ),
    slip(
        "prompts { prompt a priority 8 { text \"x\" } }",
        "2:20: error[node::extra_argument]",
        "write `priority=8`",
    ),
    slip(
        "prompts { prompt a priority=\"8\" { text \"x\" } }",
        "2:29: error[value::wrong_type]",
        "without quotes: `8`",
    ),
    slip(
        "prompts { prompt a enabled=yes { text \"x\" } }",
        "2:28: error[value::wrong_type]",
        "write `#true`",
    ),
    slip(
        "prompts { prompt a { summary Names of b; text \"x\" } }",
        "2:36: error[node::extra_argument]",
        "`summary \"Names of b\"`",
    ),
    slip(
        "tenants { tenant a tenant b }",
        "2:20: error[node::extra_argument]",
        "`tenant a; tenant b`",
    ),
    slip(
        "tenants { a b }",
        "2:11: error[node::unknown]",
        "write a node for each name: `tenants { tenant a; tenant b }`",
    ),
    slip(
        "tenants a b",
        "2:9: error[node::extra_argument]",
        "write nodes in braces: `tenants { tenant a; tenant b }`",
    ),
    slip(
        "roles { reader writer }",
        "2:9: error[node::unknown]",
        "`roles { role reader; role writer }`",
    ),
    slip(
        "tenants { tenant a b }",
        "2:20: error[node::extra_argument]",
        "a name is one word, `tenant a-b`; several are nodes of their own, `tenant a; tenant b`",
    ),
    slip(
        "prompts { prompt a priority=11 { summary \"A\"; text \"x\" } }",
        "2:29: error[value::out_of_range]",
        "the value is 11; the limit is 1 to 10",
    ),
    slip("roles { admin }", "2:9: error[node::unknown]", "write `role admin`"),
    slip("roles { role a { tier 2 } }", "2:18: error[node::unknown]", "write `tier=2`"),
    slip(
        "roles { role a tier=STATEFUL }",
        "2:21: error[value::wrong_type]",
        "write the tier as its number: `2`",
    ),
    slip("gate on { budget \"8KB\" }", "2:18: error[value::wrong_unit]", "write `(bytes)\"8KiB\"`"),
    slip(
        "gate on { budget (bytes)\"8kb\" }",
        "2:25: error[value::size]",
        "write `(bytes)\"8KiB\"`",
    ),
    slip("gate on { budget 8192 }", "2:18: error[value::wrong_unit]", "write `(bytes)8192`"),
    slip(
        "tools { other \"server_info\" }",
        "2:15: error[tools::own]",
        "`tools { diagnostics }` offers",
    ),
    slip("servers { server a }", "2:1: error[node::reserved]", "remove the node until then"),
];

#[test]
fn a_slip_is_one_finding_that_says_what_to_write() {
    for Slip { text, place, says } in SLIPS {
        let sandbox = Sandbox::of(&[("project.kdl", &format!("{HEAD}{text}\n"))]);
        let run = sandbox.relay("check --format short").ends(1).silent();
        let lines: Vec<&str> =
            run.stdout.lines().filter(|line| line.contains(": error[")).collect();
        let [line] = lines.as_slice() else { panic!("{text}:\n{}", run.stdout) };
        assert!(line.contains(&format!("project.kdl:{place}")), "{text}: {line}");
        assert!(line.contains(says), "{text}: {line}");
    }
}

#[test]
fn a_fault_has_no_second_report_of_what_it_left_out() {
    for (text, says) in [
        ("policy\nfacts { program a { tier 2 } }", "write `tier=2`"),
        (
            "policy\nfacts { program a tier=high says=\"deploys\" }",
            "write a whole number from 0 to 3",
        ),
        ("roles { role reader }\nusers { anyone reader }", "`anyone role=reader`"),
        ("roles { admin }\nusers { anyone role=admin }", "write `role admin`"),
        ("tenants a b\nroles { role r }\nusers { anyone tenant=b role=r }", "tenant a; tenant b"),
        (
            "roles { role a tier=0 role b tier=0 }\nusers { anyone role=b; user c role=a }",
            "`role a; role b`",
        ),
        (
            "prompts { prompt a template=#true { arg b { required #true }; text \"{{ b }}\" } }",
            "write `required=#true` after the name",
        ),
        ("roles { role id=admin }\nusers { anyone role=admin }", "`role admin`"),
        ("roles { role reader }\nusers { user a role=5 }", "write it in quotes: `\"5\"`"),
        ("roles { role reader }\nusers { user a { role reader } }", "write `role=reader`"),
    ] {
        let sandbox = Sandbox::of(&[("project.kdl", &project(&format!("{text}\n")))]);
        let run = sandbox.relay("check --format short").ends(1);
        let found: Vec<&str> =
            run.stdout.lines().filter(|line| !line.contains(": note[")).collect();
        let [line] = found.as_slice() else { panic!("{text}:\n{}", run.stdout) };
        assert!(line.contains(says), "{text}: {line}");
    }
}

#[test]
fn a_key_of_front_matter_that_is_unknown_has_a_place() {
    let project = format!("{HEAD}prompts {{ folder \"prompts\" }}\n");
    for (key, help) in [
        ("tags: [a, b]", "write its words into `summary` or `chapters`"),
        ("name: a", "the path of the file names the prompt"),
        ("colour: red", "remove the line; the keys of a prompt are `description`"),
        ("sumary: A", "did you mean `summary`?"),
    ] {
        let text = format!("---\ndescription: Names\n{key}\n---\nNames.\n");
        let sandbox = Sandbox::of(&[("project.kdl", &project), ("prompts/a.md", &text)]);
        let run = sandbox.relay("check --format short").ends(1);
        run.prints("prompts/a.md:3:1: error[front_matter::unknown_key]").prints(help);
    }
}

#[test]
fn a_file_in_place_of_its_folder_is_answered_with_the_folder() {
    let skill = "---\nname: a\ndescription: A\n---\nx\n";
    let project = format!("{HEAD}prompts {{ agent-skills \"s/a/SKILL.md\" }}\n");
    let sandbox = Sandbox::of(&[("project.kdl", &project), ("s/a/SKILL.md", skill)]);
    sandbox.relay("check --format short").ends(1).prints("name its folder: `s/a`");
}

#[test]
fn a_path_that_does_not_exist_is_answered_with_the_nearest_one() {
    let files = [
        ("house/prompts/naming.md", "---\ndescription: Names\n---\nNames.\n"),
        ("intro.md", "Hello.\n"),
    ];
    for (text, near) in [
        ("folder \"house/promts\"", "`house/prompts`"),
        ("folder \"hause/prompts\"", "`house/prompts`"),
        ("prompt a file=\"house/promts/naming.md\"", "`house/prompts/naming.md`"),
        ("prompt a file=\"house/prompts/namign.md\"", "`naming.md`"),
        ("prompt a file=\"into.md\"", "`intro.md`"),
    ] {
        let project = format!("{HEAD}prompts {{ {text} }}\n");
        let sandbox = Sandbox::of(&[files[0], files[1], ("project.kdl", &project)]);
        let run = sandbox.relay("check --format short").ends(1);
        run.prints("file::unreadable").prints(&format!("did you mean {near}?"));
    }
}

#[test]
fn front_matter_of_two_documents_says_which_line_to_remove() {
    let project = format!("{HEAD}prompts {{ folder \"prompts\" }}\n");
    for (text, line, help) in [
        (
            "---\n---\ndescription: Names\n---\nNames.\n",
            1,
            "remove that line, so that the keys below count",
        ),
        ("---\ntitle: Names\n--- \ndescription: Names\n---\nNames.\n", 3, "write exactly `---`"),
        ("---\n---\nNames.\n", 1, "add a line `description: …`"),
    ] {
        let sandbox = Sandbox::of(&[("project.kdl", &project), ("prompts/a.md", text)]);
        let run = sandbox.relay("check --format short").ends(1);
        run.prints(&format!("prompts/a.md:{line}:1: error[front_matter::")).prints(help);
    }
}

#[test]
fn a_document_of_another_language_is_one_finding() {
    for (text, language) in [
        ("{\n  \"project\": \"p\",\n  \"prompts\": []\n}\n", "JSON"),
        ("[\"p\"]\n", "TOML"),
        ("[\n  1\n]\n", "JSON"),
        ("[project]\nname = \"p\"\n", "TOML"),
        ("---\nproject: p\n", "YAML"),
    ] {
        let sandbox = Sandbox::of(&[("project.kdl", text)]);
        let run = sandbox.relay("check --format short").ends(1).silent();
        assert_eq!(run.stdout.lines().count(), 1, "{text}: {}", run.stdout);
        run.prints(&format!("the document is {language}")).prints("`relay init` writes a project");
    }
}

#[test]
fn a_wrong_value_is_not_reported_as_missing() {
    let text = "project p epoch=\"one\"\nprompts { prompt a { summary \"A\"; text \"x\" } }\n";
    let sandbox = Sandbox::of(&[("project.kdl", text)]);
    let run = sandbox.relay("check --format short").ends(1);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    run.prints("error[value::wrong_type]").prints("write a whole number from 0, without quotes");
}

#[test]
fn a_role_that_names_a_tool_of_the_server_says_what_offers_it() {
    let text = "roles { role a { tools \"server_info\" \"begin_session\" \"explain_*\" } }\nusers { anyone role=a }\n";
    let sandbox = Sandbox::of(&[("project.kdl", &project(text))]);
    let run = sandbox.relay("check --format short").ends(0);
    let said: Vec<_> = run.stdout.lines().filter(|line| line.contains("role::no_tool")).collect();
    assert_eq!(said.len(), 3, "{}", run.stdout);
    for (line, offer) in
        said.iter().zip(["tools { diagnostics }", "gate on", "tools { diagnostics }"])
    {
        assert!(line.contains(&format!("if the project has `{offer}`")), "{line}");
    }
}
