//! The description that a correction proposes: the first sentence of the text.

use super::correction::quoted;
use crate::outline::first_sentence;

/// Returns the line that describes a body by its first sentence. A sentence with the placeholder of
/// an argument is left out.
pub(super) fn line(body: &str) -> Option<String> {
    let sentence = first_sentence(body).filter(|sentence| !sentence.contains("$ARGUMENTS"))?;
    Some(format!("description: {}", quoted(&sentence)))
}

/// Returns the end of the first line, as the others end.
pub(super) fn line_end(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}
