//! A scan reads each byte of any text a bounded number of times.

use super::super::scans;
use super::super::text::Text;

/// The most reads of one byte, over all rules. Most are comparisons with the prefixes of tokens.
const VISITS_MAX: usize = 900;

fn visits(text: &str) -> usize {
    let text = Text::new(text);
    let _ = scans::all(&text);
    text.visits()
}

#[test]
fn visits_grow_as_the_text_does() {
    let parts = [
        "a=",
        "a='",
        "a=\"",
        "token=",
        "token:",
        "pass:",
        "pass=",
        "sig:",
        "sig=",
        "pwd=/",
        "token={",
        "token=[",
        "token={{",
        "token=$(",
        "token='",
        "token=\"",
        "token=\\\"",
        "name=",
        "name='",
        "name:x/",
        "key=\"",
        "@",
        ":",
        "'",
        "\"",
        "`",
        "\\",
        "\\\"",
        "$(",
        "(",
        ")",
        "<",
        "<a>",
        "<<",
        "<<<",
        "<<a\n",
        "<token>",
        "${",
        "${token:-",
        "-p",
        " -p",
        " -p ",
        " -u",
        " -u ",
        "curl -u ",
        "curl -u '",
        "curl -u \"",
        "curl -b x",
        "curl ",
        "mysql -p",
        "://",
        "a://",
        "a://b:",
        "a://b@",
        "'a://",
        "a://b:c;",
        "authorization: ",
        "authorization: the ",
        "authorization: x '",
        "authorization: \"",
        "authorization:x;",
        "cookie: a=b; ",
        "cookie: ",
        "bearer ",
        "--password ",
        "--password '",
        "--token-",
        "echo ",
        "echo x|",
        "echo it\"s | sudo -S x; ",
        "echo 'x' | passwd;",
        "$(echo x | passwd ",
        "passwd <<<",
        "passwd <<a\n",
        "sk-",
        "ghp_",
        "eyJ",
        "eyJaaaaaaaaaaaa-",
        "eyJaaaaaaaaaaaa.",
        "AKIA",
        "BEGIN ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "PRIVATE KEY-----END ",
        "[redacted]",
        "…",
        "é",
        "\n",
        " ",
        "a",
        "a-",
        "A_",
        "aA",
        ",",
        "]",
        "}",
        "{\"a\":",
        "&",
        ";",
        "|",
        "name: token\n",
        "value: x\n",
        "docker login ",
        "sudo -u ",
        "sudo ",
        "password '",
        "a b ",
        "echo \"$(",
        "'\\''",
        "\\\\\"",
        "hooks.slack.com/services/",
        "%3D",
        "PuTTY-User-Key-File-",
    ];
    for part in parts {
        let [short, long] = [4_000, 16_000].map(|bytes| part.repeat(bytes / part.len()));
        let (few, many) = (visits(&short), visits(&long));
        assert!(many < few * 5, "{part:?}: {few} visits, four times the text {many}");
        assert!(many < long.len() * VISITS_MAX, "{part:?}: {many} visits of {}", long.len());
        // A part within others of the same kind, and each with growing backslashes.
        for other in ["'", "\"", "token=", "curl -u ", "$(", "\n"] {
            let both = format!("{part}{other}");
            let [short, long] = [1_000, 4_000].map(|bytes| both.repeat(bytes / both.len()));
            let (few, many) = (visits(&short), visits(&long));
            assert!(many < few * 5, "{both:?}: {few} visits, four times the text {many}");
        }
    }
}

#[test]
fn growing_backslashes_are_linear() {
    let text = |count: usize| {
        (0..count)
            .map(|slashes| format!("authorization: x {}\" ", "\\".repeat(slashes)))
            .collect::<String>()
    };
    let (short, long) = (text(80), text(170));
    let factor = long.len() / short.len() + 2;
    assert!(visits(&long) < visits(&short) * factor);
}
