//! The outputs of many hosts -> outputs that fit into one answer, each with a fair share of it.

/// The bytes that the note of a cut may take.
const NOTE_BYTES_MAX: usize = 80;

/// Cuts outputs, the longest first, until they have at most `bytes_max` bytes as JSON texts, and the notes of
/// those that were cut. A cut output says how much of it is shown.
pub(super) fn fitted(outputs: Vec<String>, bytes_max: usize) -> Vec<String> {
    let mut lengths: Vec<usize> = outputs.iter().map(|output| json_bytes(output)).collect();
    lengths.sort_unstable();
    // The short ones leave their rest to the others.
    let (mut left, mut share) = (bytes_max, bytes_max);
    for (number, length) in lengths.iter().enumerate() {
        share = left / (lengths.len() - number);
        if *length > share {
            break;
        }
        left -= length;
        share = bytes_max;
    }
    outputs.into_iter().map(|output| cut(output, share)).collect()
}

/// Returns a text of at most `bytes_max` bytes as JSON; its note may exceed them.
fn cut(text: String, bytes_max: usize) -> String {
    if json_bytes(&text) <= bytes_max {
        return text;
    }
    let bytes_max = bytes_max.saturating_sub(NOTE_BYTES_MAX);
    let mut bytes = 0;
    let fits = |(_, letter): &(usize, char)| {
        bytes += letter_bytes(*letter);
        bytes <= bytes_max
    };
    let end = text.char_indices().take_while(fits).last();
    let end = end.map_or(0, |(at, letter)| at + letter.len_utf8());
    let shown = text.get(..end).unwrap_or_default();
    format!("{shown}\n\n[TRUNCATED - {} bytes total, {end} shown]", text.len())
}

/// Returns the bytes of a text in JSON, without its quotes.
fn json_bytes(text: &str) -> usize {
    text.chars().map(letter_bytes).sum()
}

fn letter_bytes(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_that_of_json() {
        let text: String = (0..0x250).filter_map(char::from_u32).chain(['€', '🦀']).collect();
        assert_eq!(json_bytes(&text) + 2, serde_json::to_string(&text).unwrap().len());
    }

    #[test]
    fn short_outputs_are_whole_and_long_ones_share_the_rest() {
        let outputs = vec!["short".to_owned(), "\u{1}".repeat(900), "€".repeat(900)];
        let cut = fitted(outputs.clone(), 2000);
        assert_eq!(cut[0], "short");
        let bytes = |outputs: &[String]| outputs.iter().map(|it| json_bytes(it)).sum::<usize>();
        assert!(bytes(&cut) <= 2000 + 2 * NOTE_BYTES_MAX, "{}", bytes(&cut));
        assert!(cut[1].ends_with("\n\n[TRUNCATED - 900 bytes total, 152 shown]"), "{}", cut[1]);
        assert!(cut[2].starts_with("€€") && cut[2].contains("2700 bytes total"), "{}", cut[2]);
        assert_eq!(fitted(outputs.clone(), 1 << 20), outputs);
        let many = vec!["x".repeat(5000); 100];
        assert!(bytes(&fitted(many, 40 << 10)) <= 41 << 10);
        assert_eq!(fitted(Vec::new(), 10), [] as [String; 0]);
    }
}
