//! `docs/tools.md`: every tool of relay.

use relay_engine::tool::{
    BRIEFING, Gating, Group, Keep, Kind, Parameter, TAGS_PLACEHOLDER, TOOLS, ToolSpec,
};

const INTRODUCTION: &str = "\
# Tools

Written by `relay reference --out docs` from the table that the server decodes calls with.

A project offers tools by its nodes `gate` and `tools`. Every call is decided, recorded in the audit and ends after its time
limit with `[TIMEOUT after Ns]`; a client that cancels a call or closes its connection ends it too. A call that is not allowed answers
`[DENIED tier N (NAME): reason]`, one that cannot be done `[ERROR: reason]`. A number out of its range counts as the nearest that is in
it, a null as not given. One caller runs at most `limits.principal-calls-max` calls at one time.
";

/// Returns the document.
pub(super) fn document() -> String {
    let mut text = INTRODUCTION.to_owned();
    for spec in TOOLS {
        text.push_str(&section(spec));
    }
    text
}

fn section(spec: &ToolSpec) -> String {
    let ToolSpec { name, description, group, tier, gating, run_s_max, .. } = spec;
    let tier_name = ToolSpec::tier_name(*tier);
    let offered = match group {
        Group::Gate => "`gate on`",
        Group::Diagnostics => "`tools { diagnostics }`",
    };
    let gated = match gating {
        Gating::Begins => "no: it gives the first briefing",
        Gating::Continues => "no: it goes on from a briefing, or gives the first one",
        Gating::Gated => "yes, where the project has a gate",
    };
    let result = match (spec.output_bytes_max, spec.keep) {
        (None, _) => "as long as the budget of the gate allows".to_owned(),
        (Some(bytes), Keep::Start) => {
            format!("at most {bytes} bytes; of a longer one the start is kept")
        }
        (Some(bytes), Keep::End) => {
            format!("at most {bytes} bytes; of a longer one the end is kept, in whole lines")
        }
    };
    let briefing = spec.takes_briefing().then_some(&BRIEFING);
    let parameters: String = spec.parameters.iter().chain(briefing).map(row).collect();
    let parameters = if parameters.is_empty() {
        "It takes no arguments.\n".to_owned()
    } else {
        format!(
            "| argument | type | default | range | meaning |\n|---|---|---|---|---|\n{parameters}"
        )
    };
    format!(
        "\n## {name}\n\n{description}\n\n\
         - Offered by: {offered}\n\
         - Tier: {tier} ({tier_name})\n\
         - Gated: {gated}\n\
         - Result: {result}\n\
         - Time limit: {run_s_max} s\n\n{parameters}"
    )
}

fn row(parameter: &Parameter) -> String {
    let &Parameter { name, kind, required, meaning } = parameter;
    let (default, range) = match kind {
        Kind::Text { default: Some("") } => ("empty".to_owned(), String::new()),
        Kind::Text { default } => {
            (default.map(ToOwned::to_owned).unwrap_or_default(), String::new())
        }
        Kind::Integer { default, min, max } => (default.to_string(), format!("{min} to {max}")),
        Kind::Boolean => (String::new(), String::new()),
        Kind::Tags => (String::new(), "as many as `tags max` of the gate says".to_owned()),
    };
    let default = if required { "required".to_owned() } else { default };
    let meaning =
        meaning.replace(TAGS_PLACEHOLDER, "As many keywords as `tags ask` of the gate says,");
    format!("| `{name}` | {} | {default} | {range} | {meaning} |\n", kind.expected())
}
