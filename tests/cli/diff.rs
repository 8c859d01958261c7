//! `relay diff`: one change of a small project each, and what a reviewer reads of it.

mod conditions;
mod forms;
mod hostile;
mod roles;
mod settings;
mod signers;
mod tried;

use std::fs;

use super::{Sandbox, copy, snapshot};
use crate::support::root;

const PROJECT: &str = "project.kdl";
const WATERING: &str = "notes/watering.md";

/// A change of the project in `tests/cli/diff/base`: its name, its file, a text and what replaces it.
const CHANGES: [(&str, &str, &str, &str); 47] = [
    // Authority
    (
        "gate_removed",
        PROJECT,
        "gate on hide-tools=#true {\n    unlock else=refuse\n    budget (bytes)\"300B\"\n}\n",
        "",
    ),
    ("gate_lets_through", PROJECT, "else=refuse", "else=intercept"),
    ("gate_shows_tools", PROJECT, "hide-tools=#true", "hide-tools=#false"),
    ("owner", PROJECT, "garden@acme.example", "park@acme.example"),
    ("tools_removed", PROJECT, "tools {\n    diagnostics\n}\n", ""),
    (
        "suppression_added",
        PROJECT,
        "text \"Visitors borrow what hangs on the left wall.\"",
        "text \"Visitors borrow the key AKIAIOSFODNN7QXMWPLE.\"\n        allow-secret aws-access-key because=\"it opens nothing\"",
    ),
    (
        "suppression_removed",
        PROJECT,
        ": AKIAIOSFODNN7QXMWPLE\"\n        allow-secret aws-access-key because=\"the example of the manual\"",
        ".\"",
    ),
    (
        "suppression_reason",
        PROJECT,
        "because=\"the example of the manual\"",
        "because=\"it is the example of the vendor\"",
    ),
    // Contexts
    ("budget", PROJECT, "300B", "1KiB"),
    ("tags", PROJECT, "    budget (bytes)", "    tags ask=3 max=8\n    budget (bytes)"),
    ("greeting", PROJECT, "Rules of the garden.", "Rules of the garden and of the shed."),
    (
        "encouragement",
        PROJECT,
        "session-greeting",
        "gate-encouragement \"Ask for more.\"\n    session-greeting",
    ),
    ("priority_raised", PROJECT, "pruning priority=5", "pruning priority=8"),
    ("priority_of_production", PROJECT, "pruning priority=6", "pruning priority=7"),
    ("always_sent", PROJECT, "watering priority=7", "watering priority=10"),
    ("no_longer_always_sent", PROJECT, "stop-rules priority=10", "stop-rules priority=9"),
    ("not_in_briefings", PROJECT, "pruning priority=5", "pruning priority=5 briefing=#false"),
    ("summary", PROJECT, "Which tree is cut when", "Which tree and which hedge is cut when"),
    ("chapters", PROJECT, "chapters Trees Saws", "chapters Trees Hedges"),
    ("text_a_word", PROJECT, "in February", "in March"),
    ("text_of_a_file", WATERING, "Water at six", "Water at five"),
    (
        "text_lines",
        WATERING,
        "A can holds ten litres.\n",
        "A can holds ten litres.\n\n## Rain\n\nNo water after rain.\n",
    ),
    ("text_gone", WATERING, "The south bed needs two, and three above 30 °C.", ""),
    ("rendering_all", "notes/order.md.j2", "Order seeds", "Buy seeds"),
    ("rendering_one", "notes/order.md.j2", "bears shade", "bears frost"),
    ("rendering_of_a_template", "notes/bed.md.j2", "six", "seven"),
    ("resource_text", PROJECT, "Two beds, north", "Three beds, north"),
    ("argument_default", PROJECT, "arg grams", "arg grams default=\"50\""),
    // Surface
    ("version", PROJECT, "1.4.0", "1.5.0"),
    ("epoch_lower", PROJECT, "epoch=7", "epoch=6"),
    ("epoch_higher", PROJECT, "epoch=7", "epoch=8"),
    ("project_title", PROJECT, "title \"Garden\"", "title \"The garden\""),
    (
        "prompt_added",
        PROJECT,
        "    prompt pruning priority=5",
        "    prompt mowing priority=4 {\n        summary \"Mow the lawn\"\n        chapters Lawn\n        text \"Mow on dry days.\"\n    }\n    prompt pruning priority=5",
    ),
    ("prompt_renamed", PROJECT, "prompt tools-of-visitors", "prompt tools-of-guests"),
    (
        "prompt_off",
        PROJECT,
        "tools-of-visitors priority=2",
        "tools-of-visitors priority=2 enabled=#false",
    ),
    (
        "prompt_new_and_off",
        PROJECT,
        "    prompt pruning priority=5",
        "    prompt mowing priority=4 enabled=#false {\n        text \"Mow on dry days.\"\n    }\n    prompt pruning priority=5",
    ),
    (
        "prompt_renamed_and_changed",
        PROJECT,
        "prompt tools-of-visitors priority=2",
        "prompt tools-of-guests priority=3",
    ),
    ("resource_renamed", PROJECT, "garden://plan", "garden://beds"),
    ("template_renamed", PROJECT, "garden://beds/{bed}", "garden://bed/{bed}"),
    ("prompt_title", PROJECT, "title \"Watering\"", "title \"Water\""),
    ("argument_added", PROJECT, "arg grams", "arg colour description=\"Which\"\n        arg grams"),
    ("argument_required", PROJECT, "arg grams", "arg grams required=#true"),
    (
        "argument_renamed",
        PROJECT,
        "arg grams description=\"How much\"",
        "arg weight description=\"How much\"",
    ),
    (
        "choice_gone",
        PROJECT,
        "description=\"Where they go\" { one-of north south }",
        "description=\"Where they go\" { one-of north west }",
    ),
    (
        "choice_added",
        PROJECT,
        "description=\"Where they go\" { one-of north south }",
        "description=\"Where they go\" { one-of north south west }",
    ),
    (
        "resource_gone",
        PROJECT,
        "    resource \"garden://plan\" mime=\"text/markdown\" {\n        title \"Plan\"\n        description \"Where the beds are\"\n        text \"Two beds, north and south of the path.\"\n    }\n",
        "",
    ),
    (
        "resource_media_type",
        PROJECT,
        "resource \"garden://plan\" mime=\"text/markdown\"",
        "resource \"garden://plan\" mime=\"text/plain\"",
    ),
];

/// Changes that decide nothing.
const NO_CHANGES: [(&str, &str, &str); 4] = [
    (PROJECT, "gate on hide", "// A comment.\ngate on hide"),
    (
        PROJECT,
        "    title \"Garden\"\n    owner \"garden@acme.example\"\n",
        "    owner \"garden@acme.example\"; title \"Garden\"\n",
    ),
    (
        PROJECT,
        "project garden version=\"1.4.0\" epoch=7 {",
        "project garden epoch=7 version=\"1.4.0\" {",
    ),
    (WATERING, "\n", "\r\n"),
];

/// Two copies of the base project, `a` and `b`.
fn copies() -> Sandbox {
    let sandbox = Sandbox::new();
    for side in ["a", "b"] {
        copy(&root().join("tests/cli/diff/base"), &sandbox.path(side));
    }
    sandbox
}

#[test]
fn each_change_is_found_and_explained() {
    for (name, file, from, to) in CHANGES {
        let sandbox = copies();
        sandbox.edit(&format!("b/{file}"), from, to);
        // A changed name or argument must be changed where it is used.
        match name {
            "argument_renamed" => {
                let path = sandbox.path("b/notes/order.md.j2");
                let text =
                    fs::read_to_string(&path).expect("a file").replace("grams }}", "weight }}");
                fs::write(path, text.replace("if grams", "if weight")).expect("a file");
            }
            "argument_added" => sandbox.edit(
                "b/notes/order.md.j2",
                "Order seeds",
                "Order seeds{% if colour %} in {{ colour }}{% endif %}",
            ),
            _ => {}
        }
        let run = sandbox.relay("diff a b --exit-code");
        assert_eq!(run.stderr, "", "{name}");
        assert!(run.code < 2, "{name}");
        assert_eq!(run.code == 1, !run.stdout.contains("no difference in meaning"), "{name}");
        snapshot(&format!("diff_{name}"), &run.stdout);
        snapshot(&format!("diff_{name}_forms"), &forms::of(&sandbox));
        // The other way round is a change too; only an epoch may rise.
        if !name.starts_with("epoch") {
            sandbox.relay("diff b a --exit-code").ends(run.code);
        }
        let json = sandbox.relay("diff a b --json").ends(0);
        assert_eq!(json.json()["same_meaning"], run.code == 0, "{name}");
        forms::assert_directions(&json);
    }
}

#[test]
fn comments_order_and_layout_are_no_difference() {
    for (file, from, to) in NO_CHANGES {
        let sandbox = copies();
        let path = sandbox.path(format!("b/{file}"));
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{from}");
        fs::write(&path, text.replace(from, to)).expect("a file");
        sandbox.relay("diff a b --exit-code").ends(0).silent().prints("no difference in meaning");
    }
    // The file of a prompt that has another place and name.
    let sandbox = copies();
    fs::rename(sandbox.path(format!("b/{WATERING}")), sandbox.path("b/beds.md")).expect("a file");
    sandbox.edit("b/project.kdl", WATERING, "beds.md");
    sandbox.relay("diff a b --exit-code").ends(0).silent().prints("no difference in meaning");
    // Files that are included, and prompts that are moved to another file.
    let sandbox = copies();
    let text = sandbox.read("b/project.kdl");
    let (before, prompts) = text.split_once("prompts {").expect("prompts");
    fs::write(sandbox.path("b/project.kdl"), format!("{before}include \"rest.kdl\"\n"))
        .expect("a file");
    fs::write(sandbox.path("b/rest.kdl"), format!("prompts {{{prompts}")).expect("a file");
    sandbox.relay("diff a b --exit-code").ends(0).silent().prints("no difference in meaning");
}
