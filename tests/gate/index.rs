//! The index in the instructions: all prompts up to the cap, the important ones above it.

use relay_compiler::Options;

use crate::support::{Memory, compiled, contents};

/// Compiles a gated project of prompts `p000`, `p001` and on with these priorities; returns the
/// names in the index, and the instructions.
fn index(priorities: &[u8]) -> (Vec<String>, String) {
    let prompts = priorities.iter().enumerate().map(|(number, priority)| {
        format!("prompt p{number:03} priority={priority} {{ summary \"S\"; text \"Text.\" }}\n")
    });
    let prompts: String = prompts.collect();
    let project = format!("project many epoch=1\ngate on\nprompts {{\n{prompts}}}\n");
    let files = Memory::of(&[("project.kdl", project.as_str())]);
    let (compiled, report) = compiled(&files, "project.kdl", &Options::default());
    let messages = contents(&compiled).expect(&report).messages;
    (messages.prompt_index.clone(), messages.instructions("", true))
}

fn names(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("p{number:03}")).collect()
}

#[test]
fn fifty_prompts_are_all_listed() {
    let (listed, instructions) = index(&[5; 50]);
    assert_eq!(listed, names(0..50));
    assert!(instructions.contains("- p000: S\n") && instructions.contains("- p049: S"));
    assert!(!instructions.contains(" more; "), "{instructions}");
}

#[test]
fn of_more_than_fifty_those_of_priority_seven_and_up_are() {
    let mut priorities = [5; 51];
    priorities[3] = 7;
    priorities[40] = 10;
    priorities[50] = 6;
    let (listed, instructions) = index(&priorities);
    assert_eq!(listed, names([40, 3]), "the most important first");
    assert!(instructions.ends_with("(49 more; ask with read_prompts)"), "{instructions}");
}

#[test]
fn where_none_of_them_is_important_the_text_says_how_many_there_are() {
    let (listed, instructions) = index(&[6; 51]);
    assert_eq!(listed, names([]));
    assert!(instructions.ends_with("(51 prompts; ask with read_prompts)"), "{instructions}");
}
