//! The lower case for comparing tags with names and texts.

/// The version of Unicode for lower case in this build.
pub const UNICODE: (u8, u8, u8) = char::UNICODE_VERSION;

/// Converts a text to the lower case in which tags are compared with searched texts.
///
/// Each character is mapped by itself, by Unicode's full mapping, independent of language and
/// neighbouring characters; a final sigma counts as a sigma. So the lower case of any part of a
/// text is a part of the lower case of the text.
#[must_use]
pub fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}
