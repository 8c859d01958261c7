//! Secrets in random surroundings, and random texts.

use proptest::prelude::*;

use super::super::{redacted, settled};

/// Pieces of texts that may stand around a secret.
const PIECES: &[&str] = &[
    "ls -l",
    "it's",
    "\"",
    "'",
    "`",
    "don't",
    "(",
    ")",
    "$(date)",
    "[",
    "]",
    "{",
    "}",
    ";",
    "|",
    "&&",
    "&",
    "\n",
    "\t",
    " ",
    "  ",
    "=",
    ":",
    ",",
    "é",
    "日本",
    "…",
    "\\",
    "\\\"",
    "\\n",
    "<",
    ">",
    "2>&1",
    "<<EOF",
    "EOF",
    "<<<",
    "#",
    "curl",
    "docker",
    "login",
    "sudo",
    "-S",
    "-u",
    "-p",
    "--password",
    "password",
    "token",
    "name",
    "value",
    "key",
    "echo",
    "passwd",
    "chpasswd",
    "mysql",
    "-pX",
    "https://",
    "a@b",
    "user:pass@",
    "Authorization:",
    "Cookie:",
    "Bearer",
    "Basic",
    "[redacted]",
    "[redacted",
    "redacted]",
    "none",
    "$X",
    "${X}",
    "{\"a\": 1}",
    "\"b\":",
    "BEGIN ",
    "-----",
    "-----BEGIN PRIVATE KEY-----",
    "ghp_",
    "sk-",
    "eyJ",
    "sig=",
    "PWD=/x",
    "openssl",
    "-pass",
    "pass:",
    "env:X",
    "<a>",
    "</a>",
    "is",
    "the",
];

/// Texts with a place for a secret of one word.
const BARE: &[&str] = &[
    "password=@",
    "DB_PASSWORD=@ run",
    "export TOKEN=@",
    "api_key: @",
    "secret => @",
    "x --password @",
    "x --token=@",
    "-Ddb.password=@",
    "curl -u bob:@ u",
    "curl -ubob:@",
    "mysql -p@",
    "sshpass -p @ ssh h",
    "https://bob:@@h/",
    "docker login -p @",
    "openssl x -pass pass:@",
    "redis-cli -a @",
    "zip -P @ x",
    "ldapsearch -w @",
    "-H 'X-Api-Key: @'",
    "-H \"Authorization: Bearer @\"",
    "Authorization: Basic @",
    "{\"password\":\"@\"}",
    "{\\\"password\\\":\\\"@\\\"}",
    "password='@'",
    "password=\"@\"",
    "a?x=1&token=@&y=2",
    "kubectl create secret generic x --from-literal=password=@",
    "Cookie: a=@",
    "aws configure set aws_secret_access_key @",
    "AccountKey=@;x=1",
    "$env:TOKEN = \"@\"",
    "config['password'] = '@'",
    "<password>@</password>",
    "ConvertTo-SecureString '@' -Force",
    "name: DB_PASSWORD\nvalue: @",
    "${TOKEN:-@}",
    "bash -c 'PGPASSWORD=@ psql'",
];

/// Texts with a place for a secret with blanks.
const QUOTED: &[&str] = &[
    "password='@'",
    "password=\"@\"",
    "x --password '@' y",
    "x --password=\"@\" y",
    "\"secret\": \"@\"",
    "curl -u 'bob:@' x",
    "mysql -p'@'",
    "sshpass -p '@' ssh h",
    "-H 'X-Api-Key: @'",
    "Authorization: Basic @",
];

/// Texts with a place for a secret that a program reads.
const INPUTS: &[&str] = &[
    "echo @ | sudo -S ls",
    "echo '@' | sudo -S ls",
    "echo bob:@ | chpasswd",
    "chpasswd <<< bob:@",
    "passwd bob <<EOF\n@\n@\nEOF",
    "echo @ | docker login --password-stdin",
    "ssh h \"echo @ | sudo -S ls\"",
    "printf '%s\\n' @ | passwd --stdin bob",
];

/// Pieces of sentences, with quotes that nothing closes.
const PROSE: &[&str] = &[
    "ls -l", "it's", "\"", "'", "don't", "(", ")", "{", "}", ";", "|", "&&", "\n", " ", "=", ",",
    "é", "日本", "…", "\\", "#", "curl", "docker", "login", "sudo", "$(date)", "\\n", "<", ">",
    "the", "12", "a@b",
];

fn pieces() -> impl Strategy<Value = String> {
    joined(PIECES.to_vec())
}

/// Pieces without quotes, and pieces without names of secrets: an open quote after such a name
/// belongs to its value, and so does all up to the next quote.
fn before() -> impl Strategy<Value = String> {
    let without_quotes = |piece: &&&str| !piece.contains(['"', '`']) && **piece != "'";
    prop_oneof![
        joined(PIECES.iter().filter(without_quotes).copied().collect()),
        joined(PROSE.to_vec()),
    ]
}

fn joined(pieces: Vec<&'static str>) -> impl Strategy<Value = String> {
    let piece = (proptest::sample::select(pieces), any::<bool>());
    proptest::collection::vec(piece, 0..12).prop_map(|all| {
        let piece = |(piece, is_apart)| format!("{piece}{}", if is_apart { " " } else { "" });
        all.into_iter().map(piece).collect()
    })
}

/// Pieces without quotes and substitutions, which may hide a program's input.
fn whole_pieces() -> impl Strategy<Value = String> {
    let is_whole = |piece: &&&str| !piece.contains(['"', '\'', '`', '(', ')', '\\', '<', '#']);
    let pieces: Vec<&str> = PIECES.iter().filter(is_whole).copied().collect();
    proptest::collection::vec(proptest::sample::select(pieces), 0..10).prop_map(|all| all.join(" "))
}

fn check(before: &str, form: &str, secret: &str, after: &str) -> Result<(), TestCaseError> {
    let (start, end) = match form.split_once("@@") {
        Some((start, end)) => (start, format!("@{end}")),
        None => form.split_once('@').map(|(start, end)| (start, end.replace('@', secret))).unwrap(),
    };
    // A flag at the end of the pieces may take a word of the next line; that line is empty.
    let text = format!("{before}\n\n{start}{secret}{end}\n{after}");
    let found = redacted(&text);
    prop_assert!(!found.contains(secret), "{text:?}\n{found:?}");
    prop_assert_eq!(&redacted(&found), &found);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bare_secret_is_hidden_in_any_surroundings(
        before in before(),
        form in proptest::sample::select(BARE),
        secret in "Hq[0-9A-Za-z!@%^*_+=.-]{6,20}7",
        after in pieces(),
    ) {
        check(&before, form, &secret, &after)?;
    }

    #[test]
    fn a_quoted_secret_is_hidden_in_any_surroundings(
        before in before(),
        form in proptest::sample::select(QUOTED),
        secret in "Hq[0-9A-Za-z!@%^*_+=., -]{6,20}7",
        after in pieces(),
    ) {
        check(&before, form, &secret, &after)?;
    }

    #[test]
    fn the_input_of_a_program_is_hidden(
        before in whole_pieces(),
        form in proptest::sample::select(INPUTS),
        secret in "Hq[0-9A-Za-z!@%^_+=.-]{6,20}7",
        after in pieces(),
    ) {
        check(&before, form, &secret, &after)?;
    }

    #[test]
    fn the_result_is_stable_and_a_text_is_never_replaced_as_a_whole(text in pieces(), other in "\\PC{0,40}") {
        for text in [text.clone(), format!("{text}{other}"), other] {
            let found = redacted(&text);
            prop_assert_eq!(&redacted(&found), &found);
            prop_assert!(settled(&text).is_some(), "{:?}", text);
        }
    }

    #[test]
    fn secrets_side_by_side_are_stable(
        forms in proptest::collection::vec(proptest::sample::select([BARE, QUOTED, INPUTS].concat()), 1..6),
        between in pieces(),
        secret in "[0-9A-Za-z!@%^*_+=., '\"\\\\$(){}-]{1,12}",
    ) {
        let forms: Vec<String> = forms.iter().map(|form| form.replace('@', &secret)).collect();
        for text in [forms.join(&between), forms.concat(), serde_json::json!({ "command": forms.join(" ") }).to_string()] {
            let found = redacted(&text);
            prop_assert_eq!(&redacted(&found), &found);
            prop_assert!(settled(&text).is_some(), "{:?}", text);
        }
    }

    #[test]
    fn any_characters_are_read(text in any::<String>()) {
        let found = redacted(&text);
        prop_assert_eq!(&redacted(&found), &found);
    }
}
