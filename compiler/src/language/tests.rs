//! The tables agree with the reader: the reader reads each listed value and rejects all others, and
//! the reference names all of them.
//!
//! Each node of the tables is written in a document with the nodes around it, and parsed.
//! `Reader::finish` asserts that the reader asks only for listed names.

use std::collections::BTreeSet;

use super::TOP;
use super::facts::GROUP;
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Form, Kind, Rule};
use crate::parse;
use crate::reference::language_reference;
use crate::source::{Files, Listed, ReadError, Sources};

struct One<'t>(&'t str);

impl Files for One<'_> {
    fn read(&self, _: &str) -> Result<Vec<u8>, ReadError> {
        Ok(self.0.into())
    }

    fn list(&self, _: &str) -> Result<Vec<Listed>, ReadError> {
        Ok(Vec::new())
    }
}

/// Returns the code and the message of each report about the place where `part` is in a document.
fn reports(document: &str, part: &str) -> Vec<(String, String)> {
    let start = document.find(part).expect("it is in the document");
    let files = One(document);
    let sources = Sources::new(&files, "project.kdl");
    let mut out = Diagnostics::new(false);
    parse::project(&sources, &mut out);
    let about = out.sorted().into_iter().filter(|report| {
        let range = report.at.start as usize..report.at.end.max(report.at.start + 1) as usize;
        range.start < start + part.len() && start < range.end
    });
    about.map(|report| (report.code(), report.diagnostic.to_string())).collect()
}

/// Returns every node of the language with the nodes around it, the outermost first.
fn nodes() -> Vec<Vec<&'static Rule>> {
    fn below(path: &[&'static Rule], found: &mut Vec<Vec<&'static Rule>>) {
        found.push(path.to_vec());
        let children = path.last().map_or(&[][..], |rule| rule.children);
        children.iter().for_each(|child| below(&[path, &[child]].concat(), found));
    }
    let mut found = Vec::new();
    TOP.iter().for_each(|rule| below(&[rule], &mut found));
    found
}

/// Returns a document with a node, its entries and the nodes in it.
fn document(path: &[&'static Rule], entries: &str, within: &str) -> String {
    let (node, around) = path.split_last().expect("a node");
    let mut text = format!("{} {entries} {{ {within} }}", node.name);
    for rule in around.iter().rev() {
        text = format!("{} {} {{ {text} }}", rule.name, arguments(rule));
        if std::ptr::eq(*rule, &GROUP) {
            // The nodes in a group are read where the group is used.
            text.push_str("; program p { use x }");
        }
    }
    // The node itself may be a group, which is only declared.
    text.push('\n');
    text
}

/// Returns the required arguments of a node.
fn arguments(rule: &Rule) -> String {
    let is_needed = |field: &&Field| matches!(field.form, Form::Argument | Form::Arguments);
    let needed = rule.fields.iter().filter(is_needed).map(|field| good(field.kind));
    needed.collect::<Vec<_>>().join(" ")
}

fn good(kind: Kind) -> String {
    match kind {
        Kind::Text(_) | Kind::Line(_) | Kind::Name(_) => "x".into(),
        Kind::Boolean => "#true".into(),
        Kind::Words(words) => words.first().expect("a word").to_string(),
        Kind::Number { low, .. } | Kind::Chars { low, .. } | Kind::Measured { low, .. } => {
            number(kind, low)
        }
        Kind::Regex => "(regex)\"x\"".into(),
        Kind::File => "(file)\"/x\"".into(),
    }
}

fn number(kind: Kind, number: u64) -> String {
    match kind {
        Kind::Measured { measure, .. } => measure.written(number),
        Kind::Chars { .. } => format!("(chars){number}"),
        _ => number.to_string(),
    }
}

/// Returns a document for each form in which the value of a row may be written.
fn with_value(path: &[&'static Rule], field: &Field, value: &str) -> Vec<String> {
    let rule = path.last().expect("a node");
    let arguments = arguments(rule);
    let as_argument = || {
        let others = rule.fields.iter().filter(|other| !other.is_property());
        let before = others.take_while(|other| other.name != field.name);
        let before: Vec<String> = before.map(|other| good(other.kind)).collect();
        document(path, &format!("{} {value}", before.join(" ")), "")
    };
    let as_property = || document(path, &format!("{arguments} {}={value}", field.name), "");
    let as_node = || document(path, &arguments, &format!("{} {value}", field.name));
    match field.form {
        Form::Argument | Form::Optional => vec![as_argument()],
        Form::Arguments | Form::Joined => {
            vec![as_argument(), document(path, &format!("x {value}"), "")]
        }
        Form::Property | Form::Switch => vec![as_property()],
        Form::Either | Form::Line => vec![as_property(), as_node()],
        // Its names and values are the author's.
        Form::Keys => Vec::new(),
    }
}

#[test]
fn the_value_of_every_row_is_read_as_its_row_says() {
    let mut rows = 0;
    for path in nodes() {
        for field in path.last().expect("a node").fields {
            for document in with_value(&path, field, "#null") {
                let codes: Vec<_> =
                    reports(&document, "#null").into_iter().map(|(code, _)| code).collect();
                let is_read = codes.iter().any(|code| code.starts_with("value::"));
                assert!(is_read, "`{}` is not read: {document}{codes:?}", field.name);
                rows += 1;
            }
            let (Kind::Number { low, high }
            | Kind::Chars { low, high }
            | Kind::Measured { low, high, .. }) = field.kind
            else {
                continue;
            };
            for (number_is_in, at) in [(true, low), (true, high), (false, high + 1)] {
                let value = number(field.kind, at);
                for document in with_value(&path, field, &value) {
                    let found = reports(&document, &value);
                    let is_out = found.iter().any(|(code, _)| code == "value::out_of_range");
                    assert_eq!(is_out, !number_is_in, "`{}`: {document}", field.name);
                }
            }
        }
    }
    assert!(rows > 300, "{rows}");
}

#[test]
fn every_node_is_read_by_its_rule_and_takes_nothing_else() {
    for path in nodes() {
        let rule = path.last().expect("a node");
        let arguments = arguments(rule);
        let takes_any = rule.fields.iter().any(|field| field.form == Form::Keys);
        if !takes_any {
            let document = document(&path, &format!("{arguments} bogus=1"), "");
            let expected =
                ("property::unknown".into(), format!("unknown property `bogus` of {}", rule.what));
            assert!(reports(&document, "bogus").contains(&expected), "{document}");
        }
        let document = document(&path, &arguments, "bogus");
        let found = reports(&document, "bogus");
        assert!(found.iter().any(|(code, _)| code == "node::unknown"), "{document}{found:?}");
    }
}

#[test]
fn the_reference_names_every_node_and_every_property() {
    let text = language_reference();
    let sections: Vec<&str> = text.split("\n## ").flat_map(|part| part.split("\n### ")).collect();
    let section = |rule: &Rule| {
        let has_section =
            !rule.example.is_empty() || TOP.iter().any(|top| std::ptr::eq(*top, rule));
        let opening = format!("`{}`\n", rule.name);
        sections.iter().find(|section| has_section && section.starts_with(&opening)).copied()
    };
    let mut missing = BTreeSet::new();
    for path in nodes() {
        let rule = path.last().expect("a node");
        let within = path.iter().rev().find_map(|rule| section(rule));
        let within = within.unwrap_or_else(|| panic!("`{}` is in no section", rule.name));
        if !within.contains(&format!("`{}`\n", rule.name)) && !within.contains(rule.meaning) {
            missing.insert(format!("the node `{}`", rule.name));
        }
        // A row that lacks a meaning is read only to be reported.
        for field in rule.fields.iter().filter(|field| !field.meaning.is_empty()) {
            let is_named = match field.is_property() {
                true => {
                    within.contains(&format!("{}=`", field.name))
                        || within.contains(&format!("{}= ", field.name))
                }
                false => within.contains(field.meaning) || within.contains(rule.meaning),
            };
            if !is_named {
                missing.insert(format!("`{}` of `{}`", field.name, rule.name));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
