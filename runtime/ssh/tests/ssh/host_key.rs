//! The proof of a host.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use relay_ssh::{ConnectFailure, HostKeyMode, Route, fingerprint, keyscan};
use russh::keys::PrivateKey;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::certificate::{Builder, CertType};

use crate::support::{Known, Scene, blob, ed25519, limits, pool, rsa};

async fn probe(scene: &Scene, known: Arc<Known>, mode: HostKeyMode) -> Result<(), ConnectFailure> {
    let mut hop = scene.hop();
    hop.trust = known;
    hop.mode = mode;
    pool().probe(&Route { hops: vec![hop] }).await.map(|_| ()).map_err(|error| error.cause)
}

#[tokio::test]
async fn an_unknown_key_is_refused_with_its_fingerprint() {
    let scene = Scene::start().await;
    let refused = probe(&scene, Arc::default(), HostKeyMode::Strict).await.unwrap_err();
    let expected = fingerprint(&blob(&scene.host_key)).unwrap();
    assert!(expected.starts_with("SHA256:"));
    let ConnectFailure::HostKeyUnknown { fingerprint, algorithm } = refused else {
        panic!("{refused}")
    };
    assert_eq!((fingerprint, algorithm.as_str()), (expected, "ssh-ed25519"));
    assert_eq!(scene.server.logins(), 0);
}

#[tokio::test]
async fn accept_new_records_the_key_and_then_holds_to_it() {
    let scene = Scene::start().await;
    let known = Arc::new(Known::default());
    probe(&scene, Arc::clone(&known), HostKeyMode::AcceptNew).await.unwrap();
    assert_eq!(*known.trusted.lock().unwrap(), [blob(&scene.host_key)]);
    let other = Scene::start().await;
    let refused = probe(&other, known, HostKeyMode::AcceptNew).await.unwrap_err();
    assert!(matches!(refused, ConnectFailure::HostKeyChanged { .. }), "{refused}");
}

#[tokio::test]
async fn a_changed_key_names_the_entry() {
    let scene = Scene::start().await;
    let refused =
        probe(&scene, Arc::new(Known::keys(&[&ed25519()])), HostKeyMode::Strict).await.unwrap_err();
    assert!(refused.to_string().contains("known_hosts:3"), "{refused}");
}

#[tokio::test]
async fn a_revoked_key_is_refused_in_every_mode() {
    let scene = Scene::start().await;
    for mode in [HostKeyMode::Strict, HostKeyMode::AcceptNew, HostKeyMode::Ignore] {
        let known =
            Known { revoked: vec![blob(&scene.host_key)], ..Known::keys(&[&scene.host_key]) };
        let refused = probe(&scene, Arc::new(known), mode).await.unwrap_err();
        assert!(matches!(refused, ConnectFailure::HostKeyRevoked { .. }), "{refused}");
    }
}

#[tokio::test]
async fn ignore_accepts_any_other_key() {
    let scene = Scene::start().await;
    probe(&scene, Arc::new(Known::keys(&[&ed25519()])), HostKeyMode::Ignore).await.unwrap();
}

#[tokio::test]
async fn only_known_key_types_are_asked_for() {
    let rsa = rsa();
    let scene = Scene::with(|settings| settings.host_keys.push(rsa.clone())).await;
    let known = || Known { algorithms: vec!["ssh-rsa".to_owned()], ..Known::keys(&[&rsa]) };
    probe(&scene, Arc::new(known()), HostKeyMode::Strict).await.unwrap();
    let only_ed25519 = Scene::start().await;
    let refused = probe(&only_ed25519, Arc::new(known()), HostKeyMode::Strict).await.unwrap_err();
    let ConnectFailure::HostKeyTypes { known, theirs } = refused else { panic!("{refused}") };
    assert_eq!((known.as_str(), theirs.as_str()), ("rsa-sha2-512, rsa-sha2-256", "ssh-ed25519"));
}

/// A certificate for a host key.
struct Issue<'a> {
    authority: &'a PrivateKey,
    name: &'a str,
    kind: CertType,
    valid: (u64, u64),
}

impl Issue<'_> {
    fn sign(&self, key: &PrivateKey) -> russh::keys::Certificate {
        let (after, before) = self.valid;
        let key = key.public_key().key_data().clone();
        let mut builder =
            Builder::new_with_random_nonce(&mut safe_rng(), key, after, before).unwrap();
        builder.cert_type(self.kind).unwrap().key_id("test").unwrap();
        builder.valid_principal(self.name).unwrap();
        builder.sign(self.authority).unwrap()
    }
}

/// The end of a period that no test reaches.
const FAR: u64 = 1 << 40;

async fn certified(
    issue: Issue<'_>,
    known: impl FnOnce(&PrivateKey) -> Known,
) -> Result<(), ConnectFailure> {
    let mut host_key = None;
    let scene = Scene::with(|settings| {
        let key = settings.host_keys[0].clone();
        settings.host_certificates = vec![issue.sign(&key)];
        host_key = Some(key);
    });
    let scene = scene.await;
    probe(&scene, Arc::new(known(&host_key.unwrap())), HostKeyMode::Strict).await
}

#[tokio::test]
async fn a_host_certificate_proves_the_host_that_it_names() {
    let authority = ed25519();
    let good = || Issue {
        authority: &authority,
        name: "web.example",
        kind: CertType::Host,
        valid: (0, FAR),
    };
    let by = |key: &PrivateKey| Known { authorities: vec![blob(key)], ..Known::default() };
    certified(good(), |_| by(&authority)).await.unwrap();

    let wrong = [
        (Issue { name: "db.example", ..good() }, "not for `web.example`"),
        (Issue { kind: CertType::User, ..good() }, "user certificate"),
        (Issue { valid: (0, 1000), ..good() }, "period of validity"),
    ];
    for (issue, reason) in wrong {
        let refused = certified(issue, |_| by(&authority)).await.unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    let refused = certified(good(), |_| by(&ed25519())).await.unwrap_err();
    assert!(refused.to_string().contains("no @cert-authority entry"), "{refused}");

    // The key in a certificate that does not help may have an entry of its own.
    let pinned =
        |key: &PrivateKey| Known { authorities: vec![blob(&ed25519())], ..Known::keys(&[key]) };
    certified(good(), pinned).await.unwrap();

    let revoked = |key: &PrivateKey| Known { revoked: vec![blob(key)], ..by(&authority) };
    let refused = certified(good(), revoked).await.unwrap_err();
    assert!(matches!(refused, ConnectFailure::HostKeyRevoked { .. }), "{refused}");
    let revoked = |_: &PrivateKey| Known { revoked: vec![blob(&authority)], ..by(&authority) };
    let refused = certified(good(), revoked).await.unwrap_err();
    assert!(matches!(refused, ConnectFailure::HostKeyRevoked { .. }), "{refused}");
}

#[tokio::test]
async fn keyscan_lists_the_keys_and_logs_in_nowhere() {
    let rsa = rsa();
    let scene = Scene::with(|settings| settings.host_keys.push(rsa.clone())).await;
    let keys = keyscan(&scene.route(), &limits()).await.unwrap();
    let found: Vec<_> =
        keys.iter().filter(|key| key.found.is_some()).map(|key| key.algorithm.as_str()).collect();
    assert_eq!(found, ["ssh-ed25519", "ssh-rsa"]);
    let line = &keys[0].found.as_ref().unwrap().line;
    let expected = scene.host_key.public_key().to_openssh().unwrap();
    assert_eq!(*line, format!("[web.example]:{} {}", scene.server.address.port(), expected.trim()));
    assert_eq!(scene.server.logins(), 0);
    assert_eq!(scene.server.counts.connections.load(Ordering::SeqCst), keys.len());
}
