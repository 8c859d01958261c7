//! The language of projects, as tables: the rule of each node, with a row for each value on it.
//!
//! Everything that asks which nodes there are goes by these tables: the parser, the patches of a
//! `when`, `relay show`, and `docs/language.md`. Nothing is read or judged here.

pub(crate) mod argument;
pub(crate) mod expect;
pub(crate) mod facts;
pub(crate) mod gate;
pub(crate) mod include;
pub(crate) mod message;
pub(crate) mod messages;
pub(crate) mod policy;
pub(crate) mod project;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod readers;
pub(crate) mod resource;
pub(crate) mod roles;
pub(crate) mod shared;
pub(crate) mod skills;
pub(crate) mod tenants;
pub(crate) mod tools;
pub(crate) mod users;

use crate::grammar::{Field, Kind, Rule};

/// Lists the nodes at the top of a document; a `when` may hold those that are `patched`.
macro_rules! top {
    ($($(patched $patched:ident::$patched_rule:ident)? $(fixed $fixed:ident::$fixed_rule:ident)?,)*) => {
        /// The nodes at the top of a document.
        pub(crate) static TOP: &[&Rule] =
            &[$($(&$patched::$patched_rule,)? $(&$fixed::$fixed_rule,)?)* &WHEN];
        /// The nodes of a `when`.
        static PATCHED: &[&Rule] = &[$($(&$patched::$patched_rule,)?)*];
    };
}

top! {
    fixed project::PROJECT,
    fixed include::INCLUDE,
    patched tenants::TENANTS,
    patched roles::ROLES,
    patched users::USERS,
    patched gate::GATE,
    patched tools::TOOLS,
    fixed policy::POLICY,
    fixed facts::FACTS,
    patched prompts::PROMPTS,
    patched messages::MESSAGES,
    patched resource::RESOURCES,
    patched skills::SKILLS,
    patched expect::EXPECT,
}

/// It may hold everything that has named nodes in it, and what a project has once.
pub(crate) static WHEN: Rule = Rule {
    name: "when",
    what: "a when",
    meaning: "A patch for one environment, `--env NAME`: a node changes what it says of the node of its kind and name, and everything else stays. A body (`file=`, `text` or `message`s) is one unit, `arg`s and `allow-secret`s go by their name, and a list is replaced. A name that the project does not have is an error, unless `new=#true` adds it.",
    fields: &[Field::argument("an environment", Kind::Text("text"), "The environment's name.")],
    children: PATCHED,
    example: include_str!("reference/when.kdl"),
};

/// Nodes that later versions of the language have, with what they are for.
pub(crate) const RESERVED: &[(&str, &str)] = &[
    ("allow", "rules of a policy"),
    ("approve", "rules of a policy"),
    ("deny", "rules of a policy"),
    ("hosts", "the inventory of hosts"),
    ("limits", "limits of a policy"),
    ("lower", "rules of a policy"),
    ("scope", "parts of a policy"),
    ("servers", "upstream servers"),
    ("sessions", "tools for terminal sessions"),
    ("shell", "tools that run commands"),
    ("ssh", "tools that reach hosts"),
];
