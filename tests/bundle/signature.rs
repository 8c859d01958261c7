//! The envelope: what is signed, by whom, and about what.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use relay_bundle::envelope::{
    self, Envelope, EnvelopeError, PAYLOAD_TYPE, PREDICATE_TYPE, Signature, Statement,
};
use relay_bundle::{Digest, encode, trust};

use super::{raw, sample};

/// The example of the DSSE specification, signed by another implementation (Python's
/// `cryptography`) with the key whose seed is 32 times 1.
#[test]
fn signatures_are_those_of_the_dsse_specification() {
    let mut envelope = Envelope {
        payload_type: "http://example.com/HelloWorld".into(),
        payload: "aGVsbG8gd29ybGQ=".into(),
        signatures: Vec::new(),
    };
    let signed = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
    assert_eq!(envelope.signed_bytes().as_deref(), Ok(&signed[..]));

    envelope.sign(&sample::key(1)).unwrap();
    let [signature] = &*envelope.signatures else { panic!("one signature") };
    assert_eq!(signature.keyid, "34750f98bd59fcfc");
    let by_python =
        "Nrk8af+XDppIl0eJ8+q/+iZzBrfcnO4JSOHj7OUiv6PchqFqZz2QZsHYymPKVGJB5hl52X/qzoeOScPJBhdVDg==";
    assert_eq!(signature.sig, by_python);
    assert!(signature.verify(&sample::key(1).verifying_key(), signed));
    assert!(!signature.verify(&sample::key(2).verifying_key(), signed));
    assert!(!signature.verify(&sample::key(1).verifying_key(), b"DSSEv1 0  0 "));
}

/// Lengths count bytes instead of characters, and the payload is the decoded base64.
#[test]
fn signed_bytes_count_bytes() {
    let check = |payload_type: &str, payload: &[u8], expected: &[u8]| {
        let envelope = Envelope {
            payload_type: payload_type.into(),
            payload: STANDARD.encode(payload),
            signatures: Vec::new(),
        };
        assert_eq!(envelope.signed_bytes().as_deref(), Ok(expected));
    };
    check("", b"", b"DSSEv1 0  0 ");
    check("ä", b"\xff 1", b"DSSEv1 2 \xc3\xa4 3 \xff 1");
    check("a 1", b"b", b"DSSEv1 3 a 1 1 b");
}

#[test]
fn the_statement_describes_the_bundle() {
    let bundle = sample::open(&sample::sealed(&sample::rich(), &[1])).unwrap();
    let Statement { subject, predicate, .. } =
        Envelope::of(&bundle).unwrap().statement(bundle.digest()).unwrap();
    assert_eq!(subject[0].name, "homelab");
    assert_eq!(predicate.format, "1.0");
    assert_eq!(predicate.project, "homelab");
    assert_eq!(predicate.version.as_deref(), Some("4.2.0"));
    assert_eq!(predicate.epoch, 1_234);
    assert_eq!(predicate.compiler, "0.1.0");
}

#[test]
fn a_further_signature_changes_nothing_that_is_signed() {
    let once = sample::sealed(&sample::rich(), &[1]);
    let bundle = sample::open(&once).unwrap();
    let mut envelope = Envelope::of(&bundle).unwrap();
    envelope.sign(&sample::key(2)).unwrap();
    let twice = envelope::attach(&bundle, &envelope).unwrap();
    let both = sample::open(&twice).unwrap();
    assert_eq!(both.digest(), bundle.digest());
    assert_eq!(both.content_bytes(), bundle.content_bytes());
    assert_eq!(Envelope::of(&both).as_ref(), Ok(&envelope));
    for key in [1, 2] {
        assert!(trust::verify(&both, &sample::trust(&[key]), sample::NOW.0).is_ok());
    }
}

#[test]
fn the_order_of_signing_does_not_matter() {
    let rich = sample::rich();
    let one = sample::sealed(&rich, &[1, 2, 3]);
    assert!(one == sample::sealed(&rich, &[3, 1, 2]));
    assert!(one == sample::sealed(&rich, &[1, 2, 3, 2, 1]), "a key signs once");
    assert!(sample::sign(&one, &[1]) == sample::sealed(&rich, &[1]), "the old envelope is gone");
}

/// Each malformed envelope is refused with its reason.
#[test]
fn malformed_envelopes_are_refused() {
    let check = |envelope: &str, reason: &str| {
        let bundle = with_envelope(envelope.as_bytes());
        let error = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).unwrap_err();
        let trust::TrustError::Envelope(EnvelopeError::Malformed { reason: found }) = &error else {
            panic!("{envelope}: {error:?}")
        };
        assert!(found.contains(reason), "{envelope}: {found}");
        assert!(error.to_string().contains("sign the bundle again"), "{error}");
    };
    let envelope = |payload: &str, signatures: &str| {
        format!(
            r#"{{"payloadType":"{PAYLOAD_TYPE}","payload":"{payload}","signatures":[{signatures}]}}"#
        )
    };
    check("{", "EOF while parsing");
    check("[]", "invalid length 0");
    check("\u{feff}{}", "expected value");
    check("null", "invalid type: null");
    check("{}", "missing field `payloadType`");
    check(&format!("{} ", envelope("e30=", "")), "missing field `_type`");
    check(&format!("{}x", envelope("e30=", "")), "trailing characters");
    check(&envelope("e30=", r#"{"sig":""}"#), "missing field `keyid`");
    check(&envelope("e30=", r#"{"keyid":"","sig":"","cert":""}"#), "unknown field `cert`");
    check(&envelope("e30=", "").replace("payloadType", "payloadtype"), "unknown field");
    check(&envelope("e30=", "").replace('{', "{\"payload\":\"\","), "duplicate field `payload`");
    check(&envelope("e30", ""), "payload: ");
    check(&envelope("e30=\\n", ""), "payload: ");
    check(&envelope("e31=", ""), "payload: ");
    check(&envelope("e-_0", ""), "payload: ");
    check(&envelope("bm8=", ""), "expected ident");
    let signature = r#"{"keyid":"","sig":""}"#;
    check(&envelope("e30=", &[signature; 65].join(",")), "more than 64 signatures");

    let parsed = Envelope::parse(&[b' '; 262_145]).unwrap_err();
    assert_eq!(parsed, EnvelopeError::Malformed { reason: "more than 262144 bytes".into() });
}

#[test]
fn a_bundle_without_an_envelope_is_not_signed() {
    let bundle = sample::open(&encode(&sample::tiny()).unwrap()).unwrap();
    let error = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).unwrap_err();
    assert_eq!(error, EnvelopeError::Missing.into());
    assert!(error.to_string().contains("sign it with `relay sign"), "{error}");
}

/// Statements under good signatures that say something else.
#[test]
fn the_statement_must_be_about_this_bundle() {
    let digest = sample::open(&encode(&sample::tiny()).unwrap()).unwrap().digest();
    let check = |edit: fn(&mut Statement), expected: EnvelopeError, remedy: &str| {
        let mut statement = raw::statement(digest);
        edit(&mut statement);
        refused(&raw::signed(&statement, 1), expected, remedy);
    };
    let differs = |what| EnvelopeError::Statement { what };
    let remedy = "sign this bundle itself";
    let other_digest = |statement: &mut Statement| {
        statement.subject[0].digest.sha256 = Digest::of(b"another bundle").hex();
    };
    check(other_digest, differs("the digest"), remedy);
    check(|statement| statement.subject.clear(), differs("the digest"), remedy);
    let two_subjects =
        |statement: &mut Statement| statement.subject.push(statement.subject[0].clone());
    check(two_subjects, differs("the digest"), remedy);
    let in_capitals =
        |statement: &mut Statement| statement.subject[0].digest.sha256.make_ascii_uppercase();
    check(in_capitals, differs("the digest"), remedy);
    let older = |statement: &mut Statement| {
        statement.statement_type = "https://in-toto.io/Statement/v0.1".into();
    };
    check(older, differs("the statement's type"), remedy);
    let provenance = |statement: &mut Statement| {
        statement.predicate_type = "https://slsa.dev/provenance/v1".into();
    };
    check(provenance, differs("the predicate's type"), remedy);
    assert_eq!(raw::statement(digest).predicate_type, PREDICATE_TYPE);
}

#[test]
fn an_envelope_of_another_bundle_is_refused() {
    let other = sample::open(&sample::sealed(&sample::rich(), &[1])).unwrap();
    let transplanted = Envelope::of(&other).unwrap();
    let expected = EnvelopeError::Statement { what: "the digest" };
    refused(&transplanted, expected, "sign this bundle itself");
}

/// A key that also signs other things does not sign bundles by that.
#[test]
fn a_signature_over_another_payload_type_is_refused() {
    let digest = sample::open(&encode(&sample::tiny()).unwrap()).unwrap().digest();
    let mut other = raw::signed(&raw::statement(digest), 1);
    other.payload_type = "application/vnd.in-toto+json".into();
    other.sign(&sample::key(1)).unwrap();
    let expected = EnvelopeError::PayloadType { found: other.payload_type.clone() };
    refused(&other, expected, "sign the bundle with `relay sign`");

    // With the type swapped after signing, the type is right and the signature is wrong.
    other.payload_type = PAYLOAD_TYPE.into();
    let bundle = with_envelope(&other.to_json().unwrap());
    let error = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).unwrap_err();
    assert!(matches!(error, trust::TrustError::BelowThreshold { good: 0, .. }), "{error:?}");
}

#[test]
fn a_sixty_fifth_signature_has_no_room() {
    let keys: Vec<u8> = (1..=64).collect();
    let bundle = sample::open(&sample::sealed(&sample::tiny(), &keys)).unwrap();
    let mut envelope = Envelope::of(&bundle).unwrap();
    assert_eq!(envelope.sign(&sample::key(65)), Err(EnvelopeError::TooManySignatures));
    assert_eq!(envelope.sign(&sample::key(64)), Ok(()), "one that is there may be renewed");
}

#[test]
fn a_signature_that_is_not_64_bytes_of_base64_is_bad() {
    let signed = b"DSSEv1 0  0 ";
    let good = {
        let mut envelope =
            Envelope { payload_type: "".into(), payload: "".into(), signatures: Vec::new() };
        envelope.sign(&sample::key(1)).unwrap();
        envelope.signatures.remove(0)
    };
    let key = sample::key(1).verifying_key();
    assert!(good.verify(&key, signed));
    let check = |sig: String| {
        let signature = Signature { keyid: good.keyid.clone(), sig };
        assert!(!signature.verify(&key, signed), "{}", signature.sig);
    };
    check(String::new());
    check(good.sig.trim_end_matches('=').into());
    check(format!("{}\n", good.sig));
    check(STANDARD.encode([0; 64]));
    check(STANDARD.encode([0; 63]));
    check(STANDARD.encode([0xff; 65]));
}

/// The tiny sample with these bytes as its envelope.
fn with_envelope(envelope: &[u8]) -> relay_bundle::Bundle {
    let bundle = sample::open(&encode(&sample::tiny()).unwrap()).unwrap();
    sample::open(&raw::with_envelope(bundle.content_bytes().to_vec(), envelope)).unwrap()
}

/// Asserts that the tiny sample is refused with this envelope, which key 1 has signed.
fn refused(envelope: &Envelope, expected: EnvelopeError, remedy: &str) {
    let key = sample::key(1).verifying_key();
    assert!(envelope.signatures[0].verify(&key, &envelope.signed_bytes().unwrap()));
    let bundle = with_envelope(&envelope.to_json().unwrap());
    let error = trust::verify(&bundle, &sample::trust(&[1]), sample::NOW.0).unwrap_err();
    assert_eq!(error, expected.into());
    assert!(error.to_string().contains(remedy), "{error}");
}
