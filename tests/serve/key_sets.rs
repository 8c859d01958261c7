//! Key sets of authorization servers, and what tokens have beside a signature.

use harness::run;
use serde_json::{Value, json};

use super::auth::{bearer, list, now, signed_part};
use super::house::House;
use super::server::command;
use super::tokens::Signer;
use super::web::Web;

const ISSUER: &str = "https://login.example";

fn configure(house: &House, jwks: &str, extra: &str) {
    house.write("jwks.json", jwks);
    house.write(
        "server.toml",
        format!(
            "[[auth.jwt]]\nissuer = \"{ISSUER}\"\naudience = \"a\"\nalgorithms = [\"RS256\", \"ES256\", \"EdDSA\"]\njwks = \"jwks.json\"\nresource = \"https://relay.example/mcp\"\n{extra}"
        ),
    );
}

fn start(jwks: &str, extra: &str) -> (House, Web) {
    let house = House::new();
    configure(&house, jwks, extra);
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    (house, web)
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "a", "sub": "ann", "exp": now() + 60 })
}

fn with(mut claims: Value, name: &str, to: Value) -> Value {
    claims[name] = to;
    claims
}

/// The one key of a key set, with these members.
pub(super) fn keys(signer: &Signer, members: &Value) -> Value {
    let mut set: Value = serde_json::from_str(&signer.jwks()).expect("JSON");
    for (name, value) in members.as_object().expect("members") {
        set["keys"][0][name] = value.clone();
    }
    set
}

/// Returns the error of a server that refuses to start with this key set.
fn refused(jwks: &str) -> String {
    let house = House::new();
    configure(&house, jwks, "");
    let ended = run(command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    ended.stderr
}

#[test]
fn a_key_that_cannot_be_used_is_named_at_the_start() {
    let signer = Signer::curve();
    let of = |members: Value| keys(&signer, &members).to_string();
    let weak =
        json!({ "keys": [{ "kty": "RSA", "kid": "weak", "e": "AQAB", "n": "w".repeat(171) }] });
    let cases = [
        (of(json!({ "d": "AAAA" })), "key `key`: it is secret, since it has the member `d`"),
        (of(json!({ "key_ops": ["encrypt"] })), "key `key`: its `key_ops` has no `verify`"),
        (of(json!({ "use": "enc" })), "key `key`: its `use` is not `sig`"),
        (of(json!({ "alg": "ES384" })), "key `key`: its type or its `alg` is for none of them"),
        (weak.to_string(), "key `weak`: its 1024 bits are not accepted"),
        (
            "-----BEGIN PUBLIC KEY-----\nAAAA\n".to_owned(),
            "it is PEM: write the public keys as a JWKS",
        ),
        ("{}".to_owned(), "it is not a JWKS: missing field `keys`"),
    ];
    for (jwks, reason) in cases {
        let log = refused(&jwks);
        assert!(log.contains(reason), "{reason}: {log}");
        assert!(!log.contains("AAAA"), "{log}");
    }
    let shared = r#"{"keys":[{"kty":"oct","kid":"s","k":"c2VjcmV0"}]}"#;
    let log = refused(shared);
    assert!(log.contains("it has the member `k`") && !log.contains("c2VjcmV0"), "{log}");
}

#[test]
fn each_key_of_one_id_is_tried() {
    let (old, new) = (Signer::curve(), Signer::curve());
    let mut both = keys(&old, &json!({ "key_ops": ["verify"] }));
    both["keys"].as_array_mut().expect("keys").push(keys(&new, &json!({}))["keys"][0].clone());
    let (_house, web) = start(&both.to_string(), "");
    for signer in [&old, &new] {
        assert_eq!(list(&web, Some(&bearer(&signer.token("ES256", &claims())))).status, 200);
    }
    let other = Signer::curve().token("ES256", &claims());
    assert_eq!(list(&web, Some(&bearer(&other))).body, "the token's signature is not valid\n");
}

#[test]
fn an_edwards_curve_has_two_names() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ed25519_dalek::Signer as _;
    let key = crate::bundle::sample::key(7);
    let public = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
    for named in ["EdDSA", "Ed25519"] {
        let jwk =
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": "key", "alg": named, "x": public });
        let (_house, web) = start(&json!({ "keys": [jwk] }).to_string(), "");
        for alg in ["EdDSA", "Ed25519"] {
            let signed = signed_part(&json!({ "alg": alg, "kid": "key" }), &claims());
            let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()).to_bytes());
            let answer = list(&web, Some(&bearer(&format!("{signed}.{signature}"))));
            assert_eq!(answer.status, 200, "{named} {alg}: {answer:?}");
        }
    }
}

#[test]
fn scopes_are_those_of_either_claim_and_missing_ones_are_named() {
    let signer = Signer::curve();
    let (house, web) = start(&signer.jwks(), "scopes = [\"relay\", \"admin\"]\n");
    let answer = |claims: &Value| list(&web, Some(&bearer(&signer.token("ES256", claims))));
    for scp in [json!(["admin", "relay"]), json!("admin relay")] {
        assert_eq!(answer(&with(claims(), "scp", scp.clone())).status, 200, "{scp}");
        let null = with(with(claims(), "scp", scp), "scope", Value::Null);
        assert_eq!(answer(&null).status, 200);
    }
    // The claim of RFC 8693 counts where both are there.
    let both = with(with(claims(), "scp", json!(["admin", "relay"])), "scope", json!("relay"));
    for (lacking, missing) in [(both, "admin"), (claims(), "relay admin")] {
        let answer = answer(&lacking);
        let reason = format!("the token lacks a scope that this server requires: {missing}");
        assert_eq!((answer.status, answer.body.as_str()), (403, format!("{reason}\n").as_str()));
        let challenge = answer.header("www-authenticate");
        assert!(challenge.contains(&format!("error_description=\"{reason}\"")), "{challenge}");
        assert!(house.read("audit.jsonl").contains(&format!("\"rule\":\"{reason}\"")));
        web.server
            .hear(&format!("refused a request of `unauthenticated` (issuer `{ISSUER}`): {reason}"));
    }
}

#[test]
fn a_claim_that_is_missing_is_named_in_answer_record_and_log() {
    let signer = Signer::curve();
    let (house, web) = start(&signer.jwks(), "");
    for name in ["aud", "exp"] {
        let token = signer.token("ES256", &with(claims(), name, Value::Null));
        let reason = format!("the token has no `{name}`");
        let answer = list(&web, Some(&bearer(&token)));
        assert_eq!((answer.status, answer.body.as_str()), (401, format!("{reason}\n").as_str()));
        assert!(answer.header("www-authenticate").contains(&reason), "{answer:?}");
        assert!(house.read("audit.jsonl").contains(&format!("\"rule\":\"{reason}\"")));
        assert!(!web.server.hear(&reason).contains(&token));
    }
}

#[test]
fn a_null_claim_counts_as_absent() {
    let signer = Signer::curve();
    let extra = "groups-claim = \"realm.groups\"\n";
    let (_house, web) = start(&signer.jwks(), extra);
    for (name, value) in [
        ("realm", Value::Null),
        ("realm", json!({ "groups": null })),
        ("tenant", Value::Null),
        ("role", Value::Null),
        ("nbf", Value::Null),
    ] {
        let token = signer.token("ES256", &with(claims(), name, value));
        assert_eq!(list(&web, Some(&bearer(&token))).status, 200, "{name}");
    }
}

#[test]
fn the_metadata_are_at_the_path_of_the_challenge() {
    let house = House::new();
    let signer = Signer::curve();
    configure(&house, &signer.jwks(), "");
    let moved = house.read("server.toml").replace("example/mcp\"", "example/teams/a/mcp\"");
    house.write("server.toml", moved);
    let web = Web::start(&house, &["--config", "server.toml"]);
    let answer = list(&web, None);
    let challenge = answer.header("www-authenticate");
    let url = "https://relay.example/.well-known/oauth-protected-resource/teams/a/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{url}\"")), "{challenge}");
    let well_known = "/.well-known/oauth-protected-resource";
    for (path, status) in [("", 200), ("/mcp", 200), ("/teams/a/mcp", 200), ("/teams/b/mcp", 404)] {
        assert_eq!(web.get(&format!("{well_known}{path}")).status, status, "{path}");
    }
}
