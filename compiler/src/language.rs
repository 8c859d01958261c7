//! The language of projects, as tables: the rule of each node, with a row for each value on it.
//!
//! These tables are the one list of nodes for the parser, the patches of a `when`, `relay show`,
//! and `docs/language.md`. They only declare: other modules read and judge.

pub(crate) mod argument;
pub(crate) mod expect;
pub(crate) mod facts;
pub(crate) mod gate;
pub(crate) mod hosts;
pub(crate) mod include;
pub(crate) mod limits;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod policy;
pub(crate) mod project;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod readers;
pub(crate) mod resource;
pub(crate) mod roles;
pub(crate) mod rules;
pub(crate) mod shared;
pub(crate) mod skills;
pub(crate) mod tenants;
pub(crate) mod tools;
pub(crate) mod users;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::grammar::{Field, Form, Kind, Rule};

/// Lists the nodes at the top of a document; a `when` may hold those that are `patched`.
macro_rules! top {
    ($($top:ident $kind:ident $module:ident::$rule:ident,)*) => {
        /// A node at the top of a document.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Top {
            $($top,)*
            When,
        }

        impl Top {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$top,)* Self::When];

            /// Returns its rule.
            pub(crate) fn rule(self) -> &'static Rule {
                match self {
                    $(Self::$top => &$module::$rule,)*
                    Self::When => &WHEN,
                }
            }
        }

        /// The rules of the nodes at the top of a document.
        pub(crate) static TOP: &[&Rule] = &[$(&$module::$rule,)* &WHEN];

        top!(@patched [] $($kind $module::$rule,)*);
    };
    (@patched [$($patched:expr,)*] patched $module:ident::$rule:ident, $($rest:tt)*) => {
        top!(@patched [$($patched,)* &$module::$rule,] $($rest)*);
    };
    (@patched [$($patched:expr,)*] fixed $module:ident::$rule:ident, $($rest:tt)*) => {
        top!(@patched [$($patched,)*] $($rest)*);
    };
    (@patched [$($patched:expr,)*]) => {
        /// The nodes of a `when`.
        static PATCHED: &[&Rule] = &[$($patched),*];
    };
}

top! {
    Project fixed project::PROJECT,
    Include fixed include::INCLUDE,
    Tenants patched tenants::TENANTS,
    Roles patched roles::ROLES,
    Users patched users::USERS,
    Gate patched gate::GATE,
    Hosts patched hosts::HOSTS,
    Tools patched tools::TOOLS,
    Policy patched policy::POLICY,
    Facts fixed facts::FACTS,
    Prompts patched prompts::PROMPTS,
    Messages patched messages::MESSAGES,
    Resources patched resource::RESOURCES,
    Skills patched skills::SKILLS,
    Expect patched expect::EXPECT,
}

impl Top {
    /// Returns the node with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|top| top.rule().name == name)
    }
}

/// It may hold every node with named nodes in it, and the nodes that a project has once.
pub(crate) static WHEN: Rule = Rule {
    name: "when",
    what: "a when",
    meaning: "A patch for one environment, `--env NAME`: a node changes what it says of the node of its kind and name, and everything else stays. A body (`file=`, `text` or `message`s) is one unit, `arg`s, `allow-secret`s and `allow-invisible`s go by their name, and a list is replaced. A name that the project does not have is an error, unless `new=#true` adds it.",
    fields: &[Field::argument("an environment", Kind::Name("text"), "The environment's name.")],
    children: PATCHED,
    example: include_str!("reference/when.kdl"),
};

/// Nodes of later versions of the language, with their purpose.
pub(crate) const RESERVED: &[(&str, &str)] = &[("servers", "upstream servers")];

/// Returns whether a node takes a text of several words after `taken` other values.
///
/// The names of nodes are texts too, but no one writes several words of them without quotes.
pub(crate) fn takes_text(node: &str, taken: usize) -> bool {
    TEXTS.arguments.get(node).is_some_and(|places| places.contains(&taken))
}

/// Returns whether a property of any node takes a text of several words.
pub(crate) fn is_text_property(name: &str) -> bool {
    TEXTS.properties.contains(name)
}

/// The places of texts of several words in all rules. The parser asks at each value.
static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    let mut texts = Texts::default();
    texts.add(TOP);
    texts
});

#[derive(Default)]
struct Texts {
    /// The numbers of the arguments, by the name of the node.
    arguments: BTreeMap<&'static str, BTreeSet<usize>>,
    properties: BTreeSet<&'static str>,
}

impl Texts {
    fn add(&mut self, rules: &[&'static Rule]) {
        for rule in rules {
            let is_named = rule.property(shared::NEW.name).is_some();
            for taken in 0..rule.fields.len() {
                let is_text = rule.argument(taken).is_some_and(|field| {
                    field.kind == Kind::Text("text")
                        && matches!(field.form, Form::Argument | Form::Optional)
                });
                if is_text && !(is_named && taken == 0) {
                    self.arguments.entry(rule.name).or_default().insert(taken);
                }
            }
            for field in rule.fields {
                if is_text_node(field) {
                    self.arguments.entry(field.name).or_default().insert(0);
                }
                let is_text = is_text_node(field) || field.name == shared::BECAUSE.name;
                if field.is_property() && is_text {
                    self.properties.insert(field.name);
                }
            }
            self.add(rule.children);
        }
    }
}

/// Returns the rule of the node that these names lead to from the top of a document; `None` for a name is an unreadable
/// one.
pub(crate) fn rule_at<'n>(
    mut names: impl Iterator<Item = Option<&'n str>>,
) -> Option<&'static Rule> {
    let top = Top::of(names.next()??)?.rule();
    names.try_fold(top, |rule, name| child(rule, name?))
}

/// Returns the rule of the node called `name` in one of `rule`; a text that may be a node has the rule of `text`.
pub(crate) fn child(rule: &Rule, name: &str) -> Option<&'static Rule> {
    let child = rule.children.iter().copied().find(|child| child.name == name);
    child.or_else(|| rule.field(name).filter(|field| is_text_node(field)).map(|_| &shared::TEXT))
}

/// Returns whether a node has this word.
pub(crate) fn is_node(name: &str) -> bool {
    any_rule(TOP, &|rule| rule.name == name)
}

/// Returns whether a node of this word has nodes in its braces.
pub(crate) fn has_children(name: &str) -> bool {
    any_rule(TOP, &|rule| rule.name == name && !rule.children.is_empty())
}

/// Returns whether any node has a property of this name.
pub(crate) fn is_property(name: &str) -> bool {
    any_rule(TOP, &|rule| rule.property(name).is_some_and(|field| !field.meaning.is_empty()))
}

/// Returns whether a row is a text that may also be a node of its own.
fn is_text_node(field: &Field) -> bool {
    matches!(field.form, Form::Either | Form::Line)
}

fn any_rule(rules: &[&'static Rule], holds: &impl Fn(&Rule) -> bool) -> bool {
    rules.iter().any(|rule| holds(rule) || any_rule(rule.children, holds))
}
