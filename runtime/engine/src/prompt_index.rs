//! The index of the prompts: a line for each, and then the number of prompts that it leaves out.

/// Returns the text of an index.
///
/// `omitted` is how many prompts have no entry; in a gated project, `read_prompts` returns them.
#[must_use]
pub fn text(entries: &[String], omitted: usize, is_gated: bool) -> String {
    let mut text = entries.join("\n");
    if let Some(rest) = rest(entries.len(), omitted, is_gated) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&rest);
    }
    text
}

/// Returns the last line of an index with `listed` entries; `None` if it needs none.
#[must_use]
pub fn rest(listed: usize, omitted: usize, is_gated: bool) -> Option<String> {
    let how = if is_gated { "ask with read_prompts" } else { "prompts/list names them" };
    match (listed, omitted) {
        (0, 0) => Some("(none)".into()),
        (_, 0) => None,
        (0, _) => Some(format!("({omitted} prompts; {how})")),
        (_, _) => Some(format!("({omitted} more; {how})")),
    }
}
