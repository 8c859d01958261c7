//! Tokens of several issuers: for which tenants they count, and which callers are the same.

use std::collections::BTreeSet;

use harness::run;
use serde_json::{Value, json};

use super::agent::{error, handle_of, text};
use super::auth::{bearer, key, list, now, with};
use super::dpop::PROOFS;
use super::gate;
use super::hangup::hang_up;
use super::house::{self, House};
use super::server::command;
use super::tokens::Signer;
use super::web::{Answer, Request, Web};

const ACME: &str = "https://login.acme.example";
const GLOBEX: &str = "https://id.globex.example";
const AUDIENCE: &str = "https://relay.example/mcp";
const ARGUMENTS: [&str; 4] = ["--config", "server.toml", "--audit", "audit.jsonl"];

/// The table of an issuer; its keys are in `NAME.json`.
fn issuer(issuer: &str, name: &str, algorithms: &[&str], extra: &str) -> String {
    format!(
        "[[auth.jwt]]\nissuer = \"{issuer}\"\naudience = \"{AUDIENCE}\"\nalgorithms = {algorithms:?}\njwks = \"{name}.json\"\n{extra}\n"
    )
}

fn acme(extra: &str) -> String {
    issuer(ACME, "acme", &["RS256", "PS256"], extra)
}

fn globex(extra: &str) -> String {
    issuer(GLOBEX, "globex", &["ES256"], extra)
}

/// Two companies with a login of their own, and a house that serves both.
struct Town {
    house: House,
    acme: Signer,
    globex: Signer,
}

impl Town {
    fn new(house: House) -> Self {
        let (acme, globex) = (Signer::rsa(), Signer::curve());
        house.write("acme.json", acme.jwks());
        house.write("globex.json", globex.jwks());
        Self { house, acme, globex }
    }

    /// A server for tenants of both, and for one API key.
    fn serve(&self) -> Web {
        let tables = [
            key("ann", "secret", ""),
            acme("tenants = [\"acme\", \"initech\"]"),
            globex("tenants = [\"globex\"]"),
        ];
        self.house.write("server.toml", tables.concat());
        Web::start(&self.house, &ARGUMENTS)
    }

    /// The value of the header with a token of Acme.
    fn of_acme(&self, claims: Value) -> String {
        bearer(&self.acme.token("RS256", &whole(ACME, claims)))
    }

    /// The value of the header with a token of Globex.
    fn of_globex(&self, claims: Value) -> String {
        bearer(&self.globex.token("ES256", &whole(GLOBEX, claims)))
    }

    fn records(&self) -> Vec<Value> {
        let text = self.house.read("audit.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
    }
}

/// The claims of Ann for a minute, and these.
fn whole(issuer: &str, claims: Value) -> Value {
    let mut all = json!({ "iss": issuer, "aud": AUDIENCE, "sub": "ann", "exp": now() + 60 });
    let all_fields = all.as_object_mut().expect("claims");
    all_fields.extend(claims.as_object().expect("claims").clone());
    all
}

/// Gets the prompt `note`, which leaves a record.
fn note(web: &Web, authorization: &str) -> Answer {
    let get = Request::modern("prompts/get", json!({ "name": "note" }));
    web.send(&get.with("Authorization", authorization))
}

/// Checks that a request is rejected for this reason, in the answer and in the challenge.
fn is_rejected(web: &Web, authorization: &str, reason: &str) {
    let answer = list(web, Some(authorization));
    assert_eq!((answer.status, answer.body), (401, format!("{reason}\n")));
    let challenge = list(web, Some(authorization)).header("www-authenticate").to_owned();
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    assert!(challenge.contains(&format!("error_description=\"{reason}\"")), "{challenge}");
}

#[test]
fn tokens_of_two_issuers_and_a_key_are_accepted_by_one_server() {
    let town = Town::new(House::new());
    let web = town.serve();
    let of_acme = |algorithm: &str| {
        bearer(&town.acme.token(algorithm, &whole(ACME, json!({ "tenant": "initech" }))))
    };
    let globex = town.of_globex(json!({ "tenant": "globex" }));
    let all = [of_acme("RS256"), of_acme("PS256"), globex, "Bearer rk_ann_secret".to_owned()];
    for authorization in &all {
        let answer = note(&web, authorization);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let callers = town.records().into_iter().map(|record| {
        ["principal", "issuer", "tenant"].map(|name| record[name].as_str().map(str::to_owned))
    });
    let name =
        |id: &str, issuer: &str, tenant: &str| [id, issuer, tenant].map(str::to_owned).map(Some);
    let acme = name("ann", ACME, "initech");
    assert_eq!(
        callers.collect::<Vec<_>>(),
        [
            acme.clone(),
            acme,
            name("ann", GLOBEX, "globex"),
            [Some("ann@house".to_owned()), None, None],
        ]
    );
}

#[test]
fn a_token_counts_by_the_keys_and_rules_of_the_issuer_that_it_names() {
    let town = Town::new(House::new());
    let web = town.serve();
    let for_acme = whole(ACME, json!({ "tenant": "acme" }));
    let for_globex = whole(GLOBEX, json!({ "tenant": "globex" }));
    let unknown_key = "the token is not signed with a key that this server accepts";
    // The name of one issuer and the signature of the other.
    is_rejected(&web, &bearer(&town.globex.token("ES256", &for_acme)), unknown_key);
    is_rejected(&web, &bearer(&town.acme.token("RS256", &for_globex)), unknown_key);
    // Of another content, or by the other algorithm of the key.
    let for_bob = with(for_acme.clone(), "sub", json!("bob"));
    let token = town.acme.token("RS256", &for_acme);
    let (signed, _) = token.rsplit_once('.').expect("a signature");
    for other in [town.acme.token("RS256", &for_bob), town.acme.token("PS256", &for_acme)] {
        let (_, signature) = other.rsplit_once('.').expect("a signature");
        let token = format!("{signed}.{signature}");
        is_rejected(&web, &bearer(&token), "the token's signature is not valid");
    }
    let evil = whole("https://evil.example", json!({ "tenant": "acme" }));
    is_rejected(&web, &bearer(&town.acme.token("RS256", &evil)), "the token is of another issuer");
    let issuers = whole(ACME, json!({ "iss": [ACME, GLOBEX], "tenant": "acme" }));
    is_rejected(&web, &bearer(&town.acme.token("RS256", &issuers)), "the token is malformed");
}

#[test]
fn an_issuer_speaks_for_its_own_tenants() {
    let town = Town::new(House::new());
    let web = town.serve();
    let foreign = "the token's issuer may not speak for its tenant";
    is_rejected(&web, &town.of_acme(json!({ "tenant": "globex" })), foreign);
    is_rejected(&web, &town.of_globex(json!({ "tenant": "acme" })), foreign);
    is_rejected(&web, &town.of_globex(json!({ "tenant": "hooli" })), foreign);
    is_rejected(&web, &town.of_globex(json!({ "tenant": "Globex" })), foreign);
    is_rejected(&web, &town.of_acme(json!({})), "the token does not name its tenant");
    is_rejected(
        &web,
        &town.of_acme(json!({ "tenant": "" })),
        "the token's claim `tenant` is empty",
    );
    for odd in [json!(["globex"]), json!(7)] {
        let reason = "the token's claim `tenant` is not a text";
        is_rejected(&web, &town.of_globex(json!({ "tenant": odd })), reason);
    }
    let refused = town.records();
    assert_eq!(refused[0]["tool"], "authentication");
    assert_eq!(refused[0]["rule"], foreign);
    assert_eq!(refused[0]["args"], json!({ "issuer": ACME }));
    assert_eq!(refused[0]["principal"], "unauthenticated");
    assert!(!town.house.read("audit.jsonl").contains("hooli"), "a label that a caller typed");
    let unnamed = "the token does not name its tenant";
    is_rejected(&web, &town.of_acme(json!({ "tenant": null })), unnamed);
    // The only tenant of its issuer.
    assert_eq!(note(&web, &town.of_globex(json!({}))).status, 200);
    let records = town.records();
    let served = records.iter().find(|record| record["tool"] == "prompt:note").expect("a record");
    assert_eq!(served["tenant"], "globex");
}

#[test]
fn a_single_issuer_without_tenants_speaks_for_any() {
    let town = Town::new(House::new());
    town.house.write("server.toml", acme(""));
    let web = Web::start(&town.house, &ARGUMENTS);
    assert_eq!(note(&web, &town.of_acme(json!({ "tenant": "hooli" }))).status, 200);
    assert_eq!(note(&web, &town.of_acme(json!({}))).status, 200);
    let tenants: Vec<_> = town.records().iter().map(|record| record["tenant"].clone()).collect();
    assert_eq!(tenants, [json!("hooli"), Value::Null]);
}

/// Three credentials of callers that have all but the issuer in common: tokens of both issuers, and
/// an API key. One tenant passes from one issuer to the other while the server runs.
struct Namesakes {
    town: Town,
    web: Web,
    acme: String,
    globex: String,
}

const KEY: &str = "Bearer rk_ann_secret";

impl Namesakes {
    fn new() -> Self {
        let town = Town::new(gate::house(""));
        let claims = || json!({ "sub": "ann@house", "tenant": "acme" });
        let (acme, globex) = (town.of_acme(claims()), town.of_globex(claims()));
        town.house.write("server.toml", Self::config("acme", "globex"));
        let web = Web::start(&town.house, &ARGUMENTS);
        Self { town, web, acme, globex }
    }

    fn config(of_acme: &str, of_globex: &str) -> String {
        let tenants = |name| format!("tenants = [\"{name}\"]");
        let key = key("ann", "secret", "tenant = \"acme\"");
        [key, acme(&tenants(of_acme)), globex(&tenants(of_globex))].concat()
    }

    /// From here on it is Globex that speaks for the tenant `acme`.
    fn change_hands(&self) {
        self.town.house.write("server.toml", Self::config("other", "acme"));
        hang_up(&self.web);
        assert_eq!(list(&self.web, Some(&self.acme)).status, 401);
    }

    fn call(&self, authorization: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = Request::modern("tools/call", params).with("Authorization", authorization);
        self.web.send(&call).json()["result"].take()
    }

    fn begin(&self, authorization: &str) -> String {
        handle_of(&self.call(authorization, "begin_session", json!({ "tags": ["vpn"] })))
    }
}

#[test]
fn equal_subjects_of_two_issuers_share_no_session() {
    let namesakes = Namesakes::new();
    let Namesakes { web, acme, globex, .. } = &namesakes;
    let session = web.begin(Some(acme));
    let list = |who: &str| {
        let list = Request::legacy(&session, "prompts/list", json!({}));
        web.send(&list.with("Authorization", who)).status
    };
    assert_eq!((list(acme), list(KEY)), (200, 404));
    namesakes.change_hands();
    // It has the id and the tenant of who began the session.
    assert_eq!((list(globex), list(KEY)), (404, 404));
}

#[test]
fn equal_subjects_of_two_issuers_share_no_briefing() {
    let namesakes = Namesakes::new();
    let Namesakes { acme, globex, .. } = &namesakes;
    let info =
        |who: &str, handle: &str| namesakes.call(who, "server_info", json!({ "briefing": handle }));
    let foreign = |answer: &Value| assert!(error(answer).contains("another caller"), "{answer}");
    let (of_acme, of_key) = (namesakes.begin(acme), namesakes.begin(KEY));
    assert_eq!(info(acme, &of_acme)["isError"], false);
    assert_eq!(info(KEY, &of_key)["isError"], false);
    foreign(&info(acme, &of_key));
    foreign(&info(KEY, &of_acme));
    namesakes.change_hands();
    foreign(&info(globex, &of_acme));
    foreign(&info(globex, &of_key));
}

#[test]
fn equal_subjects_of_two_issuers_see_no_records_of_each_other() {
    let namesakes = Namesakes::new();
    let Namesakes { acme, globex, .. } = &namesakes;
    let issuers = |who: &str| {
        let briefing = namesakes.begin(who);
        let tail = namesakes.call(who, "audit_tail", json!({ "briefing": briefing }));
        let text = text(&tail);
        let records = text.lines().map(|line| serde_json::from_str(line).expect("a record"));
        let issuer = |record: Value| record["issuer"].as_str().unwrap_or("none").to_owned();
        records.map(issuer).collect::<BTreeSet<_>>()
    };
    assert_eq!(issuers(acme), BTreeSet::from([ACME.to_owned()]));
    assert_eq!(issuers(KEY), BTreeSet::from(["none".to_owned()]));
    namesakes.change_hands();
    assert_eq!(issuers(globex), BTreeSet::from([GLOBEX.to_owned()]));
}

#[test]
fn groups_of_another_form_are_rejected_with_the_reason() {
    let town = Town::new(House::new());
    let claim = "https://acme.example/groups";
    let tables = [
        acme(&format!("tenants = [\"acme\"]\ngroups-claim = \"{claim}\"")),
        globex("tenants = [\"globex\"]\ngroups-claim = \"realm_access.roles\""),
    ];
    town.house.write("server.toml", tables.concat());
    let web = Web::start(&town.house, &ARGUMENTS);
    let of_acme = |groups: Value| town.of_acme(json!({ claim: groups }));
    let of_globex = |access: Value| town.of_globex(json!({ "realm_access": access }));
    let many = |count: usize| (0..count).map(|number| format!("g{number}")).collect::<Vec<_>>();
    for accepted in [
        of_acme(json!(["acme:sre", "all"])),
        of_acme(json!("acme:sre all")),
        of_acme(json!([])),
        of_acme(json!(many(256))),
        of_acme(json!("g".repeat(512))),
        town.of_acme(json!({})),
        of_globex(json!({ "roles": ["sre"] })),
        of_globex(json!({ "roles": "sre all" })),
        of_globex(json!({ "roles": null })),
        of_globex(json!({})),
    ] {
        let answer = list(&web, Some(&accepted));
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let odd =
        "the token's claim `https://acme.example/groups` is neither a list of texts nor a text";
    let unfit = "the token's groups cannot be used:";
    let too_many = format!("{unfit} a caller has at most 256 groups, not 257");
    let length = |bytes| format!("{unfit} the name of a group has 1 to 512 bytes, not {bytes}");
    for (rejected, reason) in [
        (of_acme(json!({ "sre": true })), odd),
        (of_acme(json!(["sre", 1])), odd),
        (of_acme(json!(many(257))), &too_many),
        (of_acme(json!(many(257).join(" "))), &too_many),
        (of_acme(json!(["g".repeat(513)])), &length(513)),
        (of_acme(json!(["sre", ""])), &length(0)),
        (
            of_globex(json!("sre")),
            "the token's claim `realm_access.roles` leads through a value that is no object",
        ),
        (
            of_globex(json!({ "roles": 7 })),
            "the token's claim `realm_access.roles` is neither a list of texts nor a text",
        ),
    ] {
        is_rejected(&web, &rejected, reason);
    }
}

#[test]
fn an_odd_name_of_a_claim_breaks_no_header() {
    let town = Town::new(House::new());
    let claim = "gr\"u\u{fc}\nppen";
    let settings = "groups-claim = \"gr\\\"u\u{fc}\\nppen\"";
    town.house.write("server.toml", acme(settings));
    let web = Web::start(&town.house, &ARGUMENTS);
    let answer = list(&web, Some(&town.of_acme(json!({ claim: 7 }))));
    assert_eq!(answer.status, 401, "{answer:?}");
    assert!(answer.body.contains(claim), "{answer:?}");
    let challenge = answer.header("www-authenticate");
    assert!(challenge.contains("claim `gruppen` is neither"), "{challenge}");
}

#[test]
fn keys_of_each_issuer_rotate_on_their_own() {
    let town = Town::new(House::new());
    let web = town.serve();
    let next = Signer::curve();
    let by = |signer: &Signer| {
        let token = signer.token("ES256", &whole(GLOBEX, json!({})));
        list(&web, Some(&bearer(&token))).status
    };
    let acme = |tenant: &str| list(&web, Some(&town.of_acme(json!({ "tenant": tenant })))).status;
    assert_eq!((by(&town.globex), by(&next), acme("acme")), (200, 401, 200));
    // The broken file of one issuer leaves the keys of the other and its own new rules in force.
    town.house.write("acme.json", "no keys at all");
    town.house.write("globex.json", next.jwks());
    let rules = acme_and_globex("tenants = [\"acme\"]");
    town.house.write("server.toml", &rules);
    hang_up(&web);
    assert!(web.server.log().contains("the keys read before stay in force"));
    assert_eq!((by(&town.globex), by(&next)), (401, 200));
    assert_eq!((acme("acme"), acme("initech")), (200, 401));
    // An issuer that is new has no old keys.
    let new = issuer("https://new.example", "missing", &["ES256"], "tenants = [\"new\"]");
    town.house.write("server.toml", rules.clone() + &new);
    hang_up(&web);
    assert!(web.server.log().contains("no token of this issuer is accepted"));
    assert_eq!((acme("acme"), by(&next)), (200, 200));
    let of_new = whole("https://new.example", json!({}));
    is_rejected(&web, &bearer(&next.token("ES256", &of_new)), "the token is of another issuer");
    // A removed one is rejected, and a contradiction changes nothing.
    town.house.write("server.toml", globex("tenants = [\"globex\"]"));
    hang_up(&web);
    assert_eq!((acme("acme"), by(&next)), (401, 200));
    town.house.write("server.toml", acme_and_globex(""));
    hang_up(&web);
    assert!(web.server.log().contains("the settings read before stay in force"));
    assert_eq!((acme("acme"), by(&next)), (401, 200));
}

fn acme_and_globex(of_acme: &str) -> String {
    [acme(of_acme), globex("tenants = [\"globex\"]")].concat()
}

#[test]
fn the_metadata_lists_the_servers_of_all_issuers() {
    let town = Town::new(House::new());
    let tables = [
        acme("tenants = [\"acme\"]\nscopes = [\"relay\", \"acme:read\"]"),
        globex(
            "tenants = [\"globex\"]\nscopes = [\"globex\", \"relay\"]\nauthorization-servers = [\"https://a.globex.example\", \"https://b.globex.example\"]",
        ),
    ];
    town.house.write("server.toml", tables.concat());
    let web = Web::start(&town.house, &ARGUMENTS);
    let expected = json!({
        "resource": AUDIENCE,
        "authorization_servers": [ACME, "https://a.globex.example", "https://b.globex.example"],
        "scopes_supported": ["relay", "acme:read", "globex"],
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": PROOFS,
    });
    assert_eq!(web.get("/.well-known/oauth-protected-resource").json(), expected);
    let challenge = |authorization: Option<&str>| {
        let answer = list(&web, authorization);
        (answer.status, answer.header("www-authenticate").to_owned())
    };
    let metadata =
        "resource_metadata=\"https://relay.example/.well-known/oauth-protected-resource/mcp\"";
    // Which issuer a client will turn to is still open.
    assert_eq!(
        challenge(None),
        (401, format!("Bearer realm=\"relay\", {metadata}, scope=\"relay\""))
    );
    let (status, insufficient) = challenge(Some(&town.of_globex(json!({ "scope": "relay" }))));
    assert_eq!(status, 403);
    assert!(insufficient.contains("error=\"insufficient_scope\""), "{insufficient}");
    assert!(
        insufficient.ends_with(&format!("{metadata}, scope=\"globex relay\"")),
        "{insufficient}"
    );
    let (status, expired) = challenge(Some(&town.of_acme(json!({ "exp": 1 }))));
    assert_eq!(status, 401);
    assert!(expired.ends_with("scope=\"relay acme:read\""), "{expired}");
}

#[test]
fn contradictions_between_issuers_are_errors_at_the_start() {
    let listed = |name: &str| format!("tenants = [\"{name}\"]");
    let two = |first: &str, second: &str| [acme(first), globex(second)].concat();
    let resource = |path: &str, name: &str| {
        format!("resource = \"https://relay.example/{path}\"\n{}", listed(name))
    };
    let cases = [
        (two(&listed("acme"), &listed("acme")), vec!["tenant `acme`", ACME, GLOBEX]),
        (acme("tenants = [\"a\", \"a\"]"), vec!["tenant `a` is listed twice"]),
        (
            two(&listed("acme"), ""),
            vec!["several [[auth.jwt]]", GLOBEX, "add `tenants = [\"acme\"]`"],
        ),
        (
            [acme(&listed("a")), acme(&listed("b"))].concat(),
            vec!["two tables [[auth.jwt]]", ACME, "write one"],
        ),
        (acme("tenants = []"), vec![ACME, "`tenants`", "is empty"]),
        (acme("tenants = [\"\"]"), vec![ACME, "has an empty name"]),
        (acme("groups-claim = \"\""), vec![ACME, "`groups-claim`", "is empty"]),
        (issuer("", "acme", &["RS256"], ""), vec!["`issuer`", "is empty"]),
        (
            two(&resource("mcp", "acme"), &resource("other", "globex")),
            vec!["two resources", ACME, GLOBEX, "add the same `resource` to each"],
        ),
        (
            acme("resource = \"relay\""),
            vec![ACME, "`relay`", "the URL by which clients reach /mcp"],
        ),
        (acme(""), vec!["cannot be used", "has no key for any of auth.jwt.algorithms"]),
        (
            key("ann", "a", &format!("groups = [\"{}\"]", "g".repeat(513))),
            vec!["API key `ann`", "1 to 512 bytes, not 513"],
        ),
        (
            "[principal]\ngroups = [\"\"]\n".to_owned(),
            vec!["the principal", "1 to 512 bytes, not 0"],
        ),
        ("[principal]\nissuer = \"x\"\n".to_owned(), vec!["unknown key `issuer`"]),
    ];
    for (text, expected) in cases {
        let house = House::new();
        house.write("server.toml", &text);
        house.write("acme.json", Signer::curve().jwks());
        let ended = run(command(&house, &["--http", "127.0.0.1:0", "--config", "server.toml"]));
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.stderr);
        for words in expected {
            assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
        }
    }
}

#[test]
fn lines_for_every_tenant_are_named_if_there_are_several_issuers() {
    let project = r#"project firm epoch=1
tenants { tenant acme; tenant globex }
roles { role reader; role operator tier=1 }
users {
    user op role=operator
    user ann tenant=acme role=operator
    group sre role=operator
    anyone role=reader
}
"#;
    let town = Town::new(House::of(&house::bundle_of(project)));
    let two = [acme("tenants = [\"acme\"]"), globex("tenants = [\"globex\"]")];
    let warnings = |tables: &[String]| {
        town.house.write("server.toml", tables.concat());
        let web = Web::start(&town.house, &ARGUMENTS);
        let log = web.server.log();
        log.lines().filter(|line| line.contains("has no tenant")).map(str::to_owned).collect()
    };
    let of_two: Vec<String> = warnings(&two);
    assert_eq!(of_two.len(), 2, "{of_two:?}");
    let user = "`user op` (project.kdl:5) has no tenant, so each of the 2 issuers can name a caller that has the role `operator`: add `tenant=` to the line";
    assert!(of_two.iter().any(|line| line.contains(user)), "{of_two:?}");
    assert!(of_two.iter().any(|line| line.contains("`group sre` (project.kdl:7)")), "{of_two:?}");
    let of_one: Vec<String> = warnings(&two[..1]);
    assert_eq!(of_one, Vec::<String>::new());
}
