//! Tokens that their shape alone gives away, wherever they are in a text.

use super::found::Found;
use super::text::{Text, is_word};
use crate::token_shape::{Letters, TOKEN_SHAPES};

/// Further prefixes, for which a record is better safe than exact: prefix, letters, fewest
/// characters.
const PREFIXES: &[(&str, Letters, usize)] = &[
    ("sk-", Letters::Alphanumeric, 20),
    ("sk_test_", Letters::Alphanumeric, 16),
    ("rk_test_", Letters::Alphanumeric, 16),
    ("whsec_", Letters::Alphanumeric, 16),
    ("ya29.", Letters::WithBoth, 16),
    ("GOCSPX-", Letters::WithBoth, 16),
    ("ASIA", Letters::UpperDigits, 16),
    ("hvs.", Letters::WithBoth, 16),
    ("hvb.", Letters::WithBoth, 16),
    ("hvr.", Letters::WithBoth, 16),
    ("glptt-", Letters::WithBoth, 16),
    ("gldt-", Letters::WithBoth, 16),
    ("glrt-", Letters::WithBoth, 16),
    ("glsa_", Letters::WithUnderscore, 16),
    ("dckr_pat_", Letters::WithBoth, 16),
    ("dop_v1_", Letters::Alphanumeric, 16),
    ("shpat_", Letters::Alphanumeric, 16),
    ("shpss_", Letters::Alphanumeric, 16),
    ("xapp-", Letters::WithDash, 16),
    ("gsk_", Letters::Alphanumeric, 20),
    ("AGE-SECRET-KEY-1", Letters::UpperDigits, 16),
    ("tskey-", Letters::WithDash, 16),
    ("lin_api_", Letters::Alphanumeric, 16),
    ("PMAK-", Letters::WithDash, 16),
];

/// Addresses that are secrets from their path on: the address stays.
const HOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
];

/// The fewest characters of a token that is shorter than those of its issuer, and has a digit.
const SHORT_CHARS_MIN: usize = 16;
/// The fewest characters of each part of a JSON Web Token.
const PART_CHARS_MIN: usize = 10;
/// The fewest characters of the path of a hook.
const HOOK_CHARS_MIN: usize = 8;

/// Adds the tokens of a text.
pub(super) fn scan(text: &Text<'_>, found: &mut Found) {
    let mut at = 0;
    while at < text.len() {
        if !is_word(text.at(at)) {
            at += 1;
            continue;
        }
        at = if begins_token(text, at) {
            token(text, at, found)
                .or_else(|| json_web_token(text, at, found))
                .or_else(|| hook(text, at, found))
                .unwrap_or(at + 1)
        } else {
            at + 1
        };
    }
}

/// Returns whether a token may begin at a place: after a word boundary, `%3D` or `\n`.
fn begins_token(text: &Text<'_>, at: usize) -> bool {
    let before = text.before(at);
    let is_after = |back: usize, byte: u8| at >= back && text.at(at - back) == byte;
    !is_word(before)
        || (before.is_ascii_hexdigit() && is_after(3, b'%'))
        || (matches!(before, b'n' | b'r' | b't') && is_after(2, b'\\'))
}

fn token(text: &Text<'_>, at: usize, found: &mut Found) -> Option<usize> {
    let shapes = TOKEN_SHAPES.iter().flat_map(|shape| {
        shape.prefixes.iter().map(|prefix| (*prefix, shape.letters, shape.chars_min))
    });
    for (prefix, letters, chars_min) in shapes.chain(PREFIXES.iter().copied()) {
        if !text.has(at, prefix.as_bytes()) {
            continue;
        }
        let start = at + prefix.len();
        let end = text.run(start, |byte| letters.contains(byte));
        let length = end - start;
        let is_short = length >= SHORT_CHARS_MIN
            && text.get(start..end.min(start + chars_min)).iter().any(u8::is_ascii_digit);
        if length >= chars_min || is_short || (length > 0 && text.is_cut_at(end)) {
            found.add(at..end);
            return Some(end);
        }
    }
    None
}

fn json_web_token(text: &Text<'_>, at: usize, found: &mut Found) -> Option<usize> {
    if !text.has(at, b"eyJ") {
        return None;
    }
    let part = |start: usize| text.run(start, |byte| Letters::WithBoth.contains(byte));
    let mut end = part(at);
    let is_long = end - at >= PART_CHARS_MIN;
    let mut parts = 1;
    while is_long && text.at(end) == b'.' && parts < 5 {
        let next = part(end + 1);
        // The second part of an encrypted token may be empty.
        if next == end + 1 && text.at(next) != b'.' && !text.is_cut_at(next) {
            break;
        }
        end = next;
        parts += 1;
    }
    if parts >= 2 && is_long || text.is_cut_at(end) {
        found.add(at..end);
    }
    Some(end)
}

fn hook(text: &Text<'_>, at: usize, found: &mut Found) -> Option<usize> {
    let hook = HOOKS.iter().find(|hook| text.has(at, hook.as_bytes()))?;
    let start = at + hook.len();
    let end = text.run(start, |byte| Letters::WithBoth.contains(byte) || byte == b'/');
    let is_secret = end - start >= HOOK_CHARS_MIN || (end > start && text.is_cut_at(end));
    if is_secret {
        found.add(start..end);
    }
    Some(end)
}
