//! The verifier's policy: which bundles it accepts, and how it refuses.

use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::envelope::{Envelope, key_id};
use relay_bundle::trust::{
    self, SignatureState, Time, Trust, TrustError, TrustFileError, TrustedKey,
};
use relay_bundle::{Bundle, Digest, encode};

use super::sample::{self, NOW, key, trusted};

/// Verifies a bundle signed by these keys, and returns the states of its signatures, or the error.
fn verify(keys: &[u8], trust: &Trust) -> Result<Vec<SignatureState>, TrustError> {
    trust::verify(&signed(keys), trust, NOW.0).map(|accepted| states(&accepted.signatures))
}

/// The bundle with its signatures in the order of the given keys, instead of their ids.
fn signed(keys: &[u8]) -> Bundle {
    let bundle = sample::open(&encode(&sample::tiny()).unwrap()).unwrap();
    let mut envelope = Envelope::unsigned(&bundle).unwrap();
    for number in keys {
        let mut alone = Envelope::unsigned(&bundle).unwrap();
        alone.sign(&key(*number)).unwrap();
        envelope.signatures.append(&mut alone.signatures);
    }
    sample::open(&relay_bundle::envelope::attach(&bundle, &envelope).unwrap()).unwrap()
}

fn states(signatures: &[trust::SignatureReport]) -> Vec<SignatureState> {
    signatures.iter().map(|signature| signature.state).collect()
}

fn roles(roles: &[&str]) -> BTreeSet<String> {
    roles.iter().map(|role| (*role).into()).collect()
}

/// One key's entry, changed, against one signature by that key.
#[test]
fn a_signature_counts_only_while_its_key_does() {
    use SignatureState as S;
    let check = |edit: fn(&mut TrustedKey), expected: SignatureState, message: &str| {
        let mut trust = sample::trust(&[1]);
        edit(&mut trust.keys[0]);
        match verify(&[1], &trust) {
            Ok(states) => assert_eq!(states, [expected]),
            Err(error) => {
                let TrustError::BelowThreshold { good: 0, needed: 1, signatures } = &error else {
                    panic!("{error:?}")
                };
                assert_eq!(states(signatures), [expected]);
                let message = format!("34750f98bd59fcfc {message}");
                assert!(error.to_string().contains(&message), "{error}");
                assert!(error.to_string().contains("sign it with a trusted key"));
            }
        }
    };
    check(|_| {}, S::Good, "");
    check(|key| key.id = None, S::Good, "");
    check(|key| key.not_before = Some(NOW), S::Good, "");
    let soon = "`key-1`: key is not valid yet";
    check(|key| key.not_before = Some(Time(NOW.0 + 1)), S::NotYetValid, soon);
    check(|key| key.not_after = Some(Time(NOW.0 + 1)), S::Good, "");
    check(|key| key.not_after = Some(NOW), S::Expired, "`key-1`: key has expired");
}

#[test]
fn only_trusted_signatures_count() {
    use SignatureState as S;
    let below = |keys: &[u8], trust: &Trust| match verify(keys, trust) {
        Err(TrustError::BelowThreshold { good, needed, signatures }) => {
            (good, needed, states(&signatures))
        }
        other => panic!("{other:?}"),
    };
    let one = sample::trust(&[1]);
    let two = Trust { threshold: 2, ..sample::trust(&[1, 2]) };
    let revoked = || {
        let mut trust = sample::trust(&[1, 2]);
        trust.revoked.keys.insert(key_id(&key(1).verifying_key()));
        trust
    };
    assert_eq!(below(&[], &one), (0, 1, vec![]));
    assert_eq!(below(&[2], &one), (0, 1, vec![S::UnknownKey]));
    assert_eq!(verify(&[2, 1], &one), Ok(vec![S::UnknownKey, S::Good]));
    assert_eq!(below(&[1], &sample::trust(&[])), (0, 1, vec![S::UnknownKey]));

    assert_eq!(below(&[1], &two), (1, 2, vec![S::Good]));
    assert_eq!(below(&[1, 1], &two), (1, 2, vec![S::Good, S::Duplicate]));
    assert_eq!(below(&[1, 3], &two), (1, 2, vec![S::Good, S::UnknownKey]));
    assert_eq!(verify(&[2, 1], &two), Ok(vec![S::Good, S::Good]));

    assert_eq!(below(&[1], &revoked()), (0, 1, vec![S::Revoked]));
    assert_eq!(verify(&[1, 2], &revoked()), Ok(vec![S::Revoked, S::Good]));
}

/// The key id in an envelope is a hint: the signature itself must be by that key.
#[test]
fn a_signature_under_a_foreign_key_id_is_bad() {
    let bundle = signed(&[9]);
    let mut envelope = Envelope::of(&bundle).unwrap();
    envelope.signatures[0].keyid = key_id(&key(1).verifying_key());
    let trust = sample::trust(&[1]);
    let error = trust::verify_envelope(&envelope, bundle.digest(), &trust, NOW.0).unwrap_err();
    let TrustError::BelowThreshold { signatures, .. } = &error else { panic!("{error:?}") };
    assert_eq!(states(signatures), [SignatureState::Bad]);
    assert!(error.to_string().contains("`key-1`: signature does not match"), "{error}");

    // The good one of that key still counts.
    let mut good = signed(&[1]);
    envelope.signatures.extend(Envelope::of(&good).unwrap().signatures);
    good = sample::open(&relay_bundle::envelope::attach(&bundle, &envelope).unwrap()).unwrap();
    let accepted = trust::verify(&good, &trust, NOW.0).unwrap();
    assert_eq!(states(&accepted.signatures), [SignatureState::Bad, SignatureState::Good]);
}

#[test]
fn each_required_role_must_have_signed() {
    let mut trust = sample::trust(&[1, 2, 3]);
    trust.keys[0].roles = roles(&["build"]);
    trust.keys[1].roles = roles(&["review", "build"]);
    trust.require = BTreeMap::from([("build".into(), 1), ("review".into(), 1)]);

    assert!(verify(&[1, 2], &trust).is_ok());
    assert!(verify(&[2], &trust).is_ok(), "one key may have both roles");
    let error = verify(&[1, 3], &trust).unwrap_err();
    assert!(
        matches!(&error, TrustError::MissingRole { role, good: 0, needed: 1, .. } if role == "review"),
        "{error:?}"
    );
    assert!(error.to_string().contains("have one more such key sign"), "{error}");

    trust.require = BTreeMap::from([("review".into(), 2)]);
    let error = verify(&[1, 2], &trust).unwrap_err();
    assert!(matches!(error, TrustError::MissingRole { good: 1, needed: 2, .. }), "{error:?}");

    // A signature that is ignored gives no role.
    trust.require = BTreeMap::from([("review".into(), 1)]);
    trust.keys[1].not_after = Some(Time(1));
    let error = verify(&[1, 2], &trust).unwrap_err();
    assert!(matches!(error, TrustError::MissingRole { good: 0, needed: 1, .. }), "{error:?}");
}

/// Bundles that the policy refuses with any signatures.
#[test]
fn the_policy_itself_can_refuse_a_bundle() {
    let digest = signed(&[1]).digest();
    let check = |edit: &dyn Fn(&mut Trust), expected: TrustError, remedy: &str| {
        let mut trust = sample::trust(&[1]);
        edit(&mut trust);
        assert_eq!(verify(&[1], &trust), Err(expected.clone()));
        assert!(expected.to_string().contains(remedy), "{expected}");
    };
    let zero = TrustFileError::ZeroThreshold.into();
    check(&|trust| trust.threshold = 0, zero, "set it to at least 1");
    check(
        &|trust| trust.project = Some("large".into()),
        TrustError::OtherProject { project: "tiny".into(), pinned: "large".into() },
        "deploy a bundle of `large`",
    );
    check(
        &|trust| trust.revoked.digests.extend([digest]),
        TrustError::RevokedDigest { digest },
        "deploy another one",
    );
    check(
        &|trust| trust.min_epoch = 8,
        TrustError::BelowMinEpoch { epoch: 7, min_epoch: 8 },
        "deploy a newer bundle",
    );
    let (id, found) = ("34750f98bd59fcfd".to_owned(), "34750f98bd59fcfc".to_owned());
    check(
        &|trust| trust.keys[0].id = Some("34750f98bd59fcfd".into()),
        TrustFileError::KeyId { name: "key-1".into(), id, found }.into(),
        "its public key is `34750f98bd59fcfc`",
    );
    check(
        &|trust| trust.keys.push(TrustedKey { name: "again".into(), ..trusted(1) }),
        TrustFileError::KeyTwice { name: "again".into(), other: "key-1".into() }.into(),
        "keep one of them",
    );
    assert!(verify(&[1], &Trust { min_epoch: 7, ..sample::trust(&[1]) }).is_ok());
    let pinned = Trust { project: Some("tiny".into()), ..sample::trust(&[1]) };
    assert!(verify(&[1], &pinned).is_ok());
}

/// A detached envelope is held to the same policy.
#[test]
fn a_revoked_digest_is_revoked_for_detached_envelopes_too() {
    let bundle = signed(&[1]);
    let digest = bundle.digest();
    let envelope = Envelope::of(&bundle).unwrap();
    let mut trust = sample::trust(&[1]);
    assert!(trust::verify_envelope(&envelope, digest, &trust, NOW.0).is_ok());
    trust.revoked.digests.insert(digest);
    let error = trust::verify_envelope(&envelope, digest, &trust, NOW.0).unwrap_err();
    assert_eq!(error, TrustError::RevokedDigest { digest });
}

#[test]
fn an_older_epoch_is_refused_unless_its_digest_is_named() {
    let bundle = signed(&[1]); // its epoch is 7
    let digest = bundle.digest();
    let mut trust = sample::trust(&[1]);
    assert_eq!(trust::check_downgrade(&bundle, &trust, 6), Ok(()));
    assert_eq!(trust::check_downgrade(&bundle, &trust, 7), Ok(()));
    let error = trust::check_downgrade(&bundle, &trust, 8).unwrap_err();
    assert_eq!(error, TrustError::Downgrade { epoch: 7, seen: 8, digest });
    let remedy = format!("name `{digest}` in the trust file's allow-digests");
    assert!(error.to_string().contains(&remedy), "{error}");

    trust.allow_digests = BTreeSet::from([Digest::of(b"another")]);
    assert!(trust::check_downgrade(&bundle, &trust, 8).is_err());
    trust.allow_digests.insert(digest);
    assert_eq!(trust::check_downgrade(&bundle, &trust, u64::MAX), Ok(()));
}

#[test]
fn a_trust_file_has_every_key() {
    let digest = Digest::of(b"bad");
    let text = format!(
        r#"
        version = 3
        project = "tiny"
        threshold = 2
        min-epoch = 40
        allow-digests = ["{digest}"]
        [require]
        review = 1
        [[keys]]
        name = "ci"
        id = "34750f98bd59fcfc"
        public = "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w="
        roles = ["build"]
        not-before = "2026-01-01"
        not-after = "2027-01-01T12:00:00Z"
        [revoked]
        keys = ["0011223344556677"]
        digests = ["{digest}"]
        "#
    );
    let mut expected = Trust { version: 3, threshold: 2, min_epoch: 40, ..sample::trust(&[1]) };
    expected.project = Some("tiny".into());
    expected.allow_digests = BTreeSet::from([digest]);
    expected.require = BTreeMap::from([("review".into(), 1)]);
    expected.revoked.keys.insert("0011223344556677".into());
    expected.revoked.digests.insert(digest);
    expected.keys[0] = TrustedKey {
        name: "ci".into(),
        roles: roles(&["build"]),
        not_before: Time::parse("2026-01-01"),
        not_after: Time::parse("2027-01-01T12:00:00Z"),
        ..trusted(1)
    };
    assert_eq!(toml::from_str::<Trust>(&text), Ok(expected));
}

#[test]
fn a_malformed_trust_file_is_refused() {
    let check = |text: &str, expected: &str| {
        let error = toml::from_str::<Trust>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    };
    let one = toml::from_str::<Trust>("version = 1").unwrap();
    assert_eq!((one.threshold, one.min_epoch), (1, 0), "one signature is the least");
    check("", "missing field `version`");
    check("version = 1\ntreshold = 2", "unknown field `treshold`, expected one of");
    check("version = 1\nthreshold = -1", "invalid value");
    check("version = 1\nmin_epoch = 2", "unknown field `min_epoch`");
    check("version = 1\nallow-digests = [\"ab\"]", "a digest is `sha256:` and 64 hexadecimal");
    check("version = 1\n[revoked]\nkey = []", "unknown field `key`");
    check("version = 1\n[[keys]]\nname = \"ci\"", "missing field `public`");
    let with_key = |line: &str| {
        let public = "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=";
        format!("version = 1\n[[keys]]\nname = \"ci\"\npublic = \"{public}\"\n{line}")
    };
    assert!(toml::from_str::<Trust>(&with_key("")).is_ok());
    for date in [
        "\"2027-02-30\"",
        "\"2027-2-3\"",
        "\"soon\"",
        "\"\"",
        "12:00:00",
        "2027-02-28T12:00:00.5Z",
        "2016-12-31T23:59:60Z",
        "1969-12-31",
        "1970-01-01T00:00:00+01:00",
        "1",
    ] {
        check(&with_key(&format!("not-after = {date}")), "a time is a date such as");
    }
    check(&with_key("not-afer = \"2027-02-01\""), "unknown field `not-afer`");
    for public in ["", "ed25519:", "ed25519:AAAA", "iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w="] {
        let text = format!("version = 1\n[[keys]]\nname = \"ci\"\npublic = \"{public}\"");
        check(&text, "as `relay keygen` prints it");
    }
}

#[test]
fn a_time_of_a_key_is_a_text_or_a_toml_date() {
    let public = "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w=";
    for (written, expected) in [
        ("\"2026-11-21\"", "2026-11-21"),
        ("2026-11-21", "2026-11-21"),
        ("2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z"),
        ("2026-11-21 12:00:00Z", "2026-11-21T12:00:00Z"),
        ("2026-11-21T12:00:00", "2026-11-21T12:00:00Z"),
        ("\"2026-11-21T12:00:00\"", "2026-11-21T12:00:00Z"),
        ("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:00Z"),
        ("2026-11-21T01:30:00+02:00", "2026-11-20T23:30:00Z"),
        ("\"2026-11-21T01:30:00+02:00\"", "2026-11-20T23:30:00Z"),
        ("2026-11-20T20:00:00-05:30", "2026-11-21T01:30:00Z"),
    ] {
        let text = format!(
            "version = 1\n[[keys]]\nname = \"ci\"\npublic = \"{public}\"\nnot-after = {written}"
        );
        let trust: Trust = toml::from_str(&text).unwrap();
        assert_eq!(trust.keys[0].not_after, Some(Time::parse(expected).unwrap()), "{written}");
    }
}

/// A revocation that is misspelt would revoke nothing, and a role that no key has requires no one.
#[test]
fn what_a_trust_file_names_must_exist() {
    let public = |number: u8| trust::PublicKey(key(number).verifying_key());
    let [one, two] = [1, 2].map(|number| key_id(&key(number).verifying_key()));
    let keys = format!(
        "[[keys]]\nname = \"ci\"\npublic = \"{}\"\nroles = [\"build\"]\n[[keys]]\nname = \"ann\"\npublic = \"{}\"\nroles = [\"review\"]\n",
        public(1),
        public(2)
    );
    let file = |top: &str, end: &str| format!("version = 1\n{top}\n{keys}{end}\n");
    let check = |text: &str| match toml::from_str::<Trust>(text) {
        Ok(trust) => trust.check().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let revoked = |keys: &str| file("", &format!("[revoked]\nkeys = [{keys}]"));
    let digest = Digest::of(b"bad").to_string();
    let hex = digest.strip_prefix("sha256:").unwrap();
    let digests = |digests: &[&str]| {
        let digests: Vec<_> = digests.iter().map(|digest| format!("\"{digest}\"")).collect();
        file("", &format!("[revoked]\ndigests = [{}]", digests.join(", ")))
    };
    assert_eq!(check(&revoked(&format!("\"{one}\", \"{two}\""))), Ok(()));
    assert_eq!(check(&digests(&[&digest])), Ok(()));
    assert_eq!(check(&file("require = { review = 1 }\nproject = \"tiny\"", "")), Ok(()));

    let meant = format!("did you mean `{one}`?");
    let shouted = one.to_uppercase();
    let typo = one.replacen(one.chars().next().unwrap(), "0", 1);
    let cases = [
        (revoked(&format!("\"{shouted}\"")), vec![shouted.as_str(), "lower case", &meant]),
        (revoked(&format!("\"{one} \"")), vec![&meant]),
        (revoked(&format!("\"{typo}\"")), vec![&typo, "not the id of a key", &meant]),
        (revoked("\"0011223344556677\""), vec!["0011223344556677", "keeps its entry"]),
        (revoked("\"ci\""), vec!["`ci`, which is the name of a key", &one]),
        (revoked("\"\""), vec!["not the id of a key"]),
        (revoked(&format!("\"{one}\", \"{one}\"")), vec![&one, "listed twice"]),
        (digests(&[hex]), vec!["does not begin with `sha256:`"]),
        (digests(&[&digest.to_uppercase()]), vec!["does not begin with `sha256:`"]),
        (digests(&[&format!("sha256:{}", hex.to_uppercase())]), vec!["has capital letters"]),
        (digests(&[&digest[..70]]), vec!["has 63 digits"]),
        (digests(&[&format!("{digest} ")]), vec!["has the character ' '"]),
        (digests(&[&digest, &digest]), vec![&digest, "listed twice"]),
        (file("require = { reveiw = 1 }", ""), vec!["`reveiw`", "did you mean `review`?"]),
        (file("require = { Review = 1 }", ""), vec!["`Review`", "did you mean `review`?"]),
        (file("require = { security = 1 }", ""), vec!["`security`, which no key has"]),
        (file("require = { review = 0 }", ""), vec!["require.review is 0"]),
        (
            file("", "").replace("\"review\"", "\"Re view\""),
            vec!["`Re view` is not a role", "did you mean `re-view`?"],
        ),
        (file("", "").replace("\"review\"", "\"a\", \"a\""), vec!["`a` is listed twice"]),
        (file("project = \"\"", ""), vec!["project is ``"]),
        (file("project = \" tiny\"", ""), vec!["project is ` tiny`"]),
        (file("", "not-before = 2027-01-01\nnot-after = 2026-01-01"), vec!["`ann` is never valid"]),
    ];
    for (text, expected) in cases {
        let error = check(&text).expect_err(&text);
        for words in expected {
            assert!(error.contains(words), "`{words}` is not in: {error}");
        }
    }
}

/// An epoch in the statement of a signature changes nothing: the header's counts.
#[test]
fn the_epoch_is_the_one_that_the_digest_covers() {
    let bundle = signed(&[1]);
    let mut statement = Envelope::of(&bundle).unwrap().statement(bundle.digest()).unwrap();
    statement.predicate.epoch = 1_000;
    let envelope = super::raw::signed(&statement, 1);
    let bytes = relay_bundle::envelope::attach(&bundle, &envelope).unwrap();
    let trust = Trust { min_epoch: 8, ..sample::trust(&[1]) };
    let error = trust::verify(&sample::open(&bytes).unwrap(), &trust, NOW.0).unwrap_err();
    assert_eq!(error, TrustError::BelowMinEpoch { epoch: 7, min_epoch: 8 });
}
