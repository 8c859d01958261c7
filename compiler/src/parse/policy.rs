//! `policy { floors { … }; paths { … } }`: how commands are judged.

use relay_bundle::PathKind;
use relay_policy::tier::{Floor, Tier};

use super::empty;
use super::node::{Node, Reader};
use crate::ast::{FloorChoice, PathChoice, Policy};
use crate::diagnostic::Diagnostics;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar};
use crate::source::Spanned;

/// Why something is allowed that would not be, or counts less than it would.
pub(super) const BECAUSE: Field =
    Field::either("because", "The reason; what lowers a tier needs one.");

pub(crate) static POLICY: Rule = Rule {
    name: "policy",
    what: "a policy",
    meaning: "How commands are judged. With it the bundle carries the facts about programs. A text has one tier, so it is the same in every environment.",
    fields: &[],
    children: &[&FLOORS, &PATHS],
    example: include_str!("../reference/policy.kdl"),
};

static FLOORS: Rule = Rule {
    name: "floors",
    what: "floors",
    meaning: "The tiers of what is not known. One that is lower than its default needs a `because`.",
    fields: &[],
    children: &[&UNKNOWN_PROGRAM, &UNKNOWN_FLAG, &UNKNOWN_WORD, &OPAQUE_CODE, &UNPARSED],
    example: "",
};

const FLOOR_FIELDS: &[Field] = &[Field::argument("a tier", Kind::TIER, "Its tier."), BECAUSE];

const fn floor(name: &'static str, meaning: &'static str) -> Rule {
    Rule::leaf(name, "a floor", meaning, FLOOR_FIELDS)
}

static UNKNOWN_PROGRAM: Rule =
    floor("unknown-program", "No fact describes the program or sub-command; 2 if not written.");
static UNKNOWN_FLAG: Rule =
    floor("unknown-flag", "No fact declares the option or operand; 2 if not written.");
static UNKNOWN_WORD: Rule =
    floor("unknown-word", "The name of a program, or code, is not literal; 3 if not written.");
static OPAQUE_CODE: Rule =
    floor("opaque-code", "Code that the text does not show; 2 if not written.");
static UNPARSED: Rule =
    floor("unparsed", "The text does not parse, or is too large or too deep; 3 if not written.");

/// The rules of floors, in the order of `Floor`.
static FLOOR_RULES: [&Rule; 5] =
    [&UNKNOWN_PROGRAM, &UNKNOWN_FLAG, &UNKNOWN_WORD, &OPAQUE_CODE, &UNPARSED];

static PATHS: Rule = Rule {
    name: "paths",
    what: "paths",
    meaning: "What certain paths are, beside what is known of every host. A pattern begins with `/`, `~/`, `./` (the work tree) or `**/` (anywhere); `*` stands for letters within a part, `**` for any parts. `critical` wins over `admits`, and both over `scratch`.",
    fields: &[],
    children: &[&SCRATCH, &CRITICAL, &ADMITS, &SECRET],
    example: "",
};

const PATTERNS: &[Field] = &[Field::arguments("a pattern", Kind::Text("pattern"), "A pattern.")];

const fn paths(name: &'static str, meaning: &'static str) -> Rule {
    Rule { name, what: "a row of paths", meaning, fields: PATTERNS, children: EXCEPTS, example: "" }
}

const EXCEPTS: &[&Rule] = &[&EXCEPT];
static EXCEPT: Rule = Rule::leaf("except", "except", "Those that are not meant.", PATTERNS);

static SCRATCH: Rule = paths(
    "scratch",
    "They are for temporary files: writing there is tier 1. Files that run or admit, devices and what a host cannot do without stay what they are.",
);
static CRITICAL: Rule = paths("critical", "A host cannot do without them: writing them is tier 3.");
static ADMITS: Rule = paths("admits", "They are run, or admit someone: writing them is tier 2.");
static SECRET: Rule = paths("secret", "They hold secrets: sending them over a network is tier 3.");

/// The rules of paths, in the order of `PathKind`.
static PATH_RULES: [&Rule; 4] = [&SCRATCH, &CRITICAL, &ADMITS, &SECRET];

pub(super) fn node(node: &Node, out: &mut Diagnostics) -> Policy {
    if node.children.is_some() {
        empty::check(node, out);
    }
    let mut reader = Reader::new(node, &POLICY, out);
    let mut policy = Policy { at: node.name.at, floors: Vec::new(), paths: Vec::new() };
    if let Some(child) = reader.child(FLOORS.name, out) {
        policy.floors = floors(child, out);
    }
    if let Some(child) = reader.child(PATHS.name, out) {
        policy.paths = path_rows(child, out);
    }
    reader.finish(out);
    policy
}

fn floors(node: &Node, out: &mut Diagnostics) -> Vec<FloorChoice> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &FLOORS, out);
    let mut floors = Vec::new();
    for (rule, floor) in FLOOR_RULES.into_iter().zip(Floor::ALL) {
        let Some(child) = reader.child(rule.name, out) else { continue };
        let mut reader = Reader::new(child, rule, out);
        let tier =
            reader.argument(out).and_then(|value| value.literal(Kind::TIER, out)).and_then(tier);
        let because = reader.text(BECAUSE.name, out);
        reader.finish(out);
        floors.push(FloorChoice { floor, at: child.name.at, tier, because });
    }
    reader.finish(out);
    floors
}

fn tier(literal: Spanned<Literal<'_>>) -> Option<Spanned<Tier>> {
    Tier::decode(literal.value).map(|value| Spanned { value, at: literal.at })
}

fn path_rows(node: &Node, out: &mut Diagnostics) -> Vec<PathChoice> {
    empty::check(node, out);
    let mut reader = Reader::new(node, &PATHS, out);
    let mut rows = Vec::new();
    for child in reader.all_children() {
        let mut rules = PATH_RULES.into_iter().zip(PathKind::ALL);
        let Some((rule, kind)) = rules.find(|(rule, _)| rule.name == child.name.value) else {
            continue;
        };
        let mut reader = Reader::new(child, rule, out);
        let patterns = reader.texts(out);
        let mut except = Vec::new();
        for child in reader.children(EXCEPT.name) {
            let mut reader = Reader::new(child, &EXCEPT, out);
            except.extend(reader.texts(out));
            reader.finish(out);
        }
        reader.finish(out);
        rows.push(PathChoice { kind, at: child.name.at, patterns, except });
    }
    reader.finish(out);
    rows
}
