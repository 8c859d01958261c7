//! The forms of secrets, and the search for them in any bytes.
//!
//! The rules know the forms of issuers' keys, so false alarms are rare; the shapes of tokens are in
//! `engine/src/token_shape.rs`. A private key is found in its armour, and outside of it by the
//! structure of its bytes. Data in base64 and text in UTF-16 are searched as well.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::{memchr, memchr_iter, memchr2_iter, memmem};
use regex::bytes::{Regex, RegexSet};
use relay_engine::token_shape::{TOKEN_SHAPES, TokenEnd, TokenShape};

/// The name and form of each kind of secret in text that is more than a token.
const TEXT_RULES: &[(&str, &str)] = &[
    ("json-web-token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (PRIVATE_KEY, r"---- ?BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)? ?----"),
    (PRIVATE_KEY, r"openssh-key-v1\x00"),
    (PRIVATE_KEY, r"PuTTY-User-Key-File-[0-9]: "),
];

/// Bare private keys, in DER: PKCS#8 (RSA, elliptic curves, Ed25519 and the like), PKCS#1 and SEC
/// 1. [`DER_SIGN`] is in each.
const DER_RULES: &[(&str, &str)] = &[
    (
        PRIVATE_KEY,
        r"(?s)\x30(?:\x82..|\x81.|[\x00-\x7f])\x02\x01[\x00\x01]\x30[\x00-\x7f]\x06(?:\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01[\x01\x0a]|\x07\x2a\x86\x48\xce\x3d\x02\x01|\x03\x2b\x65[\x6e-\x71])",
    ),
    (PRIVATE_KEY, r"(?s)\x30\x82..\x02\x01\x00\x02\x82..\x00"),
    (
        PRIVATE_KEY,
        r"(?s)\x30(?:\x81.|[\x00-\x7f])\x02\x01\x01\x04[\x1c-\x42].{28,66}\xa0[\x07-\x0b]\x06",
    ),
];

/// A number of one byte: the version with which each of these keys begins.
const DER_SIGN: &str = r"\x02\x01";

const PRIVATE_KEY: &str = "private-key";

/// The bytes of the shortest secret. Most texts of a bundle are shorter, and the search in each
/// would take longer than all else.
const BYTES_MIN: usize = 14;
/// The most secrets of one form that are found in one text.
const FOUND_MAX: usize = 20;
/// The fewest characters of base64 that are decoded: fewer are too short for a secret.
const RUN_CHARS_MIN: usize = 24;
/// The fewest characters of a line that the next line of base64 continues.
const LINE_CHARS_MIN: usize = 16;
/// The most layers of base64 that are decoded.
const DEPTH_MAX: usize = 2;

/// A run is found up to its padding, and may end in the middle of the encoded data.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The forms of some rules, each compiled once a process: that takes longer than a small project.
struct Forms {
    names: Vec<&'static str>,
    /// Matches wherever any rule may. It is many times faster than the rules, and most texts are
    /// free of secrets.
    any: Regex,
    /// The rules themselves: each form, compiled when a text needs it.
    forms: Vec<String>,
    set: OnceLock<RegexSet>,
    each: Vec<OnceLock<Regex>>,
}

#[expect(clippy::expect_used, reason = "the rules are constants, and every test runs them")]
impl Forms {
    fn new(rules: Vec<(&'static str, Cow<'static, str>)>, any: &str) -> Self {
        // Keys are ASCII or bytes, and so are their word boundaries: tables of letters stay out.
        Self {
            names: rules.iter().map(|(name, _)| *name).collect(),
            any: Regex::new(&format!("(?-u){any}")).expect("a regular expression"),
            forms: rules.iter().map(|(_, form)| format!("(?-u){form}")).collect(),
            set: OnceLock::new(),
            each: rules.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    fn set(&self) -> &RegexSet {
        self.set.get_or_init(|| RegexSet::new(&self.forms).expect("regular expressions"))
    }

    /// Returns the name and the regular expression of a rule.
    fn rule(&self, index: usize) -> Option<(&'static str, &Regex)> {
        let (name, form) = (self.names.get(index)?, self.forms.get(index)?);
        let each = self.each.get(index)?;
        Some((name, each.get_or_init(|| Regex::new(form).expect("a regular expression"))))
    }

    fn search(&self, bytes: &[u8], found: &mut Vec<Found>) {
        if !self.any.is_match(bytes) {
            return;
        }
        for index in self.set().matches(bytes) {
            let Some((rule, form)) = self.rule(index) else { continue };
            let is_secret = |place: &regex::bytes::Match<'_>| match rule {
                PRIVATE_KEY if place.as_bytes().ends_with(b"----") => {
                    has_body(bytes.get(place.end()..).unwrap_or_default())
                }
                _ => !is_example(rule, place.as_bytes()),
            };
            // An example is left out before the limit counts, so that many of them leave the secret
            // visible.
            let places = form.find_iter(bytes).filter(is_secret).take(FOUND_MAX);
            found.extend(places.map(|place| Found::whole(rule, place.range())));
        }
    }
}

static TEXT_FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let tokens = TOKEN_SHAPES.iter().map(|shape| (shape.rule, form_of(shape).into()));
    let rules: Vec<_> = tokens.chain(written(TEXT_RULES)).collect();
    let any: Vec<String> = rules.iter().map(|(_, form)| format!("(?:{form})")).collect();
    Forms::new(rules, &any.join("|"))
});

static DER_FORMS: LazyLock<Forms> =
    LazyLock::new(|| Forms::new(written(DER_RULES).collect(), DER_SIGN));

fn written(
    rules: &'static [(&'static str, &'static str)],
) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    rules.iter().map(|(name, form)| (*name, Cow::Borrowed(*form)))
}

/// Returns the regular expression of a token.
fn form_of(shape: &TokenShape) -> String {
    let prefixes: Vec<String> = shape.prefixes.iter().map(|prefix| regex::escape(prefix)).collect();
    let (max, boundary) = match shape.end {
        TokenEnd::Open => (",", ""),
        TokenEnd::Word => (",", r"\b"),
        TokenEnd::Exact => ("", r"\b"),
    };
    let (letters, min) = (shape.letters.class(), shape.chars_min);
    format!(r"\b(?:{}){letters}{{{min}{max}}}{boundary}", prefixes.join("|"))
}

/// A password or key with a name before it: `password: …`, `api_key = …`.
const ASSIGNED: &str = "assigned-secret";
/// A password in a URL.
const IN_URL: &str = "url-password";

static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = r"pass(?:word|wd|phrase)|pwd|secret|token|credentials?|(?:api|access|secret|private|auth)[ _-]?key|client[ _-]?secret";
    let form = format!(
        r#"(?i-u)\b(?:{names})["'`]?\s*(?::=|=>|=|:|\bis\b)\s*["'`]{{0,2}}([^\s"'`,;]{{{VALUE_BYTES_MIN},}})"#
    );
    Regex::new(&form).ok()
});
static URL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i-u)\b[a-z][a-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@[^\s/@]").ok());

/// The fewest bytes of a password.
const VALUE_BYTES_MIN: usize = 6;
/// `pwd=` and the shortest password.
const SENTENCE_BYTES_MIN: usize = 4 + VALUE_BYTES_MIN;
/// The most characters of a word of a sentence.
const WORD_CHARS_MAX: usize = 20;

/// Returns bytes with `*` for each byte of a secret that is found in them, or that is in `known`.
pub(crate) fn masked<'b>(bytes: &'b [u8], known: &[Range<usize>]) -> Cow<'b, [u8]> {
    let found = search_all(bytes).into_iter().map(|found| found.value);
    with_stars(bytes, found.chain(known.iter().cloned()))
}

/// Returns bytes with `*` for each byte of these ranges, but for white space.
pub(crate) fn with_stars(
    bytes: &[u8],
    secrets: impl Iterator<Item = Range<usize>>,
) -> Cow<'_, [u8]> {
    let mut masked = Cow::Borrowed(bytes);
    for range in secrets {
        if let Some(secret) = masked.to_mut().get_mut(range) {
            secret
                .iter_mut()
                .filter(|byte| !byte.is_ascii_whitespace())
                .for_each(|byte| *byte = b'*');
        }
    }
    masked
}

/// Returns a text as reports print it: with `*` for each byte of a secret that is found in it. Its
/// lines stay.
#[must_use]
pub fn masked_text(text: &str) -> Cow<'_, str> {
    match masked(text.as_bytes(), &[]) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Returns the passwords in sentences and URLs. A sentence about passwords is harmless: its words
/// are letters alone, or placeholders, as `<password>` and `$PASSWORD` are.
pub(crate) fn search_sentences(bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    let forms = [(ASSIGNED, &ASSIGNMENT, may_assign(bytes)), (IN_URL, &URL, may_be_url(bytes))];
    for (rule, form, may_match) in forms {
        let Some(form) = may_match.then_some(form).and_then(|form| form.as_ref()) else { continue };
        let mut from = 0;
        let mut found_max = FOUND_MAX;
        // A placeholder is left out before the limit counts, so that many of them leave the secret
        // visible.
        while let Some(captures) = form.captures_at(bytes, from).filter(|_| found_max > 0) {
            let (Some(whole), Some(value)) = (captures.get(0), captures.get(1)) else { break };
            let bare = match rule {
                ASSIGNED => before_parameter(value.as_bytes()),
                _ => value.as_bytes(),
            };
            let end = value.start() + bare.len();
            // The next parameter is searched too.
            from = if bare.len() < value.len() { end } else { whole.end() };
            let is_secret = match rule {
                ASSIGNED => {
                    bare.len() >= VALUE_BYTES_MIN && !is_placeholder(bare) && is_random(bare)
                }
                _ => !is_placeholder(bare),
            };
            if is_secret {
                let range = whole.start()..end.max(from);
                found.push(Found { rule, range, value: value.start()..end });
                found_max -= 1;
            }
        }
    }
    found
}

/// Returns a value up to the next parameter of a query: `a` of `a&host=db`.
fn before_parameter(value: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let begins_parameter = |at: &usize| {
        let after = value.get(at + 1..).unwrap_or_default();
        let name = after.iter().take_while(|byte| is_name(byte)).count();
        name > 0 && after.get(name) == Some(&b'=')
    };
    let end = memchr_iter(b'&', value).find(begins_parameter).unwrap_or(value.len());
    value.get(..end).unwrap_or(value)
}

/// Each writing of the word after which a value may be.
static IS: LazyLock<[memmem::Finder<'_>; 4]> =
    LazyLock::new(|| ["is", "Is", "iS", "IS"].map(memmem::Finder::new));

/// Returns whether bytes may hold an assignment. Most texts are free of them, and this is many
/// times faster.
fn may_assign(bytes: &[u8]) -> bool {
    let names = |at: usize| bytes.get(..at).is_some_and(ends_name);
    bytes.len() >= SENTENCE_BYTES_MIN
        && (memchr2_iter(b':', b'=', bytes).any(names)
            || IS.iter().any(|is| is.find_iter(bytes).any(names)))
}

/// Returns whether bytes may hold a URL.
fn may_be_url(bytes: &[u8]) -> bool {
    memchr_iter(b':', bytes).any(|at| bytes.get(at..at + 3) == Some(b"://"))
}

/// Returns whether bytes end as a name of [`ASSIGNMENT`] does, with a quote and blanks after it.
fn ends_name(bytes: &[u8]) -> bool {
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\x0b".contains(byte);
    let end = bytes.iter().rposition(|byte| !is_between(byte)).map_or(0, |last| last + 1);
    let name = bytes.get(..end).and_then(|name| name.last_chunk::<3>());
    let endings = [b"ord", b"pwd", b"swd", b"ase", b"ret", b"ken", b"ial", b"als", b"key"];
    name.is_some_and(|name| endings.iter().any(|ending| name.eq_ignore_ascii_case(*ending)))
}

/// The most bytes from the first line of an armoured key to its last.
const ARMOUR_BYTES_MAX: usize = 65_536;
/// Bytes after the first line of an armoured key in which its body begins, if the last line is
/// missing.
const HEAD_BYTES_MAX: usize = 1000;
/// The fewest characters of the body of a key.
const BODY_CHARS_MIN: usize = 32;
/// The fewest different characters of the body: `xxxxxxxx` has one.
const BODY_LETTERS_MIN: usize = 8;

/// Returns whether the body of a key follows its first line. A text about keys names that line
/// alone.
fn has_body(rest: &[u8]) -> bool {
    let near = rest.get(..ARMOUR_BYTES_MAX).unwrap_or(rest);
    let ends: [&[u8]; 2] = [b"----END ", b"---- END "];
    let end = ends.into_iter().filter_map(|end| memmem::find(near, end)).min();
    let body = near.get(..end.unwrap_or(HEAD_BYTES_MAX)).unwrap_or(near);
    let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_body = |code: &[u8]| {
        let letters = counts(code).into_iter().filter(|count| *count > 0).count();
        code.len() >= BODY_CHARS_MIN && letters >= BODY_LETTERS_MIN
    };
    if body.split(|byte| !is_code(byte)).any(is_body) {
        return true;
    }
    // A key may be wrapped at fewer characters. Lines of prose have blanks; a list of long words or
    // paths lacks such a mixture.
    let lines = body.split(|byte| matches!(byte, b'\n' | b'\r' | b'\\'));
    let lines = lines.map(|line| {
        let start = line.iter().position(is_code).unwrap_or(line.len());
        let end = line.iter().rposition(is_code).map_or(start, |last| last + 1);
        line.get(start..end).unwrap_or_default()
    });
    let joined: Vec<u8> = lines
        .filter(|line| line.len() >= LINE_CHARS_MIN && line.iter().all(is_code))
        .flatten()
        .copied()
        .collect();
    let has = |is: fn(&u8) -> bool| joined.iter().any(is);
    is_body(&joined)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
}

/// The signature of the example of <https://jwt.io>.
const EXAMPLE_JWT: &[u8] = b".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
/// The words of which a placeholder has one.
const PLACEHOLDER_WORDS: [&str; 6] =
    ["your", "example", "placeholder", "changeme", "replace", "redacted"];
/// The most characters of a part of a token that is a version or a region: `api03`.
const PART_CHARS_MAX: usize = 6;

/// Returns whether what has the form of a token is an example: a key of the issuer's documentation,
/// one character repeated, or words alone of which one says so (`xoxb-YOUR-BOT-TOKEN`).
fn is_example(rule: &str, token: &[u8]) -> bool {
    let documented = match rule {
        // Every example of the documentation of AWS ends so.
        "aws-access-key" => token.ends_with(b"EXAMPLE"),
        "json-web-token" => token.ends_with(EXAMPLE_JWT),
        _ => false,
    };
    let is_word = |part: &str| part.len() <= PART_CHARS_MAX || is_alphabetic(part);
    documented || is_repeated(token) || is_words(token, is_word)
}

/// Returns whether one character is more than half of a text. In a random one, all are rarer.
fn is_repeated(token: &[u8]) -> bool {
    counts(token).into_iter().max().is_some_and(|most| most * 2 > token.len())
}

/// Returns how often each byte is in a text.
fn counts(text: &[u8]) -> [usize; 256] {
    let mut counts = [0; 256];
    for byte in text {
        counts.get_mut(usize::from(*byte)).into_iter().for_each(|count| *count += 1);
    }
    counts
}

/// Returns whether a text is made of words, of which one says that a value belongs there.
fn is_words(text: &[u8], is_word: impl Fn(&str) -> bool) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    PLACEHOLDER_WORDS.iter().any(|word| text.contains(word))
        && text.split(|letter: char| !letter.is_alphanumeric()).all(is_word)
}

fn is_alphabetic(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether a value is a placeholder. A person's password may be a word and a year, so each
/// of its parts is a word.
fn is_placeholder(value: &[u8]) -> bool {
    if is_words(value, is_alphabetic) || value.ends_with("…".as_bytes()) {
        return true;
    }
    let marks = value.iter().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'_' | b'-'));
    marks || value.first().is_some_and(|first| matches!(first, b'<' | b'$' | b'{' | b'%' | b'['))
}

/// Returns whether a value is random: it mixes letters and digits, or is longer than words are.
fn is_random(value: &[u8]) -> bool {
    let trimmed = value.strip_suffix(b".").unwrap_or(value);
    let has = |is: fn(&u8) -> bool| trimmed.iter().any(is);
    (has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)) || trimmed.len() > WORD_CHARS_MAX
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    /// Its range; of an encoded secret, the range of its code.
    pub(crate) range: Range<usize>,
    /// The part that reports mask: all, or the value of a name.
    pub(crate) value: Range<usize>,
}

impl Found {
    fn whole(rule: &'static str, range: Range<usize>) -> Self {
        Self { rule, value: range.clone(), range }
    }
}

/// Returns the names of the rules, sorted.
pub(crate) fn rule_names() -> Vec<&'static str> {
    let rules = TEXT_RULES.iter().chain(DER_RULES).map(|(name, _)| *name);
    let tokens = TOKEN_SHAPES.iter().map(|shape| shape.rule);
    let mut names: Vec<_> = rules.chain(tokens).chain([ASSIGNED, IN_URL]).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the secrets in bytes, of forms and of sentences.
pub(crate) fn search_all(bytes: &[u8]) -> Vec<Found> {
    let mut found = search(bytes);
    found.extend(search_sentences(bytes));
    found
}

/// Returns the secrets in bytes, in the order of the rules.
pub(crate) fn search(bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    if bytes.len() < BYTES_MIN {
        return found;
    }
    search_to(bytes, DEPTH_MAX, &mut found);
    found.sort_by_key(|found| (found.rule, found.range.start, found.range.end));
    found.dedup();
    found
}

fn search_to(bytes: &[u8], depth: usize, found: &mut Vec<Found>) {
    TEXT_FORMS.search(bytes, found);
    DER_FORMS.search(bytes, found);
    if memchr(0, bytes).is_some() {
        // Text in UTF-16 is ASCII with a zero at each letter.
        let narrow: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        let mut inner = Vec::new();
        TEXT_FORMS.search(&narrow, &mut inner);
        found.extend(inner.into_iter().map(|it| Found::whole(it.rule, 0..bytes.len())));
    }
    if depth == 0 {
        return;
    }
    for run in base64_runs(bytes) {
        let Some(decoded) = bytes.get(run.clone()).and_then(decode) else { continue };
        let mut inner = Vec::new();
        search_to(&decoded, depth - 1, &mut inner);
        found.extend(inner.into_iter().map(|it| Found::whole(it.rule, run.clone())));
    }
}

/// Whether a byte is a character of base64, in either alphabet.
#[expect(clippy::indexing_slicing, reason = "a byte is an index of 256 entries")]
const IS_CODE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
};

fn is_code(byte: u8) -> bool {
    IS_CODE.get(usize::from(byte)).is_some_and(|is_code| *is_code)
}

/// The bytes that are compared at once: words. Of the words from any place on, the first line of a run holds
/// a whole one.
const WORD_BYTES: usize = 8;
const _: () = assert!(LINE_CHARS_MIN >= 2 * WORD_BYTES - 1);

/// Returns the first place from `from` where the first line of a run may begin.
fn line_from(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, _) = bytes.get(from..)?.as_chunks();
    let at = from + words.iter().position(may_be_code)? * WORD_BYTES;
    let before = bytes.get(from..at)?.iter().rev().take_while(|byte| is_code(**byte)).count();
    Some(at - before)
}

/// Returns whether all bytes may be characters of base64: each is ASCII from `+` on, and blanks, which end the
/// words of prose, are before it.
fn may_be_code(word: &[u8; WORD_BYTES]) -> bool {
    const TOPS: u64 = u64::from_le_bytes([0x80; WORD_BYTES]);
    const FIRST: u64 = u64::from_le_bytes([b'+'; WORD_BYTES]);
    let word = u64::from_le_bytes(*word);
    // The top bit of a byte stays if the byte is at least `+`. None borrows from the next.
    let from_first = (word | TOPS) - FIRST;
    from_first & !word & TOPS == TOPS
}

/// Returns the runs of base64, of one line or of several.
fn base64_runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let code_from = |at: usize| {
        bytes.get(at..).unwrap_or_default().iter().take_while(|byte| is_code(**byte)).count()
    };
    let mut runs = Vec::new();
    let mut next = 0;
    // Before `next` a run may not go on.
    while let Some(start) = line_from(bytes, next) {
        let Some(first) = bytes.get(start..start + LINE_CHARS_MIN) else { break };
        if let Some(last) = first.iter().rposition(|byte| !is_code(*byte)) {
            next = start + last + 1;
            continue;
        }
        let (mut end, mut chars) = (start, 0);
        loop {
            let line = code_from(end);
            end += line;
            chars += line;
            if line < LINE_CHARS_MIN {
                break;
            }
            let rest = bytes.get(end..).unwrap_or_default();
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (blanks, after) = rest.split_at_checked(blank).unwrap_or_default();
            if !blanks.contains(&b'\n') || !after.first().is_some_and(|byte| is_code(*byte)) {
                break;
            }
            end += blank;
        }
        if chars >= RUN_CHARS_MIN {
            runs.push(start..end);
        }
        next = end;
    }
    runs
}

/// Decodes a run of base64 of either alphabet, as far as it is valid.
fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let standard = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    };
    let mut code: Vec<u8> =
        run.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).map(standard).collect();
    if code.len() % 4 == 1 {
        // One character alone is less than a byte.
        code.pop();
    }
    LENIENT.decode(code).ok()
}

#[cfg(test)]
mod tests;
