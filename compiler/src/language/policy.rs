//! `policy MODE { floors { … }; paths { … }; RULES; scope { … } }`: what callers may do.

use relay_bundle::{Mode, PathKind};
use relay_policy::tier::{Floor, Floors, Tier};

use super::limits::{LIMITS, LimitSettings};
use super::rules::{ALLOW, APPROVE, DENY, LOWER, PolicyRule, TIER as RAISE};
use super::shared::{BECAUSE, EXCEPT};
use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::{Entry, Setting, Settings, settings};
use crate::shipped_policy::ShippedPolicy;
use crate::source::{Span, Spanned};

pub(crate) static POLICY: Rule = Rule {
    name: "policy",
    what: "a policy",
    meaning: "What callers may do: a mode, and rules over programs, effects and tools. With it the bundle carries the facts about programs. A text has one tier, so floors, paths and the rules that raise or lower are the same in every environment.",
    fields: &[MODE, USE],
    children: &[&LIMITS, &FLOORS, &PATHS, &DROP, &DENY, &APPROVE, &ALLOW, &RAISE, &LOWER, &SCOPE],
    example: include_str!("../reference/policy.kdl"),
};

words!(Mode {
    "open" = Mode::Open,
    "guarded" = Mode::Guarded,
    "readonly" = Mode::Readonly,
});

/// The mode of a policy.
const MODE: Field = Field::optional(
    "a mode",
    Kind::Words(Mode::WORDS),
    "`open` permits every tier that no rule denies, `guarded` refuses tier 2 and 3 unless a rule allows all of it, `readonly` permits tier 0 alone.",
)
.or(Literal::Word(Mode::Guarded.word()));

/// The shipped policy that this one starts from.
const USE: Field = Field::property(
    "use",
    Kind::Words(ShippedPolicy::WORDS),
    "Starts from a shipped policy: its mode, paths and rules hold, unless this one writes its own mode, a floor, or a rule of the same name. `relay show` prints all of it.",
);

/// A rule of the shipped policy that a project does without.
pub(crate) static DROP: Rule = Rule::leaf(
    "drop",
    "`drop`",
    "Leaves out a rule of the policy that `use=` names.",
    &[Field::argument("a name", Kind::Name("name"), "The name of the rule."), BECAUSE],
);

/// The mode of a scope.
pub(crate) static SCOPE_MODE: Rule = Rule::leaf(
    "mode",
    "`mode`",
    "The mode for the callers and hosts of the scope.",
    &[
        Field::argument("a mode", Kind::Words(Mode::WORDS), "`open`, `guarded` or `readonly`."),
        Field::property(
            WIDEN,
            Kind::Boolean,
            "`#true` if the mode is wider than the one around it.",
        )
        .or(Literal::Boolean(false)),
    ],
);

pub(crate) static SCOPE: Rule = Rule {
    name: "scope",
    what: "a scope",
    meaning: "Rules and a mode for some callers and hosts. A scope in it narrows it, and holds no other scope.",
    fields: SCOPED,
    children: &[&SCOPE_MODE, &DENY, &APPROVE, &ALLOW, &INNER_SCOPE],
    example: "",
};

/// A scope in a scope. It takes a tenant, a role and a host, so a deeper one would say nothing more.
pub(crate) static INNER_SCOPE: Rule = Rule {
    name: SCOPE.name,
    what: "a scope in a scope",
    meaning: "The same, for some of the callers and hosts of the scope around it.",
    fields: SCOPED,
    children: &[&SCOPE_MODE, &DENY, &APPROVE, &ALLOW],
    example: "",
};

/// The callers and hosts of a scope.
const SCOPED: &[Field] = &[
    Field::property(TENANT, Kind::Name("text"), "Only for callers of this tenant."),
    Field::property(ROLE, Kind::Name("text"), "Only for callers of this role."),
    Field::property(
        HOST,
        Kind::Name("pattern"),
        "Only on hosts of this pattern; a request on the own host has none.",
    ),
];

/// The rules that a scope may hold: a text has one tier, so it holds none that raise or lower.
pub(crate) const SCOPE_RULES: &[&Rule] = &[&DENY, &APPROVE, &ALLOW];

settings! {
    /// The settings of a policy.
    struct PolicySettings {}
    POLICY {
        mode: Setting<Mode> = "a mode",
        starts_from: Option<Spanned<ShippedPolicy>> = "use",
    }
}

settings! {
    /// The mode of a scope.
    struct ModeSettings {}
    SCOPE_MODE {
        mode: Option<Spanned<Mode>> = "a mode",
        widen: Setting<bool> = WIDEN,
    }
}

/// The property of a mode that is wider than the one around it.
pub(crate) const WIDEN: &str = "widen";
/// The properties of a scope.
pub(crate) const TENANT: &str = "tenant";
pub(crate) const ROLE: &str = "role";
pub(crate) const HOST: &str = "host";

/// A scope, as written and as resolved.
#[derive(Debug, Clone)]
pub(crate) struct PolicyScope {
    pub(crate) at: Span,
    pub(crate) tenant: Option<Spanned<String>>,
    pub(crate) role: Option<Spanned<String>>,
    pub(crate) host: Option<Spanned<String>>,
    /// Its mode; absent for that around it.
    pub(crate) mode: Option<Spanned<Mode>>,
    /// Whether the mode may be wider than the one around it.
    pub(crate) widens: bool,
    /// The number of the scope around it, which comes first.
    pub(crate) parent: Option<usize>,
}

/// The policy, as written and as resolved.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) at: Span,
    pub(crate) settings: PolicySettings,
    /// The names of the rules of a shipped policy that it leaves out.
    pub(crate) drops: Vec<Spanned<String>>,
    /// Its rules, in the order of the text; those of a shipped policy come first.
    pub(crate) rules: Vec<PolicyRule>,
    /// Its scopes, each after the one around it.
    pub(crate) scopes: Vec<PolicyScope>,
    /// The rows of its `paths` that name a class.
    pub(crate) classes: Vec<Entry<ClassSettings>>,
    /// The limits of tools that start processes.
    pub(crate) limits: LimitSettings,
    /// The tiers of doubts.
    pub(crate) floors: Floors<FloorSetting>,
    /// The rows of its `paths`.
    pub(crate) paths: Vec<Entry<PathSettings>>,
    /// Whether it judges texts as the shipped policy that it starts from: with the same floors, paths and
    /// rules that change tiers.
    pub(crate) judges_as_shipped: bool,
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

impl PolicyScope {
    /// Returns its properties, each with its name.
    pub(crate) fn properties(&self) -> [(&'static str, &Option<Spanned<String>>); 3] {
        [(TENANT, &self.tenant), (ROLE, &self.role), (HOST, &self.host)]
    }
}

impl Policy {
    /// Returns all of its nodes, for callers that go by rows: `relay show`, the search for secrets.
    pub(crate) fn nodes(&self) -> Vec<PolicyNode<'_>> {
        // Rules, scopes and classes are shown by their own rows.
        let Self {
            at: _,
            settings: _,
            drops: _,
            rules: _,
            scopes: _,
            classes: _,
            limits,
            floors,
            paths,
            judges_as_shipped: _,
        } = self;
        let limits = PolicyNode { block: &POLICY, rule: &LIMITS, at: limits.at, settings: limits };
        let floors = floors.iter().map(|(floor, setting)| PolicyNode {
            block: &FLOORS,
            rule: floor_rule(floor),
            at: setting.at,
            settings: setting,
        });
        [limits].into_iter().chain(floors).chain(entries(&PATHS, paths)).collect()
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
    children: &[
        &UNKNOWN_PROGRAM,
        &UNKNOWN_FLAG,
        &UNKNOWN_WORD,
        &OPAQUE_CODE,
        &UNPARSED,
        &UNKNOWN_TOOL,
    ],
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
floor!(UNKNOWN_TOOL, Floor::UnknownTool, "No project declares the effects of the tool.");

/// Returns the rule of a floor.
pub(crate) fn floor_rule(floor: Floor) -> &'static Rule {
    match floor {
        Floor::UnknownProgram => &UNKNOWN_PROGRAM,
        Floor::UnknownFlag => &UNKNOWN_FLAG,
        Floor::UnknownWord => &UNKNOWN_WORD,
        Floor::OpaqueCode => &OPAQUE_CODE,
        Floor::Unparsed => &UNPARSED,
        Floor::UnknownTool => &UNKNOWN_TOOL,
    }
}

settings! {
    /// The tier of a doubt.
    struct FloorSetting {
        /// The node, if one is written.
        at: Option<Span>,
    }
    UNKNOWN_PROGRAM | UNKNOWN_FLAG | UNKNOWN_WORD | OPAQUE_CODE | UNPARSED | UNKNOWN_TOOL {
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
    children: &[&SCRATCH, &CRITICAL, &ADMITS, &SECRET, &CLASS],
    example: "",
};

const PATTERNS: &[Field] = &[Field::arguments("a pattern", Kind::Name("pattern"), "A pattern.")];

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

/// A class of paths with a name of the project's own.
pub(crate) static CLASS: Rule = Rule {
    name: "class",
    what: "a class of paths",
    meaning: "Paths with a name, for the rules: `class databases \"/var/lib/postgresql/**\"`. It changes no tier.",
    fields: &[
        Field::argument("a name", Kind::Name("name"), "What rules call it."),
        Field::arguments("a pattern", Kind::Name("pattern"), "A pattern."),
    ],
    children: EXCEPTS,
    example: "",
};

settings! {
    /// The settings of a class of paths.
    struct ClassSettings {}
    CLASS {
        name: Option<Spanned<String>> = "a name",
        patterns: Option<Vec<Spanned<String>>> = "a pattern",
    }
    EXCEPT {
        except: Option<Vec<Spanned<String>>> = "a pattern",
    }
}

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
