//! SIGHUP: which settings are read again, and which are only named.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned,
};

use super::agent::{Agent, Protocol, error};
use super::auth::{key, now};
use super::gate::{self, write_keys};
use super::house::{self, House};
use super::server::{bare, wait_until};
use super::web::{Answer, Events, Request, Web};

const CONFIG: [&str; 2] = ["--config", "server.toml"];

fn list(web: &Web, authorization: &str) -> Answer {
    web.send(&Request::modern("prompts/list", json!({})).with("Authorization", authorization))
}

/// Sends SIGHUP and waits until everything was read again.
pub(super) fn hang_up(web: &Web) {
    let reloads = || web.server.log().matches("is in force").count();
    let before = reloads();
    web.server.signal("HUP");
    wait_until(|| reloads() > before);
}

#[test]
fn api_keys_are_read_again() {
    let house = House::new();
    house.write("server.toml", key("ann", "a", ""));
    let web = Web::start(&house, &CONFIG);
    let statuses = || ["Bearer rk_ann_a", "Bearer rk_bob_b"].map(|key| list(&web, key).status);
    assert_eq!(statuses(), [200, 401]);
    house.write("server.toml", key("bob", "b", ""));
    hang_up(&web);
    assert_eq!(statuses(), [401, 200]);
    // A broken file brings no key back.
    for broken in ["[auth]\n", "nonsense", &[key("ann", "a", ""), key("ann", "b", "")].concat()] {
        house.write("server.toml", broken);
        hang_up(&web);
        assert_eq!(statuses(), [401, 200], "{broken}");
    }
    let log = web.server.log();
    assert_eq!(log.matches("the settings read before stay in force").count(), 3, "{log}");
}

#[test]
fn an_expired_api_key_is_refused_and_only_its_owner_learns_why() {
    let house = House::new();
    let [past, future] =
        ["2020-01-01", "\"2999-01-01T00:00:00+02:00\""].map(|date| format!("not-after = {date}"));
    house.write("server.toml", [key("ann", "a", &past), key("bob", "b", &future)].concat());
    let web = Web::start(&house, &CONFIG);
    assert_eq!(list(&web, "Bearer rk_bob_b").status, 200);
    let expired = list(&web, "Bearer rk_ann_a");
    assert_eq!((expired.status, expired.body.as_str()), (401, "the API key has expired\n"));
    assert_eq!(
        expired.header("www-authenticate"),
        "Bearer realm=\"relay\", error=\"invalid_token\", error_description=\"the API key has expired\""
    );
    for other in ["Bearer rk_ann_b", "Bearer rk_bob_a", "Bearer rk_cy_a", "Bearer rk_ann"] {
        assert_eq!(
            list(&web, other).body,
            "the API key is not valid: send the text of the .api-key file as `Authorization: Bearer rk_ID_SECRET`\n",
            "{other}"
        );
    }
}

#[test]
fn an_api_key_expires_while_the_server_runs() {
    let house = House::new();
    let ann_and_bob = |of_ann: &str, of_bob: &str| {
        house.write("server.toml", [key("ann", "a", of_ann), key("bob", "b", of_bob)].concat());
    };
    ann_and_bob("", "");
    let web = Web::start(&house, &CONFIG);
    let statuses = || ["Bearer rk_ann_a", "Bearer rk_bob_b"].map(|key| list(&web, key).status);
    assert_eq!(statuses(), [200, 200]);
    let end = UNIX_EPOCH + Duration::from_secs(now() + 2);
    ann_and_bob(&format!("not-after = {}", humantime::format_rfc3339_seconds(end)), "");
    hang_up(&web);
    wait_until(|| statuses() == [401, 200]);
    assert!(now() >= end.duration_since(UNIX_EPOCH).expect("after 1970").as_secs());
    assert_eq!(list(&web, "Bearer rk_ann_a").body, "the API key has expired\n");
    ann_and_bob("not-after = 2999-01-01", "not-after = 2020-01-01");
    hang_up(&web);
    assert_eq!(statuses(), [200, 401]);
}

#[test]
fn a_session_ends_with_the_key_of_its_caller() {
    let house = House::new();
    house.write("server.toml", key("ann", "a", ""));
    let web = Web::start(&house, &CONFIG);
    let session = web.begin(Some("Bearer rk_ann_a"));
    let list = || {
        let list = Request::legacy(&session, "prompts/list", json!({}));
        web.send(&list.with("Authorization", "Bearer rk_ann_a")).status
    };
    assert_eq!(list(), 200);
    house.write("server.toml", key("ann", "other", ""));
    hang_up(&web);
    assert_eq!(list(), 401);
}

#[test]
fn open_streams_end_with_the_credentials_of_their_caller() {
    const ANN: &str = "Bearer rk_ann_a";
    const BOB: &str = "Bearer rk_bob_b";
    let house = House::new();
    let ann_and_bob = |ann: String| house.write("server.toml", ann + &key("bob", "b", ""));
    ann_and_bob(key("ann", "a", ""));
    let web = Web::start(&house, &CONFIG);
    let of_session = |who: &str| {
        let session = web.begin(Some(who));
        let get = Request::new("GET", "/mcp").with("Accept", "text/event-stream");
        web.listen(&get.with("Mcp-Session-Id", &session).with("Authorization", who))
    };
    let modern = |who: &str| {
        let wanted = json!({ "notifications": { "promptsListChanged": true } });
        let listen = Request::modern("subscriptions/listen", wanted);
        let mut events = web.listen(&listen.with("Authorization", who));
        assert_eq!(events.next()["method"], "notifications/subscriptions/acknowledged");
        events
    };
    let streams = |who: &str| [of_session(who), modern(who)];
    let (mut of_ann, mut of_bob) = (streams(ANN), streams(BOB));
    ann_and_bob(key("ann", "other", ""));
    hang_up(&web);
    of_ann.iter_mut().for_each(Events::ends);
    // The same caller in another tenant is another one.
    ann_and_bob(key("ann", "a", ""));
    hang_up(&web);
    let mut of_ann = streams(ANN);
    ann_and_bob(key("ann", "a", "tenant = \"acme\""));
    hang_up(&web);
    of_ann.iter_mut().for_each(Events::ends);
    let mut of_ann = streams(ANN);
    let end = UNIX_EPOCH + Duration::from_secs(now() + 3);
    let ends = format!("tenant = \"acme\"\nnot-after = {}", humantime::format_rfc3339_seconds(end));
    ann_and_bob(key("ann", "a", &ends));
    hang_up(&web);
    of_ann.iter_mut().for_each(Events::ends);
    // Those of the other one are as they were.
    house.replace(&house::bundle_of(&house::many(1)));
    for stream in &mut of_bob {
        assert_eq!(stream.next()["method"], "notifications/prompts/list_changed");
    }
}

#[test]
fn refused_authentication_is_recorded_within_a_limit() {
    let house = House::new();
    house.write("server.toml", key("ann", "a", ""));
    let web = Web::start(&house, &[&CONFIG[..], &["--audit", "audit.jsonl"]].concat());
    let records = || -> Vec<Value> {
        let text = house.read("audit.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    };
    list(&web, "Bearer rk_ann_hunter2");
    list(&web, "Bearer rk_hunter2_a");
    let none = web.send(&Request::new("GET", "/metrics"));
    assert_eq!(
        none.body,
        "authentication is required: send the text of the .api-key file as `Authorization: Bearer rk_ID_SECRET`\n"
    );
    let [known, unknown, scraper] = records().try_into().expect("three records");
    assert_eq!(scraper["tool"], "authentication");
    assert_eq!(scraper["rule"], "authentication is required");
    assert_eq!(known["args"], json!({ "api-key": "ann" }));
    assert_eq!(unknown["args"], json!({}));
    for record in [&known, &unknown] {
        assert_eq!(record["tool"], "authentication");
        assert_eq!(record["rule"], "the API key is not valid");
        assert_eq!((&record["action"], &record["denied"]), (&json!("refused"), &json!(true)));
        assert_eq!(record["principal"], "unauthenticated");
    }
    const REQUESTS: u64 = 200;
    for _ in 3..REQUESTS {
        web.send(&Request::modern("prompts/list", json!({})));
    }
    let counted = || -> u64 {
        let count = |record: &Value| record["args"]["count"].as_str()?.parse::<u64>().ok();
        records().iter().map(|record| count(record).unwrap_or(1)).sum()
    };
    wait_until(|| counted() == REQUESTS);
    assert!(!house.read("audit.jsonl").contains("hunter2"));
    let mut seconds = std::collections::BTreeMap::<String, u32>::new();
    for record in records().iter().filter(|record| record["tool"] == "authentication") {
        let second = record["ts"].as_str().expect("a time")[..19].to_owned();
        *seconds.entry(second).or_default() += 1;
    }
    // A record may be written a moment after its second has ended.
    assert!(seconds.values().all(|count| *count <= 20), "{seconds:?}");
    assert!(records().len() < REQUESTS as usize, "{} records", records().len());
}

#[test]
fn keys_of_briefings_are_read_again() {
    let house = gate::house("");
    write_keys(&house, &[(1, [7; 32])]);
    let mut command = super::server::command(&house, &["--stdio", CONFIG[0], CONFIG[1]]);
    command.env("RELAY_LOG", "info");
    let mut agent = Agent::of(&house, command, Protocol::Modern);
    let handle = agent.begin(&["vpn"]);
    let read = |agent: &mut Agent, handle: &str| {
        agent.call("read_prompts", json!({ "tags": ["lights"], "briefing": handle }))
    };
    let reload = |agent: &Agent| {
        let server = &agent.client.server;
        let before = server.log().matches("is in force").count();
        server.signal("HUP");
        wait_until(|| server.log().matches("is in force").count() > before);
    };
    assert_eq!(read(&mut agent, &handle)["isError"], false);
    // A new key comes first: handles of the old one are opened still.
    write_keys(&house, &[(2, [8; 32]), (1, [7; 32])]);
    reload(&agent);
    assert_eq!(read(&mut agent, &handle)["isError"], false);
    let newer = agent.begin(&["vpn"]);
    // Then the old one is dropped.
    write_keys(&house, &[(2, [8; 32])]);
    reload(&agent);
    assert_eq!(read(&mut agent, &newer)["isError"], false);
    assert!(!error(&read(&mut agent, &handle)).is_empty());
    // Other contents under the same name and id are another key.
    house.write("key-2", "09".repeat(32));
    reload(&agent);
    assert!(!error(&read(&mut agent, &newer)).is_empty());
}

#[test]
fn settings_that_need_a_restart_are_named() {
    let house = House::new();
    let web = Web::start(&house, &CONFIG);
    house.write(
        "server.toml",
        "allowed-hosts = [\"a.example\"]\nallowed-origins = []\nstate = \"state\"\n\
         principal = { id = \"ann\" }\nbriefing = { lifetime-min = 1 }\nwatch = { poll-ms = 51 }\n\
         audit = { path = \"other\" }\n\
         limits = { body-bytes-max = 1, principal-calls-max = 2 }\n\
         tls = { cert = \"c\", key = \"k\" }\nauth = { api-keys = [] }\n",
    );
    let key = key("ann", "a", "");
    house.write(
        "server.toml",
        house.read("server.toml").replace("auth = { api-keys = [] }\n", &key),
    );
    hang_up(&web);
    let log = web.server.log();
    for name in [
        "allowed-hosts",
        "allowed-origins",
        "state",
        "principal",
        "briefing.lifetime-min",
        "watch.poll-ms",
        "audit.path",
        "limits.body-bytes-max",
        "limits.principal-calls-max",
        "tls",
        "auth",
    ] {
        assert!(log.contains(&format!("`{name}` has changed: it takes effect")), "{name}: {log}");
    }
    assert_eq!(log.matches("takes effect after a restart").count(), 11, "{log}");
    assert_eq!(list(&web, "").status, 200, "it is what it was");
    // Options on the command line have precedence, so these stay.
    house.write(
        "server.toml",
        "listen = \"127.0.0.1:1\"\ntrust = \"no.toml\"\nwatch = { poll-ms = 50 }\n",
    );
    hang_up(&web);
    let log = web.server.log();
    assert_eq!(log.matches("takes effect after a restart").count(), 11, "{log}");
}

#[test]
fn a_certificate_is_read_again() {
    let house = House::new();
    let [old, next]: [(&[u8], &[u8]); 2] = [
        (include_bytes!("tls/cert.pem"), include_bytes!("tls/key.pem")),
        (include_bytes!("tls/next-cert.pem"), include_bytes!("tls/next-key.pem")),
    ];
    let write = |(cert, key): (&[u8], &[u8])| {
        house.write("cert.pem", cert);
        house.write("key.pem", key);
    };
    write(old);
    house.write(
        "server.toml",
        "trust = \"trust.toml\"\ntls = { cert = \"cert.pem\", key = \"key.pem\" }\nwatch = { poll-ms = 0 }\n",
    );
    let command = bare(&house, &["house.relay", "--http", "127.0.0.1:0", CONFIG[0], CONFIG[1]]);
    let mut server = harness::Process::start(command);
    server.keep(house.folder());
    let log = server.hear("/mcp\n");
    let (_, address) = log.trim_end().rsplit_once("https://").expect("an address");
    let address = address.split('/').next().expect("an address");
    let der = |pem: &[u8]| CertificateDer::from_pem_slice(pem).expect("PEM").to_vec();
    assert_eq!(certificate(address), der(old.0));
    house.write("cert.pem", "no certificate");
    server.signal("HUP");
    server.hear("the certificate read before stays in force");
    assert_eq!(certificate(address), der(old.0));
    write(next);
    server.signal("HUP");
    wait_until(|| certificate(address) == der(next.0));
}

/// Asks for `/healthz` over TLS; returns the certificate that the server showed.
fn certificate(address: &str) -> Vec<u8> {
    let shown = Arc::new(Shown::default());
    let provider = rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .dangerous()
        .with_custom_certificate_verifier(shown.clone())
        .with_no_client_auth();
    let name = ServerName::try_from("relay.test").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(harness::PATIENCE)).expect("a timeout");
    let mut stream = StreamOwned::new(connection, stream);
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("a request");
    let mut answer = Vec::new();
    _ = stream.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    let shown = shown.0.lock().expect("no panic");
    shown.clone().expect("a certificate")
}

/// Accepts every certificate and keeps it.
#[derive(Debug, Default)]
struct Shown(Mutex<Option<Vec<u8>>>);

impl ServerCertVerifier for Shown {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        *self.0.lock().expect("no panic") = Some(certificate.to_vec());
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
