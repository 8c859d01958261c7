//! Secrets that are found, and texts that look like some.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{
    ASSIGNMENT, LINE_CHARS_MIN, RUN_CHARS_MIN, base64_runs, is_code, may_assign, search,
    search_sentences,
};

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----\n";

fn rules(bytes: &[u8]) -> Vec<&'static str> {
    let mut rules: Vec<_> = search(bytes).into_iter().map(|found| found.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn private_keys_are_found_wherever_they_are() {
    let wrapped: String = STANDARD
        .encode(KEY)
        .as_bytes()
        .chunks(64)
        .map(|line| format!("  {}\n", String::from_utf8_lossy(line)))
        .collect();
    let wide: Vec<u8> = KEY.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let in_binary = [b"\x89PNG\x00\xff", KEY.as_bytes(), b"\xff\xfe"].concat();
    let twice = STANDARD.encode(STANDARD.encode(KEY));
    let code = "Kq7vB2xLpR9sTfW3mZcY8nHdJ5gU1eAo";
    let [begin, end] =
        ["BEGIN", "END"].map(|word| format!("-----{word} PGP PRIVATE KEY BLOCK-----\n"));
    let narrow = [&begin, code.split_at(30).0, "\n", code.split_at(2).1, "\n"].concat();
    let comments = "Comment: an aside about this key and its person\n".repeat(30);
    let commented = [&begin, &comments, "\n", code, "\n", &end].concat();
    let pkcs8 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let pkcs1 = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu3aozN3tihPmUYgtX0mcQpkOxiPr";
    let sec1 = "MHcCAQEEIBpA3mX4l9nFZ2sWqf1GQyq1G8qzCq2m3y8mW7Hk0p1aoAoGCCqGSM49AwEHoUQDQgAE";
    let ed25519 = "MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF";
    for text in [
        KEY.as_bytes(),
        &in_binary,
        &wide,
        b"b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=",
        b"data: b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=",
        STANDARD.encode(KEY).as_bytes(),
        URL_SAFE_NO_PAD.encode(KEY).as_bytes(),
        wrapped.as_bytes(),
        narrow.as_bytes(),
        [&narrow, &*end].concat().as_bytes(),
        commented.as_bytes(),
        twice.as_bytes(),
        pkcs8.as_bytes(),
        pkcs1.as_bytes(),
        sec1.as_bytes(),
        ed25519.as_bytes(),
        b"PuTTY-User-Key-File-3: ssh-ed25519",
        b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: \"a\"\nP2/56wAAAi4AAAA3aWYtbW9kbntzaWdue3JzYS1wa2NzMS1zaGExfSxlbmNyeXB0e3JzYS1wa2Nz",
        b"\"-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEEIBpA3mX4l9nFZ2sWqf1GQyq1G8qzCq2m3y8mW7\\n\"",
        b"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\nComment: of a person\n\nlQOYBFWkz2sBCADKZp1uMB2gXuhrcxYSyQmN8rP5C0",
    ] {
        assert_eq!(rules(text), ["private-key"], "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn what_only_resembles_a_key_passes() {
    // A public key, a certificate request, a digest, a long word, and a name of a rule.
    for text in [
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0000000000000000000000000000000000000000",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "keys in a file begin with BEGIN PRIVATE KEY",
        "AKIA… is the beginning",
        // The first line of a key in a text about keys.
        "Look for lines such as -----BEGIN RSA PRIVATE KEY----- in the repository.",
        "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nYOUR_PRIVATE_KEY_GOES_BETWEEN_THESE_LINES\n-----END PRIVATE KEY-----",
        "Look for -----BEGIN PRIVATE KEY-----\n- `docs/reference/keys`\n- `docs/reference/list`\n-----END PRIVATE KEY-----",
    ] {
        assert_eq!(rules(text.as_bytes()), [""; 0], "{text}");
    }
}

/// Each pair has one form: a placeholder, and a key that its issuer could have made.
#[test]
fn a_placeholder_is_no_secret_and_a_key_of_its_form_is_one() {
    let jwt = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.";
    let [example, real] =
        ["SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", "3jR8xQm2Vb7Lk0Tn5YwZs1Hd9Pc4Fg6Ua"]
            .map(|signature| format!("{jwt}{signature}"));
    let pairs: &[(&str, &str, &str)] = &[
        ("aws-access-key", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7QXMWPLE"),
        ("aws-access-key", "AKIAXXXXXXXXXXXXXXXX", "AKIAXX7QXM2WPLE9ZT4K"),
        ("anthropic-key", "sk-ant-api03-YOUR-KEY-GOES-HERE", "sk-ant-api03-Yq7Rk2mW9tZb4Xc8Lp1V"),
        (
            "github-token",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_x7Qm2WpL9ZtK4bXc8Lp1Vy6Rk3Nd5Hf0Jg2A",
        ),
        (
            "github-token",
            "ghp_YOURTOKENGOESHEREYOURTOKENGOESHEREXX",
            "ghp_YOUR7Qm2WpL9ZtK4bXc8Lp1Vy6Rk3Nd5Hf0J",
        ),
        ("gitlab-token", "glpat-xxxxxxxxxxxxxxxxxxxx", "glpat-x7Qm2WpL9ZtK4bXc8Lp1"),
        ("json-web-token", &example, &real),
        ("openai-key", "sk-proj-your-api-key-placeholder", "sk-proj-your7Qm2WpL9ZtK4bXc8Lp1V"),
        ("slack-token", "xoxb-YOUR-BOT-TOKEN", "xoxb-2041986573-7Qm2WpL9ZtK4bXc8"),
        ("stripe-key", "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "sk_live_7Qm2WpL9ZtK4bXc8Lp1Vy6Rk"),
    ];
    for (rule, placeholder, key) in pairs {
        assert_eq!(rules(placeholder.as_bytes()), [""; 0], "{placeholder}");
        assert_eq!(rules(key.as_bytes()), [*rule], "{key}");
    }
    // Placeholders before a key leave it visible.
    let many = format!("{} AKIAIOSFODNN7QXMWPLE", "AKIAIOSFODNN7EXAMPLE ".repeat(30));
    assert_eq!(rules(many.as_bytes()), ["aws-access-key"]);
}

#[test]
fn sentences_of_skills_are_searched() {
    let found = |text: &str| {
        let found = search_sentences(text.as_bytes());
        found.into_iter().map(|found| found.rule).collect::<Vec<_>>()
    };
    for text in [
        "password: hunter2",
        "The admin password is Tr0ub4dor&3.",
        "api_key = \"9f8e7d6c5b4a\"",
        "API-Key: abcdefghijklmnopqrstuvwx",
        "client_secret=abc123def456",
        "token: `t0k3n-value`",
        "THE PASSWORD IS Tr0ub4dor",
        "the `Passphrase` is Tr0ub4dor",
        "Our pwd\tis Tr0ub4dor",
        "credentials is abcdef123",
        "password: your7Qm2WpL9",
        "password: your-K7q2-Zp9x",
        "password: Example-2024!",
        "password=K7q2Zp&host=db.example.com",
        "password: '\"K7q2Zp9xab\" or so'",
        "password=changeme&token=K7q2Zp9x&host=db",
    ] {
        assert_eq!(found(text), ["assigned-secret"], "{text}");
    }
    assert_eq!(found("See https://user:pass@host/path"), ["url-password"]);
    assert_eq!(found("redis://:s3cret@cache:6379"), ["url-password"]);
    assert_eq!(found("redis://:replace-K7q2-Zp9x@db:6379"), ["url-password"]);
    // Placeholders before a password leave it visible.
    let many = format!("{} password: hunter2", "password: changeme\n".repeat(30));
    assert_eq!(found(&many), ["assigned-secret"]);
    let many = format!("{} redis://:s3cret@cache", "redis://:changeme@cache ".repeat(30));
    assert_eq!(found(&many), ["url-password"]);
    for text in [
        "Never write a password into a log.",
        "password: see the vault",
        "The token is required for each call.",
        "Passwords: at least 12 characters.",
        "Set api_key=$API_KEY or api_key=<your key here>.",
        "password: ********",
        "api_key: your-api-key-goes-here",
        "token = example_token_for_tests",
        "A token: 2026-01-15",
        "https://user@host:8080/path and https://host:443/a@b",
        "https://user:<password>@host",
        "https://user:changeme@host",
        "password=changeme&host=db2.example.com",
        "password=secretly&host=db2.example.com",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn a_place_is_that_of_the_code() {
    let text = format!("see {} there", STANDARD.encode("AKIAIOSFODNN7QXMWPLE"));
    let [found] = &search(text.as_bytes())[..] else { panic!("one") };
    assert_eq!(text.get(found.range.clone()), Some("QUtJQUlPU0ZPRE5ON1FYTVdQTEU"));
}

proptest! {
    /// The names and marks of assignments in any order, with and without all that may be between them.
    #[test]
    fn a_text_that_cannot_assign_has_no_assignment(
        parts in vec(
            prop::sample::select(vec![
                "password", "passwd", "passphrase", "PWD", "secret", "token", "credential", "credentials", "api key",
                "access_key", "client-secret", "tokens", "key", ":", "=", ":=", "=>", "is", "IS", "this", " ", "\t",
                "\n", "\u{b}", "\"", "'", "`", "''", "x", "a1b2c3d4", "\u{a0}", "://", ",", "a",
            ]),
            0..12,
        ),
    ) {
        let text = parts.concat();
        let assigns = ASSIGNMENT.as_ref().is_some_and(|form| form.is_match(text.as_bytes()));
        prop_assert!(!assigns || may_assign(text.as_bytes()), "{:?}", text);
    }
}

/// Returns the runs of base64, from every byte at which one may begin.
fn runs_of_each_byte(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let (mut end, mut at, mut chars) = (start, start, 0);
        loop {
            let line = bytes[at..].iter().take_while(|byte| is_code(**byte)).count();
            if line > 0 {
                (end, chars) = (at + line, chars + line);
            }
            let blanks = bytes[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            at = end + blanks;
            if line < LINE_CHARS_MIN || !bytes[end..at].contains(&b'\n') {
                break;
            }
        }
        if chars >= RUN_CHARS_MIN {
            runs.push(start..end);
        }
        start = end.max(start + 1);
    }
    runs
}

proptest! {
    #[test]
    fn runs_of_base64_are_found_by_looks_at_some_bytes(
        lines in vec(("[ .:{é]{0,2}", "[a+/9_-]{0,40}", prop::sample::select(vec!["", "\n", " \n ", "\r\n", " "])), 0..6),
    ) {
        let text: String = lines.iter().map(|(mark, code, end)| format!("{mark}{code}{end}")).collect();
        prop_assert_eq!(base64_runs(text.as_bytes()), runs_of_each_byte(text.as_bytes()), "{:?}", text);
    }
}
