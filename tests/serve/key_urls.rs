//! Key sets that are fetched from a URL: rotation, limits, and servers that are down or lie.

use std::thread;
use std::time::{Duration, Instant};

use harness::run;
use serde_json::{Value, json};

use super::auth::{bearer, key, list, now};
use super::hangup::hang_up;
use super::house::House;
use super::key_server::{KeyServer, Reply};
use super::key_sets::keys;
use super::server::{command, wait_until};
use super::tokens::Signer;
use super::web::{Request, Web};

const ISSUER: &str = "https://login.example";
/// Fetches often.
const OFTEN: &str = "jwks-refresh-s = 1\njwks-cooldown-s = 1\n";
/// Fetches at the start, and for unknown keys.
const RARELY: &str = "jwks-refresh-s = 3600\njwks-cooldown-s = 1\n";

fn configure(house: &House, place: &str, extra: &str) {
    house.write(
        "server.toml",
        format!(
            "[[auth.jwt]]\nissuer = \"{ISSUER}\"\naudience = \"a\"\nalgorithms = [\"ES256\", \"RS256\"]\nresource = \"https://relay.example/mcp\"\n{place}\n{extra}"
        ),
    );
}

fn start(server: &KeyServer, extra: &str) -> (House, Web) {
    let house = House::new();
    house.write("authority.pem", include_bytes!("tls/authority.pem"));
    configure(&house, &format!("jwks-url = \"{}\"", server.url("127.0.0.1")), extra);
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    (house, web)
}

/// The set of a key with this id.
fn set(signer: &Signer, id: &str) -> String {
    keys(signer, &json!({ "kid": id })).to_string()
}

/// A token of the key with this id.
fn token(signer: &Signer, id: &str) -> String {
    let claims = json!({ "iss": ISSUER, "aud": "a", "sub": "ann", "exp": now() + 600 });
    bearer(&signer.sign(&json!({ "alg": "ES256", "kid": id }), &claims))
}

fn status(web: &Web, token: &str) -> u16 {
    list(web, Some(token)).status
}

fn readiness(web: &Web) -> (u16, Value) {
    let answer = web.get("/readyz");
    (answer.status, answer.json())
}

#[test]
fn keys_are_fetched_over_an_encrypted_connection() {
    let signer = Signer::curve();
    let server = KeyServer::encrypted(Reply::Set(set(&signer, "a")));
    for host in ["localhost", "127.0.0.1"] {
        let house = House::new();
        house.write("authority.pem", include_bytes!("tls/authority.pem"));
        let place = format!("jwks-url = \"{}\"\njwks-ca = \"authority.pem\"", server.url(host));
        configure(&house, &place, "");
        let web = Web::start(&house, &["--config", "server.toml"]);
        assert_eq!(status(&web, &token(&signer, "a")), 200, "{}", web.server.log());
        assert_eq!(readiness(&web).1["key_sets"][0]["state"], "current");
        assert!(
            web.server.log().contains("keys of the issuer `https://login.example` in force: 1")
        );
    }
    let heads = server.heads();
    assert!(heads.starts_with("GET /keys?of=relay HTTP/1.1\r\n"), "{heads}");
    assert!(heads.contains("accept: application/jwk-set+json, application/json\r\n"), "{heads}");
    assert!(!heads.to_ascii_lowercase().contains("authorization"), "{heads}");
}

#[test]
fn another_authority_is_not_trusted() {
    let signer = Signer::curve();
    let server = KeyServer::encrypted(Reply::Set(set(&signer, "a")));
    for ca in ["other.pem", "authority.pem"] {
        let house = House::new();
        house.write("other.pem", include_bytes!("tls/cert.pem"));
        house.write("authority.pem", include_bytes!("tls/authority.pem"));
        // The certificate names this machine otherwise.
        let host = if ca == "authority.pem" { "127.0.0.2" } else { "localhost" };
        configure(&house, &format!("jwks-url = \"{}\"\njwks-ca = \"{ca}\"", server.url(host)), "");
        let web = Web::start(&house, &["--config", "server.toml"]);
        assert_eq!(status(&web, &token(&signer, "a")), 503, "{ca}");
        web.server.hear("cannot fetch the keys of the issuer `https://login.example`");
    }
    assert_eq!(server.heads(), "", "nothing was asked");
}

#[test]
fn keys_rotate_and_a_removed_one_is_out_of_force() {
    let (old, new) = (Signer::curve(), Signer::curve());
    let server = KeyServer::plain(Reply::Set(set(&old, "old")));
    let (_house, web) = start(&server, OFTEN);
    let (of_old, of_new) = (token(&old, "old"), token(&new, "new"));
    // The token is remembered, and a stream is open.
    assert_eq!((status(&web, &of_old), status(&web, &of_new)), (200, 401));
    let params = json!({ "notifications": { "promptsListChanged": true } });
    let listen = Request::modern("subscriptions/listen", params);
    let mut stream = web.listen(&listen.with("Authorization", &of_old));
    server.reply(Reply::Set(set(&new, "new")));
    wait_until(|| status(&web, &of_new) == 200);
    assert_eq!(status(&web, &of_old), 401);
    stream.ends();
    // An equal set is left unreported.
    let fetched = server.requests();
    wait_until(|| server.requests() > fetched + 1);
    assert_eq!(web.server.log().matches("in force: 1").count(), 2);
}

#[test]
fn a_key_that_kept_its_id_is_another_key() {
    let (old, new) = (Signer::curve(), Signer::curve());
    let server = KeyServer::plain(Reply::Set(set(&old, "key")));
    let (_house, web) = start(&server, OFTEN);
    let of_old = token(&old, "key");
    assert_eq!(status(&web, &of_old), 200);
    server.reply(Reply::Set(set(&new, "key")));
    wait_until(|| status(&web, &of_old) == 401);
    assert_eq!(status(&web, &token(&new, "key")), 200);
}

#[test]
fn an_unknown_key_is_fetched_soon_and_not_by_the_request() {
    let (old, new) = (Signer::curve(), Signer::curve());
    let server = KeyServer::plain(Reply::Set(set(&old, "old")));
    let (house, web) = start(&server, RARELY);
    server.reply(Reply::Set(set(&new, "new")));
    let answer = list(&web, Some(&token(&new, "new")));
    let reason = "the token's key is not known here: the keys of its issuer are fetched again";
    assert_eq!((answer.status, answer.body.as_str()), (401, format!("{reason}\n").as_str()));
    assert!(house.read("audit.jsonl").contains(&format!("\"rule\":\"{reason}\"")));
    wait_until(|| status(&web, &token(&new, "new")) == 200);
    assert_eq!(server.requests(), 2);
}

#[test]
fn a_storm_of_unknown_keys_makes_few_fetches() {
    let signer = Signer::curve();
    let server = KeyServer::plain(Reply::Set(set(&signer, "a")));
    let (_house, web) = start(&server, "jwks-refresh-s = 3600\njwks-cooldown-s = 2\n");
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < Duration::from_secs(5) {
        assert_eq!(status(&web, &token(&signer, &format!("unknown-{sent}"))), 401);
        sent += 1;
    }
    let allowed = 2 + begun.elapsed().as_secs() as usize / 2;
    let requests = server.requests();
    assert!(sent > 100 && (2..=allowed).contains(&requests), "{requests} fetches for {sent}");
    // Another algorithm and a bad signature leave the set as it is.
    let before = server.requests();
    thread::sleep(Duration::from_secs(3));
    let settled = server.requests();
    assert!(settled <= before + 1);
    for wrong in [
        signer.sign(&json!({ "alg": "RS256", "kid": "a" }), &json!({ "iss": ISSUER })),
        Signer::curve().sign(&json!({ "alg": "ES256", "kid": "a" }), &json!({ "iss": ISSUER })),
    ] {
        assert_eq!(status(&web, &bearer(&wrong)), 401);
    }
    thread::sleep(Duration::from_secs(3));
    assert_eq!(server.requests(), settled);
}

/// An answer with this status, these header lines and this body.
fn raw(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
    Reply::Raw(text.into_bytes())
}

#[test]
fn a_set_that_cannot_be_used_changes_nothing_and_the_reason_is_named() {
    let signer = Signer::curve();
    let good = set(&signer, "a");
    let elsewhere = KeyServer::plain(Reply::Set(set(&Signer::curve(), "a")));
    let to_elsewhere = format!("Location: {}\r\n", elsewhere.url("127.0.0.1"));
    let secret = keys(&signer, &json!({ "d": "AAAA" })).to_string();
    let weak =
        json!({ "keys": [{ "kty": "RSA", "kid": "weak", "e": "AQAB", "n": "w".repeat(171) }] });
    let shared = r#"{"keys":[{"kty":"oct","kid":"s","k":"c2VjcmV0"}]}"#;
    let forged = r#"{"keys":[{"kty":"RSA","kid":"x\n2026 ERROR forged","d":""}]}"#;
    let many = json!({ "keys": vec![json!({}); 257] }).to_string();
    let endless_head = [b"HTTP/1.1 200 OK\r\n".as_slice(), &b"X: y\r\n".repeat(4000)].concat();
    let cases = [
        (raw("302 Found", &to_elsewhere, ""), "its server redirects it (302)"),
        (raw("308 Permanent Redirect", &to_elsewhere, &good), "its server redirects it (308)"),
        (raw("500 Broken", "", &good), "its server answers with status 500"),
        (raw("204 No Content", "", ""), "its server answers with status 204"),
        (raw("200 OK", "Content-Encoding: gzip\r\n", &good), "it is compressed"),
        (raw("200 OK", "", "<html>log in</html>"), "it is not a JWKS"),
        (raw("200 OK", "", &secret), "key `key`: it is secret, since it has the member `d`"),
        (raw("200 OK", "", shared), "key `s`: it is secret, since it has the member `k`"),
        (raw("200 OK", "", &weak.to_string()), "key `weak`: its 1024 bits are not accepted"),
        (raw("200 OK", "", "-----BEGIN PUBLIC KEY-----"), "it is PEM"),
        (raw("200 OK", "", &many), "it has 257 keys"),
        (raw("200 OK", "", "{\"keys\":[]}"), "it has no key for any of auth.jwt.algorithms"),
        (raw("200 OK", "", forged), "key `x\\n2026 ERROR forged`: it is secret"),
        (raw("200 OK", "", &format!("{good}{}", " ".repeat(300_000))), "it has over 262144 bytes"),
        (Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".repeat(50)), "it has over 262144 bytes"),
        (Reply::Raw(endless_head), "its server broke the exchange"),
        (
            Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_vec()),
            "broke the exchange",
        ),
        (
            Reply::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff".to_vec()),
            "it is not UTF-8",
        ),
        (Reply::Raw(b"SSH-2.0-relay\r\n".to_vec()), "its server broke the exchange"),
        (Reply::Down, "its server broke the exchange"),
    ];
    // Each takes two fetches, which are a second apart: some servers fetch at once.
    thread::scope(|scope| {
        for cases in cases.chunks(4) {
            let (signer, good) = (&signer, &good);
            scope.spawn(move || assert_each_is_refused(signer, good, cases));
        }
    });
    assert_eq!(elsewhere.requests(), 0);
}

/// Asserts that the keys that were fetched first stay in force after each reply, and that its reason is named.
fn assert_each_is_refused(signer: &Signer, good: &str, cases: &[(Reply, &str)]) {
    let server = KeyServer::plain(Reply::Set(good.to_owned()));
    let (_house, web) = start(&server, OFTEN);
    let token = token(signer, "a");
    for (reply, reason) in cases {
        server.reply(reply.clone());
        // The fetch that is under way may have begun before.
        let before = server.requests();
        wait_until(|| server.requests() > before + 1);
        let (ready, details) = readiness(&web);
        let set = &details["key_sets"][0];
        assert_eq!((ready, &set["state"]), (200, &json!("old")), "{details}");
        let error = set["error"].as_str().expect("a reason");
        assert!(error.contains(reason), "{reason}: {error}");
        assert_eq!(status(&web, &token), 200, "{reason}");
        let log = web.server.log();
        assert!(log.contains(reason) && log.contains("the keys fetched before stay in force for"));
    }
    let log = web.server.log();
    assert!(!log.contains("c2VjcmV0") && !log.contains("\n2026 ERROR forged"), "{log}");
    server.reply(Reply::Set(good.to_owned()));
    wait_until(|| readiness(&web).1["key_sets"][0]["state"] == "current");
    let metrics = web.send(&Request::new("GET", "/metrics").with("Authorization", &token)).body;
    assert!(metrics.contains("relay_key_sets{state=\"current\"} 1\n"), "{metrics}");
    let failed = metrics.lines().find_map(|line| {
        line.strip_prefix("relay_key_fetches_total{result=\"failed\"} ")?.parse::<u32>().ok()
    });
    let each = u32::try_from(cases.len()).expect("a few");
    assert!(failed.is_some_and(|failed| failed >= each), "{metrics}");
}

#[test]
fn a_slow_server_delays_the_start_and_requests_by_no_more_than_its_time() {
    let signer = Signer::curve();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n{}", set(&signer, "a"));
    let server = KeyServer::plain(Reply::Slow(head.into_bytes()));
    let begun = Instant::now();
    let (_house, web) = start(&server, OFTEN);
    let waited = begun.elapsed();
    assert!((9..60).contains(&waited.as_secs()), "{waited:?}");
    web.server.hear("it did not arrive within 10 seconds; no token of this issuer is accepted");
    // The next fetch is in progress.
    wait_until(|| server.requests() > 1);
    let begun = Instant::now();
    let answer = list(&web, Some(&token(&signer, "a")));
    assert!(begun.elapsed() < Duration::from_secs(5));
    let reason = "the keys of the token's issuer could not be fetched yet\n";
    assert_eq!((answer.status, answer.body.as_str()), (503, reason));
    assert_eq!((answer.header("retry-after"), answer.header("www-authenticate")), ("30", ""));
}

#[test]
fn a_server_that_is_down_at_the_start_refuses_its_tokens_alone() {
    let signer = Signer::curve();
    let server = KeyServer::plain(Reply::Down);
    let (house, web) = start(&server, &format!("{OFTEN}{}", key("ann", "secret", "")));
    assert_eq!(status(&web, &token(&signer, "a")), 503);
    assert_eq!(status(&web, "Bearer rk_ann_secret"), 200);
    let (ready, details) = readiness(&web);
    assert_eq!((ready, &details["key_sets"][0]["state"]), (200, &json!("missing")), "{details}");
    let record = "\"rule\":\"the keys of the token's issuer could not be fetched yet\"";
    assert!(house.read("audit.jsonl").contains(record));
    server.reply(Reply::Set(set(&signer, "a")));
    wait_until(|| status(&web, &token(&signer, "a")) == 200);
}

#[test]
fn a_server_without_any_keys_is_not_ready() {
    let server = KeyServer::plain(Reply::Down);
    let (_house, web) = start(&server, OFTEN);
    let (ready, details) = readiness(&web);
    assert_eq!((ready, &details["state"]), (503, &json!("degraded")), "{details}");
    server.reply(Reply::Set(set(&Signer::curve(), "a")));
    wait_until(|| readiness(&web).0 == 200);
}

#[test]
fn keys_that_are_too_old_are_out_of_force() {
    let signer = Signer::curve();
    let server = KeyServer::plain(Reply::Set(set(&signer, "a")));
    let (house, web) = start(&server, &format!("{OFTEN}jwks-max-age-s = 3\n"));
    let token = token(&signer, "a");
    assert_eq!(status(&web, &token), 200);
    server.reply(Reply::Down);
    wait_until(|| status(&web, &token) == 503);
    let reason = "the keys of the token's issuer are too old: they cannot be fetched again";
    assert_eq!(list(&web, Some(&token)).body, format!("{reason}\n"));
    assert!(house.read("audit.jsonl").contains(&format!("\"rule\":\"{reason}\"")));
    assert_eq!(readiness(&web).1["key_sets"][0]["state"], "missing");
    server.reply(Reply::Set(set(&signer, "a")));
    wait_until(|| status(&web, &token) == 200);
}

#[test]
fn a_hangup_fetches_again_and_follows_the_new_place() {
    let (first, second, third) = (Signer::curve(), Signer::curve(), Signer::curve());
    let server = KeyServer::plain(Reply::Set(set(&first, "first")));
    let (house, web) = start(&server, RARELY);
    let tokens = [token(&first, "first"), token(&second, "second"), token(&third, "third")];
    let statuses = || tokens.each_ref().map(|token| status(&web, token) == 200);
    assert_eq!(statuses(), [true, false, false]);
    server.reply(Reply::Set(set(&second, "second")));
    hang_up(&web);
    wait_until(|| statuses() == [false, true, false]);
    // The set of the old place stays in force until that of the new one arrives.
    let other = KeyServer::plain(Reply::Down);
    let place = |server: &KeyServer| format!("jwks-url = \"{}\"", server.url("127.0.0.1"));
    configure(&house, &place(&other), RARELY);
    hang_up(&web);
    wait_until(|| readiness(&web).1["key_sets"][0]["state"] == "old");
    assert_eq!(statuses(), [false, true, false]);
    let asked = server.requests();
    other.reply(Reply::Set(set(&third, "third")));
    wait_until(|| statuses() == [false, false, true]);
    assert_eq!(server.requests(), asked, "the old place is not asked any more");
    // And from there to a file.
    house.write("jwks.json", set(&first, "first"));
    configure(&house, "jwks = \"jwks.json\"", "");
    hang_up(&web);
    assert_eq!(statuses(), [true, false, false]);
    assert!(readiness(&web).1["key_sets"].is_null());
}

#[test]
fn an_unusable_place_is_named_at_the_start() {
    let cases = [
        ("", "names no keys: add `jwks` with a JWKS file, or `jwks-url`"),
        ("jwks = \"j\"\njwks-url = \"https://a.example/\"", "has both `jwks` and `jwks-url`"),
        ("jwks = \"https://a.example/j\"", "is a URL: write it as `jwks-url`"),
        ("jwks-url = \"http://a.example/j\"", "it is not encrypted"),
        ("jwks-url = \"https://ann:pw@a.example/j\"", "it has a user before the host"),
        ("jwks-url = \"a.example/j\"", "it is not a URL such as"),
        ("jwks-url = \"https://a.example/\"\njwks-max-age-s = 300", "fetched again before they"),
        ("jwks-url = \"https://a.example/\"\njwks-refresh-s = 0", "not a number from 1 to"),
        ("jwks-url = \"https://a.example/\"\njwks-ca = \"no.pem\"", "no.pem"),
        ("jwks-url = \"https://a.example/\"\njwks-ca = \"trust.toml\"", "no certificate in PEM"),
    ];
    for (place, reason) in cases {
        let house = House::new();
        configure(&house, place, "");
        let ended = run(command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]));
        assert_eq!(ended.code, Some(2), "{place}: {ended:?}");
        assert!(ended.stderr.contains(reason), "{reason}: {}", ended.stderr);
    }
}
