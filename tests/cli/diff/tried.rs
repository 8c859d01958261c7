//! Comparisons call by call and audience by audience: every form says that only a part was tried.

use std::fmt::Write as _;

use super::forms;
use crate::cli::{Sandbox, snapshot};

/// Compares two projects, each given as the text of its document, and keeps what is printed.
fn compare(name: &str, before: &str, after: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("a/project.kdl", before);
    sandbox.write("b/project.kdl", after);
    let run = sandbox.relay("diff a b --exit-code").ends(1);
    snapshot(&format!("diff_{name}"), &run.stdout);
    snapshot(&format!("diff_{name}_forms"), &forms::of(&sandbox));
}

#[test]
fn each_skill_of_a_call_has_a_line() {
    let project = |skills: &str| {
        format!("project orders epoch=1\ntools {{ other {TOOLS} }}\nskills {{\n{skills}}}\n")
    };
    let text = |number: usize, letter: &str| letter.repeat(number + 1);
    let of_tools = |letter: &str, more: usize| {
        let mut skills = String::new();
        for (number, tool) in TOOLS.split(' ').enumerate() {
            let text = text(number * more, letter);
            let _ = writeln!(skills, "    tool {tool} {{ skill limit \"{text}\" }}");
        }
        skills
    };
    let of_patterns = |text: &str| {
        format!("    tool \"create-order-*\" \"*-for-customers\" {{ skill amounts \"{text}\" }}\n")
    };
    compare("calls", &project(&of_tools("a", 1)), &project(&of_tools("b", 2)));
    let hello = "    global { skill hello \"Hello.\" }\n";
    compare(
        "calls_of_patterns",
        &project(&format!("{hello}{}", of_patterns("Ask."))),
        &project(&of_patterns("Ask first.")),
    );
}

const TOOLS: &str = "a b c d e f g h i j k l m n o";

#[test]
fn audiences_that_are_not_tried_are_named() {
    let project = |text: &str| {
        let mut prompts = format!("    prompt all {{ summary S; text \"{text}\" }}\n");
        let mut tenants = String::new();
        for number in 0..10 {
            let _ = write!(tenants, " tenant t{number};");
            let _ = writeln!(
                prompts,
                "    prompt of-t{number} {{ summary S; text T; for tenant=t{number} }}"
            );
        }
        format!(
            "project orders epoch=1\ngate on\ntools {{ diagnostics }}\ntenants {{{tenants} }}\nprompts {{\n{prompts}}}\n"
        )
    };
    compare("audiences_untried", &project("Work."), &project("Rest."));
}
