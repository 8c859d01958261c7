//! `hosts { groups …; host ALIAS … }`: the other hosts that a server of the project reaches.

use relay_bundle::{KnownHosts, Outside};

use super::shared::NEW;
use crate::grammar::{Field, Kind, Literal, Rule, Scalar, words};
use crate::setting::{Setting, settings};
use crate::source::Spanned;

pub(crate) static HOSTS: Rule = Rule {
    name: "hosts",
    what: "hosts",
    meaning: "The other hosts that the project knows. Rules, scopes and `expect` select a host by its alias, by its groups or by its address, and mean it by each of these. A project has one such node.",
    fields: &[
        Field::property(
            "known-hosts",
            CHECK,
            "The check of host keys: `strict` trusts known keys alone, `accept-new` also the first key of a host that has none yet, `ignore` any.",
        )
        .or(Literal::Word(KnownHosts::Strict.word())),
        Field::property(
            "outside",
            Kind::Words(Outside::WORDS),
            "The answer to a call about a host that is not listed: `refuse`, or `permit`, by which the policy decides.",
        )
        .or(Literal::Word(Outside::Refuse.word())),
        Field::property(
            "weaken",
            Kind::Boolean,
            "Whether a call may ask for a weaker check of host keys than its host has.",
        )
        .or(Literal::Boolean(false)),
    ],
    children: &[&GROUPS, &HOST],
    example: include_str!("../reference/hosts.kdl"),
};

/// The values of a check of host keys.
const CHECK: Kind = Kind::Words(KnownHosts::WORDS);
/// The property of the address.
pub(crate) const ADDRESS: &str = "address";
/// The argument of both `groups`.
const GROUP: &str = "a group";

/// The groups of the project.
pub(crate) static GROUPS: Rule = Rule::leaf(
    "groups",
    "groups of hosts",
    "The names of groups. Every group is declared here, so that a mistyped one is an error.",
    &[Field::joined(GROUP, Kind::Name("name"), "A name.")],
);

pub(crate) static HOST: Rule = Rule {
    name: "host",
    what: "a host",
    meaning: "A host, and how it is reached. A user or key that it leaves out is that of the server's own account, or of the call.",
    fields: &[
        Field::argument(
            "an alias",
            Kind::Name("name"),
            "The name that calls, rules and records use, in lower case.",
        ),
        Field::property(
            ADDRESS,
            Kind::Name("host"),
            "The name or address to connect to; without it, the alias.",
        ),
        Field::property("user", Kind::Name("name"), "The user to log in as."),
        Field::property("port", Kind::Number { low: 1, high: 65_535 }, "The port.")
            .or(Literal::Number(22)),
        Field::property("jump", Kind::Name("alias"), "The host through which it is reached."),
        Field::property(
            "key",
            Kind::File,
            "The file of the private key, on the server: `(file)\"/etc/relay/keys/core\"`. Without it, the keys that the server's user and agent have.",
        ),
        Field::property(
            "known-hosts",
            CHECK,
            "The check of its host key, if it is not that of `hosts`.",
        ),
        NEW,
    ],
    children: &[&MEMBER, &PIN],
    example: "",
};

/// The groups of a host.
pub(crate) static MEMBER: Rule = Rule::leaf(
    GROUPS.name,
    "groups of hosts",
    "The groups that the host is in.",
    &[Field::arguments(GROUP, Kind::Name("name"), "A group.")],
);

pub(crate) static PIN: Rule = Rule::leaf(
    "pin",
    "a pin",
    "A key of the host, as `ssh-keyscan` and `ssh-ed25519 AAAA…` files have it: with any, no other is trusted. Several are for a rotation.",
    &[Field::joined("a key", Kind::Name("key"), "The kind of the key, and the key in base64.")],
);

words!(KnownHosts {
    "strict" = KnownHosts::Strict,
    "accept-new" = KnownHosts::AcceptNew,
    "ignore" = KnownHosts::Ignore,
});

words!(Outside {
    "refuse" = Outside::Refuse,
    "permit" = Outside::Permit,
});

settings! {
    /// The settings of `hosts`.
    struct HostsSettings {}
    HOSTS {
        known_hosts: Setting<KnownHosts> = "known-hosts",
        outside: Setting<Outside> = "outside",
        weaken: Setting<bool> = "weaken",
    }
    GROUPS {
        groups: Option<Vec<Spanned<String>>> = GROUP,
    }
}

settings! {
    /// The settings of a host.
    struct HostSettings {}
    HOST {
        address: Option<Spanned<String>> = ADDRESS,
        user: Option<Spanned<String>> = "user",
        port: Setting<u32> = "port",
        jump: Option<Spanned<String>> = "jump",
        key: Option<Spanned<String>> = "key",
        known_hosts: Option<Spanned<KnownHosts>> = "known-hosts",
    }
    MEMBER {
        groups: Option<Vec<Spanned<String>>> = GROUP,
    }
    PIN {
        pins: Option<Vec<Spanned<String>>> = "a key",
    }
}
