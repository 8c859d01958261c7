//! `relay-diff`: what a change does to what agents read and may do.

mod access;
mod answers;
mod calls;
mod derived;
mod facts;
mod fields;
mod gains;
mod hosts;
mod processes;
mod promises;
mod rules;

use relay_bundle::{Bundle, Contents, encode};
use relay_compiler::{Options, Sources, compile};
use relay_diff::{Area, Change, Finding, Kind, Signers, compare_signers};

use crate::support::Memory;

/// Returns what a comparison of two bundles with these contents finds.
fn findings(a: &Contents, b: &Contents) -> Vec<Finding> {
    let bundle = |contents: &Contents| Bundle::open(Box::new(encode(contents).unwrap())).unwrap();
    relay_diff::compare(&bundle(a), &bundle(b)).unwrap()
}

/// Returns the bundle of a project of one document.
fn compiled(text: &str) -> Bundle {
    let files = Memory::of(&[("project.kdl", text)]);
    let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
    Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
}

fn found(a: &Bundle, b: &Bundle) -> Vec<Finding> {
    relay_diff::compare(a, b).unwrap()
}

#[test]
fn a_prompt_that_pushes_others_out_of_the_index_is_the_cause() {
    let bundle = |count: usize| {
        let prompt = |number| format!("prompt p{number:03} {{ summary \"S\"; text \"T\" }}\n");
        let prompts: String = (0..count).map(prompt).collect();
        let text =
            format!("project many\ngate on\ntools {{ diagnostics }}\nprompts {{\n{prompts}}}\n");
        let files = Memory::of(&[("project.kdl", &text)]);
        let compiled = compile(&Sources::new(&files, "project.kdl"), &Options::default());
        Bundle::open(Box::new(compiled.bundle.expect("it compiles"))).unwrap()
    };
    let found = relay_diff::compare(&bundle(50), &bundle(51)).unwrap();
    let index: Vec<_> = found.iter().filter(|one| one.subject.kind == Kind::Index).collect();
    let [Finding { area: Area::Contexts, change, .. }] = index.as_slice() else {
        panic!("{found:?}");
    };
    let Change::Listed { lost, gained, causes } = change else { panic!("{change:?}") };
    assert_eq!((lost.len(), gained.len()), (50, 0));
    assert_eq!(causes.as_slice(), ["p050"]);
    // The message that holds the index is left out.
    assert!(found.iter().all(|one| one.subject.kind != Kind::Message), "{found:?}");
}

#[test]
fn signers_are_compared_as_the_trust_file_sees_them() {
    let signers = |good: &[&str], trusted| Signers {
        good: good.iter().map(|&name| name.to_owned()).collect(),
        trusted,
    };
    let one = signers(&["release"], true);
    assert_eq!(compare_signers(&one, &one), None);
    let refused = compare_signers(&one, &signers(&[], false)).unwrap();
    assert!(refused.breaking);
    assert_eq!(refused.change, Change::Value { before: Some("release".into()), after: None });
    let other = compare_signers(&one, &signers(&["release", "second"], true)).unwrap();
    assert!(!other.breaking);
    let few = compare_signers(&signers(&["release"], false), &one).unwrap();
    assert_eq!(
        few.change,
        Change::Value {
            before: Some("release, not trusted".into()),
            after: Some("release".into())
        }
    );
}
