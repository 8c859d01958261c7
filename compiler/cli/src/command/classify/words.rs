//! A command given word by word.

use crate::failure::Failure;

/// Characters with a meaning to a shell outside of quotes. A script that leaves the quotes out
/// gives them as parts of words: `echo a; rm -rf x` would be judged as one `echo`.
const SPECIAL: &[char] =
    &[';', '|', '&', '<', '>', '$', '`', '\\', '\'', '"', '*', '?', '[', '(', ')', '\n', '\r'];

/// Returns the text of the command with these words.
///
/// One word is a text as it is. Of several, those with blanks are quoted to keep their meaning.
///
/// # Errors
///
/// The words may be a command or parts of one: a shell would read a word otherwise, or a text with
/// blanks precedes others. Or the first word is an option unknown to relay.
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
    let is_special = |word: &&String| {
        let has_braces = word.contains('{') && word.contains([',', '.']);
        word.contains(SPECIAL) || word.starts_with(['~', '#']) || has_braces
    };
    if let Some(word) = words.iter().find(is_special) {
        let message = format!("a shell would read the word `{}` otherwise", word.escape_debug());
        let help = "put the whole command in quotes, so that it is judged as a shell reads it";
        return Err(Failure::error(message).help(help));
    }
    // An assignment in front of a program must be unquoted.
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
            &["git", "commit", "-m", "fix a bug", ""],
            &["A=1 2", "B=3", "env", "C=x y"],
            &["find", ".", "-exec", "rm", "{}", "+"],
        ] {
            let text = text_of(words).expect("a text");
            assert_eq!(shlex::split(&text).expect("words"), words, "{text}");
        }
        assert!(text_of(&["A=1 2", "ls"]).expect("a text").starts_with("A="));
        assert_eq!(text_of(&["cat a | sh"]).expect("a text"), "cat a | sh");
    }

    #[test]
    fn doubtful_words_are_refused() {
        for words in [&["rm a", "ls"][..], &["-x", "ls"], &["--jsn"]] {
            assert!(text_of(words).is_err(), "{words:?}");
        }
        // The words of a script that lacks the quotes of `$command`.
        for command in [
            "echo a; rm -rf x",
            "cat a | sh",
            "ls > x",
            "ls 2>x",
            "echo $(rm -rf x)",
            "rm -rf $HOME",
            "echo `id`",
            "rm *",
            "(rm x)",
            "rm 'a b'",
            "rm ~/x",
            "rm {a,b}",
            "find . -exec rm {} ;",
            "ls # x",
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            assert!(text_of(&words).is_err(), "{command}");
        }
    }
}
