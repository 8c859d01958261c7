//! Tokens that are bound to a key of their caller (DPoP, RFC 9449), and the proofs of it.

use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use relay_bundle::Digest;
use serde_json::{Value, json};

use super::auth::{bearer, key, now, with};
use super::hangup::hang_up;
use super::house::House;
use super::tokens::Signer;
use super::web::{Answer, Request, Web};

const ISSUER: &str = "https://login.example";
const RESOURCE: &str = "https://relay.example/mcp";

/// The algorithms of proofs.
pub(super) const PROOFS: [&str; 10] =
    ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];

/// A server, its issuer, and a caller with a key of its own.
struct Bank {
    house: House,
    web: Web,
    issuer: Signer,
    own: Signer,
}

impl Bank {
    fn new(extra: &str) -> Self {
        let house = House::new();
        let (issuer, own) = (Signer::curve(), Signer::curve());
        house.write("jwks.json", issuer.jwks());
        Self::configure(&house, extra);
        let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
        Self { house, web, issuer, own }
    }

    fn configure(house: &House, extra: &str) {
        house.write(
            "server.toml",
            format!(
                "[[auth.jwt]]\nissuer = \"{ISSUER}\"\naudience = \"{RESOURCE}\"\nalgorithms = [\"ES256\"]\njwks = \"jwks.json\"\n{extra}"
            ),
        );
    }

    /// A token with this claim `cnf`.
    fn token(&self, cnf: Value) -> String {
        let claims = json!({ "iss": ISSUER, "aud": RESOURCE, "sub": "ann", "exp": now() + 600 });
        self.issuer.token("ES256", &with(claims, "cnf", cnf))
    }

    /// A token that is bound to the caller's own key.
    fn bound(&self) -> String {
        self.token(json!({ "jkt": thumbprint(&self.own) }))
    }

    fn send(&self, token: &str, proof: &str) -> Answer {
        self.web.send(&list(&format!("DPoP {token}")).with("DPoP", proof))
    }

    /// Checks answer, challenge, record and log.
    fn is_rejected(&self, answer: &Answer, code: &str, reason: &str) {
        // A server records ten such requests a second.
        thread::sleep(Duration::from_millis(120));
        assert_eq!((answer.status, answer.body.as_str()), (401, format!("{reason}\n").as_str()));
        let plain: String = reason.chars().filter(|c| *c != '"').collect();
        let wanted = format!("error=\"{code}\", error_description=\"{plain}\"");
        let challenges = answer.headers("www-authenticate");
        let with_error: Vec<_> = challenges.iter().filter(|it| it.contains("error=")).collect();
        assert!(matches!(with_error[..], [one] if one.contains(&wanted)), "{challenges:?}");
        let records = self.house.read("audit.jsonl");
        assert!(records.contains(&format!("\"rule\":{}", json!(reason))), "{reason}: {records}");
        assert!(records.contains(&format!("\"issuer\":\"{ISSUER}\"")), "{records}");
        self.web
            .server
            .hear(&format!("refused a request of `unauthenticated` (issuer `{ISSUER}`): {reason}"));
    }
}

fn list(authorization: &str) -> Request {
    Request::modern("prompts/list", json!({})).with("Authorization", authorization)
}

fn jwk(signer: &Signer) -> Value {
    let mut set: Value = serde_json::from_str(&signer.jwks()).expect("JSON");
    let mut key = set["keys"][0].take();
    key.as_object_mut().expect("a key").remove("kid");
    key
}

fn thumbprint(signer: &Signer) -> String {
    let key = jwk(signer);
    let text = match signer {
        Signer::Rsa(_) => format!("{{\"e\":{},\"kty\":\"RSA\",\"n\":{}}}", key["e"], key["n"]),
        Signer::Curve(_) => {
            let (x, y) = (&key["x"], &key["y"]);
            format!("{{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":{x},\"y\":{y}}}")
        }
    };
    hash(&text)
}

fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Digest::of(text.as_bytes()).0)
}

fn header(signer: &Signer) -> Value {
    json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk(signer) })
}

/// The claims of a proof for a request of the list with this token.
fn claims(token: &str, id: &str) -> Value {
    json!({ "htm": "POST", "htu": RESOURCE, "iat": now(), "jti": id, "ath": hash(token) })
}

#[test]
fn a_bound_token_counts_with_a_proof_of_its_key_for_each_request() {
    let bank = Bank::new("");
    let token = bank.bound();
    for (id, url) in [
        ("1", RESOURCE),
        ("2", "HTTPS://RELAY.example:443/./%6Dcp"),
        ("3", "https://relay.example/mcp?a=b#c"),
    ] {
        let claims = with(claims(&token, id), "htu", json!(url));
        let answer = bank.send(&token, &bank.own.sign(&header(&bank.own), &claims));
        assert_eq!(answer.status, 200, "{url}: {answer:?}");
    }
    let rsa = Signer::rsa();
    let token = bank.token(json!({ "jkt": thumbprint(&rsa) }));
    for alg in ["RS256", "PS256"] {
        let header = with(header(&rsa), "alg", json!(alg));
        let answer = bank.send(&token, &rsa.sign(&header, &claims(&token, alg)));
        assert_eq!(answer.status, 200, "{alg}: {answer:?}");
    }
    // Unbound tokens are as before.
    let free = bank.token(Value::Null);
    assert_eq!(bank.web.send(&list(&bearer(&free))).status, 200);
}

#[test]
fn the_example_of_the_standard_has_its_thumbprint() {
    // RFC 9449, section 4.2 and 6.1.
    let key = json!({
        "kty": "EC", "crv": "P-256",
        "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
    });
    let text =
        format!("{{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":{},\"y\":{}}}", key["x"], key["y"]);
    assert_eq!(hash(&text), "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I");
}

#[test]
fn each_wrong_member_of_a_proof_has_its_own_reason() {
    let bank = Bank::new("");
    let token = bank.bound();
    let (own, other) = (&bank.own, Signer::curve());
    let good = || claims(&token, "one");
    let signed = |name: &str, value: Value| own.sign(&header(own), &with(good(), name, value));
    let headed = |name: &str, value: Value| own.sign(&with(header(own), name, value), &good());
    let mut secret = jwk(own);
    secret["d"] = json!("AAAA");
    let right = own.sign(&header(own), &good());
    let (to_sign, _) = right.rsplit_once('.').expect("a signature");
    let of_another_text = own.sign(&header(own), &claims(&token, "two"));
    let (_, signature) = of_another_text.rsplit_once('.').expect("a signature");
    let cases = [
        (
            headed("typ", json!("JWT")),
            "the proof (`DPoP`) is of another type (`typ`) than dpop+jwt",
        ),
        (headed("typ", Value::Null), "the proof (`DPoP`) is of another type (`typ`) than dpop+jwt"),
        (headed("crit", json!(["x"])), "the proof (`DPoP`) has critical header fields"),
        (
            headed("alg", json!("none")),
            "the proof (`DPoP`) has an algorithm (`alg`) that this server does not accept",
        ),
        (
            headed("alg", json!("HS256")),
            "the proof (`DPoP`) has an algorithm (`alg`) that this server does not accept",
        ),
        (headed("jwk", Value::Null), "the proof (`DPoP`) has no key (`jwk`)"),
        (
            headed("jwk", secret),
            "the proof (`DPoP`) holds a private key or a shared secret (`jwk`)",
        ),
        (
            headed("jwk", jwk(&Signer::rsa())),
            "the proof (`DPoP`) has no usable public key for its algorithm (`jwk`)",
        ),
        (
            headed("jwk", json!("key")),
            "the proof (`DPoP`) has no usable public key for its algorithm (`jwk`)",
        ),
        (headed("jwk", jwk(&other)), "the signature of the proof (`DPoP`) is not valid"),
        (format!("{to_sign}.{signature}"), "the signature of the proof (`DPoP`) is not valid"),
        (
            other.sign(&header(&other), &good()),
            "the proof (`DPoP`) is of another key than the one that the token is bound to",
        ),
        (signed("htm", json!("GET")), "the proof (`DPoP`) is for another method (`htm`)"),
        (signed("htm", json!("post")), "the proof (`DPoP`) is for another method (`htm`)"),
        (signed("htm", Value::Null), "the proof (`DPoP`) is for another method (`htm`)"),
        (
            signed("htu", json!("https://evil.example/mcp")),
            "the proof (`DPoP`) is for another URL (`htu`)",
        ),
        (
            signed("htu", json!("https://relay.example/metrics")),
            "the proof (`DPoP`) is for another URL (`htu`)",
        ),
        (
            signed("htu", json!(format!("http://{}/mcp", bank.web.address))),
            "the proof (`DPoP`) is for another URL (`htu`)",
        ),
        (signed("htu", Value::Null), "the proof (`DPoP`) is for another URL (`htu`)"),
        (signed("iat", Value::Null), "the proof (`DPoP`) has no `iat`"),
        (signed("iat", json!(now() - 120)), "the proof (`DPoP`) is too old (`iat`)"),
        (signed("iat", json!(0)), "the proof (`DPoP`) is too old (`iat`)"),
        (signed("iat", json!(-1)), "the proof (`DPoP`) is too old (`iat`)"),
        (signed("iat", json!(now() + 120)), "the proof (`DPoP`) is from the future (`iat`)"),
        (signed("iat", json!(u64::MAX)), "the proof (`DPoP`) is from the future (`iat`)"),
        (signed("iat", json!("now")), "the proof (`DPoP`) is malformed"),
        (signed("ath", json!(hash("other"))), "the proof (`DPoP`) is for another token (`ath`)"),
        (signed("ath", Value::Null), "the proof (`DPoP`) is for another token (`ath`)"),
        (signed("jti", Value::Null), "the proof (`DPoP`) has no `jti`"),
        (signed("jti", json!("")), "the proof (`DPoP`) is malformed"),
        (signed("jti", json!("x".repeat(257))), "the proof (`DPoP`) has a `jti` that is too long"),
        (signed("more", json!("x".repeat(9000))), "the proof (`DPoP`) is too long"),
        ("a.b.c".to_owned(), "the proof (`DPoP`) is malformed"),
        (String::new(), "the proof (`DPoP`) is malformed"),
    ];
    for (proof, reason) in cases {
        bank.is_rejected(&bank.send(&token, &proof), "invalid_dpop_proof", reason);
    }
    // They were all forgotten; the right one counts once.
    assert_eq!(bank.send(&token, &right).status, 200);
    let reason = "the proof (`DPoP`) was used before (`jti`)";
    bank.is_rejected(&bank.send(&token, &right), "invalid_dpop_proof", reason);
    let again = own.sign(&header(own), &with(good(), "iat", json!(now() - 1)));
    bank.is_rejected(&bank.send(&token, &again), "invalid_dpop_proof", reason);
    // A hangup keeps the proofs.
    hang_up(&bank.web);
    bank.is_rejected(&bank.send(&token, &right), "invalid_dpop_proof", reason);
}

#[test]
fn a_bound_token_is_no_bearer_and_a_proof_is_one() {
    let bank = Bank::new("");
    let token = bank.bound();
    let proof = |id: &str| bank.own.sign(&header(&bank.own), &claims(&token, id));
    let no_bearer = "the token is bound to a key: send it as `DPoP`, with a proof";
    let answer = bank.web.send(&list(&bearer(&token)));
    bank.is_rejected(&answer, "invalid_token", no_bearer);
    let answer = bank.web.send(&list(&bearer(&token)).with("DPoP", &proof("1")));
    bank.is_rejected(&answer, "invalid_token", no_bearer);
    let answer = bank.web.send(&list(&format!("DPoP {token}")));
    let reason = "the token is bound to a key, and the request has no proof of it (`DPoP`)";
    bank.is_rejected(&answer, "invalid_dpop_proof", reason);
    let twice = format!("{}\r\nDPoP: {}", proof("2"), proof("3"));
    let reason = "the request has more than one proof (`DPoP`)";
    bank.is_rejected(&bank.send(&token, &twice), "invalid_dpop_proof", reason);
    let free = bank.token(Value::Null);
    let proof = bank.own.sign(&header(&bank.own), &claims(&free, "4"));
    let reason = "the token is not bound to a key: send it as `Bearer`";
    bank.is_rejected(&bank.send(&free, &proof), "invalid_token", reason);
}

#[test]
fn a_token_that_is_bound_in_another_way_is_rejected_by_name() {
    let bank = Bank::new("");
    let certificate = "the token is bound to a client certificate (`cnf`, `x5t#S256`), which this server does not check";
    let unknown = "the token is bound in a way (`cnf`) that this server does not check";
    let jkt = thumbprint(&bank.own);
    for (cnf, reason) in [
        (json!({ "x5t#S256": "A4DtL2JmUMhAsvJj5tKyn64SqzmuXbMrJa0n761y5v0" }), certificate),
        (json!({ "x5t#S256": "A4DtL2", "jkt": jkt }), certificate),
        (json!({ "jwk": jwk(&bank.own) }), unknown),
        (json!({ "kid": "key" }), unknown),
        (json!({ "jkt": jkt, "kid": "key" }), unknown),
        (json!({}), unknown),
        (json!({ "jkt": 7 }), "the token's claim `cnf` has a `jkt` that is not a text"),
        (json!({ "jkt": null }), "the token's claim `cnf` has a `jkt` that is not a text"),
        (json!("key"), "the token's claim `cnf` is not an object"),
        (json!([]), "the token's claim `cnf` is not an object"),
    ] {
        let answer = bank.web.send(&list(&bearer(&bank.token(cnf))));
        bank.is_rejected(&answer, "invalid_token", reason);
    }
}

#[test]
fn dpop_may_be_off_or_required() {
    let off = Bank::new("dpop = \"off\"\n");
    let reason = "the token is bound to a key, which this server does not check (DPoP)";
    let token = off.bound();
    off.is_rejected(&off.web.send(&list(&bearer(&token))), "invalid_token", reason);
    let proof = off.own.sign(&header(&off.own), &claims(&token, "1"));
    off.is_rejected(&off.send(&token, &proof), "invalid_token", reason);
    assert_eq!(off.web.send(&list(&bearer(&off.token(Value::Null)))).status, 200);
    let required = Bank::new("dpop = \"require\"\n");
    let reason = "the token is not bound to a key, which this server requires (DPoP)";
    let free = required.token(Value::Null);
    required.is_rejected(&required.web.send(&list(&bearer(&free))), "invalid_token", reason);
    let token = required.bound();
    let proof = required.own.sign(&header(&required.own), &claims(&token, "1"));
    assert_eq!(required.send(&token, &proof).status, 200);
}

#[test]
fn challenge_and_metadata_say_what_is_accepted() {
    let well_known = "/.well-known/oauth-protected-resource";
    for (setting, schemes, required) in [
        ("off", &["Bearer"][..], Value::Null),
        ("accept", &["Bearer", "DPoP"], Value::Null),
        ("require", &["DPoP"], json!(true)),
    ] {
        let bank = Bank::new(&format!("dpop = \"{setting}\"\n"));
        let metadata = bank.web.get(well_known).json();
        let supported = if setting == "off" { Value::Null } else { json!(PROOFS) };
        assert_eq!(metadata["dpop_signing_alg_values_supported"], supported, "{metadata}");
        assert_eq!(metadata["dpop_bound_access_tokens_required"], required, "{metadata}");
        let answer = bank.web.send(&Request::modern("prompts/list", json!({})));
        let challenges = answer.headers("www-authenticate");
        let begin = challenges.iter().map(|it| it.split(' ').next().expect("a scheme"));
        assert_eq!(begin.collect::<Vec<_>>(), schemes);
        for challenge in &challenges {
            assert!(challenge.contains("resource_metadata="), "{challenge}");
            let algs = format!("algs=\"{}\"", PROOFS.join(" "));
            assert_eq!(challenge.contains(&algs), challenge.starts_with("DPoP"), "{challenge}");
        }
    }
}

#[test]
fn an_api_key_is_a_bearer() {
    let bank = Bank::new(&key("ann", "secret", ""));
    assert_eq!(bank.web.send(&list("Bearer rk_ann_secret")).status, 200);
    let answer = bank.web.send(&list("DPoP rk_ann_secret"));
    assert_eq!(answer.status, 401);
    assert_eq!(answer.body, "an API key is not bound to a key: send it as `Bearer`\n");
}

#[test]
fn a_stream_needs_one_proof_and_metrics_have_their_own_url() {
    let bank = Bank::new("");
    let token = bank.bound();
    let proof = |id: &str, method: &str, url: &str| {
        let claims = with(with(claims(&token, id), "htu", json!(url)), "htm", json!(method));
        bank.own.sign(&header(&bank.own), &claims)
    };
    let authorization = format!("DPoP {token}");
    let params = json!({ "notifications": { "promptsListChanged": true } });
    let listen = Request::modern("subscriptions/listen", params)
        .with("Authorization", &authorization)
        .with("DPoP", &proof("1", "POST", RESOURCE));
    let mut stream = bank.web.listen(&listen);
    assert_eq!(stream.next()["method"], "notifications/subscriptions/acknowledged");
    // The credentials are looked at again, and the stream stays open.
    hang_up(&bank.web);
    let changed =
        super::house::bundle_of("project house epoch=2\nprompts { prompt new { text \"x\" } }\n");
    bank.house.replace(&changed);
    assert_eq!(stream.next()["method"], "notifications/prompts/list_changed");
    let metrics = |proof: &str| {
        let get = Request::new("GET", "/metrics").with("Authorization", &authorization);
        bank.web.send(&get.with("DPoP", proof)).status
    };
    assert_eq!(metrics(&proof("2", "GET", RESOURCE)), 401);
    assert_eq!(metrics(&proof("3", "GET", "https://relay.example/metrics")), 200);
    // From here on, its issuer is forbidden to give it.
    Bank::configure(&bank.house, "dpop = \"off\"\n");
    hang_up(&bank.web);
    stream.ends();
}
