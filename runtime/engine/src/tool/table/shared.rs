//! The parts that several tools share.

use relay_bundle::Tier;

use crate::tool::spec::{
    Bound, Gating, Group, Keep, Kind, Limit, Output, Parameter, Time, ToolSpec,
};

const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// The time limit of a command.
pub(super) const TIMEOUT: Parameter = Parameter {
    name: "timeout",
    kind: Kind::Timeout { default: Bound::Limit(Limit::Timeout) },
    required: false,
    meaning: "Time limit in seconds, 0 for the default",
};

/// The most bytes of output that a call gets.
pub(super) const MAX_OUTPUT: Parameter = Parameter {
    name: "max_output",
    kind: Kind::Integer {
        default: Bound::Limit(Limit::Output),
        min: 1024,
        max: Bound::Limit(Limit::MaxOutput),
    },
    required: false,
    meaning: "The most bytes of output to return",
};

pub(super) const CWD: Parameter =
    Parameter::optional_text("cwd", "The folder to run in, empty for the default");

pub(super) const ENV_JSON: Parameter = Parameter::optional_text(
    "env_json",
    "Environment variables to set, as a JSON object; null removes one",
);

/// The highest number of lines and columns of a terminal.
const SIZE_MAX: Bound = Bound::Fixed(u16::MAX as i64);

pub(super) const COLS: Parameter = Parameter {
    name: "cols",
    kind: Kind::Integer { default: Bound::Fixed(120), min: 1, max: SIZE_MAX },
    required: false,
    meaning: "Columns of the terminal",
};

pub(super) const ROWS: Parameter = Parameter {
    name: "rows",
    kind: Kind::Integer { default: Bound::Fixed(40), min: 1, max: SIZE_MAX },
    required: false,
    meaning: "Lines of the terminal",
};

/// A tool with the settings that most have.
pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "",
    title: "",
    description: "",
    group: Group::Diagnostics,
    tier: Tier::ReadOnly,
    gating: Gating::Gated,
    open_world: false,
    parameters: &[],
    time: Time::Seconds(30),
    output: Output::Bytes(OUTPUT_BYTES_MAX),
    keep: Keep::Start,
};
