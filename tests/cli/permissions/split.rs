//! The parts of a compound command, as the clients' documents describe them: separated by `&&`, `||`, `;`, `|`, `|&`, `&` and
//! newlines outside of quotes.

/// Returns the parts, trimmed; without empty ones.
pub(super) fn parts(command: &str) -> Vec<String> {
    let command = &without_here_documents(command);
    let mut parts = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        let last = parts.last_mut().expect("a part");
        match (quote, letter) {
            (Some(mark), _) => {
                last.push(letter);
                if letter == '\\' && mark == '"' {
                    last.extend(letters.next());
                }
                if letter == mark {
                    quote = None;
                }
            }
            (None, '\\') => {
                last.push(letter);
                last.extend(letters.next());
            }
            (None, '"' | '\'') => {
                last.push(letter);
                quote = Some(letter);
            }
            // `2>&1` is a redirection.
            (None, '&') if last.ends_with('>') => last.push(letter),
            (None, '&' | '|' | ';' | '\n') => parts.push(String::new()),
            (None, _) => last.push(letter),
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Returns whether a part has more than words: a variable, a substitution, a group, a redirection or a comment outside of single
/// quotes.
pub(super) fn hides(part: &str) -> bool {
    let mut is_literal = false;
    let mut is_double = false;
    for letter in part.chars() {
        match letter {
            '\'' if !is_double => is_literal = !is_literal,
            '"' if !is_literal => is_double = !is_double,
            _ if is_literal => {}
            '\\' => return true,
            '$' | '`' => return true,
            '(' | ')' | '{' | '}' | '<' | '>' | '#' if !is_double => return true,
            _ => {}
        }
    }
    is_literal || is_double
}

/// Returns whether a text matches a pattern in which `*` is any text.
pub(super) fn star(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else { return false };
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.into_iter().any(|at| star(after, &rest[at..]))
        }
    }
}

/// Returns the words of a part without quotes.
pub(super) fn words(part: &str) -> Option<Vec<String>> {
    shlex::split(part)
}

/// Returns a command without the bodies of its here-documents, which are data.
fn without_here_documents(command: &str) -> String {
    let mut out = Vec::new();
    let mut end: Option<&str> = None;
    for line in command.split('\n') {
        match end {
            Some(word) if line == word => end = None,
            Some(_) => {}
            None => {
                out.push(line);
                let word = line
                    .split_once("<<")
                    .map(|(_, word)| word.split(' ').next().unwrap_or_default());
                let word = word.map(|word| word.trim_start_matches('-').trim_matches(['\'', '"']));
                end =
                    word.filter(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric));
            }
        }
    }
    out.join("\n")
}
