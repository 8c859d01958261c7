//! The login: key files, agents, certificates, jumps, and texts about what went wrong.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use relay_ssh::{ConnectError, ConnectFailure, End, Hop, Identity, Limits, Pool, Route, keyscan};
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::certificate::{Builder, CertType};
use russh::keys::{Algorithm, EcdsaCurve, PrivateKey};
use tokio::net::TcpListener;
use tokio::process::Child;

use crate::server::{Server, Settings};
use crate::support::{Known, Scene, command, ed25519, limits, never, pool, rsa, until, write_key};

async fn probe(hop: Hop) -> Result<(), ConnectError> {
    pool().probe(&Route { hops: vec![hop] }).await.map(|_| ())
}

#[tokio::test]
async fn keys_of_each_type_log_in() {
    let curves = [EcdsaCurve::NistP256, EcdsaCurve::NistP384, EcdsaCurve::NistP521];
    let ecdsa = curves
        .map(|curve| PrivateKey::random(&mut safe_rng(), Algorithm::Ecdsa { curve }).unwrap());
    for key in ecdsa.into_iter().chain([ed25519(), rsa()]) {
        let scene = Scene::with_user_key(key, |_| {}).await;
        probe(scene.hop()).await.unwrap();
    }
}

#[tokio::test]
async fn a_user_certificate_logs_in_where_its_key_does_not() {
    for key in [ed25519(), rsa()] {
        let authority = ed25519();
        let scene = Scene::with_user_key(key, |settings| {
            settings.authorized.clear();
            settings.authority = Some(authority.public_key().key_data().clone());
        });
        let scene = scene.await;
        let public = scene.user_key.public_key().key_data().clone();
        let mut builder =
            Builder::new_with_random_nonce(&mut safe_rng(), public, 0, 1 << 40).unwrap();
        builder.cert_type(CertType::User).unwrap().key_id("test").unwrap();
        builder.valid_principal("tester").unwrap();
        let path = scene.folder.path().join("id-cert.pub");
        std::fs::write(&path, builder.sign(&authority).unwrap().to_openssh().unwrap()).unwrap();
        probe(scene.hop()).await.unwrap_err();
        let mut hop = scene.hop();
        hop.identities[0].certificate = Some(path);
        probe(hop).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_that_the_host_does_not_know_is_named() {
    let scene = Scene::start().await;
    let mut hop = scene.hop();
    hop.identities[0].key = write_key(scene.folder.path(), "other", &ed25519());
    let error = probe(hop).await.unwrap_err();
    assert!(error.place.starts_with("web (tester@127.0.0.1:"), "{error}");
    assert!(error.to_string().contains("other: refused"), "{error}");
}

#[tokio::test]
async fn a_wrong_key_before_the_right_one_does_not_matter() {
    let scene = Scene::start().await;
    let mut hop = scene.hop();
    let key = write_key(scene.folder.path(), "other", &ed25519());
    hop.identities.insert(0, Identity { key, certificate: None });
    probe(hop).await.unwrap();
}

#[tokio::test]
async fn a_key_that_others_may_read_is_not_used() {
    let scene = Scene::start().await;
    std::fs::set_permissions(&scene.key_path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = probe(scene.hop()).await.unwrap_err().to_string();
    assert!(
        error.contains("readable by others (mode 640)") && error.contains("chmod 600"),
        "{error}"
    );
}

#[tokio::test]
async fn a_key_with_a_passphrase_refers_to_the_agent() {
    let scene = Scene::start().await;
    let locked = scene.user_key.encrypt(&mut safe_rng(), "sesame").unwrap();
    write_key(scene.folder.path(), "id", &locked);
    let error = probe(scene.hop()).await.unwrap_err().to_string();
    assert!(error.contains("passphrase; add the key to the agent"), "{error}");
}

#[tokio::test]
async fn files_that_are_no_keys_are_named() {
    let scene = Scene::start().await;
    std::fs::write(&scene.key_path, "no key").unwrap();
    let error = probe(scene.hop()).await.unwrap_err().to_string();
    assert!(error.contains("id: not a private key"), "{error}");
    std::fs::remove_file(&scene.key_path).unwrap();
    let error = probe(scene.hop()).await.unwrap_err().to_string();
    assert!(error.contains("id: No such file"), "{error}");
    let mut hop = scene.hop();
    hop.identities.clear();
    let error = probe(hop).await.unwrap_err().to_string();
    assert!(error.contains("no key file and no agent"), "{error}");
}

/// An agent, ended with the test.
struct Agent {
    socket: PathBuf,
    _child: Child,
}

impl Agent {
    /// Starts an agent, or returns `None` where the machine has none.
    async fn start(scene: &Scene) -> Option<Self> {
        let socket = scene.folder.path().join("agent");
        let mut starting = tokio::process::Command::new("ssh-agent");
        starting.arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).stderr(Stdio::null());
        let child = starting.kill_on_drop(true).spawn().ok()?;
        // The socket exists before the agent listens on it.
        let answers = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
        until("the agent is up", answers).await;
        Some(Self { socket, _child: child })
    }

    async fn add(&self, key: &PrivateKey) {
        let mut client =
            russh::keys::agent::client::AgentClient::connect_uds(&self.socket).await.unwrap();
        client.add_identity(key, &[]).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_logs_in_without_a_file() {
    for key in [ed25519(), rsa()] {
        let scene = Scene::with_user_key(key, |_| {}).await;
        let Some(agent) = Agent::start(&scene).await else { return };
        agent.add(&ed25519()).await;
        agent.add(&scene.user_key).await;
        let mut hop = scene.hop();
        hop.identities.clear();
        hop.agent = Some(agent.socket.clone());
        probe(hop.clone()).await.unwrap();
        hop.identities_only = true;
        probe(hop).await.unwrap_err();
    }
}

#[tokio::test]
async fn an_agent_serves_a_file_with_a_passphrase() {
    let scene = Scene::start().await;
    let Some(agent) = Agent::start(&scene).await else { return };
    agent.add(&scene.user_key).await;
    let locked = scene.user_key.encrypt(&mut safe_rng(), "sesame").unwrap();
    write_key(scene.folder.path(), "id", &locked);
    let mut hop = scene.hop();
    hop.agent = Some(agent.socket.clone());
    hop.identities_only = true;
    probe(hop).await.unwrap();
}

#[tokio::test]
async fn a_missing_agent_is_named_and_files_still_work() {
    let scene = Scene::start().await;
    let mut hop = scene.hop();
    hop.agent = Some(scene.folder.path().join("none"));
    probe(hop.clone()).await.unwrap();
    hop.identities.clear();
    let error = probe(hop).await.unwrap_err().to_string();
    assert!(error.contains("none: No such file"), "{error}");
}

#[tokio::test]
async fn jumps_lead_to_the_host_each_with_its_own_key_and_user_key() {
    let (first, second, host) = (Scene::start().await, Scene::start().await, Scene::start().await);
    let route = Route { hops: vec![first.hop(), second.hop(), host.hop()] };
    let pool = pool();
    let finished = pool.run(&route, command("echo over; exit 6"), never()).await.unwrap();
    assert_eq!((finished.stdout.as_slice(), finished.end), (b"over\n".as_slice(), End::Exited(6)));
    assert_eq!([&first, &second, &host].map(|scene| scene.server.logins()), [1, 1, 1]);
    let keys = keyscan(&route, &limits()).await.unwrap();
    assert_eq!(keys.iter().filter(|key| key.found.is_some()).count(), 1);
    drop(pool);
    until("all connections end", || {
        [&first, &second, &host].iter().all(|scene| scene.server.open_connections() == 0)
    })
    .await;
}

#[tokio::test]
async fn an_error_names_the_hop() {
    let (jump, host) = (Scene::start().await, Scene::start().await);
    let mut middle = jump.hop();
    middle.alias = "jump".to_owned();
    let mut unknown = middle.clone();
    unknown.trust = Arc::new(Known::default());
    let error = pool().probe(&Route { hops: vec![unknown, host.hop()] }).await.unwrap_err();
    assert!(error.place.starts_with("jump "), "{error}");
    let mut closed = host.hop();
    closed.port = 1;
    let error = pool().probe(&Route { hops: vec![middle, closed] }).await.unwrap_err();
    assert!(error.to_string().contains("the jump host says: connect failed"), "{error}");
    assert!(error.place.starts_with("web "), "{error}");
}

#[tokio::test]
async fn routes_have_one_to_eight_hosts() {
    let scene = Scene::start().await;
    for hops in [0, 9] {
        let route = Route { hops: vec![scene.hop(); hops] };
        let error = pool().probe(&route).await.unwrap_err();
        assert_eq!(error.cause, ConnectFailure::Route { hops });
    }
}

#[tokio::test]
async fn an_unreachable_host_says_why() {
    let scene = Scene::start().await;
    let mut hop = scene.hop();
    hop.port = 1;
    assert!(matches!(probe(hop).await.unwrap_err().cause, ConnectFailure::Unreachable { .. }));
    let mut hop = scene.hop();
    hop.address = "host.invalid".to_owned();
    assert!(matches!(probe(hop).await.unwrap_err().cause, ConnectFailure::Name { .. }));
}

#[tokio::test]
async fn a_host_that_turns_away_is_tried_again() {
    let scene = Scene::with(|settings| settings.turned_away = 2).await;
    probe(scene.hop()).await.unwrap();
    let scene = Scene::with(|settings| {
        settings.turned_away = 9;
        settings.excuse = "Exceeded MaxStartups\r\n";
    });
    let scene = scene.await;
    let error = probe(scene.hop()).await.unwrap_err();
    assert!(matches!(error.cause, ConnectFailure::Turned { .. }), "{error}");
    assert!(error.to_string().contains("it says: Exceeded MaxStartups"), "{error}");
    assert_eq!(scene.server.counts.connections.load(std::sync::atomic::Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_connect_that_is_given_up_frees_its_socket() {
    let scene = Scene::start().await;
    for banner in ["", "SSH-2.0-tar\r\n"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let hop = scene.hop_at(listener.local_addr().unwrap());
        let tar = tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(banner.as_bytes()).await.unwrap();
            // Ends when the other side closes.
            while let Ok(1..) = socket.read(&mut [0; 4096]).await {}
        });
        let pool = Pool::new(Limits { connect: Duration::from_millis(300), ..limits() });
        let error = pool.probe(&Route { hops: vec![hop] }).await.unwrap_err();
        assert!(matches!(error.cause, ConnectFailure::Timeout { .. }), "{error}");
        tar.await.unwrap();
        assert_eq!(pool.connections(), 0);
    }
}

#[tokio::test]
async fn a_peer_without_ssh_is_named() {
    let scene = Scene::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hop = scene.hop_at(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let text = "x".repeat(100_000);
            let _ = tokio::io::AsyncWriteExt::write_all(&mut socket, text.as_bytes()).await;
        }
    });
    assert_eq!(probe(hop).await.unwrap_err().cause, ConnectFailure::NotSsh);
}

#[tokio::test]
async fn a_host_without_sessions_says_so() {
    let scene = Scene::with(|settings| settings.sessions_max = Some(0)).await;
    let error = probe(scene.hop()).await.unwrap_err();
    assert!(matches!(error.cause, ConnectFailure::Session { .. }), "{error}");
}

#[tokio::test]
async fn a_server_without_common_algorithms_says_which() {
    // No host key at all: nothing to agree on.
    let scene = Scene::start().await;
    let server = Server::start(Settings::default()).await;
    let error = probe(scene.hop_at(server.address)).await.unwrap_err();
    assert!(!error.to_string().is_empty());
}

#[tokio::test]
async fn much_input_against_many_small_outputs_passes_a_jump() {
    let jump = Scene::with(|settings| settings.window = Some(8 * 1024)).await;
    let host = Scene::start().await;
    let route = Route { hops: vec![jump.hop(), host.hop()] };
    let pool = pool();
    let input = b"0123456789012345678901234567890123456789\n".repeat(100_000);
    let length = input.len() as u64;
    let line_by_line = relay_ssh::Command { input, ..command("sed -u ''") };
    let runs = (0..4).map(|_| {
        let (pool, route, command) = (pool.clone(), route.clone(), line_by_line.clone());
        tokio::spawn(async move { pool.run(&route, command, never()).await.unwrap() })
    });
    for running in runs.collect::<Vec<_>>() {
        let finished = running.await.unwrap();
        assert_eq!((finished.stdout_bytes, finished.end), (length, End::Exited(0)));
    }
}
