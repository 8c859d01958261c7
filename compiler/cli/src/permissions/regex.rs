//! Regexes of clients: literal text as a regex, and a text that a simple regex is found in.

/// A regex for a letter beyond ASCII.
pub(crate) const BEYOND_ASCII: &str = "[^\\x00-\\x7f]";

/// Returns a text as a regex that means it.
pub(crate) fn escaped(text: &str) -> String {
    let mut regex = String::new();
    for letter in text.chars() {
        if "\\.+*?()|[]{}^$".contains(letter) {
            regex.push('\\');
        }
        regex.push(letter);
    }
    regex
}

/// Returns a text in which a regex is found, if it is simple: its first branch, each part as few times as may be. The text is
/// only a proposal, which callers try.
pub(crate) fn sample(regex: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = regex.chars().peekable();
    // The beginnings of the open groups, and whether a branch of them is over.
    let mut groups: Vec<usize> = Vec::new();
    let mut last: usize = 0;
    while let Some(letter) = letters.next() {
        let begin = text.len();
        match letter {
            '^' | '$' => continue,
            '\\' => match letters.next()? {
                'b' | 'B' | 'A' | 'Z' => continue,
                's' => text.push(' '),
                'S' | 'w' | 'D' => text.push('x'),
                'd' | 'W' => text.push('0'),
                'n' => text.push('\n'),
                other if other.is_ascii_alphanumeric() => return None,
                other => text.push(other),
            },
            '.' => text.push('x'),
            '[' => {
                let first = letters.next()?;
                if first == '^' || first == '\\' {
                    return None;
                }
                text.push(first);
                loop {
                    match letters.next()? {
                        ']' => break,
                        '\\' => _ = letters.next()?,
                        _ => {}
                    }
                }
            }
            '(' => {
                if letters.peek() == Some(&'?') {
                    letters.next();
                    match letters.next()? {
                        ':' => {}
                        'i' | 's' | 'm' => {
                            // Flags for all of it.
                            while letters.next()? != ')' {}
                            continue;
                        }
                        _ => return None,
                    }
                }
                groups.push(text.len());
                continue;
            }
            ')' => {
                last = groups.pop()?;
                continue;
            }
            '|' => {
                // The first branch is enough: the rest of the group is skipped.
                let mut depth = 1usize;
                if groups.is_empty() {
                    break;
                }
                while depth > 0 {
                    match letters.next()? {
                        '\\' => _ = letters.next()?,
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                }
                last = groups.pop()?;
                continue;
            }
            '*' | '?' => {
                if text.is_char_boundary(last) {
                    text.truncate(last);
                }
                continue;
            }
            '+' => continue,
            '{' => {
                while letters.next()? != '}' {}
                continue;
            }
            _ => text.push(letter),
        }
        last = begin;
    }
    (groups.is_empty() && !text.trim().is_empty()).then_some(text)
}

/// Returns whether a regex is a literal text between `^` and `$`, and that text.
pub(crate) fn whole_literal(regex: &str) -> Option<String> {
    let inner = regex.strip_prefix('^')?.strip_suffix('$')?;
    literal(inner)
}

/// Returns the text of a regex without a sign that has a meaning.
pub(crate) fn literal(regex: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = regex.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                other if other.is_ascii_alphanumeric() => return None,
                other => text.push(other),
            },
            _ if ".+*?()|[]{}^$".contains(letter) => return None,
            _ => text.push(letter),
        }
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_found_by_their_regex() {
        for (regex, text) in [
            ("rm\\s+-rf", Some("rm -rf")),
            ("^git (push|pull)\\b", Some("git push")),
            ("curl .*https?://", Some("curl http://")),
            ("(?i)drop\\s+table", Some("drop table")),
            ("[abc]+x", Some("ax")),
            ("a|b", Some("a")),
            ("(?=x)", None),
            ("[^a]", None),
        ] {
            assert_eq!(sample(regex).as_deref(), text, "{regex}");
        }
    }

    #[test]
    fn a_literal_has_no_sign_with_a_meaning() {
        assert_eq!(whole_literal("^git status$").as_deref(), Some("git status"));
        assert_eq!(whole_literal("^npm run test\\.unit$").as_deref(), Some("npm run test.unit"));
        assert_eq!(whole_literal("^git (a|b)$"), None);
        assert_eq!(literal("a\\d"), None);
    }
}
