//! The limits of calls: those of a bundle, which a server may lower.

use relay_bundle::{RemoteLimits, Setting, ToolLimits, ToolSettings};

use super::spec::{Bound, Limit};

/// The limits of calls of tools that start processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time limit of a call that names none, in seconds.
    pub timeout_s: u32,
    /// The longest time limit that a call may name, in seconds.
    pub timeout_s_max: u32,
    /// The most bytes of output for a call that names no number.
    pub output_bytes: u32,
    /// The most bytes of output that a call may name.
    pub output_bytes_max: u32,
    /// The most bytes of text in the arguments of a call.
    pub input_bytes_max: u32,
    /// The most sessions of all callers.
    pub sessions_max: u32,
    /// The most forwards of all callers.
    pub forwards_max: u32,
    /// How many hosts a command for many runs on at once, if its call names no number.
    pub fanout: u32,
    /// The most hosts of one call.
    pub fanout_hosts_max: u32,
}

impl Limits {
    /// The limits of a project that names none.
    pub const DEFAULT: Self = Self {
        timeout_s: 60,
        timeout_s_max: 900,
        output_bytes: 64 << 10,
        output_bytes_max: 1 << 20,
        input_bytes_max: 2 << 20,
        sessions_max: 64,
        forwards_max: 64,
        fanout: 8,
        fanout_hosts_max: 100,
    };

    /// Returns the limits of a bundle; the defaults for one that offers no such tools.
    #[must_use]
    pub fn of(settings: Option<&ToolSettings>) -> Self {
        let Some(settings) = settings else { return Self::DEFAULT };
        let ToolLimits {
            timeout_s,
            timeout_s_max,
            output_bytes,
            output_bytes_max,
            input_bytes_max,
            sessions_max,
        } = &settings.limits;
        let value = |setting: &Setting<u32>| setting.value;
        let remote = settings.remote.as_ref();
        let of_remote = |setting: fn(&RemoteLimits) -> &Setting<u32>, default: u32| {
            remote.map_or(default, |remote| setting(remote).value)
        };
        Self {
            timeout_s: value(timeout_s),
            timeout_s_max: value(timeout_s_max),
            output_bytes: value(output_bytes),
            output_bytes_max: value(output_bytes_max),
            input_bytes_max: value(input_bytes_max),
            sessions_max: value(sessions_max),
            forwards_max: of_remote(|it| &it.forwards_max, Self::DEFAULT.forwards_max),
            fanout: of_remote(|it| &it.fanout, Self::DEFAULT.fanout),
            fanout_hosts_max: of_remote(|it| &it.fanout_hosts_max, Self::DEFAULT.fanout_hosts_max),
        }
    }

    /// Returns the number of a bound.
    #[must_use]
    pub fn number(&self, bound: Bound) -> i64 {
        match bound {
            Bound::Fixed(number) => number,
            Bound::Limit(Limit::Timeout) => self.timeout_s.into(),
            Bound::Limit(Limit::MaxTimeout) => self.timeout_s_max.into(),
            Bound::Limit(Limit::Output) => self.output_bytes.into(),
            Bound::Limit(Limit::MaxOutput) => self.output_bytes_max.into(),
            Bound::Limit(Limit::Fanout) => self.fanout.into(),
        }
    }
}
