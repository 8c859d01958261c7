//! Names of secrets: `DB_PASSWORD`, `apiKey`, `X-Auth-Token`, `profile.x.aws_secret_access_key`.

use super::mark::NAME_BYTES_MAX;

/// A last word that names a secret.
const SECRETS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "creds",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "token",
];

/// Endings of one word that name a secret: `pgpassword`, `authtoken`.
const ENDINGS: &[&str] = &[
    "accesskey",
    "apikey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "secretkey",
    "token",
    "credential",
    "credentials",
];

/// Words that end in `pass` and name a secret. Others are `bypass` and `compass`.
const PASSES: &[&str] = &[
    "adminpass",
    "dbpass",
    "deststorepass",
    "ftppass",
    "keypass",
    "mailpass",
    "rootpass",
    "smtppass",
    "srcstorepass",
    "storepass",
    "userpass",
];

/// Words before `key` that make it a secret.
const KEYS: &[&str] = &[
    "access",
    "account",
    "api",
    "app",
    "auth",
    "consumer",
    "encryption",
    "functions",
    "hmac",
    "jwt",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "storage",
    "subscription",
];

/// Last words after the name of a secret that leave it one: `TOKEN_PROD`, `secret_string`.
const QUALIFIERS: &[&str] = &[
    "again",
    "b64",
    "base",
    "base64",
    "confirm",
    "confirmation",
    "current",
    "data",
    "default",
    "dev",
    "hash",
    "new",
    "old",
    "plain",
    "plaintext",
    "prod",
    "production",
    "raw",
    "repeat",
    "staging",
    "string",
    "test",
    "text",
    "value",
];

/// Words before `token` that make it a place in a list or in a text.
const TOKENS: &[&str] = &[
    "bos",
    "cancellation",
    "cls",
    "completion",
    "continuation",
    "cursor",
    "eos",
    "input",
    "mask",
    "max",
    "min",
    "next",
    "num",
    "output",
    "pad",
    "page",
    "pagination",
    "per",
    "prompt",
    "sep",
    "special",
    "stop",
    "sync",
    "unk",
];

/// Names of secrets that are compounds of other words than those above.
const WHOLE: &[&str] = &["_auth", "jsessionid", "phpsessid", "x-amz-signature", "x-goog-signature"];

/// First words of a flag that makes a program ask for a secret, print it, or do without.
const VERBS: &[&str] = &[
    "allow", "ask", "change", "check", "clear", "delete", "disable", "enable", "forget",
    "generate", "get", "has", "hide", "keep", "list", "no", "print", "prompt", "remove", "require",
    "required", "revoke", "rotate", "show", "skip", "use", "verify", "with", "without",
];

/// The sort of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// A password, token or secret.
    Value,
    /// A key or credentials, which may also be in a file that the value names.
    Key,
    /// `pass`, which is also a verb: a secret as `pass=…` and `--pass …`.
    Pass,
    /// `PWD`, which is also the working directory.
    Directory,
    /// `sig`, the signature of a link.
    Signature,
}

/// Returns the sort of a name; `None` if it names anything else than a secret.
pub(super) fn secret(name: &[u8]) -> Option<Secret> {
    let start = name.len().saturating_sub(NAME_BYTES_MAX);
    let name = name.get(start..).unwrap_or_default();
    let lower = String::from_utf8_lossy(name).to_ascii_lowercase();
    if WHOLE.contains(&&*lower) {
        return Some(Secret::Value);
    }
    match &*lower {
        "sig" => return Some(Secret::Signature),
        "pwd" | "oldpwd" => return Some(Secret::Directory),
        _ => {}
    }
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    of_words(&words)
}

/// Returns whether a name is that of a program's switch: `no-password`, `with-token`.
pub(super) fn is_switch(name: &[u8]) -> bool {
    words(name).first().is_some_and(|first| VERBS.contains(&&**first))
}

/// Returns whether a flag says that a secret comes from the input: `password-stdin`, `with-token`,
/// `passphrase-fd`.
pub(super) fn is_from_input(name: &[u8]) -> bool {
    let words = words(name);
    let is_secret = |word: &String| SECRETS.contains(&&**word) || word == "pass";
    match words.last().map(String::as_str) {
        Some("stdin" | "fd") => words.iter().any(is_secret),
        Some("token") => words.first().is_some_and(|first| first == "with"),
        _ => false,
    }
}

/// Returns whether two words, written with a blank between them, name a secret: `api key`.
pub(super) fn is_key_of(before: &[u8], key: &[u8]) -> bool {
    let before = String::from_utf8_lossy(before).to_ascii_lowercase();
    key.eq_ignore_ascii_case(b"key") && KEYS.contains(&&*before)
}

fn of_words(words: &[&str]) -> Option<Secret> {
    let (last, before) = words.split_last()?;
    let previous = before.last().copied().unwrap_or_default();
    // A number at the end counts secrets: `PASSWORD_2`.
    if last.bytes().all(|byte| byte.is_ascii_digit()) || QUALIFIERS.contains(last) {
        return of_words(before).filter(|_| !before.is_empty());
    }
    let last = last.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if last == "token" && TOKENS.contains(&previous) {
        return None;
    }
    if last == "key" {
        return KEYS.contains(&previous).then_some(Secret::Key);
    }
    if last == "pass" {
        return Some(if previous.is_empty() { Secret::Pass } else { Secret::Value });
    }
    // `NOPASSWD: ALL` in sudoers says that no password is asked for.
    if last.starts_with("nopass") {
        return None;
    }
    let is_secret = SECRETS.contains(&last)
        || PASSES.contains(&last)
        || ENDINGS.iter().any(|ending| last.ends_with(ending));
    let is_key = last.ends_with("key") || last.starts_with("cred") || last.ends_with("credentials");
    is_secret.then_some(if is_key { Secret::Key } else { Secret::Value })
}

/// Splits a name into its words, in lower case: at `_`, `-`, `.` and where capitals begin.
fn words(name: &[u8]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for (place, byte) in name.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| name.get(before));
        let after = name.get(place + 1);
        let is_lower = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_lowercase);
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let is_capital = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_uppercase);
        let begins = byte.is_ascii_uppercase()
            && (is_lower(before) || is_digit(before) || (is_capital(before) && is_lower(after)));
        if begins || matches!(byte, b'_' | b'-' | b'.') {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if !matches!(byte, b'_' | b'-' | b'.') {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}
