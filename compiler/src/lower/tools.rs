//! The tools that a project offers, and their settings. Their names determine their texts for clients.

use relay_bundle::{
    Gate, Page, RemoteLimits, SessionSettings, Setting, ShellSettings, Tool, ToolLimits,
    ToolSettings,
};
use relay_engine::derived::{pages, tools};
use relay_engine::tool::Limits;

use super::places::Places;
use crate::ast::{LimitSettings, ToolChoice, ToolGroup, ToolGroupSettings};
use crate::model::Model;
use crate::source::Spanned;

/// Returns the tools that a project offers, and the pages of their list.
pub(super) fn tools(
    model: &Model,
    gate: Option<&Gate>,
    limits: &Limits,
    places: &Places<'_>,
) -> (Vec<Tool>, Vec<Page>) {
    let offered = model.offered_tools();
    let rows = offered.iter().map(|(spec, at)| Tool {
        name: spec.name.into(),
        gated: tools::is_gated(spec, gate),
        tier: spec.tier,
        at: places.of(*at),
    });
    let listed = offered.iter().map(|(spec, _)| tools::listed(spec, gate, limits));
    (rows.collect(), pages::pages(listed))
}

/// Returns the settings of the tools that start processes; `None` if none of them is offered.
pub(super) fn settings(model: &Model, places: &Places<'_>) -> Option<ToolSettings> {
    let (mut shell, mut sessions, mut offers_ssh) = (None, None, false);
    for ToolChoice { group, settings } in &model.tools {
        match group.value {
            ToolGroup::Shell => shell = Some((group.at, settings)),
            ToolGroup::Sessions => sessions = Some(settings),
            ToolGroup::Ssh => offers_ssh = true,
            ToolGroup::Diagnostics => {}
        }
    }
    if shell.is_none() && sessions.is_none() && !offers_ssh {
        return None;
    }
    let policy = model.policy.as_ref().map(|(policy, _)| policy);
    let limits = policy.map_or_else(LimitSettings::default, |policy| policy.limits.clone());
    let LimitSettings {
        at: _,
        timeout_s,
        timeout_s_max,
        output_bytes,
        output_bytes_max,
        input_bytes_max,
        sessions_max,
        forwards_max,
        fanout,
        fanout_hosts_max,
    } = limits;
    let texts = |list: &Option<Vec<Spanned<String>>>| -> Option<Vec<Setting<String>>> {
        Some(list.as_ref()?.iter().map(|text| places.written(text.clone())).collect())
    };
    Some(ToolSettings {
        limits: ToolLimits {
            timeout_s: places.setting(timeout_s),
            timeout_s_max: places.setting(timeout_s_max),
            output_bytes: places.setting(output_bytes),
            output_bytes_max: places.setting(output_bytes_max),
            input_bytes_max: places.setting(input_bytes_max),
            sessions_max: places.setting(sessions_max),
        },
        shell: match shell {
            Some((at, ToolGroupSettings { folders, variables, .. })) => ShellSettings {
                folders: texts(folders),
                variables: texts(variables),
                at: Some(places.of(at)),
            },
            None => ShellSettings::default(),
        },
        sessions: sessions.map(|ToolGroupSettings { idle_s, lifetime_s, .. }| SessionSettings {
            idle_s: places.setting(idle_s.clone()),
            lifetime_s: places.setting(lifetime_s.clone()),
        }),
        remote: offers_ssh.then(|| RemoteLimits {
            forwards_max: places.setting(forwards_max),
            fanout: places.setting(fanout),
            fanout_hosts_max: places.setting(fanout_hosts_max),
        }),
    })
}
