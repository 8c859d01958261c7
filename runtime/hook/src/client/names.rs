//! The names of tools of MCP servers, as clients spell them.

/// Returns the readings of a name with marks: `a__b__c` is `a/b__c` or `a__b/c`.
pub(super) fn at_each(name: &str, mark: &str) -> Vec<String> {
    let places = name.match_indices(mark).take(SPLITS_MAX);
    let parts = places.map(|(at, _)| name.split_at(at));
    let full = parts.filter_map(|(server, rest)| {
        let tool = rest.strip_prefix(mark)?;
        (!server.is_empty() && !tool.is_empty()).then(|| format!("{server}/{tool}"))
    });
    full.collect()
}

/// The most places at which the name of a tool is split.
const SPLITS_MAX: usize = 8;
