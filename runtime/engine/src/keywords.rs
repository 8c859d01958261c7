//! A call of a tool -> keywords, used as tags if the caller gave none.
//!
//! A call before a briefing is intercepted: the words of the call select the prompts. They are only
//! compared with summaries and chapters.

use relay_bundle::lower_case;
use serde_json::{Map, Value};

use crate::select::Tags;

/// The most keywords of one call.
pub const KEYWORDS_MAX: usize = 10;

/// The argument of a gated tool that holds the handle of a briefing.
pub const BRIEFING_ARGUMENT: &str = "briefing";

/// The most bytes of argument texts that are searched; each value counts for one more byte.
const ARGUMENT_BYTES_MAX: usize = 64 << 10;
/// The deepest level of values that are searched.
const DEPTH_MAX: usize = 64;

const KEYWORD_CHARS_MIN: usize = 3;
const KEYWORD_CHARS_MAX: usize = 40;

/// Verbs of tool names, common to all projects: they fit all prompts alike, and would match inside
/// other words.
const VERBS: &[&str] = &[
    "add", "call", "create", "delete", "fetch", "find", "get", "list", "make", "post", "put",
    "read", "remove", "run", "search", "set", "show", "update", "write",
];

/// Common words of any English text. Keywords have three letters or more.
const STOP_WORDS: &[&str] = &[
    "about", "all", "also", "and", "any", "are", "because", "been", "but", "can", "could", "did",
    "does", "for", "from", "had", "has", "have", "how", "into", "its", "may", "more", "most",
    "not", "off", "only", "other", "our", "out", "over", "please", "shall", "should", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "too", "under", "use", "very", "was", "were", "what", "when", "where", "which",
    "while", "who", "why", "will", "with", "would", "you", "your",
];

/// Returns the tags of a call that gives none: its [`keywords`].
#[must_use]
pub fn tags(tool: &str, arguments: &Map<String, Value>) -> Tags {
    // The keywords are within the limits of tags, so this always succeeds.
    Tags::new(&keywords(tool, arguments), KEYWORDS_MAX).unwrap_or_default()
}

/// Returns the keywords of a call in lower case: those of the tool's name first, then those of the
/// arguments in the order of the document.
///
/// The part of the name before the last `/` is one keyword; the rest is split at each `_`. In the
/// arguments only text values count, except for the handle of a briefing.
#[must_use]
pub fn keywords(tool: &str, arguments: &Map<String, Value>) -> Vec<String> {
    let mut keywords = Keywords { found: Vec::new(), bytes_left: ARGUMENT_BYTES_MAX };
    let (server, name) = tool.rsplit_once('/').unwrap_or(("", tool));
    keywords.add(server);
    for part in name.split('_') {
        if !VERBS.contains(&lower_case(part).as_str()) {
            keywords.add(part);
        }
    }
    for (name, value) in arguments {
        if name != BRIEFING_ARGUMENT {
            keywords.search(value, DEPTH_MAX);
        }
    }
    keywords.found
}

struct Keywords {
    found: Vec<String>,
    /// The remaining bytes of arguments to search.
    bytes_left: usize,
}

impl Keywords {
    fn is_done(&self) -> bool {
        self.found.len() >= KEYWORDS_MAX || self.bytes_left == 0
    }

    fn search(&mut self, value: &Value, depth_left: usize) {
        let Some(depth_left) = depth_left.checked_sub(1).filter(|_| !self.is_done()) else {
            return;
        };
        self.bytes_left = self.bytes_left.saturating_sub(1);
        match value {
            Value::String(text) => self.add_words(text),
            Value::Array(values) => self.search_all(values.iter(), depth_left),
            Value::Object(values) => self.search_all(values.values(), depth_left),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn search_all<'v>(&mut self, values: impl Iterator<Item = &'v Value>, depth_left: usize) {
        for value in values {
            if self.is_done() {
                return;
            }
            self.search(value, depth_left);
        }
    }

    fn add_words(&mut self, text: &str) {
        let end = text.floor_char_boundary(self.bytes_left);
        let searched = match text.split_at_checked(end) {
            // A truncated word is dropped.
            Some((start, rest)) if rest.starts_with(is_word) => start.trim_end_matches(is_word),
            Some((start, _)) => start,
            None => text,
        };
        self.bytes_left = self.bytes_left.saturating_sub(text.len());
        for word in searched.split(|letter| !is_word(letter)) {
            self.add(word.trim_matches(['-', '_']));
            if self.found.len() >= KEYWORDS_MAX {
                return;
            }
        }
    }

    /// Adds a word, unless it is a stop word or a duplicate.
    fn add(&mut self, word: &str) {
        // The check reads at most one character more than the longest keyword has.
        if self.found.len() >= KEYWORDS_MAX || word.chars().nth(KEYWORD_CHARS_MAX).is_some() {
            return;
        }
        let word = lower_case(word);
        let is_long_enough =
            (KEYWORD_CHARS_MIN..=KEYWORD_CHARS_MAX).contains(&word.chars().count());
        if is_long_enough && !STOP_WORDS.contains(&word.as_str()) && !self.found.contains(&word) {
            self.found.push(word);
        }
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_')
}
