//! The hosts of a project: each setting of a host is a finding, and only what is proved narrower says so.

use relay_bundle::Bundle;
use relay_compiler::Options;
use relay_diff::{Change, Kind};

use super::found;
use crate::support::{self, Memory};

fn compiled(text: &str) -> Bundle {
    let files = Memory::of(&[("project.kdl", text)]);
    let (compiled, report) = support::compiled(&files, "project.kdl", &Options::default());
    let bytes = compiled.bundle.unwrap_or_else(|| panic!("{report}\n{text}"));
    Bundle::open(Box::new(bytes)).expect("a bundle")
}

/// A project with these hosts.
fn project(settings: &str, hosts: &str) -> String {
    format!(
        "project demo epoch=1\nhosts {settings} {{\n groups core edge\n host gate {{ groups edge core }}\n{hosts}\n}}\n\
         policy open\nprompts {{ prompt a {{ summary \"A\"; text \"x\" }} }}\n"
    )
}

/// Returns the kind, name, part and direction of each finding about hosts.
fn seen(a: &str, b: &str) -> Vec<(Kind, String, String, &'static str)> {
    let findings = found(&compiled(a), &compiled(b)).into_iter();
    let of_hosts = findings.filter(|it| matches!(it.subject.kind, Kind::Hosts | Kind::Host));
    let each = of_hosts.map(|it| {
        let direction = it.direction.expect("it is of authority").word();
        (it.subject.kind, it.subject.name, it.part, direction)
    });
    each.collect()
}

#[test]
fn a_change_of_all_hosts_has_its_direction() {
    for (a, b, part, direction) in [
        ("known-hosts=strict", "known-hosts=accept-new", "known-hosts", "loosens"),
        ("known-hosts=ignore", "known-hosts=accept-new", "known-hosts", "tightens"),
        ("outside=refuse", "outside=permit", "outside", "loosens"),
        ("outside=permit", "outside=refuse", "outside", "tightens"),
        ("weaken=#false", "weaken=#true", "weaken", "loosens"),
        ("weaken=#true", "", "weaken", "tightens"),
    ] {
        let expected = [(Kind::Hosts, String::new(), part.to_owned(), direction)];
        assert_eq!(seen(&project(a, ""), &project(b, "")), expected, "{a} -> {b}");
    }
}

#[test]
fn a_change_of_a_host_loosens_unless_it_is_proved_narrower() {
    let pin = |end: &str| {
        format!(
            "pin \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJbqZFEgQNvBnJcgN4Bi9MZrtuTNCmCr4WpqZ2pP{end}\""
        )
    };
    let (one, other) = (pin("cbUo"), pin("cbUp"));
    let pinned = |pins: &[&str]| format!("host x {{ {} }}", pins.join("; "));
    for (a, b, part, direction) in [
        ("host x", "host x address=\"10.0.0.9\"", "address", "loosens"),
        ("host x user=a", "host x user=root", "user", "loosens"),
        ("host x port=22", "host x port=23", "port", "loosens"),
        ("host x", "host x jump=gate", "jump", "loosens"),
        ("host x", "host x key=(file)\"/k\"", "key", "loosens"),
        ("host x", "host x { groups core }", "groups", "loosens"),
        ("host x known-hosts=ignore", "host x known-hosts=strict", "known-hosts", "tightens"),
        ("host x known-hosts=strict", "host x known-hosts=ignore", "known-hosts", "loosens"),
        ("host x", "host x known-hosts=accept-new", "known-hosts", "loosens"),
        ("host x", &pinned(&[&one]), "pins", "tightens"),
        (&pinned(&[&one]), "host x", "pins", "loosens"),
        (&pinned(&[&one]), &pinned(&[&one, &other]), "pins", "loosens"),
        (&pinned(&[&one, &other]), &pinned(&[&other]), "pins", "tightens"),
        (&pinned(&[&one]), &pinned(&[&other]), "pins", "loosens"),
    ] {
        let expected = [(Kind::Host, "x".to_owned(), part.to_owned(), direction)];
        assert_eq!(seen(&project("", a), &project("", b)), expected, "{a} -> {b}");
    }
}

#[test]
fn hosts_that_come_and_go_are_named() {
    let (none, one) = (project("", ""), project("", "host x { groups core }"));
    let of = |a: &str, b: &str| {
        let findings = found(&compiled(a), &compiled(b)).into_iter();
        let of_hosts = findings.filter(|it| it.subject.kind == Kind::Host);
        of_hosts.map(|it| (it.subject.name, it.change)).collect::<Vec<_>>()
    };
    assert_eq!(of(&none, &one), [("x".to_owned(), Change::Added)]);
    assert_eq!(of(&one, &none), [("x".to_owned(), Change::Removed)]);
    let without =
        "project demo epoch=1\npolicy open\nprompts { prompt a { summary \"A\"; text \"x\" } }\n";
    let all = seen(without, &one);
    assert_eq!(all.iter().filter(|(kind, ..)| *kind == Kind::Hosts).count(), 1);
    assert!(all.iter().all(|(.., direction)| *direction == "loosens"), "{all:?}");
    assert_eq!(all.len(), 3);
    assert_eq!(seen(&one, &one), []);
    // A list is a set.
    let turned = one.replace("groups edge core", "groups core edge");
    assert_eq!(seen(&one, &turned), []);
}
