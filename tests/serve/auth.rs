//! Who may ask over HTTP: API keys, and tokens of an authorization server.

#![expect(clippy::disallowed_methods, reason = "a token needs the time")]

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use harness::run;
use serde_json::{Value, json};

use super::dpop::PROOFS;
use super::house::{self, House};
use super::server::command;
use super::web::{Answer, Request, Web};
use crate::bundle::sample;

/// The table of an API key.
pub(super) fn key(id: &str, secret: &str, extra: &str) -> String {
    let hash = house::sha256(secret.as_bytes());
    format!(
        "[[auth.api-keys]]\nid = \"{id}\"\nsha256 = \"{hash}\"\nprincipal = \"{id}@house\"\n{extra}\n"
    )
}

/// A `server.toml` of these tables.
pub(super) fn config(tables: &[String]) -> String {
    tables.concat()
}

pub(super) fn list(web: &Web, authorization: Option<&str>) -> Answer {
    let request = Request::modern("prompts/list", json!({}));
    web.send(&match authorization {
        Some(value) => request.with("Authorization", value),
        None => request,
    })
}

#[test]
fn an_api_key_lets_through() {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "secret_of_ann", "")]));
    let web = Web::start(&house, &["--config", "server.toml"]);
    let none = list(&web, None);
    assert_eq!((none.status, none.header("www-authenticate")), (401, "Bearer realm=\"relay\""));
    let right = list(&web, Some("Bearer rk_ann_secret_of_ann"));
    assert_eq!(right.status, 200, "{right:?}");
    // The answer for one caller must stay out of shared caches.
    assert_eq!(right.json()["result"]["cacheScope"], "private");
    assert_eq!(list(&web, Some("bearer rk_ann_secret_of_ann")).status, 200);
    let wrong = [
        "Bearer rk_ann_secret_of_bob",
        "Bearer rk_bob_secret_of_ann",
        "Bearer rk_ann_",
        "Bearer rk_ann",
        "Bearer rk_",
        "Bearer secret_of_ann",
        "Bearer",
        "Bearer ",
        "Basic YW5uOnNlY3JldA==",
        "",
    ];
    for value in wrong {
        let answer = list(&web, Some(value));
        assert_eq!(answer.status, 401, "{value}");
        let challenge = answer.header("www-authenticate");
        assert!(challenge.contains("error=\"invalid_token\""), "{value}: {challenge}");
        assert!(!answer.body.contains("secret"), "{value}: {answer:?}");
    }
    assert_eq!(web.get("/.well-known/oauth-protected-resource").status, 404);
}

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "https://relay.example/mcp";

/// A key set that holds the public half of this test key.
pub(super) fn jwks(number: u8) -> String {
    let public = URL_SAFE_NO_PAD.encode(sample::key(number).verifying_key().as_bytes());
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "k7", "use": "sig", "alg": "EdDSA", "x": public });
    json!({ "keys": [key] }).to_string()
}

/// A server that takes tokens signed with the test key 7.
fn issuer(extra: &str) -> Web {
    issuer_in(&House::new(), extra)
}

fn issuer_in(house: &House, extra: &str) -> Web {
    configure_issuer(house, extra);
    Web::start(house, &["--config", "server.toml"])
}

fn configure_issuer(house: &House, extra: &str) {
    house.write("jwks.json", jwks(7));
    house.write(
        "server.toml",
        format!(
            "[[auth.jwt]]\nissuer = \"{ISSUER}\"\naudience = \"{AUDIENCE}\"\nalgorithms = [\"EdDSA\"]\njwks = \"jwks.json\"\n{extra}"
        ),
    );
}

pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    since.as_secs()
}

/// Claims that count, for a minute.
fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": now() + 60, "scope": "read write" })
}

fn header() -> Value {
    json!({ "alg": "EdDSA", "typ": "JWT", "kid": "k7" })
}

/// The claims that count, but for this one.
fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().expect("claims").remove(name);
    claims
}

/// Returns the part of a token that is signed.
pub(super) fn signed_part(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

fn token(header: &Value, claims: &Value, signer: u8) -> String {
    let signed = signed_part(header, claims);
    let signature = sample::key(signer).sign(signed.as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
}

pub(super) fn with(mut value: Value, name: &str, to: Value) -> Value {
    value[name] = to;
    value
}

pub(super) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn a_token_of_the_issuer_lets_through() {
    let web = issuer("");
    let token = token(&header(), &claims(), 7);
    for _ in 0..2 {
        let answer = list(&web, Some(&bearer(&token)));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let several = with(claims(), "aud", json!(["https://other.example", AUDIENCE]));
    assert_eq!(list(&web, Some(&bearer(&self::token(&header(), &several, 7)))).status, 200);
}

#[test]
fn a_stream_ends_when_the_token_of_its_caller_expires() {
    let web = issuer("leeway-s = 0\n");
    let claims = with(claims(), "exp", json!(now() + 3));
    let authorization = bearer(&token(&header(), &claims, 7));
    let wanted = json!({ "notifications": { "promptsListChanged": true } });
    let listen = Request::modern("subscriptions/listen", wanted);
    let mut events = web.listen(&listen.with("Authorization", &authorization));
    assert_eq!(events.next()["method"], "notifications/subscriptions/acknowledged");
    events.ends();
    assert_eq!(list(&web, Some(&authorization)).body, "the token has expired (`exp`)\n");
}

#[test]
fn checked_tokens_are_remembered_up_to_a_bound() {
    const REMEMBERED_MAX: usize = 1024;
    let house = House::new();
    configure_issuer(&house, "");
    let mut command = command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]);
    command.env("RELAY_LOG", "debug");
    let mut web = Web::run(&house, command);
    let token = |id: usize| token(&header(), &with(claims(), "jti", json!(id)), 7);
    let first = bearer(&token(0));
    for _ in 0..3 {
        assert_eq!(list(&web, Some(&first)).status, 200);
    }
    for id in 1..=REMEMBERED_MAX {
        assert_eq!(list(&web, Some(&bearer(&token(id)))).status, 200);
    }
    assert_eq!(list(&web, Some(&first)).status, 200);
    web.server.signal("TERM");
    let log = web.server.wait().stderr;
    let says = |count: usize| log.matches(&format!("; {count} tokens are remembered")).count();
    assert_eq!((says(1), says(2)), (1, 1), "one token is checked once");
    // Two new tokens at the bound, then the first one again, which had made room.
    assert_eq!((says(REMEMBERED_MAX), says(REMEMBERED_MAX + 1)), (3, 0));
}

#[test]
fn every_other_token_is_rejected() {
    let web = issuer("");
    let refused = [
        (
            token(&header(), &with(claims(), "exp", json!(now() - 120)), 7),
            "the token has expired (`exp`)",
        ),
        (
            token(&header(), &with(claims(), "nbf", json!(now() + 120)), 7),
            "the token is not valid yet (`nbf`)",
        ),
        (
            token(&header(), &with(claims(), "aud", json!("https://other.example")), 7),
            "the token is for another server (`aud`)",
        ),
        (
            token(&header(), &with(claims(), "iss", json!("https://evil.example")), 7),
            "the token is of another issuer",
        ),
        (token(&header(), &claims(), 8), "the token's signature is not valid"),
        (
            token(&with(header(), "kid", json!("k8")), &claims(), 7),
            "the token is not signed with a key that this server accepts",
        ),
        (token(&header(), &with(claims(), "exp", Value::Null), 7), "the token has no `exp`"),
        (token(&header(), &without("exp"), 7), "the token has no `exp`"),
        (
            token(&header(), &with(claims(), "exp", json!("soon")), 7),
            "the token's claim `exp` is not a time",
        ),
        (token(&header(), &without("aud"), 7), "the token has no `aud`"),
        (
            token(&header(), &with(claims(), "aud", json!([])), 7),
            "the token is for another server (`aud`)",
        ),
        (
            token(&header(), &with(claims(), "aud", json!({})), 7),
            "the token's claim `aud` is neither a list of texts nor a text",
        ),
        (
            token(&header(), &with(claims(), "sub", json!("")), 7),
            "the token's claim `sub` is empty",
        ),
        (
            token(&header(), &with(claims(), "sub", json!(7)), 7),
            "the token's claim `sub` is not a text",
        ),
        (token(&header(), &without("sub"), 7), "the token does not name its principal"),
        (token(&header(), &without("iss"), 7), "the token does not name its issuer"),
        (token(&header(), &with(claims(), "iss", json!([ISSUER])), 7), "the token is malformed"),
        (
            token(&with(header(), "crit", json!(["b64"])), &claims(), 7),
            "the token has critical header fields",
        ),
        ("a.b.c".to_owned(), "the token is malformed"),
        ("x".repeat(17_000), "the token is too long"),
    ];
    for (token, reason) in refused {
        let answer = list(&web, Some(&bearer(&token)));
        assert_eq!(answer.status, 401, "{reason}");
        assert_eq!(answer.body, format!("{reason}\n"));
        let challenge = answer.header("www-authenticate");
        assert!(challenge.contains(&format!("error_description=\"{reason}\"")), "{challenge}");
    }
}

#[test]
fn a_token_without_a_public_key_is_rejected() {
    let web = issuer("");
    let none = signed_part(&json!({ "alg": "none", "typ": "JWT" }), &claims());
    assert_eq!(list(&web, Some(&bearer(&format!("{none}.")))).status, 401);
    // The public key as the secret of a shared-secret algorithm: the classic confusion.
    let signed = signed_part(&with(header(), "alg", json!("HS256")), &claims());
    let mac = hmac_sha256(sample::key(7).verifying_key().as_bytes(), signed.as_bytes());
    let confused = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac));
    assert_eq!(list(&web, Some(&bearer(&confused))).status, 401);
}

fn hmac_sha256(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; 64];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        block
    };
    let inner = relay_bundle::Digest::of(&[&pad(0x36)[..], message].concat());
    relay_bundle::Digest::of(&[&pad(0x5c)[..], &inner.0[..]].concat()).0
}

#[test]
fn a_hangup_reads_the_issuers_keys_again() {
    let house = House::new();
    let web = issuer_in(&house, "");
    let answer = |signer| list(&web, Some(&bearer(&token(&header(), &claims(), signer)))).status;
    assert_eq!((answer(7), answer(8)), (200, 401));
    house.write("jwks.json", "no keys at all");
    web.server.signal("HUP");
    web.server.hear("the keys read before stay in force");
    assert_eq!((answer(7), answer(8)), (200, 401));
    house.write("jwks.json", jwks(8));
    web.server.signal("HUP");
    // The keys are read before the bundle, which the log reports.
    let limit = SystemTime::now() + harness::PATIENCE;
    while answer(8) != 200 {
        assert!(SystemTime::now() < limit, "{}", web.server.log());
    }
    assert_eq!(answer(7), 401);
}

#[test]
fn two_authorization_headers_are_rejected() {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "s", "")]));
    let web = Web::start(&house, &["--config", "server.toml"]);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer rk_ann_s\r\n\
                Authorization: Bearer rk_ann_s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    assert!(web.raw(head.as_bytes()).starts_with("HTTP/1.1 401"));
}

#[test]
fn the_metadata_says_where_tokens_come_from() {
    let web = issuer("scopes = [\"read\"]\n");
    let expected = json!({
        "resource": AUDIENCE,
        "authorization_servers": [ISSUER],
        "scopes_supported": ["read"],
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": PROOFS,
    });
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let answer = web.get(path);
        assert_eq!((answer.status, answer.json()), (200, expected.clone()));
        assert_eq!(answer.header("content-type"), "application/json");
    }
    let challenge = list(&web, None);
    assert_eq!(
        challenge.header("www-authenticate"),
        "Bearer realm=\"relay\", resource_metadata=\"https://relay.example/.well-known/oauth-protected-resource/mcp\", scope=\"read\""
    );
}

#[test]
fn a_token_without_the_scope_is_forbidden() {
    let web = issuer("scopes = [\"read\", \"admin\"]\n");
    let scope = |scope: Value| {
        let claims = with(claims(), "scope", scope);
        list(&web, Some(&bearer(&token(&header(), &claims, 7))))
    };
    assert_eq!(scope(json!("admin \t read write")).status, 200);
    assert_eq!(scope(json!(["admin", "read"])).status, 200);
    assert_eq!(scope(json!(["admin read"])).status, 403);
    assert_eq!(scope(json!(["admin", 1])).status, 401);
    let answer = list(&web, Some(&bearer(&token(&header(), &claims(), 7))));
    assert_eq!(answer.status, 403);
    let challenge = answer.header("www-authenticate");
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"read admin\""), "{challenge}");
}

#[test]
fn a_public_address_needs_authentication() {
    let house = House::new();
    let ended = run(command(&house, &["--http", "0.0.0.0:0"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no authentication is configured"), "{}", ended.stderr);
    assert!(ended.stderr.contains("[[auth.api-keys]]"), "{}", ended.stderr);
    assert!(ended.stderr.contains("listen on 127.0.0.1"), "{}", ended.stderr);
}

#[test]
fn a_contradictory_configuration_is_rejected() {
    let cases = [
        (
            "[limits]\nbody-byte-max = 1\n",
            &["`body-byte-max`", "did you mean `body-bytes-max`?"][..],
        ),
        ("nonsense = 1\n", &["`nonsense`"]),
        ("[auth]\n", &["names neither api-keys nor jwt"]),
        ("[limits]\nbody-bytes-max = 0\n", &["body-bytes-max"]),
        ("[limits]\nhead-bytes-max = 8191\n", &["head-bytes-max", "a number from 8192 to"]),
        (
            "[[auth.jwt]]\nissuer = \"i\"\naudience = \"a\"\nalgorithms = [\"HS256\"]\njwks = \"j\"\n",
            &["HS256"],
        ),
        (
            "[[auth.jwt]]\nissuer = \"i\"\naudience = \"https://a/mcp\"\nalgorithms = []\njwks = \"j\"\n",
            &["issuer `i`", "names no algorithms"],
        ),
        (
            "[auth.jwt]\nissuer = \"i\"\n",
            &[
                "server.toml:1:",
                "`auth.jwt` is a list of tables: write `[[auth.jwt]]`, in double brackets",
            ],
        ),
        ("allowed-origins = [\"app.example\"]\n", &["`app.example`", "https://app.example.com"]),
    ];
    for (text, expected) in cases {
        let house = House::new();
        house.write("server.toml", text);
        let ended = run(command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]));
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.stderr);
        for words in expected {
            assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
        }
    }
}

#[test]
fn two_keys_of_one_id_are_rejected() {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "a", ""), key("ann", "b", "")]));
    let ended = run(command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("two API keys have the id `ann`"), "{}", ended.stderr);
}

#[test]
fn the_principal_is_recorded() {
    let house = House::new();
    house.write("server.toml", config(&[key("ann", "s", "tenant = \"acme\"")]));
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let get = Request::modern("prompts/get", json!({ "name": "note" }))
        .with("Authorization", "Bearer rk_ann_s");
    assert_eq!(web.send(&get).status, 200);
    let record: Value = serde_json::from_str(house.read("audit.jsonl").trim()).expect("one record");
    assert_eq!((&record["principal"], &record["tenant"]), (&json!("ann@house"), &json!("acme")));
}
