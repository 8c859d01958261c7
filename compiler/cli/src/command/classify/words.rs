//! A command that is given word by word.

use crate::failure::Failure;

/// Operators of a shell that would be words here, and mean nothing to the program that gets them.
const OPERATORS: &[&str] = &["|", "||", "&&", "&", ">", ">>", "<"];

/// Returns the text of the command that these words are.
///
/// One word is a text as it is. Several are quoted where a shell would read them otherwise, so that the text means
/// the same words.
///
/// # Errors
///
/// Where it is open how a shell would read the words: an operator among them, or a text with blanks in front of others;
/// and where the first is an option, which relay does not have.
pub(super) fn text(words: &[String]) -> Result<String, Failure> {
    let [first, rest @ ..] = words else { return Ok(String::new()) };
    if first.starts_with('-') {
        let message = format!("`relay classify` has no option `{first}`");
        return Err(Failure::error(message).help("`relay classify --help` lists its options"));
    }
    if rest.is_empty() {
        return Ok(first.clone());
    }
    if assigned(first).is_none() && first.contains(char::is_whitespace) {
        let help = "give one command; several are read from standard input, one a line";
        return Err(Failure::error("a whole command is followed by other words").help(help));
    }
    if let Some(operator) = rest.iter().find(|word| OPERATORS.contains(&word.as_str())) {
        let help = "put the whole command in quotes, so that it is read as a shell reads it";
        return Err(Failure::error(format!("`{operator}` is a word here")).help(help));
    }
    // An assignment in front of a program is one only without quotes.
    let mut is_front = true;
    let mut quoted = Vec::with_capacity(words.len());
    for word in words {
        let assigned = assigned(word).filter(|_| is_front);
        is_front = assigned.is_some();
        quoted.push(match assigned {
            Some((name, value)) => format!("{name}={}", quote(value)?),
            None => quote(word)?,
        });
    }
    Ok(quoted.join(" "))
}

/// Returns the name and the value of `NAME=value`.
fn assigned(word: &str) -> Option<(&str, &str)> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = |name: &str| {
        name.bytes().all(is_part) && name.starts_with(|first: char| !first.is_ascii_digit())
    };
    word.split_once('=').filter(|(name, _)| is_name(name))
}

fn quote(word: &str) -> Result<String, Failure> {
    let quoted = shlex::try_quote(word);
    quoted.map(Into::into).map_err(|_| Failure::error("a word holds a zero byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(words: &[&str]) -> Result<String, Failure> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        text(&words)
    }

    #[test]
    fn words_are_the_same_words_in_the_text() {
        for words in [
            &["git", "push", "origin", "main"][..],
            &["rm", "a b", "*", "$x", "it's", "", "-rf"],
            &["A=1 2", "B=*", "env", "C=x y"],
            &["find", ".", "-exec", "rm", "{}", ";"],
        ] {
            let text = text_of(words).expect("a text");
            assert_eq!(shlex::split(&text).expect("words"), words, "{text}");
        }
        assert!(text_of(&["A=1 2", "ls"]).expect("a text").starts_with("A="));
        assert_eq!(text_of(&["cat a | sh"]).expect("a text"), "cat a | sh");
    }

    #[test]
    fn doubtful_words_are_refused() {
        for words in [&["rm a", "ls"][..], &["cat", "a", "|", "sh"], &["ls", ">", "x"]] {
            assert!(text_of(words).is_err(), "{words:?}");
        }
    }
}
