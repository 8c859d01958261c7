//! The reports about `hosts`.

use miette::Diagnostic;
use thiserror::Error;

use crate::source::Span;

/// With two nodes, their order would decide which settings count.
#[derive(Debug, Error, Diagnostic)]
#[error("a project has one `hosts` node")]
#[diagnostic(
    code(hosts::second),
    help("put all hosts into one; a `when` patches it for an environment")
)]
pub(super) struct SecondHosts {
    #[label("the first one")]
    pub(super) first_at: Span,
    #[label(primary, "a second one")]
    pub(super) at: Span,
}

/// Every decision looks hosts up, and the settings of a bundle have a limit.
#[derive(Debug, Error, Diagnostic)]
#[error("the project has {count} hosts, over the limit of {max}")]
#[diagnostic(
    code(hosts::too_many),
    help(
        "give the servers of different sites projects of their own; the `[ssh] config` of a server adds more aliases"
    )
)]
pub(super) struct TooMany {
    pub(super) count: usize,
    pub(super) max: usize,
    #[label(primary, "the first over the limit")]
    pub(super) at: Span,
}

/// Rules, commands and addresses name hosts in one spelling.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` cannot be the {what}: {fault}")]
#[diagnostic(
    code(hosts::alias),
    help("lower-case letters, digits, `-`, `_` and `.`, at most 64: `core1`, `db-2.lab`")
)]
pub(super) struct BadAlias {
    pub(super) what: &'static str,
    pub(super) name: String,
    pub(super) fault: &'static str,
    #[label(primary, "this name")]
    pub(super) at: Span,
}

/// A rule that names it would mean the host, the group, or both.
#[derive(Debug, Error, Diagnostic)]
#[error("`{name}` is a host and a group")]
#[diagnostic(code(hosts::same_name), help("rename one of them"))]
pub(super) struct SameName {
    pub(super) name: String,
    #[label("the group")]
    pub(super) group_at: Span,
    #[label(primary, "the host")]
    pub(super) at: Span,
}

/// A mistyped group would leave the host out of the rules for it.
#[derive(Debug, Error, Diagnostic)]
#[error("unknown group `{name}`")]
#[diagnostic(code(hosts::unknown_group))]
pub(super) struct UnknownGroup {
    pub(super) name: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "no `groups` of `hosts` has it")]
    pub(super) at: Span,
}

/// A rule about it means no host.
#[derive(Debug, Error, Diagnostic)]
#[error("no host is in the group `{name}`")]
#[diagnostic(
    code(hosts::empty_group),
    severity(Warning),
    help("put a host into it, `host … {{ groups {name} }}`, or remove it")
)]
pub(super) struct EmptyGroup {
    pub(super) name: String,
    #[label(primary, "empty")]
    pub(super) at: Span,
}

/// The host would be out of reach.
#[derive(Debug, Error, Diagnostic)]
#[error("the jump goes through `{name}`, which is not a host of the project")]
#[diagnostic(code(hosts::unknown_jump))]
pub(super) struct UnknownJump {
    pub(super) name: String,
    #[help]
    pub(super) help: String,
    #[label(primary, "no host has this alias")]
    pub(super) at: Span,
}

/// Each host would be reached through the other.
#[derive(Debug, Error, Diagnostic)]
#[error("`{alias}` is reached through itself")]
#[diagnostic(code(hosts::jump_cycle), help("its jumps go {path}"))]
pub(super) struct JumpCycle {
    pub(super) alias: String,
    pub(super) path: String,
    #[label(primary, "leads back")]
    pub(super) at: Span,
}

/// Each jump is one more connection in the last one.
#[derive(Debug, Error, Diagnostic)]
#[error("the host is reached through more than {max} others")]
#[diagnostic(code(hosts::jumps), help("let a host in between be reached directly"))]
pub(super) struct JumpTooDeep {
    pub(super) max: usize,
    #[label(primary, "too many jumps")]
    pub(super) at: Span,
}

/// Connections go to a name or to a number.
#[derive(Debug, Error, Diagnostic)]
#[error("`{value}` is not the address of a host: {fault}")]
#[diagnostic(
    code(hosts::address),
    help("write a name or an address alone: `db.corp.example`, `10.0.0.11`, `fd00::11`")
)]
pub(super) struct BadAddress {
    pub(super) value: String,
    pub(super) fault: &'static str,
    #[label(primary, "this address")]
    pub(super) at: Span,
}

/// A reader and a rule would take it for the other host.
#[derive(Debug, Error, Diagnostic)]
#[error("the address `{value}` is the alias of another host")]
#[diagnostic(
    code(hosts::address_is_alias),
    help("write the full name or the number of the address")
)]
pub(super) struct AddressIsAlias {
    pub(super) value: String,
    #[label("this host")]
    pub(super) alias_at: Span,
    #[label(primary, "names it")]
    pub(super) at: Span,
}

/// Other programs would read an option or a host in it.
#[derive(Debug, Error, Diagnostic)]
#[error("this is not the name of a user")]
#[diagnostic(code(hosts::user), help("write the name alone: `user=ops`"))]
pub(super) struct BadUser {
    #[label(primary, "has a blank, `@`, `:` or `/`, or begins with `-`")]
    pub(super) at: Span,
}

/// The server reads the key from a file that only its user can read.
#[derive(Debug, Error, Diagnostic)]
#[error("this is not the path of a key: {fault}")]
#[diagnostic(
    code(hosts::key),
    help("write the file on the server: `key=(file)\"/etc/relay/keys/core\"`")
)]
pub(super) struct BadKey {
    pub(super) fault: &'static str,
    #[label(primary, "no path of a key")]
    pub(super) at: Span,
}

/// A pin that no key equals refuses every connection.
#[derive(Debug, Error, Diagnostic)]
#[error("this is not the public key of a host: {fault}")]
#[diagnostic(
    code(hosts::pin),
    help(
        "copy the last two words of a line of `ssh-keyscan HOST` that you have checked: `pin \"ssh-ed25519 AAAA…\"`"
    )
)]
pub(super) struct BadPin {
    pub(super) fault: &'static str,
    #[label(primary, "no key")]
    pub(super) at: Span,
}
