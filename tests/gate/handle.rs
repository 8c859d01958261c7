//! The handle of a briefing: what was sealed opens, for whom it was sealed, and nothing else does.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use relay_bundle::Digest;
use relay_engine::handle::{Binding, HandleError, Key, TEXT_BYTES_MAX, open, seal};
use relay_engine::sent::Sent;

use super::entry::{self, KEY_ID, PROMPTS, binding, key, sealed};

/// A minute in 2026.
const NOW: u32 = 29_900_000;
const EXPIRES: [u8; 4] = (NOW + 720).to_be_bytes();

fn sent(indexes: impl IntoIterator<Item = u32>) -> Sent {
    Sent::from_indexes(indexes)
}

/// A handle with bitmap and one with a list.
fn good() -> [(String, Sent); 2] {
    [sent([1, 2, 3, 5, 8, 13]), sent([250])]
        .map(|sent| (seal(&key(), &binding(), NOW + 720, &sent), sent))
}

fn opened(text: &str) -> Result<Sent, HandleError> {
    open(&[key()], &binding(), NOW, text)
}

/// How many of the indexes fit into a handle, and in how many bytes, by another way to count.
fn fitting(indexes: &[u32]) -> (usize, usize) {
    let (mut list, mut fitting, mut next) = (0, (0, 0), 0);
    for (place, index) in indexes.iter().enumerate() {
        list += match index - next {
            0..0x80 => 1,
            0x80..0x4000 => 2,
            0x4000..0x20_0000 => 3,
            _ => 4,
        };
        next = index + 1;
        let shorter = list.min(index / 8 + 1) as usize;
        if shorter <= 2048 {
            fitting = (place + 1, shorter);
        }
    }
    fitting
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sealed_opens(
        (prompts, indexes) in (1..100_000u32).prop_flat_map(|prompts| {
            let some = vec(0..prompts, 0..400);
            let many = vec(0..prompts, 2_000..4_000);
            let run = (0..prompts, 0..prompts).prop_map(|(a, b)| (a.min(b)..a.max(b)).collect());
            (Just(prompts), prop_oneof![some, many, run])
        }),
        (id, secret, expires_min) in any::<(u8, [u8; 32], u32)>(),
        (principal, issuer, tenant) in (".{0,20}", option::of(".{0,20}"), option::of(".{0,20}")),
        digest in any::<[u8; 32]>(),
    ) {
        let key = Key::new(id, secret);
        let binding = Binding {
            principal: &principal,
            issuer: issuer.as_deref(),
            tenant: tenant.as_deref(),
            bundle: Digest(digest),
            audience: None,
            prompts: prompts as usize,
        };
        let sent = Sent::from_indexes(indexes);
        let text = seal(&key, &binding, expires_min, &sent);
        prop_assert!(text.len() <= TEXT_BYTES_MAX);
        let opened = open(&[key], &binding, expires_min, &text);
        let opened: Vec<u32> = opened.expect("it was sealed so").iter().collect();
        // All of it, or as much of its beginning as there is room for.
        let all: Vec<u32> = sent.iter().collect();
        let (count, bytes) = fitting(&all);
        prop_assert_eq!(&opened, &all[..count]);
        prop_assert_eq!(text.len(), ((26 + bytes) * 4).div_ceil(3));
    }

    #[test]
    fn arbitrary_bytes(bytes in vec(any::<u8>(), 0..120)) {
        entry::handle(&bytes);
        entry::handle(&[&[0, 1 | bytes.len() as u8 & 1 << 7], &bytes[..]].concat());
    }
}

#[test]
fn good_inputs_pass() {
    for seed in entry::seeds() {
        entry::handle(&seed);
    }
}

#[test]
fn the_bytes_are_those_that_were_issued() {
    for (form, set, indexes) in [
        (1, &[][..], &[][..]),
        (1, &[0b10_1110, 0b10_0001], &[1, 2, 3, 5, 8, 13]),
        (0x81, &[250, 1], &[250]),
        (0x81, &[0, 0x80, 2], &[0, 257]),
    ] {
        let sent = sent(indexes.iter().copied());
        let text = seal(&key(), &binding(), NOW + 720, &sent);
        assert_eq!(text, sealed(form, EXPIRES, set), "{indexes:?}");
        assert_eq!(opened(&text), Ok(sent));
    }
}

#[test]
fn a_handle_is_short() {
    let length = |count: u32| seal(&key(), &binding(), NOW, &sent(0..count)).len();
    assert_eq!((length(0), length(1), length(300)), (35, 36, 86));
    let large = Binding { prompts: 100_000, ..binding() };
    let length = |step| seal(&key(), &large, NOW, &sent((0..100_000).step_by(step))).len();
    assert_eq!((length(1), length(50), length(1000)), (TEXT_BYTES_MAX, 2702, 300));
    assert_eq!(TEXT_BYTES_MAX, 2766);
}

#[test]
fn prompts_over_the_limit_are_left_out() {
    let large = Binding { prompts: 100_000, ..binding() };
    let text = seal(&key(), &large, NOW, &sent(0..100_000));
    assert_eq!(open(&[key()], &large, NOW, &text), Ok(sent(0..16_384)));
    // Indexes beyond the prompts of the bundle are dropped.
    let text = seal(&key(), &binding(), NOW, &sent([3, 299, 300, u32::MAX]));
    assert_eq!(opened(&text), Ok(sent([3, 299])));
}

#[test]
fn a_flipped_bit_is_refused() {
    for (text, _) in good() {
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = opened(&URL_SAFE_NO_PAD.encode(bytes)).expect_err("it was altered");
            let expected = match (bit / 8, bit % 8) {
                (0, bit @ 0..7) => HandleError::UnknownVersion { version: 1 ^ 1 << bit },
                (1, bit) => HandleError::UnknownKey { id: KEY_ID ^ 1 << bit },
                (6..8, _) => HandleError::OtherBundle,
                (8..10, _) => HandleError::OtherCaller,
                _ => HandleError::Altered,
            };
            assert_eq!(error, expected, "bit {bit}");
        }
    }
}

#[test]
fn no_other_text_opens() {
    let letters = (0..=0x7f).map(char::from).chain(['ä', '\u{feff}']);
    for (text, sent) in good() {
        let mut others = Vec::new();
        for end in 0..text.len() {
            others.push(text[..end].to_owned());
            for letter in letters.clone() {
                others.push(format!("{}{letter}{}", &text[..end], &text[end + 1..]));
                others.push(format!("{}{letter}{}", &text[..end], &text[end..]));
            }
        }
        others.extend(letters.clone().map(|letter| format!("{text}{letter}")));
        others.extend(["=", "==", "\r\n", "AA", "AAA", "AAAA"].map(|end| format!("{text}{end}")));
        others.push(URL_SAFE.encode(URL_SAFE_NO_PAD.decode(&text).unwrap()));
        others.push(text.repeat(2));
        others.retain(|other| *other != text);
        for other in others {
            assert!(opened(&other).is_err(), "{other}");
        }
        assert_eq!(opened(&text), Ok(sent));
    }
}

#[test]
fn the_other_alphabet_is_refused() {
    let (text, bytes) = (0..)
        .map(|minute| seal(&key(), &binding(), NOW + minute, &sent([])))
        .map(|text| (text.clone(), URL_SAFE_NO_PAD.decode(text).unwrap()))
        .find(|(text, _)| text.contains('-') && text.contains('_'))
        .expect("a handle with both letters");
    assert!(opened(&text).is_ok());
    assert_eq!(opened(&STANDARD_NO_PAD.encode(bytes)), Err(HandleError::Malformed));
}

#[test]
fn junk_is_malformed() {
    let mega = "A".repeat(1 << 20);
    let junk = ["", " ", "=", "null", "begin_session", "{{briefing}}", "\0", "ä", &mega];
    for text in junk {
        assert_eq!(opened(text), Err(HandleError::Malformed), "{}", text.len());
    }
    for length in 0..3000 {
        let expected = match length {
            // A text of one letter more than a multiple of four ends inside a byte.
            35..=TEXT_BYTES_MAX if length % 4 != 1 => HandleError::UnknownVersion { version: 0 },
            _ => HandleError::Malformed,
        };
        assert_eq!(opened(&mega[..length]), Err(expected), "{length}");
        assert_eq!(opened(&"!".repeat(length)), Err(HandleError::Malformed), "{length}");
    }
}

#[test]
fn a_set_that_seal_would_write_otherwise_is_malformed() {
    let cases: &[(u8, &[u8], &str)] = &[
        (0x01, &[1, 0], "a zero byte at the end"),
        (0x01, &[0], "nothing but a zero byte"),
        (0x81, &[], "an empty list"),
        (0x81, &[3], "a list that is no shorter"),
        (0x81, &[1, 1, 1], "a list that is longer"),
        (0x01, &[0, 0, 0, 1], "a bitmap that is longer"),
        (0x81, &[0xfa, 0x81, 0], "a number with a zero byte at its end"),
        (0x81, &[0xfa, 0x81], "half a number"),
        (0x81, &[0xff, 0xff, 0xff, 0xff, 0x0f], "no prompt's index"),
        (0x81, &[0xfa, 0x81, 0x80, 0x80, 0x10], "a number of 33 bits"),
        (0x81, &[0xfa, 0x81, 0x80, 0x80, 0x80, 0], "a number of 6 bytes"),
        (0x81, &[0xac, 2], "the index after the last prompt's"),
    ];
    for (form, set, what) in cases {
        assert_eq!(opened(&sealed(*form, EXPIRES, set)), Err(HandleError::Malformed), "{what}");
    }
    assert_eq!(opened(&sealed(0x81, EXPIRES, &[0xab, 2])), Ok(sent([PROMPTS as u32 - 1])));
    assert_eq!(opened(&sealed(1, EXPIRES, &[0; 2048])), Err(HandleError::Malformed));
    assert_eq!(opened(&sealed(1, EXPIRES, &[1; 2049])), Err(HandleError::Malformed));
}

#[test]
fn a_handle_is_for_one_caller_and_one_bundle() {
    let (text, _) = good().into_iter().next().unwrap();
    let base = binding();
    let check = |binding: Binding<'_>, expected| {
        assert_eq!(open(&[key()], &binding, NOW, &text), Err(expected), "{binding:?}");
    };
    for (principal, tenant) in [
        ("bob@example.com", base.tenant),
        ("", base.tenant),
        (base.principal, None),
        (base.principal, Some("")),
        (base.principal, Some("globex")),
        ("alice@example.co", Some("macme")),
    ] {
        check(Binding { principal, tenant, ..base }, HandleError::OtherCaller);
    }
    for issuer in [None, Some(""), Some("https://login.example.co"), base.tenant] {
        check(Binding { issuer, ..base }, HandleError::OtherCaller);
    }
    check(Binding { issuer: base.tenant, tenant: base.issuer, ..base }, HandleError::OtherCaller);
    check(Binding { bundle: Digest::of(b"another"), ..base }, HandleError::OtherBundle);
    // Bundles of the same fingerprint may differ.
    let Digest(mut alike) = base.bundle;
    alike[31] ^= 1;
    check(Binding { bundle: Digest(alike), ..base }, HandleError::Altered);
    check(Binding { prompts: PROMPTS + 1, ..base }, HandleError::Altered);
    let both = Binding { principal: "bob", bundle: Digest::of(b"another"), ..base };
    check(both, HandleError::OtherBundle);
}

#[test]
fn no_tenant_is_not_a_tenant_without_a_name() {
    let with = |tenant| Binding { tenant, ..binding() };
    let text = seal(&key(), &with(None), NOW, &sent([1]));
    assert_eq!(open(&[key()], &with(None), NOW, &text), Ok(sent([1])));
    assert_eq!(open(&[key()], &with(Some("")), NOW, &text), Err(HandleError::OtherCaller));
}

#[test]
fn keys_are_rotated() {
    let [old, new] = [1, 2].map(|id| move || Key::new(id, [id; 32]));
    let by = |key: Key| seal(&key, &binding(), NOW, &sent([4]));
    let (by_old, by_new) = (by(old()), by(new()));
    let opens = |keys: &[Key], text: &str| open(keys, &binding(), NOW, text);
    for text in [&by_old, &by_new] {
        assert_eq!(opens(&[old(), new()], text), Ok(sent([4])));
        assert_eq!(opens(&[new(), old()], text), Ok(sent([4])));
    }
    assert_eq!(opens(&[new()], &by_old), Err(HandleError::UnknownKey { id: 1 }));
    assert_eq!(opens(&[], &by_new), Err(HandleError::UnknownKey { id: 2 }));
    // Another key under the same id.
    assert!(opens(&[Key::new(2, [9; 32])], &by_new).is_err());
}

#[test]
fn a_handle_is_good_up_to_the_end_of_its_last_minute() {
    let text = seal(&key(), &binding(), NOW, &sent([4]));
    let at = |now_min| open(&[key()], &binding(), now_min, &text);
    for good in [0, NOW - 1, NOW] {
        assert_eq!(at(good), Ok(sent([4])));
    }
    assert_eq!(at(NOW + 1), Err(HandleError::Expired { minutes_ago: 1 }));
    assert_eq!(at(u32::MAX), Err(HandleError::Expired { minutes_ago: u32::MAX - NOW }));
    // The expiry of a handle that is invalid for another reason stays hidden.
    let other = Binding { principal: "bob", ..binding() };
    assert_eq!(open(&[key()], &other, u32::MAX, &text), Err(HandleError::OtherCaller));
}

#[test]
fn every_error_says_what_to_do_next() {
    let all = [
        HandleError::Malformed,
        HandleError::UnknownVersion { version: 2 },
        HandleError::UnknownKey { id: 3 },
        HandleError::OtherBundle,
        HandleError::OtherCaller,
        HandleError::Altered,
        HandleError::Expired { minutes_ago: 4 },
    ];
    let texts = all.map(|error| error.to_string());
    for (place, text) in texts.iter().enumerate() {
        assert!(text.contains("begin_session") && text.contains("briefing"), "{text}");
        assert!(text.len() < 120 && !text.contains(['!', '\n']), "{text}");
        assert!(!texts[..place].contains(text), "{text}");
    }
}

#[test]
fn a_key_is_not_printed() {
    assert_eq!(format!("{:?}", Key::new(7, [0xab; 32])), "Key { id: 7, .. }");
}
