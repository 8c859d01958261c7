//! `limits` of a policy: the numbers for the tools that start processes.

use relay_engine::tool::{FANOUT_MAX, Limits};

use crate::grammar::{Field, Kind, Literal, Rule};
use crate::setting::{Setting, settings};
use crate::source::Span;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;
/// The longest time limit: a day.
const TIMEOUT_S_MAX: u64 = 86_400;
/// The fewest bytes of a result: enough for an error.
const OUTPUT_BYTES_MIN: u64 = KIB;

const fn number(default: u32) -> Literal<'static> {
    Literal::Number(default as u64)
}

/// The names of the rows.
pub(crate) const TIMEOUT: &str = "timeout";
pub(crate) const MAX_TIMEOUT: &str = "max-timeout";
pub(crate) const OUTPUT: &str = "output";
pub(crate) const MAX_OUTPUT: &str = "max-output";
pub(crate) const INPUT: &str = "input";
pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const FORWARDS: &str = "forwards";
pub(crate) const FANOUT: &str = "fanout";
pub(crate) const FANOUT_HOSTS: &str = "fanout-hosts";

/// The `limits` node.
pub(crate) static LIMITS: Rule = Rule::leaf(
    "limits",
    "limits",
    "The numbers for tools that start processes. A server may lower them by its settings.",
    &[
        Field::property(
            TIMEOUT,
            Kind::duration(1, TIMEOUT_S_MAX),
            "The time limit of a command whose call names none.",
        )
        .or(number(Limits::DEFAULT.timeout_s)),
        Field::property(
            MAX_TIMEOUT,
            Kind::duration(1, TIMEOUT_S_MAX),
            "The longest time limit that a call may name.",
        )
        .or(number(Limits::DEFAULT.timeout_s_max)),
        Field::property(
            OUTPUT,
            Kind::bytes(OUTPUT_BYTES_MIN, 16 * MIB),
            "The bytes of output that a call gets if it names no number.",
        )
        .or(number(Limits::DEFAULT.output_bytes)),
        Field::property(
            MAX_OUTPUT,
            Kind::bytes(OUTPUT_BYTES_MIN, 128 * MIB),
            "The most bytes of output that a call may name.",
        )
        .or(number(Limits::DEFAULT.output_bytes_max)),
        Field::property(
            INPUT,
            Kind::bytes(1, 16 * MIB),
            "The most bytes of text in the arguments of one call.",
        )
        .or(number(Limits::DEFAULT.input_bytes_max)),
        Field::property(
            SESSIONS,
            Kind::Number { low: 1, high: 1024 },
            "The most terminal sessions of all callers.",
        )
        .or(number(Limits::DEFAULT.sessions_max)),
        Field::property(
            FORWARDS,
            Kind::Number { low: 1, high: 1024 },
            "The most forwards of all callers.",
        )
        .or(number(Limits::DEFAULT.forwards_max)),
        Field::property(
            FANOUT,
            Kind::Number { low: 1, high: FANOUT_MAX as u64 },
            "How many hosts `ssh_fanout` runs a command on at once, if its call names no number.",
        )
        .or(number(Limits::DEFAULT.fanout)),
        Field::property(
            FANOUT_HOSTS,
            Kind::Number { low: 1, high: 1000 },
            "The most hosts of one `ssh_fanout` or `ssh_check`.",
        )
        .or(number(Limits::DEFAULT.fanout_hosts_max)),
    ],
);

settings! {
    /// The limits of tools that start processes.
    struct LimitSettings {
        /// The node, if one is written.
        at: Option<Span>,
    }
    LIMITS {
        timeout_s: Setting<u32> = TIMEOUT,
        timeout_s_max: Setting<u32> = MAX_TIMEOUT,
        output_bytes: Setting<u32> = OUTPUT,
        output_bytes_max: Setting<u32> = MAX_OUTPUT,
        input_bytes_max: Setting<u32> = INPUT,
        sessions_max: Setting<u32> = SESSIONS,
        forwards_max: Setting<u32> = FORWARDS,
        fanout: Setting<u32> = FANOUT,
        fanout_hosts_max: Setting<u32> = FANOUT_HOSTS,
    }
}
