//! The tools of the gate: they brief a caller.

use super::shared::TOOL;
use crate::tool::spec::{Gating, Group, Kind, Output, Parameter, ToolSpec};

pub(super) const BEGIN_SESSION: ToolSpec = ToolSpec {
    name: "begin_session",
    title: "Begin session",
    description: "Returns prompts: rules of this project to follow, selected by keywords of your task. Call it first, and pass the `briefing` that it returns to later calls.",
    group: Group::Gate,
    gating: Gating::Begins,
    parameters: &[Parameter {
        name: "tags",
        kind: Kind::Tags,
        required: true,
        meaning: "{tags} for your task: systems, files, actions",
    }],
    output: Output::ByGate,
    ..TOOL
};

pub(super) const READ_PROMPTS: ToolSpec = ToolSpec {
    name: "read_prompts",
    title: "Read prompts",
    description: "Returns more prompts that match your keywords, without those you already have. Call it when your task moves to a new topic.",
    group: Group::Gate,
    gating: Gating::Continues,
    parameters: &[Parameter {
        name: "tags",
        kind: Kind::Tags,
        required: true,
        meaning: "Keywords for what you need to know",
    }],
    output: Output::ByGate,
    ..TOOL
};
