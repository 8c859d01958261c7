//! `policy { floors { … }; paths { … } }`: how commands are judged.

use super::shared::BECAUSE;
use crate::grammar::{Field, Kind, Rule};

pub(crate) static POLICY: Rule = Rule {
    name: "policy",
    what: "a policy",
    meaning: "How commands are judged. With it the bundle carries the facts about programs. A text has one tier, so it is the same in every environment.",
    fields: &[],
    children: &[&FLOORS, &PATHS],
    example: include_str!("../reference/policy.kdl"),
};

pub(crate) static FLOORS: Rule = Rule {
    name: "floors",
    what: "floors",
    meaning: "The tiers of what is not known. One that is lower than its default needs a `because`.",
    fields: &[],
    children: &[&UNKNOWN_PROGRAM, &UNKNOWN_FLAG, &UNKNOWN_WORD, &OPAQUE_CODE, &UNPARSED],
    example: "",
};

pub(crate) const FLOOR_FIELDS: &[Field] =
    &[Field::argument("a tier", Kind::TIER, "Its tier."), BECAUSE];

const fn floor(name: &'static str, meaning: &'static str) -> Rule {
    Rule::leaf(name, "a floor", meaning, FLOOR_FIELDS)
}

pub(crate) static UNKNOWN_PROGRAM: Rule =
    floor("unknown-program", "No fact describes the program or sub-command; 2 if not written.");
pub(crate) static UNKNOWN_FLAG: Rule =
    floor("unknown-flag", "No fact declares the option or operand; 2 if not written.");
pub(crate) static UNKNOWN_WORD: Rule =
    floor("unknown-word", "The name of a program, or code, is not literal; 3 if not written.");
pub(crate) static OPAQUE_CODE: Rule =
    floor("opaque-code", "Code that the text does not show; 2 if not written.");
pub(crate) static UNPARSED: Rule =
    floor("unparsed", "The text does not parse, or is too large or too deep; 3 if not written.");

/// The rules of floors, in the order of `Floor`.
pub(crate) static FLOOR_RULES: [&Rule; 5] =
    [&UNKNOWN_PROGRAM, &UNKNOWN_FLAG, &UNKNOWN_WORD, &OPAQUE_CODE, &UNPARSED];

pub(crate) static PATHS: Rule = Rule {
    name: "paths",
    what: "paths",
    meaning: "What certain paths are, beside what is known of every host. A pattern begins with `/`, `~/`, `./` (the work tree) or `**/` (anywhere); `*` stands for letters within a part, `**` for any parts. `critical` wins over `admits`, and both over `scratch`.",
    fields: &[],
    children: &[&SCRATCH, &CRITICAL, &ADMITS, &SECRET],
    example: "",
};

pub(crate) static SCRATCH: Rule = paths(
    "scratch",
    "They are for temporary files: writing there is tier 1. Files that run or admit, devices and what a host cannot do without stay what they are.",
);
const PATTERNS: &[Field] = &[Field::arguments("a pattern", Kind::Text("pattern"), "A pattern.")];

const EXCEPTS: &[&Rule] = &[&EXCEPT];
pub(crate) static EXCEPT: Rule =
    Rule::leaf("except", "except", "Those that are not meant.", PATTERNS);

const fn paths(name: &'static str, meaning: &'static str) -> Rule {
    Rule { name, what: "a row of paths", meaning, fields: PATTERNS, children: EXCEPTS, example: "" }
}

pub(crate) static CRITICAL: Rule =
    paths("critical", "A host cannot do without them: writing them is tier 3.");
pub(crate) static ADMITS: Rule =
    paths("admits", "They are run, or admit someone: writing them is tier 2.");
pub(crate) static SECRET: Rule =
    paths("secret", "They hold secrets: sending them over a network is tier 3.");

/// The rules of paths, in the order of `PathKind`.
pub(crate) static PATH_RULES: [&Rule; 4] = [&SCRATCH, &CRITICAL, &ADMITS, &SECRET];
