//! The instructions that a client gets when it connects: the greeting with its variables filled.
//!
//! Clients cut long instructions in silence (Claude Code at 2048 characters), so they are
//! shortened here, by rule: entries of the lowest priority go first, and the text says how many.

use crate::model::{Model, Prompt};

/// The most characters of the whole.
pub(crate) const CHARS_MAX: usize = 2000;
/// The most characters of one entry of the index.
const ENTRY_CHARS_MAX: usize = 100;
/// Above so many prompts, only the important ones are listed.
const INDEX_CAP: usize = 50;
/// What is important then.
const OVER_CAP_PRIORITY: u8 = 7;

/// The variables of a greeting.
pub(crate) const VARIABLES: [&str; 2] = ["project_name", "prompt_index"];

/// Instructions, and what they list.
pub(crate) struct Instructions {
    pub(crate) text: String,
    /// The names that the index lists, in its order.
    pub(crate) index: Vec<String>,
    /// Whether the text asks for the index at all.
    pub(crate) wants_index: bool,
}

/// Fills the greeting's variables and shortens the index until the whole fits.
pub(crate) fn compose(model: &Model) -> Instructions {
    let greeting = &model.greeting.text;
    let wants_index = variables(greeting).any(|variable| variable.name == "prompt_index");
    let mut listed: Vec<&Prompt> = model.prompts.iter().collect();
    if listed.len() > INDEX_CAP {
        listed.retain(|prompt| prompt.priority.value >= OVER_CAP_PRIORITY);
    }
    // Names are sorted already, so equal priorities stay in their order.
    listed.sort_by_key(|prompt| std::cmp::Reverse(prompt.priority.value));
    loop {
        let omitted = model.prompts.len() - listed.len();
        let text = fill(greeting, &model.project.name.value, &index(&listed, omitted));
        if text.chars().count() <= CHARS_MAX || listed.is_empty() || !wants_index {
            let names = listed.iter().map(|prompt| prompt.name.value.clone());
            let index = if wants_index { names.collect() } else { Vec::new() };
            return Instructions { text, index, wants_index };
        }
        listed.pop();
    }
}

/// A variable in a text: `{{name}}`.
pub(crate) struct Variable<'t> {
    pub(crate) name: &'t str,
    /// Where it begins and ends, braces included.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Returns the variables of a text in their order. A `{{` that no `}}` follows is text.
pub(crate) fn variables(text: &str) -> impl Iterator<Item = Variable<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let open = rest.find("{{")?;
        let inner = rest.get(open + 2..)?;
        let close = inner.find("}}")?;
        let (start, end) = (at + open, at + open + 2 + close + 2);
        at = end;
        Some(Variable { name: inner.get(..close)?.trim(), start, end })
    })
}

fn fill(text: &str, project: &str, index: &str) -> String {
    let mut filled = String::new();
    let mut at = 0;
    for variable in variables(text) {
        filled.push_str(text.get(at..variable.start).unwrap_or_default());
        match variable.name {
            "project_name" => filled.push_str(project),
            "prompt_index" => filled.push_str(index),
            _ => filled.push_str(text.get(variable.start..variable.end).unwrap_or_default()),
        }
        at = variable.end;
    }
    filled.push_str(text.get(at..).unwrap_or_default());
    filled
}

fn index(listed: &[&Prompt], omitted: usize) -> String {
    let mut lines: Vec<String> = listed.iter().map(|prompt| entry(prompt)).collect();
    match (lines.is_empty(), omitted) {
        (true, 0) => lines.push("(none)".into()),
        (_, 0) => {}
        (true, _) => lines.push(format!("({omitted} prompts; prompts/list names them)")),
        (false, _) => lines.push(format!("({omitted} more; prompts/list names them)")),
    }
    lines.join("\n")
}

fn entry(prompt: &Prompt) -> String {
    let about = prompt.summary.as_ref().or(prompt.description.as_ref());
    let entry = match about {
        // An entry is one line, whatever its author wrote.
        Some(about) => {
            let words: Vec<&str> = about.value.split_whitespace().collect();
            format!("- {}: {}", prompt.name.value, words.join(" "))
        }
        None => format!("- {}", prompt.name.value),
    };
    if entry.chars().count() <= ENTRY_CHARS_MAX {
        return entry;
    }
    let mut cut: String = entry.chars().take(ENTRY_CHARS_MAX - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
