//! The lower case for comparing tags with names and texts.

use unicode_normalization::UnicodeNormalization as _;

/// The version of Unicode for lower case in this build.
pub const UNICODE: (u8, u8, u8) = char::UNICODE_VERSION;

/// Converts a text to the form in which tags are compared with the texts that they are searched in:
/// composed (NFC) and in lower case.
///
/// Texts that Unicode calls canonically equivalent have the same form: some editors and input methods
/// decompose letters. Each character is then mapped by itself, by Unicode's full mapping, independent
/// of language and neighbouring characters; a final sigma counts as a sigma.
#[must_use]
pub fn lower_case(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.nfc().flat_map(char::to_lowercase);
    lower.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_texts_have_one_form() {
        for (text, form) in [
            ("CAFÉ", "café"),
            ("CAFE\u{301}", "café"),
            ("U\u{308}BER", "über"),
            ("\u{212B}ngström", "ångström"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("ΟΔΟΣ", "οδοσ"),
            ("οδος", "οδοσ"),
        ] {
            assert_eq!(lower_case(text), form, "{text}");
        }
    }
}
