//! `/metrics`: what a scraper reads.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde_json::json;

use super::auth::{config, key};
use super::house::{self, House};
use super::server::{MODERN, modern, wait_until};
use super::web::{Request, Web};

/// The samples of a page, by name and labels.
type Samples = BTreeMap<String, f64>;

/// Reads the text format: every line, and that each sample belongs to the family before it.
fn parse(page: &str) -> Samples {
    let sample = Regex::new(
        r#"^(?<name>[a-z_]+)(?<labels>\{[a-z]+="([^"\\\n]|\\["\\n])*"(,[a-z]+="([^"\\\n]|\\["\\n])*")*\})? (?<value>[0-9.e+-]+)$"#,
    )
    .unwrap();
    let mut samples = Samples::new();
    let mut families = BTreeSet::new();
    let (mut family, mut kind) = ("", "");
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, _) = help.split_once(' ').expect("a text");
            let next = lines.next().and_then(|line| line.strip_prefix("# TYPE "));
            let (typed, of_kind) = next.and_then(|it| it.split_once(' ')).expect("a type");
            assert_eq!(name, typed);
            assert!(families.insert(name), "{name} comes twice");
            assert_eq!(of_kind == "counter", name.ends_with("_total"), "{name}");
            (family, kind) = (name, of_kind);
            continue;
        }
        let found = sample.captures(line).unwrap_or_else(|| panic!("`{line}`"));
        let suffix = found["name"].strip_prefix(family).expect("the family is known");
        let suffixes: &[&str] =
            if kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
        assert!(suffixes.contains(&suffix), "`{line}`");
        let labels = found.name("labels").map_or("", |labels| labels.as_str());
        let value = found["value"].parse().expect("a number");
        let name = format!("{}{labels}", &found["name"]);
        assert!(samples.insert(name, value).is_none(), "`{line}` comes twice");
    }
    samples
}

fn scrape(web: &Web) -> Samples {
    let answer = web.get("/metrics");
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    parse(&answer.body)
}

fn requests(samples: &Samples, method: &str, outcome: &str) -> f64 {
    samples[&format!("relay_requests_total{{method=\"{method}\",outcome=\"{outcome}\"}}")]
}

#[test]
fn what_is_served_is_counted() {
    let house = House::new();
    house.write("server.toml", "[watch]\npoll-ms = 50\n");
    let web = Web::start(&house, &["--config", "server.toml", "--audit", "audit.jsonl"]);
    let get = |name: &str| web.send(&Request::modern("prompts/get", json!({ "name": name })));
    for _ in 0..3 {
        get("note");
    }
    get("nothing");
    web.send(&Request::modern("prompts/get", json!({ "name": 7 })));
    let _session = web.begin(None);
    let samples = scrape(&web);
    assert_eq!(requests(&samples, "prompts/get", "answered"), 3.0);
    assert_eq!(requests(&samples, "prompts/get", "rejected"), 1.0);
    assert_eq!(requests(&samples, "malformed", "rejected"), 1.0);
    assert_eq!(samples["relay_denials_total"], 2.0);
    assert_eq!(samples["relay_sessions"], 1.0);
    assert_eq!(samples["relay_streams"], 0.0);
    wait_until(|| scrape(&web)["relay_connections"] == 1.0);
    assert_eq!(samples["relay_audit_state{state=\"ok\"}"], 1.0);
    assert_eq!(samples["relay_audit_state{state=\"failing\"}"], 0.0);
    assert_eq!(samples["relay_bundle_epoch"], 1.0);
    let digest = house::digest(&house::bundle(1, "Note:"));
    let info =
        format!("relay_bundle_info{{project=\"house\",version=\"4.2.0\",digest=\"{digest}\"}}");
    assert_eq!(samples[&info], 1.0);

    let of_method = "relay_request_seconds_bucket{method=\"prompts/get\"";
    let buckets = samples.iter().filter(|(name, _)| name.starts_with(of_method));
    let mut buckets: Vec<_> = buckets
        .map(|(name, count)| {
            let bound = name.split('"').nth(3).expect("a bound");
            (bound.replace("+Inf", "inf").parse::<f64>().expect("a bound"), *count)
        })
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(buckets.len() > 5 && buckets.is_sorted_by_key(|(_, count)| *count), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&(f64::INFINITY, 4.0)));
    assert_eq!(samples["relay_request_seconds_count{method=\"prompts/get\"}"], 4.0);
    assert!(samples["relay_request_seconds_sum{method=\"prompts/get\"}"] > 0.0);

    house.replace(&house::bundle(2, "Note:"));
    web.server.hear("is in force");
    house.replace(b"junk");
    web.server.hear("stays in force");
    let samples = scrape(&web);
    assert_eq!(samples["relay_reloads_total{result=\"ok\"}"], 1.0);
    assert_eq!(samples["relay_reloads_total{result=\"failed\"}"], 1.0);
    assert_eq!(samples["relay_bundle_epoch"], 2.0);
    assert!(!samples.contains_key(&info));
}

#[test]
fn no_text_of_a_caller_becomes_a_label() {
    let web = Web::start(&House::new(), &["--audit", "none"]);
    let names = |samples: Samples| samples.into_keys().collect::<BTreeSet<_>>();
    let before = names(scrape(&web));
    let mut requests = Vec::new();
    for number in 0..1000 {
        let name = format!("evil-{number}\"}} 1\nrelay_x{{a=\"\\");
        let (method, params) = match number % 4 {
            0 => ("prompts/get", json!({ "name": name })),
            1 => ("tools/call", json!({ "name": name, "arguments": { &name: name } })),
            2 => ("resources/read", json!({ "uri": name })),
            _ => (name.as_str(), json!({})),
        };
        let message =
            json!({ "jsonrpc": "2.0", "id": name, "method": method, "params": modern(params) });
        let request = Request::message(&message)
            .with("MCP-Protocol-Version", MODERN)
            .with("User-Agent", &format!("evil-{number}"));
        requests.extend(request.keeping_alive(&web.address));
    }
    requests.extend(Request::new("GET", "/healthz").bytes(&web.address));
    let answers = web.raw(&requests);
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 1001);
    let after = scrape(&web);
    assert!(after.keys().all(|name| !name.contains("evil")), "{after:?}");
    assert_eq!(names(after), before);
}

#[test]
fn metrics_are_for_those_that_the_operator_names() {
    let house = House::new();
    let status = |config: String| {
        house.write("server.toml", config);
        let web = Web::start(&house, &["--config", "server.toml"]);
        let metrics = || Request::new("GET", "/metrics");
        let with_key = metrics().with("Authorization", "Bearer rk_ann_secret-of-ann");
        let foreign = metrics().with("Host", "evil.example");
        [metrics(), with_key, foreign].map(|request| web.send(&request).status)
    };
    let access = |access: &str| format!("[metrics]\naccess = \"{access}\"\n");
    let auth = config(&[key("ann", "secret-of-ann", "")]);
    assert_eq!(status(String::new()), [200, 200, 403]);
    assert_eq!(status(access("off")), [404, 404, 403]);
    assert_eq!(status(auth.clone()), [401, 200, 403]);
    assert_eq!(status(access("authenticated") + &auth), [401, 200, 403]);
    assert_eq!(status(access("anyone") + &auth), [200, 200, 403]);
    let public = || {
        let address = "listen = \"0.0.0.0:0\"\nallowed-hosts = [\"127.0.0.1\"]\n";
        let start = |access: &str| {
            house.write("server.toml", format!("{address}{access}\n{auth}"));
            let command = super::server::bare(
                &house,
                &["house.relay", "--trust", "trust.toml", "--config", "server.toml"],
            );
            Web::run(&house, command)
        };
        ["", "[metrics]\naccess = \"authenticated\"\n"].map(|access| {
            let mut web = start(access);
            web.address = web.address.replace("0.0.0.0", "127.0.0.1");
            let request = Request::new("GET", "/metrics");
            web.send(&request.with("Authorization", "Bearer rk_ann_secret-of-ann")).status
        })
    };
    assert_eq!(public(), [404, 200]);
}
