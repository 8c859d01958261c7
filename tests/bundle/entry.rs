//! Functions over arbitrary bytes that must hold for every input. The fuzz targets call them with
//! what a fuzzer makes up, `mutation` with what chance gives it.

use std::sync::LazyLock;

use relay_bundle::envelope::Envelope;
use relay_bundle::{Digest, List, UriPiece, encode, trust};
use relay_engine::glob::{self, Part};
use relay_engine::place::{Identity, place};
use relay_engine::view::View;

use super::raw::{Raw, Row};
use super::{raw, sample, tags, uri};

/// Opens any bytes and reads all they hold: it never panics, and trusts only signed bundles.
pub(crate) fn bundle_reader(bytes: &[u8]) {
    let _ = relay_bundle::outline(bytes);
    let Ok(bundle) = sample::open(bytes) else { return };
    let trusted = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).is_ok();
    let read = bundle.contents();
    let tags = tags::tags(&bundle);
    let skills = bundle.skill_index().map(|_| ());
    let checked = bundle.check_all().is_ok();
    find_all(&bundle);
    if trusted {
        // Key 1 has signed two bundles in this world, so only their contents can be read.
        let signed = [sample::tiny(), sample::rich()];
        if let Ok(contents) = &read {
            assert!(signed.contains(contents), "trusted contents that were not signed");
        }
        if checked {
            assert!(read.is_ok(), "a good bundle cannot be read: {read:?}");
            assert!(tags.is_ok(), "a good tag index cannot be read: {tags:?}");
            assert!(skills.is_ok(), "a good index of skills cannot be read: {skills:?}");
        }
    }
}

/// Edits a good bundle as `bytes` say, hashes it again, and reads all of it: so the readers after
/// the digests meet impossible records. Signing is left out: it would be by far the slowest step,
/// and readers ignore signatures.
pub(crate) fn bundle_structure(bytes: &[u8]) {
    static GOOD: LazyLock<Raw> =
        LazyLock::new(|| Raw::of(&encode(&sample::rich()).expect("it fits the format")));
    let mut raw = GOOD.clone();
    let mut edits = bytes.chunks_exact(8).take(64);
    for edit in &mut edits {
        let &[what, section, a, b, c, d, e, f] = edit else { continue };
        let value = u32::from_le_bytes([c, d, e, f]);
        let wide = u64::from(value) | u64::from(a) << 56;
        let at = usize::from(u16::from_le_bytes([a, b]));
        let index = usize::from(section) % raw.rows.len().max(1);
        match what % 16 {
            10 => raw.epoch = wide,
            11 => raw.content_length = Some(wide),
            12 => raw.section_count = Some(value),
            13 => raw.features = u64::from(c),
            14 => raw.minor = b.into(),
            what => {
                if let Some(row) = raw.rows.get_mut(index) {
                    edit_row(row, what, at, value);
                }
                match (what, raw.rows.len()) {
                    (7, 1..) => drop(raw.rows.remove(index)),
                    (8, 2..) => {
                        let other = at % raw.rows.len();
                        raw.rows.swap(index, other);
                    }
                    _ => {}
                }
            }
        }
    }
    let Ok(bundle) = sample::open(&raw::with_envelope(raw.content(), b"")) else { return };
    if raw.rows.iter().all(|row| row.digest.is_none() && row.length.is_none()) {
        bundle.check_all().expect("it was hashed");
    }
    let _ = bundle.contents();
    let _ = tags::tags(&bundle);
    find_all(&bundle);
}

fn edit_row(row: &mut Row, what: u8, at: usize, value: u32) {
    let Row { kind, flags, offset, length, digest, reserved, data } = row;
    match what {
        // Most edits overwrite a number of a record, with a small or with any number.
        0..=1 | 15 => {
            let value = if what == 0 { value % 64 } else { value };
            let at = at % data.len().max(1) / 4 * 4;
            if let Some(word) = data.get_mut(at..at + 4) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        }
        2 => {
            if let Some(byte) = data.get_mut(at) {
                *byte = value as u8;
            }
        }
        3 => data.truncate(at),
        4 => data.extend(std::iter::repeat_n(value as u8, at % 5000)),
        5 => *flags = value % 4,
        6 => *kind = value % 96,
        9 => match value % 4 {
            0 => *offset = Some(value.into()),
            1 => *length = Some(at as u64),
            2 => *digest = Some(Digest::of(&value.to_le_bytes())),
            _ => *reserved = value.into(),
        },
        _ => {}
    }
}

/// Reads any bytes as an envelope: what is read is written back the same, and only the statement
/// that key 1 has signed is accepted.
pub(crate) fn envelope(bytes: &[u8]) {
    let Ok(envelope) = Envelope::parse(bytes) else { return };
    let json = envelope.to_json().expect("an envelope is JSON");
    if json.len() <= bytes.len() {
        assert_eq!(Envelope::parse(&json).as_ref(), Ok(&envelope));
    }
    let good = seed_envelope();
    let digest = seed_digest();
    let trust = sample::trust(&[1]);
    match trust::verify_envelope(&envelope, digest, &trust, sample::NOW.0) {
        Ok(_) => assert_eq!(envelope.signed_bytes(), good.signed_bytes()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The envelope that key 1 has signed.
pub(crate) fn seed_envelope() -> Envelope {
    raw::signed(&raw::statement(seed_digest()), 1)
}

fn seed_digest() -> Digest {
    Digest::of(b"seed")
}

/// Matches a URI (the second line) against a URI template (the first): found is what can be found.
pub(crate) fn uri_template(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some((template, text)) = text.split_once('\n') else { return };
    if template.len() > 256 || text.len() > 4096 {
        return;
    }
    let bundle = uri::bundle(&[], &[template]);
    let values = uri::values(&bundle, text);
    let pieces = uri::template(template).pieces;
    let variables = pieces.iter().filter(|piece| matches!(piece, UriPiece::Variable(_))).count();
    // The compiler rejects adjacent variables, and trying all splits takes long.
    let apart =
        !pieces.windows(2).any(|two| matches!(two, [UriPiece::Variable(_), UriPiece::Variable(_)]));
    if apart && variables <= 3 && text.len() <= 64 && !text.contains('%') {
        assert_eq!(values.is_some(), uri::can_match(&pieces, text), "{template:?} {text:?}");
    }
}

type Name = Option<&'static str>;

/// Questions that some skills of the rich sample match, by listed patterns and by others.
const QUESTIONS: [(Name, Name, Name); 3] = [
    (Some("acme"), Some("api-create"), Some("john@acme.example")),
    (Some("acme"), Some("db-b"), Some("john@acme.example")),
    (None, Some("ssh_exec"), Some("mary")),
];

/// Matches a name (the second line) against a pattern (the first): it ends, and a literal pattern
/// matches itself alone.
pub(crate) fn glob(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some((pattern, name)) = text.split_once('\n') else { return };
    if pattern.len() > 256 || name.len() > 512 || glob::check(pattern).is_err() {
        return;
    }
    let matches = glob::matches(pattern, name);
    let parts: Vec<Part<'_>> = glob::parts(pattern).collect();
    let letters: Vec<char> = name.chars().collect();
    assert_eq!(matches, fits(&parts, &letters), "{pattern:?} {name:?}");
}

/// Returns whether parts match letters: for each part, from which letters on the rest may follow.
fn fits(parts: &[Part<'_>], letters: &[char]) -> bool {
    let mut starts = vec![false; letters.len() + 1];
    starts[0] = true;
    for part in parts {
        let mut next = vec![false; letters.len() + 1];
        for place in 0..=letters.len() {
            let before = place.checked_sub(1);
            next[place] = match part {
                Part::Run => starts[place] || before.is_some_and(|before| next[before]),
                one => before.is_some_and(|before| starts[before] && one.has(letters[before])),
            };
        }
        starts = next;
    }
    starts[letters.len()]
}

fn find_all(bundle: &relay_bundle::Bundle) {
    for prompt in bundle.prompts().take(64).flatten() {
        if let Ok(name) = prompt.name() {
            let _ = bundle.find_prompt(name);
        }
        let _ = relay_engine::prompt::fill(prompt.rendering(), &Default::default());
        let _ = relay_engine::completion::complete(prompt.rendering(), "environment", "s");
    }
    for (tenant, tool, user) in QUESTIONS {
        let question = relay_engine::cascade::Question { tenant, tool, user };
        if let Ok(resolution) = relay_engine::cascade::resolve(bundle, question) {
            let _ = resolution.text();
            let _ = resolution.trace();
        }
        let _ = relay_engine::cascade::near_misses(bundle, question);
    }
    // Whatever a damaged bundle says of audiences, asking what they see ends.
    for number in 0..bundle.audiences().count().clamp(1, 8) {
        let Ok(view) = View::of_audience(bundle, number) else { continue };
        for uri in ["relay://logo", "relay://host/a.md", ""] {
            let _ = relay_engine::resource::find(&view, uri);
        }
        for list in List::ALL {
            let _ = view.rows(list).map(|rows| rows.take(64).count());
            let _ = view.page(list, 0);
        }
        let _ = view.instructions();
        let _ = view.listed();
    }
    let groups = ["acme:sre".to_owned()];
    let identity = Identity { id: "john@acme.example", groups: &groups, ..Identity::default() };
    let _ = place(bundle, &identity).map(|placed| placed.map(|it| View::of(bundle, &it).is_ok()));
}
