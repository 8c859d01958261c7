//! `policy { floors { … }; paths { … } }`: the rules for commands.

use relay_bundle::PathKind;
use relay_policy::tier::{Floor, Floors, Tier};

use super::shared::BECAUSE;
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::{Entry, Setting, Settings, settings};
use crate::source::{Span, Spanned};

pub(crate) static POLICY: Rule = Rule {
    name: "policy",
    what: "a policy",
    meaning: "How commands are judged. With it the bundle carries the facts about programs. A text has one tier, so it is the same in every environment.",
    fields: &[],
    children: &[&FLOORS, &PATHS],
    example: include_str!("../reference/policy.kdl"),
};

/// The policy, as written and as resolved.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) at: Span,
    /// The tiers of doubts.
    pub(crate) floors: Floors<FloorSetting>,
    /// The rows of its `paths`.
    pub(crate) paths: Vec<Entry<PathSettings>>,
}

/// A node of the policy.
pub(crate) struct PolicyNode<'p> {
    /// The node around it: the policy, or a block of it.
    pub(crate) block: &'static Rule,
    pub(crate) rule: &'static Rule,
    /// Its place; absent for a default.
    pub(crate) at: Option<Span>,
    pub(crate) settings: &'p dyn Settings,
}

impl Policy {
    /// Returns all of its nodes, for callers that go by rows: `relay show`, the search for secrets.
    pub(crate) fn nodes(&self) -> Vec<PolicyNode<'_>> {
        let Self { at: _, floors, paths } = self;
        let floors = floors.iter().map(|(floor, setting)| PolicyNode {
            block: &FLOORS,
            rule: floor_rule(floor),
            at: setting.at,
            settings: setting,
        });
        floors.chain(entries(&PATHS, paths)).collect()
    }
}

fn entries<'p, T: Settings>(
    block: &'static Rule,
    entries: &'p [Entry<T>],
) -> impl Iterator<Item = PolicyNode<'p>> {
    entries.iter().map(move |Entry { rule, at, settings }| PolicyNode {
        block,
        rule,
        at: Some(*at),
        settings,
    })
}

pub(crate) static FLOORS: Rule = Rule {
    name: "floors",
    what: "floors",
    meaning: "The tiers of what is not known. One that is lower than its default needs a `because`.",
    fields: &[],
    children: &[&UNKNOWN_PROGRAM, &UNKNOWN_FLAG, &UNKNOWN_WORD, &OPAQUE_CODE, &UNPARSED],
    example: "",
};

/// The name of the argument of a floor.
const TIER: &str = "a tier";

/// Declares the rule of a floor, which has its word and its default.
macro_rules! floor {
    ($rule:ident, $floor:expr, $meaning:literal) => {
        pub(crate) static $rule: Rule = Rule::leaf(
            $floor.name(),
            "a floor",
            $meaning,
            &[
                Field::argument(TIER, Kind::TIER, "")
                    .or(Literal::Number($floor.default_tier() as u64)),
                BECAUSE,
            ],
        );
    };
}

floor!(UNKNOWN_PROGRAM, Floor::UnknownProgram, "No fact describes the program or sub-command.");
floor!(UNKNOWN_FLAG, Floor::UnknownFlag, "No fact declares the option or operand.");
floor!(UNKNOWN_WORD, Floor::UnknownWord, "The name of a program, or code, is not literal.");
floor!(OPAQUE_CODE, Floor::OpaqueCode, "Code that the text does not show.");
floor!(UNPARSED, Floor::Unparsed, "The text does not parse, or is too large or too deep.");

/// Returns the rule of a floor.
pub(crate) fn floor_rule(floor: Floor) -> &'static Rule {
    match floor {
        Floor::UnknownProgram => &UNKNOWN_PROGRAM,
        Floor::UnknownFlag => &UNKNOWN_FLAG,
        Floor::UnknownWord => &UNKNOWN_WORD,
        Floor::OpaqueCode => &OPAQUE_CODE,
        Floor::Unparsed => &UNPARSED,
    }
}

settings! {
    /// The tier of a doubt.
    struct FloorSetting {
        /// The node, if one is written.
        at: Option<Span>,
    }
    UNKNOWN_PROGRAM | UNKNOWN_FLAG | UNKNOWN_WORD | OPAQUE_CODE | UNPARSED {
        tier: Setting<Tier> = TIER,
        /// The reason of a tier that is lower than its default.
        because: Option<Spanned<String>> = BECAUSE.name,
    }
}

pub(crate) static PATHS: Rule = Rule {
    name: "paths",
    what: "paths",
    meaning: "What certain paths are, beside what is known of every host. A pattern begins with `/`, `~/`, `./` (the work tree) or `**/` (anywhere); `*` matches letters within a part, `**` any parts. `critical` wins over `admits`, and both over `scratch`.",
    fields: &[],
    children: &[&SCRATCH, &CRITICAL, &ADMITS, &SECRET],
    example: "",
};

const PATTERNS: &[Field] = &[Field::arguments("a pattern", Kind::Name("pattern"), "A pattern.")];

pub(crate) static EXCEPT: Rule = Rule::leaf(
    "except",
    "except",
    "Those that are not meant.",
    &[Field::joined("a pattern", Kind::Name("pattern"), "A pattern.")],
);

const EXCEPTS: &[&Rule] = &[&EXCEPT];

const fn paths(kind: PathKind, meaning: &'static str) -> Rule {
    Rule {
        name: kind.word(),
        what: "a row of paths",
        meaning,
        fields: PATTERNS,
        children: EXCEPTS,
        example: "",
    }
}

pub(crate) static SCRATCH: Rule = paths(
    PathKind::Scratch,
    "They are for temporary files: writing there is tier 1. Files that run or admit, devices and what a host cannot do without stay what they are.",
);
pub(crate) static CRITICAL: Rule =
    paths(PathKind::Critical, "A host cannot do without them: writing them is tier 3.");
pub(crate) static ADMITS: Rule =
    paths(PathKind::Admits, "They are run, or admit someone: writing them is tier 2.");
pub(crate) static SECRET: Rule =
    paths(PathKind::Secret, "They hold secrets: sending them over a network is tier 3.");

settings! {
    /// The settings of a row of `paths`: its patterns and their exceptions.
    struct PathSettings {}
    SCRATCH | CRITICAL | ADMITS | SECRET {
        patterns: Option<Vec<Spanned<String>>> = "a pattern",
    }
    EXCEPT {
        except: Option<Vec<Spanned<String>>> = "a pattern",
    }
}

impl Entry<PathSettings> {
    /// Returns the kind of its paths.
    pub(crate) fn kind(&self) -> PathKind {
        let mut kinds = PathKind::ALL.into_iter();
        // INVARIANT: each rule of paths has the word of a kind.
        kinds.find(|kind| kind.word() == self.rule.name).unwrap_or(PathKind::Critical)
    }
}
