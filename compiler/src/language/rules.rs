//! `deny|approve|allow|tier|lower NAME { … }`: the rules of a policy, and their selectors.

use relay_bundle::{RuleKind, Selector};
use relay_policy::tier::Tier;

use super::shared::{BECAUSE, EXCEPT};
use crate::grammar::{Field, Kind, Literal, Rule};
use crate::shipped_policy::ShippedPolicy;
use crate::source::{Span, Spanned};

/// The argument of selectors: a list of values, any of which is meant.
pub(crate) const VALUES: &str = "a pattern";
/// The first argument of `arg`.
pub(crate) const ARGUMENT: &str = "an argument";
/// The tier of a `lower`.
pub(crate) const TO: Field = Field::property("to", Kind::TIER, "The highest tier.");
/// The ends of the tiers of a request.
pub(crate) const MIN: Field = Field::property("min", Kind::TIER, "The lowest tier that is meant.");
pub(crate) const MAX: Field = Field::property("max", Kind::TIER, "The highest tier that is meant.");
/// The name of a rule.
const NAME: Field = Field::argument(
    "a name",
    Kind::Name("name"),
    "What refusals, records and reviews call the rule; unique in a project.",
);
pub(crate) const TENANT: Field =
    Field::property("tenant", Kind::Name("text"), "Only for callers of this tenant.");
pub(crate) const ROLE: Field =
    Field::property("role", Kind::Name("text"), "Only for callers of this role.");
/// The regex of a rule without other selectors.
pub(crate) const REGEX: Field = Field::optional(
    "a regex",
    Kind::Regex,
    "Searched in the tool's name, a space and the text: `(regex)\"…\"`.",
);
pub(crate) const OBSERVE: Field = Field::property(
    "observe",
    Kind::Boolean,
    "Whether the rule is only recorded as one that would deny: for a roll-out.",
)
.or(Literal::Boolean(false));

/// Declares the selectors, each once: its rule, and its meaning.
macro_rules! selectors {
    ($($selector:ident $rule:ident($what:literal, $meaning:literal);)*) => {
        $(pub(crate) static $rule: Rule = Rule {
            name: Selector::$selector.word(),
            what: $what,
            meaning: $meaning,
            fields: &[Field::arguments(VALUES, Kind::Name("pattern"), "A value; any of several is meant.")],
            children: &[&EXCEPT],
            example: "",
        };)*

        /// The selectors with a list of values, each with its rule.
        pub(crate) const LISTS: &[(Selector, &Rule)] = &[$((Selector::$selector, &$rule)),*];
    };
}

selectors! {
    Program PROGRAM("`program`", "A program, by any of its names, through wrappers such as `sudo`, and by its path.");
    Sub SUB("`sub`", "A sub-command: `push`, `\"system prune\"`.");
    Flags FLAGS("`flags`", "An option, in any spelling: bundled, shortened, with a value after `=`.");
    Operands OPERANDS("`operands`", "An operand: any in a rule that restricts, all in a rule that permits.");
    Words WORDS("`words`", "A command as it is written: `\"git push *\"`, where `*` is any text. Certain only in a text that is a list of commands and nothing more, without a variable, redirection, substitution or escape; a rule that restricts also holds for other quotes and blanks, and any folder of the program.");
    Reads READS("`reads`", "A path that is read: a pattern of paths, or a class: `secret`, `critical`, `admits`, `scratch`, `device`, `agent-config`, or one of `paths`.");
    Writes WRITES("`writes`", "A path that is made, overwritten, emptied or added to.");
    Removes REMOVES("`removes`", "A path that is removed, emptied or moved away.");
    Changes CHANGES("`changes`", "A path whose mode, owner or attributes change.");
    Touches TOUCHES("`touches`", "A path that is read, written, removed or changed.");
    Connects CONNECTS("`connects`", "A host to which it connects, by any spelling of its address.");
    Sends SENDS("`sends`", "What it sends to another host: `secret`, `file`, `output` of another command, `body`, `data` of a kind that is not known, which may be any of these, or `*`.");
    Listens LISTENS("`listens`", "A port or address that it opens.");
    Runs RUNS("`runs`", "Code that the text does not show: `opaque` (a file), `remote` (from a network), `made` (by the text), or `*`.");
    Escalates ESCALATES("`escalates`", "A user whose rights it takes.");
    Tool TOOL("`tool`", "The name of the tool.");
    Host HOST("`host`", "A host on which it runs, other than the own one.");
    Client CLIENT("`client`", "The client of the caller.");
}

pub(crate) static ARG: Rule = Rule {
    name: Selector::Arg.word(),
    what: "`arg`",
    meaning: "An argument of the tool, by its name.",
    fields: &[
        Field::argument(ARGUMENT, Kind::Name("name"), "The name of the argument."),
        Field::arguments(VALUES, Kind::Text("text"), "A value; any of several is meant."),
    ],
    children: &[&EXCEPT],
    example: "",
};

pub(crate) static TIERS: Rule =
    Rule::leaf("tier", "`tier`", "The tier of the request.", &[MIN, MAX]);

pub(crate) static TEXT: Rule = Rule::leaf(
    Selector::Text.word(),
    "`text`",
    "A regex, searched in the tool's name, a space and the text. A rule that permits takes none.",
    &[Field::argument("a regex", Kind::Regex, "`(regex)\"…\"`")],
);

/// The selectors of a rule.
pub(crate) const SELECTORS: &[&Rule] = &[
    &PROGRAM, &SUB, &FLAGS, &OPERANDS, &WORDS, &READS, &WRITES, &REMOVES, &CHANGES, &TOUCHES,
    &CONNECTS, &SENDS, &LISTENS, &RUNS, &ESCALATES, &TOOL, &ARG, &HOST, &CLIENT, &TIERS, &TEXT,
];

pub(crate) static EXCEPTION: Rule = Rule {
    name: "except",
    what: "an exception",
    meaning: "What the rule does not mean: selectors, which hold together.",
    fields: &[],
    children: SELECTORS,
    example: "",
};

pub(crate) static MATCH: Rule = Rule::leaf(
    "match",
    "`match`",
    "Texts that the rule means; every build tries them.",
    &[Field::joined("a text", Kind::Name("text"), "A text for a shell.")],
);

pub(crate) static NO_MATCH: Rule = Rule::leaf(
    "no-match",
    "`no-match`",
    "Texts that the rule does not mean; every build tries them.",
    &[Field::joined("a text", Kind::Name("text"), "A text for a shell.")],
);

/// The nodes of a rule.
const PARTS: &[&Rule] = &[
    &PROGRAM, &SUB, &FLAGS, &OPERANDS, &WORDS, &READS, &WRITES, &REMOVES, &CHANGES, &TOUCHES,
    &CONNECTS, &SENDS, &LISTENS, &RUNS, &ESCALATES, &TOOL, &ARG, &HOST, &CLIENT, &TIERS, &TEXT,
    &EXCEPTION, &MATCH, &NO_MATCH,
];

const fn rule(
    kind: RuleKind,
    what: &'static str,
    meaning: &'static str,
    fields: &'static [Field],
) -> Rule {
    Rule { name: kind.word(), what, meaning, fields, children: PARTS, example: "" }
}

pub(crate) static DENY: Rule = rule(
    RuleKind::Deny,
    "a `deny`",
    "Denies every request that it may mean: what is not known counts. Its selectors hold together.",
    &[NAME, REGEX, TENANT, ROLE, OBSERVE, BECAUSE],
);
pub(crate) static APPROVE: Rule = rule(
    RuleKind::Approve,
    "an `approve`",
    "Asks a person before a request that it may mean. Until someone can be asked, that is a refusal.",
    &[NAME, TENANT, ROLE, TTL, BECAUSE],
);
pub(crate) static ALLOW: Rule = rule(
    RuleKind::Allow,
    "an `allow`",
    "Allows what the mode would refuse: the parts of a request that it certainly means, and that it names or fixes.",
    &[NAME, TENANT, ROLE, BECAUSE],
);
pub(crate) static TIER: Rule = rule(
    RuleKind::Tier,
    "a `tier`",
    "Raises the tier of a text that it may mean.",
    &[NAME, Field::argument("a tier", Kind::TIER, "The least tier."), BECAUSE],
);
pub(crate) static LOWER: Rule = rule(
    RuleKind::Lower,
    "a `lower`",
    "Lowers the tier of what it certainly means. It needs a `because`.",
    &[NAME, TO, BECAUSE],
);

pub(crate) const TTL: Field = Field::property(
    "ttl",
    Kind::duration(1, 3600),
    "How long an approval counts; without it, once.",
);

/// The rules of a policy and of a scope.
pub(crate) const RULES: &[&Rule] = &[&DENY, &APPROVE, &ALLOW, &TIER, &LOWER];

/// A rule of a policy, as written and as resolved.
#[derive(Debug, Clone)]
pub(crate) struct PolicyRule {
    pub(crate) rule: &'static Rule,
    pub(crate) at: Span,
    pub(crate) name: Spanned<String>,
    /// The tier of `tier` and `lower`.
    pub(crate) tier: Option<Spanned<Tier>>,
    pub(crate) observe: Option<Spanned<bool>>,
    /// The seconds for which an approval counts.
    pub(crate) ttl_s: Option<Spanned<u32>>,
    pub(crate) tenant: Option<Spanned<String>>,
    pub(crate) role: Option<Spanned<String>>,
    pub(crate) because: Option<Spanned<String>>,
    /// Its conditions, those of its exceptions after its own.
    pub(crate) conditions: Vec<PolicyCondition>,
    pub(crate) matches: Vec<Spanned<String>>,
    pub(crate) no_matches: Vec<Spanned<String>>,
    /// The number of the scope around it.
    pub(crate) scope: Option<usize>,
    /// The shipped policy that it comes from.
    pub(crate) origin: Option<ShippedPolicy>,
}

/// A condition of a rule.
#[derive(Debug, Clone)]
pub(crate) struct PolicyCondition {
    /// 0 for the rule itself, and 1 or more for an exception of it.
    pub(crate) group: u8,
    pub(crate) selector: Selector,
    pub(crate) at: Span,
    /// The name of an argument.
    pub(crate) argument: Option<Spanned<String>>,
    pub(crate) values: Vec<Spanned<String>>,
    pub(crate) except: Vec<Spanned<String>>,
}

impl PolicyRule {
    /// Returns its consequence.
    pub(crate) fn kind(&self) -> RuleKind {
        let mut kinds = RuleKind::ALL.iter().copied();
        // INVARIANT: each rule has the word of a kind.
        kinds.find(|kind| kind.word() == self.rule.name).unwrap_or(RuleKind::Deny)
    }

    /// Returns all of its texts, for callers that search or count them.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Spanned<String>> {
        let Self {
            rule: _,
            at: _,
            name,
            tier: _,
            observe: _,
            ttl_s: _,
            tenant,
            role,
            because,
            conditions,
            matches,
            no_matches,
            scope: _,
            origin: _,
        } = self;
        let conditions = conditions.iter().flat_map(|condition| {
            condition.argument.iter().chain(&condition.values).chain(&condition.except)
        });
        let about = std::iter::once(name).chain(tenant).chain(role).chain(because);
        about.chain(conditions).chain(matches).chain(no_matches)
    }
}
