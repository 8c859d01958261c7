//! The words of a command that no shell reads (`use_shell=false`): blanks separate them, quotes join
//! them, and nothing else has a meaning.

/// Returns the words of a command; `None` if it has none, or a quote is left open.
///
/// Quotes are those of POSIX shells: between `'` all is literal; between `"` a backslash keeps `"`, `\`,
/// `$`, a backquote and a line feed; outside of both it keeps any character.
#[must_use]
pub fn split_words(command: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(rest.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    (!words.is_empty()).then_some(words)
}

fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            '\\' => match rest.next()? {
                kept @ ('"' | '\\' | '$' | '`') => word.push(kept),
                '\n' => {}
                other => word.extend(['\\', other]),
            },
            inner => word.push(inner),
        }
    }
}

/// Returns words as a text that a shell reads as exactly these words.
#[must_use]
pub fn join_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted = words.into_iter().map(quote_word);
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns a word as a shell reads it literally.
#[must_use]
pub fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Words that bash runs itself, though a program may have the name, and words of its grammar.
const OF_BASH: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "case",
    "esac",
    "for",
    "select",
    "while",
    "until",
    "do",
    "done",
    "in",
    "function",
    "time",
    "{",
    "}",
    "!",
    "[[",
    "]]",
    "coproc",
];

/// Returns the words of a command that is one program with literal arguments, so that bash would run
/// it just so; `None` for all else. `true` and `false` are such programs: they do the same as those of
/// bash.
#[must_use]
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '@' | '%' | '+' | '=' | ':' | ',' | '.' | '/' | '-' | ' ')
    };
    let command = command.trim_matches([' ', '\n', '\t']);
    let words: Vec<String> = match command.chars().all(is_plain) {
        true => command.split(' ').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect(),
        false => return None,
    };
    let program = words.first()?;
    (!program.contains('=') && !OF_BASH.contains(&program.as_str())).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_join_and_nothing_else_has_a_meaning() {
        let split = |command: &str| split_words(command).expect("words").join("|");
        assert_eq!(split("ls  -l\t'a b'"), "ls|-l|a b");
        assert_eq!(split(r#"a"b c"'d'\ e"#), "ab cd e");
        assert_eq!(split(r#""\$x \n \" \\""#), r#"$x \n " \"#);
        assert_eq!(split("cat # ; rm $(x) > y && z"), "cat|#|;|rm|$(x)|>|y|&&|z");
        assert_eq!(split("a ''"), "a|");
        for open in ["'a", "\"a", "a\\", "", "  "] {
            assert_eq!(split_words(open), None, "{open}");
        }
    }

    #[test]
    fn only_a_program_with_literal_arguments_is_plain() {
        let plain = |command: &str| plain_words(command).map(|words| words.join("|"));
        assert_eq!(plain(" ls  -l /srv/app\n").as_deref(), Some("ls|-l|/srv/app"));
        assert_eq!(plain("env A=b x").as_deref(), Some("env|A=b|x"));
        for text in [
            "",
            "A=b x",
            "ls *",
            "ls ~",
            "echo a",
            "cd x",
            "a; b",
            "a\nb",
            "ls $x",
            "ls 'a'",
            "ls a\\b",
            "a | b",
            "a > b",
            "a & b",
            "{ a; }",
            "if",
            "time ls",
            "! ls",
            "ls #x",
            "ls ?",
            "ls [a]",
            "ls {a,b}",
            "\u{e9}t\u{e9}",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn joined_words_are_split_into_the_same() {
        for words in [["a b", "c'd"], ["", "$x"], ["*", "-n\\"], ["#", "é\n"]] {
            let text = join_words(words);
            assert_eq!(split_words(&text).expect("words"), words, "{text}");
        }
    }
}
