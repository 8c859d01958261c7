//! Bytes that changed after signing. Every one of them is noticed, and before it is used.

use std::sync::LazyLock;

use relay_bundle::{Corrupt, Kind, OpenError, trust};

use super::tags::{self, Tags};
use super::{sample, tag_index};

static TAGS: LazyLock<Tags> = LazyLock::new(|| tag_index::expected(&sample::rich().prompts));

/// The error of a bundle that was the signed `rich` sample once: the stage and its error.
fn open_error(bytes: &[u8]) -> Option<String> {
    let bundle = match sample::open(bytes) {
        Ok(bundle) => bundle,
        Err(error) => return Some(format!("open: {error:?}")),
    };
    if let Err(error) = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0) {
        return Some(format!("trust: {error:?}"));
    }
    // Before any page is checked for itself: what can be read is what was signed.
    match bundle.contents() {
        Ok(contents) => assert!(contents == sample::rich(), "wrong contents were read"),
        Err(Corrupt::Page { .. }) => {}
        Err(error) => panic!("a page that was not signed was read: {error:?}"),
    }
    match tags::tags(&bundle) {
        Ok(tags) => assert!(tags == *TAGS, "a wrong tag index was read"),
        Err(Corrupt::Page { .. }) => {}
        Err(error) => panic!("a page that was not signed was read: {error:?}"),
    }
    // Leaves no bad page checked.
    bundle.check_ahead();
    bundle.check_all().err().map(|error| format!("pages: {error:?}"))
}

#[test]
fn an_untouched_bundle_is_accepted() {
    assert_eq!(open_error(&sealed()), None);
}

#[test]
fn every_changed_byte_is_noticed() {
    let good = sealed();
    for at in 0..good.len() {
        for bits in [0x01, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= bits;
            assert!(open_error(&bad).is_some(), "byte {at} ^ {bits:#x} was not noticed");
        }
    }
}

/// Where a change is noticed, region by region. The lowest bit of the byte is flipped.
#[test]
fn each_region_has_its_guard() {
    let check = |what: &str, at: usize, expected: &str| {
        let mut bad = sealed();
        bad[at] ^= 1;
        let error = open_error(&bad).unwrap_or_default();
        assert!(error.starts_with(expected), "{what} (byte {at}): {error}");
    };
    let signed_digest = r#"trust: Envelope(Statement { what: "the digest" })"#;
    check("magic", 0, "open: NotABundle");
    check("format, major", 16, "open: Format { found: 0 }");
    check("format, minor", 18, signed_digest);
    check("section count", 20, "open: ");
    check("content length", 24, "open: ");
    check("epoch", 32, signed_digest);
    check("features", 40, "open: Features { features: 1 }");
    check("header, reserved", 48, r#"open: Reserved { what: "the header" }"#);
    // The row of `Strings`, the eighth one.
    check("row, kind", 512, "open: SectionOrder { kind: 9 }");
    check("row, flags", 516, signed_digest);
    check("row, offset", 520, "open: Unaligned { kind: 8");
    // Its length is odd, so a byte of it becomes padding.
    check("row, length", 528, "open: Padding");
    check("row, digest", 536, signed_digest);
    check("row, reserved", 568, r#"open: Reserved { what: "the section table" }"#);

    let good = sealed();
    let bundle = sample::open(&good).unwrap();
    for info in bundle.sections() {
        let (begin, length) = (info.offset as usize, info.length as usize);
        let section = info.kind.unwrap().name();
        let is_settings = [
            "manifest",
            "messages",
            "gate",
            "tools",
            "roles",
            "skill-settings",
            "policy",
            "tool-settings",
            "hosts",
        ]
        .contains(&section);
        let stage = if is_settings { "open: Corrupt(" } else { "pages: " };
        let corrupt = format!("{stage}Page {{ section: {section:?}, offset: 0 }}");
        check("first byte of a section", begin, &corrupt);
        check("a byte in the middle", begin + length / 2, &corrupt);
        check("last byte of a section", begin + length - 1, &corrupt);
        if length % 64 != 0 {
            check("padding", begin + length, "open: Padding { offset: ");
        }
    }
    let envelope = bundle.content_bytes().len();
    check("the envelope's length", envelope, "open: Tr");
    check("the envelope's length, high", envelope + 7, "open: Envelope");
    check("the envelope's JSON", envelope + 8, "trust: Envelope(Malformed");
    check("the last byte", good.len() - 1, "trust: Envelope(Malformed");
}

/// A changed byte in a tall digest tree, on each of its levels.
#[test]
fn each_level_of_a_tree_is_checked() {
    let good = sample::sealed(&sample::large(), &[1]);
    let bundle = sample::open(&good).unwrap();
    let mut levels_max = 0;
    for info in bundle.sections() {
        let section = info.kind.unwrap().name();
        let (mut begin, mut length) = (info.offset as usize, info.length as usize);
        let mut levels = 0;
        loop {
            for at in [begin, begin + length / 2, begin + length - 1] {
                let mut bad = good.clone();
                bad[at] ^= 1;
                let found = sample::checked(&bad);
                assert!(
                    matches!(found, Err(Corrupt::Page { section: s, .. }) if s == section),
                    "level {levels} of {section}, byte {at}: {found:?}"
                );
            }
            if length <= 4096 {
                break;
            }
            begin = (begin + length).next_multiple_of(64);
            length = length.div_ceil(4096) * 32;
            levels += 1;
        }
        levels_max = levels_max.max(levels);
    }
    assert_eq!(levels_max, 2, "the sample has a tree of two levels");
}

/// A bad page is refused whenever it is asked for; the others can be read as before.
#[test]
fn a_bad_page_affects_only_what_it_holds() {
    let mut bytes = sample::sealed(&sample::large(), &[1]);
    let bundle = sample::open(&bytes).unwrap();
    let bodies = bundle.sections().iter().find(|info| info.kind == Some(Kind::Bodies)).unwrap();
    let last = (bodies.offset + bodies.length - 1) as usize;
    bytes[last] ^= 1;

    let bundle = sample::open(&bytes).unwrap();
    let messages = |name| {
        let prompt = bundle.find_prompt(name).unwrap().unwrap();
        prompt.rendering().messages(0).map(|messages| messages.len())
    };
    assert_eq!(messages("greet"), Ok(1));
    for _ in 0..2 {
        assert!(matches!(messages("zz-long"), Err(Corrupt::Page { section: "bodies", .. })));
    }
    assert_eq!(messages("greet"), Ok(1));
}

#[test]
fn every_truncation_is_noticed() {
    let good = sealed();
    let content = sample::open(&good).unwrap().content_bytes().len();
    for length in 0..good.len() {
        let error = sample::open(&good[..length]).expect_err("a truncated bundle");
        let expected = if length < 64 {
            OpenError::TruncatedHeader { length }
        } else if length < content {
            OpenError::Truncated { found: length as u64, expected: content as u64 }
        } else if length < content + 8 {
            OpenError::Envelope
        } else {
            OpenError::Truncated { found: length as u64, expected: good.len() as u64 }
        };
        assert_eq!(error, expected, "{length} bytes");
        assert!(error.to_string().contains("fetch or build it again"), "{error}");
    }
}

#[test]
fn trailing_bytes_are_noticed() {
    let mut bytes = sealed();
    bytes.extend(*b"\r\n");
    let error = sample::open(&bytes).unwrap_err();
    assert_eq!(error, OpenError::Trailing { extra: 2 });
    assert!(error.to_string().contains("fetch or build it again"), "{error}");
}

#[test]
fn a_transfer_in_text_mode_is_reported() {
    let check = |what: &str, change: fn(&[u8]) -> Vec<u8>| {
        let error = sample::open(&change(&sealed())).unwrap_err();
        assert_eq!(error, OpenError::TextModeDamage, "{what}");
        assert!(error.to_string().contains("transfer it as binary"), "{error}");
    };
    check("LF to CRLF", |bytes| replace(bytes, b"\n", b"\r\n"));
    check("CRLF to LF", |bytes| replace(bytes, b"\r\n", b"\n"));
    check("CR to LF", |bytes| replace(bytes, b"\r", b"\n"));
    check("lone LF to CRLF", |bytes| replace(&replace(bytes, b"\r\n", b"\n"), b"\n", b"\r\n"));
}

#[test]
fn other_files_are_reported() {
    for bytes in [&b"PK\x03\x04"[..], b"\x7fELF", b"project homelab {\n}\n", &[0; 200]] {
        let error = sample::open(bytes).unwrap_err();
        assert_eq!(error, OpenError::NotABundle);
        assert!(error.to_string().contains("`relay build` makes one"), "{error}");
    }
}

fn sealed() -> Vec<u8> {
    sample::sealed(&sample::rich(), &[1])
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some(byte) = rest.first() {
        if let Some(after) = rest.strip_prefix(from) {
            out.extend(to);
            rest = after;
        } else {
            out.push(*byte);
            rest = &rest[1..];
        }
    }
    out
}
