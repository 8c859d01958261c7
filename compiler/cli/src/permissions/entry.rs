//! The rules of a client's file, as they are written: the type of each client's `write`.

use super::from_policy::Calls;
use super::model::Answer;
use super::report::RuleRow;

/// An entry of a client's file: its answer, its text, and the number of its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The answer.
    pub(crate) answer: Answer,
    /// The rule as the client writes it; for files of settings, its kind and its text.
    pub(crate) text: String,
    /// The number of the rule of the policy.
    pub(crate) of: usize,
}

/// A line of a client's file, and the rule that it is of.
pub(crate) type Line = (String, Option<usize>);

/// The form of a client's file.
pub(crate) struct Form {
    /// Returns the entries for calls; an error is the reason for their absence.
    pub(crate) entries: fn(&Calls, Answer, bool) -> Result<Vec<String>, &'static str>,
    /// Writes the file.
    pub(crate) write: fn(&[Entry], &[RuleRow]) -> Vec<Line>,
    /// Forms in which the client lets an allowed text run.
    pub(crate) forms: &'static [&'static str],
    /// Whether it lets allowed texts run that are joined to one.
    pub(crate) joins: bool,
}

/// Returns a text as JSON.
pub(crate) fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a list of texts as a key of JSON.
pub(crate) fn json_list(
    key: &str,
    entries: &[&Entry],
    (depth, is_last): (usize, bool),
    lines: &mut Vec<Line>,
) {
    let indent = "  ".repeat(depth);
    lines.push((format!("{indent}{}: [", json_text(key)), None));
    let last = entries.len().saturating_sub(1);
    for (number, entry) in entries.iter().enumerate() {
        let comma = if number == last { "" } else { "," };
        lines.push((format!("{indent}  {}{comma}", json_text(&entry.text)), Some(entry.of)));
    }
    let comma = if is_last { "" } else { "," };
    lines.push((format!("{indent}]{comma}"), None));
}

/// Returns the entries with an answer, each text once.
pub(crate) fn with_answer(entries: &[Entry], answer: Answer) -> Vec<&Entry> {
    let mut seen = std::collections::BTreeSet::new();
    let of = entries.iter().filter(|entry| entry.answer == answer);
    of.filter(|entry| seen.insert(entry.text.as_str())).collect()
}
