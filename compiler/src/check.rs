//! Model -> diagnostics: faults and unwise settings, one rule a file.
//!
//! A rule only reports: the model stays as it is.

mod admits_nobody;
mod awkward_name;
mod critical_not_briefed;
mod critical_over_budget;
mod embeds_hidden;
mod empty_gate;
mod empty_project;
mod empty_text;
mod foreign_mark;
mod groups_apart;
mod idle_gate;
mod idle_message;
mod idle_role;
mod idle_when;
mod instructions;
mod merged_over_limit;
mod message_variables;
mod missing_index;
mod no_epoch;
mod not_enforced;
mod pattern_without_tool;
mod prompt_over_budget;
mod role_over_parent;
mod rule_file_code;
mod rule_idle_allow;
mod rule_means_nothing;
mod rule_no_host;
mod rule_repeated_scope;
mod rule_selector_twice;
mod rule_shadowed;
mod rule_unknown_caller;
mod rule_unknown_host;
mod rule_unknown_program;
mod rule_unknown_tool;
mod rule_widens;
mod skill_alike;
mod skill_empty;
mod skill_shadowed;
mod skill_too_long;
mod skill_unknown_tenant;
mod skill_without_user;
mod tags_over_limit;
mod text_too_large;
mod texts;
mod tool_limits;
mod tools_without_policy;
mod unreachable_prompt;
mod unused_argument;

pub(crate) use critical_over_budget::BYTES_MAX as CRITICAL_BYTES_MAX;
pub(crate) use instructions::MESSAGE_BYTES_MAX;
pub(crate) use texts::TextSearch;

use crate::diagnostic::Diagnostics;
use crate::model::Model;
use crate::source::Sources;

/// Runs every rule. The returned search continues in the contents of the bundle.
pub(crate) fn run(sources: &Sources<'_>, model: &Model, out: &mut Diagnostics) -> TextSearch {
    admits_nobody::check(model, out);
    awkward_name::check(model, out);
    critical_not_briefed::check(model, out);
    critical_over_budget::check(model, out);
    embeds_hidden::check(model, out);
    empty_gate::check(model, out);
    empty_project::check(model, out);
    empty_text::check(model, out);
    foreign_mark::check(sources, model, out);
    groups_apart::check(model, out);
    idle_gate::check(model, out);
    idle_message::check(model, out);
    idle_role::check(model, out);
    idle_when::check(model, out);
    instructions::check(model, out);
    merged_over_limit::check(model, out);
    message_variables::check(sources, model, out);
    missing_index::check(model, out);
    no_epoch::check(model, out);
    not_enforced::check(model, out);
    pattern_without_tool::check(model, out);
    prompt_over_budget::check(model, out);
    role_over_parent::check(model, out);
    rule_file_code::check(model, out);
    rule_idle_allow::check(model, out);
    rule_means_nothing::check(model, out);
    rule_no_host::check(model, out);
    rule_repeated_scope::check(model, out);
    rule_selector_twice::check(model, out);
    rule_shadowed::check(model, out);
    rule_unknown_caller::check(model, out);
    rule_unknown_host::check(model, out);
    rule_unknown_program::check(model, out);
    rule_unknown_tool::check(model, out);
    rule_widens::check(model, out);
    skill_alike::check(model, out);
    skill_empty::check(model, out);
    skill_shadowed::check(model, out);
    skill_too_long::check(model, out);
    skill_unknown_tenant::check(model, out);
    skill_without_user::check(model, out);
    tags_over_limit::check(model, out);
    text_too_large::check(model, out);
    let texts = texts::check(sources, model, out);
    tool_limits::check(model, out);
    tools_without_policy::check(model, out);
    unreachable_prompt::check(model, out);
    unused_argument::check(model, out);
    texts
}
