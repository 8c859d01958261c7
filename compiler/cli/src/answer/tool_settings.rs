//! The settings of tools that start processes, as human output.

use relay_bundle::{
    RemoteLimits, SessionSettings, Setting, ShellSettings, ToolLimits, ToolSettings,
};

use crate::answer::size::grouped;

/// Returns the meaning of each setting, labelled with its KDL keyword.
pub(crate) fn facts(settings: &ToolSettings) -> Vec<(&'static str, String)> {
    let ToolSettings { limits, shell, sessions, remote } = settings;
    let ToolLimits {
        timeout_s,
        timeout_s_max,
        output_bytes,
        output_bytes_max,
        input_bytes_max,
        sessions_max,
    } = limits;
    let number = |setting: &Setting<u32>| grouped(setting.value as usize);
    let mut facts = vec![
        ("timeout", format!("{} s, at most {} s", number(timeout_s), number(timeout_s_max))),
        (
            "output",
            format!("{} bytes, at most {} bytes", number(output_bytes), number(output_bytes_max)),
        ),
        ("input", format!("at most {} bytes", number(input_bytes_max))),
    ];
    if let Some(SessionSettings { idle_s, lifetime_s }) = sessions {
        let (idle, lifetime) = (number(idle_s), number(lifetime_s));
        let sessions = number(sessions_max);
        let ends = format!("at most {sessions}, each ends after {idle} s idle and {lifetime} s");
        facts.push(("sessions", ends));
    }
    if let Some(RemoteLimits { forwards_max, fanout, fanout_hosts_max }) = remote {
        let (forwards, at_once) = (number(forwards_max), number(fanout));
        let hosts = number(fanout_hosts_max);
        facts.push(("forwards", format!("at most {forwards}")));
        facts.push(("fanout", format!("{at_once} hosts at once, at most {hosts} in a call")));
    }
    let ShellSettings { folders, variables, at: _ } = shell;
    let list = |list: &Option<Vec<Setting<String>>>, without: &str| match list {
        None => without.to_owned(),
        Some(list) => list.iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(" "),
    };
    facts.push(("folders", list(folders, "any")));
    facts.push(("environment", list(variables, "all that leave the code that runs as it is")));
    facts
}
