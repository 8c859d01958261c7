//! Inputs that do not belong in a repository: empty, huge, deep, not text. Each must end in
//! a clear error, in bounded time, without a panic.

use relay_bundle::Bundle;
use relay_compiler::{Files, Listed, Options, ReadError, Severity, Sources, compile, mismatches};
use relay_engine::agent_skill::AROUND_MAX;

use crate::shipped;
use crate::support::{Memory, compiled, contents};

/// Compiles one document and checks that it is refused with exactly this code.
fn check(document: impl Into<Vec<u8>>, code: &str) -> String {
    let files = Memory([("project.kdl".to_owned(), document.into())].into());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(compiled.bundle.is_none());
    let reports = compiled.diagnostics.sorted().into_iter();
    let faults = reports.filter(|report| report.severity() != Severity::Note);
    let codes: Vec<_> = faults.map(|report| report.code()).collect();
    assert_eq!(codes, [code], "{report}");
    report
}

#[test]
fn an_empty_document_has_no_project() {
    check("", "project::missing");
    check("\u{feff}", "project::missing");
    check("\n\n// nothing\n", "project::missing");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let files = Memory::of(&[(
        "project.kdl",
        "\u{feff}project demo epoch=1\nprompts { prompt a { text \"x\" } }\n",
    )]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(compiled.bundle.is_some(), "{report}");
}

#[test]
fn a_huge_document_is_refused_by_its_size() {
    let mut document = b"project demo\n".to_vec();
    document.resize(50 * 1024 * 1024, b'/');
    check(document, "kdl::too_large");
}

#[test]
fn the_largest_document_is_read() {
    // A comment, so that the time goes to reading.
    let mut document = b"project demo epoch=1\nprompts { prompt a { text \"x\" } }\n//".to_vec();
    document.resize(4 * 1024 * 1024, b'x');
    let files = Memory([("project.kdl".to_owned(), document)].into());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(compiled.bundle.is_some(), "{report}");
}

#[test]
fn hosts_over_the_limit_are_refused_at_the_first_one() {
    let hosts: String = (0..4097).map(|number| format!("host h{number}\n")).collect();
    check(format!("project demo epoch=1\nhosts {{\n{hosts}}}\n"), "hosts::too_many");
}

#[test]
fn settings_over_a_mebibyte_are_refused_at_the_name() {
    let title = "x".repeat(1 << 20);
    let report = check(
        format!(
            "project demo epoch=1 {{\n    title \"{title}\"\n}}\nprompts {{ prompt a {{ text \"x\" }} }}\n"
        ),
        "bundle::too_large",
    );
    assert!(report.contains("over the limit of 1048576"), "{report}");
    assert!(report.contains("shorten titles and messages"), "{report}");
}

#[test]
fn deep_nesting_is_refused_before_it_is_parsed() {
    check("a {".repeat(10_000), "kdl::too_deep");
    check(format!("{}{}", "a {".repeat(10_000), "}".repeat(10_000)), "kdl::too_deep");
    check(format!("{}{}", "a /-{".repeat(40), "}".repeat(40)), "kdl::too_deep");
    check(format!("{}{}", "/- a {".repeat(40), "}".repeat(40)), "kdl::too_deep");
    check(format!("{}{}", "/-\na {\n".repeat(40), "}\n".repeat(40)), "kdl::too_deep");
}

#[test]
fn a_document_has_bounded_nodes_values_and_faults() {
    check("a;".repeat(250_001), "kdl::too_many_nodes");
    check(format!("project demo{}", " 1".repeat(1024)), "kdl::syntax");
    let junk = "}".repeat(4_000_000);
    let files = Memory::of(&[("project.kdl", &junk)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let reports = compiled.diagnostics.sorted();
    let last = reports.last().map(|report| report.code());
    assert_eq!((reports.len(), last.as_deref()), (101, Some("kdl::too_many_faults")));
    assert!(report.len() < 100_000, "{}", report.len());
}

#[test]
fn groups_of_facts_do_not_double_without_end() {
    let mut facts = "group g0 { operand text; operand text }\n".to_owned();
    for level in 1..8 {
        let before = level - 1;
        facts.push_str(&format!("group g{level} {{ use {} }}\n", format!("g{before} ").repeat(8)));
    }
    let files = Memory([(
        "project.kdl".to_owned(),
        format!("project demo epoch=1\npolicy\nfacts {{\n{facts}program ours tier=0 {{ use g7 }}\n}}\n")
            .into_bytes(),
    )]
    .into());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|report| report.code()).collect();
    assert!(codes.contains(&"fact::large_groups".to_owned()), "{report}");
}

#[test]
fn includes_follow_one_another_only_so_deep() {
    let mut files =
        vec![("project.kdl".to_owned(), "project demo epoch=1\ninclude \"0.kdl\"\n".into())];
    for number in 0..20_000 {
        let text = format!("include \"{}.kdl\"\n", number + 1);
        files.push((format!("{number}.kdl"), text.into()));
    }
    let files = Memory(files.into_iter().collect());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|report| report.code()).collect();
    assert_eq!(codes, ["include::too_deep"], "{report}");
    assert!(report.contains("`31.kdl` is included"), "{report}");
}

#[test]
fn many_arguments_are_compared_in_linear_time() {
    let arguments: String = (0..20_000).map(|number| format!("arg a{number}\n")).collect();
    let document =
        format!("project demo epoch=1\nprompts {{ prompt p {{ text \"x\"\n{arguments}}} }}\n");
    let files = Memory::of(&[("project.kdl", &document)]);
    let (compiled, _) = compiled(&files, "project.kdl", &Options::default());
    assert_eq!(compiled.diagnostics.warning_count(), 20_000);
}

#[test]
fn braces_in_strings_and_comments_do_not_nest() {
    let braces = "{".repeat(100);
    let comment = format!("{}{braces}{}", "/*".repeat(10_000), "*/".repeat(10_000));
    let document = format!(
        "project demo epoch=1 // {braces}\n{comment}\nprompts {{ prompt a {{ text \"{braces}\\\"{braces}\" }}; prompt b {{ text #\"{braces}\"{braces}\"# }}; prompt c {{ text \"\"\"\n{braces}\n\"\"\" }} }}"
    );
    let files = Memory::of(&[("project.kdl", &document)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(compiled.bundle.is_some(), "{report}");
}

#[test]
fn what_is_not_text_is_refused_where_it_begins() {
    let report =
        check(*b"project demo\nprompts { prompt a { text \"\xff\xfe\" } }\n", "kdl::not_utf8");
    assert!(report.contains("project.kdl:2:28"), "{report}");
    check(*b"project demo\nprompts { prompt a { text \"a\0b\" } }\n", "kdl::control_character");
    check(*b"\xef\xbb\xbf\xff", "kdl::not_utf8");
    check([0xff; 4096], "kdl::not_utf8");
}

#[test]
fn text_files_must_be_text_and_fit() {
    let project = "project demo epoch=1\nprompts { prompt a file=\"a.md\" }\n";
    for (bytes, code) in
        [(b"caf\xe9".to_vec(), "file::not_utf8"), (vec![b'x'; 17 * 1024 * 1024], "file::too_large")]
    {
        let files = [("project.kdl".to_owned(), project.into()), ("a.md".to_owned(), bytes)];
        let (compiled, report) =
            compiled(&Memory(files.into()), "project.kdl", &Options::default());
        let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
        assert_eq!(codes, [code], "{report}");
    }
}

#[test]
fn uri_templates_are_counted() {
    let mut document = String::from("project demo epoch=1\nresources {\n");
    for number in 0..257 {
        document.push_str(&format!("resource \"relay://{number}/{{id}}\" template=#true {{ arg id; text \"{{{{ id }}}}\" }}\n"));
    }
    document.push('}');
    check(document, "resource::too_many_templates");
}

/// A project whose markdown files are links.
struct Linked(Memory);

impl Files for Linked {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match path.starts_with("c/out") {
            true => Err(ReadError::Outside),
            false => self.0.read(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let listed = self.0.list(folder)?;
        Ok(listed.into_iter().map(|file| Listed { link: true, ..file }).collect())
    }
}

#[test]
fn a_command_that_is_a_link_out_of_the_project_is_refused_or_skipped() {
    for (mode, errors, warnings) in [("fail", 2, 0), ("repair", 2, 0), ("skip", 0, 2)] {
        let project = format!("project demo epoch=1\nprompts {{ commands \"c\" on-error={mode} }}");
        // A link to a file of the project is followed.
        let command = "---\ndescription: A\n---\nx";
        let files = Linked(Memory::of(&[
            ("project.kdl", &project),
            ("c/a.md", command),
            ("c/out-1.md", command),
            ("c/out-2.md", command),
        ]));
        let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
        let found = (compiled.diagnostics.error_count(), compiled.diagnostics.warning_count());
        assert_eq!(found, (errors, warnings), "on-error={mode}");
        // All of a folder are one report.
        let reports = compiled.diagnostics.sorted();
        let [report] = reports.as_slice() else { panic!("on-error={mode}") };
        assert_eq!(report.code(), "markdown::link");
        let others = report.others.iter().map(|other| other.diagnostic.to_string());
        let prefix = if mode == "skip" { "skipped: " } else { "" };
        let linked = |name| format!("{prefix}`c/{name}.md` is a link out of the project's folder");
        assert_eq!(report.diagnostic.to_string(), linked("out-1"));
        assert_eq!(others.collect::<Vec<_>>(), [linked("out-2")]);
    }
}

/// A project with a command that cannot be read.
struct Unreadable(Memory);

impl Files for Unreadable {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match path {
            "c/b.md" => Err(ReadError::Io { reason: "permission denied".into() }),
            path => self.0.read(path),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        self.0.list(folder)
    }
}

#[test]
fn a_command_that_cannot_be_read_is_refused_or_skipped() {
    for (mode, errors, warnings) in [("fail", 1, 0), ("repair", 1, 0), ("skip", 0, 1)] {
        let project = format!("project demo epoch=1\nprompts {{ commands \"c\" on-error={mode} }}");
        let command = "---\ndescription: A\n---\nx";
        let files = [("project.kdl", project.as_str()), ("c/a.md", command), ("c/b.md", command)];
        let files = Unreadable(Memory::of(&files));
        let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
        let found = (compiled.diagnostics.error_count(), compiled.diagnostics.warning_count());
        assert_eq!(found, (errors, warnings), "on-error={mode}");
        let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
        assert_eq!(codes, ["markdown::unreadable"]);
    }
}

/// A project whose document vanishes after it was found.
struct Vanished;

impl Files for Vanished {
    fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }

    fn list(&self, _folder: &str) -> Result<Vec<Listed>, ReadError> {
        Err(ReadError::NotFound)
    }
}

#[test]
fn a_document_that_vanishes_is_no_empty_project() {
    for compile in [relay_compiler::compile, relay_compiler::check] {
        let compiled = compile(&Sources::new(&Vanished, "project.kdl"), &Options::default());
        assert_eq!(compiled.unread, Some(ReadError::NotFound));
        assert!(compiled.bundle.is_none());
    }
}

#[test]
fn a_plain_text_that_no_client_takes_is_refused() {
    let check = |bytes: usize, expected: &[&str]| {
        let text = "word ".repeat(bytes / 5);
        let project = "project demo epoch=1\nprompts { prompt a file=\"a.txt\" }";
        let files = Memory::of(&[("project.kdl", project), ("a.txt", &text)]);
        let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
        let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
        assert_eq!(codes, expected, "{bytes}");
    };
    check(1024 * 1024, &[]);
    check(2_000_000, &["text::too_large"]);
}

/// Compiles a project with one template file and checks that it is refused with this code.
fn check_template(files: &[(&str, &str)], arguments: &str, code: &str) {
    let project =
        format!("project demo epoch=1\nprompts {{ prompt a file=\"a.j2\" {{ {arguments} }} }}\n");
    let mut all = vec![("project.kdl", project.as_str())];
    all.extend_from_slice(files);
    let (compiled, report) = compiled(&Memory::of(&all), "project.kdl", &Options::default());
    let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
    assert_eq!(codes, [code], "{report}");
}

#[test]
fn templates_are_bounded() {
    check_template(&[("a.j2", &"x".repeat(257 * 1024))], "", "template::too_large");
    let many = "arg a default=\"1\" { one-of \"1\" \"2\" \"3\" \"4\" \"5\" \"6\" \"7\" \"8\" }; arg b default=\"1\" { one-of \"1\" \"2\" \"3\" \"4\" \"5\" \"6\" \"7\" \"8\" }";
    let repeated = format!(
        "{{% for i in range(3) %}}{}{{% endfor %}}{{{{ a|lower }}}}{{{{ b|lower }}}}",
        "x".repeat(100_000)
    );
    check_template(&[("a.j2", &repeated)], many, "template::total_too_large");
    let work = "{% set s = 'x' * 500000 %}{% for i in range(1000) %}{% set t = s|replace('x', 'y') %}{% endfor %}";
    check_template(&[("a.j2", work)], "", "template::too_much_work");
    let includes: String = (0..300).map(|n| format!("{{% include \"p{n}.j2\" %}}")).collect();
    let parts: Vec<(String, String)> = (0..300).map(|n| (format!("p{n}.j2"), "x".into())).collect();
    let mut files: Vec<(&str, &str)> = vec![("a.j2", &includes)];
    files.extend(parts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    check_template(&files, "", "template::too_many_files");
}

#[test]
fn the_templates_of_a_project_share_a_budget() {
    // Each prompt keeps its own limits, and 64 combinations of it write 800 MB.
    let choices = "{ one-of \"1\" \"2\" \"3\" \"4\" \"5\" \"6\" \"7\" \"8\" }";
    let prompts: String = (0..7)
        .map(|n| {
            format!("prompt p{n} file=\"a.j2\" {{ arg a default=\"1\" {choices}; arg b default=\"1\" {choices} }}\n")
        })
        .collect();
    let project = format!("project demo epoch=1\nprompts {{ {prompts} }}\n");
    let work = "{% for i in range(9) %}{% set x = 'a'|indent(500000, true) %}{% endfor %}{{ a|lower }}{{ b|lower }}";
    let files = Memory::of(&[("project.kdl", project.as_str()), ("a.j2", work)]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
    assert_eq!(codes, ["template::project_too_large"], "{report}");
}

#[test]
fn a_fault_on_an_endless_line_is_drawn_in_part() {
    let text = format!("{}{{{{ wrong }}}}{}", "ä".repeat(50_000), "ö".repeat(50_000));
    let project = "project demo epoch=1\nprompts { prompt a file=\"a.j2\" }\n";
    let files = Memory::of(&[("project.kdl", project), ("a.j2", &text)]);
    let (_, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(report.contains("ä{{ wrong }}ö") && report.contains("a.j2:1:"), "{report}");
    assert!(report.len() < 4000, "{report}");
}

#[test]
fn a_command_file_ends_at_100_000_bytes() {
    for (length, code) in [(100_000, None), (100_001, Some("markdown::too_large"))] {
        let mut text = String::from("---\ndescription: Long\n---\n");
        text.push_str(&"x".repeat(length - text.len()));
        let project = "project demo epoch=1\nprompts { commands \"c\" }";
        let files = Memory::of(&[("project.kdl", project), ("c/a.md", &text)]);
        let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
        let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|r| r.code()).collect();
        assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{report}");
    }
}

#[test]
fn arguments_of_plain_texts_always_have_a_limit() {
    for (argument, expected) in
        [("", 10_000), ("arg arguments", 10_000), ("arg arguments max=(chars)50", 50)]
    {
        let project = format!(
            "project demo epoch=1\nprompts {{ prompt a {{\n{argument}\ntext \"Do $ARGUMENTS\" }} }}"
        );
        let files = Memory::of(&[("project.kdl", project.trim())]);
        let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
        let contents = contents(&compiled).unwrap_or_else(|| panic!("{report}"));
        let [argument] = contents.prompts[0].rendering.arguments.as_slice() else { panic!() };
        let limit = relay_bundle::ArgumentKind::Text { chars_max: expected };
        assert_eq!(argument.kind, limit, "{project}");
    }
}

/// Compiles a gated project with these prompts and returns what was found.
fn gated(settings: &str, prompts: &str) -> (Vec<String>, Option<relay_bundle::Contents>) {
    let project = format!("project demo epoch=1\ngate on {{ {settings} }}\n{prompts}\n");
    let files = Memory::of(&[("project.kdl", &project)]);
    let (compiled, _) = compiled(&files, "project.kdl", &Options::default());
    let codes = compiled.diagnostics.sorted().iter().map(|report| report.code()).collect();
    (codes, contents(&compiled))
}

#[test]
fn what_every_briefing_sends_has_a_limit() {
    let half = "x".repeat(512 * 1024);
    let prompt = |name, more| format!("prompt {name} priority=10 {{ text \"{half}{more}\" }}");
    for (more, code) in [("", "gate::critical_over_budget"), ("x", "gate::critical_too_large")] {
        let prompts = format!("prompts {{ {}; {} }}", prompt("a", ""), prompt("b", more));
        assert_eq!(gated("", &prompts).0, [code]);
    }
    let one = format!("prompts {{ {} }}", prompt("a", ""));
    assert_eq!(gated("budget (bytes)\"512KiB\"", &one).0, [""; 0]);
}

#[test]
fn a_message_has_a_limit_with_its_variables_filled() {
    let prompts = "prompts { prompt a { summary \"A\"; text \"x\" } }";
    let message = |text: &str| {
        format!(
            "messages {{ read-prompts-reminder \"{text}{{{{remaining_prompts}}}}\" }}\n{prompts}"
        )
    };
    let (codes, _) = gated("", &message(&"x".repeat(16 * 1024)));
    assert_eq!(codes, [""; 0]);
    let (codes, _) = gated("", &message(&"x".repeat(16 * 1024 + 1)));
    assert_eq!(codes, ["message::too_large"]);
    // A project's name is longer than the variable at times.
    let index = "{{prompt_index}}".repeat(4 * 1024);
    assert_eq!(gated("", &message(&index)).0, ["message::too_large"]);
}

#[test]
fn an_index_of_many_prompts_is_soon_made() {
    let project = "project demo epoch=1\ngate on\nprompts { folder \"prompts\" }\n";
    let mut files = Memory::of(&[("project.kdl", project)]);
    for number in 0..5_000 {
        let text = format!("---\ndescription: About {number:04}\npriority: 7\n---\nx\n");
        files.0.insert(format!("prompts/p{number:04}.md"), text.into_bytes());
    }
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let instructions = contents(&compiled).expect(&report).messages.instructions("", true);
    assert!(instructions.ends_with(" more; ask with read_prompts)"), "{instructions}");
    // One more entry would not fit.
    let chars = instructions.chars().count();
    let entry = "- p0000: About 0000\n".len();
    assert!((2001 - entry..=2000).contains(&chars), "{chars}");
}

#[test]
fn roles_and_audiences_have_limits() {
    let roles: String = (0..257).map(|number| format!("role r{number}\n")).collect();
    let prompts = "prompts { prompt a { text \"x\" } }";
    check(format!("project demo epoch=1\nroles {{\n{roles}}}\n{prompts}\n"), "role::too_many");

    let tenants: String = (0..4100).map(|number| format!("tenant t{number}\n")).collect();
    let prompts: String = (0..4100)
        .map(|number| format!("prompt p{number} {{ for tenant=t{number}; text \"x\" }}\n"))
        .collect();
    let report = check(
        format!("project demo epoch=1\ntenants {{\n{tenants}}}\nprompts {{\n{prompts}}}\n"),
        "access::too_many_audiences",
    );
    assert!(report.contains("4101 audiences"), "{report}");
}

#[test]
fn what_cannot_be_proved_of_a_role_is_not_taken_for_granted() {
    let far = "?".repeat(24);
    let roles = format!(
        "role wide {{ tools \"*b{far}\" \"*c{far}\" }}\nrole narrow parent=wide {{ tools \"*a*b{far}\" }}\n"
    );
    let users = "users { anyone role=narrow }";
    let prompts = "prompts { prompt a { text \"x\" } }";
    let tools = format!("tools {{ other \"*b{far}\" \"*c{far}\" }}");
    let project =
        format!("project demo epoch=1\nroles {{\n{roles}}}\n{users}\n{prompts}\n{tools}\n");
    check(project, "role::undecided");
}

#[test]
fn facts_fit_their_table_or_are_refused() {
    let programs: String = (0..60)
        .map(|program| {
            let names: String = (0..1000).map(|name| format!(" n{program}-{name}")).collect();
            format!("    program{names} tier=0\n")
        })
        .collect();
    let document = format!(
        "project demo epoch=1\npolicy\nfacts {{\n{programs}}}\nprompts {{ prompt a {{ text \"x\" }} }}\n"
    );
    let report = check(document, "facts::too_many");
    assert!(report.contains("more than 65,280 names"), "{report}");
}

#[test]
fn facts_are_in_a_bounded_number_of_documents() {
    let mut files = Memory::of(&[]);
    let mut project = String::from("project demo epoch=1\npolicy\n");
    for number in 0..256 {
        let path = format!("facts-{number}.kdl");
        project.push_str(&format!("include \"{path}\"\n"));
        let document = format!("facts {{ program ours-{number} tier=0 }}\n");
        files.0.insert(path, document.into_bytes());
    }
    files.0.insert("project.kdl".into(), project.into_bytes());
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    assert!(compiled.bundle.is_none());
    let codes: Vec<_> = compiled.diagnostics.sorted().iter().map(|report| report.code()).collect();
    assert!(codes.contains(&"facts::too_many_files".to_owned()), "{report}");
}

#[test]
fn an_agent_skill_has_a_limit_of_files_and_of_bytes() {
    let skill = "---\nname: a\ndescription: A.\n---\nText.\n";
    let project = "project demo epoch=1\nprompts { agent-skills \"skills\" }\n";
    let with = |count: usize, bytes: usize| {
        let mut files = Memory::of(&[("project.kdl", project), ("skills/a/SKILL.md", skill)]);
        for number in 1..count {
            files.0.insert(format!("skills/a/{number}.bin"), vec![0; bytes]);
        }
        let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
        let reports = compiled.diagnostics.sorted().into_iter();
        (compiled.bundle.is_some(), reports.map(|report| report.code()).collect::<Vec<_>>(), report)
    };
    let (built, codes, report) = with(512, 1);
    assert!(built && codes.is_empty(), "{report}");
    let (built, codes, report) = with(513, 1);
    assert!(!built && codes == ["agent_skills::too_large"], "{report}");
    assert!(report.contains("513 files, over the limit of 512"), "{report}");
    let (built, codes, report) = with(18, 1 << 20);
    assert!(!built && codes == ["agent_skills::too_large"], "{report}");
}

/// A server reads a file once for each agent skill that has it, within a limit of bytes.
#[test]
fn an_agent_skill_is_inside_a_limit_of_others() {
    let chain = |skills: usize| {
        let project = "project demo epoch=1\nprompts { agent-skills \"skills\" }\n";
        let mut files = Memory::of(&[("project.kdl", project)]);
        let mut folder = String::from("skills");
        for _ in 0..skills {
            folder.push_str("/a");
            let text = b"---\nname: a\ndescription: A.\n---\nText.\n".to_vec();
            files.0.insert(format!("{folder}/SKILL.md"), text);
        }
        for number in 0..15 {
            files.0.insert(format!("{folder}/{number}.bin"), vec![0; 1 << 20]);
        }
        let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
        let reports = compiled.diagnostics.sorted().into_iter();
        let codes: Vec<_> = reports.map(|report| report.code()).collect();
        (compiled.bundle, codes, report)
    };
    let (built, codes, report) = chain(AROUND_MAX + 1);
    assert!(codes.is_empty(), "{report}");
    let bundle = Bundle::open(Box::new(built.expect("a bundle"))).expect("a bundle");
    assert_eq!(mismatches(&bundle, shipped::facts()).expect("no limit is exceeded"), Vec::new());
    for skills in [AROUND_MAX + 2, 120] {
        let (built, codes, report) = chain(skills);
        assert!(
            built.is_none() && codes.contains(&"agent_skills::too_deep".to_owned()),
            "{report}"
        );
        assert!(report.contains("is inside 17 others"), "{report}");
    }
}

/// A list of files without the one that cannot be read would pass for the whole skill.
#[test]
fn an_agent_skill_with_a_file_that_cannot_be_read_is_refused() {
    struct Unreadable(Memory);

    impl Files for Unreadable {
        fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
            match path.ends_with("secret.md") {
                true => Err(ReadError::Outside),
                false => self.0.read(path),
            }
        }

        fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
            self.0.list(folder)
        }
    }

    let files = Unreadable(Memory::of(&[
        ("project.kdl", "project demo epoch=1\nprompts { agent-skills \"skills\" }\n"),
        ("skills/a/SKILL.md", "---\nname: a\ndescription: A.\n---\nText.\n"),
        ("skills/a/secret.md", ""),
    ]));
    let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
    assert!(compiled.bundle.is_none());
    let codes: Vec<_> =
        compiled.diagnostics.sorted().into_iter().map(|report| report.code()).collect();
    assert_eq!(codes, ["agent_skills::unreadable"]);
}

#[test]
fn rules_exceptions_and_scopes_are_limited() {
    let policy = |nodes: String| {
        format!(
            "project demo epoch=1\npolicy {{\n{nodes}}}\nprompts {{ prompt a {{ text \"x\" }} }}\n"
        )
    };
    let rules = |count: usize| -> String {
        (0..count).map(|number| format!("deny r{number} {{ writes \"/a/{number}\" }}\n")).collect()
    };
    check(policy(rules(10_001)), "rule::too_many");
    let exceptions = "except { program ls }; ".repeat(33);
    check(policy(format!("deny a {{ program cat; {exceptions} }}\n")), "rule::too_many_exceptions");
    let scopes: String = (0..257)
        .map(|number| {
            format!("scope host=\"h{number}\" {{ deny r{number} {{ writes \"/p/{number}\" }} }}\n")
        })
        .collect();
    check(policy(scopes), "rule::too_many_scopes");
}
